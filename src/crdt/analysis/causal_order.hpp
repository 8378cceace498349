// Causal order of the recorded deliveries, where their rule asks for less (fifo, applied).
//
// Without deliveries cupel decides by causal order: whoever sees an update sees all that its
// replica had seen. A library that is only recorded by a weaker rule does not promise this. If a
// replica did see updates in another order, a history without its deliveries says nothing about the
// library. Cost: replicas² × updates, one comparison each.
#pragma once

#include <optional>

#include "crdt/model/history.hpp"
#include "crdt/model/visibility.hpp"

namespace cupel::crdt {

struct EarlyUpdate {
  std::uint32_t replica;  // saw
  OpId update;            // before, or without
  OpId missing;           // which the replica of `update` had seen
};

// An update that came out of causal order. Nothing: each came after all that it rests on.
std::optional<EarlyUpdate> early_update(const History& history, const Visibility& visibility);

}  // namespace cupel::crdt
