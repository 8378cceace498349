// Mixed history: several objects, each of a type of its own, in one history of the same replicas.
//
// All objects share one happens-before: what a replica had seen of one, it had seen together with
// what came before it on the others. Each object is also a history by itself, so that the methods
// of its type decide it. If deliveries are known, such a history has
// what its replicas had received of it (deliver_to_objects).
#pragma once

#include <string>
#include <vector>

#include "crdt/model/history.hpp"
#include "crdt/model/visibility.hpp"

namespace cupel::crdt {

// The type that reports and certificates name for such a history.
inline constexpr const char* kMixedType = "objects";

struct MixedObject {
  std::string name;  // as JSON
  NamedType type;
  History history;           // of the replicas, those that have operations on it
  std::vector<OpId> origin;  // by operation: that of the whole
};

struct MixedHistory {
  // All operations, with their kinds, replicas, lines and times, and the context of the history. It
  // has no keys, elements or values, and its type says nothing.
  History whole;
  std::vector<MixedObject> objects;
  struct Place {
    std::uint32_t object = kNone;  // kNone: an update of unknown outcome that cannot have happened
    OpId op = kNone;
  };
  std::vector<Place> place;  // by operation of the whole
};

// The objects take the times of the whole.
void share_times(MixedHistory& history);

// Each object gets what its replicas had received of it: the visibility of the whole, as deliver
// lines by the same rule.
void deliver_to_objects(MixedHistory& history, const Visibility& visibility);

}  // namespace cupel::crdt
