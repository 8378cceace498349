// Polygraph: a few transactions, the dependencies that are given between them, and
// the choices that are open; and whether some choice passes.
//
// PolySI's generalized polygraph (Huang et al., PVLDB 16(6), 2023, section 3), with
// docs/reference/levels.md's table for the levels. It is small and searched by closing cycles
// and trying what is left, and knows nothing of the engine: what it finds is found a
// second time. Each thing that it rests on is a unit that can be switched off, which
// is how a violation is made minimal (PolySI, appendix E).
//
//   given     session order, real time (as far as the derivation speaks of it), the
//             writer of a read, list order, the overwriting of an initial value
//   a choice  which of two writers of a key comes first, with what that says of those
//             who read the earlier; which of several writers a read has seen
#pragma once

#include <bitset>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "base/budget.hpp"
#include "data/history/history.hpp"
#include "engine/levels/accesses.hpp"
#include "engine/levels/derivation.hpp"
#include "engine/levels/level.hpp"

namespace cupel::explain {

using history::History;
using history::KeyId;
using history::OpId;
using history::TxnId;

class Polygraph {
 public:
  // As many transactions as it takes.
  static constexpr std::size_t kMostTransactions = 48;

  // Of these transactions (and whoever they may have read from: they must be in it).
  Polygraph(const History& history, const levels::Accesses& accesses, levels::Level level,
            std::vector<TxnId> txns, const levels::Derivation& derivation);

  // Something that follows. `evidence`: indexes into Proof::found; `path`: those of them
  // that Edge::because speaks of, in its order.
  struct Found {
    levels::Edge edge;  // without `because`
    bool certain;
    std::vector<std::uint32_t> evidence;
    std::vector<std::uint32_t> path = {};
    bool assumed = false;  // of the initial version, that the read saw it
  };
  // No choice passes: each ends in one of the cycles.
  struct Proof {
    std::vector<Found> found;
    std::vector<std::vector<std::uint32_t>> cycles;
  };

  // A proof of which nothing can be left out; nothing if some choice passes, or the
  // search grew too long or out of budget. *minimal: it was possible to make sure.
  std::optional<Proof> minimal_proof(base::Budget& budget, bool* minimal) const;

 private:
  using Number = std::uint32_t;  // of a transaction in here
  using Unit = std::uint32_t;
  static constexpr Number kInitialVersion = 0xffffffff;
  using Mask = std::vector<std::uint8_t>;  // by unit: is it there?
  using Node = std::uint32_t;
  using Nodes = std::bitset<2 * kMostTransactions>;

  struct Read {
    Number reader;
    KeyId key;
    OpId op;
    std::vector<Number> writers;  // those it may have seen; or kInitialVersion
  };
  // Kind, two transactions and what they are about.
  using Name = std::tuple<std::uint32_t, Number, Number, std::uint32_t, std::uint32_t>;
  struct FixedEdge {
    Name name;
    levels::Edge edge;
  };
  struct Pair {
    Number earlier, later;  // in the order of the transactions; which comes first is open
    KeyId key;
  };
  struct Arc {
    Node from, to;
    std::uint32_t found;  // or kOwn
  };
  static constexpr std::uint32_t kOwn = 0xffffffff;
  static constexpr std::int32_t kOpen = -1;
  static constexpr std::int32_t kLeftOut = -2;
  using Cycles = std::vector<std::vector<std::uint32_t>>;

  // What is known at a point of the search.
  struct State {
    std::vector<Arc> arcs;
    std::vector<std::uint8_t> order;             // by pair: 0 open, 1 as it stands, 2 reversed
    std::vector<std::int32_t> seen;              // by read: which of its writers, kOpen or kLeftOut
    std::vector<std::vector<std::uint8_t>> out;  // by read, by alternative: refuted
    std::vector<std::vector<std::uint32_t>> out_because;  // by read: found
    std::map<Name, std::uint32_t> known;                  // what was found
  };
  struct Search {
    const Mask& mask;
    std::vector<Found> found;
    int leaves = 0;
    bool too_long = false;
  };

