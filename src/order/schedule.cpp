// Stage 2: see schedule.hpp.
#include "order/schedule.hpp"

#include <algorithm>
#include <queue>

#include "base/offsets.hpp"

namespace cupel::order {

namespace {

class Scheduler {
 public:
  explicit Scheduler(const ScheduleInput& input)
      : problem_(input.problem),
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

  ScheduleResult run(base::Budget& budget, bool or_nothing) {
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
        if (ran_[v]) continue;
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
      if (or_nothing) break;
      const Node v = blocked_.top().node;
      blocked_.pop();
      if (ran_[v]) continue;
      note_breaks(v);
      run_event(v);
    }
    result_.finished = result_.order.size() == problem_.node_count();
    return std::move(result_);
  }

 private:
  static constexpr Object kNone = std::numeric_limits<Object>::max();
  struct Entry {
    std::uint64_t priority;
    Node node;
    friend bool operator<(const Entry& a, const Entry& b) {
      return a.priority != b.priority ? a.priority > b.priority : a.node > b.node;
    }
  };

  [[nodiscard]] bool begins(Node v) const { return !problem_.split || (v & 1) == 0; }
  [[nodiscard]] bool commits(Node v) const { return !problem_.split || (v & 1) != 0; }

  // Helpers, and owners that only read, run at once: it never hurts.
  [[nodiscard]] std::uint64_t priority(Node v) const {
    if (problem_.is_helper(v) || versions_.slots_of(problem_.owner_of(v)).empty()) return 0;
    return hint_[v] + 1;
  }
  void ready(Node v) { ready_.push({priority(v), v}); }

  [[nodiscard]] std::uint32_t pending_of_current(Object x) const {
    return current_[x] == kInitialSlot ? pending_initial_[x] : pending_[current_[x]];
  }
  [[nodiscard]] Owner current_writer(Object x) const {
    return current_[x] == kInitialSlot ? kInitial : versions_.writer(current_[x]);
  }
  [[nodiscard]] bool is_candidate(std::uint32_t r) const {
    return open_reads_.is_candidate(r, current_writer(problem_.reads[r].object));
  }

  // The object on which v has to wait, or kNone.
  Object blocked_on(Node v) {
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

  [[nodiscard]] std::uint32_t own_reads_of_current(Owner o, Object x) const {
    for (auto r = read_first_[o]; r < read_first_[o + 1]; ++r) {
      if (problem_.reads[r].object != x || result_.writers[r] == kUnresolved) continue;
      return slot_of_read_[r] == current_[x] ? 1 : 0;
    }
    return 0;
  }

  void note_breaks(Node v) {
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

  void wake(Object x) {
    for (const Node v : waiting_[x]) {
      if (!ran_[v]) ready(v);
    }
    waiting_[x].clear();
  }

  void run_event(Node v) {
    ran_[v] = 1;
    result_.order.push_back(v);
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
  }

  const Problem& problem_;
  const Versions& versions_;
  const OpenReads& open_reads_;
  const graph::Digraph& known_;
  const graph::Digraph extra_;
  std::span<const std::uint64_t> hint_;
  std::vector<std::uint32_t> read_first_;
  std::vector<Slot> slot_of_read_;
  std::vector<std::uint32_t> missing_;
  std::vector<Slot> current_;
  std::vector<std::uint32_t> pending_, pending_initial_;
  std::vector<Owner> open_writer_;
  std::vector<std::vector<Node>> waiting_;
  std::vector<std::uint8_t> ran_;
  std::priority_queue<Entry> ready_, blocked_;
  ScheduleResult result_;
};

}  // namespace

ScheduleResult schedule(const ScheduleInput& input, base::Budget& budget, bool or_nothing) {
  return Scheduler(input).run(budget, or_nothing);
}

}  // namespace cupel::order
