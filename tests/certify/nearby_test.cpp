// Violations among many transactions, which are decided by those nearby
// (src/engine/order/nearby.hpp): each is found under its name, with a certificate that the verifier
// accepts, and the same history without it is satisfied. Also where values are written twice,
// outcomes are unknown, and clocks are wrong, so that the order of the times, by which it is told
// who is near, misleads.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include "data/history/builder.hpp"
#include "data/workload/generate.hpp"
#include "engine/certify/verify.hpp"
#include "engine/check/check.hpp"
#include "engine/explain/why/explain.hpp"
#include "report/certificate.hpp"

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
  double duplicates = 0, indeterminate = 0;
  double drift = 0;  // of the clients' clocks: this share of the time that the history takes
};

// So that the name of the test has no bytes of it.
void PrintTo(const Case& given, std::ostream* out) {
  *out << given.anomaly << " at " << levels::name(given.level);
}

struct Given {
  History history;
  history::Time drift = 0;
};

// The clock of each session is wrong by another part of the drift.
Given with_wrong_clocks(const History& of, double share) {
  history::Time last = 0;
  for (std::size_t t = 0; t < of.txn_count(); ++t) {
    last = std::max(last, of.complete(history::TxnId(t)));
  }
  const auto drift = static_cast<history::Time>(share * static_cast<double>(last));
  history::HistoryBuilder builder;
  for (std::size_t t = 0; t < of.txn_count(); ++t) {
    const history::TxnId txn(t);
    const auto session = of.session(txn);
    const auto wrong = static_cast<history::Time>(session.raw * 7 % 11) * drift / 10;
    const auto moved = [&](history::Time time) {
      return time == history::kNoTime ? time : time + wrong;
    };
    builder.begin(builder.session(of.session_name(session)), of.status(txn),
                  {.invoke = moved(of.invoke(txn)),
                   .complete = moved(of.complete(txn)),
                   .label = of.label(txn)});
    for (auto op = of.first_op(txn); op < of.last_op(txn); ++op) {
      builder.copy(of, history::OpId(op));
    }
    builder.end();
  }
  return {std::move(builder).finish().value(), drift};
}

// More than order::Problem::nearby_from.
Given generated(const Case& of, std::optional<double> inject_at) {
  workload::GenerateOptions wanted;
  wanted.store = workload::Store::kStrictSerializable;
  wanted.shape = of.shape;
  wanted.sessions = 20;
  wanted.txns_per_session = 1100;
  wanted.min_ops = wanted.max_ops = 4;
  wanted.keys = 5000;
  wanted.times = of.times;
  wanted.duplicates = of.duplicates;
  wanted.indeterminate_rate = of.indeterminate;
  if (inject_at) {
    wanted.inject = {std::string(of.anomaly)};
    wanted.inject_at = inject_at;
  }
  auto made = workload::generate(wanted).value();
  if (of.drift > 0) return with_wrong_clocks(made, of.drift);
  return {std::move(made)};
}

check::CheckResult checked(const Given& given, Level level) {
  check::Options options;
  options.asked = {level};
  options.threads = 1;
  options.evidence = true;
  options.clock_drift_ns = given.drift;
  return check::check(given.history, options);
}

class Nearby : public testing::TestWithParam<Case> {};

TEST_P(Nearby, AViolationAmongManyIsNamedAndVerified) {
  const auto& of = GetParam();
  for (const double place : {0.03, 0.97}) {
    const auto given = generated(of, place);
    const auto& history = given.history;
    const auto result = checked(given, of.level);
    const auto& found = result.levels.front();
    ASSERT_EQ(found.verdict, Verdict::kViolated);
    const auto anomalies =
        explain::explain(history, found.explained_at.value_or(found.level), *found.violation);
    ASSERT_FALSE(anomalies.empty());
    EXPECT_EQ(anomalies.front().name, of.anomaly) << anomalies.front().explanation;
    const auto made = report::certificate(history, result, given.drift);
    EXPECT_TRUE(made.missing.empty());
    const auto verified = certify::verify(history, made.json, given.drift);
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
    {.anomaly = "lost-update", .level = Level::kSnapshotIsolation, .duplicates = 0.2},
    {.anomaly = "write-skew", .level = Level::kStrictSerializable, .duplicates = 0.2},
    {.anomaly = "lost-update",
     .level = Level::kStrongSessionSerializable,
     .shape = workload::Shape::kListAppend,
     .indeterminate = 0.1},
    {.anomaly = "lost-update",
     .level = Level::kStrongSessionSnapshotIsolation,
     .indeterminate = 0.1},
    {.anomaly = "long-fork", .level = Level::kSerializable, .indeterminate = 0.1},
    {.anomaly = "write-skew",
     .level = Level::kStrictSerializable,
     .duplicates = 0.1,
     .indeterminate = 0.05},
    {.anomaly = "lost-update", .level = Level::kStrictSerializable, .drift = 0.05},
    {.anomaly = "write-skew", .level = Level::kStrictSerializable, .drift = 0.3},
    {.anomaly = "long-fork",
     .level = Level::kStrongSnapshotIsolation,
     .duplicates = 0.1,
     .indeterminate = 0.05,
     .drift = 0.05},
};
INSTANTIATE_TEST_SUITE_P(Among22000, Nearby, testing::ValuesIn(kCases));

}  // namespace
}  // namespace cupel::test
