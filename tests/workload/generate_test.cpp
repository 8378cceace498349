// Generated histories: small ones satisfy their store's level by the oracle,
// larger ones by the engine, and a injected anomaly violates the level that
// forbids it and none of those below. Options are bounded, seeds reproducible,
// and key distributions have the shape they are named after.
#include "data/workload/generate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "engine/check/check.hpp"
#include "oracle/oracle.hpp"
#include "support/history_language.hpp"
#include "support/parameter_name.hpp"

namespace cupel::test {
namespace {

using check::Verdict;
using history::History;
using history::OpId;
using history::OpKind;
using history::TxnId;
using history::TxnStatus;
using levels::Level;
using workload::Distribution;
using workload::GenerateOptions;
using workload::Shape;
using workload::Store;

constexpr Shape kShapes[] = {Shape::kRegister, Shape::kListAppend, Shape::kMini, Shape::kRange};

Level level_of(Store store) {
  return *levels::parse_level(workload::name(store));
}

History generated(const GenerateOptions& options) {
  auto result = workload::generate(options);
  EXPECT_TRUE(result.ok()) << (result ? "" : result.error().to_string());
  return result ? std::move(result).value() : History();
}

GenerateOptions small(std::uint64_t seed) {
  GenerateOptions o;
  o.sessions = 3;
  o.txns_per_session = 3;
  o.min_ops = 1;
  o.max_ops = 3;
  o.keys = 3;
  o.seed = seed;
  return o;
}

class EveryStore : public testing::TestWithParam<Store> {};

TEST_P(EveryStore, SmallHistoriesSatisfyItsLevelByTheOracle) {
  int decided = 0;
  for (const Shape shape : kShapes) {
    for (std::uint64_t seed = 0; seed < 150; ++seed) {
      GenerateOptions o = small(seed);
      o.store = GetParam();
      o.shape = shape;
      o.indeterminate_rate = seed % 3 == 0 ? 0.2 : 0;
      o.abort_rate = seed % 5 == 0 ? 0.2 : 0;
      o.conflict_aborts = seed % 2 == 0;
      o.duplicates = seed % 4 == 0 && shape != Shape::kListAppend ? 0.3 : 0;
      const History h = generated(o);
      if (oracle::writer_choices(h) > 500 || h.txn_count() > 20) continue;
      ++decided;
      ASSERT_TRUE(oracle::oracle_satisfies(h, level_of(o.store)))
          << workload::name(shape) << " seed " << seed << ": " << to_text(h);
    }
  }
  EXPECT_GT(decided, 300);
}

// What a lock would give as well is no test of the level: of the histories of a
// weak store some must violate the next stronger level.
TEST_P(EveryStore, GivesNoMoreThanItsLevel) {
  static const std::map<Store, Level> kNext = {{Store::kReadCommitted, Level::kReadAtomic},
                                               {Store::kReadAtomic, Level::kCausal},
                                               {Store::kCausal, Level::kPrefix},
                                               {Store::kPrefix, Level::kSnapshotIsolation},
                                               {Store::kSnapshotIsolation, Level::kSerializable},
                                               {Store::kSerializable, Level::kStrictSerializable}};
  const auto next = kNext.find(GetParam());
  if (next == kNext.end()) return;
  int violated = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    GenerateOptions o;
    o.store = GetParam();
    o.sessions = 5;
    o.txns_per_session = 20;
    o.keys = 8;
    o.read_share = GetParam() == Store::kSerializable ? 0.8 : 0.5;  // only readers lag there
    o.seed = seed;
    check::Options options;
    options.asked = {next->second};
    options.threads = 1;
    violated += check::check(generated(o), options).levels[0].verdict == Verdict::kViolated;
  }
  EXPECT_GE(violated, 10) << levels::name(next->second);
}

TEST_P(EveryStore, LargerHistoriesSatisfyItsLevelByTheEngine) {
  for (const Shape shape : kShapes) {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      GenerateOptions o;
      o.store = GetParam();
      o.shape = shape;
      o.txns_per_session = 60;
      o.keys = 60;
      o.distribution = static_cast<Distribution>(seed);
      o.indeterminate_rate = seed == 1 ? 0.05 : 0;
      o.abort_rate = seed == 2 ? 0.1 : 0;
      o.seed = seed;
      check::Options options;
      options.asked = {level_of(o.store)};
      options.threads = 1;
      const auto result = check::check(generated(o), options);
      ASSERT_EQ(result.levels[0].verdict, Verdict::kSatisfied)
          << workload::name(shape) << " seed " << seed << ": " << result.levels[0].detail;
    }
  }
}

