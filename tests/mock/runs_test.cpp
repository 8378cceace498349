// Long random runs: the checker accepts what a store did, at its level, and over enough
// runs refutes every stronger one; choices are uniform; the same seed gives the same run.
#include <gtest/gtest.h>

#include <array>
#include <map>

#include "base/random.hpp"
#include "engine/check/check.hpp"
#include "engine/levels/level.hpp"
#include "engine/mock/store.hpp"
#include "support/parameter_name.hpp"

namespace cupel::mock {
namespace {

constexpr std::array kLevels = {Level::kReadCommitted,
                                Level::kReadAtomic,
                                Level::kCausal,
                                Level::kPrefix,
                                Level::kStrongSessionSnapshotIsolation,
                                Level::kStrongSessionSerializable};

levels::Level of(Level level) {
  return *levels::parse_level(name(level));
}

struct Shape {
  int sessions = 4, transactions = 200, operations = 6, keys = 8;
  double writes = 0.4;
};

// Random transactions; some are rolled back, some go back to a savepoint.
void issue(Store& store, const Shape& shape, std::uint64_t seed) {
  base::Random random(seed);
  std::vector<std::uint32_t> sessions;
  for (int s = 0; s < shape.sessions; ++s)
    sessions.push_back(store.open_session("s" + std::to_string(s)));
  int value = 0;
  for (int t = 0; t < shape.transactions; ++t) {
    const auto txn = store.begin(sessions[random.below(sessions.size())]);
    std::size_t savepoint = txn->savepoint();
    bool alive = true;
    for (int i = 0; i < shape.operations && alive; ++i) {
      const auto key = "k" + std::to_string(random.below(shape.keys));
      if (random.chance(shape.writes)) {
        alive = txn->write(key, Value::of(++value));
      } else {
        alive = txn->read(key).has_value();
      }
      if (alive && random.chance(0.05)) savepoint = txn->savepoint();
      if (alive && random.chance(0.05)) txn->rollback_to(savepoint);
    }
    if (random.chance(0.05)) {
      txn->rollback();
    } else {
      txn->commit();
    }
  }
}

check::Verdict verdict(const history::History& history, levels::Level level) {
  check::Options options;
  options.asked = {level};
  options.threads = 1;
  return check::check(history, options).levels[0].verdict;
}

class MockRuns : public testing::TestWithParam<Level> {};

TEST_P(MockRuns, AreAcceptedAtTheirLevelAndRefutedAbove) {
  std::map<levels::Level, int> refuted;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    for (int policy = 0; policy < 3; ++policy) {
      Options options;
      options.level = GetParam();
      options.seed = seed;
      options.uniform = policy == 0;
      options.latest = policy == 1;
      options.adversarial = policy == 2;
      Shape shape;
      if (seed % 4 == 1) shape = {3, 60, 3, 2, 0.5};
      if (seed % 4 == 2) shape = {12, 150, 5, 30, 0.3};
      if (seed % 4 == 3) shape = {2, 300, 8, 20, 0.7};
      Store store(options);
      issue(store, shape, seed);
      const auto history = store.history();
      ASSERT_TRUE(history.ok()) << history.error().to_string();
      ASSERT_EQ(verdict(*history, of(GetParam())), check::Verdict::kSatisfied)
          << "seed " << seed << ", policy " << policy;
      for (const Level level : kLevels) {
        if (level > GetParam())
          refuted[of(level)] += verdict(*history, of(level)) == check::Verdict::kViolated;
      }
    }
  }
  for (const auto& [level, times] : refuted) EXPECT_GT(times, 10) << levels::name(level);
}

// Keys come into being one after another, and transactions list them, read some of them and
// write one or make one. What a listing lacked is in the history as a read of null, which
// the level allows; and it is what refutes the stronger ones where nobody writes twice.
TEST_P(MockRuns, WithScansAreAcceptedAtTheirLevelAndRefutedAbove) {
  std::map<levels::Level, int> refuted;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    for (int policy = 0; policy < 3; ++policy) {
      Options options;
      options.level = GetParam();
      options.seed = seed;
      options.uniform = policy == 0;
      options.latest = policy == 1;
      options.adversarial = policy == 2;
      Store store(options);
      std::vector<std::uint32_t> sessions;
      for (int s = 0; s < 3; ++s) sessions.push_back(store.open_session("s"));
      base::Random random(seed);
      for (int t = 0; t < 60; ++t) {
        const auto txn = store.begin(sessions[random.below(3)]);
        const auto keys = txn->scan(random.chance(0.5) ? "t/" : "t/1", '/');
        for (const auto& key : keys) EXPECT_EQ(key.rfind('/'), 1U);
        bool live = true;
        for (const auto& key : keys)
          live = live && (!random.chance(0.5) || txn->read(key).has_value());
        const auto key = "t/" + std::to_string(random.below(20));
        const auto savepoint = txn->savepoint();
        live = live && txn->write(key, Value::of(t)) && txn->write(key + "/cell", Value::of(t));
        if (live && random.chance(0.1)) txn->rollback_to(savepoint);
        if (live && !random.chance(0.1)) txn->commit();
      }
      const auto history = store.history();
      ASSERT_TRUE(history.ok()) << history.error().to_string();
      ASSERT_EQ(verdict(*history, of(GetParam())), check::Verdict::kSatisfied)
          << "seed " << seed << ", policy " << policy;
      for (const Level level : kLevels) {
        if (level > GetParam())
          refuted[of(level)] += verdict(*history, of(level)) == check::Verdict::kViolated;
      }
    }
  }
  for (const auto& [level, times] : refuted) EXPECT_GT(times, 5) << levels::name(level);
}

