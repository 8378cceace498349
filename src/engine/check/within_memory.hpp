// within_memory: runs a computation under the memory limit of a budget.
#pragma once

#include <new>
#include <optional>

#include "base/budget.hpp"

namespace cupel::check {

// Nothing if the memory limit was met inside.
template <typename Work>
auto within_memory(base::Budget& budget, Work work) -> std::optional<decltype(work())> {
  const base::AllocationWatch watch(&budget);
  try {
    return work();
  } catch (const std::bad_alloc&) {  // by the watch, or the system's own limit
    if (budget.limit() == base::Limit::kNone) throw;
  }
  return std::nullopt;
}

}  // namespace cupel::check
