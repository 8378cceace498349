// Adapter schedule: what happens to the replicas of an adapter at random - faults, partitions, late
// and repeated messages - and what brings them together again.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/random.hpp"
#include "crdt/workload/adapter_replicas.hpp"

namespace cupel::crdt {

class AdapterSchedule {
 public:
  // Chances, before an operation, that traces have, too.
  static constexpr double kRestart = 0.01, kJump = 0.02, kLateRepeat = 0.1;

  explicit AdapterSchedule(AdapterReplicas& replicas)
      : replicas_(replicas), side_(replicas.options().replicas, 0) {}

  // Random requests, and what happens between them.
  void run_operations();
  // What the network does before the operation i of so many; some replica.
  ReplicaId before_operation(std::uint64_t i, std::uint64_t count);
  void deliver_some(ReplicaId to, double chance);
  // A message that came long ago, if one drawn at random did.
  void repeat_some(ReplicaId to);
  // Up to a day ahead or behind.
  void set_clock(ReplicaId r);
  // A process that crashed has not seen everything, so no read of it may come after the last update
  // of its key: the last reads of all processes are compared.
  void update_after_crashes();
  // Everything arrives: what is pending, then what was lost by syncs, then what still waits again.
  void settle();

 private:
  void join(ReplicaId r);
  void sync_with_some(ReplicaId r, ReplicaId among);
  void merge_some(ReplicaId r, ReplicaId among);
  void exchange_some(ReplicaId r, ReplicaId among);
  void take_silent(ReplicaId to);
  std::optional<MessageId> next_of_any(ReplicaId to);
  void change_partition(std::uint64_t now, std::uint64_t count);
  void heal();
  [[nodiscard]] bool is_reachable(ReplicaId a, ReplicaId b) const { return side_[a] == side_[b]; }
  std::uint64_t calm();
  void compact_some();
  void arrive();
  void sync_lost();
  // Not with another message, see take_silent().
  [[nodiscard]] bool comes_by_itself(MessageId m) {
    return !messages()[m].is_silent() || !replicas_.has(Hazard::kReordering);
  }
  [[nodiscard]] bool has_all_but_lost(ReplicaId r);
  void report_stuck(ReplicaId r);

  [[nodiscard]] const AdapterRunOptions& options() const { return replicas_.options(); }
  [[nodiscard]] Recorder& recorder() { return replicas_.recorder(); }
  [[nodiscard]] base::Random& random() { return recorder().random(); }
  [[nodiscard]] ReplicaMessages& messages() { return replicas_.messages(); }
  [[nodiscard]] AdapterRecorded& recorded() { return replicas_.recorded(); }

  AdapterReplicas& replicas_;
  std::vector<std::uint64_t> side_;  // of the partition, by replica
  std::uint64_t heals_ = 0;          // before this operation; 0: there is none
};

}  // namespace cupel::crdt