std::string identifier(std::string_view text) {
  std::string out(text);
  std::replace(out.begin(), out.end(), '-', '_');
  return out;
}

INSTANTIATE_TEST_SUITE_P(Stores, EveryStore,
                         testing::ValuesIn(workload::all_stores().begin(),
                                           workload::all_stores().end()),
                         [](const auto& info) { return identifier(workload::name(info.param)); });

// Where each anomaly is forbidden first (levels.md).
const std::map<std::string_view, Level> kForbiddenBy = {
    {"thin-air-read", Level::kReadCommitted},
    {"aborted-read", Level::kReadCommitted},
    {"future-read", Level::kReadCommitted},
    {"not-my-last-write", Level::kReadCommitted},
    {"not-my-own-write", Level::kReadCommitted},
    {"intermediate-read", Level::kReadCommitted},
    {"non-repeatable-read", Level::kReadAtomic},
    {"session-guarantee-violation", Level::kReadAtomic},
    {"non-monotonic-read", Level::kReadCommitted},
    {"fractured-read", Level::kReadAtomic},
    {"causality-violation", Level::kCausal},
    {"long-fork", Level::kPrefix},
    {"lost-update", Level::kSnapshotIsolation},
    {"write-skew", Level::kSerializable}};

TEST(Injection, KnowsTheFourteenAnomalies) {
  const auto all = workload::mini_transaction_anomalies();
  EXPECT_EQ(all.size(), kForbiddenBy.size());
  for (const auto anomaly : all) EXPECT_TRUE(kForbiddenBy.count(anomaly)) << anomaly;
}

TEST(Injection, ViolatesExactlyFromItsLevel) {
  for (const auto& [anomaly, first] : kForbiddenBy) {
    for (const Shape shape : kShapes) {
      GenerateOptions o = small(7);
      o.store = Store::kStrictSerializable;
      o.shape = shape;
      o.sessions = o.txns_per_session = 2;
      o.inject = {std::string(anomaly)};
      const History h = generated(o);
      ASSERT_LE(oracle::writer_choices(h), 10000);
      for (const Level level : levels::all_levels()) {
        if (level == Level::kLinearizable) continue;
        const bool satisfied = oracle::oracle_satisfies(h, level);
        if (levels::implies(level, first)) {
          EXPECT_FALSE(satisfied) << anomaly << " at " << levels::name(level) << ": " << to_text(h);
        } else if (levels::implies(first, level)) {
          EXPECT_TRUE(satisfied) << anomaly << " at " << levels::name(level) << ": " << to_text(h);
        }
      }
      // The engine finds it in a large history as well.
      o.sessions = 8;
      o.txns_per_session = 50;
      o.keys = 50;
      check::Options options;
      options.asked = {first};
      options.threads = 1;
      EXPECT_EQ(check::check(generated(o), options).levels[0].verdict, Verdict::kViolated)
          << anomaly << " " << workload::name(shape);
    }
  }
}

// Injected among the clients, an anomaly violates the levels that forbid it and leaves
// the store its level where that does not.
TEST(Injection, AmongTheClientsViolatesExactlyFromItsLevel) {
  auto forbidden_by = kForbiddenBy;
  forbidden_by["G1c"] = Level::kReadCommitted;
  ASSERT_EQ(workload::injectable_anomalies().size(), forbidden_by.size());
  for (const auto& [anomaly, first] : forbidden_by) {
    for (const double place : {0.0, 0.5, 1.0}) {
      GenerateOptions o = small(7);
      o.store = Store::kStrictSerializable;
      o.sessions = 4;
      o.txns_per_session = 1;
      o.min_ops = o.max_ops = 2;
      o.inject = {std::string(anomaly)};
      o.inject_at = place;
      const History h = generated(o);
      EXPECT_EQ(h.session_count(), 4u) << anomaly << " has sessions of its own";
      for (const Level level :
           {Level::kReadCommitted, Level::kReadAtomic, Level::kCausal, Level::kPrefix,
            Level::kStrongSnapshotIsolation, Level::kStrictSerializable}) {
        const bool satisfied = oracle::oracle_satisfies(h, level);
        if (levels::implies(level, first)) {
          EXPECT_FALSE(satisfied) << anomaly << " at " << levels::name(level) << ": " << to_text(h);
        } else if (levels::implies(first, level) || first == Level::kSerializable) {
          EXPECT_TRUE(satisfied) << anomaly << " at " << levels::name(level) << ": " << to_text(h);
        }
      }
      // And the engine, in large histories of every store.
      for (const Store store : workload::all_stores()) {
        GenerateOptions large = small(11);
        large.store = store;
        large.sessions = 6;
        large.txns_per_session = 60;
        large.keys = 30;
        large.inject = {std::string(anomaly), "write-skew"};
        large.inject_at = place;
        const auto given = levels::parse_level(workload::name(store));
        ASSERT_TRUE(given) << workload::name(store);
        check::Options options;
        options.asked = {*given};
        options.threads = 1;
        const bool forbidden =
            levels::implies(*given, first) || levels::implies(*given, Level::kSerializable);
        EXPECT_EQ(check::check(generated(large), options).levels[0].verdict,
                  forbidden ? Verdict::kViolated : Verdict::kSatisfied)
            << anomaly << " at " << place << " of " << workload::name(store);
      }
    }
  }
}

