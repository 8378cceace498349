// check: decides what levels a history satisfies. The pipeline
// history → internal checks → order problem → witness or derivation,
// the ladder over all levels, budgets, and what follows by implication.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/budget.hpp"
#include "base/team.hpp"
#include "base/verdict.hpp"
#include "data/history/history.hpp"
#include "engine/levels/accesses.hpp"
#include "engine/levels/derivation.hpp"
#include "engine/levels/level.hpp"
#include "engine/levels/witness.hpp"

namespace cupel::levels {
class Decider;
}

namespace cupel::check {

// kUnknown: `detail` says which limit was met and what was reached. kRefused: `detail` says why.
using base::to_string;
using base::Verdict;

struct Options {
  // Changes what is asked.
  std::vector<levels::Level> asked;  // empty: the ladder, every level
  history::Time clock_drift_ns = 0;  // intervals are widened by this on both sides
  // Witnesses for what is satisfied, and derivations for an independent checker: what
  // certificates are made of. Costs memory, and time where proofs go by cases.
  bool evidence = false;
  // Changes how much it may cost.
  std::optional<double> timeout_seconds;  // for the whole history, all levels together
  std::uint64_t memory_limit_bytes = 0;   // resident, whole process; 0: none
  unsigned threads = 0;                   // 0: as many as the machine has. Never changes an answer
  base::Team* team =
      nullptr;  // whose other processes have a TeamMember each. Never changes an answer
};

struct LevelResult {
  levels::Level level;
  Verdict verdict = Verdict::kUnknown;
  // "internal", "saturation", "schedule", "refine", "chain",
  // "zones" or "implied-by:LEVEL".
  std::string decided_by;
  double seconds = 0;
  std::string detail;  // for kUnknown and kRefused: one sentence
  // For kViolated. When implied by a weaker level's violation: that violation,
  // and `explained_at` names the level at which it was found.
  std::optional<levels::Violation> violation;
  std::optional<levels::Level> explained_at;
  // For kSatisfied, if options.evidence: also when implied.
  std::shared_ptr<const levels::Witness> witness;
};

struct CheckResult {
  std::vector<LevelResult> levels;                 // asked order; ladder: weakest first
  std::vector<levels::Level> strongest_satisfied;  // maximal under implication
  std::vector<levels::Level> weakest_violated;     // minimal under implication
  // For those who go on with a history that violates something. What was decided without
  // having been asked, to name a violation; and what all levels were decided by.
  std::vector<LevelResult> besides;
  std::shared_ptr<const levels::Accesses> accesses;
};

// Deterministic: same history and options give the same result (seconds aside).
CheckResult check(const history::History& history, const Options& options);
// The same within a budget that began earlier, with the reading of the history;
// the limits of the options are not looked at.
CheckResult check(const history::History& history, const Options& options, base::Budget& budget);

// Of the levels of the result, the strongest that are satisfied and the weakest that are violated.
void note_extremes(CheckResult& result);

// A process of a team, not the first: answers what the check() of the first asks it about the same
// history with the same options.
class TeamMember {
 public:
  TeamMember(const history::History& history, const Options& options, base::TeamPart part);
  ~TeamMember();
  // Empty: it cannot.
  std::string answer(std::string_view question);

 private:
  base::TeamPart part_;
  base::Budget budget_;
  std::unique_ptr<levels::Decider> decider_;
};

// The answer to a history that was not read to its end because a limit was met:
// every level asked is unknown, with this detail.
CheckResult unread(const Options& options, const std::string& detail);

}  // namespace cupel::check
