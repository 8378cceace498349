// The fault that makes another node the primary: failover.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "run/faults/kinds.hpp"

namespace cupel::faults {

namespace {

std::string without_failover(Cluster& cluster) {
  return cluster.fails_over() ? std::string()
                              : "this database has no other node to make the primary";
}

// Whoever is primary is hit, also if a plan says that it was another.
void choose_primaries(Fault& fault, Choice& choice) {
  fault.nodes = choice.cluster.primaries();
  std::sort(fault.nodes.begin(), fault.nodes.end());
  choice.taken.insert(choice.taken.end(), fault.nodes.begin(), fault.nodes.end());
}

std::string from_whom(const Fault& fault) {
  return fault.nodes.empty() ? "no primary" : fmt::format("{}", fmt::join(fault.nodes, " "));
}

base::Status begin_failover(Effects& effects, FaultId id, const Fault& /*fault*/) {
  return effects.fail_over(id);
}

// The old primary comes back as a follower, where it had to be stopped.
base::Result<bool> end_failover(Effects& effects, FaultId id, const Fault& /*fault*/,
                                const GiveUp& give_up) {
  return effects.start(id, effects.stopped_by(id), give_up);
}

}  // namespace

const Kind kFailover{.name = "failover",
                     .family = "failover",
                     .summary = "another node becomes the primary or the leader",
                     .order = Kind::Order::kStart,
                     .follows_targets = false,
                     .moves_primary = true,
                     .begin = begin_failover,
                     .end = end_failover,
                     .unfit = without_failover,
                     .choose = choose_primaries,
                     .whom = from_whom};

}  // namespace cupel::faults
