// analysis: see the header.
#include "engine/explain/counts/whole_history.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <set>
#include <string_view>

#include "engine/explain/counts/severity.hpp"

namespace cupel::counts {

namespace {

// Seconds, and of what the check took: on a large history the search for more causes
// costs little beside the check.
constexpr double kCausesAtLeast = 2;
constexpr double kCausesShare = 0.1;

bool satisfied(const check::CheckResult& result, levels::Level level) {
  const auto implied = [&](const auto& one) {
    return one.verdict == check::Verdict::kSatisfied && levels::implies(one.level, level);
  };
  return std::any_of(result.levels.begin(), result.levels.end(), implied) ||
         std::any_of(result.besides.begin(), result.besides.end(), implied);
}

void by_severity(std::vector<AnomalyCount>& counts) {
  std::stable_sort(counts.begin(), counts.end(), [](const AnomalyCount& a, const AnomalyCount& b) {
    return severity(a.name) < severity(b.name);
  });
}

// A component of transactions that are in the past of each other is counted under one of two names.
// A cycle of the other name is in such a component, too.
bool is_counted_otherwise(const WholeHistory& analysis, std::string_view name) {
  if (name != "G1c" && name != "G1c-process") return false;
  return std::any_of(analysis.counts.begin(), analysis.counts.end(), [&](const auto& count) {
    return count.name != name && count.exact && count.count > 0 && count.name.starts_with("G1c");
  });
}

// A name that some cause has occurs, whatever its count counts.
void count_causes(const History& history, WholeHistory& analysis) {
  for (const auto& cause : analysis.causes.found) {
    auto it = std::find_if(analysis.counts.begin(), analysis.counts.end(),
                           [&](const AnomalyCount& count) { return count.name == cause.name; });
    if (it == analysis.counts.end()) {
      if (is_counted_otherwise(analysis, cause.name)) continue;
      it = analysis.counts.insert(it, AnomalyCount{cause.name, 0, false, {}, 0});
    }
    std::uint64_t causes = 0;
    for (const auto& other : analysis.causes.found) causes += other.name == cause.name ? 1 : 0;
    // An exact count stands: one transaction may be part of two causes.
    if (it->count < causes && (it->count == 0 || !it->exact)) {
      it->count = causes;
      it->exact = false;
    }
    // Counted exactly, the keys are known as well; else more than are named need no more.
    if (it->exact || it->key_count > it->keys.size()) continue;
    for (const auto& other : analysis.causes.found) {
      if (other.name != cause.name) continue;
      for (const auto key : other.keys) {
        if (std::find(it->keys.begin(), it->keys.end(), key) == it->keys.end())
          it->keys.push_back(key);
      }
    }
    std::sort(it->keys.begin(), it->keys.end(),
              [&](KeyId x, KeyId y) { return history.key(x) < history.key(y); });
    it->key_count = it->keys.size();
  }
  for (auto& count : analysis.counts) {
    if (count.keys.size() > kKeysNamed) count.keys.resize(kKeysNamed);
  }
  by_severity(analysis.counts);
}

}  // namespace

std::optional<WholeHistory> analyze_history(const History& history,
                                            const check::CheckResult& result,
                                            const check::Options& options, base::Budget& budget,
                                            std::optional<double> seconds) {
  const bool violated =
      std::any_of(result.levels.begin(), result.levels.end(),
                  [](const auto& one) { return one.verdict == check::Verdict::kViolated; });
  if (!violated) return std::nullopt;
  double limit = kCausesAtLeast;
  for (const auto& one : result.levels) limit += kCausesShare * one.seconds;
  limit = std::min(seconds.value_or(limit), budget.seconds_left());

  WholeHistory found;
  std::optional<AnomalyCounts> counts;
  {
    const base::AllocationWatch watch(&budget);
    try {
      counts.emplace(
          history, budget,
          PriorResult{result.accesses, satisfied(result, levels::Level::kCausal), options.threads});
    } catch (const std::bad_alloc&) {  // by the watch, or the system's own limit
      if (budget.limit() == base::Limit::kNone) throw;
      return found;
    }
  }
  found.counts = counts->counts();
  found.counted = counts->finished();
  base::Budget for_causes(std::chrono::duration<double>(std::max(0.0, limit)),
                          options.memory_limit_bytes);
  const RootCauseLimits limits{.clock_drift_ns = options.clock_drift_ns,
                               .threads = options.threads};
  found.causes = find_root_causes(history, result, *counts, limits, for_causes);
  count_causes(history, found);
  return found;
}

void count_reported(const History& history, std::span<const explain::Counterexample> reported,
                    WholeHistory& analysis) {
  for (const auto& small : reported) {
    auto it =
        std::find_if(analysis.counts.begin(), analysis.counts.end(),
                     [&](const AnomalyCount& count) { return count.name == small.anomaly.name; });
    if (it == analysis.counts.end()) {
      if (is_counted_otherwise(analysis, small.anomaly.name)) continue;
      it = analysis.counts.insert(it, AnomalyCount{small.anomaly.name, 1, false, {}, 0});
    }
    if (it->exact || it->key_count > it->keys.size()) continue;
    std::set<KeyId> keys(it->keys.begin(), it->keys.end());
    for (std::size_t o = 0; o < small.original_op.size(); ++o) {
      const auto key = small.history.op(history::OpId(o)).key;
      const auto& about = small.anomaly.keys;
      if (key.valid() && std::find(about.begin(), about.end(), key) != about.end()) {
        keys.insert(history.op(small.original_op[o]).key);
      }
    }
    it->keys.assign(keys.begin(), keys.end());
    std::sort(it->keys.begin(), it->keys.end(),
              [&](KeyId x, KeyId y) { return history.key(x) < history.key(y); });
    it->key_count = it->keys.size();
    if (it->keys.size() > kKeysNamed) it->keys.resize(kKeysNamed);
  }
  by_severity(analysis.counts);
}

}  // namespace cupel::counts
