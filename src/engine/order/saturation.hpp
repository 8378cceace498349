// Saturation: the arcs that every solution has, by vector clocks.
//
// Stage 1 of the engine (docs/internals/algorithms/saturation.md). For a version of object x
// written by w, its last readers r in each chain, and each chain s of writers of x:
//   visible      the last writer k of x in s that reaches r:        k before w
//   overwritten  the first writer k of x in s that must follow w:   r before k
//   no overlap   (C_a -> B_b problems) B_a reaches C_b:             C_a before B_b
// One arc per reader and chain is enough, the others follow through the chain; and of
// writers that are known to be in one order, the nearest (layers.hpp, force_few()).
// The idea is Biswas & Enea's saturation and Cobra's and PolySI's pruning with
// the n x n reachability matrix replaced by clocks. Rounds repeat until nothing
// is new; objects none of whose clocks changed are skipped.
// Reads with several possible writers lose those that the order excludes.
// Of owners without a column of the clocks (EventGraph::column_count) less is
// forced; the later stages need nothing that is missing.
// A round costs nodes x chains + (reads + writes) x chains x log.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/hash_table.hpp"
#include "engine/order/clocks.hpp"
#include "engine/order/event_graph.hpp"
#include "engine/order/topological_layers.hpp"
#include "engine/order/versions.hpp"

namespace cupel::order {

enum class SaturationResult : std::uint8_t {
  kFixpoint,  // nothing new: graph and versions hold what is forced
  kCycle,     // graph.cycle() holds it
  kNoWriter,  // a read lost all its candidates: `orphan`
  kGaveUp,
};

// Candidates of the reads that are still open. Reads share a list until one of them is
// narrowed down.
class OpenReads {
 public:
  explicit OpenReads(const Problem& problem);
  [[nodiscard]] std::span<const std::uint32_t> reads() const { return open_; }
  // Ascending. All that the order allows are here; others may be too (Saturation::narrow).
  [[nodiscard]] std::span<const Owner> candidates(std::uint32_t read) const {
    const Candidates& list = lists_of_reads_[index_[read]];
    return list.narrowed ? list.own : shared_[list.list];
  }
  [[nodiscard]] bool is_candidate(std::uint32_t read, Owner writer) const {
    const auto all = candidates(read);
    return std::binary_search(all.begin(), all.end(), writer);
  }
  [[nodiscard]] bool empty() const { return open_.empty(); }

 private:
  friend class Saturation;
  struct Candidates {
    std::uint32_t list;
    bool narrowed = false;
    std::vector<Owner> own = {};
  };
  std::vector<std::uint32_t> open_;         // read indexes, ascending
  std::vector<std::vector<Owner>> shared_;  // each list of the problem once
  std::vector<Candidates> lists_of_reads_;
  std::vector<std::uint32_t> index_;  // by read; only for reads that were ever open
};

class Saturation {
 public:
  Saturation(const Problem& problem, EventGraph& graph, Versions& versions, OpenReads& open,
             base::Budget& budget)
      : problem_(problem), graph_(graph), versions_(versions), open_(open), budget_(budget) {}

  // The wr arcs of reads whose writer is known; run() begins with it.
  void add_reads();
  // Who reads a version and writes the next one: the version's other readers come before. So much
  // is forced whatever the clocks say; of histories that only read and modify it is all there is.
  // False: there is nothing of the kind.
  bool add_modifiers();
  // `reused`: arcs that another run forced, of the same problem with other chains; those
  // that are forced here too are found sooner. None of the others is taken.
  SaturationResult run(std::vector<KnownArc> reused = {});
  // After kFixpoint: takes from an open read all candidates that the clocks exclude.
  void narrow(std::uint32_t read);
  [[nodiscard]] std::uint32_t orphan() const { return orphan_; }
  [[nodiscard]] std::uint32_t rounds() const { return rounds_; }
  // After kFixpoint with one block: the clocks of all chains (else empty).
  [[nodiscard]] const Clocks& clocks() const { return clocks_; }

 private:
  void add_initial_readers();
  bool force(bool single_block);
  void force_few();
  void force_many(Object x, bool single_block);
  void note_readers();
  void force_by_layers(Object x, bool everything);
  void force_between(std::span<const Slot> from, Slot to, bool everything);
  void force_between(Slot from, Slot to);
  std::span<const Versions::Group> part_of_groups(std::span<const Slot> layer);
  void force_after(Object x, std::span<const Versions::Group> groups, bool everything);
  void force_before(std::span<const Versions::Group> groups, bool everything);
  bool rule_out(bool single_block);
  void look(std::uint32_t read);
  [[nodiscard]] bool excluded(std::uint32_t read, Owner candidate, bool single_block) const;
  [[nodiscard]] bool has_choice(std::uint32_t read) const;
  void narrow(std::uint32_t read, bool single_block);
  void propose(const KnownArc& arc);
  [[nodiscard]] bool known(const KnownArc& arc) const;
  [[nodiscard]] bool is_forced(const KnownArc& arc) const;

  const Problem& problem_;
  EventGraph& graph_;
  Versions& versions_;
  OpenReads& open_;
  base::Budget& budget_;
  Clocks clocks_;
  std::vector<KnownArc> proposed_;
  base::HashSet<std::uint64_t> from_columnless_;
  std::vector<std::uint8_t> new_reader_;  // by object: a read of it was resolved since force()
  // With one block of columns: objects of few writers, and which of them are before each
  // (by slot, a bit a slot of the object); the chain of each writer; what each read saw.
  std::vector<std::uint8_t> few_;
  std::vector<std::uint32_t> few_before_;
  std::vector<ChainId> slot_chain_;
  std::vector<Slot> seen_slot_;
  std::optional<TopologicalLayers> layers_;  // the others'
  std::vector<Versions::Group> groups_;      // of a layer
  std::vector<Slot> sorted_;
  std::vector<Slot> frontier_;  // by group of what force_after() looks at
  std::vector<std::uint8_t> wr_added_;
  // Of the open read looked at, by group of its object: the last writer that it sees.
  struct Seen {
    Versions::Group group;
    Slot last;  // kInitialSlot: none of them
  };
  std::vector<Seen> seen_;
  std::uint32_t orphan_ = 0;
  std::uint32_t rounds_ = 0;
};

}  // namespace cupel::order
