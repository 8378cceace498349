// decide: see the header.
#include "levels/decide.hpp"

#include <fmt/format.h>

#include "history/naming.hpp"
#include "levels/accesses.hpp"
#include "levels/order_levels.hpp"
#include "levels/outcome_branches.hpp"
#include "levels/weak_levels.hpp"

namespace cupel::levels {

using history::OpKind;
using history::Time;
using history::TxnStatus;

namespace {

// The internal anomalies that the level forbids: alone a violation.
std::vector<InternalAnomaly> forbidden(const Accesses& accesses, Level level) {
  std::vector<InternalAnomaly> found;
  for (const auto& anomaly : accesses.internal) {
    if (forbidden_by(anomaly.kind) == Level::kReadCommitted || level != Level::kReadCommitted) {
      found.push_back(anomaly);
    }
  }
  return found;
}

}  // namespace

class Decider::State {
 public:
  State(const History& h, Time drift, unsigned threads, bool evidence)
      : h_(h),
        drift_(drift),
        threads_(threads),
        evidence_(evidence),
        choices_(h),
        unsure_compare_and_sets_(has_unsure_compare_and_sets(h)) {}

  Decision decide(Level level, base::Budget& budget) {
    if (auto refused = refusal(level))
      return {DecisionStatus::kRefused, {}, *std::move(refused), {}};
    const base::Stopwatch::Lap lap(budget.stopwatch(), "describe");
    if (!accesses_) {
      auto accesses =
          std::make_shared<Accesses>(collect_accesses(h_, choices_, {}, budget, threads_));
      if (!accesses->complete) return gave_up(budget, "collecting reads and writes");
      accesses_ = std::move(accesses);
    }
    Decision first = decide_branches(level, choices_, *accesses_, budget);
    if (choices_.count() < 2) return first;
    if (first.status != DecisionStatus::kViolated) return with_placings(std::move(first), choices_);
    // Elements appended twice: another placing may pass.
    std::vector<PlacingBranch> failed;
    if (evidence_) failed.push_back({choices_.placings(), *first.violation});
    ListChoices other(h_);
    while (other.advance()) {
      if (budget.exceeded()) return gave_up(budget, "trying the places of elements appended twice");
      const Accesses accesses = collect_accesses(h_, other, {}, budget, threads_);
      if (!accesses.complete) return gave_up(budget, "collecting reads and writes");
      Decision next = decide_branches(level, other, accesses, budget);
      if (next.status != DecisionStatus::kViolated) return with_placings(std::move(next), other);
      if (evidence_) failed.push_back({other.placings(), *std::move(next.violation)});
    }
    first.violation->placing_branches = std::move(failed);
    return first;
  }

  std::optional<std::string> refusal(Level level) const {
    if (needs_real_time(level) && !h_.has_all_times()) {
      return fmt::format("{} needs the times of all transactions, which this history does not have",
                         name(level));
    }
    if (!spec_of(level).single_object) return std::nullopt;
    for (std::uint32_t t = 0; t < h_.txn_count(); ++t) {
      if (h_.status(TxnId(t)) == TxnStatus::kAborted) continue;
      KeyId key;
      for (std::uint32_t i = h_.first_op(TxnId(t)); i < h_.last_op(TxnId(t)); ++i) {
        const auto op = h_.op(OpId(i));
        if (op.kind != OpKind::kRangeRead && (!key.valid() || key == op.key)) {
          key = op.key;
          continue;
        }
        return fmt::format(
            "{} is about operations on single objects, and {} touches more than one key",
            name(level), history::transaction_in_full(h_, TxnId(t)));
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] std::shared_ptr<const Accesses> accesses() const { return accesses_; }

 private:
  static Decision with_placings(Decision decision, const ListChoices& choices) {
    if (decision.witness && is_weak(decision.witness->level)) {
      auto witness = std::make_shared<Witness>(*decision.witness);
      witness->placings = choices.placings();
      decision.witness = std::move(witness);
    }
    return decision;
  }

  // `open`: the accesses with all outcomes open.
  Decision decide_branches(Level level, const ListChoices& choices, const Accesses& open,
                           base::Budget& budget) const {
    const auto decide_branch_under =
        [&](std::span<const AssumedOutcome> outcomes) -> BranchDecision {
      if (outcomes.empty()) return decide_branch(level, open, outcomes, budget);
      const Accesses accesses = collect_accesses(h_, choices, outcomes, budget, threads_);
      if (!accesses.complete) return {gave_up(budget, "collecting reads and writes")};
      return decide_branch(level, accesses, outcomes, budget);
    };
    return levels::decide_branches(h_, decide_branch_under, budget);
  }

  BranchDecision decide_branch(Level level, const Accesses& accesses,
                               std::span<const AssumedOutcome> outcomes,
                               base::Budget& budget) const {
    if (auto internal = forbidden(accesses, level); !internal.empty()) {
      Decision d;
      d.status = DecisionStatus::kViolated;
      d.decided_by = "internal";
      d.violation.emplace().internal = std::move(internal);
      return {std::move(d)};
    }
    const DecisionInput input{h_,       drift_,   accesses, outcomes, unsure_compare_and_sets_,
                              threads_, evidence_};
    return is_weak(level) ? decide_weak_level(input, level, budget)
                          : decide_order_level(input, level, budget);
  }

  const History& h_;
  const Time drift_;
  const unsigned threads_;
  const bool evidence_;
  const ListChoices choices_;
  const bool unsure_compare_and_sets_;
  std::shared_ptr<const Accesses> accesses_;  // for choices_
};

Decider::Decider(const History& history, Time clock_drift_ns, unsigned threads, bool evidence)
    : state_(std::make_unique<State>(history, clock_drift_ns, threads, evidence)) {}
Decider::~Decider() = default;
std::optional<std::string> Decider::refusal(Level level) const {
  return state_->refusal(level);
}
Decision Decider::decide(Level level, base::Budget& budget) {
  return state_->decide(level, budget);
}
std::shared_ptr<const Accesses> Decider::accesses() const {
  return state_->accesses();
}

}  // namespace cupel::levels
