// Cycle enumeration: many cycles of one event graph, so that one round relaxes many chains.
//
// When the arcs of a saturation round close cycles, one search finds one cycle. Where
// session order is optional, every cycle may cost an owner its place in its chain, and a
// round each would be too many. So the nodes are put into an order in which few arcs go
// backward (Kahn's algorithm, forced on where it is stuck). These few are the feedback
// arcs. Each is turned forward by moving the nodes between its ends (Pearce & Kelly 2007,
// dynamic topological order). A feedback arc that cannot be turned closes a cycle. The
// caller takes an owner of the cycle out of its chain, or drops the arc, and goes on with
// the same order.
// Cost: the order is (nodes + arcs) log nodes; a feedback arc, what lies between its ends.
#pragma once

#include <span>
#include <vector>

#include "engine/order/event_graph.hpp"

namespace cupel::order {

class CycleEnumerator {
 public:
  // After a sort() of the graph that failed. Small priorities come first where
  // the arcs leave a choice; helpers come as soon as they can.
  CycleEnumerator(const Problem& problem, const EventGraph& graph,
                  std::span<const std::uint64_t> priority);

  // The next cycle, as steps of the graph (chain steps may jump over owners taken
  // out); empty when there is none that a search of bounded size finds. The same arc
  // is tried again at the next call unless drop() said otherwise.
  std::vector<EventGraph::Step> next();
  void drop();
  // Its neighbours in the chain stay ordered.
  void take_out(Owner o);
  // Nothing stays before it in its chain.
  void cut(Owner o);

 private:
  // Its `from` is ranked after its `to`.
  struct FeedbackArc {
    Node from, to;
    std::uint32_t arc;
  };
  void make_order(std::span<const std::uint64_t> priority);
  bool reorder(const FeedbackArc& arc, std::vector<EventGraph::Step>& cycle, bool& found);

  const Problem& problem_;
  const EventGraph& graph_;
  std::vector<std::uint32_t> out_first_;
  std::vector<std::uint32_t> out_;    // arc indexes by `from`
  std::vector<Node> before_, after_;  // neighbours in the chain, as far as they are left
  std::vector<std::uint32_t> rank_;
  std::vector<FeedbackArc> feedback_arcs_;
  std::size_t at_ = 0;
  std::vector<EventGraph::Step> reached_by_;  // of the search that ran last
  std::vector<std::uint32_t> seen_;           // number of the search that saw a node
  std::uint32_t search_ = 0;
};

}  // namespace cupel::order