  [[nodiscard]] Node begin(Number t) const { return split_ ? 2 * t : t; }
  [[nodiscard]] Node commit(Number t) const { return split_ ? 2 * t + 1 : t; }
  [[nodiscard]] Node write_target(Number t) const { return to_begin_ ? begin(t) : commit(t); }
  [[nodiscard]] OpId write_of(Number t, KeyId key) const;
  [[nodiscard]] Number number_of(TxnId txn) const;

  Unit unit(const Name& name);
  [[nodiscard]] bool on(const Mask& mask, const Name& name) const;
  [[nodiscard]] Name name_of(const levels::Edge& edge) const;  // of its unit
  void add_session_order();
  void add_list_order(const levels::Accesses& accesses);
  void add_real_time(const levels::Derivation& derivation);
  void add_reads(const levels::Accesses& accesses);
  void add_choices();
  [[nodiscard]] Mask spoken_of(const levels::Derivation& derivation) const;
  // What a proof speaks of, and what that leaves implied: whatever the sides of choices
  // that it refutes would have said.
  [[nodiscard]] Mask listed(const Proof& proof) const;

  [[nodiscard]] std::optional<Proof> prove(const Mask& mask) const;
  [[nodiscard]] State start(Search& search) const;
  std::optional<Cycles> close(Search& search, State state) const;
  std::optional<Cycles> branch(Search& search, const State& state) const;
  // What an edge rests on, by index into Search::found: a path, then `others` more.
  struct Evidence {
    Evidence() = default;
    Evidence(std::vector<std::uint32_t> entries, std::size_t last = 0)
        : found(std::move(entries)), others(last) {}
    std::vector<std::uint32_t> found;
    std::size_t others = 0;
  };
  // One of two orders of a pair, and the read that refutes the other order, or nullptr.
  struct PairOrder {
    std::size_t pair;
    bool reversed;
    levels::Reason reason;
    const Read* read;
  };
  std::uint32_t add(Search& search, State& state, const Name& name, const levels::Edge& edge,
                    bool certain, Evidence evidence) const;
  void see(Search& search, State& state, std::size_t read, std::size_t alternative,
           levels::Reason reason, const std::vector<std::uint32_t>& evidence) const;
  std::uint32_t overwrite_initial(Search& search, State& state, const Read& read, Number writer,
                                  levels::Reason seen_for,
                                  const std::vector<std::uint32_t>& evidence) const;
  void order(Search& search, State& state, const PairOrder& chosen, Evidence evidence) const;
  bool add_overwrites(Search& search, State& state) const;
  bool refute_one(Search& search, State& state) const;
  // The weak levels: what is visible and older. A cycle, if an initial version is read
  // in spite of a visible write.
  std::optional<std::vector<std::uint32_t>> add_visible(Search& search, State& state) const;
  [[nodiscard]] std::optional<std::uint32_t> known(const State& state, const Name& name) const;
  [[nodiscard]] std::optional<std::uint32_t> known_order(const State& state, Number earlier,
                                                         Number later, KeyId key) const;
  [[nodiscard]] std::vector<Nodes> reach(const State& state) const;
  struct Way {
    std::vector<std::uint32_t> found;
    std::uint32_t cost;
  };
  // The cheapest; at least one arc long. Over session order and reads alone if so asked.
  [[nodiscard]] std::optional<Way> way(const Search& search, const State& state, Node from, Node to,
                                       bool visibility_only) const;
  [[nodiscard]] std::optional<std::vector<std::uint32_t>> cheapest_cycle(const Search& search,
                                                                         const State& state) const;
  [[nodiscard]] std::optional<std::vector<std::uint32_t>> visible(const Search& search,
                                                                  const State& state, Number writer,
                                                                  const Read& read) const;
  [[nodiscard]] static std::vector<std::uint8_t> needed(const std::vector<Found>& found,
                                                        const Cycles& cycles);

  const History& history_;
  const levels::Visibility visibility_;
  const bool weak_, split_, to_begin_;
  std::vector<TxnId> txns_;
  std::map<TxnId, Number> numbers_;
  std::map<std::pair<Number, KeyId>, OpId> writes_;
  std::map<KeyId, std::vector<Number>> writers_;
  std::vector<FixedEdge> fixed_edges_;  // session order, real time, list order
  std::vector<Read> reads_;
  std::vector<Pair> pairs_;
  std::map<Name, Unit> units_;
  const levels::Derivation& derivation_;
};

}  // namespace cupel::explain
