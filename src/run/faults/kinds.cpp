// The table of faults, and what all of them have in common: see the header.
#include "run/faults/kinds.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <numeric>

namespace cupel::faults {

namespace {

// In the order of the help. The last of a family needs least.
constexpr std::array kAll{
    &kPartitionHalves, &kPartitionOne,     &kPartitionPrimary,
    &kPartitionRing,   &kPartitionBridge,  &kPartitionOneWay,
    &kPartitionSplit,  &kPartitionClients, &kKill,
    &kPause,           &kRestartCrash,     &kRestartOrderly,
    &kFailover,        &kMembership,       &kLoss,
    &kDelay,           &kBandwidth,        &kReset,
    &kClockOffset,     &kClockJump,        &kClockDrift,
    &kDiskFull,        &kDiskErrors,       &kUnsynced,
    &kCorrupt,
};

struct NamedTargets {
  Targets targets;
  std::string_view name;
};
constexpr std::array kTargets{
    NamedTargets{Targets::kOne, "one"},           NamedTargets{Targets::kMinority, "minority"},
    NamedTargets{Targets::kMajority, "majority"}, NamedTargets{Targets::kPrimaries, "primaries"},
    NamedTargets{Targets::kAll, "all"},
};

std::size_t minority(std::size_t nodes) {
  return (nodes - 1) / 2;
}

// Those that differ from each other in a cluster of so many nodes.
std::vector<Targets> sensible(std::size_t nodes) {
  std::vector<Targets> list{Targets::kOne};
  if (nodes == 1) return list;
  if (minority(nodes) > 1) list.push_back(Targets::kMinority);
  if (nodes > 2) list.push_back(Targets::kMajority);
  list.push_back(Targets::kPrimaries);
  list.push_back(Targets::kAll);
  return list;
}

std::vector<std::size_t> sorted(std::vector<std::size_t> nodes) {
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

}  // namespace

std::string_view name(Targets targets) {
  const auto* found = std::find_if(kTargets.begin(), kTargets.end(),
                                   [&](const auto& row) { return row.targets == targets; });
  return found == kTargets.end() ? std::string_view() : found->name;
}

std::optional<Targets> parse_targets(std::string_view text) {
  for (const auto& row : kTargets) {
    if (row.name == text) return row.targets;
  }
  return std::nullopt;
}

std::span<const Kind* const> all_kinds() {
  return kAll;
}

const Kind* find_kind(std::string_view text) {
  const auto* found =
      std::find_if(kAll.begin(), kAll.end(), [&](const Kind* kind) { return kind->name == text; });
  return found == kAll.end() ? nullptr : *found;
}

std::vector<const Kind*> kinds_named(std::string_view text) {
  std::vector<const Kind*> list;
  for (const auto* kind : kAll) {
    if (kind->family == text) list.push_back(kind);
  }
  // A family may have the name of its first variant.
  if (const auto* kind = find_kind(text); list.empty() && kind != nullptr) list.push_back(kind);
  return list;
}

std::vector<std::string_view> all_families() {
  std::vector<std::string_view> list;
  for (const auto* kind : kAll) {
    if (std::find(list.begin(), list.end(), kind->family) == list.end()) {
      list.push_back(kind->family);
    }
  }
  return list;
}

std::string unfit(const Kind& kind, Cluster& cluster) {
  return kind.unfit == nullptr ? std::string() : kind.unfit(cluster);
}

std::string unfit(Targets targets, const Cluster& cluster) {
  if (targets != Targets::kMinority || minority(cluster.nodes()) > 0) return {};
  return fmt::format("found {} node{}, expected at least 3 for the targets `minority`",
                     cluster.nodes(), cluster.nodes() == 1 ? "" : "s");
}

std::vector<std::size_t> choose_nodes(Targets targets, Choice& choice) {
  auto& cluster = choice.cluster;
  auto& random = choice.random;
  const auto& taken = choice.taken;
  const auto count = cluster.nodes();
  std::vector<std::size_t> all(count);
  std::iota(all.begin(), all.end(), 0);
  // Drawn in every case, so that what follows does not depend on the cluster's state.
  auto order = all;
  random.shuffle(std::span(order));
  const auto options = sensible(count);
  const auto drawn = options[random.below(options.size())];
  std::stable_partition(order.begin(), order.end(), [&](std::size_t node) {
    return std::find(taken.begin(), taken.end(), node) == taken.end();
  });
  const auto first = [&](std::size_t many) {
    order.resize(std::min(std::max<std::size_t>(many, 1), count));
    return sorted(order);
  };
  switch (targets == Targets::kSeeded ? drawn : targets) {
    case Targets::kSeeded:
    case Targets::kOne:
      break;
    case Targets::kMinority:
      return first(minority(count));
    case Targets::kMajority:
      return first(count / 2 + 1);
    case Targets::kPrimaries: {
      auto primaries = sorted(cluster.primaries());
      // All take writes, or nobody knows who does.
      const bool unknown = primaries.empty() || primaries.size() == count;
      if (unknown && (targets == Targets::kSeeded || primaries.empty())) break;
      return primaries;
    }
    case Targets::kAll:
      return all;
  }
  return first(1);
}

void choose(Fault& fault, Choice& choice) {
  const auto* kind = find_kind(fault.kind);
  assert(kind != nullptr);
  for (const auto& parameter : kind->parameters) {
    const auto drawn = parameter.choices[choice.random.below(parameter.choices.size())];
    fault.parameters.try_emplace(std::string(parameter.name), drawn);
  }
  if (!fault.links.empty()) return;
  if (kind->choose != nullptr) return kind->choose(fault, choice);
  if (!fault.nodes.empty()) return;
  fault.nodes = choose_nodes(fault.targets, choice);
  choice.taken.insert(choice.taken.end(), fault.nodes.begin(), fault.nodes.end());
}

std::string shown(const Parameter& parameter, double value) {
  switch (parameter.unit) {
    case Parameter::Unit::kSeconds:
      return std::abs(value) < 1 ? fmt::format("{:g} ms", value * 1000)
                                 : fmt::format("{:g} s", value);
    case Parameter::Unit::kShare:
      return fmt::format("{:g} %", value * 100);
    case Parameter::Unit::kBytesPerSecond:
      return fmt::format("{:g} bytes/s", value);
    case Parameter::Unit::kNumber:
      break;
  }
  return fmt::format("{:g}", value);
}

double value_of(const Fault& fault, const char* name) {
  const auto found = fault.parameters.find(name);
  return found == fault.parameters.end() ? 0 : found->second;
}

std::string describe(const Fault& fault) {
  const auto* kind = find_kind(fault.kind);
  assert(kind != nullptr);
  std::string text(kind->name);
  std::replace(text.begin(), text.end(), '-', ' ');
  const char* between = " ";
  for (const auto& parameter : kind->parameters) {
    const auto value = fault.parameters.find(std::string(parameter.name));
    if (value == fault.parameters.end()) continue;
    const bool first = &parameter == kind->parameters.data();
    if (!first && value->second == 0) continue;
    text += between + shown(parameter, value->second);
    if (!first) text += fmt::format(" {}", parameter.name);
    between = ", ";
  }
  return text + ": " +
         (kind->whom != nullptr ? kind->whom(fault)
                                : fmt::format("{}", fmt::join(fault.nodes, " ")));
}

}  // namespace cupel::faults
