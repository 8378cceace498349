// Strata: an object's writers in layers, each known to be before the next.
//
// Where a database is right, most writers of one object are known to be in one order,
// whatever chains they are of. What saturation forces between such layers is little: who
// reads a version is before the writers of the next layer, and the rest follows through
// those. So only within a layer, and from each to the next, is there something to ask,
// and where every layer is one writer the number of chains does not matter.
//
// Known is here: the commit of the one reaches what a ww arc into the other's version
// ends in. That is transitive, and once known it stays known: layers are only ever
// split. They are the finest ones (the ordinal sum that the known order is), but where so
// few writers are in one order that to find them would cost more than it spares.
// Cost: linear in the writers where they are in one order; else chains times log each,
// for at most a quarter of them.
#pragma once

#include <span>
#include <vector>

#include "order/clocks.hpp"
#include "order/versions.hpp"

namespace cupel::order {

class Strata {
 public:
  // One stratum an object. Both have to outlive this, and not to change their slots.
  Strata(const Problem& problem, const EventGraph& graph, const Versions& versions);

  // Splits x's by what the clocks show, which must be of all columns and of the graph's
  // last sort().
  void update(Object x, const Clocks& clocks);
  // Every stratum is one writer.
  [[nodiscard]] bool settled(Object x) const { return settled_[x] != 0; }
  // x's slots, those of an earlier stratum first.
  [[nodiscard]] std::span<const Slot> slots(Object x) const {
    return std::span(order_).subspan(versions_.first_slot(x),
                                     versions_.last_slot(x) - versions_.first_slot(x));
  }
  // By place in slots(x): does a stratum begin there?
  [[nodiscard]] std::span<const std::uint8_t> starts(Object x) const {
    return std::span(starts_).subspan(versions_.first_slot(x),
                                      versions_.last_slot(x) - versions_.first_slot(x));
  }

 private:
  const Problem& problem_;
  const EventGraph& graph_;
  const Versions& versions_;
  std::vector<Slot> order_;
  std::vector<std::uint8_t> starts_;
  std::vector<std::uint8_t> settled_;  // by object
  std::vector<std::pair<std::uint32_t, Slot>> by_rank_;
  std::vector<std::uint32_t> place_, low_;
};

}  // namespace cupel::order
