// Long random histories of mixed levels: the commit order that the checker holds is right for each
// transaction at its own level, by the axioms word by word. (enumeration_test.cpp compares small
// ones with the oracle, in both directions.)
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "engine/mock/admissibility.hpp"

namespace cupel::mock {
namespace {

struct Done {
  Session session;
  Level level;
  std::vector<std::pair<Key, Txn>> reads;  // in their order
  std::vector<Key> writes;
  [[nodiscard]] bool wrote(Key key) const {
    return std::find(writes.begin(), writes.end(), key) != writes.end();
  }
};

// What the order has of the transactions, `done` by Txn; says what is wrong, empty if nothing is.
std::string wrong(const std::vector<Done>& done, const std::vector<Txn>& order) {
  std::vector<std::size_t> at(done.size(), 0);
  for (std::size_t i = 0; i < order.size(); ++i) at[order[i]] = i;
  const auto before = [&](Txn a, Txn b) {
    return a == kInitial || (b != kInitial && at[a] < at[b]);
  };
  std::vector<std::vector<bool>> past(done.size(), std::vector<bool>(done.size(), false));
  std::vector<Txn> last;  // by session
  std::vector<Txn> previous(done.size(), kInitial);
  for (Txn t = 0; t < done.size(); ++t) {
    const auto add = [&](Txn k) {
      past[t][k] = true;
      for (Txn j = 0; j < k; ++j) {
        if (past[k][j]) past[t][j] = true;
      }
    };
    if (done[t].session >= last.size()) last.resize(done[t].session + 1, kInitial);
    previous[t] = last[done[t].session];
    last[done[t].session] = t;
    if (previous[t] != kInitial) add(previous[t]);
    for (const auto& [key, writer] : done[t].reads) {
      if (writer != kInitial) add(writer);
    }
    for (Txn k = 0; k < t; ++k) {
      if (past[t][k] && !before(k, t)) return "so or wr is against the order";
    }
  }
  const auto is_source = [&](const Done& t, Txn k, std::size_t reads) {
    return std::any_of(t.reads.begin(), t.reads.begin() + static_cast<std::ptrdiff_t>(reads),
                       [&](const auto& read) { return read.second == k; });
  };
  for (Txn t = 0; t < done.size(); ++t) {
    const auto& own = done[t];
    Txn seen = previous[t];  // prefix: up to here; snapshot isolation too, and more
    const auto sees = [&](Txn k) {
      if (k != kInitial && (seen == kInitial || before(seen, k))) seen = k;
    };
    for (const auto& [key, writer] : own.reads) sees(writer);
    if (own.level == Level::kStrongSessionSnapshotIsolation) {
      for (Txn k = 0; k < done.size(); ++k) {
        const bool both = std::any_of(own.writes.begin(), own.writes.end(),
                                      [&](Key key) { return done[k].wrote(key); });
        if (both && before(k, t)) sees(k);
      }
    }
    for (std::size_t i = 0; i < own.reads.size(); ++i) {
      const auto [key, writer] = own.reads[i];
      for (Txn k = 0; k < done.size(); ++k) {
        if (k == t || k == writer || !done[k].wrote(key)) continue;
        bool visible = false;
        switch (own.level) {
          case Level::kReadCommitted:
            visible = is_source(own, k, i);
            break;
          case Level::kReadAtomic:
            visible = is_source(own, k, own.reads.size()) ||
                      (past[t][k] && done[k].session == own.session);
            break;
          case Level::kCausal:
            visible = past[t][k];
            break;
          case Level::kPrefix:
          case Level::kStrongSessionSnapshotIsolation:
            visible = seen != kInitial && (k == seen || before(k, seen));
            break;
          case Level::kStrongSessionSerializable:
          case Level::kStrictSerializable:
            visible = before(k, t);
            break;
        }
        if (visible && !before(k, writer)) {
          return "T" + std::to_string(t) + " at " + std::string(name(own.level)) +
                 " does not see T" + std::to_string(k) + "'s write of " + std::to_string(key);
        }
      }
    }
  }
  return "";
}

struct Mixture {
  const char* name;
  std::vector<Level> levels;
};

TEST(MockMixedAdmissibility, TheOrderIsRightForEachAtItsLevel) {
  const Mixture mixtures[] = {
      {"all",
       {Level::kReadCommitted, Level::kReadAtomic, Level::kCausal, Level::kPrefix,
        Level::kStrongSessionSnapshotIsolation, Level::kStrongSessionSerializable}},
      {"strong",
       {Level::kPrefix, Level::kStrongSessionSnapshotIsolation, Level::kStrongSessionSerializable}},
      {"snapshots", {Level::kCausal, Level::kStrongSessionSnapshotIsolation}},
      {"ends", {Level::kReadCommitted, Level::kStrongSessionSerializable}}};
  std::size_t inner = 0, refused = 0, committed = 0;
  for (const auto& mixture : mixtures) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      std::mt19937_64 random(seed);
      const auto below = [&](std::size_t count) { return random() % count; };
      const TransactionLog nothing;
      const auto checker = mixed_admissibility(nothing, {}, {});
      const std::size_t keys = 2 + below(8), sessions = 1 + below(8);
      std::vector<Done> done;
      for (int count = 0; count < 120; ++count) {
        Done own{static_cast<Session>(below(sessions)),
                 mixture.levels[below(mixture.levels.size())],
                 {},
                 {}};
        const Txn t = static_cast<Txn>(done.size());
        checker->begin(t, own.session, own.level);
        bool alive = true;
        for (auto left = 1 + below(6); left > 0 && alive; --left) {
          const Key key = static_cast<Key>(below(keys));
          if (below(2) == 0) {
            alive = checker->try_write(key);
            if (alive && !own.wrote(key)) own.writes.push_back(key);
            refused += alive ? 0 : 1;
            continue;
          }
          if (own.wrote(key)) continue;
          std::vector<Txn> found;
          checker->candidates(key, found);
          std::shuffle(found.begin(), found.end(), random);
          bool taken = false;
          for (const Txn writer : found) {
            if (!checker->try_read(key, writer)) continue;
            if (below(3) == 0) {  // taken back, and taken again
              checker->undo_last();
              ASSERT_TRUE(checker->try_read(key, writer));
            }
            own.reads.emplace_back(key, writer);
            taken = true;
            break;
          }
          ASSERT_TRUE(taken) << mixture.name << " " << seed << ": every read has an answer";
        }
        if (!alive || below(20) == 0) {
          checker->abort();
          continue;
        }
        checker->commit();
        ++committed;
        done.push_back(std::move(own));
        inner += checker->order().back() != t;
      }
      ASSERT_EQ(wrong(done, checker->order()), "") << mixture.name << " " << seed;
    }
  }
  EXPECT_GT(committed, 10'000u);
  EXPECT_GT(inner, 500u);  // put in front of others
  EXPECT_GT(refused, 100u);
}

}  // namespace
}  // namespace cupel::mock
