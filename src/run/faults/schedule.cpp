// Rounds by number: see the header.
#include "run/faults/schedule.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace cupel::faults {

namespace {

constexpr std::string_view kEverything = "all";
constexpr double kShortestPeriod = 0.01;  // seconds

// One of many independent sequences of a seed.
std::uint64_t derived(std::uint64_t seed, std::uint64_t number) {
  return base::Random(seed ^ base::Random(number).next()).next();
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto end = text.find(separator);
    auto part = text.substr(0, end);
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    parts.push_back(part);
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// The kinds of that name that the cluster can have, and that follow the targets if some do; else
// why it lacks the one that needs least, which is the last of its family.
std::vector<const Kind*> fitting(std::string_view name, Targets targets, Cluster& cluster,
                                 std::string& why) {
  std::vector<const Kind*> list;
  for (const auto* kind : kinds_named(name)) {
    auto lacks = unfit(*kind, cluster);
    if (lacks.empty()) {
      list.push_back(kind);
    } else {
      why = std::move(lacks);
    }
  }
  if (targets == Targets::kSeeded) return list;
  const auto others = std::stable_partition(list.begin(), list.end(),
                                            [](const Kind* kind) { return kind->follows_targets; });
  if (others == list.begin()) return list;
  list.erase(others, list.end());
  if (auto lacks = unfit(targets, cluster); !lacks.empty()) {
    why = std::move(lacks);
    list.clear();
  }
  return list;
}

std::string impossible(std::string_view name, const std::string& why) {
  return fmt::format("the fault {} is not possible here: {}", name, why);
}

}  // namespace

base::Result<std::vector<std::vector<std::string>>> parse_list(std::string_view list) {
  std::vector<std::vector<std::string>> groups;
  if (list == kEverything) {
    for (const auto family : all_families()) {
      if (!kinds_named(family).front()->by_name_only) groups.push_back({std::string(family)});
    }
    return groups;
  }
  for (const auto group : split(list, ',')) {
    auto& names = groups.emplace_back();
    for (const auto name : split(group, '+')) {
      if (kinds_named(name).empty()) {
        return base::Error{
            .message = fmt::format("found `{}`, expected all or faults separated by commas: {}; "
                                   "`cupel run --list` describes them",
                                   name, fmt::join(all_families(), ", "))};
      }
      names.emplace_back(name);
    }
  }
  return groups;
}

bool asks_for(const Options& options, Kind::Needs needs) {
  std::vector<std::string> names;
  for (const auto& fault : options.plan) names.push_back(fault.kind);
  if (auto groups = parse_list(options.list); options.plan.empty() && groups.ok()) {
    for (const auto& group : *groups) names.insert(names.end(), group.begin(), group.end());
  }
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    const auto kinds = kinds_named(name);
    return std::any_of(kinds.begin(), kinds.end(),
                       [&](const Kind* kind) { return kind->needs == needs; });
  });
}

base::Result<Schedule> Schedule::make(const Options& options, Cluster& cluster,
                                      std::vector<std::string>& warnings) {
  Schedule schedule(options);
  auto taken = schedule.planned_ ? schedule.take_plan(cluster, warnings)
                                 : schedule.take_list(cluster, warnings);
  if (!taken.ok()) return std::move(taken).error();
  schedule.choose_period();
  if (!schedule.may_have([](const Kind&) { return true; })) {
    warnings.emplace_back("no fault is possible here, so the run had none");
  }
  return schedule;
}

void Schedule::choose_period() {
  if (options_.within <= 0 || groups_.empty()) return;
  constexpr double kShortest = 3, kLongest = 15;
  const double period =
      std::clamp(options_.within / static_cast<double>(groups_.size()), kShortest, kLongest);
  options_.lasts = period / 3;
  options_.every = period - options_.lasts;
}

base::Status Schedule::take_list(Cluster& cluster, std::vector<std::string>& warnings) {
  const auto list = parse_list(options_.list);
  if (!list.ok()) return list.error();
  const bool optional = options_.optional || options_.list == kEverything;
  for (const auto& names : *list) {
    std::vector<Variants> group;
    for (const auto& name : names) {
      std::string why;
      auto variants = fitting(name, options_.targets, cluster, why);
      if (variants.empty() && !optional) {
        return base::Error{.message = impossible(name, why) + "; leave it out, or say " +
                                      options_.optional_name};
      }
      if (variants.empty()) {
        warnings.push_back(impossible(name, why) + "; it was left out");
        continue;
      }
      group.push_back(std::move(variants));
    }
    if (!group.empty()) groups_.push_back(std::move(group));
  }
  return base::Ok{};
}

