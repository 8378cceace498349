// Times: which updates an operation cannot have seen, because they were invoked after it had ended
// (docs/reference/formats/crdt.md#times).
//
// A replica executes one operation after the other. So an operation began no earlier than any
// before it on its replica, and ended no later than any after it. spread_times() gives each
// operation these bounds. Then "seen too late" is closed under the order of each replica, and a
// part of a history keeps what the times of the rest say about it.
#pragma once

#include <optional>

#include "crdt/model/visibility.hpp"

namespace cupel::crdt {

// From each operation's own times the bounds by its replica. If a replica has an operation that
// ended before an earlier one of it began, the clock ran backwards: then no bound is kept, and the
// history names the line.
void spread_times(History& history);

// The clocks that recorded the times may be wrong by so much: widens every operation on both sides.
void allow_clock_drift(History& history, std::int64_t nanoseconds);

History without_times(History history);

// False: no operation has a time that says something of another.
bool has_times(const History& history);

// Was the one invoked after the other had ended?
inline bool is_too_late(const Operation& update, const Operation& op) {
  return update.begun > op.ended && update.replica != op.replica;
}

// How many operations of another replica the operation can have seen at most.
std::uint32_t most_by_times(const History& history, const Operation& op, std::uint32_t replica);

// An operation that has seen one that was invoked after it had ended; nothing: there is none.
struct LateUpdate {
  OpId op, update;
};
std::optional<LateUpdate> late_update(const History& history, const Clocks& clocks);
std::optional<LateUpdate> late_update(const History& history, const Visibility& visibility);

}  // namespace cupel::crdt
