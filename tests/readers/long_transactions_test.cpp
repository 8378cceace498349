// The same comparison for as long as one likes: CUPEL_READER_SEEDS recordings (100000 if unset)
// from seed 1000000 on.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "readers/agreement.hpp"

namespace cupel::test {
namespace {

TEST(Readers, AgreeOnManyRecordings) {
  const char* count = std::getenv("CUPEL_READER_SEEDS");
  ReaderAgreement agreement;
  EXPECT_EQ(agreement.first_difference(1'000'000, count != nullptr ? std::stoull(count) : 100'000),
            "");
}

}  // namespace
}  // namespace cupel::test
