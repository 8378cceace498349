// Repairs of a schedule: see docs/internals/algorithms/schedule.md.
//
// Every event that might run is blocked. Then some event ran too soon, and one of the blocked ones
// must be before it: a commit before the version that it would overwrite while somebody is still to
// read it, a begin before the writer whose events overlap its own, a read before the version that
// replaced its last candidate. Which one it was is a guess, by the hints; the schedule is taken
// back to that event, which has to wait from now on. The order at the end is replayed like any
// other, so a wrong guess costs time and nothing else. Cost: what is taken back is at most as long
// as the order that there is, so a repaired schedule takes no more than twice the time of a plain
// one.
#include <algorithm>

#include "engine/order/scheduler.hpp"

namespace cupel::order {

namespace {

// So many events may be taken back beyond the length of the order.
constexpr std::size_t kFreeSteps = 256;
// Versions that the search for an overwritten candidate visits.
constexpr std::size_t kLookBack = 512;

}  // namespace

bool Scheduler::repair() {
  std::vector<Node> stuck;
  std::optional<Repair> chosen;
  for (; !blocked_.empty(); blocked_.pop()) {
    const Node v = blocked_.top().node;
    if (ran_[v] || missing_[v] != 0 || (!stuck.empty() && stuck.back() == v)) continue;
    stuck.push_back(v);
    consider(v, chosen);
  }
  if (!chosen || !take_back(chosen->to)) return false;
  learned_[chosen->from].push_back(chosen->to);
  learned_arcs_.insert({chosen->from, chosen->to});
  ++missing_[chosen->to];
  for (const Node v : stuck) leave_lines(v);
  for (const auto& events : {stuck, taken_back_}) {
    for (const Node v : events) {
      if (missing_[v] == 0) ready(v);
    }
  }
  return true;
}

// What is stuck becomes ready, and would be in a line twice.
void Scheduler::leave_lines(Node v) {
  for (const Slot s : versions_.slots_of(problem_.owner_of(v))) {
    const Object x = versions_.object(s);
    for_readers_[x].clear();
    if (problem_.write_to_begin) for_overlap_[x].clear();
  }
}

// A likely repair before others, then the one that takes back the least.
void Scheduler::offer(const Repair& repair, std::optional<Repair>& chosen) const {
  if (ran_[repair.to] == 0 || repair.from == repair.to) return;
  if (chosen &&
      (chosen->likely != repair.likely ? chosen->likely : ran_[chosen->to] > ran_[repair.to]))
    return;
  if (!learned_arcs_.contains({repair.from, repair.to})) chosen = repair;
}

// What might unblock v. Most stuck events only wait for another stuck one.
void Scheduler::consider(Node v, std::optional<Repair>& chosen) const {
  const Owner o = problem_.owner_of(v);
  if (begins(v)) {
    for (auto r = read_first_[o]; r < read_first_[o + 1]; ++r) {
      if (result_.writers[r] == kUnresolved && !is_candidate(r)) consider_read(o, r, chosen);
    }
    if (problem_.write_to_begin) {
      for (const Slot s : versions_.slots_of(o)) {
        const Owner open = open_writer_[versions_.object(s)];
        if (open != kInitial && open != o)
          offer({problem_.commit(o), problem_.begin(open), false}, chosen);
      }
    }
  }
  if (!commits(v)) return;
  for (const Slot s : versions_.slots_of(o)) {
    const Object x = versions_.object(s);
    // Readers of the initial version are before every writer in any case.
    if (current_[x] == kInitialSlot || pending_of_current(x).reads == 0) continue;
    bool likely = false;
    for (const std::uint32_t r : versions_.readers(current_[x])) {
      const Node reader = problem_.begin(problem_.reads[r].owner);
      likely |= !ran_[reader] && hint_[reader] > hint_[v];
    }
    offer({v, problem_.write_target(current_writer(x)), likely}, chosen);
  }
}

// The read of o found none of its candidates current: the last one that was must not have been
// overwritten yet.
void Scheduler::consider_read(Owner o, std::uint32_t r, std::optional<Repair>& chosen) const {
  const Read& read = problem_.reads[r];
  bool likely = true;
  for (auto c = read.first_candidate; c < read.last_candidate; ++c) {
    const Owner w = problem_.candidates[c];
    if (w == kInitial || ran_[problem_.commit(w)] || !open_reads_.is_candidate(r, w)) continue;
    likely &= hint_[problem_.begin(w)] > hint_[problem_.commit(o)];
  }
  std::size_t steps = 0;
  for (Slot s = current_[read.object]; s != kInitialSlot && ++steps < kLookBack;) {
    const Slot before = replaced_[s];
    const Owner writer = before == kInitialSlot ? kInitial : versions_.writer(before);
    if (open_reads_.is_candidate(r, writer)) {
      offer({problem_.begin(o), problem_.commit(versions_.writer(s)), likely}, chosen);
      return;
    }
    s = before;
  }
}

// Takes back `first` and every event since; false: it would cost too much.
bool Scheduler::take_back(Node first) {
  auto& order = result_.order;
  const std::size_t affordable =
      kFreeSteps + order.size() > steps_back_ ? kFreeSteps + order.size() - steps_back_ : 0;
  std::size_t count = order.size() - ran_[first] + 1;
  if (count > affordable) return false;
  taken_back_.clear();
  for (; count > 0; --count) {
    const Node v = order.back();
    order.pop_back();
    take_back_event(v);
    taken_back_.push_back(v);
  }
  steps_back_ += taken_back_.size();
  return true;
}

// The reverse of run_event.
void Scheduler::take_back_event(Node v) {
  ran_[v] = 0;
  for (const auto& out : known_.out(v)) ++missing_[out.to];
  for (const auto& out : extra_.out(v)) ++missing_[out.to];
  for (const Node to : learned(v)) ++missing_[to];
  if (problem_.is_helper(v)) return;
  const Owner o = problem_.owner_of(v);
  if (commits(v)) {
    for (const Slot s : versions_.slots_of(o)) {
      const Object x = versions_.object(s);
      current_[x] = replaced_[s];
      if (problem_.write_to_begin) open_writer_[x] = o;
    }
  }
  if (!begins(v)) return;
  for (auto r = read_first_[o]; r < read_first_[o + 1]; ++r) {
    if (given_writers_[r] == kUnresolved) {
      result_.writers[r] = kUnresolved;
    } else {
      (given_writers_[r] == kInitial ? pending_initial_[problem_.reads[r].object]
                                     : pending_[slot_of_read_[r]])
          .add(o);
    }
  }
  if (problem_.write_to_begin) {
    for (const Slot s : versions_.slots_of(o)) open_writer_[versions_.object(s)] = kInitial;
  }
}

}  // namespace cupel::order
