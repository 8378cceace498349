// Every reader makes the same history of one recording, in whatever form it is written.
#include <gtest/gtest.h>

#include "data/formats/jepsen_reader.hpp"
#include "readers/agreement.hpp"
#include "readers/same_history.hpp"
#include "support/rounds.hpp"

namespace cupel::test {
namespace {

TEST(Readers, AgreeOnRandomRecordings) {
  ReaderAgreement agreement;
  EXPECT_EQ(first_difference(agreement, 0, rounds(2000u)), "");
  const auto& tally = agreement.tally();
  EXPECT_GT(tally.compared, rounds(1900u));
  EXPECT_GT(tally.open_ranges, rounds(50u));
  EXPECT_GT(tally.streamed, rounds(800u));
  EXPECT_LT(tally.refused, tally.streamed / 20);
  EXPECT_GT(tally.watched, rounds(1000u));
  EXPECT_GT(tally.violated, rounds(1000u));
  EXPECT_GT(tally.converted, rounds(1000u));
  EXPECT_GT(tally.told_apart, rounds(300u));
}

// In EDN, a string before a keyword is no member of JSON.
TEST(Readers, AnEdnMapMayBeginWithAString) {
  const auto read = [](std::string_view text) { return formats::read_jepsen(text, "input", 1); };
  const auto usual = read("{:type :ok :process 0 :f :txn :value [[:w \"x\" true]]}");
  ASSERT_TRUE(usual.ok()) << usual.error().to_string();
  for (const auto* text : {"{\"type\" :ok \"process\" 0 \"f\" :txn \"value\" [[:w \"x\" true]]}",
                           "[{\"f\"  :txn :process 0 :type :ok :value [[:w \"x\" true]]}]",
                           "{\"type\" : \"ok\", \"process\":0,\"value\":[[\"w\",\"x\",true]]}"}) {
    const auto other = read(text);
    ASSERT_TRUE(other.ok()) << other.error().to_string() << "\n" << text;
    EXPECT_EQ(difference(*usual, *other), "") << text;
  }
}

}  // namespace
}  // namespace cupel::test
