// Causal past: what is in the past of a transaction by causality, session order and reads
// from known writers, (so ∪ wr)+.
//
// A vector clock a counting transaction: how far into each session its past
// reaches. Cost: reads times sessions; 4 bytes a transaction and session. Where
// causality has cycles, all transactions of a cycle have one past.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/budget.hpp"
#include "engine/explain/counts/versions.hpp"

namespace cupel::counts {

class CausalPast {
 public:
  // Keeps references.
  CausalPast(const History& history, const Accesses& accesses, const Versions& versions);
  // False if the budget ended.
  bool compute(base::Budget& budget);

  // The clocks took too much memory, and nothing may be asked of them.
  [[nodiscard]] bool too_large() const { return rows_.empty() && !session_.empty(); }
  // Some transaction has no place in its session, being indeterminate: it is in
  // nobody's past here, though what went before it is.
  [[nodiscard]] bool some_outside() const { return some_outside_; }

  // The number of the owner's session, and its place there among the counting
  // committed ones, from 1; place 0 for an indeterminate one.
  [[nodiscard]] std::uint32_t session(Owner o) const { return session_[o]; }
  [[nodiscard]] std::uint32_t position(Owner o) const { return position_[o]; }
  [[nodiscard]] std::uint32_t session_count() const { return sessions_; }
  // The last place of the session in o's past, o included; 0: none.
  [[nodiscard]] std::uint32_t reach(Owner o, std::uint32_t session) const {
    return rows_[static_cast<std::size_t>(o) * sessions_ + session];
  }
  [[nodiscard]] std::span<const std::uint32_t> row(Owner o) const {  // by session
    return std::span(rows_).subspan(static_cast<std::size_t>(o) * sessions_, sessions_);
  }
  // Is `a` in the past of `b`, or the same?
  [[nodiscard]] bool before(Owner a, Owner b) const {
    return position_[a] != 0 && reach(b, session_[a]) >= position_[a];
  }

  // Cycles of causality: sets of owners each in the past of each other, all that
  // belong together. `by_reads`: reads alone close one of them.
  struct Cycle {
    std::vector<Owner> owners;
    bool by_reads;
  };
  [[nodiscard]] const std::vector<Cycle>& cycles() const { return cycles_; }

 private:
  const History& history_;
  const Accesses& accesses_;
  const Versions& versions_;
  std::uint32_t sessions_ = 0;
  bool some_outside_ = false;
  std::vector<std::uint32_t> session_, position_;  // by owner
  std::vector<Owner> previous_;                    // by owner, in its session; kInitialOwner: none
  std::vector<std::uint32_t> rows_;
  std::vector<Cycle> cycles_;
};

}  // namespace cupel::counts
