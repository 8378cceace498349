// Material and its parts: what goes with what, and that leaving out never makes a
// violation.
#include "engine/explain/shrink/select.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/budget.hpp"
#include "base/random.hpp"
#include "base/verdict.hpp"
#include "engine/levels/decide.hpp"
#include "engine/levels/level.hpp"
#include "property/random_history.hpp"
#include "support/history_language.hpp"

namespace cupel::shrink {
namespace {

using test::history_of;

// Everything that the history does.
std::vector<OperationRef> everything(const History& h) {
  std::vector<OperationRef> all;
  for (std::size_t t = 0; t < h.txn_count(); ++t) {
    const TxnId txn(t);
    all.push_back({txn, OpId::none()});
    for (auto i = h.first_op(txn); i < h.last_op(txn); ++i) all.push_back({txn, OpId(i)});
  }
  return all;
}

// The part that is left without the transactions of these labels.
Part without(const History& h, std::vector<std::uint32_t> labels) {
  const Material material(h, everything(h), true);
  auto kept = material.all();
  for (std::uint32_t t = 0; t < material.txn_count(); ++t) {
    for (const auto label : labels) {
      if (h.label(material.txn(t)) == label) kept.txns[t] = 0;
    }
  }
  material.settle(kept);
  return material.part(kept);
}

std::string text_without(const std::string& text, std::vector<std::uint32_t> labels) {
  return test::to_text(without(history_of(text), std::move(labels)).history);
}

TEST(Part, LosesTheReadsOfAWriterThatIsLeftOut) {
  EXPECT_EQ(text_without("a: w(x,1) w(y,1) | b: r(x,1) r(y,nil) r(z,nil)", {0}),
            test::to_text(history_of("b: r(y,nil) r(z,nil)")));
}

TEST(Part, LosesAReadWhenOneOfItsPossibleWritersIsLeftOut) {
  EXPECT_EQ(text_without("a: w(x,1) | b: w(x,1) | c: r(x,1) r(y,nil)", {1}),
            test::to_text(history_of("a: w(x,1) | c: r(y,nil)")));
}

TEST(Part, LosesAReadOfAnAbortedWriterThatIsLeftOut) {
  EXPECT_EQ(text_without("a: ! w(x,1) | b: r(x,1) w(y,2)", {0}),
            test::to_text(history_of("b: w(y,2)")));
}

TEST(Part, KeepsAReadOfThinAir) {
  EXPECT_EQ(text_without("a: w(x,1) | b: r(x,7)", {0}), test::to_text(history_of("b: r(x,7)")));
}

TEST(Part, LosesTheReadOfACompareAndSetButNotItsWrite) {
  EXPECT_EQ(text_without("a: w(x,1) | b: cas(x,1,2) | c: r(x,2)", {0}),
            test::to_text(history_of("b: w(x,2) | c: r(x,2)")));
}

TEST(Part, LosesAFailedCompareAndSetWithAnyWriterItMayHaveSeen) {
  EXPECT_EQ(text_without("a: w(x,1) | b: w(x,2) | c: cas!(x,7,8) w(y,1)", {1}),
            test::to_text(history_of("a: w(x,1) | c: w(y,1)")));
}

TEST(Part, CutsElementsWhoseAppendIsLeftOut) {
  EXPECT_EQ(text_without("a: a(x,1) | b: a(x,2) | c: a(x,3) | d: l(x,[1 2 3]) ; l(x,[1 2])", {1}),
            test::to_text(history_of("a: a(x,1) | c: a(x,3) | d: l(x,[1 3]) ; l(x,[1])")));
}

TEST(Part, CutsAnElementWithAllItsAppends) {
  EXPECT_EQ(text_without("a: a(x,1) | b: a(x,1) | c: a(x,2) l(x,[1 1 2])", {0}),
            test::to_text(history_of("b: () | c: a(x,2) l(x,[2])")));
}

TEST(Part, LosesAListReadWithTheOwnAppendsThatEndIt) {
  EXPECT_EQ(text_without("a: a(x,1) | b: a(x,2) l(x,[2 1]) | c: a(x,2)", {2}),
            test::to_text(history_of("a: a(x,1) | b: ()")));
}

TEST(Part, CutsAKeyThatOnlyRangesAreLeftOf) {
  EXPECT_EQ(text_without("a: w(k,1) | b: w(l,1) | c: range(a,z,[k=1 l=1])", {0}),
            test::to_text(history_of("b: w(l,1) | c: range(a,z,[l=1])")));
}

TEST(Part, LosesARangeWhenAKeyInItWouldBeSeenAsItWasNot) {
  // T1 deleted k: without it the range would be of a time before T0.
  EXPECT_EQ(text_without("a: w(k,1) | b: d(k) | c: range(a,z,[]) r(q,nil)", {1}),
            test::to_text(history_of("a: w(k,1) | c: r(q,nil)")));
  EXPECT_EQ(text_without("a: w(k,1) | b: w(k,2) | c: range(a,z,[k=1]) r(q,nil)", {0}),
            test::to_text(history_of("b: w(k,2) | c: r(q,nil)")));
}

TEST(Part, SaysWhereItsPartsWere) {
  const auto h = history_of("init=0 a: w(x,1) ; w(x,2) @10-20 | b: r(y,0) r(x,2) @15-40");
  const auto part = without(h, {0});
  ASSERT_EQ(part.history.txn_count(), 2u);
  for (std::size_t t = 0; t < part.history.txn_count(); ++t) {
    const TxnId now(t), then = part.original_txn[t];
    EXPECT_EQ(part.history.label(now), h.label(then));
    EXPECT_EQ(part.history.invoke(now), h.invoke(then));
    EXPECT_EQ(part.history.complete(now), h.complete(then));
    EXPECT_EQ(part.history.place(now), h.place(then));
    EXPECT_EQ(part.history.session_name(part.history.session(now)),
              h.session_name(h.session(then)));
  }
  EXPECT_EQ(part.history.place(TxnId(0)), 2u);  // of its session in the whole
  ASSERT_EQ(part.original_op.size(), part.history.op_count());
  for (std::size_t i = 0; i < part.history.op_count(); ++i) {
    EXPECT_EQ(part.history.kind(OpId(i)), h.kind(part.original_op[i]));
  }
  EXPECT_EQ(part.history.value(part.history.default_initial_value()).integer, 0);
}

// What satisfies a level satisfies it whatever is left out: else a counterexample
// would prove nothing.
class LeavingOut : public testing::TestWithParam<int> {};

TEST_P(LeavingOut, NeverMakesAViolation) {
  int tried = 0;
  for (std::uint64_t i = 0; i < 150; ++i) {
    const auto seed = i * test::kKindCount + static_cast<std::uint64_t>(GetParam());
    const auto h = test::build(test::random_sketch(static_cast<test::Kind>(GetParam()), seed));
    const Material material(h, everything(h), true);
    base::Random random(seed);
    levels::Decider decider(h, 0, 1, false);
    for (const auto level : levels::all_levels()) {
      if (decider.refusal(level)) continue;
      base::Budget budget;
      if (decider.decide(level, budget).status != base::Verdict::kSatisfied) continue;
      for (int again = 0; again < 4; ++again) {
        auto kept = material.all();
        const double share = random.unit();
        for (auto& txn : kept.txns) txn = random.chance(share * share) ? 0 : txn;
        for (auto& op : kept.ops) op = random.chance(share) ? Material::State::kOut : op;
        material.settle(kept);
        const auto part = material.part(kept);
        levels::Decider smaller(part.history, 0, 1, false);
        if (smaller.refusal(level)) continue;
        ASSERT_EQ(smaller.decide(level, budget).status, base::Verdict::kSatisfied)
            << levels::name(level) << ", seed " << seed << "\n"
            << test::to_text(h) << "\n  of which\n"
            << test::to_text(part.history);
        ++tried;
      }
    }
  }
  EXPECT_GT(tried, 300);
}

INSTANTIATE_TEST_SUITE_P(Kinds, LeavingOut, testing::Range(0, test::kKindCount),
                         [](const auto& info) {
                           std::string text(name(static_cast<test::Kind>(info.param)));
                           for (char& c : text) c = c == '-' ? '_' : c;
                           return text;
                         });

}  // namespace
}  // namespace cupel::shrink
