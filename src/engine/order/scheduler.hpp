// The state of one schedule (schedule.hpp): what ran, in which order, and what waits for what.
//
// Private to schedule.cpp, which runs the events, and schedule_repair.cpp, which takes them back.
#pragma once

#include <cstdint>
#include <optional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "base/hash_table.hpp"
#include "engine/order/schedule.hpp"

namespace cupel::order {

class Scheduler {
 public:
  Scheduler(const ScheduleInput& input, WhenBlocked when_blocked);
  ScheduleResult run(base::Budget& budget);

 private:
  struct Entry {
    std::uint64_t priority;
    Node node;
    friend bool operator<(const Entry& a, const Entry& b) {
      return a.priority != b.priority ? a.priority > b.priority : a.node > b.node;
    }
  };
  // Why an event has to wait for an object. Where one of kOverlap or kReaders waits, so does
  // everybody else who waits for the same object in the same way, or there would be as many looks
  // at each as there are others: so they stand in a line, and only the first is looked at.
  enum class Wait : std::uint8_t {
    kNone,
    kRead,     // until a candidate of its read is current
    kOverlap,  // until the writer that began has committed
    kReaders,  // until the current version was read by all who do
  };
  struct Blocked {
    Object object;
    Wait wait;
  };
  static constexpr Blocked kFree = {0, Wait::kNone};
  struct Ready : Entry {
    Blocked line;  // the next one there has to be looked at after this one
  };

  // Reads of each version, and of each object's initial one, that are still to run; the sum of
  // their owners, which for one read is its owner.
  struct Pending {
    std::uint32_t reads = 0;
    std::uint64_t owners = 0;
    void add(Owner o) { ++reads, owners += o; }
    void remove(Owner o) { --reads, owners -= o; }
  };

  [[nodiscard]] bool begins(Node v) const { return !problem_.split || (v & 1) == 0; }
  [[nodiscard]] bool commits(Node v) const { return !problem_.split || (v & 1) != 0; }

  // Helpers, and owners that only read, run at once: it never hurts.
  [[nodiscard]] std::uint64_t priority(Node v) const {
    if (problem_.is_helper(v) || versions_.slots_of(problem_.owner_of(v)).empty()) return 0;
    return hint_[v] + 1;
  }
  void ready(Node v, Blocked line = kFree) { ready_.push({{priority(v), v}, line}); }

  [[nodiscard]] const Pending& pending_of_current(Object x) const {
    return current_[x] == kInitialSlot ? pending_initial_[x] : pending_[current_[x]];
  }
  [[nodiscard]] Owner current_writer(Object x) const {
    return current_[x] == kInitialSlot ? kInitial : versions_.writer(current_[x]);
  }
  [[nodiscard]] bool is_candidate(std::uint32_t r) const {
    return open_reads_.is_candidate(r, current_writer(problem_.reads[r].object));
  }

  [[nodiscard]] Blocked blocked_on(Node v) const;
  void wait(Node v, Blocked on);
  [[nodiscard]] std::vector<Entry>& line(Blocked of) {
    return (of.wait == Wait::kOverlap ? for_overlap_ : for_readers_)[of.object];
  }
  void call_next(Blocked of);
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
  void leave_lines(Node v);
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
  const std::function<bool(std::span<const Node>)> hopeless_;
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
  std::vector<Pending> pending_, pending_initial_;
  std::vector<Slot> replaced_;  // by version: the one that was current before it
  std::vector<Owner> open_writer_;
  std::vector<std::vector<Node>> for_read_;                    // by object: Wait::kRead
  std::vector<std::vector<Entry>> for_overlap_, for_readers_;  // by object: heaps
  std::vector<std::uint32_t> ran_;  // by event: its place in the order, from 1; 0: not yet
  std::priority_queue<Ready> ready_;
  std::priority_queue<Entry> blocked_;
  // Of repairs.
  base::HashMap<Node, std::vector<Node>> learned_;
  base::HashSet<std::pair<Node, Node>> learned_arcs_;
  std::vector<Node> taken_back_;
  std::size_t steps_back_ = 0, repairs_ = 0;
  ScheduleResult result_;
};

}  // namespace cupel::order
