// Ladder: see the header.
#include "engine/check/ladder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>
#include <vector>

#include "base/interrupt.hpp"
#include "base/stopwatch.hpp"
#include "engine/check/within_memory.hpp"

namespace cupel::check {

using levels::Level;

namespace {

// A large history takes time without any search. So an attempt may take at least this multiple of
// the time in which the accesses were collected, but at most this share of the time that is left.
constexpr double kLeastPerCollecting = 20, kMostOfTheRest = 1.0 / 4;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// With causal consistency violated, snapshot isolation nearly always is too, which settles
// serializability. The weak levels stay in front of it.
void snapshot_isolation_first(std::span<Level> order) {
  const auto next = std::find(order.begin(), order.end(), Level::kSnapshotIsolation);
  if (next == order.end()) return;
  std::rotate(std::find_if_not(order.begin(), next, levels::is_weak), next, next + 1);
}

}  // namespace

void Ladder::decide_all(std::span<const Level> asked) {
  prepare();
  std::vector<Level> polynomial, order;
  for (const Level level : levels::ladder_order()) {
    if (std::find(asked.begin(), asked.end(), level) == asked.end()) continue;
    const bool cheap = decider_ != nullptr && decider_->is_polynomial(level);
    (cheap ? polynomial : order).push_back(level);
  }
  // Without a limit, first a level that settles the polynomial ones too if it is satisfied.
  if (!polynomial.empty() && std::isinf(budget_.seconds_left())) {
    const auto strong = std::find_if(order.begin(), order.end(), [&](Level level) {
      return levels::implies(level, polynomial.front()) && !decider_->refusal(level);
    });
    if (strong != order.end()) attempt(*strong, seconds_of(kShortAttempt));
  }
  // The first one settles the most others, but may not use up their time either.
  if (!polynomial.empty()) attempt(polynomial.front(), seconds_of(kLongAttempt));
  for (std::size_t i = 1; i <= polynomial.size(); ++i) decide(polynomial[i % polynomial.size()]);
  for (const Patience patience : {kShortAttempt, kLongAttempt}) {
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (is_violated(Level::kCausal)) snapshot_isolation_first(std::span(order).subspan(i));
      attempt(order[i], seconds_of(patience));
    }
  }
  for (const Level level : order) decide(level);
  complete_proofs();
}

// Violated, the level is decided; only its proof may be incomplete, which complete_proofs()
// changes.
LevelResult& Ladder::attempt(Level level, double seconds) {
  LevelResult* mine = nullptr;
  bool out_of_time = false;
  {
    const base::Budget::Attempt attempt(budget_, seconds);
    mine = &decide(level, budget_);
    out_of_time = budget_.limit() == base::Limit::kTime;
  }
  if (!out_of_time || budget_.limit() != base::Limit::kNone) return *mine;
  const auto index = static_cast<std::size_t>(level);
  if (mine->verdict == Verdict::kUnknown) {
    done_[index] = false;  // its detail stays, if nothing else comes
  } else if (mine->verdict == Verdict::kViolated && mine->explained_at == level) {
    cut_off_[index] = true;
  }
  return *mine;
}

void Ladder::complete_proofs() {
  for (const Level level : levels::all_levels()) {
    const auto index = static_cast<std::size_t>(level);
    if (!cut_off_[index] || budget_.exceeded()) continue;
    LevelResult before = std::exchange(results_[index], {});
    done_[index] = false;
    if (attempt(level, seconds_of(kLongAttempt)).verdict != Verdict::kViolated) {
      results_[index] = std::move(before);
      done_[index] = true;
      continue;
    }
    for (LevelResult& other : results_) {
      if (other.explained_at == level) other.violation = results_[index].violation;
    }
  }
}

const LevelResult& Ladder::try_to_decide(Level level, base::Budget& budget) {
  const bool before = done(level);
  LevelResult& mine = decide(level, budget);
  if (!before && mine.verdict == Verdict::kUnknown) {
    done_[static_cast<std::size_t>(level)] = false;
    mine.detail.clear();
  }
  return mine;
}

LevelResult& Ladder::decide(Level level, base::Budget& budget) {
  LevelResult& mine = results_[static_cast<std::size_t>(level)];
  if (done(level)) {
    // What was decided since may settle what was left unknown.
    if (mine.verdict == Verdict::kUnknown) follow(mine);
    return mine;
  }
  mine.level = level;
  auto refusal = decider_ != nullptr ? decider_->refusal(level) : std::nullopt;
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
  mine.seconds += seconds_since(begin);
  mine.detail = std::move(decision.detail);
  mine.violation = std::move(decision.violation);
  mine.witness = std::move(decision.witness);
  if (mine.violation) mine.explained_at = level;
  return finish(mine, decision.status, decision.decided_by);
}

double Ladder::seconds_of(Patience patience) {
  const double left = budget_.seconds_left();
  if (std::isinf(left))
    return std::max(patience.without_limit, kLeastPerCollecting * collecting_seconds_);
  return std::max(patience.share * left,
                  std::min(kLeastPerCollecting * collecting_seconds_, kMostOfTheRest * left));
}

void Ladder::prepare() {
  if (decider_ == nullptr) return;
  const base::Stopwatch::Lap lap(budget_.stopwatch(), "describe");
  const auto begin = std::chrono::steady_clock::now();
  within_memory(budget_, [&] { return (decider_->prepare(budget_), true); });
  collecting_seconds_ = seconds_since(begin);
}

bool Ladder::is_violated(Level level) const {
  return done(level) && known(level).verdict == Verdict::kViolated;
}

// Settles a level by one that was decided itself; false if none does.
bool Ladder::follow(LevelResult& mine) {
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

LevelResult& Ladder::finish(LevelResult& result, Verdict verdict, std::string decided_by) {
  result.verdict = verdict;
  result.decided_by = std::move(decided_by);
  done_[static_cast<std::size_t>(result.level)] = true;
  return result;
}

}  // namespace cupel::check
