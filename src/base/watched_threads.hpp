// The memory limit (base::AllocationWatch) in threads other than the one that runs a command.
#pragma once

#include "base/budget.hpp"

namespace cupel::base {

// What this thread watches, for threads that work for it and hand back what they throw: they make
// an AllocationWatch of it. None: it watches nothing.
[[nodiscard]] Budget* watched_by_this_thread();

// Of every thread that never had a watch of its own, from now on: nobody there is sure to catch an
// exception, so an allocation that would break the limit, or that the system refuses, calls
// `last_resort`, which does not return and does not allocate. None: they watch nothing. Both have
// to outlive every such thread.
void watch_other_threads(Budget* budget, void (*last_resort)());

// For operator new: the system has no memory for this thread.
void system_has_no_more_memory();

}  // namespace cupel::base
