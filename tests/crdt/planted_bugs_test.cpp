// Planted bugs: each bug of each simulated type, those at the way in and of the clock too, is found
// at a thousand operations, by a valid certificate and in at most ten operations.
// CUPEL_CRDT_BUG_SEEDS says in how many seeds; the long test takes ten.
#include <gtest/gtest.h>

#include "finding.hpp"
#include "support/parameter_name.hpp"

namespace cupel::crdt {
namespace {

class InjectedBugs : public testing::TestWithParam<Type> {};

TEST_P(InjectedBugs, AreFoundAtAThousandOperations) {
  expect_bugs_are_found(GetParam(), CUPEL_CRDT_BUG_SEEDS);
}

INSTANTIATE_TEST_SUITE_P(Types, InjectedBugs, testing::ValuesIn(all_types()), test::parameter_name);

}  // namespace
}  // namespace cupel::crdt
