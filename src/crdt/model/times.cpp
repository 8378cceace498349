// Times: see the header. Who has seen an operation has seen all before it on its replica, so the
// first one that was invoked too late is the bound.
#include "crdt/model/times.hpp"

#include <algorithm>

namespace cupel::crdt {

void spread_times(History& history) {
  for (const auto& line : history.by_replica) {
    std::int64_t latest = kAlways;
    for (const OpId id : line) {
      Operation& op = history.ops[id];
      latest = op.begun = std::max(latest, op.begun);
    }
    std::int64_t earliest = kNever;
    for (auto id = line.rbegin(); id != line.rend(); ++id) {
      Operation& op = history.ops[*id];
      earliest = op.ended = std::min(earliest, op.ended);
      if (op.begun > op.ended) history.backward_clock_line = op.line;
    }
  }
  if (history.backward_clock_line != 0) history = without_times(std::move(history));
}

void allow_clock_drift(History& history, std::int64_t nanoseconds) {
  for (Operation& op : history.ops) {
    op.begun = op.begun < kAlways + nanoseconds ? kAlways : op.begun - nanoseconds;
    op.ended = op.ended > kNever - nanoseconds ? kNever : op.ended + nanoseconds;
  }
}

History without_times(History history) {
  for (Operation& op : history.ops) {
    op.begun = kAlways;
    op.ended = kNever;
  }
  return history;
}

bool has_times(const History& history) {
  const auto& ops = history.ops;
  return history.replicas.size() > 1 &&
         std::any_of(ops.begin(), ops.end(), [](auto& op) { return op.begun != kAlways; }) &&
         std::any_of(ops.begin(), ops.end(), [](auto& op) { return op.ended != kNever; });
}

std::uint32_t most_by_times(const History& history, const Operation& op, std::uint32_t replica) {
  const auto& line = history.by_replica[replica];
  const auto late = std::partition_point(
      line.begin(), line.end(), [&](OpId id) { return !is_too_late(history.ops[id], op); });
  return static_cast<std::uint32_t>(late - line.begin());
}

std::optional<LateUpdate> late_update(const History& history, const Clocks& clocks) {
  if (!has_times(history)) return std::nullopt;
  for (OpId id = 0; id < history.ops.size(); ++id) {
    const auto row = clocks.row(id);
    for (std::uint32_t j = 0; j < row.size(); ++j) {
      if (row[j] == 0) continue;
      const OpId last = history.by_replica[j][row[j] - 1];
      if (is_too_late(history.ops[last], history.ops[id])) return LateUpdate{id, last};
    }
  }
  return std::nullopt;
}

std::optional<LateUpdate> late_update(const History& history, const Visibility& visibility) {
  if (!has_times(history)) return std::nullopt;
  std::optional<LateUpdate> late;
  std::uint32_t self = 0;
  OpId latest = kNone;
  replay(
      history, visibility,
      [&](std::uint32_t r) {
        self = r;
        latest = kNone;
      },
      [&](OpId update) {
        const Operation& op = history.ops[update];
        if (op.replica != self && (latest == kNone || history.ops[latest].begun < op.begun))
          latest = update;
      },
      [&](OpId id) {
        if (!late && latest != kNone && is_too_late(history.ops[latest], history.ops[id]))
          late = LateUpdate{id, latest};
        return !late;
      });
  return late;
}

}  // namespace cupel::crdt
