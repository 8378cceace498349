// Faults of all links of some nodes, to the other nodes and to the clients: loss, delay,
// bandwidth, reset.
#include "run/faults/links.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

namespace cupel::faults {

namespace {

using Unit = Parameter::Unit;

// What the fault does to each of its links.
LinkFault disturbance(const Fault& fault, const Link& link) {
  return {.from = link.first,
          .to = link.second,
          .loss = value_of(fault, "loss"),
          .reset = fault.kind == "reset",
          .delay = value_of(fault, "delay"),
          .jitter = value_of(fault, "jitter"),
          .bytes_per_second = static_cast<std::uint64_t>(value_of(fault, "bandwidth"))};
}

// Each of the nodes with every other end, both ways.
std::vector<Link> links_of(const std::vector<std::size_t>& nodes, std::size_t all) {
  std::vector<std::size_t> ends{kClients};
  for (std::size_t node = 0; node < all; ++node) ends.push_back(node);
  const std::set<std::size_t> hit(nodes.begin(), nodes.end());
  std::vector<Link> list;
  for (const auto from : ends) {
    for (const auto to : ends) {
      if (from != to && (hit.contains(from) || hit.contains(to))) list.emplace_back(from, to);
    }
  }
  return list;
}

base::Status begin_disturbance(Effects& effects, FaultId id, const Fault& fault) {
  const auto links =
      fault.links.empty() ? links_of(fault.nodes, effects.cluster().nodes()) : fault.links;
  std::vector<LinkFault> list;
  list.reserve(links.size());
  for (const auto& link : links) list.push_back(disturbance(fault, link));
  return effects.disturb(id, std::move(list));
}

// Other faults of the network do not keep each other from anything, so they may share their nodes.
void choose_disturbed(Fault& fault, Choice& choice) {
  std::vector<std::size_t> none;
  Choice own{choice.cluster, choice.random, none};
  if (fault.nodes.empty()) fault.nodes = choose_nodes(fault.targets, own);
}

std::string whom_disturbed(const Fault& fault) {
  return fault.links.empty() ? fmt::format("{}", fmt::join(fault.nodes, " ")) : shown(fault.links);
}

std::string end_name(std::size_t end) {
  return end == kClients ? "clients" : std::to_string(end);
}

std::string joined(const std::set<std::size_t>& ends) {
  std::string text;
  for (const auto end : ends) text += (text.empty() ? "" : " ") + end_name(end);
  return text;
}

// The sides, if every end of a side is cut off from every end of the others, and from none of its
// own; else nothing.
std::vector<std::set<std::size_t>> sides_of(const std::set<Link>& cut) {
  std::set<std::size_t> left;
  for (const auto& [from, to] : cut) left.insert({from, to});
  std::vector<std::set<std::size_t>> sides;
  std::size_t across = 0;  // links that the sides would cut
  while (!left.empty()) {
    std::set<std::size_t> side;
    const auto first = *left.begin();
    for (const auto end : left) {
      if (end == first || !cut.contains({first, end})) side.insert(end);
    }
    for (const auto end : side) left.erase(end);
    for (const auto& earlier : sides) across += 2 * earlier.size() * side.size();
    sides.push_back(std::move(side));
  }
  for (const auto& side : sides) {
    for (const auto from : side) {
      for (const auto to : side) {
        if (cut.contains({from, to})) return {};
      }
    }
  }
  if (across != cut.size()) return {};
  return sides;
}

template <double LinkFault::*member>
std::string unfit_amount(Cluster& cluster) {
  LinkFault sample{.from = kClients, .to = 0};
  sample.*member = 0.01;
  return cluster.unfit(sample);
}
std::string unfit_bandwidth(Cluster& cluster) {
  return cluster.unfit({.from = kClients, .to = 0, .bytes_per_second = 1'000'000});
}
std::string unfit_reset(Cluster& cluster) {
  return cluster.unfit({.from = kClients, .to = 0, .reset = true});
}

}  // namespace

base::Result<bool> end_disturbance(Effects& effects, FaultId id, const Fault& /*fault*/,
                                   const GiveUp& /*give_up*/) {
  auto done = effects.calm(id);
  if (!done.ok()) return std::move(done).error();
  return true;
}

std::string shown(const std::vector<Link>& links) {
  const std::set<Link> cut(links.begin(), links.end());
  if (const auto sides = sides_of(cut); !sides.empty()) {
    std::string text;
    for (const auto& side : sides) text += (text.empty() ? "" : " | ") + joined(side);
    return text;
  }
  std::set<std::size_t> from, to;
  std::set<Link> pairs;
  bool both_ways = true;
  for (const auto& [sender, receiver] : cut) {
    from.insert(sender);
    to.insert(receiver);
    pairs.insert(std::minmax(sender, receiver));
    both_ways = both_ways && cut.contains({receiver, sender});
  }
  if (!both_ways && from.size() * to.size() == cut.size()) {
    return joined(from) + " -> " + joined(to);
  }
  std::string text;
  for (const auto& [a, b] : both_ways ? pairs : cut) {
    text += fmt::format("{}{}{}{}", text.empty() ? "" : " ", end_name(a), both_ways ? "-" : "->",
                        end_name(b));
  }
  return text;
}

const Kind kLoss{.name = "loss",
                 .family = "loss",
                 .summary = "packets from and to the nodes get lost",
                 .order = Kind::Order::kNetwork,
                 .parameters = {{.name = "loss",
                                 .unit = Unit::kShare,
                                 .least = 0.001,
                                 .most = 1,
                                 .choices = {0.05, 0.2, 0.5},
                                 .summary = "the share of the packets"}},
                 .begin = begin_disturbance,
                 .end = end_disturbance,
                 .unfit = unfit_amount<&LinkFault::loss>,
                 .choose = choose_disturbed,
                 .whom = whom_disturbed};

const Kind kDelay{.name = "delay",
                  .family = "delay",
                  .summary = "packets from and to the nodes take longer",
                  .order = Kind::Order::kNetwork,
                  .parameters = {{.name = "delay",
                                  .unit = Unit::kSeconds,
                                  .least = 0,
                                  .most = 60,
                                  .choices = {0.02, 0.1, 0.5},
                                  .summary = "each by so much"},
                                 {.name = "jitter",
                                  .unit = Unit::kSeconds,
                                  .least = 0,
                                  .most = 60,
                                  .choices = {0, 0.02, 0.1},
                                  .summary = "and by at most so much more, differently each time"}},
                  .begin = begin_disturbance,
                  .end = end_disturbance,
                  .unfit = unfit_amount<&LinkFault::delay>,
                  .choose = choose_disturbed,
                  .whom = whom_disturbed};

const Kind kBandwidth{.name = "bandwidth",
                      .family = "bandwidth",
                      .summary = "links from and to the nodes are slow",
                      .order = Kind::Order::kNetwork,
                      .parameters = {{.name = "bandwidth",
                                      .unit = Unit::kBytesPerSecond,
                                      .least = 1000,
                                      .most = 1e9,
                                      .choices = {4'000, 20'000, 100'000},
                                      .summary = "of each link"}},
                      .begin = begin_disturbance,
                      .end = end_disturbance,
                      .unfit = unfit_bandwidth,
                      .choose = choose_disturbed,
                      .whom = whom_disturbed};

const Kind kReset{.name = "reset",
                  .family = "reset",
                  .summary = "connections from and to the nodes are broken by a TCP reset",
                  .order = Kind::Order::kNetwork,
                  .begin = begin_disturbance,
                  .end = end_disturbance,
                  .unfit = unfit_reset,
                  .choose = choose_disturbed,
                  .whom = whom_disturbed};

}  // namespace cupel::faults
