// Transactions that overlap: whatever several sessions do at the same time, the history is within
// the level, whoever only reads is never refused, and each anomaly that the level allows comes.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>

#include "base/random.hpp"
#include "engine/check/check.hpp"
#include "engine/levels/level.hpp"
#include "engine/mock/store.hpp"
#include "oracle/oracle.hpp"
#include "support/parameter_name.hpp"

namespace cupel::mock {
namespace {

levels::Level of(Level level) {
  return *levels::parse_level(name(level));
}

check::Verdict verdict(const history::History& history, levels::Level level) {
  check::Options options;
  options.asked = {level};
  options.threads = 1;
  return check::check(history, options).levels[0].verdict;
}

struct Shape {
  int sessions = 4, steps = 600, operations = 6, keys = 6;
  double writes = 0.4;
  double scans = 0;
};

// What one session does: its open transaction, and what that did so far.
struct Client {
  std::uint32_t session = 0;
  std::unique_ptr<Transaction> open = {};
  bool only_reads = true;
  std::size_t savepoint = 0;
  int operations = 0;
};

class Issue {
 public:
  Issue(Store& store, const Shape& shape, std::uint64_t seed)
      : store_(store), shape_(shape), random_(seed) {
    for (int s = 0; s < shape.sessions; ++s)
      clients_.push_back({store.open_session("s" + std::to_string(s))});
  }

  // Levels of single transactions; by default the store's.
  std::function<std::optional<Level>(base::Random&)> level = [](base::Random&) {
    return std::optional<Level>();
  };

  void run() {
    for (int step = 0; step < shape_.steps; ++step) {
      auto& client = clients_[random_.below(clients_.size())];
      go_on(client);
      overlapping += std::count_if(clients_.begin(), clients_.end(),
                                   [](const auto& one) { return one.open != nullptr; }) > 1;
    }
    for (auto& client : clients_) client.open.reset();
  }

  int overlapping = 0, committed = 0, refused = 0, readers_refused = 0;

 private:
  void go_on(Client& client) {
    if (client.open == nullptr) {
      Store::BeginOptions options;
      options.level = level(random_);
      client = {client.session, store_.begin(client.session, options)};
      client.savepoint = client.open->savepoint();
      return;
    }
    auto& txn = *client.open;
    if (client.operations++ == shape_.operations) {
      if (random_.chance(0.1)) {
        txn.rollback();
      } else {
        committed += txn.commit();
      }
    } else if (random_.chance(shape_.scans)) {
      for (const auto& key : txn.scan("k", '/')) {
        if (random_.chance(0.5) && !txn.read(key)) break;
      }
    } else if (random_.chance(0.03)) {
      txn.rollback_to(client.savepoint);
    } else {
      const auto key = "k" + std::to_string(random_.below(shape_.keys));
      if (random_.chance(shape_.writes)) {
        client.only_reads = false;
        txn.write(key, Value::of(++value_));
      } else {
        txn.read(key);
      }
    }
    if (txn.failure()) {
      ++refused;
      readers_refused += client.only_reads;
    }
    if (txn.failure() || client.operations > shape_.operations) client.open.reset();
  }

