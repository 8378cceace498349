// check: the ladder. See the header.
//
// The order of asking saves work: strict serializability first, which satisfied
// settles all but linearizability and is easiest where real time leaves little
// open; then causal, which violated settles nearly all; then the strongest of the
// rest, and what is still open. Only levels without session order are left where causal is
// violated, and then snapshot isolation nearly always is, which settles serializability.
// The time that one level takes must not be missing to the others, which may be decided at once: a
// level is asked again after all others if a short attempt does not suffice, and then if a long
// one.
#include "check/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <new>
#include <optional>

#include "base/interrupt.hpp"
#include "levels/decide.hpp"

namespace cupel::check {

using levels::Level;

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::kSatisfied:
      return "satisfied";
    case Verdict::kViolated:
      return "violated";
    case Verdict::kUnknown:
      return "unknown";
    case Verdict::kRefused:
      return "refused";
  }
  return "?";
}

namespace {

// How long an attempt at one level of many may take: a share of the time that is left, or so much
// where there is no limit; but not less than so many times what it took to collect what all levels
// share, since large histories take time without any search.
struct Patience {
  double share, seconds;
};
constexpr Patience kAttempts[] = {{1.0 / 32, 2},
                                  {1.0 / 2, std::numeric_limits<double>::infinity()}};
constexpr double kLeastPerCollecting = 20;
// For whether a weaker level is violated too: so long, or so many times what the level took.
constexpr double kLeastNamingSeconds = 2, kNamingPerSecond = 2;

std::vector<Level> levels_with(const CheckResult& result, Verdict verdict) {
  std::vector<Level> found;
  for (const LevelResult& r : result.levels) {
    if (r.verdict == verdict) found.push_back(r.level);
  }
  return found;
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

class Ladder {
 public:
  Ladder(const history::History& h, const Options& options, base::Budget& budget)
      : budget_(budget) {
    const base::Stopwatch::Lap lap(budget.stopwatch(), "describe");
    within_memory(budget, [&] {
      return (decider_.emplace(h, options.clock_drift_ns, options.threads, options.evidence,
                               options.team),
              true);
    });
  }

  // Decides `level` unless it follows from what is known.
  LevelResult& decide(Level level) { return decide(level, budget_); }

  // Likewise, but gives up soon; the level counts as not asked then.
  LevelResult& attempt(Level level, Patience patience) {
    const double most = seconds_of(patience);
    LevelResult* mine = nullptr;
    bool cut_off = false;
    {
      const base::Budget::Attempt attempt(budget_, most);
      mine = &decide(level, budget_);
      cut_off = budget_.limit() == base::Limit::kTime;
    }
    if (!cut_off || budget_.limit() != base::Limit::kNone) return *mine;
    if (mine->verdict == Verdict::kUnknown) {
      done_[static_cast<std::size_t>(level)] = false;  // its detail stays, if nothing else comes
    } else if (mine->verdict == Verdict::kViolated) {
      ask_again(*mine);  // the proof may be a part of what it is with more time
    }
    return *mine;
  }

  // Likewise, but only to say more plainly what is known to be wrong: if the budget ends, the level
  // counts as not asked.
  const LevelResult& try_to_decide(Level level, base::Budget& budget) {
    const bool before = done(level);
    LevelResult& mine = decide(level, budget);
    if (!before && mine.verdict == Verdict::kUnknown) {
      done_[static_cast<std::size_t>(level)] = false;
      mine.detail.clear();
    }
    return mine;
  }

  [[nodiscard]] bool done(Level level) const { return done_[static_cast<std::size_t>(level)]; }
  [[nodiscard]] const LevelResult& known(Level level) const {
    return results_[static_cast<std::size_t>(level)];
  }
  [[nodiscard]] std::shared_ptr<const levels::Accesses> accesses() const {
    return decider_ ? decider_->accesses() : nullptr;
  }

 private:
  LevelResult& decide(Level level, base::Budget& budget) {
    LevelResult& mine = results_[static_cast<std::size_t>(level)];
    if (done(level)) {
      // What was decided since may settle what was left unknown.
      if (mine.verdict == Verdict::kUnknown) follow(mine);
      return mine;
    }
    mine.level = level;
    auto refusal = decider_ ? decider_->refusal(level) : std::nullopt;
    if (refusal) {
      mine.detail = *std::move(refusal);
      return finish(mine, Verdict::kRefused, {});
    }
    if (follow(mine)) return mine;
    if (budget.exceeded()) {
      if (mine.detail.empty())
        mine.detail = fmt::format("{} before this level", base::event_of(budget.limit()));
      return finish(mine, Verdict::kUnknown, {});
    }
    const auto begin = std::chrono::steady_clock::now();
    auto found = within_memory(budget, [&] { return decider_->decide(level, budget); });
    levels::Decision decision;
    if (found)
      decision = *std::move(found);
    else
      decision.detail = fmt::format("{} in an allocation", base::event_of(budget.limit()));
    mine.seconds = seconds_since(begin);
    mine.detail = std::move(decision.detail);
    mine.violation = std::move(decision.violation);
    mine.witness = std::move(decision.witness);
    if (mine.violation) mine.explained_at = level;
    switch (decision.status) {
      case levels::DecisionStatus::kSatisfied:
        return finish(mine, Verdict::kSatisfied, decision.decided_by);
      case levels::DecisionStatus::kViolated:
        return finish(mine, Verdict::kViolated, decision.decided_by);
      case levels::DecisionStatus::kGaveUp:
        return finish(mine, Verdict::kUnknown, decision.decided_by);
      case levels::DecisionStatus::kRefused:
        return finish(mine, Verdict::kRefused, decision.decided_by);
    }
    return mine;
  }

  [[nodiscard]] double seconds_of(Patience patience) {
    if (decider_ && !collecting_seconds_) {
      const auto begin = std::chrono::steady_clock::now();
      within_memory(budget_, [&] { return (decider_->prepare(budget_), true); });
      collecting_seconds_ = seconds_since(begin);
    }
    const double left = budget_.seconds_left();
    return std::max(std::isinf(left) ? patience.seconds : patience.share * left,
                    kLeastPerCollecting * collecting_seconds_.value_or(0));
  }

  // A level that is violated; where the budget ends, what is known of it stays.
  void ask_again(LevelResult& mine) {
    done_[static_cast<std::size_t>(mine.level)] = false;
    LevelResult before = std::move(mine);
    mine = {};
    if (decide(before.level, budget_).verdict == Verdict::kViolated) return;
    mine = std::move(before);
    done_[static_cast<std::size_t>(mine.level)] = true;
  }

  // Nothing if the memory limit was met inside.
  template <typename Work>
  static auto within_memory(base::Budget& budget, Work work) -> std::optional<decltype(work())> {
    const base::AllocationWatch watch(&budget);
    try {
      return work();
    } catch (const std::bad_alloc&) {  // by the watch, or the system's own limit
      if (budget.limit() == base::Limit::kNone) throw;
    }
    return std::nullopt;
  }

  // Settles a level by one that was decided itself; false if none does.
  bool follow(LevelResult& mine) {
    for (const Level other : levels::all_levels()) {
      const LevelResult& known = results_[static_cast<std::size_t>(other)];
      if (other == mine.level || !done(other) || known.decided_by.starts_with("implied-by:"))
        continue;
      if (known.verdict == Verdict::kSatisfied && levels::implies(other, mine.level)) {
        mine.detail.clear();
        mine.witness = known.witness;
        finish(mine, Verdict::kSatisfied, fmt::format("implied-by:{}", levels::name(other)));
        return true;
      }
      if (known.verdict == Verdict::kViolated && levels::implies(mine.level, other)) {
        mine.violation = known.violation;
        mine.explained_at = other;
        mine.detail.clear();
        finish(mine, Verdict::kViolated, fmt::format("implied-by:{}", levels::name(other)));
        return true;
      }
    }
    return false;
  }

  LevelResult& finish(LevelResult& result, Verdict verdict, std::string decided_by) {
    result.verdict = verdict;
    result.decided_by = std::move(decided_by);
    done_[static_cast<std::size_t>(result.level)] = true;
    return result;
  }

  base::Budget& budget_;
  std::optional<levels::Decider> decider_;  // none: the memory limit was met in making it
  std::array<LevelResult, levels::kLevelCount> results_{};
  std::array<bool, levels::kLevelCount> done_{};
  std::optional<double> collecting_seconds_;  // none: not yet collected
};

std::vector<Level> asked_levels(const Options& options) {
  if (!options.asked.empty()) return options.asked;
  return {levels::all_levels().begin(), levels::all_levels().end()};
}

}  // namespace

CheckResult check(const history::History& history, const Options& options) {
  base::Budget budget(options.timeout_seconds
                          ? std::optional(std::chrono::duration<double>(*options.timeout_seconds))
                          : std::nullopt,
                      options.memory_limit_bytes);
  return check(history, options, budget);
}

TeamMember::TeamMember(const history::History& history, const Options& options, base::TeamPart part)
    : part_(part),
      decider_(std::make_unique<levels::Decider>(history, options.clock_drift_ns, options.threads,
                                                 options.evidence)) {
  decider_->prepare(budget_);
}
TeamMember::~TeamMember() = default;

std::string TeamMember::answer(std::string_view question) {
  try {
    return decider_->answer(question, part_, budget_);
  } catch (const std::bad_alloc&) {  // the first has more memory, or says that it does not
    return {};
  }
}

CheckResult unread(const Options& options, const std::string& detail) {
  CheckResult result;
  for (const Level level : asked_levels(options)) {
    LevelResult& one = result.levels.emplace_back();
    one.level = level;
    one.detail = detail;
  }
  return result;
}

CheckResult check(const history::History& history, const Options& options, base::Budget& budget) {
  Ladder ladder(history, options, budget);
  const std::vector<Level> asked = asked_levels(options);

  if (asked.size() > 1) {
    std::vector<Level> order;
    for (const Level level : levels::ladder_order()) {
      if (std::find(asked.begin(), asked.end(), level) != asked.end()) order.push_back(level);
    }
    for (const Patience patience : kAttempts) {
      for (auto at = order.begin(); at != order.end(); ++at) {
        const bool violated = ladder.attempt(*at, patience).verdict == Verdict::kViolated;
        if (*at != Level::kCausal || !violated) continue;
        const auto next = std::find(at, order.end(), Level::kSnapshotIsolation);
        if (next != order.end()) std::rotate(at + 1, next, next + 1);
      }
    }
    for (const Level level : order) ladder.decide(level);
  }
  CheckResult result;
  for (const Level level : asked) {
    LevelResult& decided = ladder.decide(level);
    // A violated level asked alone: a weaker level that is violated too says more plainly what went
    // wrong, and the weak ones mostly cost next to nothing.
    if (decided.verdict == Verdict::kViolated && decided.explained_at == level &&
        decided.decided_by != "internal" && levels::implies(level, Level::kCausal)) {
      const double most = std::max(kLeastNamingSeconds, kNamingPerSecond * decided.seconds);
      base::Budget naming(std::chrono::duration<double>(std::min(most, budget.seconds_left())),
                          options.memory_limit_bytes);
      // Causal first: satisfied, it clears the other two.
      ladder.try_to_decide(Level::kCausal, naming);
      for (const Level weak : {Level::kReadCommitted, Level::kReadAtomic, Level::kCausal}) {
        if (!levels::implies(level, weak)) continue;
        const LevelResult& weaker = ladder.try_to_decide(weak, naming);
        if (weaker.verdict != Verdict::kViolated) continue;
        decided.violation = weaker.violation;
        decided.explained_at = weaker.explained_at;
        break;
      }
    }
    result.levels.push_back(decided);
  }
  if (!levels_with(result, Verdict::kViolated).empty()) {
    result.accesses = ladder.accesses();
    for (const Level level : levels::all_levels()) {
      const bool wanted = std::find(asked.begin(), asked.end(), level) != asked.end();
      if (!wanted && ladder.done(level)) result.besides.push_back(ladder.known(level));
    }
  }
  note_extremes(result);
  return result;
}

void note_extremes(CheckResult& result) {
  const auto satisfied = levels_with(result, Verdict::kSatisfied);
  const auto violated = levels_with(result, Verdict::kViolated);
  result.strongest_satisfied.clear();
  result.weakest_violated.clear();
  for (const Level level : satisfied) {
    if (std::none_of(satisfied.begin(), satisfied.end(), [&](Level other) {
          return other != level && levels::implies(other, level);
        })) {
      result.strongest_satisfied.push_back(level);
    }
  }
  for (const Level level : violated) {
    if (std::none_of(violated.begin(), violated.end(), [&](Level other) {
          return other != level && levels::implies(level, other);
        })) {
      result.weakest_violated.push_back(level);
    }
  }
}

}  // namespace cupel::check
