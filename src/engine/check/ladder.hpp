// Ladder: the order in which several levels are decided, the time that each may take, and the
// verdicts that follow from others.
//
// No level may starve another one that is cheaper:
//   1. The polynomial levels come first. Their time is bounded, so they get all of it. Without a
//      time limit none can starve: the first of the others that implies them gets a short attempt
//      before them.
//   2. The others follow in the order of their ladder positions, strict serializability first:
//      if it holds, all levels but linearizability follow. Each gets a short attempt, then a long
//      one, and at last the rest of the time.
//   3. A proof that was cut off is completed last, after every verdict is known.
#pragma once

#include <array>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/budget.hpp"
#include "engine/check/check.hpp"
#include "engine/levels/decision.hpp"
#include "engine/levels/level.hpp"

namespace cupel::check {

// The decisions that a ladder asks for: levels::Decider in the program, a script in the tests.
class LevelDecider {
 public:
  virtual ~LevelDecider() = default;
  // The reason why the level has no meaning for the history, if so.
  virtual std::optional<std::string> refusal(levels::Level level) = 0;
  // Collects what all levels share.
  virtual void prepare(base::Budget& budget) = 0;
  // True if the time of decide() is polynomial for this history. Called after prepare().
  virtual bool is_polynomial(levels::Level level) = 0;
  virtual levels::Decision decide(levels::Level level, base::Budget& budget) = 0;
};

class Ladder {
 public:
  // Both are borrowed. `decider` may be null: then the memory limit was met while it was made.
  Ladder(LevelDecider* decider, base::Budget& budget) : decider_(decider), budget_(budget) {}

  // Decides several levels, each at most once.
  void decide_all(std::span<const levels::Level> asked);
  // Decides `level` unless its verdict follows from a known one.
  LevelResult& decide(levels::Level level) { return decide(level, budget_); }
  // Likewise, but only to name a violation better: if `budget` ends, the level counts as not asked.
  const LevelResult& try_to_decide(levels::Level level, base::Budget& budget);

  [[nodiscard]] bool done(levels::Level level) const {
    return done_[static_cast<std::size_t>(level)];
  }
  [[nodiscard]] const LevelResult& known(levels::Level level) const {
    return results_[static_cast<std::size_t>(level)];
  }

 private:
  LevelResult& decide(levels::Level level, base::Budget& budget);
  // Time of an attempt: a share of the time that is left, or so many seconds if there is no limit.
  struct Patience {
    double share, without_limit;
  };
  static constexpr Patience kShortAttempt{1.0 / 32, 2};
  static constexpr Patience kLongAttempt{1.0 / 2, std::numeric_limits<double>::infinity()};

  LevelResult& attempt(levels::Level level, double seconds);
  [[nodiscard]] double seconds_of(Patience patience);
  [[nodiscard]] bool is_violated(levels::Level level) const;
  void prepare();
  void complete_proofs();
  bool follow(LevelResult& mine);
  LevelResult& finish(LevelResult& result, Verdict verdict, std::string decided_by);

  LevelDecider* const decider_;
  base::Budget& budget_;
  std::array<LevelResult, levels::kLevelCount> results_{};
  std::array<bool, levels::kLevelCount> done_{};
  std::array<bool, levels::kLevelCount> cut_off_{};  // violated, with a proof that was cut off
  double collecting_seconds_ = 0;
};

}  // namespace cupel::check
