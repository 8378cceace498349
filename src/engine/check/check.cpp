// check: makes the engine's decider, climbs the ladder (ladder.hpp), and names each violation by
// the weakest level that it violates.
#include "engine/check/check.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <optional>

#include "engine/check/ladder.hpp"
#include "engine/check/within_memory.hpp"
#include "engine/levels/decide.hpp"

namespace cupel::check {

using levels::Level;

namespace {

// For whether a weaker level is violated too: so long, or so many times what the level took.
constexpr double kLeastNamingSeconds = 2, kNamingPerSecond = 2;

std::vector<Level> levels_with(const CheckResult& result, Verdict verdict) {
  std::vector<Level> found;
  for (const LevelResult& r : result.levels) {
    if (r.verdict == verdict) found.push_back(r.level);
  }
  return found;
}

// The engine's decider of one history, as the ladder sees it.
class HistoryDecider : public LevelDecider {
 public:
  HistoryDecider(const history::History& h, const Options& options)
      : decider_(h, options.clock_drift_ns, options.threads, options.evidence, options.team) {}

  std::optional<std::string> refusal(Level level) override { return decider_.refusal(level); }
  void prepare(base::Budget& budget) override { decider_.prepare(budget); }
  bool is_polynomial(Level level) override { return decider_.is_polynomial(level); }
  levels::Decision decide(Level level, base::Budget& budget) override {
    return decider_.decide(level, budget);
  }
  [[nodiscard]] std::shared_ptr<const levels::Accesses> accesses() const {
    return decider_.accesses();
  }

 private:
  levels::Decider decider_;
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
  // None: the memory limit was met while it was made.
  std::unique_ptr<HistoryDecider> decider;
  {
    const base::Stopwatch::Lap lap(budget.stopwatch(), "describe");
    if (auto made = within_memory(
            budget, [&] { return std::make_unique<HistoryDecider>(history, options); })) {
      decider = *std::move(made);
    }
  }
  Ladder ladder(decider.get(), budget);
  const std::vector<Level> asked = asked_levels(options);
  if (asked.size() > 1) ladder.decide_all(asked);
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
    if (decider) result.accesses = decider->accesses();
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
