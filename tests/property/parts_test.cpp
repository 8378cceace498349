// Accesses of long histories are collected in two parts: what comes of them against
// what is collected in one, which a compare-and-set on a key of its own makes of it.
// And the weak levels' arcs, which two threads find: the same as one finds; and the causal ones by
// columns of clocks, blocks of them, or sparse ones: what causality says by its definition.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <vector>

#include "base/random.hpp"
#include "data/history/builder.hpp"
#include "engine/levels/accesses.hpp"
#include "engine/levels/describe.hpp"
#include "engine/order/co_graph.hpp"

namespace cupel::levels {
namespace {

// Reads of the past, of values written twice, of aborted, intermediate, future and missing
// writes, own ones, and some repeated.
history::History random_history(std::uint64_t seed, bool whole) {
  base::Random random(seed);
  history::HistoryBuilder b;
  b.set_default_initial(b.value(std::int64_t{0}));
  constexpr std::int64_t kKeys = 500;
  std::int64_t last = 0;
  for (int t = 0; t < 20'000; ++t) {
    const auto session = b.session("s" + std::to_string(random.below(7)));
    b.begin(session, random.chance(0.05)   ? history::TxnStatus::kAborted
                     : random.chance(0.05) ? history::TxnStatus::kIndeterminate
                                           : history::TxnStatus::kCommitted);
    for (auto ops = 1 + random.below(6); ops > 0; --ops) {
      const auto key = b.key(static_cast<std::int64_t>(random.below(kKeys)));
      const auto any =
          static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(last) + 2));
      if (random.chance(0.5)) {
        b.write(key, b.value(random.chance(0.05) ? any : ++last));
      } else if (random.chance(0.3)) {
        b.read(key, b.value(std::int64_t{0}));
      } else {
        b.read(key, b.value(any));
      }
    }
    b.end();
  }
  if (whole) {
    b.begin(b.session("last"), history::TxnStatus::kCommitted);
    b.compare_and_set(b.key(kKeys), b.value(std::int64_t{0}), b.value(last + 1), true);
    b.end();
  }
  return *std::move(b).finish();
}

TEST(Parts, SayWhatTheWholeSays) {
  for (const unsigned threads : {1u, 2u}) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      base::Budget budget;
      const auto h = random_history(seed, false), one = random_history(seed, true);
      const auto parts = collect_accesses(h, ListChoices(h), {}, budget, threads);
      const auto whole = collect_accesses(one, ListChoices(one), {}, budget, threads);
      ASSERT_TRUE(parts.complete && whole.complete);
      ASSERT_EQ(parts.internal.size(), whole.internal.size());
      EXPECT_GT(parts.internal.size(), 1000u);
      for (std::size_t i = 0; i < parts.internal.size(); ++i) {
        EXPECT_EQ(parts.internal[i].kind, whole.internal[i].kind);
        EXPECT_EQ(parts.internal[i].read, whole.internal[i].read);
        EXPECT_EQ(parts.internal[i].other, whole.internal[i].other);
      }
      ASSERT_EQ(parts.txns.size() + 1, whole.txns.size());
      ASSERT_EQ(parts.reads.size() + 1, whole.reads.size());
      const auto candidates = [](const Accesses& a, std::uint32_t first, std::uint32_t last) {
        return std::vector(a.candidates.begin() + first, a.candidates.begin() + last);
      };
      for (std::size_t r = 0; r < parts.reads.size(); ++r) {
        const auto &p = parts.reads[r], &w = whole.reads[r];
        ASSERT_EQ(p.op, w.op);
        ASSERT_EQ(p.owner, w.owner);
        ASSERT_EQ(p.repeated, w.repeated);
        ASSERT_EQ(candidates(parts, p.first_candidate, p.last_candidate),
                  candidates(whole, w.first_candidate, w.last_candidate));
        ASSERT_EQ(candidates(parts, p.joint_first, p.joint_last),
                  candidates(whole, w.joint_first, w.joint_last));
      }
    }
  }
}

