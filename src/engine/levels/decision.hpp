// Decision: what a level's question is asked about, and what comes back.
//
// The files that decide (order_levels, weak_levels, zones, outcome_branches) take the same
// accesses under the same assumptions and give the same kind of answer; decide
// puts them together.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/budget.hpp"
#include "base/team.hpp"
#include "base/verdict.hpp"
#include "engine/levels/accesses.hpp"
#include "engine/levels/derivation.hpp"
#include "engine/levels/witness.hpp"
#include "engine/order/problem.hpp"

namespace cupel::levels {

using base::Verdict;

struct Decision {
  Verdict status = Verdict::kUnknown;
  std::string decided_by;  // "internal", "saturation", "schedule", "refine", "chain", "zones"
  std::string detail;      // kUnknown: what was reached; kRefused: why
  std::optional<Violation> violation;           // kViolated
  std::shared_ptr<const Witness> witness = {};  // kSatisfied, if the evidence was asked for
};

// kUnknown, saying which limit was met and in what.
Decision gave_up(const base::Budget& budget, std::string_view reached);

// For decided_by.
std::string_view stage_name(order::Stage stage);

inline constexpr std::uint64_t kAllProposals = std::numeric_limits<std::uint64_t>::max();

// The accesses to be decided, and what they were collected under.
struct DecisionInput {
  const History& history;
  history::Time drift;  // clock drift, ns
  const Accesses& accesses;
  std::span<const AssumedOutcome> outcomes;  // by transaction; empty: all open
  bool unsure_compare_and_sets;  // some indeterminate transaction has one: look for suspects
  unsigned threads = 1;          // 0: as many as the machine has
  bool evidence = false;       // witnesses, and derivations that can be checked without the engine
  base::Team* team = nullptr;  // of processes with the same accesses; borrowed
  // Of a solver (stage 3 of the engine); kUnknown where they settle nothing.
  std::uint64_t proposals = kAllProposals;
};

// What a team is asked about a level, and a part of the answer; both are given back by
// decide_order_level() and decide_weak_level() of the asker.
std::string team_question(Level level, std::uint64_t proposals);

// A decision and, with kSatisfied, the transaction whose outcome it left too open: see
// outcome_branches.hpp. none() if the decision is final.
struct BranchDecision {
  Decision decision;
  TxnId suspect = TxnId::none();
};

}  // namespace cupel::levels
