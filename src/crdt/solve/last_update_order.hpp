// Last update order: is there an order of the updates of each object that contains happens-before,
// and in which the last one of some updates has the value that a read says?
//
// The order of an object is built from its end. An update may come last of those that are left if
// no other one that is left had seen it, and if it has the value of each claim about it whose last
// update is not placed yet. Then it may be placed: in any order of those that are left, it can move
// to the end, and no claim becomes wrong. So the order that is found is the last word: if no update
// may be placed, there is none, and the updates and reads that wait for each other say why.
//
// Cost: operations + deliveries, plus the updates of the claims.
#pragma once

#include <algorithm>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "crdt/solve/context.hpp"

namespace cupel::crdt {

// The last of these updates of one object has this value.
struct LastUpdateClaim {
  OpId read;
  std::uint32_t value;
  std::uint32_t begin, end;  // of its updates
};

class LastUpdateClaims {
 public:
  void add(OpId read, std::uint32_t value, std::span<const OpId> updates) {
    const auto begin = static_cast<std::uint32_t>(updates_.size());
    updates_.insert(updates_.end(), updates.begin(), updates.end());
    claims_.push_back({read, value, begin, static_cast<std::uint32_t>(updates_.size())});
  }
  // Replica by replica, in the order of the reads.
  void sort(const History& history) {
    const auto place = [&](const LastUpdateClaim& claim) {
      return std::pair(history.ops[claim.read].replica, claim.read);
    };
    std::stable_sort(claims_.begin(), claims_.end(),
                     [&](const auto& a, const auto& b) { return place(a) < place(b); });
  }
  [[nodiscard]] const std::vector<LastUpdateClaim>& claims() const { return claims_; }
  [[nodiscard]] std::span<const OpId> updates(const LastUpdateClaim& claim) const {
    return std::span(updates_).subspan(claim.begin, claim.end - claim.begin);
  }

 private:
  std::vector<LastUpdateClaim> claims_;
  std::vector<OpId> updates_;
};

using ValueOfUpdate = std::function<std::uint32_t(OpId update)>;

// kSatisfied with `writes`, or kViolated.
ContextDecision order_of_last_updates(const KnownContext& context, const KeyEvents& events,
                                      const LastUpdateClaims& claims, const ValueOfUpdate& value);

}  // namespace cupel::crdt
