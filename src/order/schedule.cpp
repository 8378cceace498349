// Stage 2: see schedule.hpp.
#include "order/schedule.hpp"

#include <algorithm>

#include "base/offsets.hpp"
#include "order/scheduler.hpp"

namespace cupel::order {

Scheduler::Scheduler(const ScheduleInput& input, WhenBlocked when_blocked)
    : problem_(input.problem),
      when_blocked_(when_blocked),
      given_writers_(input.writer_of),
      versions_(input.versions),
      open_reads_(input.open),
      known_(input.known),
      extra_(problem_.node_count(), input.extra),
      hint_(input.hint),
      read_first_(base::offsets_by(problem_.owner_count, problem_.reads,
                                   [](const Read& read) { return read.owner; })),
      slot_of_read_(problem_.reads.size(), kInitialSlot),
      missing_(problem_.node_count(), 0),
      current_(problem_.object_count, kInitialSlot),
      pending_(versions_.slot_count(), 0),
      pending_initial_(problem_.object_count, 0),
      replaced_(when_blocked == WhenBlocked::kRepair ? versions_.slot_count() : 0, kInitialSlot),
      open_writer_(problem_.write_to_begin ? problem_.object_count : 0, kInitial),
      waiting_(problem_.object_count),
      ran_(problem_.node_count(), 0) {
  result_.writers.assign(input.writer_of.begin(), input.writer_of.end());
  for (std::uint32_t r = 0; r < problem_.reads.size(); ++r) {
    const Owner w = result_.writers[r];
    if (w == kUnresolved) continue;
    if (w == kInitial) {
      ++pending_initial_[problem_.reads[r].object];
    } else {
      slot_of_read_[r] = w == versions_.writer_of(r)
                             ? versions_.slot_of_read(r)
                             : versions_.slot_of(problem_.reads[r].object, w);
      ++pending_[slot_of_read_[r]];
    }
  }
  for (Node v = 0; v < problem_.node_count(); ++v) {
    for (const auto& out : known_.out(v)) ++missing_[out.to];
    for (const auto& out : extra_.out(v)) ++missing_[out.to];
  }
}

ScheduleResult Scheduler::run(base::Budget& budget) {
  for (Node v = 0; v < problem_.node_count(); ++v) {
    if (missing_[v] == 0) ready(v);
  }
  result_.order.reserve(problem_.node_count());
  std::size_t steps = 0;
  while (result_.order.size() < problem_.node_count()) {
    if ((++steps & 0x3fff) == 0 && budget.exceeded()) return std::move(result_);
    if (!ready_.empty()) {
      const Node v = ready_.top().node;
      ready_.pop();
      if (ran_[v] || missing_[v] != 0) continue;
      const Object x = blocked_on(v);
      if (x == kNone) {
        run_event(v);
      } else {
        waiting_[x].push_back(v);
        blocked_.push({priority(v), v});
      }
      continue;
    }
    if (blocked_.empty()) break;  // a cycle of known arcs
    if (when_blocked_ == WhenBlocked::kStop) break;
    if (when_blocked_ == WhenBlocked::kRepair) {
      if (!repair()) break;
      continue;
    }
    const Node v = blocked_.top().node;
    blocked_.pop();
    if (ran_[v]) continue;
    note_breaks(v);
    run_event(v);
  }
  result_.finished = result_.order.size() == problem_.node_count();
  return std::move(result_);
}

Object Scheduler::blocked_on(Node v) const {
  if (problem_.is_helper(v)) return kNone;
  const Owner o = problem_.owner_of(v);
  if (begins(v)) {
    for (auto r = read_first_[o]; r < read_first_[o + 1]; ++r) {
      if (result_.writers[r] == kUnresolved && !is_candidate(r)) return problem_.reads[r].object;
    }
    if (problem_.write_to_begin) {
      for (const Slot s : versions_.slots_of(o)) {
        if (open_writer_[versions_.object(s)] != kInitial) return versions_.object(s);
      }
    }
  }
  if (commits(v)) {
    for (const Slot s : versions_.slots_of(o)) {
      const Object x = versions_.object(s);
      std::uint32_t others = pending_of_current(x);
      if (others != 0 && !problem_.split) others -= own_reads_of_current(o, x);
      if (others != 0) return x;
    }
  }
  return kNone;
}

std::uint32_t Scheduler::own_reads_of_current(Owner o, Object x) const {
  for (auto r = read_first_[o]; r < read_first_[o + 1]; ++r) {
    if (problem_.reads[r].object != x || result_.writers[r] == kUnresolved) continue;
    return slot_of_read_[r] == current_[x] ? 1 : 0;
  }
  return 0;
}

void Scheduler::note_breaks(Node v) {
  const Owner o = problem_.owner_of(v);
  if (begins(v)) {
    for (auto r = read_first_[o]; r < read_first_[o + 1]; ++r) {
      if (result_.writers[r] == kUnresolved && !is_candidate(r)) result_.reads.push_back(r);
    }
    if (problem_.write_to_begin) {
      for (const Slot s : versions_.slots_of(o)) {
        const Owner open = open_writer_[versions_.object(s)];
        if (open != kInitial) result_.pairs.push_back({open, o});
      }
    }
  }
  if (commits(v)) {
    for (const Slot s : versions_.slots_of(o)) {
      const Object x = versions_.object(s);
      std::uint32_t others = pending_of_current(x);
      if (others != 0 && !problem_.split) others -= own_reads_of_current(o, x);
      if (others == 0) continue;
      // Readers of the initial version have arcs to every writer, so it is
      // never overwritten too soon, but by a choice of writer.
      if (current_[x] != kInitialSlot) result_.pairs.push_back({current_writer(x), o});
    }
  }
}

void Scheduler::wake(Object x) {
  for (const Node v : waiting_[x]) {
    if (!ran_[v] && missing_[v] == 0) ready(v);
  }
  waiting_[x].clear();
}

void Scheduler::run_event(Node v) {
  result_.order.push_back(v);
  ran_[v] = static_cast<std::uint32_t>(result_.order.size());
  if (!problem_.is_helper(v)) {
    const Owner o = problem_.owner_of(v);
    if (begins(v)) {
      for (auto r = read_first_[o]; r < read_first_[o + 1]; ++r) {
        const Object x = problem_.reads[r].object;
        if (result_.writers[r] == kUnresolved) {
          if (is_candidate(r)) result_.writers[r] = current_writer(x);
          continue;
        }
        auto& pending =
            result_.writers[r] == kInitial ? pending_initial_[x] : pending_[slot_of_read_[r]];
        // Where an owner is one event, what waits may be the last reader itself.
        if (--pending <= (problem_.split ? 0u : 1u) && slot_of_read_[r] == current_[x]) wake(x);
      }
      if (problem_.write_to_begin) {
        for (const Slot s : versions_.slots_of(o)) open_writer_[versions_.object(s)] = o;
      }
    }
    if (commits(v)) {
      for (const Slot s : versions_.slots_of(o)) {
        const Object x = versions_.object(s);
        if (when_blocked_ == WhenBlocked::kRepair) replaced_[s] = current_[x];
        current_[x] = s;
        if (problem_.write_to_begin && open_writer_[x] == o) open_writer_[x] = kInitial;
        wake(x);
      }
    }
  }
  for (const auto& out : known_.out(v)) {
    if (--missing_[out.to] == 0) ready(out.to);
  }
  for (const auto& out : extra_.out(v)) {
    if (--missing_[out.to] == 0) ready(out.to);
  }
  for (const Node to : learned(v)) {
    if (--missing_[to] == 0) ready(to);
  }
}

ScheduleResult schedule(const ScheduleInput& input, base::Budget& budget,
                        WhenBlocked when_blocked) {
  return Scheduler(input, when_blocked).run(budget);
}

}  // namespace cupel::order
