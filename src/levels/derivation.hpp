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
#include <string>
#include <vector>

#include "history/history.hpp"
#include "levels/level.hpp"

namespace cupel::levels {

using history::KeyId;
using history::OpId;
using history::TxnId;

// Which event of a transaction: at levels with one event it is kWhole.
enum class Point : std::uint8_t { kWhole, kBegin, kCommit };

enum class EdgeKind : std::uint8_t {
  kOwn,          // begin before commit of one transaction
  kSession,      // so
  kRealTime,     // rt: `from` completed before `to` was invoked
  kWriteRead,    // wr: `to` reads what `from` wrote
  kWriteWrite,   // ww: `from`'s version of `key` is before `to`'s
  kReadWrite,    // rw: `to` overwrites the version of `key` that `from` read
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

struct Edge {
  TxnId from, to;
  Point from_point = Point::kWhole, to_point = Point::kWhole;
  EdgeKind kind = EdgeKind::kSession;
  Reason reason = Reason::kGiven;
  KeyId key;                       // wr, ww, rw
  OpId from_op, to_op;             // wr: the write and the read; ww: the two writes; rw: the read and
                                   // the overwriting write; none() where not meaningful
  TxnId reader, writer;            // kVisible: reader (writer = to); kOverwritten: writer (reader = from)
  OpId witness;                    // kVisible: the reader's read of `to`'s version; kListOrder: a list
                                   // read that fixes the order; kOverwritten: the read
  std::vector<std::uint32_t> because;  // indexes of earlier edges of the derivation, in path order
};

// One alternative and the cycle it closes. `edges` are indexes into
// Derivation::edges, in path order.
struct Case {
  std::vector<std::uint32_t> cycle;
};

struct Derivation {
  std::vector<Edge> edges;
  std::vector<std::uint32_t> cycle;  // indexes into edges: each ends where the next begins; empty
                                     // if the proof is by cases
  std::vector<Case> cases;           // every choice of order closes one of these cycles
};

// A violation that shows inside one transaction or one read (levels.md,
// "Checked first").
enum class InternalKind : std::uint8_t {
  kThinAirRead,
  kAbortedRead,        // G1a
  kIntermediateRead,   // G1b
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
  TxnId txn;       // the transaction whose read it is
  OpId read;       // that read
  KeyId key;
  OpId other;      // the write or the earlier read it conflicts with; none() if there is none
  TxnId other_txn; // whose operation that is; none() if there is none
};

std::string_view name(InternalKind kind);  // "thin-air-read", "aborted-read" …
// The weakest level that forbids it: read-committed, or read-atomic for kNonRepeatableRead.
Level forbidden_by(InternalKind kind);

struct Violation {
  std::vector<InternalAnomaly> internal;  // those that the level forbids; if any, no derivation
  Derivation derivation;
};

}  // namespace cupel::levels
