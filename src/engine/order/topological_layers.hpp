// Topological layers: an object's writers in layers, each known to be before the next.
//
// Where a database is right, most writers of one object are known to be in one order,
// whatever chains they are of. What saturation forces between such layers is little: who
// reads a version is before the writers of the next layer, and the rest follows through
// those. So the rules are asked only within a layer, and from each to the next. Where
// every layer is one writer the number of chains does not matter.
//
// "a is known to be before b" means here: the commit of a reaches the node in which a ww
// arc into b's version ends. That is transitive, and once known it stays known: layers are
// only ever split. They are the finest ones (the ordinal sum of the known order), except
// where so few writers are in one order that finding them would cost more than it saves.
// Cost: linear in the writers where they are in one order; else chains times log each,
// for at most a quarter of them.
#pragma once

#include <span>
#include <vector>

#include "engine/order/clocks.hpp"
#include "engine/order/versions.hpp"

namespace cupel::order {

class TopologicalLayers {
 public:
  // One layer an object. Both must outlive this and keep their slots.
  TopologicalLayers(const Problem& problem, const EventGraph& graph, const Versions& versions);

  // Splits x's by what the clocks show, which must be of all columns and of the graph's
  // last sort().
  void update(Object x, const Clocks& clocks);
  // Every layer is one writer.
  [[nodiscard]] bool settled(Object x) const { return settled_[x] != 0; }
  // x's slots, those of an earlier layer first.
  [[nodiscard]] std::span<const Slot> slots(Object x) const {
    return std::span(order_).subspan(versions_.first_slot(x),
                                     versions_.last_slot(x) - versions_.first_slot(x));
  }
  // By place in slots(x): does a layer begin there?
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
