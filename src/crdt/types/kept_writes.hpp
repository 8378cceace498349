// Kept writes: a simulated register that keeps the writes which no other one has overwritten.
#pragma once

#include <algorithm>
#include <vector>

#include "crdt/workload/simulated_replica.hpp"

namespace cupel::crdt {

class KeptWrites : public SimulatedReplica {
 public:
  enum class Bug : std::uint8_t {
    kAbsent,
    kDropsSiblings,     // a write that arrives also replaces values that it has not seen
    kKeepsOverwritten,  // a write replaces nothing
  };
  KeptWrites(const History& history, Bug bug, std::uint32_t self)
      : SimulatedReplica(history, self), bug_(bug) {}

 protected:
  const std::vector<OpId>& live(std::uint32_t key) { return at(live_, key); }

 private:
  void observe(Update& update) final { update.observed = at(live_, update.op.key); }

  void change(const Update& update, base::Random& /*random*/) final {
    auto& live = at(live_, update.op.key);
    if (bug_ == Bug::kDropsSiblings && is_remote(update)) live.clear();
    std::erase_if(live, [&](OpId id) {
      return bug_ != Bug::kKeepsOverwritten &&
             std::find(update.observed.begin(), update.observed.end(), id) != update.observed.end();
    });
    live.push_back(update.id);
  }

  const Bug bug_;
  std::vector<std::vector<OpId>> live_;  // by key: writes
};

}  // namespace cupel::crdt
