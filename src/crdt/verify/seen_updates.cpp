// Seen updates: see the header. The replicas execute their lines in rounds, each as far as it can.
#include "crdt/verify/seen_updates.hpp"

#include <algorithm>

namespace cupel::crdt {

namespace {

constexpr std::size_t kUnsent = ~std::size_t{0};

}  // namespace

SeenUpdates::SeenUpdates(const History& history)
    : h_(history),
      number_(history.ops.size(), kNone),
      logs_(history.replicas.size()),
      own_(history.replicas.size()),
      rank_(history.ops.size(), 0),
      had_(history.ops.size(), 0),
      done_(history.replicas.size(), 0),
      message_length_(history.context.receptions.size(), kUnsent),
      log_seen_(logs_.size() * logs_.size(), 0),
      own_seen_(log_seen_),
      waiting_(log_seen_.size()),
      first_received_(log_seen_),
      waits_(logs_.size(), 0) {
  for (OpId id = 0; id < h_.ops.size(); ++id) {
    if (is_read(h_.ops[id].kind)) continue;
    number_[id] = static_cast<std::uint32_t>(updates_++);
    rank_[id] = static_cast<std::uint32_t>(own_[h_.ops[id].replica].size());
    own_[h_.ops[id].replica].push_back(id);
  }
  first_.assign(logs_.size() * updates_, kNone);
}

bool SeenUpdates::run() {
  const auto replicas = static_cast<std::uint32_t>(logs_.size());
  std::vector<std::vector<const Reception*>> lines(replicas);
  for (const Reception& reception : h_.context.receptions)
    lines[reception.replica].push_back(&reception);
  std::vector<std::size_t> line(replicas, 0);
  for (bool again = true; again;) {
    again = false;
    for (std::uint32_t r = 0; r < replicas; ++r) {
      for (;; again = true) {
        if (line[r] < lines[r].size() && lines[r][line[r]]->seq <= done_[r]) {
          if (!can_receive(*lines[r][line[r]])) break;
          receive(r, *lines[r][line[r]++]);
          continue;
        }
        if (done_[r] == h_.by_replica[r].size()) break;
        const OpId id = h_.by_replica[r][done_[r]++];
        if (!is_read(h_.ops[id].kind)) execute(id);
      }
    }
  }
  for (std::uint32_t r = 0; r < replicas; ++r) {
    if (line[r] < lines[r].size() || done_[r] < h_.by_replica[r].size()) return false;
  }
  return true;
}

void SeenUpdates::take_clocks(std::span<const std::uint32_t> clocks) {
  const auto replicas = logs_.size();
  for (std::uint32_t r = 0; r < replicas; ++r) {
    std::vector<std::uint32_t> seen(replicas, 0);
    for (const OpId id : h_.by_replica[r]) {
      done_[r] = h_.ops[id].seq;
      for (std::size_t j = 0; j < replicas; ++j) {
        for (; seen[j] < clocks[id * replicas + j]; ++seen[j]) {
          const OpId update = h_.by_replica[j][seen[j]];
          if (!is_read(h_.ops[update].kind)) see(r, update);
        }
      }
    }
  }
}

void SeenUpdates::execute(OpId update) {
  const auto replica = h_.ops[update].replica;
  had_[update] = logs_[replica].size();
  see(replica, update);
}

bool SeenUpdates::can_receive(const Reception& reception) const {
  const auto is_done = [&](OpId id) { return h_.ops[id].seq < done_[h_.ops[id].replica]; };
  for (const NamedUpdates& named : h_.context.updates(reception)) {
    switch (named.kind) {
      case NamedUpdates::Kind::kUpdate:
        if (!is_done(named.of)) return false;
        break;
      case NamedUpdates::Kind::kFirst:
        if (named.count > 0 && !is_done(own_[named.of][named.count - 1])) return false;
        break;
      case NamedUpdates::Kind::kMessage:
        if (message_length_[named.of] == kUnsent) return false;
        break;
    }
  }
  return true;
}

void SeenUpdates::receive(std::uint32_t replica, const Reception& reception) {
  if (reception.kind == Reception::Kind::kSent) {
    const auto at = static_cast<std::size_t>(&reception - h_.context.receptions.data());
    message_length_[at] = logs_[replica].size();
    return;
  }
  const bool version = reception.kind == Reception::Kind::kVersion;
  const bool at_once = h_.context.rule == DeliveryRule::kApplied;
  const auto take = [&](OpId update) {
    if (version)
      see_version(replica, update);
    else if (at_once)
      see(replica, update);
    else if (!has(replica, update) &&
             waiting_[replica * logs_.size() + h_.ops[update].replica].insert(rank_[update]).second)
      ++waits_[replica];
  };
  for (const NamedUpdates& named : h_.context.updates(reception)) {
    if (named.kind == NamedUpdates::Kind::kUpdate) {
      take(named.of);
    } else if (named.kind == NamedUpdates::Kind::kMessage) {
      see_log(replica, h_.context.receptions[named.of].replica, message_length_[named.of]);
    } else {
      auto& seen = own_seen_[replica * logs_.size() + named.of];
      const auto& all = own_[named.of];
      while (seen < all.size() && has(replica, all[seen])) ++seen;
      auto& received = first_received_[replica * logs_.size() + named.of];
      for (auto i = version ? seen : std::max(seen, received); i < named.count; ++i) take(all[i]);
      if (!version) received = std::max<std::size_t>(received, named.count);
    }
  }
  take_waiting(replica);
}

void SeenUpdates::see(std::uint32_t replica, OpId update) {
  auto& first = first_[replica * updates_ + number_[update]];
  if (first != kNone) return;
  // While an operation is executed it counts as done.
  first = done_[replica];
  logs_[replica].push_back({update, first});
}

void SeenUpdates::see_log(std::uint32_t replica, std::uint32_t other, std::size_t length) {
  auto& seen = log_seen_[replica * logs_.size() + other];
  for (; seen < length; ++seen) see(replica, logs_[other][seen].update);
}

void SeenUpdates::see_version(std::uint32_t replica, OpId update) {
  const auto from = h_.ops[update].replica;
  if (h_.context.rule == DeliveryRule::kCausal) see_log(replica, from, had_[update]);
  if (h_.context.rule == DeliveryRule::kFifo) {
    auto& seen = own_seen_[replica * logs_.size() + from];
    for (; seen < rank_[update]; ++seen) see(replica, own_[from][seen]);
  }
  see(replica, update);
}

bool SeenUpdates::is_ready(std::uint32_t replica, OpId update) {
  const auto from = h_.ops[update].replica;
  if (h_.context.rule == DeliveryRule::kFifo) {
    auto& seen = own_seen_[replica * logs_.size() + from];
    while (seen < rank_[update] && has(replica, own_[from][seen])) ++seen;
    return seen >= rank_[update];
  }
  auto& seen = log_seen_[replica * logs_.size() + from];
  while (seen < had_[update] && has(replica, logs_[from][seen].update)) ++seen;
  return seen >= had_[update];
}

void SeenUpdates::take_waiting(std::uint32_t replica) {
  for (bool again = true; again && waits_[replica] > 0;) {
    again = false;
    for (std::uint32_t from = 0; from < logs_.size(); ++from) {
      // An update must come after the earlier ones of its replica, by both rules that let it wait.
      auto& waiting = waiting_[replica * logs_.size() + from];
      while (!waiting.empty()) {
        const OpId update = own_[from][*waiting.begin()];
        if (!has(replica, update) && !is_ready(replica, update)) break;
        again = again || !has(replica, update);
        see(replica, update);
        waiting.erase(waiting.begin());
        --waits_[replica];
      }
    }
  }
}

}  // namespace cupel::crdt
