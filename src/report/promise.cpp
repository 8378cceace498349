// See the header.
#include "report/promise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/visible.hpp"
#include "engine/explain/why/words.hpp"
#include "engine/levels/product.hpp"

namespace cupel::report {

using base::Verdict;
using levels::Level;

namespace {

Verdict verdict_at(const Checked& checked, Level level) {
  for (const auto& one : checked.analysis.check.levels) {
    if (one.level == level) return one.verdict;
  }
  return Verdict::kUnknown;
}

// What the database promises, if that level decides.
std::optional<Level> promised_and_decisive(const Checked& checked) {
  const auto level = levels::promised(checked.history);
  return level && decisive_levels(checked) == std::vector{*level} ? level : std::nullopt;
}

std::string enumerated(const std::vector<Level>& list) {
  std::vector<std::string> words;
  for (const Level level : list) words.emplace_back(levels::name(level));
  return explain::enumerate(words);
}

}  // namespace

std::vector<Level> decisive_levels(const Checked& checked) {
  if (!checked.decisive.empty()) return {checked.decisive.begin(), checked.decisive.end()};
  const auto level = levels::promised(checked.history);
  if (!level || checked.analysis.check.levels.size() != levels::all_levels().size()) return {};
  return {*level};
}

Verdict verdict_of_levels(const Checked& checked) {
  const auto decisive = decisive_levels(checked);
  bool satisfied = false, unknown = false;
  for (const auto& one : checked.analysis.check.levels) {
    const bool decides =
        decisive.empty() ? one.verdict != Verdict::kRefused
                         : std::find(decisive.begin(), decisive.end(), one.level) != decisive.end();
    if (!decides) continue;
    if (one.verdict == Verdict::kViolated) return Verdict::kViolated;
    satisfied |= one.verdict == Verdict::kSatisfied;
    unknown |= one.verdict != Verdict::kSatisfied;
  }
  return satisfied && !unknown ? Verdict::kSatisfied : Verdict::kUnknown;
}

bool keeps_promise(const Checked& checked) {
  return !decisive_levels(checked).empty() && verdict_of_levels(checked) == Verdict::kSatisfied;
}

std::string promise_text(const Checked& checked) {
  const auto level = promised_and_decisive(checked);
  if (!level) return {};
  const auto verdict = verdict_at(checked, *level);
  if (verdict != Verdict::kSatisfied && verdict != Verdict::kViolated) return {};
  const bool kept = verdict == Verdict::kSatisfied;
  return fmt::format("{} the promise of {} at {}: {}{}", kept ? "keeps" : "breaks",
                     base::visible(checked.history.fact("database")),
                     base::visible(checked.history.fact("isolation")), levels::name(*level),
                     kept ? "" : " is violated");
}

std::string not_promised_text(const Checked& checked) {
  const auto& weakest = checked.analysis.check.weakest_violated;
  if (weakest.empty() || !keeps_promise(checked)) return {};
  const auto* why = promised_and_decisive(checked) ? "it does not promise"
                    : weakest.size() == 1          ? "does not decide this run"
                                                   : "do not decide this run";
  return fmt::format("violates {}, which {}", enumerated(weakest), why);
}

}  // namespace cupel::report
