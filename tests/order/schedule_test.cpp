// The greedy order of stage 2: what an event waits for, and what is reported where it may
// not wait any longer.
#include "engine/order/schedule.hpp"

#include <gtest/gtest.h>

#include "order_language.hpp"

namespace cupel::test {
namespace {

using order::ScheduleResult;

struct Greedy {
  explicit Greedy(std::string_view text, std::vector<std::uint64_t> hints = {},
                  std::vector<graph::Arc> extra = {},
                  order::WhenBlocked blocked = order::WhenBlocked::kBreak)
      : engine(text) {
    engine.saturation.add_reads();
    const graph::Digraph known = engine.graph.digraph();
    if (hints.empty()) {
      for (order::Node v = 0; v < engine.sketch.problem.node_count(); ++v) {
        hints.push_back(engine.sketch.problem.is_helper(v)
                            ? 0
                            : engine.sketch.problem.hint[engine.sketch.problem.owner_of(v)]);
      }
    }
    result = order::schedule({.problem = engine.sketch.problem,
                              .versions = engine.versions,
                              .open = engine.open,
                              .writer_of = engine.versions.writers_of_reads(),
                              .known = known,
                              .extra = extra,
                              .hint = hints},
                             engine.budget, blocked);
  }

  // "witness: " and the order; else "broke: " and pairs, reads and the order.
  [[nodiscard]] std::string text() const {
    const auto& sketch = engine.sketch;
    if (!result.finished) return "unfinished: " + text_of(sketch, result.order);
    if (result.is_witness()) {
      EXPECT_TRUE(is_solution(sketch.problem, result.order, result.writers));
      return "witness: " + text_of(sketch, result.order);
    }
    std::string breaks;
    for (const auto& pair : result.pairs) {
      breaks += " " + sketch.owner_name(pair.earlier) + "/" + sketch.owner_name(pair.later);
    }
    for (const auto r : result.reads) {
      breaks += " " + sketch.owner_name(sketch.problem.reads[r].owner) + "?";
    }
    return "broke:" + breaks + " in " + text_of(sketch, result.order);
  }
  [[nodiscard]] std::string writer(std::uint32_t read) const {
    return engine.sketch.owner_name(result.writers[read]);
  }

