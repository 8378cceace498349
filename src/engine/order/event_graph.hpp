// EventGraph: the known arcs between events, with their reasons, and the chains.
//
// Arcs are only ever added, in rounds; a forced arc's reason is a path of arcs
// that were there when its round began, so the number of an arc is enough to
// find its derivation again and no path is stored (proof.cpp).
#pragma once

#include <span>
#include <vector>

#include "engine/order/problem.hpp"

namespace cupel::order {

using ChainId = std::uint32_t;

struct KnownArc {
  Node from, to;
  std::uint32_t read_or_object;
  Owner other;
  ArcKind kind;
};

// What the chains have lost where session order is optional, by owner; both empty: nothing.
struct RelaxedChains {
  std::vector<std::uint8_t> alone;  // not in its chain but alone; its neighbours stay neighbours
  std::vector<std::uint8_t> cut;    // its chain is cut in two before it
};

class EventGraph {
 public:
  // Chains and fixed arcs of the problem.
  EventGraph(const Problem& problem, const RelaxedChains& relaxed);

  // Chains of nodes. Positions count from 1, so that 0 can mean "none".
  [[nodiscard]] ChainId chain_count() const { return chain_count_; }
  // Only the chains below this get a column of a clock: as many as the problem
  // has, and of those that relaxation adds what a bounded number of integers holds. The
  // long ones are below.
  [[nodiscard]] ChainId column_count() const { return column_count_; }
  [[nodiscard]] ChainId chain(Node v) const { return chain_[v]; }
  [[nodiscard]] std::uint32_t position(Node v) const { return position_[v]; }
  [[nodiscard]] Node previous(Node v) const { return previous_[v]; }  // kNoNode: none
  // All nodes, chain after chain, each in the order of its positions.
  [[nodiscard]] std::vector<Node> by_chain() const;
  // The arc from the previous node of the chain is kOwn, kChain or kRealTime.
  [[nodiscard]] ArcKind chain_arc_kind(Node v) const;

  void begin_round() { round_begin_.push_back(static_cast<std::uint32_t>(arcs_.size())); }
  void add(const KnownArc& arc) { arcs_.push_back(arc); }
  // Forgets the arcs added after the first `count`, which was their number in this round.
  void keep_arcs(std::size_t count) { arcs_.resize(count); }
  [[nodiscard]] std::span<const KnownArc> arcs() const { return arcs_; }
  // The arcs there when the round that added arc i began.
  [[nodiscard]] std::uint32_t arcs_before_round_of(std::uint32_t i) const;

  // Rebuilds the rows of incoming arcs and the topological order. False if
  // there is a cycle; then cycle() has one, short but not always the shortest.
  // The budget shortens the search for a short one.
  bool sort(base::Budget* budget = nullptr);
  [[nodiscard]] std::span<const Node> topological() const { return topological_; }
  // Position in the last topological order that there was.
  [[nodiscard]] std::uint32_t rank(Node v) const { return rank_[v]; }
  struct In {
    Node from;
    std::uint32_t arc;  // index into arcs(), or kChainArc
  };
  static constexpr std::uint32_t kChainArc = std::numeric_limits<std::uint32_t>::max();
  // Incoming arcs besides the chain's, as of the last sort().
  [[nodiscard]] std::span<const In> in(Node v) const {
    return std::span(in_).subspan(in_first_[v], in_first_[v + 1] - in_first_[v]);
  }
  // A step into `to` by arc (index or kChainArc).
  struct Step {
    Node from, to;
    std::uint32_t arc;
  };
  [[nodiscard]] std::span<const Step> cycle() const { return cycle_; }
  // The shortest path from → to over the first `limit` arcs and the chains;
  // empty if there is none.
  [[nodiscard]] std::vector<Step> path(Node from, Node to, std::uint32_t limit) const;

  // Everything known as a Digraph: arc i has id i, then come the chains' arcs;
  // step() translates an id.
  [[nodiscard]] graph::Digraph digraph() const;
  [[nodiscard]] Step step(graph::ArcId id) const;

  [[nodiscard]] const Problem& problem() const { return problem_; }

 private:
  void find_cycle(std::span<const Node> stack, base::Budget* budget);

  const Problem& problem_;
  ChainId chain_count_ = 0;
  ChainId column_count_ = 0;
  std::vector<ChainId> chain_;
  std::vector<std::uint32_t> position_;
  std::vector<Node> previous_;
  std::vector<KnownArc> arcs_;
  std::vector<std::uint32_t> round_begin_;
  std::vector<std::uint32_t> in_first_;
  std::vector<In> in_;
  std::vector<Node> topological_;
  std::vector<std::uint32_t> rank_;
  std::vector<Step> cycle_;
  // Of path(), which is asked for every step of a derivation: a search's marks are its own number.
  struct PathSearch {
    std::uint32_t number = 0;
    std::vector<std::uint32_t> seen;  // number of the search that saw a node
    std::vector<Step> out_of;
    std::vector<Node> queue;
  };
  mutable PathSearch path_search_;
  mutable std::vector<Node> chain_arcs_into_;  // by id - arcs_.size(), of the last digraph()
};

}  // namespace cupel::order
