// cupel: the command line. Everything is in command.cpp, so that it can be linked.
#include "cli/command.hpp"

#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

int main(int argc, char** argv) {
#ifdef M_TRIM_THRESHOLD
  // Large arrays come and go, round after round; memory given back to the system between them
  // would be mapped again page by page. What is larger still is given back, or it would leave
  // holes.
  mallopt(M_MMAP_THRESHOLD, 16 << 20);
  mallopt(M_TRIM_THRESHOLD, 128 << 20);
#endif
  return cupel::cli::run(argc, argv);
}
