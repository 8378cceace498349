// is_solution: every condition of problem.hpp, by an order that meets it and one that does not.
#include <gtest/gtest.h>

#include <sstream>

#include "order_language.hpp"

namespace cupel::test {
namespace {

// Is this order of nodes a solution, where the reads saw these writers (else their first
// candidates)?
bool solves(std::string_view text, const std::string& order,
            std::vector<std::string> writers = {}) {
  const OrderSketch sketch = order_problem(text);
  std::vector<order::Node> nodes;
  std::istringstream names(order);
  for (std::string name; names >> name;) nodes.push_back(sketch.node(name));
  std::vector<order::Owner> seen;
  for (const auto& read : sketch.problem.reads)
    seen.push_back(sketch.problem.candidates[read.first_candidate]);
  for (std::size_t r = 0; r < writers.size(); ++r)
    seen[r] = writers[r] == "init" ? order::kInitial : sketch.owner(writers[r]);
  return is_solution(sketch.problem, nodes, seen);
}

TEST(IsSolution, EveryNodeComesOnce) {
  EXPECT_TRUE(solves("a w(x) | b w(x)", "a b"));
  EXPECT_FALSE(solves("a w(x) | b w(x)", "a"));
  EXPECT_FALSE(solves("a w(x) | b w(x)", "a a"));
}

TEST(IsSolution, ChainsKeepTheirOrder) {
  EXPECT_TRUE(solves("a w(x) ; b w(y)", "a b"));
  EXPECT_FALSE(solves("a w(x) ; b w(y)", "b a"));
  EXPECT_TRUE(solves("optional: a w(x) ; b w(y)", "b a"));
}

TEST(IsSolution, BeginsComeBeforeCommits) {
  EXPECT_TRUE(solves("split: a w(x)", "a.begin a.commit"));
  EXPECT_FALSE(solves("split: a w(x)", "a.commit a.begin"));
}

TEST(IsSolution, HelpersKeepTheirOrder) {
  EXPECT_TRUE(solves("a w(x) | time a -> #0 | time a -> #1", "a #0 #1"));
  EXPECT_FALSE(solves("a w(x) | time a -> #0 | time a -> #1", "a #1 #0"));
}

TEST(IsSolution, FixedArcsHold) {
  EXPECT_TRUE(solves("a w(x) | b w(x) | list x a -> b", "a b"));
  EXPECT_FALSE(solves("a w(x) | b w(x) | list x a -> b", "b a"));
}

TEST(IsSolution, ReadsSeeTheCurrentVersion) {
  EXPECT_TRUE(solves("a w(x) | b w(x) | c r(x,a)", "a c b"));
  EXPECT_FALSE(solves("a w(x) | b w(x) | c r(x,a)", "a b c"));
  EXPECT_TRUE(solves("a w(x) | c r(x,init)", "c a"));
  EXPECT_FALSE(solves("a w(x) | c r(x,init)", "a c"));
}

TEST(IsSolution, ReadsSeeACandidate) {
  EXPECT_TRUE(solves("a w(x) | b w(x) | c r(x,a b)", "a b c", {"b"}));
  EXPECT_FALSE(solves("a w(x) | b w(x) | c r(x,a init)", "a b c", {"b"}));
}

TEST(IsSolution, ReadsOfTwoEventsSeeWhatWasCommittedWhenTheyBegan) {
  EXPECT_TRUE(solves("split: a w(x) | c r(x,init)", "c.begin a.begin a.commit c.commit"));
  EXPECT_FALSE(solves("split: a w(x) | c r(x,init)", "a.begin a.commit c.begin c.commit"));
}

TEST(IsSolution, WritersOfOneObjectDoNotOverlapWhereTheyMayNot) {
  EXPECT_TRUE(solves("split: a w(x) | b w(x)", "a.begin b.begin a.commit b.commit"));
  EXPECT_FALSE(solves("no-overlap: a w(x) | b w(x)", "a.begin b.begin a.commit b.commit"));
  EXPECT_TRUE(solves("no-overlap: a w(x) | b w(x)", "a.begin a.commit b.begin b.commit"));
}

}  // namespace
}  // namespace cupel::test
