// decide_weak_level: see the header.
#include "engine/levels/weak_levels.hpp"

#include <algorithm>
#include <cassert>
#include <optional>

#include "engine/levels/describe.hpp"
#include "engine/levels/hints.hpp"
#include "engine/levels/order_levels.hpp"
#include "engine/levels/outcome_branches.hpp"
#include "engine/levels/refutation.hpp"

namespace cupel::levels {

namespace {

// The level's φ in the engine's words.
order::Visible visible_at(Level level) {
  switch (spec_of(level).visibility) {
    case Visibility::kEarlierRead:
      return order::Visible::kEarlierRead;
    case Visibility::kOneStep:
      return order::Visible::kDirect;
    case Visibility::kCausal:
      return order::Visible::kCausal;
    case Visibility::kNone:
      break;
  }
  assert(false && "an order level has no visibility");
  return order::Visible::kCausal;
}

// Both counts, so that they are the same on every machine: rounds before something
// stronger is tried, and what that may cost.
constexpr std::uint64_t kFirstRounds = 6;
constexpr std::uint64_t kCheapProposals = 300;

// An order at prefix, or anything stronger, passes all three levels.
std::optional<BranchDecision> cheap_yes(const DecisionInput& input, base::Budget& budget) {
  const auto& internal = input.accesses.internal;
  const bool repeatable = std::none_of(internal.begin(), internal.end(), [](const auto& anomaly) {
    return anomaly.kind == InternalKind::kNonRepeatableRead;
  });
  if (!repeatable) return std::nullopt;  // the order levels look at first reads only
  DecisionInput cheap = input;
  cheap.proposals = std::min(kCheapProposals, input.proposals);
  for (const Level stronger : {Level::kStrongSessionSerializable, Level::kPrefix}) {
    BranchDecision branch = decide_order_level(cheap, stronger, budget);
    if (branch.decision.status == Verdict::kSatisfied) return branch;
  }
  return std::nullopt;
}

std::shared_ptr<const Witness> witness_of(const DecisionInput& input, Level level,
                                          const DescribedVisibility& d,
                                          const order::OrderResult& outcome,
                                          std::span<const std::span<const Owner>> candidates) {
  const Accesses& a = input.accesses;
  auto witness = std::make_shared<Witness>();
  witness->level = level;
  const auto effect = took_effect(input, outcome.writers);
  for (const order::Node v : outcome.order) {
    if (effect[v] != 0) witness->order.push_back(a.txns[v]);
  }
  for (std::size_t r = 0; r < candidates.size(); ++r) {
    if (candidates[r].size() < 2) continue;
    const ExternalRead& read = a.reads[d.reads[r]];
    const Owner w = outcome.writers[r];
    witness->reads_from.push_back(
        {read.op, read.key, w == kInitialOwner ? TxnId::none() : a.txns[w]});
  }
  return witness;
}

// A weak level in the engine's words, and the possible writers of each read.
struct WeakQuestion {
  DescribedVisibility d;
  order::Visible visible;
  bool every_read = false;
  std::vector<std::span<const Owner>> candidates = {};
  bool open = false;  // a read has several
};

WeakQuestion question_of(const DecisionInput& input, Level level) {
  const Accesses& a = input.accesses;
  const order::Visible visible = visible_at(level);
  const bool every_read = visible == order::Visible::kEarlierRead;
  WeakQuestion question{describe_visibility(input.history, a, every_read), visible, every_read};
  auto& d = question.d;
  d.problem.whole_proofs = input.evidence;
  d.problem.threads = input.threads;
  question.candidates.reserve(d.reads.size());
  for (const auto r : d.reads) {
    const ExternalRead& read = a.reads[r];
    const auto first = every_read ? read.first_candidate : read.joint_first;
    const auto last = every_read ? read.last_candidate : read.joint_last;
    question.candidates.push_back(std::span(a.candidates).subspan(first, last - first));
    question.open = question.open || last - first > 1;
  }
  return question;
}

std::vector<Owner> only_writers(const WeakQuestion& question) {
  std::vector<Owner> writers;
  writers.reserve(question.candidates.size());
  for (const auto& one : question.candidates) writers.push_back(one.front());
  return writers;
}

// The other processes of a team, as the engine sees them. They are asked at once, so that they
// describe the problem at the same time as this process.
class TeamFinders : public order::ArcFinders {
 public:
  TeamFinders(base::Team& team, Level level) : team_(team) {
    team_.ask(team_question(level, kAllProposals));
  }
  [[nodiscard]] std::uint32_t parts() const override { return team_.size(); }
  std::vector<std::string> found() override { return team_.answers(); }

 private:
  base::Team& team_;
};

}  // namespace

std::optional<std::string> find_team_part(const DecisionInput& input, Level level,
                                          base::TeamPart part, base::Budget& budget) {
  const WeakQuestion question = question_of(input, level);
  if (question.open || budget.exceeded()) return std::nullopt;
  return order::arcs_of_part(question.d.problem, question.visible, only_writers(question), part,
                             budget);
}

BranchDecision decide_weak_level(const DecisionInput& input, Level level, base::Budget& budget) {
  const Accesses& a = input.accesses;
  const base::Stopwatch::Lap lap(budget.stopwatch(), "saturation");
  std::optional<TeamFinders> finders;
  if (input.team != nullptr) finders.emplace(*input.team, level);
  WeakQuestion question = question_of(input, level);
  DescribedVisibility& d = question.d;
  const order::Visible visible = question.visible;
  const bool every_read = question.every_read;
  if (budget.exceeded()) return {gave_up(budget, "describing reads and writes")};
  const auto& candidates = question.candidates;
  if (finders) d.problem.others = &*finders;
  order::OrderResult outcome;
  if (question.open) {
    std::vector<std::uint64_t> hints;
    const Hints guess(input.history, a.labels_mix_sessions);
    if (guess.across_sessions()) {
      for (const TxnId txn : a.txns) hints.push_back(guess.commit(txn));
    }
    const auto by_cases = [&](std::uint64_t rounds) {
      return order::decide_visibility_by_cases(d.problem, visible, candidates, hints, rounds,
                                               budget);
    };
    outcome = by_cases(kFirstRounds);
    if (outcome.solvability == order::Solvability::kGaveUp && !budget.exceeded()) {
      if (std::optional<BranchDecision> yes = cheap_yes(input, budget)) return *std::move(yes);
      outcome = by_cases(input.proposals);
    }
  } else {
    outcome = order::decide_visibility(d.problem, visible, only_writers(question), budget);
  }

  const std::string stage(stage_name(outcome.stage));
  BranchDecision result;
  Decision& decision = result.decision;
  decision.decided_by = stage;
  switch (outcome.solvability) {
    case order::Solvability::kGaveUp:
      return {gave_up(budget, stage)};
    case order::Solvability::kYes:
      decision.status = Verdict::kSatisfied;
      if (input.evidence) decision.witness = witness_of(input, level, d, outcome, candidates);
      if (input.unsure_compare_and_sets)
        result.suspect = find_suspect(input, outcome.writers, nullptr);
      break;
    case order::Solvability::kNo: {
      decision.status = Verdict::kViolated;
      const base::AllocationWatch unwatched(
          nullptr);  // a proven violation is described whatever the limit
      decision.violation.emplace();
      auto& derivation = decision.violation->derivation;
      derivation = translate(
          a, outcome.proof,
          {.every_read = every_read, .owners = d.owners, .keys = d.keys, .reads = d.reads});
      if (input.evidence) refute_cases(input.history, derivation, budget);
      break;
    }
  }
  return result;
}

}  // namespace cupel::levels
