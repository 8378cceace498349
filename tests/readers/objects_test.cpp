// Histories of single objects: the same in every form, to the stream of transactions, and as a log
// of Knossos.
#include <gtest/gtest.h>

#include <array>

#include "check/check.hpp"
#include "formats/jepsen_reader.hpp"
#include "formats/knossos.hpp"
#include "readers/agreement.hpp"
#include "readers/random_objects.hpp"
#include "readers/random_recording.hpp"
#include "readers/same_history.hpp"
#include "support/rounds.hpp"

namespace cupel::test {
namespace {

TEST(Readers, AgreeOnSingleObjects) {
  constexpr Compared kColumns{.ids = false, .metadata = false};
  std::array<std::size_t, 4> compared{};
  std::size_t logs = 0, violated = 0, refused = 0;
  for (std::uint64_t seed = 0; seed < rounds(2000u); ++seed) {
    const auto recording = random_objects(seed);
    const auto text = json_lines(recording.maps);
    const auto read = formats::read_jepsen(text, "input", 1);
    if (!read.ok() && recording.object == Object::kStrings) {
      // Which append a get shows may be open: then it is refused, in EDN too.
      const auto edn = formats::read_jepsen(edn_lines(recording.maps), "input", 1);
      ASSERT_FALSE(edn.ok()) << text;
      ASSERT_EQ(edn.error().to_string(), read.error().to_string()) << text;
      ++refused;
      continue;
    }
    ASSERT_TRUE(read.ok()) << seed << ": " << read.error().to_string() << "\n" << text;
    ASSERT_EQ(compare_forms(recording.maps, *read, seed), "") << seed;
    ++compared[static_cast<std::size_t>(recording.object)];
    if (recording.history) {
      ASSERT_EQ(difference(*recording.history, *read, kColumns), "") << seed << "\n" << text;
      const auto mine = check::check(*recording.history, {}).levels;
      const auto other = check::check(*read, {}).levels;
      for (std::size_t i = 0; i < mine.size(); ++i) {
        ASSERT_EQ(mine[i].verdict, other[i].verdict) << seed;
        violated += mine[i].verdict == check::Verdict::kViolated;
      }
    }
    if (recording.log.empty()) continue;
    const auto log = formats::read_knossos(recording.log, "input");
    ASSERT_TRUE(log.ok()) << seed << ": " << log.error().to_string() << "\n" << recording.log;
    ASSERT_EQ(difference(*read, *log, kColumns), "") << seed << "\n" << recording.log;
    ++logs;
  }
  for (const auto count : compared) EXPECT_GT(count, rounds(300u));
  EXPECT_GT(logs, rounds(50u));
  EXPECT_GT(violated, rounds(100u));
  EXPECT_LT(refused, rounds(200u));
}

}  // namespace
}  // namespace cupel::test
