// Visibility: the weak levels' order, co, by one pass of saturation.
//
// co holds session order, wr, fixed list orders, and for every read r of an
// object from w and every other writer k that is visible to r, k before w.
// Three notions of visible (Biswas & Enea, OOPSLA 2019; levels.md):
//   kEarlierRead  an earlier read of r's owner is from k
//   kDirect       k is a session or wr predecessor of r's owner
//   kCausal       a path of session and wr steps leads from k to r's owner
// co need only be acyclic, and what is visible does not depend on co, so no
// rounds are needed. Complexity as AWDIT's (Møldrup & Pavlogiannis, PLDI 2025):
// O(n^1.5) for the first two, since for each wr pair the smaller of "what k
// writes" and "what r's owner reads" is walked; O(n * sessions) for the third, by
// clocks and one advancing pointer per object and session. Deviation: where there are thousands of
// sessions, a chain may be any path of session and wr steps, and the clocks are sparse
// (engine/order/sparse_clocks.hpp), so that a million sessions of one transaction need not take a
// million columns.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/team.hpp"
#include "engine/order/problem.hpp"

namespace cupel::order {

// Other processes with the same problem, each of which finds the arcs of one part of it.
class ArcFinders {
 public:
  virtual ~ArcFinders() = default;
  [[nodiscard]] virtual std::uint32_t parts() const = 0;  // with that of the caller
  // What the others found, by part, from 1; asked for when the own part is done. Empty: that one
  // could not.
  virtual std::vector<std::string> found() = 0;
};

enum class Visible : std::uint8_t { kEarlierRead, kDirect, kCausal };

// Reads here are in program order and may repeat an object; `step` says which
// are of one operation (equal steps see the same moment).
struct VisibilityRead {
  Owner owner;
  Object object;
  std::uint32_t step;
};

struct VisibilityProblem {
  bool whole_proofs = false;  // as in Problem
  unsigned threads = 1;       // of one pass; 0: as many as the machine has; never changes an answer
  ArcFinders* others = nullptr;  // borrowed; for decide_visibility(); never changes an answer
  // kCausal: with more chains than this, sessions are joined into longer chains, and clocks are
  // sparse as far as `most_sparse_entries` suffice. Neither changes an answer.
  std::uint32_t most_columns = 2048;
  std::size_t most_sparse_entries = 64'000'000;
  Owner owner_count = 0;
  Object object_count = 0;
  std::vector<std::vector<Owner>> chains;  // sessions; each owner in exactly one
  std::vector<FixedArc> fixed;  // session arcs into lone owners, list orders (nodes = owners)
  std::vector<std::uint32_t> write_first = {0};
  std::vector<Object> write_object;  // ascending within an owner
  std::vector<std::uint32_t> read_first = {0};
  std::vector<VisibilityRead> reads;  // by owner

  [[nodiscard]] std::span<const Object> writes(Owner o) const {
    return std::span(write_object).subspan(write_first[o], write_first[o + 1] - write_first[o]);
  }
};

// `writers[r]`: whose version read r sees. kNo: result.proof has one cycle
// (kChain, kSession, kRead, kListOrder, kVisible, kInitialRead arcs). kYes:
// result.order is a linear extension of co.
OrderResult decide_visibility(const VisibilityProblem& problem, Visible visible,
                              std::span<const Owner> writers, base::Budget& budget);

// What another process gets from its ArcFinders. Nothing: the budget ended, or the arcs of this
// problem are found by one process.
std::optional<std::string> arcs_of_part(const VisibilityProblem& problem, Visible visible,
                                        std::span<const Owner> writers, base::TeamPart part,
                                        base::Budget& budget);

// The same where a read may have several possible writers (`candidates`, by read;
// none of them empty): is there a choice that passes? `hint` by owner: smaller
// should come earlier in co; a guide only, and may be empty. kNo: a proof by cases, or by one cycle
// that rests on no choice. kGaveUp: the budget ended, or `max_rounds` proposals did
// not settle it. kYes: result.writers is the choice.
OrderResult decide_visibility_by_cases(const VisibilityProblem& problem, Visible visible,
                                       std::span<const std::span<const Owner>> candidates,
                                       std::span<const std::uint64_t> hint,
                                       std::uint64_t max_rounds, base::Budget& budget);

}  // namespace cupel::order