// Reads of what was last written somewhere, of other versions, and of the initial one.
order::VisibilityProblem random_problem(std::uint64_t seed, std::vector<order::Owner>& writers) {
  base::Random random(seed);
  order::VisibilityProblem p;
  p.owner_count = 20'000;
  p.object_count = 40;
  p.chains.resize(1 + random.below(9));
  std::vector<std::vector<order::Owner>> wrote(p.object_count);
  for (order::Owner o = 0; o < p.owner_count; ++o) {
    p.chains[random.below(p.chains.size())].push_back(o);
    for (std::uint32_t step = 0; step < 4; ++step) {
      const auto x = static_cast<order::Object>(random.below(p.object_count));
      p.reads.push_back({o, x, step});
      const bool initial = wrote[x].empty() || random.chance(0.001);
      writers.push_back(initial               ? order::kInitial
                        : random.chance(0.99) ? wrote[x].back()
                                              : wrote[x][random.below(wrote[x].size())]);
    }
    p.read_first.push_back(static_cast<std::uint32_t>(p.reads.size()));
    std::set<order::Object> objects;
    for (int w = 0; w < 2; ++w)
      objects.insert(static_cast<order::Object>(random.below(p.object_count)));
    for (const auto x : objects) {
      p.write_object.push_back(x);
      wrote[x].push_back(o);
    }
    p.write_first.push_back(static_cast<std::uint32_t>(p.write_object.size()));
  }
  return p;
}

TEST(Parts, TheArcsOfWeakLevelsAreTheSameForAnyNumberOfThreads) {
  for (const auto visible :
       {order::Visible::kEarlierRead, order::Visible::kDirect, order::Visible::kCausal}) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      std::vector<order::Owner> writers;
      auto problem = random_problem(seed, writers);
      base::Budget budget;
      order::CoGraph one(problem, visible, writers, budget);
      ASSERT_TRUE(one.saturate());
      auto in_threads = problem;
      in_threads.threads = 2;
      order::CoGraph two(in_threads, visible, writers, budget);
      ASSERT_TRUE(two.saturate());
      const auto a = one.graph().arcs(), b = two.graph().arcs();
      ASSERT_EQ(a.size(), b.size());
      std::size_t found = 0;
      for (std::size_t i = 0; i < a.size(); ++i) {
        ASSERT_EQ(std::tie(a[i].from, a[i].to, a[i].read_or_object, a[i].other, a[i].kind),
                  std::tie(b[i].from, b[i].to, b[i].read_or_object, b[i].other, b[i].kind));
        found += a[i].kind == order::ArcKind::kVisible;
      }
      EXPECT_GT(found, 500u);
      EXPECT_EQ(one.acyclic(), two.acyclic());
      if (one.acyclic()) continue;
      EXPECT_EQ(one.proof().arcs.size(), two.proof().arcs.size());
    }
  }
}

// A few owners in sessions of one or two, as many reads as not of the past.
order::VisibilityProblem few_owners(base::Random& random, std::vector<order::Owner>& writers) {
  order::VisibilityProblem p;
  p.owner_count = static_cast<order::Owner>(2 + random.below(9));
  p.object_count = static_cast<order::Object>(1 + random.below(3));
  for (order::Owner o = 0; o < p.owner_count; ++o) {
    if (p.chains.empty() || random.chance(0.7)) p.chains.emplace_back();
    p.chains[random.below(p.chains.size())].push_back(o);
  }
  std::erase_if(p.chains, [](const auto& chain) { return chain.empty(); });
  std::vector<std::vector<order::Owner>> wrote(p.object_count);
  for (order::Owner o = 0; o < p.owner_count; ++o) {
    for (order::Object x = 0; x < p.object_count; ++x) {
      if (!random.chance(0.6)) continue;
      p.write_object.push_back(x);
      wrote[x].push_back(o);
    }
    p.write_first.push_back(static_cast<std::uint32_t>(p.write_object.size()));
  }
  for (order::Owner o = 0; o < p.owner_count; ++o) {
    for (order::Object x = 0; x < p.object_count; ++x) {
      if (!random.chance(0.6)) continue;
      auto from = wrote[x];
      if (!random.chance(0.1)) std::erase_if(from, [&](order::Owner w) { return w >= o; });
      std::erase(from, o);
      p.reads.push_back({o, x, x});
      writers.push_back(from.empty() ? order::kInitial : from[random.below(from.size())]);
    }
    p.read_first.push_back(static_cast<std::uint32_t>(p.reads.size()));
  }
  return p;
}

