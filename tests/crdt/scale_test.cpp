// Scale: 100,000 operations over 10 replicas, of arrays and of registers whose values are
// written once; and each injected bug of a type. Prints the seconds.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "crdt/families.hpp"
#include "crdt/io/certificate.hpp"
#include "crdt/solve/decide.hpp"
#include "crdt/verify/verify.hpp"
#include "crdt/workload/generate.hpp"
#include "support/parameter_name.hpp"

namespace cupel::crdt {
namespace {

class Scale : public testing::TestWithParam<Type> {};

TEST_P(Scale, HundredThousandOperationsOfTenReplicas) {
  GenerateOptions options;
  options.type = {GetParam()};
  options.replicas = 10;
  options.keys = 500;
  options.ops = 100'000;
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    options.seed = seed;
    const auto history = generate(options).value();
    base::Budget budget(std::chrono::duration<double>(120), 0);
    const auto began = std::chrono::steady_clock::now();
    const auto decision = decide(history, {}, budget);
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    printf("%s, seed %d: %s by %s in %.2f s\n", std::string(name(GetParam())).c_str(),
           static_cast<int>(seed),
           decision.verdict == Verdict::kSatisfied  ? "satisfied"
           : decision.verdict == Verdict::kViolated ? "violated"
                                                    : "unknown",
           decision.decided_by.c_str(), seconds);
    ASSERT_EQ(decision.verdict, Verdict::kSatisfied);
    if (seed > 1) continue;
    const auto proof = certificate_of_witness(history, {}, *decision.witness);
    const auto verified = verify(history, proof);
    EXPECT_EQ(verified.status, CertificateStatus::kValid) << verified.reason;
  }
}

INSTANTIATE_TEST_SUITE_P(Types, Scale,
                         testing::Values(Type::kGrowableArray, Type::kLastWriterWinsRegister,
                                         Type::kMultiValueRegister),
                         test::parameter_name);

// Each object small, so that there is something to see: of many updates of one object some
// execution explains nearly every answer.
TEST(InjectedBugs, OfAHundredThousandOperationsAreFound) {
  for (const Type type : decided_without_deliveries()) {
    for (const auto& bug : bugs_of(type)) {
      GenerateOptions options;
      options.type = {type};
      options.replicas = 10;
      options.keys = 5000;
      options.ops = 100'000;
      options.bug = bug;
      const auto history = generate(options).value();
      base::Budget budget(std::chrono::duration<double>(120), 0);
      const auto began = std::chrono::steady_clock::now();
      const auto decision = decide(history, {}, budget);
      printf("%s, %s: %s by %s in %.2f s\n", std::string(name(type)).c_str(), bug.c_str(),
             decision.verdict == Verdict::kViolated ? "violated" : "not violated",
             decision.decided_by.c_str(),
             std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
      EXPECT_EQ(decision.verdict, Verdict::kViolated) << bug;
    }
  }
}

}  // namespace
}  // namespace cupel::crdt
