// Last update replica: a simulated set, register or map that keeps the last update of each object,
// by Lamport's stamps.
#pragma once

#include <algorithm>
#include <vector>

#include "crdt/model/replicated_type.hpp"
#include "crdt/workload/simulated_replica.hpp"

namespace cupel::crdt {

class LastUpdateReplica final : public SimulatedReplica {
 public:
  LastUpdateReplica(const History& history, std::string_view bug, std::uint32_t self)
      : SimulatedReplica(history, self),
        type_(replicated_type(history)),
        own_clocks_(type_.traits().order_by_object && !type_.traits().membership),
        ignores_stamp_(!bug.empty()) {}

  void answer(Operation& read, std::vector<std::uint32_t>& list) override {
    if (read.kind == Kind::kTest) {
      read.returned = at(last_, read.element).value != kNone;
    } else if (read.kind == Kind::kValues) {
      if (const auto value = at(last_, read.key).value; value != kNone) list.push_back(value);
    } else {
      for (std::uint32_t e = 0; e < std::min(h_.elements.size(), last_.size()); ++e) {
        if (h_.elements[e].key == read.key && last_[e].value != kNone) list.push_back(e);
      }
    }
  }

 private:
  struct Last {
    std::uint64_t stamp = 0;
    std::uint32_t writer = 0;
    std::uint32_t value = kNone;  // the element; kNone: there is none, or it was removed
  };

  // A clock of each key, which knows of no other key.
  void observe(Update& update) override {
    if (own_clocks_) update.stamp = at(last_, update.op.key).stamp + 1;
  }

  void change(const Update& update, base::Random& /*random*/) override {
    Last& now = at(last_, type_.object(update.op));
    const Last then{update.stamp, update.tie,
                    update.op.kind == Kind::kDown ? kNone : update.op.element};
    if (ignores_stamp_ || std::pair(now.stamp, now.writer) < std::pair(then.stamp, then.writer))
      now = then;
  }

  const ReplicatedType& type_;
  const bool own_clocks_, ignores_stamp_;
  std::vector<Last> last_;  // by object
};

}  // namespace cupel::crdt
