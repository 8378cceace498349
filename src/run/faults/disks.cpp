// Faults of the nodes' disks: full, failing, power loss, corruption.
#include "run/faults/kinds.hpp"

namespace cupel::faults {

namespace {

constexpr double kMostBits = 32768;  // of the stretch of 4 KiB in which they are flipped

base::Status begin_full(Effects& effects, FaultId id, const Fault& fault) {
  return effects.set_disks(id, fault.nodes, {.full = true});
}
base::Status begin_errors(Effects& effects, FaultId id, const Fault& fault) {
  return effects.set_disks(id, fault.nodes, {.errors = value_of(fault, "errors")});
}

// A server that ended because of its disk is started again.
base::Result<bool> end_disks(Effects& effects, FaultId id, const Fault& fault,
                             const GiveUp& give_up) {
  auto righted = effects.right_disks(id);
  if (!righted.ok()) return std::move(righted).error();
  return effects.start(id, fault.nodes, give_up);
}

base::Status begin_power_loss(Effects& effects, FaultId id, const Fault& fault) {
  auto done = effects.stop(id, fault.nodes, Effects::Stop::kKill);
  for (const auto node : fault.nodes) {
    if (done.ok()) done = effects.cluster().lose_unsynced(node);
  }
  return done;
}

base::Status begin_corruption(Effects& effects, FaultId id, const Fault& fault) {
  auto done = effects.stop(id, fault.nodes, Effects::Stop::kKill);
  if (!done.ok()) return done;
  const auto bits = static_cast<std::uint64_t>(value_of(fault, "bits"));
  for (const auto node : fault.nodes) {
    const auto flipped = effects.cluster().corrupt(node, bits, fault.seed + node);
    if (!flipped.ok()) return flipped.error();
  }
  return base::Ok{};
}

base::Result<bool> start_lossy(Effects& effects, FaultId id, const Fault& fault,
                               const GiveUp& give_up) {
  return effects.start(id, fault.nodes, give_up);
}

std::string unfit_disks(Cluster& cluster) {
  return cluster.unfit_disks();
}

}  // namespace

const Kind kDiskFull{.name = "disk-full",
                     .family = "disk-full",
                     .summary = "the nodes' disks are full",
                     .needs = Kind::Needs::kDisks,
                     .begin = begin_full,
                     .end = end_disks,
                     .unfit = unfit_disks};

const Kind kDiskErrors{.name = "disk-errors",
                       .family = "disk-errors",
                       .summary = "writes and syncs of the nodes' disks fail (EIO)",
                       .parameters = {{.name = "errors",
                                       .unit = Parameter::Unit::kShare,
                                       .least = 0.0001,
                                       .most = 1,
                                       .choices = {0.001, 0.01, 0.1, 1},
                                       .summary = "the share that fails"}},
                       .needs = Kind::Needs::kDisks,
                       .begin = begin_errors,
                       .end = end_disks,
                       .unfit = unfit_disks};

const Kind kUnsynced{
    .name = "unsynced",
    .family = "unsynced",
    .summary = "power loss: the nodes are killed, and what they did not sync is lost",
    .order = Kind::Order::kStart,
    .leaves = Kind::Leaves::kSynced,
    .needs = Kind::Needs::kDisks,
    .begin = begin_power_loss,
    .end = start_lossy,
    .unfit = unfit_disks};

const Kind kCorrupt{.name = "corrupt",
                    .family = "corrupt",
                    .summary = "the nodes are killed, and bits of their files flipped",
                    .order = Kind::Order::kStart,
                    .by_name_only = true,
                    .leaves = Kind::Leaves::kAnything,
                    .parameters = {{.name = "bits",
                                    .unit = Parameter::Unit::kNumber,
                                    .least = 1,
                                    .most = kMostBits,
                                    .choices = {1, 8, 1024},
                                    .summary = "how many of each node"}},
                    .begin = begin_corruption,
                    .end = start_lossy};

}  // namespace cupel::faults
