// The classes of Jepsen's checker `total-queue` (jepsen.checker 0.3.14), as multisets: `lost` were
// acknowledged more often than dequeued, `unexpected` were never tried, `duplicated` were dequeued
// more often than tried, `recovered` came out more often than acknowledged.
#include <algorithm>

#include "engine/objects/kinds.hpp"

namespace cupel::objects {

Jepsen jepsen_queue(const history::ObjectHistory& history, Ops ops, ByElement& scratch) {
  struct Counts {
    std::uint32_t id = 0;
    std::uint64_t tried = 0, acknowledged = 0, dequeued = 0;
  };
  std::vector<Counts> all;
  for (const auto id : ops) {
    const auto& op = history.ops[id];
    const bool enqueue = op.call == history::Call::kEnqueue;
    if (!enqueue && !op.certain()) continue;
    const auto element = history.values_of(op)[0];
    if (scratch.at(element) == kNone) {
      scratch.set(element, static_cast<std::uint32_t>(all.size()));
      all.push_back({.id = element});
    }
    auto& counts = all[scratch.at(element)];
    if (enqueue) {
      ++counts.tried;
      counts.acknowledged += op.status == history::TxnStatus::kCommitted ? 1 : 0;
    } else {
      ++counts.dequeued;
    }
  }
  scratch.forget();
  JepsenClass lost{.name = "lost"}, unexpected{.name = "unexpected"},
      duplicated{.name = "duplicated"}, recovered{.name = "recovered"};
  const auto note = [](JepsenClass& found, std::uint32_t element, std::uint64_t more,
                       std::uint64_t less) {
    if (more <= less) return;
    found.count += more - less;
    if (found.elements.size() < kElementsListed) found.elements.push_back(element);
  };
  for (const auto& one : all) {
    note(lost, one.id, one.acknowledged, one.dequeued);
    note(one.tried == 0 ? unexpected : duplicated, one.id, one.dequeued, one.tried);
    note(recovered, one.id, std::min(one.dequeued, one.tried), one.acknowledged);
  }
  const bool valid = lost.count == 0 && unexpected.count == 0;
  return {.checker = "total-queue",
          .verdict = valid ? Verdict::kSatisfied : Verdict::kViolated,
          .classes = {std::move(lost), std::move(unexpected), std::move(duplicated),
                      std::move(recovered)}};
}

}  // namespace cupel::objects
