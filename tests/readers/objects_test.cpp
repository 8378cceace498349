// Histories of single objects: the same in every form, to the stream of transactions and to a
// watch, and as a log of Knossos.
#include <gtest/gtest.h>

#include <cstddef>

#include "readers/agreement.hpp"
#include "readers/object_agreement.hpp"
#include "readers/random_objects.hpp"
#include "support/rounds.hpp"

namespace cupel::test {
namespace {

TEST(Readers, AgreeOnSingleObjects) {
  ObjectAgreement agreement;
  EXPECT_EQ(first_difference(agreement, 0, rounds(1600u)), "");
  const auto& tally = agreement.tally();
  for (std::size_t object = 0; object < tally.compared.size(); ++object) {
    const bool whole = object == static_cast<std::size_t>(Object::kStrings);
    EXPECT_GT(tally.compared[object], rounds(300u));
    EXPECT_EQ(tally.streamed[object], whole ? 0 : tally.compared[object]);
    EXPECT_EQ(tally.watched[object], whole ? 0 : 3 * tally.compared[object]);
  }
  EXPECT_GT(tally.logs, rounds(40u));
  EXPECT_GT(tally.violated, rounds(100u));
  EXPECT_LT(tally.refused, rounds(100u));
}

}  // namespace
}  // namespace cupel::test
