// shrink: what is left violates, is called the same, and can lose nothing; of
// thousands of random histories, and of each injected anomaly.
#include "engine/explain/shrink/shrink.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/verdict.hpp"
#include "data/history/builder.hpp"
#include "data/workload/generate.hpp"
#include "engine/check/check.hpp"
#include "engine/explain/shrink/select.hpp"
#include "engine/explain/why/explain.hpp"
#include "engine/levels/decide.hpp"
#include "oracle/oracle.hpp"
#include "property/random_history.hpp"
#include "support/history_language.hpp"

namespace cupel::shrink {
namespace {

using explain::Counterexample;
using levels::Level;

// The name of the violation that a history has at the level, if it has one.
std::optional<std::string> violation_of(const History& h, Level level,
                                        const std::string& preferred) {
  base::Budget budget;
  levels::Decider decider(h, 0, 1, false);
  const auto decision = decider.decide(level, budget);
  if (decision.status != base::Verdict::kViolated) return std::nullopt;
  const auto anomalies = explain::explain(h, level, *decision.violation);
  for (const auto& one : anomalies) {
    if (one.name == preferred) return one.name;
  }
  return anomalies.front().name;
}

std::vector<OperationRef> everything(const History& h) {
  std::vector<OperationRef> all;
  for (std::size_t t = 0; t < h.txn_count(); ++t) {
    const TxnId txn(t);
    all.push_back({txn, OpId::none()});
    for (auto i = h.first_op(txn); i < h.last_op(txn); ++i) all.push_back({txn, OpId(i)});
  }
  return all;
}

// Every transaction and every operation left out in turn: the violation of this name
// is gone.
void expect_nothing_to_leave_out(const Counterexample& small, const std::string& context) {
  const History& h = small.history;
  const Material material(h, everything(h), true);
  const auto look = [&](Material::Kept kept, const std::string& what) {
    material.settle(kept);
    const auto part = material.part(kept);
    const auto name = violation_of(part.history, small.level, small.anomaly.name);
    EXPECT_NE(name.value_or(""), small.anomaly.name)
        << what << " can be left out of\n"
        << test::to_text(h) << "\nat " << levels::name(small.level) << context;
  };
  for (std::uint32_t t = 0; t < material.txn_count(); ++t) {
    auto kept = material.all();
    kept.txns[t] = 0;
    look(std::move(kept), "transaction " + std::to_string(h.label(material.txn(t))));
  }
  for (std::uint32_t i = 0; i < material.op_count(); ++i) {
    auto kept = material.all();
    kept.ops[i] = Material::State::kOut;
    look(std::move(kept), "operation " + std::to_string(i));
  }
}

// Apart from Material: no read, and no append whose element no list has, can be left out.
void expect_nothing_unread(const Counterexample& small, const std::string& context) {
  const History& h = small.history;
  std::set<std::pair<KeyId, ValueId>> seen;
  for (std::size_t i = 0; i < h.op_count(); ++i) {
    const auto op = h.op(OpId(i));
    if (op.kind != history::OpKind::kListRead || !h.list_known(op)) continue;
    for (const ValueId v : h.list(op)) seen.insert({op.key, v});
  }
  for (std::size_t i = 0; i < h.op_count(); ++i) {
    const auto op = h.op(OpId(i));
    const bool reads = op.kind == history::OpKind::kRead || op.kind == history::OpKind::kListRead;
    const bool unread = op.kind == history::OpKind::kAppend && !seen.contains({op.key, op.value});
    if (!reads && !unread) continue;
    history::HistoryBuilder b;
    b.set_default_initial(b.value(h.value(h.default_initial_value())));
    for (std::size_t t = 0; t < h.txn_count(); ++t) {
      const TxnId txn(t);
      b.begin(b.session(h.session_name(h.session(txn))), h.status(txn),
              {.invoke = h.invoke(txn), .complete = h.complete(txn), .label = h.label(txn)});
      for (auto o = h.first_op(txn); o < h.last_op(txn); ++o) {
        if (OpId(o) != OpId(i)) b.copy(h, OpId(o));
      }
      b.end();
    }
    const auto without = std::move(b).finish();
    ASSERT_TRUE(without.ok());
    const auto name = violation_of(*without, small.level, small.anomaly.name);
    EXPECT_NE(name.value_or(""), small.anomaly.name)
        << "operation " << i << " can be left out of\n"
        << test::to_text(h) << "\nat " << levels::name(small.level) << context;
  }
}

// Its transactions and operations are those of the whole.
void expect_part_of(const History& whole, const Counterexample& small) {
  const History& h = small.history;
  ASSERT_EQ(small.original_txn.size(), h.txn_count());
  ASSERT_EQ(small.original_op.size(), h.op_count());
  for (std::size_t t = 0; t < h.txn_count(); ++t) {
    const TxnId now(t), then = small.original_txn[t];
    ASSERT_EQ(h.label(now), whole.label(then));
    ASSERT_EQ(h.status(now), whole.status(then));
    ASSERT_EQ(h.place(now), whole.place(then));
    for (auto i = h.first_op(now); i < h.last_op(now); ++i) {
      const auto op = h.op(OpId(i)), original = whole.op(small.original_op[i]);
      ASSERT_GE(small.original_op[i].raw, whole.first_op(then));
      ASSERT_LT(small.original_op[i].raw, whole.last_op(then));
      if (op.key.valid()) {
        ASSERT_EQ(h.key(op.key).to_string(), whole.key(original.key).to_string());
      }
      if (op.kind == history::OpKind::kRead && op.value.valid()) {
        ASSERT_EQ(h.value(op.value).to_string(), whole.value(original.value).to_string());
      }
    }
  }
}

class RandomViolations : public testing::TestWithParam<int> {};

TEST_P(RandomViolations, AreMadeAsSmallAsTheyCanBe) {
  int shrunk = 0, renamed = 0, by_oracle = 0;
  for (std::uint64_t i = 0; i < 200; ++i) {
    const auto seed = i * test::kKindCount + static_cast<std::uint64_t>(GetParam());
    const auto h = test::build(test::random_sketch(static_cast<test::Kind>(GetParam()), seed));
    levels::Decider decider(h, 0, 1, false);
    for (const auto level : levels::all_levels()) {
      if (decider.refusal(level)) continue;
      base::Budget budget;
      const auto decision = decider.decide(level, budget);
      if (decision.status != base::Verdict::kViolated) continue;
      const std::string context =
          " (seed " + std::to_string(seed) + ", whole history:\n" + test::to_text(h) + ")";
      const auto small = shrink(h, level, *decision.violation, {.seconds = 600});
      ASSERT_TRUE(small) << levels::name(level) << context;
      EXPECT_TRUE(small->minimal);
      expect_part_of(h, *small);
      ASSERT_TRUE(violation_of(small->history, level, "")) << levels::name(level) << context;
      if (oracle::writer_choices(small->history) < 100 && small->history.txn_count() < 8) {
        ASSERT_FALSE(oracle::oracle_satisfies(small->history, level))
            << test::to_text(small->history) << " at " << levels::name(level) << context;
        ++by_oracle;
      }
      const auto before = explain::explain(h, level, *decision.violation).front().name;
      renamed += before != small->anomaly.name;
      expect_nothing_to_leave_out(*small, context);
      expect_nothing_unread(*small, context);
      ++shrunk;
    }
  }
  RecordProperty("shrunk", shrunk);
  RecordProperty("renamed", renamed);
  EXPECT_GT(shrunk, 100);
  EXPECT_GT(by_oracle, shrunk / 2);
  EXPECT_EQ(renamed, 0) << "of " << shrunk;
}

INSTANTIATE_TEST_SUITE_P(Kinds, RandomViolations, testing::Range(0, test::kKindCount),
                         [](const auto& info) {
                           std::string text(name(static_cast<test::Kind>(info.param)));
                           for (char& c : text) c = c == '-' ? '_' : c;
                           return text;
                         });

// Everybody in the counterexample is in the cycle, or wrote what is read in it.
void expect_cycle_and_writers(const Counterexample& small) {
  const History& h = small.history;
  std::set<TxnId> allowed(small.anomaly.transactions.begin(), small.anomaly.transactions.end());
  std::set<std::pair<std::string, std::string>> seen;
  for (std::size_t i = 0; i < h.op_count(); ++i) {
    const auto op = h.op(OpId(i));
    if (op.kind == history::OpKind::kRead && op.value.valid()) {
      seen.emplace(h.key(op.key).to_string(), h.value(op.value).to_string());
    }
    if (op.kind == history::OpKind::kListRead) {
      for (const auto v : h.list(op)) {
        seen.emplace(h.key(op.key).to_string(), h.value(v).to_string());
      }
    }
  }
  for (std::size_t i = 0; i < h.op_count(); ++i) {
    const auto op = h.op(OpId(i));
    if (op.kind != history::OpKind::kWrite && op.kind != history::OpKind::kAppend) continue;
    if (seen.contains({h.key(op.key).to_string(), h.value(op.value).to_string()})) {
      allowed.insert(h.txn_of(OpId(i)));
    }
  }
  EXPECT_LE(h.txn_count(), allowed.size()) << test::to_text(h) << "\n" << small.anomaly.explanation;
}

class Injected : public testing::TestWithParam<std::string_view> {};

TEST_P(Injected, IsAllThatIsLeft) {
  for (const auto shape : {workload::Shape::kRegister, workload::Shape::kMini}) {
    workload::GenerateOptions options;
    options.store = workload::Store::kStrictSerializable;
    options.shape = shape;
    options.sessions = 20;
    options.txns_per_session = 500;
    options.keys = 1000;
    options.inject = {std::string(GetParam())};
    const auto h = workload::generate(options);
    ASSERT_TRUE(h.ok());
    ASSERT_GE(h->txn_count(), 10'000u);
    const auto result = check::check(*h, {});
    ASSERT_FALSE(result.weakest_violated.empty());
    const auto found = counterexamples(*h, result, {.seconds = 60});
    ASSERT_FALSE(found.empty());
    const auto& small = found.front();
    EXPECT_EQ(small.anomaly.name, GetParam());
    EXPECT_TRUE(small.minimal);
    // Four at most, and what they read from.
    EXPECT_LE(small.history.txn_count(), 6u) << test::to_text(small.history);
    EXPECT_LE(small.history.op_count(), 10u) << test::to_text(small.history);
    expect_cycle_and_writers(small);
    expect_part_of(*h, small);
    expect_nothing_to_leave_out(small, "");
  }
}

INSTANTIATE_TEST_SUITE_P(Anomalies, Injected,
                         testing::ValuesIn(workload::mini_transaction_anomalies().begin(),
                                           workload::mini_transaction_anomalies().end()),
                         [](const auto& info) {
                           std::string text(info.param);
                           std::erase(text, '-');
                           return text;
                         });

TEST(Shrink, LosesAWriterOnlyWhereItsReadIsNotNeeded) {
  // The fourth transaction, its session and the reads of z are beside the point.
  const auto h = test::history_of(
      "init=0 a: w(x,1) w(z,5) | b: r(x,1) w(x,2) r(z,5) | c: r(z,5) r(x,1) w(x,3) | d: r(x,3)");
  const auto result =
      check::check(h, {.asked = {Level::kSnapshotIsolation}, .timeout_seconds = {}});
  ASSERT_TRUE(result.levels.front().violation);
  const auto small = shrink(h, Level::kSnapshotIsolation, *result.levels.front().violation);
  ASSERT_TRUE(small);
  EXPECT_EQ(test::to_text(small->history),
            test::to_text(test::history_of("init=0 a: w(x,1) | b: r(x,1) w(x,2) | "
                                           "c: r(x,1) w(x,3)")));
  EXPECT_EQ(small->anomaly.name, "lost-update");
  EXPECT_TRUE(small->minimal);
}

TEST(Shrink, LeavesOutEqualAppendsThatNobodyRead) {
  const auto h = test::history_of("a: a(x,3) a(x,3) r(y,nil) ; l(x,[]) a(x,3)");
  const auto result = check::check(h, {.asked = {Level::kReadAtomic}, .timeout_seconds = {}});
  ASSERT_TRUE(result.levels.front().violation);
  const auto small = shrink(h, Level::kReadAtomic, *result.levels.front().violation);
  ASSERT_TRUE(small);
  EXPECT_EQ(test::to_text(small->history), test::to_text(test::history_of("a: a(x,3) ; l(x,[])")));
  EXPECT_TRUE(small->minimal);
}

TEST(Shrink, FindsTheTwoListsThatDiffer) {
  const auto h = test::history_of(
      "a: a(x,1) ; a(x,2) ; a(x,3) ; a(x,4) | b: l(x,[1 2 3 4]) | c: l(x,[1 2 4 3])");
  const auto result = check::check(h, {.asked = {Level::kReadCommitted}, .timeout_seconds = {}});
  ASSERT_TRUE(result.levels.front().violation);
  const auto small = shrink(h, Level::kReadCommitted, *result.levels.front().violation);
  ASSERT_TRUE(small);
  EXPECT_EQ(test::to_text(small->history),
            test::to_text(test::history_of("a: a(x,3) ; a(x,4) | b: l(x,[3 4]) | c: l(x,[4 3])")));
}

TEST(Shrink, WithoutTimeSaysThatItIsNotMinimal) {
  const auto h = test::history_of("init=0 a: r(x,0) w(x,1) | b: r(x,0) w(x,2) | c: r(y,0)");
  const auto result =
      check::check(h, {.asked = {Level::kSnapshotIsolation}, .timeout_seconds = {}});
  ASSERT_TRUE(result.levels.front().violation);
  const auto small =
      shrink(h, Level::kSnapshotIsolation, *result.levels.front().violation, {.seconds = 1e-9});
  EXPECT_TRUE(!small || !small->minimal);
}

TEST(Shrink, OfOneViolationAtTwoLevelsIsOneCounterexample) {
  // Neither snapshot-isolation nor strict-serializable alone explains the other.
  const auto h = test::history_of(
      "init=0 a: r(x,0) w(x,1) @10-20 | b: r(x,0) w(x,2) @10-20 | c: r(y,0) @10-20");
  const auto found = counterexamples(h, check::check(h, {}));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found.front().level, Level::kSnapshotIsolation);
  EXPECT_FALSE(found.front().also_at.empty());
}

// What is found at a strong level may be of a weaker one.
std::optional<Counterexample> found_at(Level level, const history::History& h) {
  const auto result = check::check(h, {.asked = {level}, .timeout_seconds = {}});
  if (!result.levels.front().violation) return std::nullopt;
  return shrink(h, level, *result.levels.front().violation);
}

TEST(Shrink, IsFiledAtTheWeakestLevelThatIsViolatedByTheSameName) {
  auto lost =
      found_at(Level::kStrictSerializable,
               test::history_of("init=0 a: r(x,0) w(x,1) @10-20 | b: r(x,0) w(x,2) @10-20"));
  ASSERT_TRUE(lost.has_value());
  ASSERT_EQ(lost->anomaly.name, "lost-update");
  file_at_weakest(*lost);
  EXPECT_EQ(lost->level, Level::kSnapshotIsolation);
  EXPECT_EQ(lost->anomaly.name, "lost-update");
  EXPECT_EQ(lost->anomaly.at, Level::kSnapshotIsolation);
  EXPECT_TRUE(check::check(lost->history, {.asked = {lost->level}, .timeout_seconds = {}})
                  .levels.front()
                  .violation);
}

TEST(Shrink, IsFiledNowhereElseWhereWeakerLevelsAllowIt) {
  auto skew =
      found_at(Level::kStrictSerializable,
               test::history_of("init=0 a: r(x,0) w(y,1) @10-20 | b: r(y,0) w(x,2) @10-20"));
  ASSERT_TRUE(skew.has_value());
  file_at_weakest(*skew);
  EXPECT_EQ(skew->level, Level::kSerializable);
  auto stale = found_at(Level::kStrictSerializable,
                        test::history_of("init=0 a: w(x,1) @0-10 | b: r(x,0) @20-30"));
  ASSERT_TRUE(stale.has_value());
  const auto name = stale->anomaly.name;
  file_at_weakest(*stale);
  EXPECT_EQ(stale->anomaly.name, name);
  EXPECT_EQ(stale->level, Level::kStrongSnapshotIsolation);
}

}  // namespace
}  // namespace cupel::shrink
