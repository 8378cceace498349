// Seen updates: what each replica had seen, and when, computed for the verifier. It shares no code
// with model/visibility.hpp and takes the rules of docs/reference/formats/crdt.md#context word for
// word.
//
// Each replica has a log: the updates in the order in which they became visible to it. What an
// update, message or saved document had seen is a beginning of its replica's log. An update that
// came early waits until the replica has all of that beginning; how long a beginning of another log
// it has only grows. So the whole costs operations + deliveries + replicas² × updates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "crdt/model/history.hpp"

namespace cupel::crdt {

class SeenUpdates {
 public:
  explicit SeenUpdates(const History& history);

  // False: the lines contradict each other.
  bool run();
  // Instead of the lines: of each operation, of each replica how many operations it has seen.
  void take_clocks(std::span<const std::uint32_t> clocks);

  struct Entry {
    OpId update;
    std::uint32_t place;  // of the replica's first operation that had seen it
  };
  // Of a replica; its own updates, too.
  [[nodiscard]] std::span<const Entry> log(std::uint32_t replica) const { return logs_[replica]; }
  // Had the operation seen the update?
  [[nodiscard]] bool sees(OpId op, OpId update) const {
    return first_[h_.ops[op].replica * updates_ + number_[update]] <= h_.ops[op].seq;
  }
  // The replicas one after the other: `begin` a replica, `arrive` an update that is visible from
  // now on, `perform` an operation. False from `perform` ends it.
  template <typename Begin, typename Arrive, typename Perform>
  void replay(Begin begin, Arrive arrive, Perform perform) const {
    for (std::uint32_t r = 0; r < logs_.size(); ++r) {
      begin(r);
      std::size_t next = 0;
      for (const OpId id : h_.by_replica[r]) {
        for (; next < logs_[r].size() && logs_[r][next].place <= h_.ops[id].seq; ++next)
          arrive(logs_[r][next].update);
        if (!perform(id)) return;
      }
    }
  }

 private:
  [[nodiscard]] bool can_receive(const Reception& reception) const;
  void receive(std::uint32_t replica, const Reception& reception);
  void execute(OpId update);
  void see(std::uint32_t replica, OpId update);
  // A beginning of another replica's log.
  void see_log(std::uint32_t replica, std::uint32_t other, std::size_t length);
  // With what must come before it.
  void see_version(std::uint32_t replica, OpId update);
  [[nodiscard]] bool is_ready(std::uint32_t replica, OpId update);
  void take_waiting(std::uint32_t replica);
  [[nodiscard]] bool has(std::uint32_t replica, OpId update) const {
    return first_[replica * updates_ + number_[update]] != kNone;
  }

  const History& h_;
  std::size_t updates_ = 0;
  std::vector<std::uint32_t> number_;        // by operation: of an update, among all
  std::vector<std::uint32_t> first_;         // by replica and update: the place; kNone: not seen
  std::vector<std::vector<Entry>> logs_;     // by replica
  std::vector<std::vector<OpId>> own_;       // by replica: its updates
  std::vector<std::uint32_t> rank_;          // by operation: of an update, among its replica's
  std::vector<std::size_t> had_;             // by operation: the log's length when it was executed
  std::vector<std::uint32_t> done_;          // by replica: operations
  std::vector<std::size_t> message_length_;  // by reception that is kSent; kUnsent before
  // By replica and other one: how much of its log, how many of its updates, are known to be seen.
  std::vector<std::size_t> log_seen_, own_seen_;
  // By replica and other one: ranks of updates that came early, and how many of the first updates
  // were received.
  std::vector<std::set<std::uint32_t>> waiting_;
  std::vector<std::size_t> first_received_;
  std::vector<std::size_t> waits_;  // by replica: how many
};

}  // namespace cupel::crdt