TEST(Injection, ItsPlaceIsInTheMiddleOfTheClientsSessions) {
  GenerateOptions o = small(3);
  o.sessions = 4;
  o.txns_per_session = 100;
  o.inject = {"lost-update"};
  o.inject_at = 0.25;
  const History h = generated(o);
  int found = 0;
  for (std::size_t t = 0; t < h.txn_count(); ++t) {
    const history::TxnId txn(t);
    const auto key = h.key(h.op(history::OpId(h.first_op(txn))).key);
    if (key.integer < static_cast<std::int64_t>(o.keys)) continue;
    ++found;
    EXPECT_NEAR(h.place(txn), 25, 10);
  }
  EXPECT_EQ(found, 2);
}

TEST(Injection, RefusesAPlaceWithTooFewSessionsOrOutOfRange) {
  GenerateOptions o = small(3);
  o.sessions = 3;
  o.inject = {"long-fork"};
  o.inject_at = 0.5;
  const auto few = workload::generate(o);
  ASSERT_FALSE(few.ok());
  EXPECT_NE(few.error().message.find("expected at least 4"), std::string::npos);
  o.sessions = 4;
  o.inject_at = 1.5;
  EXPECT_FALSE(workload::generate(o).ok());
}

TEST(Injection, RefusesAnUnknownAnomalyAndListsTheNames) {
  GenerateOptions o = small(1);
  o.inject = {"dirty-laundry"};
  const auto result = workload::generate(o);
  ASSERT_FALSE(result.ok());
  for (const auto& [anomaly, level] : kForbiddenBy) {
    EXPECT_NE(result.error().message.find(anomaly), std::string::npos) << anomaly;
  }
}

TEST(Generate, TheSameSeedGivesTheSameHistory) {
  for (const Store store : workload::all_stores()) {
    for (const Shape shape : kShapes) {
      GenerateOptions o;
      o.store = store;
      o.shape = shape;
      o.txns_per_session = 20;
      o.abort_rate = o.indeterminate_rate = 0.1;
      const std::string once = to_text(generated(o));
      EXPECT_EQ(once, to_text(generated(o)));
      o.seed = 2;
      EXPECT_NE(once, to_text(generated(o)));
    }
  }
}

