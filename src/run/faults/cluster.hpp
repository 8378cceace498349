// Cluster: what a fault can do to the servers of a run. LabCluster is the real one; the tests of
// the schedule have another.
//
// Nodes are numbered from 0, in the order of the URL. Used by one thread at a time.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "databases/lab/server.hpp"

namespace cupel::faults {

using lab::ClockFault;
using lab::DiskFault;
using lab::kClients;
using lab::LinkFault;

// Asked again and again by what waits: whether it should wait no longer.
using GiveUp = std::function<bool()>;

class Cluster {
 public:
  Cluster() = default;
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;
  virtual ~Cluster() = default;

  [[nodiscard]] virtual std::size_t nodes() const = 0;
  [[nodiscard]] virtual bool running(std::size_t node) const = 0;  // also if paused
  // Those that take writes now, as far as can be seen from outside.
  [[nodiscard]] virtual std::vector<std::size_t> primaries() = 0;
  // The end of the node's log, for warnings.
  [[nodiscard]] virtual std::string log_end(std::size_t node) const = 0;

  // As a crash; returns when no process of the nodes is left.
  virtual base::Status kill(std::span<const std::size_t> nodes) = 0;
  // As an administrator does it.
  virtual base::Status shut_down(std::span<const std::size_t> nodes) = 0;
  // Starts those of the nodes that do not run, and waits until all of them answer: true. False:
  // `give_up` turned true first. Errors name the node and the end of its log. May be called again
  // after both.
  virtual base::Result<bool> start(std::span<const std::size_t> nodes, const GiveUp& give_up) = 0;
  // Every process of a node stands still, and goes on.
  virtual base::Status pause(std::size_t node) = 0;
  virtual base::Status resume(std::size_t node) = 0;
  // Whether fail_over() can work here. It makes another node the primary; the old one may be
  // stopped then, and follows once it is started.
  [[nodiscard]] virtual bool fails_over() const = 0;
  virtual base::Status fail_over() = 0;
  // Why no node can leave the cluster and be a member again, in a sentence; empty: one can.
  [[nodiscard]] virtual std::string unfit_membership() = 0;
  // The nodes that may leave now.
  [[nodiscard]] virtual std::vector<std::size_t> leavers() = 0;
  // By the product's own commands; the node is stopped, and its data are gone. start() makes it a
  // member again.
  virtual base::Status leave(std::size_t node) = 0;
  // From here on the network has these faults and no others.
  virtual base::Status set_links(std::span<const LinkFault> faults) = 0;
  // Why set_links() cannot do this here, in a sentence; empty: it can.
  [[nodiscard]] virtual std::string unfit(const LinkFault& fault) = 0;
  // From here on the node's clock has this fault and no other.
  virtual base::Status set_clock(std::size_t node, const ClockFault& fault) = 0;
  [[nodiscard]] virtual std::string unfit_clocks() = 0;
  // The same of its disk.
  virtual base::Status set_disk(std::size_t node, const DiskFault& fault) = 0;
  // Of a node that does not run: what nobody synced is lost.
  virtual base::Status lose_unsynced(std::size_t node) = 0;
  [[nodiscard]] virtual std::string unfit_disks() = 0;
  // Of a node that does not run: so many bits of its data are flipped. Returns which.
  virtual base::Result<std::string> corrupt(std::size_t node, std::uint64_t bits,
                                            std::uint64_t seed) = 0;
};

}  // namespace cupel::faults
