// The sums of faults: see the header.
#include "run/faults/effects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace cupel::faults {

using base::Ok;
using base::Status;

bool Effects::held(const Holders& holders, std::size_t node) {
  const auto found = holders.find(node);
  return found != holders.end() && !found->second.empty();
}

std::vector<LinkFault> Effects::sum(const std::map<FaultId, std::vector<LinkFault>>& faults) {
  std::map<std::pair<std::size_t, std::size_t>, LinkFault> total;
  for (const auto& [id, links] : faults) {
    for (const auto& link : links) {
      const auto [at, first] = total.try_emplace({link.from, link.to}, link);
      if (first) continue;
      auto& all = at->second;
      all.loss = 1 - (1 - all.loss) * (1 - link.loss);
      all.reset = all.reset || link.reset;
      all.delay += link.delay;
      all.jitter += link.jitter;
      const bool lower = all.bytes_per_second == 0 || link.bytes_per_second < all.bytes_per_second;
      if (link.bytes_per_second > 0 && lower) all.bytes_per_second = link.bytes_per_second;
    }
  }
  std::vector<LinkFault> list;
  for (const auto& [ends, fault] : total) list.push_back(fault);
  return list;
}

Status Effects::set_links() {
  return cluster_.set_links(sum(links_));
}

Status Effects::disturb(FaultId id, std::vector<LinkFault> links) {
  links_[id] = std::move(links);
  return set_links();
}

Status Effects::calm(FaultId id) {
  links_.erase(id);
  return set_links();
}

Status Effects::stop(FaultId id, const std::vector<std::size_t>& nodes, Stop how) {
  std::vector<std::size_t> running;
  for (const auto node : nodes) {
    if (!stopped(node)) running.push_back(node);
    stopped_[node].insert(id);
  }
  if (running.empty()) return Ok{};
  if (how == Stop::kKill) return cluster_.kill(running);
  for (const auto node : running) {
    // What stands still hears no wish to end.
    if (!held(frozen_, node)) continue;
    if (auto resumed = cluster_.resume(node); !resumed.ok()) return resumed;
  }
  return cluster_.shut_down(running);
}

base::Result<bool> Effects::start(FaultId id, const std::vector<std::size_t>& nodes,
                                  const GiveUp& give_up) {
  std::vector<std::size_t> free;
  for (const auto node : nodes) {
    stopped_[node].erase(id);
    if (!stopped(node)) free.push_back(node);
  }
  if (free.empty()) return true;
  auto started = cluster_.start(free, give_up);
  if (!started.ok() || !*started) return started;
  for (const auto node : free) {
    if (!held(frozen_, node)) continue;
    if (auto paused = cluster_.pause(node); !paused.ok()) return std::move(paused).error();
  }
  return true;
}

Status Effects::fail_over(FaultId id) {
  std::vector<std::size_t> running;
  for (std::size_t node = 0; node < cluster_.nodes(); ++node) {
    if (cluster_.running(node)) running.push_back(node);
  }
  auto done = cluster_.fail_over();
  for (const auto node : running) {
    if (!cluster_.running(node)) stopped_[node].insert(id);
  }
  return done;
}

std::vector<std::size_t> Effects::stopped_by(FaultId id) const {
  std::vector<std::size_t> nodes;
  for (const auto& [node, holders] : stopped_) {
    if (holders.contains(id)) nodes.push_back(node);
  }
  return nodes;
}

Status Effects::leave(FaultId id, const std::vector<std::size_t>& nodes) {
  for (const auto node : nodes) {
    if (!cluster_.running(node)) {
      return base::Error{.message = fmt::format("node {} does not run", node)};
    }
    // What stands still hears no wish to end.
    if (held(frozen_, node)) {
      if (auto resumed = cluster_.resume(node); !resumed.ok()) return resumed;
    }
    stopped_[node].insert(id);
    if (auto left = cluster_.leave(node); !left.ok()) return left;
  }
  return Ok{};
}

Status Effects::freeze(FaultId id, const std::vector<std::size_t>& nodes) {
  for (const auto node : nodes) {
    if (cluster_.running(node)) continue;
    return base::Error{.message = fmt::format("node {} does not run", node)};
  }
  for (const auto node : nodes) {
    const bool already = held(frozen_, node);
    frozen_[node].insert(id);
    if (already) continue;
    if (auto paused = cluster_.pause(node); !paused.ok()) return paused;
  }
  return Ok{};
}

Status Effects::thaw(FaultId id, const std::vector<std::size_t>& nodes) {
  Status result = Ok{};
  for (const auto node : nodes) {
    frozen_[node].erase(id);
    if (held(frozen_, node) || !cluster_.running(node)) continue;
    if (auto resumed = cluster_.resume(node); !resumed.ok()) result = std::move(resumed);
  }
  return result;
}

ClockFault Effects::sum(const std::map<FaultId, ClockFault>& faults) {
  ClockFault total;
  for (const auto& [id, fault] : faults) {
    total.offset += fault.offset;
    total.rate *= fault.rate;
    total.jump += fault.jump;
    total.period = std::max(total.period, fault.period);
  }
  return total;
}

Status Effects::set_clocks(FaultId id, const std::vector<std::size_t>& nodes,
                           const ClockFault& fault) {
  for (const auto node : nodes) {
    clocks_[node][id] = fault;
    if (auto set = cluster_.set_clock(node, sum(clocks_[node])); !set.ok()) return set;
  }
  return Ok{};
}

Status Effects::right_clocks(FaultId id) {
  for (auto& [node, faults] : clocks_) {
    if (faults.erase(id) == 0) continue;
    if (auto set = cluster_.set_clock(node, sum(faults)); !set.ok()) return set;
  }
  return Ok{};
}

DiskFault Effects::sum(const std::map<FaultId, DiskFault>& faults) {
  DiskFault total;
  for (const auto& [id, fault] : faults) {
    total.full = total.full || fault.full;
    total.errors = 1 - (1 - total.errors) * (1 - fault.errors);
  }
  return total;
}

Status Effects::set_disks(FaultId id, const std::vector<std::size_t>& nodes,
                          const DiskFault& fault) {
  for (const auto node : nodes) {
    disks_[node][id] = fault;
    if (auto set = cluster_.set_disk(node, sum(disks_[node])); !set.ok()) return set;
  }
  return Ok{};
}

Status Effects::right_disks(FaultId id) {
  for (auto& [node, faults] : disks_) {
    if (faults.erase(id) == 0) continue;
    if (auto set = cluster_.set_disk(node, sum(faults)); !set.ok()) return set;
  }
  return Ok{};
}

}  // namespace cupel::faults
