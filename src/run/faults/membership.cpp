// The fault that takes nodes out of the cluster, and adds them again without their data:
// membership.
#include <algorithm>
#include <numeric>

#include "run/faults/kinds.hpp"

namespace cupel::faults {

namespace {

std::string without_membership(Cluster& cluster) {
  return cluster.unfit_membership();
}

// One node that may leave, unless the targets say otherwise.
void choose_leavers(Fault& fault, Choice& choice) {
  if (fault.nodes.empty() && fault.targets != Targets::kSeeded && fault.targets != Targets::kOne) {
    fault.nodes = choose_nodes(fault.targets, choice);
  } else if (fault.nodes.empty()) {
    std::vector<std::size_t> order(choice.cluster.nodes());
    std::iota(order.begin(), order.end(), 0);
    choice.random.shuffle(std::span(order));
    const auto may = choice.cluster.leavers();
    const auto rank = [&](std::size_t node) {
      const auto in = [&](const auto& list) {
        return std::find(list.begin(), list.end(), node) != list.end();
      };
      return (in(may) ? 0 : 2) + (in(choice.taken) ? 1 : 0);
    };
    fault.nodes = {*std::min_element(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return rank(a) < rank(b);
    })};
  }
  choice.taken.insert(choice.taken.end(), fault.nodes.begin(), fault.nodes.end());
}

base::Status begin_membership(Effects& effects, FaultId id, const Fault& fault) {
  return effects.leave(id, fault.nodes);
}

base::Result<bool> end_membership(Effects& effects, FaultId id, const Fault& fault,
                                  const GiveUp& give_up) {
  return effects.start(id, fault.nodes, give_up);
}

}  // namespace

const Kind kMembership{.name = "membership",
                       .family = "membership",
                       .summary = "nodes leave the cluster, and join it again without their data",
                       .order = Kind::Order::kStart,
                       .begin = begin_membership,
                       .end = end_membership,
                       .unfit = without_membership,
                       .choose = choose_leavers};

}  // namespace cupel::faults
