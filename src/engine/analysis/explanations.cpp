// Which anomalies explain a level, and by which counterexample: see the header.
#include "engine/analysis/explanations.hpp"

#include <algorithm>
#include <utility>

namespace cupel::analysis {

using check::LevelResult;
using explain::Counterexample;
using levels::Level;

namespace {

Level explained_at(const LevelResult& result) {
  return result.explained_at.value_or(result.level);
}

bool is_of_level(const Counterexample& small, Level level) {
  return small.level == level ||
         std::find(small.also_at.begin(), small.also_at.end(), level) != small.also_at.end();
}

}  // namespace

ByCause by_cause(const Analysis& analysis, const LevelResult& result) {
  ByCause all{*result.violation, {}};
  if (!analysis.whole_history) return all;
  const bool internal = !all.violation.internal.empty();
  std::vector<const counts::RootCause*> causes;
  for (const auto& cause : analysis.whole_history->causes.found) {
    if (cause.from_check && cause.violation.internal.empty() != internal &&
        explained_at(result) == cause.level) {
      causes.push_back(&cause);
    }
  }
  if (causes.empty()) return all;
  if (!internal) {
    all.occurrences.push_back(causes.front()->occurrences);
    return all;
  }
  std::sort(causes.begin(), causes.end(), [](const auto* a, const auto* b) {
    return a->violation.internal.front().read < b->violation.internal.front().read;
  });
  all.violation.internal.clear();
  for (const auto* cause : causes) {
    all.violation.internal.push_back(cause->violation.internal.front());
    all.occurrences.push_back(cause->occurrences);
  }
  return all;
}

const Counterexample* counterexample_of(const Analysis& analysis, const LevelResult& result,
                                        const std::vector<explain::Anomaly>& anomalies,
                                        std::size_t number) {
  const bool internal = !result.violation->internal.empty();
  const auto& name = anomalies[number].name;
  for (const auto& small : analysis.counterexamples) {
    if (!is_of_level(small, explained_at(result))) continue;
    if (small.violation.internal.empty() == internal) continue;
    if (!internal) return &small;  // a level has one derivation
    if (small.anomaly.name != name) continue;
    // Of internal anomalies the first of each name is made small.
    const bool first =
        std::none_of(anomalies.begin(), anomalies.begin() + static_cast<long>(number),
                     [&](const auto& other) { return other.name == name; });
    return first ? &small : nullptr;
  }
  return nullptr;
}

const Counterexample* counterexample_of(const Analysis& analysis, const counts::RootCause& cause) {
  if (cause.small) return &*cause.small;
  // The check came upon it, so it may be among the counterexamples of the check.
  if (!cause.from_check || !cause.violation.internal.empty()) return nullptr;
  for (const auto& small : analysis.counterexamples) {
    if (small.violation.internal.empty() && is_of_level(small, cause.level)) return &small;
  }
  return nullptr;
}

LevelExplanations explanations_of(const history::History& history, const Analysis& analysis,
                                  const LevelResult& result, std::size_t most) {
  const auto causes = by_cause(analysis, result);
  auto anomalies = explain::explain(history, explained_at(result), causes.violation,
                                    {.fields = &analysis.fields});
  LevelExplanations all;
  all.total = std::max(anomalies.size(), result.violation->internal.size());
  std::vector<const Counterexample*> small;
  for (std::size_t i = 0; i < anomalies.size(); ++i) {
    small.push_back(i < most ? counterexample_of(analysis, result, anomalies, i) : nullptr);
  }
  for (std::size_t i = 0; i < anomalies.size(); ++i) {
    if (i >= most) {
      ++all.left_out[anomalies[i].name];
      continue;
    }
    const auto occurrences = i < causes.occurrences.size() ? causes.occurrences[i] : 0;
    if (small[i] != nullptr) {
      all.shown.push_back({&small[i]->history, small[i]->anomaly, small[i], occurrences});
    } else {
      all.shown.push_back({&history, std::move(anomalies[i]), nullptr, occurrences});
    }
  }
  return all;
}

std::vector<Explanation> explanations_of(const history::History& history, const Analysis& analysis,
                                         const counts::RootCause& cause) {
  if (const auto* small = counterexample_of(analysis, cause)) {
    return {{&small->history, small->anomaly, small, cause.occurrences}};
  }
  std::vector<Explanation> all;
  for (auto& anomaly :
       explain::explain(history, cause.level, cause.violation, {.fields = &analysis.fields})) {
    all.push_back({&history, std::move(anomaly), nullptr, cause.occurrences});
  }
  return all;
}

}  // namespace cupel::analysis
