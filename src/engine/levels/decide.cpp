// decide: see the header.
#include "engine/levels/decide.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "data/history/naming.hpp"
#include "data/history/times.hpp"
#include "engine/levels/accesses.hpp"
#include "engine/levels/order_levels.hpp"
#include "engine/levels/outcome_branches.hpp"
#include "engine/levels/weak_levels.hpp"

namespace cupel::levels {

using history::OpKind;
using history::Time;
using history::TxnStatus;

namespace {

constexpr const char* kPlacing = "trying the places of elements appended twice";

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
  State(const History& h, Time drift, unsigned threads, bool evidence, base::Team* team)
      : h_(h),
        drift_(drift),
        threads_(threads),
        evidence_(evidence),
        team_(team),
        choices_(h),
        unsure_compare_and_sets_(has_unsure_compare_and_sets(h)) {}

  Decision decide(Level level, base::Budget& budget) {
    if (auto refused = refusal(level)) return {Verdict::kRefused, {}, *std::move(refused), {}};
    const base::Stopwatch::Lap lap(budget.stopwatch(), "describe");
    if (!collect(budget)) return gave_up(budget, "collecting reads and writes");
    Decision first = decide_branches(level, choices_, *accesses_, kAllProposals, budget);
    if (!choices_.any()) return first;
    if (first.status != Verdict::kViolated) return with_placings(std::move(first), choices_);
    // Elements appended twice: another placing may pass.
    ListChoices open(h_);
    open.open_all();
    return decide_open(level, open, &first, budget);
  }

  [[nodiscard]] bool is_polynomial(Level level) const {
    if (!accesses_ || !is_weak(level) || choices_.any() || unsure_compare_and_sets_) return false;
    return std::none_of(accesses_->reads.begin(), accesses_->reads.end(), [](const auto& read) {
      return read.last_candidate - read.first_candidate > 1;
    });
  }

  // The accesses with the first of the list choices and all outcomes open; false: a limit ended it.
  bool collect(base::Budget& budget) {
    if (accesses_) return true;
    auto accesses =
        std::make_shared<Accesses>(collect_accesses(h_, choices_, {}, budget, threads_));
    if (!accesses->complete) return false;
    accesses_ = std::move(accesses);
    return true;
  }

  std::string answer(std::string_view question, base::TeamPart part, base::Budget& budget) {
    const auto blank = question.rfind(' ');
    const auto level = parse_level(std::string(question.substr(0, blank)));
    std::uint64_t proposals = 0;
    const auto* const end = question.data() + question.size();
    const bool whole = blank != std::string_view::npos &&
                       std::from_chars(question.data() + blank + 1, end, proposals).ptr == end;
    if (!level || !whole || !collect(budget)) return {};
    const DecisionInput input{h_,       drift_,    *accesses_, {},       unsure_compare_and_sets_,
                              threads_, evidence_, nullptr,    proposals};
    auto found = is_weak(*level) ? find_team_part(input, *level, part, budget)
                                 : decide_team_part(input, *level, part, budget);
    return found ? *std::move(found) : std::string();
  }

