// Which levels decide alone: those that the user named (analysis::Losses).
#pragma once

#include <cstddef>

#include "engine/levels/level.hpp"

namespace cupel::analysis {

// Of a check of so many levels. A check of every level named none.
inline bool levels_by_name(std::size_t levels) {
  return levels < levels::all_levels().size();
}

}  // namespace cupel::analysis
