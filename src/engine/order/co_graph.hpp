// CoGraph: the weak levels' order co for given writers of the reads, and its cycles.
//
// co holds session order, wr, fixed list orders, and for every read r of an
// object from w and every other writer k that is visible to r (visibility.hpp),
// k before w. A read whose writer is left open (kUnresolved) adds nothing; what is
// added for the others holds whatever it turns out to be, since more wr only
// makes more visible. So a cycle with reads left open is a cycle for every choice.
#pragma once

#include <array>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "engine/order/clocks.hpp"
#include "engine/order/event_graph.hpp"
#include "engine/order/sparse_clocks.hpp"
#include "engine/order/visibility.hpp"

namespace cupel::order {

class CoGraph {
 public:
  // Keeps references to all of these.
  CoGraph(const VisibilityProblem& problem, Visible visible, std::span<const Owner> writers,
          base::Budget& budget);

  // Adds every arc. False if the budget ended.
  bool saturate();
  // Whether several processes may look for the arcs.
  [[nodiscard]] bool may_share() const;
  // Adds the arcs of one part only, and what was added, for the process that has the whole.
  bool find(base::TeamPart part);
  [[nodiscard]] std::string found() const;
  // After saturate().
  [[nodiscard]] bool acyclic() const { return acyclic_; }
  [[nodiscard]] const EventGraph& graph() const { return graph_; }

  // If not acyclic: one short cycle.
  [[nodiscard]] Proof proof() const;
  // Several, each of one cycle, with as few reads that are `open` (by read) in
  // them as the search finds.
  [[nodiscard]] std::vector<Proof> proofs(std::span<const std::uint8_t> open) const;

 private:
  static Problem as_events(const VisibilityProblem& problem);
  // Does the read see a writer, and one that is known?
  [[nodiscard]] bool sees(std::uint32_t r) const { return writers_[r] < kUnresolved; }
  [[nodiscard]] std::span<const Object> writes(Owner o) const { return problem_.writes(o); }

  // A read of the initial version to which a writer is visible: alone a cycle.
  struct Overwritten {
    Owner writer;
    std::uint32_t read;
  };
  // What one part of the reads adds, to `graph` if it is the first.
  struct Found {
    EventGraph* graph = nullptr;
    std::deque<KnownArc> arcs;  // grows without a copy of what is there
    std::vector<Overwritten> overwritten;
    void add(const KnownArc& arc) {
      if (graph != nullptr) {
        graph->add(arc);
      } else {
        arcs.push_back(arc);
      }
    }
  };
  template <typename Work>
  bool in_two_parts(const Work& work);
  using Chains = std::span<const std::vector<Owner>>;
  [[nodiscard]] std::size_t reads_of(const std::vector<Owner>& chain) const;
  [[nodiscard]] Chains chains_of(base::TeamPart part) const;
  [[nodiscard]] Chains half(Chains chains, bool later) const;
  bool find_in_parts();
  void add_found(std::span<const std::string> parts);
  void add_in_order_of_reads(std::span<const std::string> parts);
  void visible_before(Owner k, std::uint32_t r, Found& found) const;
  bool earlier_reads(Owner first_owner, Owner end_owner, Found& found) const;
  bool direct(std::span<const std::vector<Owner>> chains, Found& found) const;
  bool causal(base::TeamPart part);
  class WriterGroups;
  // How far a session has come in each group of writers; `touched`: where it is not zero.
  struct SessionPointers {
    std::vector<std::uint32_t> passed, touched;
  };
  void causally_visible(Owner o, const Clocks& clocks, const WriterGroups& groups,
                        SessionPointers& pointers, Found& found) const;
  void causally_visible(Owner o, const SparseClocks& clocks, const EventGraph& causality,
                        const WriterGroups& groups, SessionPointers& pointers, Found& found) const;
  void last_of_group(std::uint32_t r, std::uint32_t g, std::uint32_t seen,
                     const WriterGroups& groups, SessionPointers& pointers, Found& found) const;
  template <typename Look>
  bool along_sessions(std::array<SessionPointers, 2>& pointers, const Look& look);
  void meet(Owner k, std::span<const std::uint32_t> reads_by_object, Found& found) const;
  using Weights = std::span<const std::uint8_t>;
  class Causality;
  class Search;
  [[nodiscard]] Proof proof_of(const Overwritten& overwritten, Search& search) const;
  [[nodiscard]] Proof proof_of(std::span<const EventGraph::Step> cycle, Search& search) const;
  [[nodiscard]] std::vector<EventGraph::Step> why_visible(Owner k, std::uint32_t r,
                                                          Search& search) const;

  const VisibilityProblem& problem_;
  const Visible visible_;
  std::span<const Owner> writers_;
  base::Budget& budget_;
  const Problem events_;
  EventGraph graph_;
  bool acyclic_ = false;
  std::size_t read_arcs_ = 0;             // the first of graph_'s
  std::vector<Overwritten> overwritten_;  // one a read
};

}  // namespace cupel::order
