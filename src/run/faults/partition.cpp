// Partitions: which links are cut. Each shape is a kind. The clients reach every node, except with
// partition-clients.
//
// The shapes are Jepsen's. Its ring gives each node another majority and is asymmetric in small
// clusters; a TCP connection needs both directions, so ours cuts both, and needs four nodes.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "run/faults/links.hpp"

namespace cupel::faults {

namespace {

using Nodes = std::vector<std::size_t>;

Nodes all_of(const Choice& choice) {
  Nodes all(choice.cluster.nodes());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

Nodes without(const Nodes& all, const Nodes& some) {
  Nodes rest;
  for (const auto node : all) {
    if (std::find(some.begin(), some.end(), node) == some.end()) rest.push_back(node);
  }
  return rest;
}

void cut_one_way(Fault& fault, const Nodes& from, const Nodes& to) {
  for (const auto a : from) {
    for (const auto b : to) {
      if (a != b) fault.links.emplace_back(a, b);
    }
  }
}

void cut(Fault& fault, const Nodes& one, const Nodes& other) {
  cut_one_way(fault, one, other);
  cut_one_way(fault, other, one);
}

// The nodes that a plan gives, or so many drawn.
Nodes given_or_drawn(Fault& fault, Choice& choice, std::size_t many) {
  if (!fault.nodes.empty()) return std::exchange(fault.nodes, {});
  auto order = all_of(choice);
  choice.random.shuffle(std::span(order));
  order.resize(many);
  return order;
}

Nodes given_or_targets(Fault& fault, Choice& choice) {
  if (!fault.nodes.empty()) return std::exchange(fault.nodes, {});
  Nodes none;
  Choice own{choice.cluster, choice.random, none};
  return choose_nodes(fault.targets, own);
}

void choose_halves(Fault& fault, Choice& choice) {
  const auto side = given_or_drawn(fault, choice, choice.cluster.nodes() / 2);
  cut(fault, side, without(all_of(choice), side));
}

void choose_one(Fault& fault, Choice& choice) {
  const auto side = given_or_drawn(fault, choice, 1);
  cut(fault, side, without(all_of(choice), side));
}

void choose_primary(Fault& fault, Choice& choice) {
  const bool given = !fault.nodes.empty();
  const auto primaries = choice.cluster.primaries();
  const auto drawn = given_or_drawn(fault, choice, 1);
  const auto position = choice.random.below(choice.cluster.nodes());
  const bool known = !given && !primaries.empty() && primaries.size() < choice.cluster.nodes();
  const auto side = known ? Nodes{primaries[position % primaries.size()]} : drawn;
  cut(fault, side, without(all_of(choice), side));
}

// A node hears so many neighbours on either side that together they are a majority.
void choose_ring(Fault& fault, Choice& choice) {
  const auto count = choice.cluster.nodes();
  const auto ring = given_or_drawn(fault, choice, count);
  const auto reach = (count / 2 + 1) / 2;
  for (std::size_t a = 0; a < ring.size(); ++a) {
    for (std::size_t b = a + 1; b < ring.size(); ++b) {
      const auto distance = std::min(b - a, ring.size() - (b - a));
      if (distance > reach) cut(fault, {ring[a]}, {ring[b]});
    }
  }
}

// One node hears two halves, which do not hear each other.
void choose_bridge(Fault& fault, Choice& choice) {
  const auto bridge = given_or_drawn(fault, choice, 1);
  auto others = without(all_of(choice), bridge);
  choice.random.shuffle(std::span(others));
  const auto middle = others.begin() + static_cast<std::ptrdiff_t>(others.size() / 2);
  cut(fault, {others.begin(), middle}, {middle, others.end()});
}

void choose_one_way(Fault& fault, Choice& choice) {
  const bool outwards = choice.random.chance(0.5);
  const auto side = given_or_drawn(fault, choice, 1);
  const auto rest = without(all_of(choice), side);
  cut_one_way(fault, outwards ? side : rest, outwards ? rest : side);
}

// All of them: each one alone.
void choose_split(Fault& fault, Choice& choice) {
  const auto side = given_or_targets(fault, choice);
  const auto rest = without(all_of(choice), side);
  cut(fault, side, rest);
  if (rest.empty()) cut_one_way(fault, side, side);
}

void choose_clients(Fault& fault, Choice& choice) {
  cut(fault, given_or_targets(fault, choice), {kClients});
}

base::Status begin_partition(Effects& effects, FaultId id, const Fault& fault) {
  std::vector<LinkFault> list;
  for (const auto& [from, to] : fault.links) list.push_back({.from = from, .to = to, .loss = 1});
  return effects.disturb(id, std::move(list));
}

std::string whom_cut(const Fault& fault) {
  return shown(fault.links);
}

template <std::size_t least>
std::string unfit_for(Cluster& cluster) {
  if (cluster.nodes() < least) {
    return fmt::format("found {} node{}, expected at least {}", cluster.nodes(),
                       cluster.nodes() == 1 ? "" : "s", least);
  }
  return cluster.unfit({.from = least == 1 ? kClients : 1, .to = 0, .loss = 1});
}

constexpr std::string_view kFamily = "partition";

Kind shape(std::string_view name, std::string_view summary, std::string (*unfit)(Cluster&),
           void (*choose)(Fault&, Choice&), bool follows_targets = false) {
  return {.name = name,
          .family = kFamily,
          .summary = summary,
          .order = Kind::Order::kNetwork,
          .follows_targets = follows_targets,
          .begin = begin_partition,
          .end = end_disturbance,
          .unfit = unfit,
          .choose = choose,
          .whom = whom_cut};
}

}  // namespace

const Kind kPartitionHalves =
    shape("partition-halves", "two halves do not hear each other", unfit_for<2>, choose_halves);
const Kind kPartitionOne =
    shape("partition-one", "one node is cut off from the others", unfit_for<2>, choose_one);
const Kind kPartitionPrimary = shape("partition-primary", "a primary is cut off from the others",
                                     unfit_for<2>, choose_primary);
const Kind kPartitionRing = shape("partition-ring", "each node hears a majority, each another one",
                                  unfit_for<4>, choose_ring);
const Kind kPartitionBridge = shape("partition-bridge", "two halves hear only one node in common",
                                    unfit_for<3>, choose_bridge);
const Kind kPartitionOneWay =
    shape("partition-one-way", "packets between one node and the others get lost in one direction",
          unfit_for<2>, choose_one_way);
const Kind kPartitionSplit =
    shape("partition-split", "the targets are cut off from the others; all: each node alone",
          unfit_for<2>, choose_split, true);
const Kind kPartitionClients =
    shape("partition-clients", "the clients are cut off from the targets", unfit_for<1>,
          choose_clients, true);

}  // namespace cupel::faults
