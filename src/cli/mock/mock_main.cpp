// cupel-mock: the simulated database. `cupel-mock --doctor` prints what of it works on this
// machine, as JSON, for `cupel doctor`.
#include <cstdio>
#include <string_view>

#include "cli/main.hpp"
#include "cli/mock/mock_doctor.hpp"

int main(int argc, char** argv) {
  using namespace cupel::cli;
  if (argc == 2 && std::string_view(argv[1]) == "--doctor") {
    std::puts(mock_findings().c_str());
    return kSatisfied;
  }
  return run_program(argc, argv, mock_commands());
}
