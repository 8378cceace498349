// Proofs: from the numbers of arcs back to reasons.
//
// A forced arc's reason is a path over the arcs that were there when its round
// began; it is searched again here, for the arcs that a cycle needs only. Steps
// along a chain, and through real-time helpers, become one arc.
#pragma once

#include "base/hash_table.hpp"
#include "base/solver/acyclic_solver.hpp"
#include "engine/order/saturation.hpp"

namespace cupel::order {

// Is read_or_object of an arc of this kind a read? (Of the others with one it is an object.)
inline bool names_read(ArcKind kind) {
  switch (kind) {
    case ArcKind::kRead:
    case ArcKind::kOnlyWriter:
    case ArcKind::kInitialRead:
    case ArcKind::kVisible:
    case ArcKind::kOverwritten:
    case ArcKind::kAssumedWriter:
    case ArcKind::kAssumedOverwritten:
    case ArcKind::kSawInitial:
      return true;
    default:
      return false;
  }
}

class ProofBuilder {
 public:
  // When the budget ends, reasons are left out rather than the answer. With `open`
  // the proof is not for showing but for the relaxation, which asks what it rests on:
  // after it follows, in no cycle, why the reads it names lost their other candidates.
  ProofBuilder(const Problem& problem, const EventGraph& graph, const Versions& versions,
               base::Budget& budget, const OpenReads* open = nullptr)
      : problem_(problem), graph_(graph), versions_(versions), budget_(budget), open_(open) {}

  // A cycle of steps of the graph.
  void add_cycle(std::span<const EventGraph::Step> steps);
  // A read that lost every candidate: one cycle for each, of the first ones.
  void add_orphan(std::uint32_t read);
  // A cycle with assumed arcs between stretches of known steps.
  struct Assumed {
    Node from, to;
    ArcKind kind;
    std::uint32_t read_or_object;
    Owner other;
    Owner seen = kUnresolved;  // kAssumedOverwritten: whose version the read saw
  };
  struct MixedStep {
    bool assumed;
    Assumed arc;            // assumed
    EventGraph::Step step;  // else
  };
  void add_case(std::span<const MixedStep> steps);
  // Cases for the candidates that an open read lost before it became a case.
  void add_exclusions(std::uint32_t read, std::span<const Owner> kept);

  Proof take() {
    if (open_ != nullptr) add_lost_candidates();
    return std::move(proof_);
  }

 private:
  std::vector<std::uint32_t> path(std::span<const EventGraph::Step> steps);
  std::vector<std::uint32_t> reason_path(Node from, Node to, std::uint32_t limit);
  std::uint32_t arc(std::uint32_t index);
  std::uint32_t plain(Node from, Node to, ArcKind kind);
  std::uint32_t assumed(const Assumed& arc, std::vector<std::uint32_t> because = {});
  std::vector<std::uint32_t> excluding_cycle(std::uint32_t read, Owner candidate,
                                             std::uint32_t limit);
  std::vector<Exclusion> exclusions(std::uint32_t read, Owner kept, std::uint32_t limit);
  void know(std::uint32_t read, std::uint32_t limit);
  void add_lost_candidates();
  void rotate_to_event(std::vector<EventGraph::Step>& steps) const;

  const Problem& problem_;
  const EventGraph& graph_;
  const Versions& versions_;
  base::Budget& budget_;
  const OpenReads* open_;
  Proof proof_;
  base::HashMap<std::uint32_t, std::uint32_t> by_arc_;
  base::HashMap<std::uint64_t, std::uint32_t> by_ends_;
  base::HashSet<std::uint32_t> known_reads_;
  base::HashMap<std::uint32_t, std::uint32_t> only_writer_;  // by read: its arc of the graph
  bool looked_for_only_writers_ = false;
};

}  // namespace cupel::order
