// The class of Jepsen's checker `counter` (jepsen.checker 0.3.14): reads out of bounds. When a read
// begins, the sum of the acknowledged adds is its lower bound; when it ends, the sum of all adds
// that were tried is its upper bound. Adds that failed by then do not count. Adds of negative
// numbers are no counter to Jepsen.
#include <algorithm>

#include "engine/objects/kinds.hpp"

namespace cupel::objects {

Jepsen jepsen_counter(const history::ObjectHistory& history, Ops ops) {
  struct Event {
    std::uint32_t place;
    bool ends;
    std::uint32_t op;
  };
  using history::Call;
  using history::TxnStatus;
  Jepsen result{.checker = "counter", .verdict = Verdict::kSatisfied};
  std::vector<Event> events;
  for (const auto id : ops) {
    const auto& op = history.ops[id];
    if (op.call == Call::kAdd && op.number < 0) {
      return {.checker = "counter", .error = "Jepsen's counter has no adds of negative numbers"};
    }
    events.push_back({op.invoke_place, false, id});
    if (op.complete_place != kNone) events.push_back({op.complete_place, true, id});
  }
  std::sort(events.begin(), events.end(),
            [](const Event& a, const Event& b) { return a.place < b.place; });
  JepsenClass errors{.name = "errors"};
  std::uint64_t lower = 0, upper = 0;  // sums that are too large wrap around, as no read has them
  std::vector<std::pair<std::uint32_t, std::uint64_t>> open;  // reads, and their lower bounds
  for (const auto& event : events) {
    const auto& op = history.ops[event.op];
    const auto number = static_cast<std::uint64_t>(op.number);
    if (op.call == Call::kAdd) {
      // Jepsen removes failed operations before it begins.
      if (op.status == TxnStatus::kAborted) continue;
      if (!event.ends) upper += number;
      if (event.ends && op.status == TxnStatus::kCommitted) lower += number;
      continue;
    }
    if (!event.ends) {
      open.emplace_back(event.op, lower);
      continue;
    }
    const auto read = std::find_if(open.begin(), open.end(),
                                   [&](const auto& one) { return one.first == event.op; });
    const bool bad = op.certain() && (op.number < 0 || number < read->second || number > upper);
    if (bad) ++errors.count;
    open.erase(read);
  }
  if (errors.count > 0) result.verdict = Verdict::kViolated;
  result.classes = {std::move(errors)};
  return result;
}

}  // namespace cupel::objects
