// Siblings: histories that leave many choices of which sibling had overwritten what, and the
// hard ones, in which choices exclude each other.
#include <gtest/gtest.h>

#include <functional>

#include "base/random.hpp"
#include "colouring.hpp"
#include "crdt/explain/explain.hpp"
#include "crdt/io/certificate.hpp"
#include "crdt/io/reader.hpp"
#include "crdt/solve/decide.hpp"
#include "crdt/verify/verify.hpp"
#include "crdt/workload/generate.hpp"

namespace cupel::crdt {
namespace {

Decision decided_siblings(const History& history) {
  base::Budget budget(std::chrono::duration<double>(60), 0);
  return decide(history, {}, budget);
}

void expect_proven(const History& history, const Decision& decision) {
  ASSERT_EQ(decision.verdict, Verdict::kSatisfied);
  EXPECT_EQ(decision.decided_by, "registers");
  const auto verified = verify(history, certificate_of_witness(history, {}, *decision.witness));
  EXPECT_EQ(verified.status, CertificateStatus::kValid) << verified.reason;
}

bool three_colours(std::uint32_t nodes, const Edges& edges) {
  std::vector<int> colour(nodes, 0);
  const std::function<bool(std::uint32_t)> from = [&](std::uint32_t n) {
    if (n == nodes) return true;
    for (colour[n] = 0; colour[n] < 3; ++colour[n]) {
      const bool fits = std::none_of(edges.begin(), edges.end(), [&](const auto& edge) {
        return edge.second == n && colour[edge.first] == colour[n];
      });
      if (fits && from(n + 1)) return true;
    }
    return false;
  };
  return from(0);
}

TEST(Siblings, OfAGraphAreExplainedIfThreeColoursDo) {
  base::Random random(5);
  int colourable = 0;
  constexpr int kGraphs = 40;
  for (int i = 0; i < kGraphs; ++i) {
    const auto nodes = 4 + static_cast<std::uint32_t>(i % 5);
    Edges edges;  // about as many as it takes to be in doubt
    for (std::uint32_t a = 0; a < nodes; ++a) {
      for (std::uint32_t b = a + 1; b < nodes; ++b) {
        if (random.chance(nodes == 4 ? 0.85 : 3.7 / (nodes - 1))) edges.emplace_back(a, b);
      }
    }
    const auto history = history_of_graph(nodes, edges);
    const auto decision = decided_siblings(history);
    const bool expected = three_colours(nodes, edges);
    colourable += expected;
    if (expected) {
      expect_proven(history, decision);
    } else {
      ASSERT_EQ(decision.verdict, Verdict::kViolated) << nodes << " nodes, graph " << i;
      // So has what it is said to take.
      const auto part = part_of(history, decision.violation->core);
      EXPECT_EQ(decided_siblings(part.history).verdict, Verdict::kViolated);
    }
  }
  EXPECT_GT(colourable, kGraphs / 5);
  EXPECT_LT(colourable, kGraphs * 4 / 5);
}

GenerateOptions options_of(std::uint64_t ops, std::uint32_t keys, std::uint64_t seed) {
  GenerateOptions options;
  options.type = {Type::kMultiValueRegister};
  options.replicas = 10;
  options.keys = keys;
  options.ops = ops;
  options.seed = seed;
  return options;
}

TEST(Siblings, OfTenReplicasAreDecided) {
  for (const std::uint32_t keys : {1U, 20U, 200U}) {
    for (const double delivery : {0.1, 0.3, 0.7}) {
      for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        auto options = options_of(3000, keys, seed);
        options.delivery = delivery;
        options.read_share = 0.2 + 0.2 * static_cast<double>(seed % 3);
        const auto history = generate(options).value();
        expect_proven(history, decided_siblings(history));
      }
    }
  }
}

// The order of the file is nothing that is relied on.
TEST(Siblings, OfReplicasOneAfterTheOtherInTheFileAreDecided) {
  const auto history = generate(options_of(3000, 20, 7)).value();
  History apart;
  apart.type = history.type;
  for (const auto& replica : history.replicas) apart.replica(replica);
  for (const auto& key : history.keys) apart.key(key);
  for (const auto& element : history.elements) apart.element(element.key, element.text);
  for (const auto& line : history.by_replica) {
    for (const OpId id : line) {
      const auto list = history.list(history.ops[id]);
      apart.add(history.ops[id], std::vector(list.begin(), list.end()));
    }
  }
  expect_proven(apart, decided_siblings(apart));
}

// One read of thousands leaves out one of the siblings that its replica has just returned:
// those left were returned beside it and cannot have overwritten it.
TEST(Siblings, OneThatIsLostOnceIsFoundAndExplained) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const auto history = generate(options_of(3000, 20, seed)).value();
    OpId wrong = kNone;
    for (OpId id = 2000; id < history.ops.size() && wrong == kNone; ++id) {
      if (history.list(history.ops[id]).size() > 3) wrong = id;
    }
    ASSERT_NE(wrong, kNone);
    History lossy;
    lossy.type = history.type;
    for (const auto& element : history.elements)
      lossy.element(lossy.key(history.keys[element.key]), element.text);
    for (const auto& replica : history.replicas) lossy.replica(replica);
    for (OpId id = 0; id < history.ops.size(); ++id) {
      Operation op = history.ops[id];
      op.key = lossy.key(history.keys[op.key]);
      const auto list = history.list(history.ops[id]);
      std::vector<std::uint32_t> shown(list.begin(), list.end());
      if (id == wrong) shown.erase(shown.begin());
      if (id == wrong) lossy.add(op, std::vector(list.begin(), list.end()));
      lossy.add(op, shown);
    }
    const auto decision = decided_siblings(lossy);
    ASSERT_EQ(decision.verdict, Verdict::kViolated);
    const auto explanation = explain(lossy, *decision.violation, {}, {.seconds = 20});
    EXPECT_LE(explanation.part.history.ops.size(), 20U) << "seed " << seed << "\n"
                                                        << write(explanation.part.history);
    const auto verified = verify(lossy, certificate_of_core(lossy, {}, explanation.core));
    EXPECT_EQ(verified.status, CertificateStatus::kValid) << verified.reason;
  }
}

}  // namespace
}  // namespace cupel::crdt
