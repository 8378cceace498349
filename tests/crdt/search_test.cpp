// Search: long histories of correct replicas on default keys are accepted, and their witnesses
// verified; the plan of a counter does not make it refuse anything.
#include <gtest/gtest.h>

#include "crdt/io/certificate.hpp"
#include "crdt/io/reader.hpp"
#include "crdt/solve/decide.hpp"
#include "crdt/verify/verify.hpp"
#include "crdt/workload/generate.hpp"
#include "random_history.hpp"
#include "support/parameter_name.hpp"

namespace cupel::crdt {
namespace {

class Search : public testing::TestWithParam<Type> {};

void expect_accepted(const History& history, std::optional<Decision> decision, std::uint64_t seed) {
  ASSERT_TRUE(decision) << "seed " << seed;
  ASSERT_EQ(decision->verdict, Verdict::kSatisfied) << "seed " << seed;
  const auto verified = verify(history, certificate_of_witness(history, {}, *decision->witness));
  EXPECT_EQ(verified.status, CertificateStatus::kValid) << verified.reason << ", seed " << seed;
}

TEST_P(Search, AcceptsThousandsOfOperationsOnOneObject) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    GenerateOptions options;
    options.type = {GetParam()};
    options.ops = 3000;
    options.seed = seed;
    const auto history = generate(options).value();
    base::Budget budget(std::chrono::duration<double>(60), 0);
    if (GetParam() == Type::kCounter)
      expect_accepted(history, decide_search(history, {}, budget), seed);
    else
      expect_accepted(history, decide(history, {}, budget), seed);
  }
}

// With less to choose it may give up, and the next method decides.
TEST_P(Search, OrTheNextMethodAcceptsTwoReplicas) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    GenerateOptions options;
    options.type = {GetParam()};
    options.replicas = 2;
    options.ops = 500;
    options.seed = seed;
    const auto history = generate(options).value();
    base::Budget budget(std::chrono::duration<double>(60), 0);
    expect_accepted(history, decide(history, {}, budget), seed);
  }
}

// Also where it had to take much back, or gave up.
TEST_P(Search, AcceptsNothingThatIsWrong) {
  base::Random random(11);
  int none = 0;
  for (int i = 0; i < 2000; ++i) {
    const auto replicas = 1 + static_cast<std::uint32_t>(random.below(4));
    const History history = random_history(GetParam(), {12, replicas, 1, 2}, random);
    base::Budget budget;
    const auto decision = decide_search(history, {}, budget);
    none += !decision;
    if (!decision) continue;
    ASSERT_EQ(decision->verdict, Verdict::kSatisfied);
    const auto verified = verify(history, certificate_of_witness(history, {}, *decision->witness));
    ASSERT_EQ(verified.status, CertificateStatus::kValid) << verified.reason << "\n"
                                                          << write(history);
  }
  EXPECT_GT(none, 100);
}

INSTANTIATE_TEST_SUITE_P(Types, Search,
                         testing::Values(Type::kAddWinsSet, Type::kRemoveWinsSet,
                                         Type::kEnableWinsFlag, Type::kDisableWinsFlag,
                                         Type::kCounter),
                         test::parameter_name);

}  // namespace
}  // namespace cupel::crdt
