// cupel-crdt: replicated data types. `cupel-crdt --fits FILE` prints the hint of `cupel check` at
// such a file (crdt_hint.hpp).
#include <cstdio>
#include <string_view>

#include "apps/crdt/crdt_fits.hpp"
#include "apps/main.hpp"

int main(int argc, char** argv) {
  using namespace cupel::apps;
  if (argc == 3 && std::string_view(argv[1]) == "--fits") {
    std::fputs(crdt_fits(argv[2]).c_str(), stdout);
    return kSatisfied;
  }
  return run_program(argc, argv, crdt_commands());
}
