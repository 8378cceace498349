// Element constraints: sets and flags of several objects are decided by bounds, both ways: what is
// accepted has a witness, and what is rejected a core that the verifier finds without an execution.
#include <gtest/gtest.h>

#include "crdt/explain/explain.hpp"
#include "crdt/families.hpp"
#include "crdt/io/certificate.hpp"
#include "crdt/io/reader.hpp"
#include "crdt/solve/decide.hpp"
#include "crdt/verify/verify.hpp"
#include "crdt/workload/generate.hpp"
#include "support/parameter_name.hpp"

namespace cupel::crdt {
namespace {

constexpr std::size_t kContradictions = 1000;

class ElementConstraints : public testing::TestWithParam<Type> {};

History simulated(Type type, std::uint64_t ops, std::uint32_t keys, std::uint64_t seed,
                  const std::string& bug = {}) {
  GenerateOptions options;
  options.type = {type};
  options.ops = ops;
  options.keys = keys;
  options.seed = seed;
  options.bug = bug;
  return generate(options).value();
}

TEST_P(ElementConstraints, AcceptCorrectReplicas) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto history = simulated(GetParam(), 600, 30, seed);
    for (const bool in_order : {true, false}) {
      base::Budget budget;
      const auto decision = decide_element_constraints(history, budget, in_order, kContradictions);
      ASSERT_TRUE(decision) << "seed " << seed << ", in order " << in_order;
      ASSERT_EQ(decision->verdict, Verdict::kSatisfied);
      const auto verified =
          verify(history, certificate_of_witness(history, {}, *decision->witness));
      EXPECT_EQ(verified.status, CertificateStatus::kValid) << verified.reason;
    }
  }
}

TEST_P(ElementConstraints, RefuteBugsAmongFiveThousandOperationsOnFiftyKeys) {
  for (const auto& bug : bugs_of(GetParam())) {
    // A flag says less of what was seen: of some seeds it takes more contradictions.
    for (std::uint64_t seed = 1; seed <= (is_set(GetParam()) ? 3U : 1U); ++seed) {
      const auto history = simulated(GetParam(), 5000, 50, seed, bug);
      base::Budget budget(std::chrono::duration<double>(60), 0);
      const auto decision = decide_element_constraints(history, budget, false, kContradictions);
      ASSERT_TRUE(decision) << bug << ", seed " << seed;
      ASSERT_EQ(decision->verdict, Verdict::kViolated) << bug;
      EXPECT_LT(decision->violation->core.ops.size(), history.ops.size());
      if (seed > 1) continue;
      const auto explanation =
          explain(history, *decision->violation, {}, {.seconds = is_set(GetParam()) ? 20.0 : 4.0});
      const auto verified = verify(history, certificate_of_core(history, {}, explanation.core));
      // A flag's core may be too large for the verifier, which then says that it does not know.
      if (is_set(GetParam())) {
        EXPECT_EQ(verified.status, CertificateStatus::kValid) << bug << ": " << verified.reason;
      } else {
        EXPECT_NE(verified.status, CertificateStatus::kNotValid) << bug << ": " << verified.reason;
      }
    }
  }
}

// So small that SAT and the verifier, which share nothing with the bounds, always answer.
TEST_P(ElementConstraints, SayWhatSatAndTheVerifierSay) {
  int violated = 0;
  for (const auto& bug : bugs_of(GetParam())) {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
      const auto history = simulated(GetParam(), 40, 2, seed, bug);
      base::Budget budget;
      const auto decision = decide_element_constraints(history, budget, false, kContradictions);
      ASSERT_TRUE(decision) << bug << ", seed " << seed;
      const auto exact = decide(history, {}, budget, {.search = false, .bounds = false});
      ASSERT_EQ(decision->verdict, exact.verdict) << bug << ", seed " << seed;
      if (decision->verdict != Verdict::kViolated) continue;
      ++violated;
      const auto verified =
          verify(history, certificate_of_core(history, {}, decision->violation->core));
      EXPECT_EQ(verified.status, CertificateStatus::kValid)
          << bug << ", seed " << seed << ": " << verified.reason;
    }
  }
  EXPECT_GT(violated, 5);
}

// An execution against the order of the file is found only by who does not keep to it.
TEST(InOrder, SaysNothingOfWhatIsWrong) {
  const auto history = read(R"({"process":1,"f":"contains","value":["a",true]}
{"process":2,"f":"add","value":"a"}
)",
                            "test", {Type::kAddWinsSet})
                           .value();
  base::Budget budget;
  EXPECT_FALSE(decide_element_constraints(history, budget, true, kContradictions));
  const auto decision = decide_element_constraints(history, budget, false, kContradictions);
  ASSERT_TRUE(decision);
  EXPECT_EQ(decision->verdict, Verdict::kSatisfied);
}

INSTANTIATE_TEST_SUITE_P(Types, ElementConstraints,
                         testing::Values(Type::kAddWinsSet, Type::kRemoveWinsSet,
                                         Type::kEnableWinsFlag, Type::kDisableWinsFlag),
                         test::parameter_name);

}  // namespace
}  // namespace cupel::crdt
