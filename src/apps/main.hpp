// The main function that the programs of the command line share.
#pragma once

#include <span>

#include "apps/command.hpp"

#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

namespace cupel::apps {

inline int run_program(int argc, char** argv, std::span<const NamedCommand> own) {
#ifdef M_TRIM_THRESHOLD
  // Large arrays come and go, round after round; memory given back to the system between them
  // would be mapped again page by page. What is larger still is given back, or it would leave
  // holes.
  mallopt(M_MMAP_THRESHOLD, 16 << 20);
  mallopt(M_TRIM_THRESHOLD, 128 << 20);
#endif
  return run(argc, argv, own);
}

}  // namespace cupel::apps
