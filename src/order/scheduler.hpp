// The state of one schedule (schedule.hpp): what ran, in which order, and what waits for what.
//
// Private to schedule.cpp, which runs the events, and schedule_repair.cpp, which takes them back.
#pragma once

#include <limits>
#include <optional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "base/hash_table.hpp"
#include "order/schedule.hpp"

namespace cupel::order {

class Scheduler {
 public:
  Scheduler(const ScheduleInput& input, WhenBlocked when_blocked);
  ScheduleResult run(base::Budget& budget);

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

  Object blocked_on(Node v) const;  // the object on which v has to wait, or kNone
  [[nodiscard]] std::uint32_t own_reads_of_current(Owner o, Object x) const;
  void note_breaks(Node v);
  void wake(Object x);
  void run_event(Node v);

  // schedule_repair.cpp: an event that ran too soon is taken back, with all after it, and must from
  // now on wait for another.
  struct Repair {
    Node from, to;  // `to` ran too soon: `from` has to be first
    bool likely;    // by the hints, `from` is before what it waits for
  };
  [[nodiscard]] bool repair();
  void consider(Node v, std::optional<Repair>& chosen) const;
  void consider_read(Owner o, std::uint32_t r, std::optional<Repair>& chosen) const;
  void offer(const Repair& repair, std::optional<Repair>& chosen) const;
  [[nodiscard]] bool take_back(Node first);
  void take_back_event(Node v);
  [[nodiscard]] std::span<const Node> learned(Node v) const {
    if (learned_.empty()) return {};
    const auto it = learned_.find(v);
    return it == learned_.end() ? std::span<const Node>() : std::span<const Node>(it->second);
  }

  const Problem& problem_;
  const WhenBlocked when_blocked_;
  std::span<const Owner> given_writers_;
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
  std::vector<Slot> replaced_;  // by version: the one that was current before it
  std::vector<Owner> open_writer_;
  std::vector<std::vector<Node>> waiting_;
  std::vector<std::uint32_t> ran_;  // by event: its place in the order, from 1; 0: not yet
  std::priority_queue<Entry> ready_, blocked_;
  // Of repairs.
  base::HashMap<Node, std::vector<Node>> learned_;
  base::HashSet<std::pair<Node, Node>> learned_arcs_;
  std::vector<Node> taken_back_;
  std::size_t steps_back_ = 0;
  ScheduleResult result_;
};

}  // namespace cupel::order
