// Effects: what all active faults together do to a cluster.
//
// Several faults may hit the same link or the same node. The links get the sum of their faults. A
// node runs again when the last fault that stopped it has ended.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "run/faults/cluster.hpp"

namespace cupel::faults {

using FaultId = std::size_t;

class Effects {
 public:
  explicit Effects(Cluster& cluster) : cluster_(cluster) {}
  [[nodiscard]] Cluster& cluster() const { return cluster_; }

  // Disturbs the network for this fault, and no longer.
  base::Status disturb(FaultId id, std::vector<LinkFault> links);
  base::Status calm(FaultId id);

  // Stops nodes. Those that another fault stopped already stay so.
  enum class Stop : std::uint8_t { kKill, kShutDown };
  base::Status stop(FaultId id, const std::vector<std::size_t>& nodes, Stop how);
  // As Cluster::start(), but for nodes that another fault keeps stopped.
  base::Result<bool> start(FaultId id, const std::vector<std::size_t>& nodes,
                           const GiveUp& give_up);

  // As Cluster::fail_over(). A node that it stopped counts as stopped by this fault.
  base::Status fail_over(FaultId id);
  [[nodiscard]] std::vector<std::size_t> stopped_by(FaultId id) const;

  // Nodes leave the cluster, and count as stopped by this fault. Error: one does not run.
  base::Status leave(FaultId id, const std::vector<std::size_t>& nodes);

  // Error: a node does not run, so there is nothing to pause.
  base::Status freeze(FaultId id, const std::vector<std::size_t>& nodes);
  base::Status thaw(FaultId id, const std::vector<std::size_t>& nodes);

  // Changes the nodes' clocks for this fault, and no longer.
  base::Status set_clocks(FaultId id, const std::vector<std::size_t>& nodes,
                          const ClockFault& fault);
  base::Status right_clocks(FaultId id);

  // The same of the nodes' disks.
  base::Status set_disks(FaultId id, const std::vector<std::size_t>& nodes, const DiskFault& fault);
  base::Status right_disks(FaultId id);

  // Whether a fault keeps the node from running.
  [[nodiscard]] bool stopped(std::size_t node) const { return held(stopped_, node); }

  // Offsets and jumps add up, rates multiply; errors are independent.
  static ClockFault sum(const std::map<FaultId, ClockFault>& faults);
  static DiskFault sum(const std::map<FaultId, DiskFault>& faults);
  // The sum of several faults, one for each link: losses are independent, delays add up, and the
  // lowest bandwidth counts.
  static std::vector<LinkFault> sum(const std::map<FaultId, std::vector<LinkFault>>& faults);

 private:
  using Holders = std::map<std::size_t, std::set<FaultId>>;  // by node
  static bool held(const Holders& holders, std::size_t node);
  base::Status set_links();

  Cluster& cluster_;
  std::map<FaultId, std::vector<LinkFault>> links_;
  Holders stopped_, frozen_;
  std::map<std::size_t, std::map<FaultId, ClockFault>> clocks_;  // by node
  std::map<std::size_t, std::map<FaultId, DiskFault>> disks_;
};

}  // namespace cupel::faults
