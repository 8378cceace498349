// Random deliveries of a small history, and by definition what each operation had seen.
#pragma once

#include <utility>
#include <vector>

#include "base/random.hpp"
#include "crdt/model/history.hpp"

namespace cupel::crdt {

// Random deliveries, which go back in the file only, and by definition what each operation had
// seen: sets of updates, and of all operations before.
class RandomDeliveries {
 public:
  using Mask = std::uint32_t;

  RandomDeliveries(History& history, DeliveryRule rule, base::Random& random)
      : h_(history), random_(random) {
    h_.context.rule = rule;
    const auto replicas = h_.replicas.size();
    std::vector<Mask> visible(replicas, 0), received(replicas, 0);
    seen.assign(h_.ops.size(), 0);
    past.assign(h_.ops.size(), 0);
    for (OpId id = 0; id < h_.ops.size(); ++id) {
      const Operation& op = h_.ops[id];
      while (random_.chance(0.5)) line(id, visible, received);
      seen[id] = visible[op.replica];
      past[id] = seen[id];
      for (OpId u = 0; u < id; ++u) {
        if (seen[id] & bit(u)) past[id] |= past[u];
        if (h_.ops[u].replica == op.replica) past[id] |= bit(u) | past[u];
      }
      if (!is_read(op.kind)) visible[op.replica] |= bit(id);
    }
  }

  std::vector<Mask> seen, past;  // by operation

  // What each operation had seen, and the earlier ones of its replica. By the rules fifo and
  // applied this is not transitive.
  [[nodiscard]] std::vector<Mask> seen_and_own() const {
    auto all = seen;
    for (OpId id = 0; id < h_.ops.size(); ++id) {
      for (OpId own = 0; own < id; ++own) {
        if (h_.ops[own].replica == h_.ops[id].replica) all[id] |= bit(own);
      }
    }
    return all;
  }

 private:
  static Mask bit(OpId id) { return Mask{1} << id; }

  [[nodiscard]] Mask needed(OpId update) const {
    if (h_.context.rule == DeliveryRule::kApplied) return 0;
    if (h_.context.rule == DeliveryRule::kCausal) return seen[update];
    Mask all = 0;
    for (OpId u = 0; u < update; ++u) {
      if (h_.ops[u].replica == h_.ops[update].replica && !is_read(h_.ops[u].kind)) all |= bit(u);
    }
    return all;
  }

  // A line before the operation.
  void line(OpId id, std::vector<Mask>& visible, std::vector<Mask>& received) {
    const auto r = h_.ops[id].replica;
    auto& context = h_.context;
    Reception made{.replica = r,
                   .seq = h_.ops[id].seq,
                   .begin = static_cast<std::uint32_t>(context.named.size())};
    if (random_.chance(0.2)) {
      made.kind = Reception::Kind::kSent;
      messages_.emplace_back(static_cast<std::uint32_t>(context.receptions.size()), visible[r]);
    } else if (!messages_.empty() && random_.chance(0.3)) {
      const auto& [at, carried] = messages_[random_.below(messages_.size())];
      context.named.push_back({.kind = NamedUpdates::Kind::kMessage, .of = at});
      visible[r] |= carried;
    } else {
      const bool version = random_.chance(0.3);
      if (version) made.kind = Reception::Kind::kVersion;
      const bool first = random_.chance(0.3);
      std::vector<OpId> updates;
      const auto from = static_cast<std::uint32_t>(random_.below(h_.replicas.size()));
      for (OpId u = 0; u < id; ++u) {
        if (!is_read(h_.ops[u].kind) && (!first || h_.ops[u].replica == from)) updates.push_back(u);
      }
      if (updates.empty()) return;
      if (first) {
        updates.resize(1 + random_.below(updates.size()));
        context.named.push_back({.kind = NamedUpdates::Kind::kFirst,
                                 .of = from,
                                 .count = static_cast<std::uint32_t>(updates.size())});
      } else {
        updates = {updates[random_.below(updates.size())]};
        context.named.push_back({.of = updates[0]});
      }
      for (const OpId u : updates) {
        if (version)
          visible[r] |= bit(u) | needed(u);
        else
          received[r] |= bit(u);
      }
    }
    made.end = static_cast<std::uint32_t>(context.named.size());
    context.receptions.push_back(made);
    if (made.kind == Reception::Kind::kSent) return;
    for (bool again = true; again;) {
      again = false;
      for (OpId u = 0; u < id; ++u) {
        if ((visible[r] & bit(u)) || !(received[r] & bit(u)) || (needed(u) & ~visible[r])) continue;
        visible[r] |= bit(u);
        again = true;
      }
    }
  }

  History& h_;
  base::Random& random_;
  std::vector<std::pair<std::uint32_t, Mask>> messages_;
};

}  // namespace cupel::crdt