// Warshall's closure of session and wr, then the arcs of co by definition, and its closure.
bool is_causal(const order::VisibilityProblem& p, const std::vector<order::Owner>& writers) {
  const std::size_t n = p.owner_count;
  using Matrix = std::vector<std::vector<bool>>;
  const auto close = [&](Matrix& m) {
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
          if (m[i][k] && m[k][j]) m[i][j] = true;
  };
  Matrix causality(n, std::vector<bool>(n, false));
  for (const auto& chain : p.chains)
    for (std::size_t i = 1; i < chain.size(); ++i) causality[chain[i - 1]][chain[i]] = true;
  for (std::size_t r = 0; r < p.reads.size(); ++r)
    if (writers[r] != order::kInitial) causality[writers[r]][p.reads[r].owner] = true;
  close(causality);
  Matrix co = causality;
  for (std::size_t r = 0; r < p.reads.size(); ++r) {
    for (order::Owner k = 0; k < n; ++k) {
      const auto wrote = p.writes(k);
      if (!causality[k][p.reads[r].owner] || k == writers[r] || k == p.reads[r].owner ||
          !std::binary_search(wrote.begin(), wrote.end(), p.reads[r].object)) {
        continue;
      }
      if (writers[r] == order::kInitial) return false;
      co[k][writers[r]] = true;
    }
  }
  close(co);
  for (std::size_t i = 0; i < n; ++i)
    if (co[i][i]) return false;
  return true;
}

// With more sessions than columns, sessions are joined into paths and the clocks are sparse; with
// more entries than those may have, there are blocks of columns after all.
TEST(Parts, CausalitySaysTheSameForAnyNumberOfColumns) {
  base::Random random(20260101);
  std::size_t causal = 0, other = 0;
  for (int history = 0; history < 20'000; ++history) {
    std::vector<order::Owner> writers;
    auto problem = few_owners(random, writers);
    const bool expected = is_causal(problem, writers);
    ++(expected ? causal : other);
    struct Room {
      std::uint32_t columns;
      std::size_t entries;
    };
    for (const auto& room : {Room{2048, 0}, Room{0, 1'000'000}, Room{1, 0}, Room{2, 4}}) {
      problem.most_columns = room.columns;
      problem.most_sparse_entries = room.entries;
      base::Budget budget;
      order::CoGraph co(problem, order::Visible::kCausal, writers, budget);
      ASSERT_TRUE(co.saturate());
      ASSERT_EQ(co.acyclic(), expected)
          << "history " << history << ", " << room.columns << " columns, " << room.entries;
      if (expected) continue;
      const auto proof = co.proof();
      EXPECT_FALSE(proof.cycles.empty());
      for (const auto& arc : proof.arcs)
        EXPECT_TRUE(arc.kind != order::ArcKind::kVisible || !arc.because.empty());
    }
  }
  EXPECT_GT(causal, 2'000u);
  EXPECT_GT(other, 2'000u);
}

// Two groups of sessions that share keys in each group alone, until transaction `joined`, which
// reads a key of the other group: so many that a look at some of them comes first.
history::History two_groups(int joined) {
  history::HistoryBuilder b;
  b.set_default_initial(b.value(std::int64_t{0}));
  for (int t = 0; t < 70'000; ++t) {
    const int session = t % 4, group = session / 2;
    b.begin(b.session(std::to_string(session)), history::TxnStatus::kCommitted);
    b.write(b.key(std::int64_t{100 * group + t / 4 % 50}), b.value(std::int64_t{t + 1}));
    if (t == joined || t == joined + 1)
      b.read(b.key(std::int64_t{100 * (1 - group) + 51}), b.value(std::int64_t{0}));
    b.end();
  }
  for (const int group : {0, 1}) {
    b.begin(b.session(std::to_string(2 * group)), history::TxnStatus::kCommitted);
    b.write(b.key(std::int64_t{100 * group + 51}), b.value(std::int64_t{100'000 + group}));
    b.end();
  }
  return *std::move(b).finish();
}

TEST(Parts, ALookAtSomeTransactionsDoesNotJoinWhatIsApart) {
  base::Budget budget;
  const auto parts_of = [&](const history::History& h, bool biconnected) {
    return split_into_parts(h, collect_accesses(h, ListChoices(h), {}, budget), biconnected);
  };
  const auto apart = two_groups(-10);
  for (const bool biconnected : {false, true}) {
    const auto parts = parts_of(apart, biconnected);
    ASSERT_EQ(parts.size(), 2u);
    for (const auto& part : parts) {
      EXPECT_EQ(part.owners.size(), 35'001u);
      EXPECT_EQ(part.keys.size(), 51u);
    }
  }
  // Sessions 0 and 1 read of 2, or 3 of 0: joined, but not biconnected.
  const auto joined = two_groups(69'997);
  EXPECT_EQ(parts_of(joined, false).size(), 1u);
}

}  // namespace
}  // namespace cupel::levels
