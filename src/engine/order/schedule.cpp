// Stage 2: see schedule.hpp.
#include "engine/order/schedule.hpp"

#include <algorithm>
#include <bit>

#include "base/offsets.hpp"
#include "engine/order/scheduler.hpp"

namespace cupel::order {

Scheduler::Scheduler(const ScheduleInput& input, WhenBlocked when_blocked)
    : problem_(input.problem),
      when_blocked_(when_blocked),
      hopeless_(input.hopeless),
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
      pending_(versions_.slot_count()),
      pending_initial_(problem_.object_count),
      replaced_(when_blocked == WhenBlocked::kRepair ? versions_.slot_count() : 0, kInitialSlot),
      open_writer_(problem_.write_to_begin ? problem_.object_count : 0, kInitial),
      for_read_(problem_.object_count),
      for_overlap_(problem_.write_to_begin ? problem_.object_count : 0),
      for_readers_(problem_.object_count),
      ran_(problem_.node_count(), 0) {
  result_.writers.assign(input.writer_of.begin(), input.writer_of.end());
  for (std::uint32_t r = 0; r < problem_.reads.size(); ++r) {
    const Owner w = result_.writers[r];
    const Owner reader = problem_.reads[r].owner;
    if (w == kUnresolved) continue;
    if (w == kInitial) {
      pending_initial_[problem_.reads[r].object].add(reader);
    } else {
      slot_of_read_[r] = w == versions_.writer_of(r)
                             ? versions_.slot_of_read(r)
                             : versions_.slot_of(problem_.reads[r].object, w);
      pending_[slot_of_read_[r]].add(reader);
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
      const Ready next = ready_.top();
      const Node v = next.node;
      ready_.pop();
      if (!ran_[v] && missing_[v] == 0) {
        if (const Blocked on = blocked_on(v); on.wait != Wait::kNone) {
          wait(v, on);
        } else {
          run_event(v);
        }
      }
      if (next.line.wait != Wait::kNone) call_next(next.line);
      continue;
    }
    if (blocked_.empty()) break;  // a cycle of known arcs
    if (when_blocked_ == WhenBlocked::kStop) break;
    if (when_blocked_ == WhenBlocked::kRepair) {
      if (std::has_single_bit(++repairs_) && hopeless_ && hopeless_(result_.order)) break;
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

Scheduler::Blocked Scheduler::blocked_on(Node v) const {
  if (problem_.is_helper(v)) return kFree;
  const Owner o = problem_.owner_of(v);
  if (begins(v)) {
    for (auto r = read_first_[o]; r < read_first_[o + 1]; ++r) {
      if (result_.writers[r] == kUnresolved && !is_candidate(r))
        return {problem_.reads[r].object, Wait::kRead};
    }
    if (problem_.write_to_begin) {
      for (const Slot s : versions_.slots_of(o)) {
        const Object x = versions_.object(s);
        if (open_writer_[x] != kInitial) return {x, Wait::kOverlap};
      }
    }
  }
  if (commits(v)) {
    for (const Slot s : versions_.slots_of(o)) {
      const Object x = versions_.object(s);
      std::uint32_t others = pending_of_current(x).reads;
      if (others != 0 && !problem_.split) others -= own_reads_of_current(o, x);
      if (others != 0) return {x, Wait::kReaders};
    }
  }
  return kFree;
}

void Scheduler::wait(Node v, Blocked on) {
  blocked_.push({priority(v), v});
  if (on.wait == Wait::kRead) {
    for_read_[on.object].push_back(v);
  } else {
    auto& waiting = line(on);
    waiting.push_back({priority(v), v});
    std::push_heap(waiting.begin(), waiting.end());
  }
}

// Where one event is an owner, the last reader of the current version may be one that waits to
// overwrite it, and nobody but that one may go on.
void Scheduler::call_next(Blocked of) {
  if (of.wait == Wait::kOverlap && open_writer_[of.object] != kInitial) return;
  if (of.wait == Wait::kReaders) {
    const auto& pending = pending_of_current(of.object);
    if (pending.reads == 1 && !problem_.split) {
      const Node last = problem_.commit(static_cast<Owner>(pending.owners));
      if (!ran_[last] && missing_[last] == 0) ready(last);
    }
    if (pending.reads != 0) return;
  }
  auto& waiting = line(of);
  while (!waiting.empty()) {
    const Node v = waiting.front().node;
    std::pop_heap(waiting.begin(), waiting.end());
    waiting.pop_back();
    if (ran_[v] || missing_[v] != 0) continue;  // it will be ready by itself
    return ready(v, of);
  }
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
      std::uint32_t others = pending_of_current(x).reads;
      if (others != 0 && !problem_.split) others -= own_reads_of_current(o, x);
      if (others == 0) continue;
      // Readers of the initial version have arcs to every writer, so it is
      // never overwritten too soon, but by a choice of writer.
      if (current_[x] != kInitialSlot) result_.pairs.push_back({current_writer(x), o});
    }
  }
}

void Scheduler::wake(Object x) {
  for (const Node v : for_read_[x]) {
    if (!ran_[v] && missing_[v] == 0) ready(v);
  }
  for_read_[x].clear();
  if (problem_.write_to_begin) call_next({x, Wait::kOverlap});
  call_next({x, Wait::kReaders});
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
        pending.remove(o);
        if (pending.reads <= (problem_.split ? 0u : 1u) && slot_of_read_[r] == current_[x]) wake(x);
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
