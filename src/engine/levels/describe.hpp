// describe: from accesses to the engine's problems, and proofs back to words.
#pragma once

#include <vector>

#include "engine/levels/accesses.hpp"
#include "engine/order/problem.hpp"
#include "engine/order/visibility.hpp"

namespace cupel::levels {

// A part of the accesses that is decided on its own.
struct Part {
  std::vector<Owner> owners;  // ascending
  std::vector<KeyId> keys;    // the keys that matter in it, unless
  bool all_keys = false;      // they all do
};

// The whole, as parts. `biconnected`: else, or where an
// indeterminate transaction counts, connected.
std::vector<Part> split_into_parts(const History& history, const Accesses& accesses,
                                   bool biconnected);
Part whole(const Accesses& accesses);
// One part a key, with the owners that touch it: for transactions of one key each.
std::vector<Part> split_by_key(const History& history, const Accesses& accesses);

// An order problem and the way back from its numbers.
struct Described {
  order::Problem problem;
  std::vector<Owner> owners;         // by the problem's owner
  std::vector<KeyId> keys;           // by the problem's object
  std::vector<std::uint32_t> reads;  // by the problem's read: index into Accesses::reads
};

// What an order level (spec.hpp) asks of the order problem.
struct LevelShape {
  bool split = false;                   // begin and commit are two events
  bool write_to_begin = false;          // a writer commits before the next writer of the key begins
  bool optional_session_order = false;  // session order does not count
  bool rt_commit_to_begin = false;      // real time: C_i < B_j
  bool rt_commit_to_commit = false;     // real time: C_i < C_j
};
LevelShape shape_of(Level level);

// A read that may be of an owner outside the part is left out: what the rest
// contradicts is contradicted. Left unfinished when the budget ends: exceeded() says so.
Described describe_order(const History& history, const Accesses& accesses, const Part& part,
                         const LevelShape& shape, history::Time clock_drift_ns,
                         base::Budget& budget);

struct DescribedVisibility {
  order::VisibilityProblem problem;
  std::vector<Owner> owners;
  std::vector<KeyId> keys;
  std::vector<std::uint32_t> reads;
};
// `every_read`: read-committed, where each read counts; else one per key.
DescribedVisibility describe_visibility(const History& history, const Accesses& accesses,
                                        bool every_read);

// What the numbers of a problem stand for.
struct ProblemWords {
  bool split = false;       // begin and commit are two events
  bool every_read = false;  // as above
  std::span<const Owner> owners;
  std::span<const KeyId> keys;
  std::span<const std::uint32_t> reads;
};
// The engine's proof in the words of the history.
Derivation translate(const Accesses& accesses, const order::Proof& proof,
                     const ProblemWords& words);

}  // namespace cupel::levels
