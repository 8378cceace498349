// outcome_branches: see the header.
#include "engine/levels/outcome_branches.hpp"

#include <algorithm>

namespace cupel::levels {

using history::OpKind;
using history::TxnStatus;

namespace {

// What the owner finally wrote to the key.
history::ValueId value_of(const DecisionInput& input, Owner o, KeyId key) {
  const History& h = input.history;
  const Accesses& a = input.accesses;
  for (auto i = a.write_first[o]; i < a.write_first[o + 1]; ++i) {
    if (a.writes[i].key != key) continue;
    const auto op = h.op(a.writes[i].op);
    return op.kind == OpKind::kCompareAndSet ? h.compare_and_set(op).desired : op.value;
  }
  return {};
}

// It may have happened or not, and if so, it saw what it expected.
bool is_unsure(const DecisionInput& input, Owner o) {
  const History& h = input.history;
  const TxnId txn = input.accesses.txns[o];
  if (h.status(txn) != TxnStatus::kIndeterminate) return false;
  if (!input.outcomes.empty() && input.outcomes[txn.index()] != AssumedOutcome::kOpen) return false;
  for (std::uint32_t i = h.first_op(txn); i < h.last_op(txn); ++i) {
    const auto op = h.op(OpId(i));
    if (op.kind == OpKind::kCompareAndSet && h.compare_and_set(op).succeeded) return true;
  }
  return false;
}

std::span<const Owner> candidates_of(const Accesses& a, const FurtherRow& row) {
  return std::span(a.candidates)
      .subspan(row.first_candidate, row.last_candidate - row.first_candidate);
}

Decision decide_both(const DecideBranch& decide, TxnId txn, std::vector<AssumedOutcome>& outcomes,
                     base::Budget& budget) {
  Decision last;
  std::vector<Violation> branches;
  for (const AssumedOutcome outcome : {AssumedOutcome::kCommitted, AssumedOutcome::kAborted}) {
    if (budget.exceeded()) return gave_up(budget, "assuming what indeterminate transactions did");
    outcomes[txn.index()] = outcome;
    BranchDecision branch = decide(outcomes);
    if (branch.decision.status == Verdict::kSatisfied && branch.suspect.valid()) {
      branch.decision = decide_both(decide, branch.suspect, outcomes, budget);
    }
    last = std::move(branch.decision);
    if (last.status != Verdict::kViolated) break;
    branches.push_back(*last.violation);
  }
  outcomes[txn.index()] = AssumedOutcome::kOpen;
  if (last.status == Verdict::kViolated) {
    last.violation->assumed = txn;
    last.violation->branches = std::move(branches);
  }
  return last;
}

}  // namespace

bool has_unsure_compare_and_sets(const History& h) {
  for (std::uint32_t t = 0; t < h.txn_count(); ++t) {
    if (h.status(TxnId(t)) != TxnStatus::kIndeterminate) continue;
    for (std::uint32_t i = h.first_op(TxnId(t)); i < h.last_op(TxnId(t)); ++i) {
      if (h.kind(OpId(i)) == OpKind::kCompareAndSet) return true;
    }
  }
  return false;
}

TxnId find_suspect(const DecisionInput& input, std::span<const Owner> read_from,
                   const std::vector<std::uint8_t>* met) {
  const Accesses& a = input.accesses;
  for (const Owner o : read_from) {
    if (o == kInitialOwner || (met != nullptr && (*met)[o] != 0)) continue;
    if (is_unsure(input, o)) return a.txns[o];
  }
  // Seen in a list, before its last element.
  for (const ListOrder& list : a.list_order) {
    if ((met == nullptr || (*met)[list.from] == 0) && is_unsure(input, list.from))
      return a.txns[list.from];
  }
  for (const FurtherRow& row : a.further_rows) {
    const auto candidates = candidates_of(a, row);
    const bool all_unsure = std::all_of(candidates.begin(), candidates.end(),
                                        [&](Owner o) { return is_unsure(input, o); });
    if (all_unsure) return a.txns[candidates.front()];
  }
  return TxnId::none();
}

std::vector<std::uint8_t> took_effect(const DecisionInput& input,
                                      std::span<const Owner> read_from) {
  const Accesses& a = input.accesses;
  std::vector<std::uint8_t> effect(a.txns.size(), 0);
  for (Owner o = 0; o < a.txns.size(); ++o) {
    effect[o] = input.history.status(a.txns[o]) != TxnStatus::kIndeterminate ||
                (!input.outcomes.empty() &&
                 input.outcomes[a.txns[o].index()] == AssumedOutcome::kCommitted);
  }
  for (const Owner w : read_from) {
    if (w != kInitialOwner) effect[w] = 1;
  }
  for (const ListOrder& list : a.list_order) effect[list.from] = 1;
  for (const FurtherRow& row : a.further_rows) {
    const auto candidates = candidates_of(a, row);
    if (std::any_of(candidates.begin(), candidates.end(), [&](Owner o) { return effect[o] != 0; }))
      continue;
    const auto one = std::find_if(candidates.begin(), candidates.end(),
                                  [&](Owner o) { return !is_unsure(input, o); });
    if (one != candidates.end()) effect[*one] = 1;
  }
  return effect;
}

void note_met(const DecisionInput& input, const Described& d, const order::OrderResult& outcome,
              std::vector<std::uint8_t>& met) {
  const History& h = input.history;
  const Accesses& a = input.accesses;
  // An open one that nobody read from did not happen, as far as this goes.
  std::vector<std::uint8_t> happened(d.owners.size(), 0);
  for (std::size_t o = 0; o < d.owners.size(); ++o) {
    const TxnId txn = a.txns[d.owners[o]];
    happened[o] =
        h.status(txn) == TxnStatus::kCommitted ||
        (!input.outcomes.empty() && input.outcomes[txn.index()] == AssumedOutcome::kCommitted);
  }
  for (const auto w : outcome.writers) {
    if (w != order::kInitial) happened[w] = 1;
  }
  std::vector<order::Owner> current(d.problem.object_count, order::kInitial);
  for (const auto v : outcome.order) {
    if (d.problem.is_helper(v)) continue;
    const auto o = d.problem.owner_of(v);
    const TxnId txn = a.txns[d.owners[o]];
    if (v == d.problem.begin(o) && h.status(txn) == TxnStatus::kIndeterminate &&
        h.last_op(txn) - h.first_op(txn) == 1 &&
        d.problem.write_first[o + 1] - d.problem.write_first[o] == 1) {
      const auto op = h.op(OpId(h.first_op(txn)));
      const auto x = d.problem.write_object[d.problem.write_first[o]];
      if (op.kind == OpKind::kCompareAndSet) {
        const auto seen = current[x] == order::kInitial
                              ? h.initial_value(op.key)
                              : value_of(input, d.owners[current[x]], op.key);
        met[d.owners[o]] = seen == h.compare_and_set(op).expected;
      }
    }
    if (v != d.problem.commit(o) || happened[o] == 0) continue;
    for (auto i = d.problem.write_first[o]; i < d.problem.write_first[o + 1]; ++i) {
      current[d.problem.write_object[i]] = o;
    }
  }
}

Decision decide_branches(const History& history, const DecideBranch& decide, base::Budget& budget) {
  BranchDecision open = decide({});
  if (open.decision.status != Verdict::kSatisfied || !open.suspect.valid())
    return std::move(open.decision);
  std::vector<AssumedOutcome> outcomes(history.txn_count(), AssumedOutcome::kOpen);
  return decide_both(decide, open.suspect, outcomes, budget);
}

}  // namespace cupel::levels
