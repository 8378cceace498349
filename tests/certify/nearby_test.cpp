// Violations among many transactions, which are decided by those nearby (src/order/nearby.hpp):
// each is found under its name, with a certificate that the verifier accepts, and the same history
// without it is satisfied.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>

#include "certify/verify.hpp"
#include "check/check.hpp"
#include "explain/why/explain.hpp"
#include "report/certificate.hpp"
#include "workload/generate.hpp"

namespace cupel::test {
namespace {

using check::Verdict;
using history::History;
using levels::Level;

struct Case {
  std::string_view anomaly;
  Level level;
  workload::Shape shape = workload::Shape::kRegister;
  bool times = true;
};

// More than order::Problem::nearby_from.
History generated(const Case& of, std::optional<double> inject_at) {
  workload::GenerateOptions wanted;
  wanted.store = workload::Store::kStrictSerializable;
  wanted.shape = of.shape;
  wanted.sessions = 20;
  wanted.txns_per_session = 1100;
  wanted.min_ops = wanted.max_ops = 4;
  wanted.keys = 5000;
  wanted.times = of.times;
  if (inject_at) {
    wanted.inject = {std::string(of.anomaly)};
    wanted.inject_at = inject_at;
  }
  return workload::generate(wanted).value();
}

check::CheckResult checked(const History& history, Level level) {
  check::Options options;
  options.asked = {level};
  options.threads = 1;
  options.evidence = true;
  return check::check(history, options);
}

class Nearby : public testing::TestWithParam<Case> {};

TEST_P(Nearby, AViolationAmongManyIsNamedAndVerified) {
  const auto& of = GetParam();
  for (const double place : {0.03, 0.97}) {
    const auto history = generated(of, place);
    const auto result = checked(history, of.level);
    const auto& found = result.levels.front();
    ASSERT_EQ(found.verdict, Verdict::kViolated);
    const auto anomalies =
        explain::explain(history, found.explained_at.value_or(found.level), *found.violation);
    ASSERT_FALSE(anomalies.empty());
    EXPECT_EQ(anomalies.front().name, of.anomaly) << anomalies.front().explanation;
    const auto made = report::certificate(history, result, 0);
    EXPECT_TRUE(made.missing.empty());
    const auto verified = certify::verify(history, made.json, 0);
    EXPECT_EQ(verified.validity, certify::Validity::kValid) << verified.reason;
  }
  EXPECT_EQ(checked(generated(of, {}), of.level).levels.front().verdict, Verdict::kSatisfied);
}

constexpr Case kCases[] = {
    {"lost-update", Level::kSnapshotIsolation},
    {"lost-update", Level::kStrongSessionSnapshotIsolation},
    {"lost-update", Level::kStrictSerializable},
    {"lost-update", Level::kStrongSessionSerializable, workload::Shape::kListAppend},
    {"lost-update", Level::kStrongSessionSnapshotIsolation, workload::Shape::kRange},
    {"write-skew", Level::kSerializable},
    {"write-skew", Level::kStrongSessionSerializable},
    {"write-skew", Level::kStrongSessionSerializable, workload::Shape::kRegister, false},
    {"long-fork", Level::kPrefix},
    {"long-fork", Level::kStrongSnapshotIsolation},
    {"G1c", Level::kStrongSessionSnapshotIsolation},
    {"fractured-read", Level::kPrefix},
};
INSTANTIATE_TEST_SUITE_P(Among22000, Nearby, testing::ValuesIn(kCases));

}  // namespace
}  // namespace cupel::test
