// TablesOfRun: see the header.
#include "run/tables_of_run.hpp"

#include <fmt/format.h>

#include <random>

namespace cupel::run {

std::string new_run_name() {
  std::random_device random;
  return fmt::format("{:08x}", random());
}

TablesOfRun::TablesOfRun(workload::Workload& workload, const std::string& run_name)
    : workload_(workload), schema_(workload.schema()) {
  if (run_name.empty()) return;
  for (auto& table : schema_.tables) table.name += "_" + run_name;
}

}  // namespace cupel::run
