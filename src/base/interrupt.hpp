// Interrupt: a user's wish that a computation ends early, with what it has.
//
// It acts as a limit of time that is met at that moment: every budget (budget.hpp) counts as
// exceeded. So whatever may take long ends soon, and says what it left unknown.
#pragma once

#include <atomic>
#include <string>

#include "base/budget.hpp"

namespace cupel::base {

// From now on the process is interrupted while the flag is true. Borrowed; null: never, as at the
// start.
void interrupt_by(const std::atomic<bool>* flag);
bool interrupted();

// What ended a computation: "time limit met", "memory limit met", or "interrupted".
std::string event_of(Limit limit);

}  // namespace cupel::base
