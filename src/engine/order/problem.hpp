// The order problem: is there a total order of events?
//
// Owners (transactions) have one event each, or two: begin and commit. Owners
// write objects, making versions, and read versions. A total order of the
// events is a solution if it extends the fixed arcs and the chains and, for each
// object, the versions can be ordered by it so that
//   ww  a before b:  C_a < C_b, or C_a < B_b if `write_to_begin`;
//   wr              C_w < B_r for each read r of w's version;
//   rw              B_r < C_k for each read r of w's version and k after w
// (with one event, B = C). Every order level of docs/reference/levels.md is this problem
// with other arcs; nothing here knows their names.
//
// Nodes: owner o has begin 2o and commit 2o+1 if `split`, else the one node o;
// helper h (for real time: a point between completions and invocations) is the
// node after all events. The initial owner, which wrote every object first, has
// no node: kInitial.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/budget.hpp"
#include "base/graph/digraph.hpp"

namespace cupel::order {

using graph::Node;
using Owner = std::uint32_t;
using Object = std::uint32_t;
inline constexpr Owner kInitial = std::numeric_limits<Owner>::max();
inline constexpr Owner kUnresolved = kInitial - 1;

struct Read {
  Owner owner;
  Object object;
  std::uint32_t first_candidate, last_candidate;  // the owners it may have read from
};

enum class FixedKind : std::uint8_t { kSession, kRealTime, kListOrder };
struct FixedArc {
  Node from, to;
  FixedKind kind;
  Object object;          // kListOrder
  std::uint32_t witness;  // kListOrder: a number of the caller's
};

struct Problem {
  bool split = false;
  bool write_to_begin = false;
  // For levels without session order: the chains are only a guide, and may be given up
  // (relaxation.hpp).
  bool optional_session_order = false;
  // Proofs go to an independent checker: every case, and why each read with
  // several candidates saw what it saw. Else what nobody reads is left out.
  bool whole_proofs = false;
  // A "no" comes without evidence, which is quicker.
  bool without_proof = false;
  // The schedule before saturation may take back what ran too soon. Tests of the stages after it
  // do without.
  bool repair = true;
  // Of so many owners, those where the schedule failed are decided first: so many around the first
  // that did not run, and whom they read from (nearby.hpp).
  std::uint32_t nearby_from = 20'000, nearby_owners = 1'000;
  // Stage 3 gives up after so many proposals of its solver.
  std::uint64_t max_proposals = std::numeric_limits<std::uint64_t>::max();

  Owner owner_count = 0;
  Object object_count = 0;
  std::uint32_t helper_count = 0;          // helper i is before helper i+1
  std::vector<std::vector<Owner>> chains;  // every owner in exactly one
  std::vector<std::uint32_t> write_first = {
      0};                            // owner o writes write_object[write_first[o] .. [o+1])
  std::vector<Object> write_object;  // ascending within an owner
  std::vector<Read> reads;           // grouped by owner; one per (owner, object)
  std::vector<Owner> candidates;
  std::vector<FixedArc> fixed;
  // Per owner, of its begin and of its commit: smaller should come earlier (commit_hint
  // may be empty: as hint). A guide only.
  std::vector<std::uint64_t> hint, commit_hint;

  [[nodiscard]] Node begin(Owner o) const { return split ? 2 * o : o; }
  [[nodiscard]] Node commit(Owner o) const { return split ? 2 * o + 1 : o; }
  // Where a ww arc into o's versions ends.
  [[nodiscard]] Node write_target(Owner o) const {
    return split && write_to_begin ? 2 * o : commit(o);
  }
  [[nodiscard]] Node helper(std::uint32_t i) const { return event_count() + i; }
  [[nodiscard]] Node event_count() const { return split ? 2 * owner_count : owner_count; }
  [[nodiscard]] Node node_count() const { return event_count() + helper_count; }
  [[nodiscard]] bool is_helper(Node v) const { return v >= event_count(); }
  [[nodiscard]] Owner owner_of(Node v) const { return split ? v / 2 : v; }
};

// Why an arc is there. Forced arcs: were it the other way round, a path that
// was there before would close a cycle.
enum class ArcKind : std::uint8_t {
  kOwn,          // begin before commit
  kChain,        // next in its chain
  kSession,      // fixed
  kRealTime,     // fixed, perhaps through helpers
  kListOrder,    // fixed; object, other = witness
  kRead,         // wr; read
  kOnlyWriter,   // wr; read: every other candidate was ruled out
  kInitialRead,  // rw; read of the initial version; other = the writer
  kVisible,  // ww other → writer of `read`'s version, because other's commit reaches the reader
  kOverwritten,  // rw reader → other, because the version read is before other's
  kNoOverlap,    // ww; object: the writers' events overlap only one way
  kSawInitial,   // no arc but a fact: read saw the initial version; the others are excluded
  // In a proof by cases only:
  kAssumedBefore,       // ww; object: `from`'s version is before `to`'s
  kAssumedWriter,       // wr; read: it saw `from`'s version
  kAssumedOverwritten,  // rw; read; other = the writer that follows what it saw
};

// What an assumed writer stands for: itself, or also the candidates before
// (after) it in its chain.
enum class Bound : std::uint8_t { kExact, kEarlier, kLater };

// Why a read cannot have seen this candidate: the cycle that would be.
struct Exclusion {
  Owner candidate;
  std::vector<std::uint32_t> cycle;
};

struct ProofArc {
  Node from, to;
  ArcKind kind;
  std::uint32_t read_or_object;  // by kind, see above
  Owner other;
  std::vector<std::uint32_t> because;  // earlier arcs of the proof, in path order
  Owner seen = kUnresolved;     // kOverwritten, kAssumedOverwritten: whose version the read saw
  Bound bound = Bound::kExact;  // of what the read is assumed to have seen
  std::vector<Exclusion> excluded = {};  // kOnlyWriter, kSawInitial; if whole_proofs
};

// Evidence for rejection. Each arc's reasons come before it. Either one cycle,
// or cycles that cover every choice.
struct Proof {
  std::vector<ProofArc> arcs;
  std::vector<std::vector<std::uint32_t>> cycles;
  bool by_cases = false;
  bool complete = true;  // false: a limit left reasons or cases out
};

enum class Solvability : std::uint8_t { kYes, kNo, kGaveUp };
enum class Stage : std::uint8_t { kSaturation, kSchedule, kRefine };

struct OrderResult {
  Solvability solvability = Solvability::kGaveUp;
  Stage stage = Stage::kSaturation;
  std::vector<Node> order;     // kYes: the witness, all events and helpers
  std::vector<Owner> writers;  // kYes: for each read, whose version it read
  Proof proof;                 // kNo
};

// Cost: saturation is linear in reads and writes times chains a round; a clock
// takes 4 bytes a node and chain, in blocks of chains that fit the budget.
OrderResult decide(const Problem& problem, base::Budget& budget);

// Does this order, with these writers of the reads, solve the problem? Replays
// it; linear. decide() asks it of every witness before answering kYes.
bool is_solution(const Problem& problem, std::span<const Node> order,
                 std::span<const Owner> writers);

}  // namespace cupel::order
