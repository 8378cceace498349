// The tables of versions of random problems, with chains whole and relaxed, against what
// their header says, place by place.
#include "engine/order/versions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/random.hpp"
#include "engine/order/event_graph.hpp"
#include "order_language.hpp"

namespace cupel::order {
namespace {

Problem random_problem(base::Random& random) {
  Problem problem;
  problem.split = random.chance(0.5);
  problem.owner_count = static_cast<Owner>(1 + random.below(12));
  problem.object_count = static_cast<Object>(1 + random.below(4));
  problem.helper_count = static_cast<std::uint32_t>(random.below(3));
  problem.chains.resize(1 + random.below(4));
  for (Owner o = 0; o < problem.owner_count; ++o) {
    problem.chains[random.below(problem.chains.size())].push_back(o);
    for (Object x = 0; x < problem.object_count; ++x) {
      if (random.chance(0.5)) problem.write_object.push_back(x);
    }
    problem.write_first.push_back(static_cast<std::uint32_t>(problem.write_object.size()));
  }
  const auto writes = [&](Owner o, Object x) {
    const auto first = problem.write_object.begin() + problem.write_first[o];
    return std::find(first, problem.write_object.begin() + problem.write_first[o + 1], x) !=
           problem.write_object.begin() + problem.write_first[o + 1];
  };
  for (Owner o = 0; o < problem.owner_count; ++o) {
    for (Object x = 0; x < problem.object_count; ++x) {
      if (random.chance(0.4)) continue;
      const auto first = static_cast<std::uint32_t>(problem.candidates.size());
      const auto w = static_cast<Owner>(random.below(problem.owner_count));
      problem.candidates.push_back(w != o && writes(w, x) ? w : kInitial);
      problem.reads.push_back({o, x, first, first + 1});
    }
  }
  problem.hint.assign(problem.owner_count, 0);
  return problem;
}

TEST(Versions, AreWhatTheirHeaderSays) {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(seed);
    base::Random random(seed);
    const Problem problem = random_problem(random);
    RelaxedChains relaxed;
    if (random.chance(0.5)) {
      for (Owner o = 0; o < problem.owner_count; ++o) {
        relaxed.alone.push_back(random.chance(0.2));
        relaxed.cut.push_back(random.chance(0.2));
      }
    }
    const EventGraph graph(problem, relaxed);
    const Versions versions(problem, graph);
    const auto place = [&](Node v) { return std::pair(graph.chain(v), graph.position(v)); };

    const auto nodes = graph.by_chain();
    ASSERT_EQ(nodes.size(), problem.node_count());
    for (std::size_t i = 1; i < nodes.size(); ++i) ASSERT_LT(place(nodes[i - 1]), place(nodes[i]));

    ASSERT_EQ(versions.slot_count(), problem.write_object.size());
    for (Object x = 0; x < problem.object_count; ++x) {
      for (Slot s = versions.first_slot(x); s < versions.last_slot(x); ++s) {
        const Node commit = problem.commit(versions.writer(s));
        EXPECT_EQ(versions.object(s), x);
        EXPECT_EQ(versions.slot_of(x, versions.writer(s)), s);
        EXPECT_EQ(versions.position(s), graph.position(commit));
        if (s != versions.first_slot(x)) {
          EXPECT_LT(place(problem.commit(versions.writer(s - 1))), place(commit));
        }
      }
      Slot next = versions.first_slot(x);
      std::set<ChainId> chains;
      for (const auto& group : versions.groups(x)) {
        EXPECT_EQ(group.first, next);
        EXPECT_TRUE(chains.insert(group.chain).second);
        for (Slot s = group.first; s < group.last; ++s) {
          EXPECT_EQ(graph.chain(problem.commit(versions.writer(s))), group.chain);
        }
        next = group.last;
      }
      EXPECT_EQ(next, versions.last_slot(x));
    }
    for (Owner o = 0; o < problem.owner_count; ++o) {
      const auto slots = versions.slots_of(o);
      ASSERT_EQ(slots.size(), problem.write_first[o + 1] - problem.write_first[o]);
      for (std::size_t i = 0; i < slots.size(); ++i) {
        EXPECT_EQ(versions.object(slots[i]), problem.write_object[problem.write_first[o] + i]);
        EXPECT_EQ(versions.writer(slots[i]), o);
      }
    }

    // The last reader of each chain: of each version, and of each object's initial one.
    std::map<std::pair<Slot, ChainId>, std::uint32_t> last;
    std::map<std::pair<Object, ChainId>, std::uint32_t> last_of_initial;
    for (std::uint32_t r = 0; r < problem.reads.size(); ++r) {
      const Read& read = problem.reads[r];
      const Node begin = problem.begin(read.owner);
      const Owner w = versions.writer_of(r);
      ASSERT_EQ(w, problem.candidates[read.first_candidate]);
      const auto keep = [&](auto& table, auto key) {
        const auto [it, fresh] = table.try_emplace(key, r);
        if (!fresh && graph.position(begin) >
                          graph.position(problem.begin(problem.reads[it->second].owner))) {
          it->second = r;
        }
      };
      if (w == kInitial) {
        EXPECT_EQ(versions.slot_of_read(r), kInitialSlot);
        keep(last_of_initial, std::pair(read.object, graph.chain(begin)));
      } else {
        ASSERT_EQ(versions.slot_of_read(r), versions.slot_of(read.object, w));
        keep(last, std::pair(versions.slot_of_read(r), graph.chain(begin)));
      }
    }
    std::size_t readers = 0;
    for (Slot s = 0; s < versions.slot_count(); ++s) {
      for (const auto r : versions.readers(s)) {
        const std::pair key(s, graph.chain(problem.begin(problem.reads[r].owner)));
        ASSERT_TRUE(last.contains(key));
        EXPECT_EQ(last.at(key), r);
        ++readers;
      }
    }
    EXPECT_EQ(readers, last.size());
    std::vector<std::uint32_t> initial;
    for (const auto& [key, r] : last_of_initial) initial.push_back(r);
    EXPECT_TRUE(std::equal(initial.begin(), initial.end(), versions.initial_readers().begin(),
                           versions.initial_readers().end()));
  }
}

// The versions of x and who reads them, as "a:c b:".
std::string readers_of_x(const test::Engine& engine) {
  std::string text;
  const Object x = engine.sketch.object("x");
  for (Slot s = engine.versions.first_slot(x); s < engine.versions.last_slot(x); ++s) {
    text += (text.empty() ? "" : " ") + engine.sketch.owner_name(engine.versions.writer(s)) + ":";
    for (const auto r : engine.versions.readers(s))
      text += engine.sketch.owner_name(engine.sketch.problem.reads[r].owner);
  }
  return text;
}

TEST(Versions, AReaderThatAnotherOfItsChainFollowsIsLeftOut) {
  EXPECT_EQ(readers_of_x(test::Engine("a w(x) ; b w(x) | c r(x,a) ; d r(x,a)")), "a:d b:");
  EXPECT_EQ(readers_of_x(test::Engine("a w(x) ; b w(x) | c r(x,a) | d r(x,a)")), "a:cd b:");
  EXPECT_EQ(readers_of_x(test::Engine("a w(x) ; b w(x) | c r(x,a) ; d r(x,b)")), "a:c b:d");
}

TEST(Versions, AReadThatIsResolvedBecomesAReader) {
  test::Engine engine("a w(x) ; b w(x) | c r(x,a b)");
  EXPECT_EQ(readers_of_x(engine), "a: b:");
  EXPECT_EQ(engine.versions.writer_of(0), kUnresolved);
  engine.versions.resolve(0, engine.sketch.owner("b"));
  EXPECT_FALSE(engine.versions.rebuild_readers());
  EXPECT_EQ(readers_of_x(engine), "a: b:c");
  test::Engine initial("a w(x) ; b w(x) | c r(x,init b)");
  initial.versions.resolve(0, kInitial);
  EXPECT_TRUE(initial.versions.rebuild_readers());
  EXPECT_EQ(readers_of_x(initial), "a: b:");
  EXPECT_EQ(initial.versions.initial_readers().size(), 1U);
}

TEST(Versions, FirstAfterIsTheFirstOfTheGroupAboveAPosition) {
  const test::Engine engine("a w(x) ; b w(y) ; c w(x) ; d w(x) | e w(x)");
  const auto group = engine.versions.groups(0).front();
  ASSERT_EQ(group.last - group.first, 3U);
  const auto first_after = [&](std::uint32_t position) {
    const Slot found = engine.versions.first_after(group, position);
    // From any slot that is not after it.
    for (Slot from = group.first; from <= found; ++from)
      EXPECT_EQ(engine.versions.first_after(group, position, from), found);
    return found == group.last ? "end" : engine.sketch.owner_name(engine.versions.writer(found));
  };
  EXPECT_EQ(first_after(0), "a");
  EXPECT_EQ(first_after(1), "c");
  EXPECT_EQ(first_after(2), "c");
  EXPECT_EQ(first_after(3), "d");
  EXPECT_EQ(first_after(4), "end");
}

}  // namespace
}  // namespace cupel::order