// A serializable transaction's scan binds also when its session scans again at a weaker level:
// of two that each make what the other did not see, not both commit.
TEST_P(MockRuns, AWeakerScanDoesNotReplaceASerializableOne) {
  int both = 0, one = 0;
  for (const bool ranges : {false, true}) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      Options options;
      options.level = Level::kReadCommitted;
      options.seed = seed;
      Store store(options);
      const auto a = store.open_session("a"), b = store.open_session("b");
      const auto begin = [&](std::uint32_t session, Level level) {
        Store::BeginOptions at;
        at.level = level;
        return store.begin(session, at);
      };
      // Every key of the range is absent or reads null.
      const auto sees_none = [&](Transaction& txn, const char* low, const char* high) {
        const auto keys = ranges ? txn.scan_between(low, high, "") : txn.scan(low, '#');
        for (const auto& key : keys) {
          const auto value = txn.read(key);
          if (!value || value->kind != Value::Kind::kNull) return false;
        }
        return true;
      };
      const auto first = begin(a, Level::kStrongSessionSerializable);
      ASSERT_TRUE(sees_none(*first, "t/", "t0"));
      ASSERT_TRUE(first->write("u/1", Value::of(1)) && first->commit());
      const auto weaker = begin(a, GetParam());
      sees_none(*weaker, "t/", "t0");
      weaker->commit();
      const auto last = begin(b, Level::kStrongSessionSerializable);
      if (sees_none(*last, "u/", "u0") && last->write("t/1", Value::of(2)) && last->commit()) {
        ++both;
      } else {
        ++one;
      }
    }
  }
  EXPECT_EQ(both, 0);
  EXPECT_EQ(one, 80);
}

TEST_P(MockRuns, AreTheSameForTheSameSeed) {
  std::array<std::string, 3> texts;
  for (int run = 0; run < 3; ++run) {
    Options options;
    options.level = GetParam();
    options.seed = run == 2 ? 8 : 7;
    options.latest = options.adversarial = 0.5;
    options.abort_rate = 0.1;
    Store store(options);
    issue(store, {}, 1);
    const auto h = store.history();
    for (std::size_t i = 0; i < h->op_count(); ++i) {
      const auto op = h->op(history::OpId(i));
      texts[run] += h->key(op.key).to_string() + "=" + h->value(op.value).to_string() + " ";
    }
  }
  EXPECT_EQ(texts[0], texts[1]);
  EXPECT_NE(texts[0], texts[2]);
}

// Four writes of x by four sessions, and null: five values for the reader, each as likely.
TEST_P(MockRuns, ChooseUniformly) {
  std::map<std::string, int> seen;
  constexpr int kRuns = 4000;
  Options options;
  options.level = GetParam();
  Store store(options);
  std::vector<std::uint32_t> sessions;
  for (int s = 0; s < 5; ++s) sessions.push_back(store.open_session("s"));
  for (int run = 0; run < kRuns; ++run) {
    store.reset(static_cast<std::uint64_t>(run));
    for (int s = 0; s < 4; ++s) {
      const auto txn = store.begin(sessions[s]);
      ASSERT_TRUE(txn->write("x", Value::of(s)));
      ASSERT_TRUE(txn->commit());
    }
    const auto txn = store.begin(sessions[4]);
    const auto value = txn->read("x");
    ++seen[value->kind == Value::Kind::kNull ? "null" : std::to_string(value->integer)];
    txn->rollback();
  }
  ASSERT_EQ(seen.size(), 5U);
  double square = 0;
  for (const auto& [value, count] : seen) {
    const double off = count - kRuns / 5.0;
    square += off * off / (kRuns / 5.0);
  }
  EXPECT_LT(square, 18.5);  // 4 degrees of freedom: one in a thousand
}

// Work that grows by the square of a transaction's operations would take many minutes here.
TEST_P(MockRuns, LargeTransactionsCostWhatTheirOperationsDo) {
  constexpr int kKeys = 20'000;
  Store store({.level = GetParam()});
  const auto session = store.open_session("s");
  for (int round = 1; round <= 2; ++round) {
    const auto txn = store.begin(session);
    (void)txn->scan("k", '/');
    std::int64_t sum = 0;
    for (int k = 0; k < kKeys; ++k) {
      const auto key = "k" + std::to_string(k);
      const auto value = txn->read(key);
      ASSERT_TRUE(value);
      sum += value->integer;
      ASSERT_TRUE(txn->write(key, Value::of(std::int64_t{round})));
      ASSERT_EQ(txn->read(key)->integer, round);
    }
    const auto savepoint = txn->savepoint();
    ASSERT_TRUE(txn->write("k0", Value::of(std::int64_t{9})));
    txn->rollback_to(savepoint);
    ASSERT_EQ(txn->read("k0")->integer, round);
    ASSERT_TRUE(txn->commit());
    // Read-committed promises a session nothing of what it did.
    if (round == 2 && GetParam() == Level::kReadCommitted) continue;
    ASSERT_EQ(sum, (round - 1) * kKeys);
  }
}

std::string in_snake_case(const testing::TestParamInfo<Level>& info) {
  std::string text(name(info.param));
  for (auto& c : text) c = c == '-' ? '_' : c;
  return text;
}
INSTANTIATE_TEST_SUITE_P(Levels, MockRuns, testing::ValuesIn(kLevels), in_snake_case);

}  // namespace
}  // namespace cupel::mock
