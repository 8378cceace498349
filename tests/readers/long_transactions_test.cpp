// The same comparisons for as long as one likes: CUPEL_READER_SEEDS recordings (100000 if unset) of
// transactions, of single objects and of set-ups each, from seed 1000000 on.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "readers/agreement.hpp"
#include "readers/object_agreement.hpp"
#include "readers/set_up_agreement.hpp"

namespace cupel::test {
namespace {

template <typename Agreement>
void expect_agreement() {
  const char* count = std::getenv("CUPEL_READER_SEEDS");
  Agreement agreement;
  EXPECT_EQ(first_difference(agreement, std::uint64_t{1'000'000},
                             count != nullptr ? std::stoull(count) : 100'000),
            "");
}

TEST(Readers, AgreeOnManyRecordings) {
  expect_agreement<ReaderAgreement>();
}

TEST(Readers, AgreeOnManySingleObjects) {
  expect_agreement<ObjectAgreement>();
}

TEST(Readers, AgreeOnManySetUps) {
  expect_agreement<SetUpAgreement>();
}

}  // namespace
}  // namespace cupel::test
