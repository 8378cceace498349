// check: the ladder. See the header.
//
// The order of asking saves work: strict serializability first, which satisfied
// settles all but linearizability and is easiest where real time leaves little
// open; then causal, which violated settles nearly all; then the strongest of the
// rest, and what is still open.
#include "check/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "levels/decide.hpp"

namespace cupel::check {

using levels::Level;

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::kSatisfied: return "satisfied";
    case Verdict::kViolated: return "violated";
    case Verdict::kUnknown: return "unknown";
    case Verdict::kRefused: return "refused";
  }
  return "?";
}

namespace {

class Ladder {
 public:
  Ladder(const history::History& h, const Options& options)
      : budget_(options.timeout_seconds
                    ? std::optional(std::chrono::duration<double>(*options.timeout_seconds))
                    : std::nullopt,
                options.memory_limit_bytes),
        decider_(h, options.clock_drift_ns) {}

  // Decides `level` unless it follows from what is known.
  LevelResult& decide(Level level) {
    LevelResult& mine = results_[static_cast<std::size_t>(level)];
    if (done(level)) {
      // What was decided since may settle what was left unknown.
      if (mine.verdict == Verdict::kUnknown) follow(mine);
      return mine;
    }
    mine.level = level;
    if (auto refusal = decider_.refusal(level)) {
      mine.detail = *std::move(refusal);
      return finish(mine, Verdict::kRefused, {});
    }
    if (follow(mine)) return mine;
    const auto begin = std::chrono::steady_clock::now();
    levels::Decision decision = decider_.decide(level, budget_);
    mine.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    mine.detail = std::move(decision.detail);
    mine.violation = std::move(decision.violation);
    if (mine.violation) mine.explained_at = level;
    switch (decision.answer) {
      case levels::Answer::kYes: return finish(mine, Verdict::kSatisfied, decision.decided_by);
      case levels::Answer::kNo: return finish(mine, Verdict::kViolated, decision.decided_by);
      case levels::Answer::kGaveUp: return finish(mine, Verdict::kUnknown, decision.decided_by);
      case levels::Answer::kRefused: return finish(mine, Verdict::kRefused, decision.decided_by);
    }
    return mine;
  }

  [[nodiscard]] bool done(Level level) const { return done_[static_cast<std::size_t>(level)]; }

 private:
  // Settles a level by one that was decided itself; false if none does.
  bool follow(LevelResult& mine) {
    for (const Level other : levels::all_levels()) {
      const LevelResult& known = results_[static_cast<std::size_t>(other)];
      if (other == mine.level || !done(other) || known.decided_by.starts_with("implied-by:")) continue;
      if (known.verdict == Verdict::kSatisfied && levels::implies(other, mine.level)) {
        mine.detail.clear();
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

  base::Budget budget_;
  levels::Decider decider_;
  std::array<LevelResult, levels::kLevelCount> results_{};
  std::array<bool, levels::kLevelCount> done_{};
};

}  // namespace

CheckResult check(const history::History& history, const Options& options) {
  Ladder ladder(history, options);
  const bool everything = options.asked.empty();
  std::vector<Level> asked = options.asked;
  if (everything) asked.assign(levels::all_levels().begin(), levels::all_levels().end());

  if (asked.size() > 1) {
    constexpr Level kOrder[] = {
        Level::kStrictSerializable,
        Level::kCausal,
        Level::kStrongSessionSerializable,
        Level::kSerializable,
        Level::kReadCommitted,
        Level::kReadAtomic,
        Level::kPrefix,
        Level::kSnapshotIsolation,
        Level::kStrongSessionSnapshotIsolation,
        Level::kStrongSnapshotIsolation,
        Level::kGeneralizedSnapshotIsolation,
        Level::kLinearizable,
    };
    for (const Level level : kOrder) {
      if (std::find(asked.begin(), asked.end(), level) != asked.end()) ladder.decide(level);
    }
  }
  CheckResult result;
  for (const Level level : asked) {
    LevelResult& decided = ladder.decide(level);
    // A violated level asked alone: a weaker level that is violated too says
    // more plainly what went wrong, and the weak ones cost next to nothing.
    if (decided.verdict == Verdict::kViolated && decided.explained_at == level &&
        decided.decided_by != "internal" && levels::implies(level, Level::kCausal)) {
      // Causal first: satisfied, it clears the other two.
      ladder.decide(Level::kCausal);
      for (const Level weak : {Level::kReadCommitted, Level::kReadAtomic, Level::kCausal}) {
        if (!levels::implies(level, weak)) continue;
        const LevelResult& weaker = ladder.decide(weak);
        if (weaker.verdict != Verdict::kViolated) continue;
        decided.violation = weaker.violation;
        decided.explained_at = weaker.explained_at;
        break;
      }
    }
    result.levels.push_back(decided);
  }
  const auto at = [&](Verdict verdict) {
    std::vector<Level> found;
    for (const LevelResult& r : result.levels) {
      if (r.verdict == verdict) found.push_back(r.level);
    }
    return found;
  };
  const auto satisfied = at(Verdict::kSatisfied), violated = at(Verdict::kViolated);
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
  return result;
}

}  // namespace cupel::check