base::Status Schedule::take_plan(Cluster& cluster, std::vector<std::string>& warnings) {
  std::vector<Fault> plan;
  for (auto& fault : options_.plan) {
    std::string why;
    fault.seed = derived(options_.seed, plan.size());
    const bool given = !fault.nodes.empty() || !fault.links.empty();
    const auto variants =
        fitting(fault.kind, given ? Targets::kSeeded : fault.targets, cluster, why);
    if (variants.empty()) {
      if (!options_.optional) {
        return base::Error{.message = impossible(fault.kind, why) +
                                      "; take it out of the plan, or say " +
                                      options_.optional_name};
      }
      warnings.push_back(impossible(fault.kind, why) + "; it was left out");
      continue;
    }
    fault.kind = variants[base::Random(derived(fault.seed, 0)).below(variants.size())]->name;
    auto nodes = fault.nodes;
    for (const auto& [from, to] : fault.links) nodes.insert(nodes.end(), {from, to});
    for (const auto node : nodes) {
      if (node == kClients || node < cluster.nodes()) continue;
      return base::Error{.message =
                             fmt::format("found node {} in the plan of the faults, expected 0 to "
                                         "{}: the database has {} node{}",
                                         node, cluster.nodes() - 1, cluster.nodes(),
                                         cluster.nodes() == 1 ? "" : "s")};
    }
    plan.push_back(fault);
  }
  options_.plan = std::move(plan);
  return base::Ok{};
}

bool Schedule::may_have(const std::function<bool(const Kind&)>& such) const {
  for (const auto& group : groups_) {
    for (const auto& variants : group) {
      for (const auto* kind : variants) {
        if (such(*kind)) return true;
      }
    }
  }
  return std::any_of(options_.plan.begin(), options_.plan.end(),
                     [&](const Fault& fault) { return such(*find_kind(fault.kind)); });
}

std::vector<std::string> Schedule::untried(std::span<const Done> done) const {
  std::vector<std::string> names;
  for (const auto& group : groups_) {
    for (const auto& variants : group) {
      const bool tried = std::any_of(done.begin(), done.end(), [&](const Done& one) {
        return std::any_of(variants.begin(), variants.end(),
                           [&](const Kind* kind) { return kind->name == one.fault.kind; });
      });
      const auto& first = *variants.front();
      if (!tried) names.emplace_back(variants.size() == 1 ? first.name : first.family);
    }
  }
  return names;
}

double Schedule::moment(std::uint64_t round) const {
  const auto period = std::max(options_.every + options_.lasts, kShortestPeriod);
  return options_.every + static_cast<double>(round) * period;
}

std::vector<Fault> Schedule::round(std::uint64_t number) const {
  const auto pass = number / groups_.size();
  std::vector<std::size_t> order(groups_.size());
  std::iota(order.begin(), order.end(), 0);
  base::Random(derived(options_.seed, pass)).shuffle(std::span(order));
  const auto seed = derived(~options_.seed, number);
  std::vector<Fault> faults;
  for (const auto& variants : groups_[order[number % groups_.size()]]) {
    const auto own = derived(seed, faults.size());
    const auto* kind = variants[base::Random(derived(own, 0)).below(variants.size())];
    faults.push_back({.kind = std::string(kind->name),
                      .at = moment(number),
                      .lasts = options_.lasts,
                      .targets = options_.targets,
                      .seed = own});
  }
  return faults;
}

std::vector<Fault> Schedule::next(double now) {
  if (planned_) return next_++ == 0 ? options_.plan : std::vector<Fault>();
  if (groups_.empty()) return {};
  const auto period = moment(1) - moment(0);
  constexpr double kJustNow = 0.05;  // seconds; of a round that is due as the load begins
  const auto first = std::ceil((now - kJustNow - moment(0)) / period);
  if (first > 0) next_ = std::max(next_, static_cast<std::uint64_t>(first));
  return round(next_++);
}

}  // namespace cupel::faults