  std::optional<std::string> refusal(Level level) const {
    // What the others wrote would seem to come from nobody (data/merge/join.hpp writes and takes
    // away this fact).
    if (const auto part = h_.fact("part"); !part.empty()) {
      return fmt::format(
          "{} needs the whole history, and this is the part of sessions {}; `cupel merge` joins "
          "the parts",
          name(level), part);
    }
    if (needs_real_time(level) && !h_.has_all_times()) {
      return fmt::format("{} needs the times of all transactions, which this history does not have",
                         name(level));
    }
    if (needs_real_time(level)) {
      if (auto refusal = history::drift_refusal(h_, drift_)) return refusal;
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

  // Does some way to fill the open places pass? `filled`: what is known of choices.fill(), which is
  // violated; or null. What is violated with places left open needs no cases for them. Else an
  // append is put at one place after the other, as the violation of the filled ones suggests.
  Decision decide_open(Level level, ListChoices& choices, const Decision* filled,
                       base::Budget& budget) const {
    // Of those left open, much may be possible; then it is for the places to say what is not.
    constexpr std::uint64_t kOpenProposals = 300;
    const bool has_open = choices.has_open();
    if (!has_open && filled != nullptr) return *filled;
    Decision found =
        decide_placed(level, choices, has_open ? kOpenProposals : kAllProposals, budget);
    if (!has_open || found.status == Verdict::kViolated) return found;
    if (budget.exceeded())
      return gave_up(budget, kPlacing);  // what is possible so far is no answer
    ListChoices all = choices;
    all.fill();
    Decision whole = filled != nullptr ? *filled : decide_placed(level, all, kAllProposals, budget);
    if (whole.status != Verdict::kViolated) return whole;
    std::vector<OpId> named;
    name_operations(*whole.violation, named);
    std::sort(named.begin(), named.end());
    const auto place = choices.next_open(all, named);
    std::vector<PlacingBranch> failed;
    for (std::size_t append = 0; append < choices.append_count(place); ++append) {
      if (!choices.put(place, append)) continue;
      Decision next =
          decide_open(level, choices, all.says(place, append) ? &whole : nullptr, budget);
      if (next.status != Verdict::kViolated) return next;
      if (evidence_) failed.push_back({{choices.placing(place)}, *std::move(next.violation)});
      choices.open(place);
    }
    whole.violation->placing_branches = std::move(failed);
    whole.violation->placed = all.placing(place).append;
    return whole;
  }

  // Under these choices, with all outcomes open.
  Decision decide_placed(Level level, const ListChoices& choices, std::uint64_t proposals,
                         base::Budget& budget) const {
    if (budget.exceeded()) return gave_up(budget, kPlacing);
    const Accesses accesses = collect_accesses(h_, choices, {}, budget, threads_);
    if (!accesses.complete) return gave_up(budget, kPlacing);
    return with_placings(decide_branches(level, choices, accesses, proposals, budget), choices);
  }

  // The operations of which a violation says something.
  static void name_operations(const Violation& violation, std::vector<OpId>& named) {
    for (const auto& one : violation.internal) named.insert(named.end(), {one.read, one.other});
    for (const Edge& edge : violation.derivation.edges)
      named.insert(named.end(), {edge.from_op, edge.to_op});
    for (const Violation& branch : violation.branches) name_operations(branch, named);
  }

  // `open`: the accesses with all outcomes open.
  Decision decide_branches(Level level, const ListChoices& choices, const Accesses& open,
                           std::uint64_t proposals, base::Budget& budget) const {
    const auto decide_branch_under =
        [&](std::span<const AssumedOutcome> outcomes) -> BranchDecision {
      if (outcomes.empty()) return decide_branch(level, open, outcomes, proposals, budget);
      const Accesses accesses = collect_accesses(h_, choices, outcomes, budget, threads_);
      if (!accesses.complete) return {gave_up(budget, "collecting reads and writes")};
      return decide_branch(level, accesses, outcomes, proposals, budget);
    };
    return levels::decide_branches(h_, decide_branch_under, budget);
  }

  BranchDecision decide_branch(Level level, const Accesses& accesses,
                               std::span<const AssumedOutcome> outcomes, std::uint64_t proposals,
                               base::Budget& budget) const {
    if (auto internal = forbidden(accesses, level); !internal.empty()) {
      Decision d;
      d.status = Verdict::kViolated;
      d.decided_by = "internal";
      d.violation.emplace().internal = std::move(internal);
      return {std::move(d)};
    }
    // The others of a team know these accesses, and no other.
    base::Team* const team = &accesses == accesses_.get() ? team_ : nullptr;
    const DecisionInput input{h_,       drift_,    accesses, outcomes, unsure_compare_and_sets_,
                              threads_, evidence_, team,     proposals};
    return is_weak(level) ? decide_weak_level(input, level, budget)
                          : decide_order_level(input, level, budget);
  }

  const History& h_;
  const Time drift_;
  const unsigned threads_;
  const bool evidence_;
  base::Team* const team_;
  const ListChoices choices_;
  const bool unsure_compare_and_sets_;
  std::shared_ptr<const Accesses> accesses_;  // for choices_
};

Decider::Decider(const History& history, Time clock_drift_ns, unsigned threads, bool evidence,
                 base::Team* team)
    : state_(std::make_unique<State>(history, clock_drift_ns, threads, evidence, team)) {}
Decider::~Decider() = default;
std::optional<std::string> Decider::refusal(Level level) const {
  return state_->refusal(level);
}
bool Decider::is_polynomial(Level level) const {
  return state_->is_polynomial(level);
}
Decision Decider::decide(Level level, base::Budget& budget) {
  return state_->decide(level, budget);
}
void Decider::prepare(base::Budget& budget) {
  state_->collect(budget);
}
std::string Decider::answer(std::string_view question, base::TeamPart part, base::Budget& budget) {
  return state_->answer(question, part, budget);
}
std::shared_ptr<const Accesses> Decider::accesses() const {
  return state_->accesses();
}

}  // namespace cupel::levels