TEST(Generate, RefusesWhatIsOutOfRange) {
  const auto refused = [](auto edit) {
    GenerateOptions o = small(1);
    edit(o);
    return !workload::generate(o).ok();
  };
  EXPECT_FALSE(refused([](GenerateOptions&) {}));
  EXPECT_TRUE(refused([](GenerateOptions& o) { o.sessions = 0; }));
  EXPECT_TRUE(refused([](GenerateOptions& o) { o.keys = 0; }));
  EXPECT_TRUE(refused([](GenerateOptions& o) { o.keys = 1'000'000'001; }));
  EXPECT_TRUE(refused([](GenerateOptions& o) {
    o.min_ops = 4;
    o.max_ops = 3;
  }));
  EXPECT_TRUE(refused([](GenerateOptions& o) { o.read_share = 1.5; }));
  EXPECT_TRUE(refused([](GenerateOptions& o) { o.duplicates = -0.1; }));
  EXPECT_TRUE(refused([](GenerateOptions& o) { o.abort_rate = 1; }));
  EXPECT_FALSE(refused([](GenerateOptions& o) { o.keys = 1'000'000'000; }));
}

TEST(Generate, IsAsLargeAsAsked) {
  GenerateOptions o;
  o.sessions = 7;
  o.txns_per_session = 30;
  o.min_ops = 3;
  o.max_ops = 5;
  o.keys = 40;
  const History h = generated(o);
  EXPECT_EQ(h.session_count(), 7u);
  const auto committed = [](const History& history) {
    std::size_t count = 0;
    for (std::size_t t = 0; t < history.txn_count(); ++t) {
      count += history.status(TxnId(t)) == TxnStatus::kCommitted;
    }
    return count;
  };
  EXPECT_EQ(committed(h), 210u);
  EXPECT_EQ(h.txn_count(), 210u);  // what lost a conflict is recorded only if asked for
  GenerateOptions conflicts = o;
  conflicts.conflict_aborts = true;
  EXPECT_EQ(committed(generated(conflicts)), 210u);
  EXPECT_GT(generated(conflicts).txn_count(), 210u);
  EXPECT_TRUE(h.has_all_times());
  for (std::size_t t = 0; t < h.txn_count(); ++t) {
    const auto ops = h.last_op(TxnId(t)) - h.first_op(TxnId(t));
    EXPECT_GE(ops, 3u);
    EXPECT_LE(ops, 5u);
  }
  for (std::size_t k = 0; k < h.key_count(); ++k) {
    EXPECT_LT(h.key(history::KeyId(k)).integer, 40);
  }
  o.times = false;
  EXPECT_FALSE(generated(o).has_times());
}

TEST(Generate, WritesUniqueValuesUnlessAskedOtherwise) {
  const auto repeated = [](const History& h) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, int> times;
    int again = 0;
    for (std::size_t i = 0; i < h.op_count(); ++i) {
      const auto op = h.op(OpId(i));
      if (op.kind == OpKind::kWrite) again += times[{op.key.raw, op.value.raw}]++ > 0;
    }
    return again;
  };
  GenerateOptions o;
  o.txns_per_session = 200;
  EXPECT_EQ(repeated(generated(o)), 0);
  o.duplicates = 0.3;
  EXPECT_GT(repeated(generated(o)), 500);
}

TEST(Generate, HasAboutTheSharesAskedFor) {
  GenerateOptions o;
  o.txns_per_session = 500;
  o.read_share = 0.7;
  o.abort_rate = 0.2;
  o.indeterminate_rate = 0.1;
  const History h = generated(o);
  double reads = 0, aborted = 0, indeterminate = 0;
  for (std::size_t i = 0; i < h.op_count(); ++i) reads += h.kind(OpId(i)) == OpKind::kRead;
  for (std::size_t t = 0; t < h.txn_count(); ++t) {
    aborted += h.status(TxnId(t)) == TxnStatus::kAborted;
    indeterminate += h.status(TxnId(t)) == TxnStatus::kIndeterminate;
  }
  const auto txns = static_cast<double>(h.txn_count());
  EXPECT_NEAR(reads / static_cast<double>(h.op_count()), 0.7, 0.03);
  EXPECT_GT(aborted / txns, 0.1);
  EXPECT_LT(aborted / txns, 0.4);
  EXPECT_NEAR(indeterminate / txns, 0.1, 0.04);
}

// The share of operations on the most used tenth of the keys.
double top_tenth(Distribution distribution) {
  GenerateOptions o;
  o.store = Store::kReadCommitted;
  o.distribution = distribution;
  o.txns_per_session = 1000;
  o.keys = 1000;
  const History h = generated(o);
  std::vector<int> uses(h.key_count(), 0);
  for (std::size_t i = 0; i < h.op_count(); ++i) ++uses[h.op(OpId(i)).key.index()];
  std::sort(uses.rbegin(), uses.rend());
  double top = 0;
  for (std::size_t k = 0; k < 100 && k < uses.size(); ++k) top += uses[k];
  return top / static_cast<double>(h.op_count());
}

TEST(Generate, DistributionsHaveTheirShapes) {
  EXPECT_NEAR(top_tenth(Distribution::kUniform), 0.12, 0.03);
  EXPECT_NEAR(top_tenth(Distribution::kHotspot), 0.43, 0.06);
  EXPECT_NEAR(top_tenth(Distribution::kExponential), 0.64, 0.06);
  EXPECT_NEAR(top_tenth(Distribution::kZipf), 0.70, 0.07);
}

TEST(Generate, AMiniTransactionWritesOnlyWhatItRead) {
  GenerateOptions o;
  o.shape = Shape::kMini;
  o.txns_per_session = 100;
  const History h = generated(o);
  for (std::size_t t = 0; t < h.txn_count(); ++t) {
    std::map<history::KeyId, int> read;
    int writes = 0;
    for (auto i = h.first_op(TxnId(t)); i < h.last_op(TxnId(t)); ++i) {
      const auto op = h.op(OpId(i));
      if (op.kind == OpKind::kRead)
        ++read[op.key];
      else
        EXPECT_EQ(read.count(op.key), 1u), ++writes;
    }
    EXPECT_GE(read.size(), 1u);
    EXPECT_LE(read.size(), 2u);
    EXPECT_LE(writes, 2);
  }
}

}  // namespace
}  // namespace cupel::test
