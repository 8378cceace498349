// What has to come before simdjson's first use: it chooses an implementation there, in a function
// that must not throw and therefore must not run out of memory.
#pragma once

#include <simdjson.h>

#include "base/budget.hpp"

namespace cupel::base {

inline void prepare_simdjson() {
  const AllocationWatch::Deferral later;
  [[maybe_unused]] const bool chosen = simdjson::validate_utf8(" ", 1);
}

}  // namespace cupel::base
