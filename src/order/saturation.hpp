// Saturation: the arcs that every solution has, by vector clocks.
//
// Stage 1 of the engine (engine.md). For a version of object x written by w,
// its last readers r in each chain, and each chain s of writers of x:
//   visible      the last writer k of x in s that reaches r:        k before w
//   overwritten  the first writer k of x in s that must follow w:   r before k
//   no overlap   (C_a -> B_b problems) B_a reaches C_b:             C_a before B_b
// One arc per reader and chain is enough, the others follow through the chain.
// The idea is Biswas & Enea's saturation and Cobra's and PolySI's pruning with
// the n x n reachability matrix replaced by clocks. Rounds repeat until nothing
// is new; objects none of whose clocks changed are skipped.
// Reads with several possible writers lose those that the order excludes.
// Of owners without a column of the clocks (EventGraph::column_count) less is
// forced; the later stages need nothing that is missing.
// A round costs nodes x chains + (reads + writes) x chains x log.
#pragma once

#include <absl/container/flat_hash_set.h>

#include "order/clocks.hpp"
#include "order/event_graph.hpp"
#include "order/versions.hpp"

namespace cupel::order {

enum class Saturated : std::uint8_t {
  kFixpoint,  // nothing new: graph and versions hold what is forced
  kCycle,     // graph.cycle() holds it
  kNoWriter,  // a read lost all its candidates: `orphan`
  kGaveUp,
};

// Candidates of the reads that are still open.
class OpenReads {
 public:
  explicit OpenReads(const Problem& problem);
  [[nodiscard]] std::span<const std::uint32_t> reads() const { return open_; }
  [[nodiscard]] std::span<const Owner> candidates(std::uint32_t read) const {
    return candidates_[place_[read]];
  }
  [[nodiscard]] bool empty() const { return open_.empty(); }

 private:
  friend class Saturation;
  std::vector<std::uint32_t> open_;                // read indexes, ascending
  std::vector<std::vector<Owner>> candidates_;     // by place
  std::vector<std::uint32_t> place_;               // by read; only for reads that were ever open
};

class Saturation {
 public:
  Saturation(const Problem& problem, EventGraph& graph, Versions& versions, OpenReads& open,
             base::Budget& budget)
      : problem_(problem), graph_(graph), versions_(versions), open_(open), budget_(budget) {}

  // The wr arcs of reads whose writer is known; run() begins with it.
  void add_reads();
  Saturated run();
  [[nodiscard]] std::uint32_t orphan() const { return orphan_; }
  [[nodiscard]] std::uint32_t rounds() const { return rounds_; }
  // After kFixpoint with one block: the clocks of all chains (else empty).
  [[nodiscard]] const Clocks& clocks() const { return clocks_; }

 private:
  void add_initial_readers();
  void force(Object x, bool single_block);
  void force_after(Object x, bool everything);
  void force_before(Object x, bool everything);
  bool rule_out(bool single_block);
  void propose(const KnownArc& arc);
  [[nodiscard]] bool known(const KnownArc& arc) const;

  const Problem& problem_;
  EventGraph& graph_;
  Versions& versions_;
  OpenReads& open_;
  base::Budget& budget_;
  Clocks clocks_;
  std::vector<KnownArc> proposed_;
  absl::flat_hash_set<std::uint64_t> from_columnless_;
  std::vector<std::uint8_t> new_reader_;  // by object: a read of it was resolved since force()
  std::vector<Slot> frontier_;                // by group of the object that force_after() looks at
  std::vector<std::uint8_t> wr_added_;
  std::uint32_t orphan_ = 0;
  std::uint32_t rounds_ = 0;
};

}  // namespace cupel::order
