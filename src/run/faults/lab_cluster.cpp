// Hands on to lab::Server: see the header.
#include "run/faults/lab_cluster.hpp"

#include <algorithm>

#include "databases/lab/disk/disk.hpp"

namespace cupel::faults {

using base::Ok;
using base::Status;

std::size_t LabCluster::nodes() const {
  return server_.nodes();
}
bool LabCluster::running(std::size_t node) const {
  return server_.running(node);
}
std::vector<std::size_t> LabCluster::primaries() {
  return server_.primaries();
}
std::string LabCluster::log_end(std::size_t node) const {
  return server_.log(node);
}

Status LabCluster::kill(std::span<const std::size_t> nodes) {
  // All at once is another crash than one after the other.
  if (nodes.size() == server_.nodes()) {
    server_.kill();
    return Ok{};
  }
  for (const auto node : nodes) server_.kill(node);
  return Ok{};
}

Status LabCluster::shut_down(std::span<const std::size_t> nodes) {
  for (const auto node : nodes) server_.shut_down(node);
  return Ok{};
}

base::Result<bool> LabCluster::start(std::span<const std::size_t> nodes, const GiveUp& give_up) {
  auto started = server_.start_stopped(nodes, give_up);
  if (started.ok()) return started;
  // The next call starts them anew.
  for (const auto node : nodes) {
    if (server_.running(node) && !server_.answers(node)) server_.kill(node);
  }
  return started;
}

Status LabCluster::pause(std::size_t node) {
  server_.pause(node);
  return Ok{};
}
Status LabCluster::resume(std::size_t node) {
  server_.resume(node);
  return Ok{};
}

bool LabCluster::fails_over() const {
  return server_.has_failover();
}
Status LabCluster::fail_over() {
  auto primary = server_.failover();
  if (!primary.ok()) return std::move(primary).error();
  return Ok{};
}

std::string LabCluster::unfit_membership() {
  return server_.without_membership();
}
std::vector<std::size_t> LabCluster::leavers() {
  return server_.leavers();
}
Status LabCluster::leave(std::size_t node) {
  return server_.leave(node);
}

Status LabCluster::set_links(std::span<const LinkFault> faults) {
  return server_.set_links(faults);
}

std::string LabCluster::unfit(const LinkFault& fault) {
  auto possible = server_.set_links({&fault, 1});
  auto whole = server_.set_links({});
  if (!possible.ok()) return possible.error().message;
  return whole.ok() ? std::string() : whole.error().message;
}

Status LabCluster::set_clock(std::size_t node, const ClockFault& fault) {
  return server_.set_clock(node, fault);
}
std::string LabCluster::unfit_clocks() {
  return server_.without_clocks();
}

Status LabCluster::set_disk(std::size_t node, const DiskFault& fault) {
  return server_.set_disk(node, fault);
}
Status LabCluster::lose_unsynced(std::size_t node) {
  auto lost = server_.lose_unsynced(node);
  if (!lost.ok()) return std::move(lost).error();
  return Ok{};
}
std::string LabCluster::unfit_disks() {
  if (server_.has_disks()) return {};
  auto why = lab::disks_forbidden();
  return why.empty() ? "the nodes were started without disks of their own" : why;
}
base::Result<std::string> LabCluster::corrupt(std::size_t node, std::uint64_t bits,
                                              std::uint64_t seed) {
  return server_.corrupt(node, bits, seed);
}

}  // namespace cupel::faults
