// Recording: the objects of some replicas, each of a type of its own, in one history. Without names
// there is one object, and its history is all.
//
// All objects share one happens-before: what a replica had seen of one, it had seen together with
// what came before it on the others. Each object is also a history by itself, so that the methods
// of its type decide it. If deliveries are known, such a history has what its replicas had received
// of it (deliver_to_objects).
#pragma once

#include <string>
#include <vector>

#include "crdt/model/history.hpp"
#include "crdt/model/visibility.hpp"

namespace cupel::crdt {

// The type that reports and certificates name for named objects.
inline constexpr const char* kNamedObjects = "objects";

struct ObjectHistory {
  std::string name;  // as JSON; empty: it is the only one
  NamedType type;
  History history;           // of the replicas, those that have operations on it
  std::vector<OpId> origin;  // of named objects: by operation, that of the whole
};

struct Recording {
  std::vector<ObjectHistory> objects;
  // Of named objects: all operations, with their kinds, replicas, lines and times, and the context
  // of the history. It has no keys, elements or values, and its type says nothing.
  History combined;
  struct Place {
    std::uint32_t object = kNone;  // kNone: an update of unknown outcome that cannot have happened
    OpId op = kNone;
  };
  std::vector<Place> place;  // of named objects: by operation of the whole

  [[nodiscard]] bool is_named() const { return objects.empty() || !objects[0].name.empty(); }
  // The history of all operations.
  [[nodiscard]] const History& whole() const { return is_named() ? combined : objects[0].history; }
  [[nodiscard]] History& whole() { return is_named() ? combined : objects[0].history; }
  // "add(\"a\")", "inc() of the object \"hits\"".
  [[nodiscard]] std::string text(OpId op) const;
};

// Named objects take the times of the whole.
void share_times(Recording& recording);

// Each named object gets what its replicas had received of it: the visibility of the whole, as
// deliver lines by the same rule.
void deliver_to_objects(Recording& recording, const Visibility& visibility);

}  // namespace cupel::crdt
