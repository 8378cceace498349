// Tree encoding: a model exists if and only if some order of the moves explains the reads, over
// random small histories, by exhaustive search. Without some of the moves it may only accept more.
// The verifier's search says the same, whatever moves a certificate names.
#include "crdt/solve/tree_encoding.hpp"

#include <gtest/gtest.h>

#include <map>

#include "crdt/io/reader.hpp"
#include "crdt/verify/move_order_check.hpp"
#include "finding.hpp"
#include "oracle.hpp"
#include "random_deliveries.hpp"
#include "random_history.hpp"
#include "support/rounds.hpp"

namespace cupel::crdt {
namespace {

using solver::SolveResult;

bool has_model(const History& h, const std::vector<bool>* stated) {
  const auto visibility = Visibility::of(h).value();
  base::Budget budget;
  const KnownContext context{h, visibility, {}, budget};
  std::vector<graph::Arc> arcs;
  for (OpId a = 0; a < h.ops.size(); ++a) {
    for (OpId b = 0; b < h.ops.size(); ++b) {
      if (!is_read(h.ops[a].kind) && visibility.sees(b, a)) arcs.push_back({a, b});
    }
  }
  constexpr std::size_t kNodes = 200;
  const graph::Digraph known(h.ops.size() + kNodes, arcs);
  solver::AcyclicSolver solver(known);
  std::map<std::pair<OpId, OpId>, solver::Literal> literals;
  const auto before = [&](OpId first, OpId second) {
    const std::pair<OpId, OpId> pair(std::min(first, second), std::max(first, second));
    auto& literal = literals[pair];
    if (literal == 0) {
      literal = solver.new_variable();
      solver.add_arc({pair.first, pair.second, literal});
      solver.add_arc({pair.second, pair.first, -literal});
    }
    return first == pair.first ? literal : -literal;
  };
  const auto is_known = [&](OpId first, OpId second) { return visibility.sees(second, first); };
  TreeEncoding encoding(context, solver, {.is_known = is_known, .before = before, .stated = stated},
                        static_cast<graph::Node>(h.ops.size()), kNodes);
  for (OpId id = 0; id < h.ops.size(); ++id) {
    if (h.ops[id].kind == Kind::kTree) {
      EXPECT_TRUE(encoding.add(id));
    }
  }
  return solver.solve(budget) == SolveResult::kModel;
}

std::optional<bool> verifier_finds_order(const History& h, base::Random& random) {
  SeenUpdates seen(h);
  EXPECT_TRUE(seen.run());
  std::vector<OpId> reads, named;
  for (OpId id = 0; id < h.ops.size(); ++id) {
    if (h.ops[id].kind == Kind::kTree) reads.push_back(id);
    if (random.chance(0.4)) named.push_back(id);
  }
  return has_move_order(h, seen, reads, named);
}

// What is wrong whatever the order is looked at before; the encoding need not see it.
bool is_wrong_alone(const History& h) {
  const auto found = by_deliveries(h);
  return found.explanation && found.explanation->name != "order-disagreement" &&
         found.explanation->name != "stale-move";
}

TEST(TreeEncoding, HasAModelIfAnOrderOfTheMovesExplainsTheReads) {
  base::Random random(5);
  int satisfied = 0, violated = 0, fewer = 0;
  for (int i = 0; i < 4 * test::rounds(CUPEL_CRDT_HISTORIES); ++i) {
    History h = random_history(Type::kTree, small_shape(Type::kTree, i, random), random);
    const RandomDeliveries deliveries(h, DeliveryRule::kCausal, random);
    if (!h.context.is_known() || is_wrong_alone(h)) continue;
    const bool well = admitted_with(h, deliveries.past, false);
    ASSERT_EQ(has_model(h, nullptr), well) << write(h);
    ASSERT_EQ(verifier_finds_order(h, random), well) << write(h);
    ++(well ? satisfied : violated);
    std::vector<bool> stated(h.ops.size());
    for (OpId id = 0; id < h.ops.size(); ++id) stated[id] = random.chance(0.7);
    const bool any = has_model(h, &stated);
    ASSERT_TRUE(any || !well) << write(h);
    fewer += any ? 0 : 1;
  }
  EXPECT_GT(satisfied, test::rounds(CUPEL_CRDT_HISTORIES) / 20);
  EXPECT_GT(violated, test::rounds(CUPEL_CRDT_HISTORIES) / 20);
  EXPECT_GT(fewer, 10);
}

TEST(TreeEncoding, ReplicasThatOrderEqualTimestampsOtherwiseAreSatisfied) {
  GenerateOptions options;
  options.type = {Type::kTree};
  options.ops = 1000;
  options.replicas = 6;
  options.context = true;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    options.seed = seed;
    std::string text = write(generate(options).value());
    // Names in another order than the numbers by which the simulated replicas decide.
    const auto rename = [](char& digit) {
      if (digit >= '0' && digit <= '6') digit = static_cast<char>('0' + (digit - '0') * 5 % 7);
    };
    for (std::size_t at = 0; (at = text.find(':', at)) != std::string::npos; ++at) {
      rename(text[at - 1]);  // "2:0" in a delivery
      if (at >= 9 && text.compare(at - 9, 9, "\"process\"") == 0) rename(text[at + 1]);
    }
    EXPECT_EQ(finding(text, Type::kTree), "satisfied") << seed;
  }
}

}  // namespace
}  // namespace cupel::crdt
