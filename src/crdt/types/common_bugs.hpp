// Injected bugs that the simulated replicas of several types can have.
#pragma once

#include "crdt/model/replicated_type.hpp"

namespace cupel::crdt {

inline TypeBug ignores_timestamp() {
  return {"ignores-timestamp",
          "the update that arrives last wins: the register keeps it, the array puts it first"};
}

// Of lists.
inline TypeBug forgets_removed_neighbour() {
  return {"forgets-removed-neighbour",
          "a character that arrives goes to the beginning if the one before it was removed"};
}

}  // namespace cupel::crdt