  Engine engine;
  ScheduleResult result;
};

TEST(Schedule, HintsChooseAmongWhatMayRun) {
  EXPECT_EQ(Greedy("a w(x) | b w(y) | hints a b").text(), "witness: a b");
  EXPECT_EQ(Greedy("a w(x) | b w(y) | hints b a").text(), "witness: b a");
}

// The order that decide() finds by these hints of begins and of commits.
std::string by_hints(std::string_view text, std::vector<std::uint64_t> hint,
                     std::vector<std::uint64_t> commit_hint) {
  OrderSketch sketch = order_problem(text);
  sketch.problem.hint = std::move(hint);
  sketch.problem.commit_hint = std::move(commit_hint);
  base::Budget budget;
  return text_of(sketch, order::decide(sketch.problem, budget).order);
}

TEST(Schedule, OfOneEventTheHintOfTheCommitCounts) {
  EXPECT_EQ(by_hints("a w(x) | b w(x)", {1, 2}, {}), "a b");
  EXPECT_EQ(by_hints("a w(x) | b w(x)", {1, 2}, {4, 3}), "b a");
}
TEST(Schedule, OfTwoEventsEachHasItsHint) {
  EXPECT_EQ(by_hints("split: a w(x) | b w(x)", {1, 2}, {}), "a.begin a.commit b.begin b.commit");
  EXPECT_EQ(by_hints("split: a w(x) | b w(x)", {1, 2}, {4, 3}),
            "a.begin b.begin b.commit a.commit");
}
TEST(Schedule, BeginsGoBeforeCommitsOfTheSameHint) {
  EXPECT_EQ(by_hints("split: a w(x) | b w(x)", {1, 1}, {}), "a.begin b.begin a.commit b.commit");
  EXPECT_EQ(by_hints("split: a w(x) | b w(x)", {1, 2}, {}), "a.begin a.commit b.begin b.commit");
}

TEST(Schedule, KnownArcsGoBeforeHints) {
  EXPECT_EQ(Greedy("a w(x) | b w(y) | hints b a").text(), "witness: b a");
  EXPECT_EQ(Greedy("a w(x) | b w(y) r(x,a) | hints b a").text(), "witness: a b");
}

TEST(Schedule, ExtraArcsGoBeforeHints) {
  EXPECT_EQ(Greedy("a w(x) | b w(y)", {0, 1}, {{1, 0}}).text(), "witness: b a");
}

// k would overwrite the version of a that c has still to read.
TEST(Schedule, ACommitWaitsForTheReadersOfWhatItOverwrites) {
  EXPECT_EQ(Greedy("a w(x) | k w(x) | c r(x,a) w(y)").text(), "witness: a c k");
  EXPECT_EQ(Greedy("a w(x) | k w(z) | c r(x,a) w(y)").text(), "witness: a k c");
}
TEST(Schedule, ACommitThatCannotWaitBreaksAPair) {
  EXPECT_EQ(Greedy("a w(x) | k w(x) | c r(x,a) w(y)").text(), "witness: a c k");
  EXPECT_EQ(Greedy("a w(x) | k w(x) ; c r(x,a) w(y)").text(), "broke: a/k in a k c");
}

// Owner b comes before c by the hints, so it has to wait for d, and what it waits for in the
// end is its own read alone.
TEST(Schedule, WakesAnOwnerThatIsTheLastReaderOfWhatItOverwrites) {
  const auto or_nothing = [](std::string_view text) {
    return Greedy(text, {}, {}, order::WhenBlocked::kStop).text();
  };
  EXPECT_EQ(or_nothing("a w(x) ; b r(x,a) w(x) | c w(y) ; d r(x,a)"), "witness: a c d b");
  EXPECT_EQ(or_nothing("a w(x) ; b r(x,a) w(x) | c w(y) ; d r(y,c)"), "witness: a b c d");
}

// By their hints the two interleave.
TEST(Schedule, ABeginWaitsForAnOpenWriterWhereWritersMayNotOverlap) {
  const std::vector<std::uint64_t> interleaved = {0, 2, 1, 3};
  EXPECT_EQ(Greedy("split: a w(x) | b w(x)", interleaved).text(),
            "witness: a.begin b.begin a.commit b.commit");
  EXPECT_EQ(Greedy("no-overlap: a w(x) | b w(x)", interleaved).text(),
            "witness: a.begin a.commit b.begin b.commit");
  EXPECT_EQ(Greedy("no-overlap: a w(x) | b w(y)", interleaved).text(),
            "witness: a.begin b.begin a.commit b.commit");
}
TEST(Schedule, WritersThatHaveToOverlapBreakAPair) {
  // b begins before a commits.
  const std::vector<graph::Arc> extra = {{2, 1}};
  EXPECT_EQ(Greedy("no-overlap: a w(x) | b w(y)", {0, 1, 2, 3}, extra).text(),
            "witness: a.begin b.begin a.commit b.commit");
  EXPECT_EQ(Greedy("no-overlap: a w(x) | b w(x)", {0, 1, 2, 3}, extra).text(),
            "broke: a/b in a.begin b.begin a.commit b.commit");
}

TEST(Schedule, AnOpenReadSeesTheCurrentVersionIfItMay) {
  const Greedy first("a w(x) | b w(x) | c r(x,a b)");
  EXPECT_EQ(first.text(), "witness: a c b");
  EXPECT_EQ(first.writer(0), "a");
  const Greedy initial("a w(x) | b w(x) | c r(x,init b)");
  EXPECT_EQ(initial.text(), "witness: c a b");
  EXPECT_EQ(initial.writer(0), "init");
}
TEST(Schedule, AnOpenReadThatFindsNoCandidateIsReported) {
  EXPECT_EQ(Greedy("c r(x,a b) w(y) | a w(x) | b w(x)").text(), "witness: a c b");
  EXPECT_EQ(Greedy("c r(x,a b) w(y) ; a w(x) ; b w(x)").text(), "broke: c? in c a b");
}

TEST(Schedule, MayStopAtTheFirstBlockedEvent) {
  constexpr auto kStop = order::WhenBlocked::kStop;
  EXPECT_EQ(Greedy("a w(x) | k w(x) ; c r(x,a) w(y)", {}, {}, kStop).text(), "unfinished: a");
  EXPECT_EQ(Greedy("a w(x) | c r(x,a) w(y) ; k w(x)", {}, {}, kStop).text(), "witness: a c k");
}

// --- repairs, and an edit of each that none can help ---

// c reads a's version after k, so k is before a.
TEST(Schedule, RepairsAVersionThatCameTooSoon) {
  constexpr auto kRepair = order::WhenBlocked::kRepair;
  EXPECT_EQ(Greedy("a w(x) | k w(x) ; c r(x,a) w(y)", {}, {}, kRepair).text(), "witness: k a c");
  EXPECT_EQ(Greedy("a w(x) ; k w(x) ; c r(x,a) w(y)", {}, {}, kRepair).text(), "unfinished: ");
}
// a's events must not overlap b's, and a sees what c does after b.
TEST(Schedule, RepairsABeginThatCameTooSoon) {
  constexpr auto kRepair = order::WhenBlocked::kRepair;
  const std::vector<graph::Arc> after_b = {{3, 1}};
  EXPECT_EQ(Greedy("no-overlap: a w(x) | b w(x)", {0, 1, 2, 3}, after_b, kRepair).text(),
            "witness: b.begin b.commit a.begin a.commit");
  const std::vector<graph::Arc> apart = {{3, 1}, {0, 2}};
  EXPECT_EQ(Greedy("no-overlap: a w(x) | b w(x)", {0, 1, 2, 3}, apart, kRepair).text(),
            "unfinished: ");
}
// c can read a's version or h's, and h comes after c.
TEST(Schedule, RepairsAReadWhoseLastCandidateWasOverwritten) {
  constexpr auto kRepair = order::WhenBlocked::kRepair;
  const std::string_view repaired = "a w(x) | k w(x) | g w(z) ; c r(x,a h) w(w) | h r(w,c) w(x)";
  EXPECT_EQ(Greedy(repaired, {}, {}, kRepair).text(), "witness: a g c k h");
  EXPECT_EQ(
      Greedy("a w(x) ; k w(x) ; g w(z) ; c r(x,a h) w(w) | h r(w,c) w(x)", {}, {}, kRepair).text(),
      "unfinished: a");
}

TEST(Schedule, ACycleOfKnownArcsIsNotFinished) {
  EXPECT_EQ(Greedy("a w(x) | b w(y)", {}, {{0, 1}, {1, 0}}).text(), "unfinished: ");
}

}  // namespace
}  // namespace cupel::test
