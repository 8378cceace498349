// cupel-mock: the simulated database. `cupel-mock --doctor` prints what of it works on this
// machine, as JSON, for `cupel doctor`.
#include <cstdio>
#include <string_view>

#include "apps/main.hpp"
#include "apps/mock/mock_doctor.hpp"

int main(int argc, char** argv) {
  using namespace cupel::apps;
  if (argc == 2 && std::string_view(argv[1]) == "--doctor") {
    std::puts(mock_findings().c_str());
    return kSatisfied;
  }
  return run_program(argc, argv, mock_commands());
}
