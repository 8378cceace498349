// Colouring: a graph as a history of a multi-value register whose values are written once,
// which has an execution exactly if three colours do for the graph. So deciding such
// histories is NP-hard once reads return siblings.
//
// Of each node, a replica has read {a}, and then {b0, b1, b2}: one of the three has seen a,
// and that is its colour. Of each edge and colour, a write v has seen both nodes' b of that
// colour, and a replica that has read {v} reads {s, t}: one of them has seen v. s must not
// see the first node's a, and t not the second's: each is followed by a write that a read
// returns beside one that a follows. So not both nodes have that colour.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "crdt/model/history.hpp"

namespace cupel::crdt {

using Edges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

inline History history_of_graph(std::uint32_t nodes, const Edges& edges) {
  History h;
  h.type = Type::kMultiValueRegister;
  std::uint32_t replicas = 0, values = 0;
  const auto replica = [&] { return h.replica(std::to_string(replicas++)); };
  const auto write = [&](std::uint32_t on, const std::string& key) {
    Operation op;
    op.kind = Kind::kWrite;
    op.replica = on;
    op.key = h.key(key);
    op.element = h.element(op.key, std::to_string(values++));
    h.add(op);
    return op.element;
  };
  const auto read = [&](std::uint32_t on, const std::string& key,
                        const std::vector<std::uint32_t>& list) {
    Operation op;
    op.kind = Kind::kValues;
    op.replica = on;
    op.key = h.key(key);
    h.add(op, list);
  };
  std::vector<std::uint32_t> before_a;              // by node
  std::vector<std::vector<std::uint32_t>> colours;  // by node: the three
  for (std::uint32_t n = 0; n < nodes; ++n) {
    const auto key = "node " + std::to_string(n);
    const auto on = replica();
    before_a.push_back(write(on, "before " + key));
    const auto a = write(on, key);
    auto& of_node = colours.emplace_back();
    for (int c = 0; c < 3; ++c) of_node.push_back(write(replica(), key));
    const auto reader = replica();
    read(reader, key, {a});
    read(reader, key, of_node);
  }
  for (const auto& [first, second] : edges) {
    for (std::uint32_t c = 0; c < 3; ++c) {
      const auto key =
          "edge " + std::to_string(first) + " " + std::to_string(second) + " " + std::to_string(c);
      const auto sees_both = replica();
      read(sees_both, "node " + std::to_string(first), {colours[first][c]});
      read(sees_both, "node " + std::to_string(second), {colours[second][c]});
      const auto v = write(sees_both, key);
      std::vector<std::uint32_t> over;
      for (const auto node : {first, second}) {
        const auto on = replica();
        const auto before = "before node " + std::to_string(node);
        over.push_back(write(on, key));
        const auto beside = write(on, before);
        read(replica(), before, {before_a[node], beside});
      }
      const auto reader = replica();
      read(reader, key, {v});
      read(reader, key, over);
    }
  }
  return h;
}

}  // namespace cupel::crdt