  Store& store_;
  Shape shape_;
  base::Random random_;
  std::vector<Client> clients_;
  std::int64_t value_ = 0;
};

Options overlapping(Level level, std::uint64_t seed, int policy = 0) {
  Options options;
  options.level = level;
  options.seed = seed;
  options.overlap = true;
  options.uniform = policy == 0;
  options.latest = policy == 1;
  options.adversarial = policy == 2;
  return options;
}

class MockOverlap : public testing::TestWithParam<Level> {};

TEST_P(MockOverlap, RunsAreAcceptedAtTheirLevelAndRefutedAbove) {
  std::map<levels::Level, int> refuted;
  int committed = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Shape shape;
    if (seed % 4 == 1) shape = {.sessions = 3, .steps = 200, .operations = 3, .keys = 2};
    if (seed % 4 == 2) shape = {.sessions = 10, .operations = 5, .keys = 20, .writes = 0.3};
    if (seed % 4 == 3) shape = {.sessions = 3, .keys = 9, .writes = 0.5, .scans = 0.3};
    Store store(overlapping(GetParam(), seed, static_cast<int>(seed / 4 % 3)));
    Issue issue(store, shape, seed);
    issue.run();
    ASSERT_GT(issue.overlapping, shape.steps / 3);
    ASSERT_EQ(issue.readers_refused, 0) << "seed " << seed;
    if (GetParam() <= Level::kPrefix) {
      ASSERT_EQ(issue.refused, 0) << "seed " << seed;
    }
    committed += issue.committed;
    const auto history = store.history();
    ASSERT_TRUE(history.ok()) << history.error().to_string();
    ASSERT_EQ(verdict(*history, of(GetParam())), check::Verdict::kSatisfied) << "seed " << seed;
    for (const Level level : kLevels) {
      if (level > GetParam())
        refuted[of(level)] += verdict(*history, of(level)) == check::Verdict::kViolated;
    }
  }
  EXPECT_GT(committed, 3000);
  for (const auto& [level, times] : refuted) EXPECT_GT(times, 10) << levels::name(level);
}

// The same by exhaustive search instead of the engine.
TEST_P(MockOverlap, SmallRunsAreTheOracles) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Store store(overlapping(GetParam(), seed));
    Issue issue(store, {.sessions = 3, .steps = 18, .operations = 3, .keys = 2, .scans = 0.1},
                seed);
    issue.run();
    const auto history = store.history();
    ASSERT_TRUE(history.ok());
    ASSERT_TRUE(oracle::oracle_satisfies(*history, of(GetParam()))) << "seed " << seed;
  }
}

// Each transaction at a level of its own: what a level promises of a session's history is checked
// where all transactions have it; the others may be weaker or stronger, and refuse nobody.
TEST(MockOverlapMixed, ReadersAreNeverRefused) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Store store(overlapping(Level::kReadCommitted, seed));
    Issue issue(store, {.sessions = 5, .steps = 400, .scans = 0.1}, seed);
    issue.level = [](base::Random& random) {
      return std::optional(kLevels[random.below(kLevels.size())]);
    };
    issue.run();
    ASSERT_EQ(issue.readers_refused, 0) << "seed " << seed;
    const auto history = store.history();
    ASSERT_EQ(verdict(*history, levels::Level::kReadCommitted), check::Verdict::kSatisfied);
  }
}

TEST_P(MockOverlap, IsTheSameForTheSameSeed) {
  std::array<std::string, 2> seen;
  for (auto& text : seen) {
    Store store(overlapping(GetParam(), 7));
    Issue(store, {}, 7).run();
    text = store.observed();
  }
  EXPECT_EQ(seen[0], seen[1]);
}

// Two clients read a number and write it back one higher; interleave() hands over at each call.
TEST_P(MockOverlap, InterleavesTheCallsOfTransactions) {
  int lost = 0, refused = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    auto options = overlapping(GetParam(), seed);
    Store store(options);
    int done = 0;
    const auto client = [&](std::uint32_t session) {
      return [&store, &done, session] {
        const auto txn = store.begin(session);
        const auto seen = txn->read("x");
        if (seen && txn->write("x", Value::of(seen->integer + 1)) && txn->commit()) ++done;
      };
    };
    const std::array<std::function<void()>, 2> both = {client(store.open_session("a")),
                                                       client(store.open_session("b"))};
    store.interleave(both);
    refused += 2 - done;
    const auto history = store.history();
    lost += done == 2 &&
            !oracle::oracle_satisfies(*history, levels::Level::kStrongSessionSnapshotIsolation);
  }
  EXPECT_EQ(lost > 0, GetParam() < Level::kStrongSessionSnapshotIsolation);
  EXPECT_EQ(refused > 0, GetParam() >= Level::kStrongSessionSnapshotIsolation);
}

// A client that has only read keeps nobody waiting.
TEST(MockOverlapTurns, AnOpenTransactionStopsNobody) {
  Store store(overlapping(Level::kCausal, 1));
  const auto a = store.begin(store.open_session("a"));
  a->read("x");
  const auto b = store.begin(store.open_session("b"));
  EXPECT_TRUE(b->write("x", Value::of(1)) && b->commit());
  EXPECT_EQ(a->read("x"), Value());  // as before
  EXPECT_TRUE(a->commit());
}

std::string in_snake_case(const testing::TestParamInfo<Level>& info) {
  std::string text(name(info.param));
  for (auto& c : text) c = c == '-' ? '_' : c;
  return text;
}
INSTANTIATE_TEST_SUITE_P(Levels, MockOverlap, testing::ValuesIn(kLevels), in_snake_case);

}  // namespace
}  // namespace cupel::mock
