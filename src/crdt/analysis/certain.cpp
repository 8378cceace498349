// Certain: see the header.
#include "crdt/analysis/certain.hpp"

#include <algorithm>

namespace cupel::crdt {

namespace {

bool is_violated_elsewhere(const History& history, const Analysis& analysis) {
  if (analysis.decision.verdict != Verdict::kViolated || !analysis.explanation ||
      history.context.rule != DeliveryRule::kApplied)
    return false;
  const auto keys = history.keys_of_absent();
  const auto& ops = analysis.explanation->core.ops;
  return std::none_of(ops.begin(), ops.end(),
                      [&](OpId id) { return keys.contains(history.ops[id].key); });
}

}  // namespace

bool is_certain(const History& history, const Analysis& analysis) {
  return analysis.decision.verdict == Verdict::kSatisfied ||
         is_violated_elsewhere(history, analysis);
}

bool is_certain(const Recording& recording, const RecordingAnalysis& analysis) {
  if (analysis.decided != Verdict::kViolated) return analysis.decided == Verdict::kSatisfied;
  for (std::size_t o = 0; o < analysis.objects.size(); ++o) {
    const auto& object = analysis.objects[o];
    if (object.decision.verdict == Verdict::kViolated &&
        !is_violated_elsewhere(recording.objects[o].history, object))
      return false;
  }
  return true;
}

}  // namespace cupel::crdt
