// Derivation: the evidence for rejection, in the words of the history.
//
// A derivation is a list of edges, each with its reason, that ends in a cycle.
// An edge is given by the history (session order, real time, a read from its
// writer, a list's order) or forced: were it the other way round, earlier edges
// would close a cycle. `because` names those earlier edges, so the list can be
// checked from the front. Where no single order is forced (the solver was
// needed), `cases` holds the cycles that together leave no order possible.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/history/history.hpp"
#include "engine/levels/level.hpp"

namespace cupel::levels {

using history::KeyId;
using history::OpId;
using history::TxnId;

// Which event of a transaction: at levels with one event it is kWhole.
enum class Point : std::uint8_t { kWhole, kBegin, kCommit };

enum class EdgeKind : std::uint8_t {
  kOwn,         // begin before commit of one transaction
  kSession,     // so
  kRealTime,    // rt: `from` completed before `to` was invoked
  kWriteRead,   // wr: `to` reads what `from` wrote
  kWriteWrite,  // ww: `from`'s version of `key` is before `to`'s
  kReadWrite,   // rw: `to` overwrites the version of `key` that `from` read
  kSaw,         // no edge but a fact: `from` = `to` read the initial version of `key` (to_op)
};

enum class Reason : std::uint8_t {
  kGiven,        // so, rt, wr: recorded in the history
  kOnlyWriter,   // wr: the only writer of that value the read can have seen
  kListOrder,    // ww, rw: fixed by a list read (from_op or `witness` is the read)
  kInitial,      // rw: `from` read the initial version, which every writer overwrites
  kVisible,      // ww: `from` is visible to `reader`, who read `to`'s version of key: so
                 //     `from`'s is older (because: the path from `from` to `reader`)
  kOverwritten,  // rw: `reader` = `from` read `writer`'s version; `to` wrote a later one
                 //     (because: the path from `writer` to `to`)
  kNoOverlap,    // ww at snapshot isolation: both wrote key and `from` began before `to`
                 //     committed, so `from` committed before `to` began (because: that path)
  kAssumed,      // ww or wr inside a case: one of the alternatives tried
};

// What an assumed writer stands for: itself, or also the possible writers that
// session order puts before (after) it.
enum class Bound : std::uint8_t { kExact, kEarlier, kLater };

// Why a read cannot have seen `writer` (none(): the initial version): the cycle
// that would be.
struct Exclusion {
  TxnId writer;
  std::vector<std::uint32_t> cycle;
};

struct Edge {
  TxnId from, to;
  Point from_point = Point::kWhole, to_point = Point::kWhole;
  EdgeKind kind = EdgeKind::kSession;
  Reason reason = Reason::kGiven;
  KeyId key;             // wr, ww, rw
  OpId from_op, to_op;   // wr: the write and the read; ww: the two writes; rw: the read and
                         // the overwriting write; none() where not meaningful
  TxnId reader, writer;  // kVisible: reader (writer = to); kOverwritten: writer (reader = from)
  OpId witness;          // kVisible: the reader's read of `to`'s version; kListOrder: a list
                         // read that fixes the order; kOverwritten: the read
  std::vector<std::uint32_t> because;  // indexes of earlier edges of the derivation, in path order
  // What follows matters to whoever checks the derivation (docs/reference/formats/certificate.md).
  // The read it speaks of may have seen several; then wr, rw and kVisible hold if it saw
  // the one they say, within `bound`, unless an earlier kOnlyWriter edge says so.
  bool several_writers = false;
  Bound bound = Bound::kExact;
  std::vector<Exclusion> excluded;  // kOnlyWriter; if the evidence was asked for
};

// One alternative and the cycle it closes. `edges` are indexes into
// Derivation::edges, in path order.
struct Case {
  std::vector<std::uint32_t> cycle;
};

// A read of a case that may have seen several writers; none(): the initial version.
struct OpenRead {
  OpId read;
  KeyId key;
  std::vector<TxnId> writers;
};

// A Boolean of a refutation: `before` precedes `after` in every key they both
// write; or, `read` valid, it saw `writer`'s version of `key`, within `bound`.
struct Choice {
  TxnId before = {}, after = {};
  OpId read = {};
  KeyId key = {};
  TxnId writer = {};
  Bound bound = Bound::kExact;

  friend bool operator==(const Choice&, const Choice&) = default;
};

// Why the cases leave nothing: each says that not all of what its cycle assumes is
// true. `lemmas` are clauses over `choices` (numbered from 1; negative: false), each
// following from what comes before by unit propagation; the last one is empty.
struct Refutation {
  std::vector<Choice> choices;
  std::vector<std::uint32_t> cases;  // of Derivation::cases, those that are needed
  std::vector<std::vector<std::int32_t>> lemmas;
};

struct Derivation {
  std::vector<Edge> edges;
  std::vector<std::uint32_t> cycle;  // indexes into edges: each ends where the next begins; empty
                                     // if the proof is by cases
  std::vector<Case> cases;           // every choice of order closes one of these cycles
  bool complete = true;              // false: a limit left reasons or cases out
  std::vector<OpenRead> open_reads;  // those that the cases are about
  // For cases, if the evidence was asked for and no limit was met.
  std::optional<Refutation> refutation;
};

// A violation that shows inside one transaction or one read (levels.md,
// "Checked first").
enum class InternalKind : std::uint8_t {
  kThinAirRead,
  kAbortedRead,       // G1a
  kIntermediateRead,  // G1b
  kFutureRead,
  kNotMyOwnWrite,
  kNotMyLastWrite,
  kIncompatibleOrder,  // two list reads of a key, neither a prefix of the other
  kDuplicateElement,   // a list read returns an element twice
  kNonRepeatableRead,
  kFailedCompareRead,  // a compare-and-set failed although nothing but its expected value was there
};

struct InternalAnomaly {
  InternalKind kind;
  TxnId txn;  // the transaction whose read it is
  OpId read;  // that read
  KeyId key;
  OpId other;       // the write or the earlier read it conflicts with; none() if there is none
  TxnId other_txn;  // whose operation that is; none() if there is none
};

std::string_view name(InternalKind kind);  // "thin-air-read", "aborted-read" …
// The weakest level that forbids it: read-committed, or read-atomic for kNonRepeatableRead.
Level forbidden_by(InternalKind kind);

// Which of several appends of an element stands at a place of a key's longest list.
struct Placing {
  KeyId key;
  std::uint32_t position;  // from 0
  OpId append;
};

struct PlacingBranch;

struct Violation {
  std::vector<InternalAnomaly> internal;  // those that the level forbids; if any, no derivation
  Derivation derivation;
  // If the evidence was asked for and the violation is found whatever is assumed:
  // `assumed`, an indeterminate transaction, took effect (branches[0]), or never did
  // (branches[1]); or elements appended twice stand in one way or another (placing_branches).
  // `internal` and `derivation` are then those of one of these.
  TxnId assumed = {};
  std::vector<Violation> branches = {};
  std::vector<PlacingBranch> placing_branches;
  // If they are those of one of several ways to place equal elements, also without evidence: an
  // append of such an element.
  OpId placed = {};
};

struct PlacingBranch {
  std::vector<Placing> places;
  Violation violation;
};

}  // namespace cupel::levels
