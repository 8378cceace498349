// Objects: what is wrong in one object of many is found in that one, and nothing is accused
// that the whole would not be.
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

class Objects : public testing::TestWithParam<Type> {};

GenerateOptions options_of(Type type, std::uint64_t ops, std::uint32_t keys, std::uint64_t seed) {
  GenerateOptions options;
  options.type = {type};
  options.keys = keys;
  options.ops = ops;
  options.seed = seed;
  return options;
}

TEST_P(Objects, OneThatIsWrongMakesTheWholeWrong) {
  int found = 0;
  for (const auto& bug : bugs_of(GetParam())) {
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
      auto options = options_of(GetParam(), 120, 10, seed);
      options.bug = bug;
      const auto history = generate(options).value();
      base::Budget budget(std::chrono::duration<double>(60), 0);
      const auto decision = decide_objects(history, {}, budget, {});
      if (!decision) continue;
      ++found;
      ASSERT_EQ(decision->verdict, Verdict::kViolated);
      EXPECT_EQ(decide_exact(history, {}, budget).verdict, Verdict::kViolated) << write(history);
      const auto part = part_of(history, decision->violation->core);
      EXPECT_EQ(decide_exact(part.history, {}, budget).verdict, Verdict::kViolated)
          << write(part.history);
    }
  }
  EXPECT_GT(found, 0);
}

TEST_P(Objects, OfCorrectReplicasAreNeverWrong) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const auto history = generate(options_of(GetParam(), 200, 1 + seed, seed)).value();
    base::Budget budget(std::chrono::duration<double>(60), 0);
    EXPECT_FALSE(decide_objects(history, {}, budget, {})) << "seed " << seed;
  }
}

// So large that SAT would refuse the whole.
TEST_P(Objects, WithABugAreFoundAmongMany) {
  for (const auto& bug : bugs_of(GetParam())) {
    auto options = options_of(GetParam(), 20'000, 1000, 3);
    options.replicas = 10;
    options.bug = bug;
    const auto history = generate(options).value();
    base::Budget budget(std::chrono::duration<double>(60), 0);
    const auto decision = decide(history, {}, budget);
    ASSERT_EQ(decision.verdict, Verdict::kViolated) << bug;
    const auto explanation = explain(history, *decision.violation, {}, {.seconds = 20});
    EXPECT_LE(explanation.part.history.ops.size(), 25U) << bug << "\n"
                                                        << write(explanation.part.history);
    const auto verified = verify(history, certificate_of_core(history, {}, explanation.core));
    EXPECT_EQ(verified.status, CertificateStatus::kValid) << bug << ": " << verified.reason;
  }
}

INSTANTIATE_TEST_SUITE_P(Types, Objects, testing::ValuesIn(decided_without_deliveries()),
                         test::parameter_name);

}  // namespace
}  // namespace cupel::crdt
