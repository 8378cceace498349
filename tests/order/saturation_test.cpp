// The rules of stage 1: for each a problem that it forces something in, and one, a single
// edit apart, in which what it forces closes a cycle. The reason of the cycle is part of
// what is expected, so a rule that is missing fails here even where another finds a cycle.
//
// The rules about writers exist for objects of few writers, of many, of many in layers, and
// for several blocks of columns. They run in all four; in a text, `{}` is where others come.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ostream>

#include "order_language.hpp"

namespace cupel::test {
namespace {

using order::SaturationResult;

enum class Surroundings { kFewWriters, kManyWriters, kLayers, kBlocks };

const char* name(Surroundings surroundings) {
  switch (surroundings) {
    case Surroundings::kFewWriters:
      return "FewWriters";
    case Surroundings::kManyWriters:
      return "ManyWriters";
    case Surroundings::kLayers:
      return "Layers";
    case Surroundings::kBlocks:
      break;
  }
  return "Blocks";
}
void PrintTo(Surroundings surroundings, std::ostream* out) {
  *out << name(surroundings);
}

// More writers of x than a word has bits, and more chains than a block has columns.
constexpr int kMoreWriters = 33;
constexpr int kMoreChains = 2100;

std::string others(Surroundings surroundings) {
  std::string text;
  if (surroundings == Surroundings::kBlocks) {
    for (int i = 1; i <= kMoreChains; ++i) text += fmt::format("q{} | ", i);
  }
  if (surroundings == Surroundings::kManyWriters || surroundings == Surroundings::kLayers) {
    for (int i = 1; i <= kMoreWriters; ++i)
      text += fmt::format("p{} w(x){}", i, i == kMoreWriters ? " | " : " ; ");
  }
  if (surroundings == Surroundings::kLayers) {
    for (const char* writer : {"a", "b"})
      text += fmt::format("list x p{} -> {} | ", kMoreWriters, writer);
  }
  return text;
}

class WriterRule : public testing::TestWithParam<Surroundings> {
 protected:
  static std::string in(std::string_view text) {
    return saturated(fmt::format(fmt::runtime(text), others(GetParam())));
  }
};

// c reads a's x and comes after b.
TEST_P(WriterRule, VisibleForcesTheOrderOfVersions) {
  EXPECT_EQ(in("a w(x) | b w(x) w(y) | d r(y,b) w(z) | {} c r(x,a) r(z,d)"),
            "fixpoint: visible x b->a for c");
}
TEST_P(WriterRule, VisibleRejectsWhereTheVersionsHaveTheOtherOrder) {
  const bool layers = GetParam() == Surroundings::kLayers;  // overwritten says it all there
  EXPECT_EQ(in("a w(x) ; b w(x) w(y) | d r(y,b) w(z) | {} c r(x,a) r(z,d)"),
            layers ? "cycle: [overwritten x c->b after a {chain a->b}, read y b->d, read z d->c]"
                   : "cycle: [chain a->b, visible x b->a for c {read y b->d, read z d->c}]");
}

// b comes after a, whose x c reads.
TEST_P(WriterRule, OverwrittenForcesTheReaderBeforeTheNextWriter) {
  EXPECT_EQ(in("a w(x) w(y) | d r(y,a) w(z) | b r(z,d) w(x) w(v) | {} c r(x,a)"),
            "fixpoint: overwritten x c->b after a");
}
TEST_P(WriterRule, OverwrittenRejectsAReaderThatSawTheNextWriter) {
  EXPECT_EQ(in("a w(x) w(y) | d r(y,a) w(z) | b r(z,d) w(x) w(v) | {} c r(x,a) r(v,b)"),
            "cycle: [overwritten x c->b after a {read y a->d, read z d->b}, read v b->c]");
}

// The same within one chain of writers.
TEST_P(WriterRule, OverwrittenByTheNextOfTheChain) {
  EXPECT_EQ(in("a w(x) ; m ; b w(x) w(v) | {} c r(x,a)"), "fixpoint: overwritten x c->b after a");
}
TEST_P(WriterRule, OverwrittenByTheNextOfTheChainRejects) {
  EXPECT_EQ(in("a w(x) ; m ; b w(x) w(v) | {} c r(x,a) r(v,b)"),
            "cycle: [overwritten x c->b after a {chain a->b}, read v b->c]");
}

// a began before b committed, and both write x.
TEST_P(WriterRule, NoOverlapForcesTheOrderOfOverlappingWriters) {
  EXPECT_EQ(in("no-overlap: a r(v,init) w(x) w(u) | {} b w(x) w(v)"),
            "fixpoint: initial v a.begin->b.commit, no-overlap x a.commit->b.begin");
}
TEST_P(WriterRule, NoOverlapRejectsTwoThatOverlapEitherWay) {
  EXPECT_EQ(in("no-overlap: a r(v,init) w(x) w(u) | {} b r(u,init) w(x) w(v)"),
            "cycle: [initial u b.begin->a.commit, "
            "no-overlap x a.commit->b.begin {initial v a.begin->b.commit}]");
}
TEST_P(WriterRule, NoOverlapIsNotAskedOfProblemsThatAllowIt) {
  EXPECT_EQ(in("split: a r(v,init) w(x) w(u) | {} b r(u,init) w(x) w(v)"),
            "fixpoint: initial u b.begin->a.commit, initial v a.begin->b.commit");
}

// What a reader writes itself is not before it.
TEST_P(WriterRule, AnOwnWriteIsNotVisible) {
  EXPECT_EQ(in("a w(x) | {} b r(x,a) w(x)"), "fixpoint: ");
  const bool layers = GetParam() == Surroundings::kLayers;
  EXPECT_EQ(in("a w(x) | {} b r(x,a) w(x) ; c r(x,a)"),
            layers ? "cycle: [chain b->c, overwritten x c->b after a {read x a->b}]"
                   : "cycle: [read x a->b, visible x b->a for c {chain b->c}]");
}

// The last of the other writers of x is alone in its layer, and a and b are the next one.
TEST(Layers, TheReadersOfALayerComeBeforeEachChainOfTheNext) {
  const auto in = [](std::string_view text) {
    return saturated(fmt::format(fmt::runtime(text), others(Surroundings::kLayers)));
  };
  EXPECT_EQ(in("a w(x) | b w(x) w(v) | {} c r(x,p33)"),
            "fixpoint: overwritten x c->a after p33, overwritten x c->b after p33");
  EXPECT_EQ(in("a w(x) | b w(x) w(v) | {} c r(x,p33) r(v,b)"),
            "cycle: [overwritten x c->b after p33 {list x p33->b}, read v b->c]");
}

INSTANTIATE_TEST_SUITE_P(Saturation, WriterRule,
                         testing::Values(Surroundings::kFewWriters, Surroundings::kManyWriters,
                                         Surroundings::kLayers, Surroundings::kBlocks),
                         [](const auto& info) { return name(info.param); });

TEST(Saturation, ReadsPutTheWriterFirst) {
  EXPECT_EQ(saturated("a w(x) | b r(x,a) w(y)"), "fixpoint: ");
  EXPECT_EQ(saturated("a r(y,b) w(x) | b r(x,a) w(y)"), "cycle: [read x a->b, read y b->a]");
}

TEST(Saturation, ChainsAreOrders) {
  EXPECT_EQ(saturated("a r(x,b) | b w(x)"), "fixpoint: ");
  EXPECT_EQ(saturated("a r(x,b) ; b w(x)"), "cycle: [chain a->b, read x b->a]");
}

TEST(Saturation, SessionArcsAreOrders) {
  EXPECT_EQ(saturated("a r(x,b) | b w(x) | session b -> a"), "fixpoint: ");
  EXPECT_EQ(saturated("a r(x,b) | b w(x) | session a -> b"), "cycle: [read x b->a, session a->b]");
}

TEST(Saturation, ListOrdersAreOrdersOfVersions) {
  EXPECT_EQ(saturated("a w(x) r(y,b) | b w(x) w(y) | list x b -> a"), "fixpoint: ");
  EXPECT_EQ(saturated("a w(x) r(y,b) | b w(x) w(y) | list x a -> b"),
            "cycle: [list x a->b, read y b->a]");
}

TEST(Saturation, RealTimeGoesThroughHelpersInTheirOrder) {
  EXPECT_EQ(saturated("a r(x,b) | b w(x) | time a -> #1 | time #0 -> b"), "fixpoint: ");
  EXPECT_EQ(saturated("a r(x,b) | b w(x) | time a -> #0 | time #0 -> b"),
            "cycle: [read x b->a, time a->b]");
  EXPECT_EQ(saturated("a r(x,b) | b w(x) | time a -> #0 | time #1 -> b"),
            "cycle: [read x b->a, time a->b]");
}

// Write skew: an anomaly of one event, none of two.
TEST(Saturation, BeginsComeBeforeCommits) {
  EXPECT_EQ(saturated("split: a r(x,init) w(y) | b r(y,init) w(x)"),
            "fixpoint: initial x a.begin->b.commit, initial y b.begin->a.commit");
  EXPECT_EQ(saturated("a r(x,init) w(y) | b r(y,init) w(x)"),
            "cycle: [initial x a->b, initial y b->a]");
  EXPECT_EQ(saturated("split: a r(x,b) w(y) | b r(y,a) w(x)"),
            "cycle: [own a.begin->a.commit, read y a.commit->b.begin, own b.begin->b.commit, "
            "read x b.commit->a.begin]");
}

TEST(Saturation, InitialReadsComeBeforeEveryWriter) {
  EXPECT_EQ(saturated("c r(x,init) | a w(x) w(y)"), "fixpoint: initial x c->a");
  EXPECT_EQ(saturated("c r(x,init) r(y,a) | a w(x) w(y)"), "cycle: [initial x c->a, read y a->c]");
}

TEST(Saturation, InitialReadsComeBeforeTheFirstOtherWriterOfAChain) {
  EXPECT_EQ(saturated("c r(x,init) w(x)"), "fixpoint: ");
  EXPECT_EQ(saturated("c r(x,init) w(x) ; d w(x)"), "fixpoint: initial x c->d");
  EXPECT_EQ(saturated("d w(x) ; c r(x,init) w(x)"), "cycle: [chain d->c, initial x c->d]");
}

// --- reads with several possible writers ---

TEST(Saturation, CandidatesAfterTheReaderAreOut) {
  EXPECT_EQ(saturated("c r(x,a b) ; b w(x) | a w(x)"), "fixpoint: only x a->c");
  EXPECT_EQ(saturated("c r(x,a b) ; b w(x) ; a w(x)"),
            "no writer: [assume read x a->c, chain c->a] [assume read x b->c, chain c->b]");
}

TEST(Saturation, CandidatesThatWereOverwrittenAreOut) {
  EXPECT_EQ(saturated("a w(x) ; b w(x) ; k w(x) w(y) | c r(y,k) r(x,a k)"),
            "fixpoint: only x k->c");
  EXPECT_EQ(saturated("a w(x) ; b w(x) ; k w(x) w(y) | c r(y,k) r(x,a b)"),
            "no writer: [assume overwritten x c->b after a {chain a->b}, chain b->k, read y k->c] "
            "[assume overwritten x c->k after b {chain b->k}, read y k->c]");
}

TEST(Saturation, TheInitialVersionIsOutOnceAWriterIsSeen) {
  EXPECT_EQ(saturated("k w(x) w(y) | c r(y,k) r(x,init k) ; d w(x)"), "fixpoint: only x k->c");
  EXPECT_EQ(saturated("k w(x) w(y) | c r(y,k) r(x,init d) ; d w(x)"),
            "no writer: [assume overwritten x c->k after init, read y k->c] "
            "[assume read x d->c, chain c->d]");
}

TEST(Saturation, AnOwnWriteRulesNoCandidateOut) {
  EXPECT_EQ(saturated("a w(x) ; c r(x,a b) w(x) | b w(x)"), "fixpoint: ");
  EXPECT_EQ(saturated("a w(x) ; d w(x) ; c r(x,a b) | b w(x)"),
            "fixpoint: only x b->c, visible x d->b for c");
}

TEST(Saturation, TwoCandidatesAreAChoice) {
  EXPECT_EQ(saturated("a w(x) | b w(x) | c r(x,a b)"), "fixpoint: ");
}

// What was resolved takes part in the rules.
TEST(Saturation, AResolvedReadForcesMore) {
  EXPECT_EQ(saturated("c r(x,a b) ; b w(x) | a w(x) w(y) ; k w(x)"),
            "fixpoint: only x a->c, overwritten x c->k after ?");
  EXPECT_EQ(saturated("c r(x,a b) r(v,k) ; b w(x) | a w(x) w(y) ; k w(x) w(v)"),
            "no writer: [assume overwritten x c->k after a {chain a->k}, read v k->c] "
            "[assume read x b->c, chain c->b]");
}

TEST(OpenReads, NarrowLeavesWhatTheClocksAllow) {
  Engine engine("c r(x,a b d) ; b w(x) | a w(x) | d w(x)");
  ASSERT_EQ(engine.saturation.run(), SaturationResult::kFixpoint);
  engine.saturation.narrow(0);
  const auto left = engine.open.candidates(0);
  EXPECT_EQ(std::vector<order::Owner>(left.begin(), left.end()),
            (std::vector<order::Owner>{engine.sketch.owner("a"), engine.sketch.owner("d")}));
  EXPECT_FALSE(engine.open.is_candidate(0, engine.sketch.owner("b")));
}

// --- what is forced without clocks ---

std::string modifiers(std::string_view text) {
  Engine engine(text);
  engine.saturation.add_reads();
  const auto before = engine.graph.arcs().size();
  const bool any = engine.saturation.add_modifiers();
  std::string arcs;
  for (const auto& arc : engine.graph.arcs().subspan(before))
    arcs += (arcs.empty() ? "" : ", ") + text_of(engine.sketch, arc);
  EXPECT_EQ(any, !arcs.empty());
  return arcs;
}

TEST(Modifiers, OtherReadersOfWhatIsModifiedComeFirst) {
  EXPECT_EQ(modifiers("a w(x) | b r(x,a) w(x) | c r(x,a)"), "overwritten x c->b after a");
  EXPECT_EQ(modifiers("a w(x) | b r(x,a) w(y) | c r(x,a)"), "");
}

TEST(Modifiers, OtherReadersOfAnInitialVersionComeFirst) {
  EXPECT_EQ(modifiers("b r(x,init) w(x) | c r(x,init)"), "initial x c->b");
  EXPECT_EQ(modifiers("b r(y,init) w(x) | c r(x,init)"), "");
}

// Two who modify one version (a lost update) are a cycle of these arcs alone.
TEST(Modifiers, TwoOfOneVersionAreACycle) {
  EXPECT_EQ(decided("a w(x) | b r(x,a) w(x) | c r(x,a) w(x)"),
            "no in saturation: [overwritten x b->c after a {read x a->c}, "
            "overwritten x c->b after a {read x a->b}]");
  EXPECT_EQ(decided("a w(x) | b r(x,a) w(x) | c r(x,b) w(x)"), "yes in schedule: a b c");
}

// --- arcs that another run forced ---

TEST(Reused, ArcsAreTakenOnlyWhereTheyAreForcedHereToo) {
  const std::string text = "a w(x) | b w(x) w(y) | c r(x,a) r(y,b) | d r(x,a)";
  const auto run = [&](std::string_view reader) {
    Engine engine(text);
    const auto node = [&](std::string_view name) { return engine.sketch.node(name); };
    // b before a, as if this read of a's version came after b.
    const std::uint32_t read = reader == "c" ? 0 : 2;
    const order::KnownArc arc = {node("b"), node("a"), read, engine.sketch.owner("b"),
                                 order::ArcKind::kVisible};
    EXPECT_EQ(engine.saturation.run({arc}), SaturationResult::kFixpoint);
    std::string forced;
    for (const auto& known : engine.graph.arcs()) {
      if (known.kind != order::ArcKind::kRead) forced += text_of(engine.sketch, known);
    }
    return forced;
  };
  EXPECT_EQ(run("c"), "visible x b->a for c");
  EXPECT_EQ(run("d"), "visible x b->a for c");
}

}  // namespace
}  // namespace cupel::test
