// TablesOfRun: see the header.
#include "run/tables_of_run.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <random>
#include <string_view>

namespace cupel::run {

std::string new_run_name() {
  std::random_device random;
  return fmt::format("{:08x}", random());
}

std::string shared_run_name(const std::string& name, const workload::Workload& workload) {
  std::uint32_t sum = 2166136261;  // FNV-1a
  const auto add = [&](std::string_view text) {
    for (const char c : text) sum = (sum ^ static_cast<unsigned char>(c)) * 16777619U;
    sum = (sum ^ 0xffU) * 16777619U;  // no byte of UTF-8: texts end there
  };
  for (const auto& table : workload.schema().tables) {
    add(table.name);
    for (const auto* columns : {&table.key, &table.columns}) {
      for (const auto& column : *columns) {
        add(column.name);
        add(std::to_string(static_cast<int>(column.type)));
      }
    }
  }
  workload.load([&](std::uint32_t table, const workload::Row& row) {
    add(std::to_string(table));
    for (const auto* values : {&row.key, &row.values}) {
      for (const auto& value : *values) {
        add(std::to_string(value.index()));
        add(workload::to_string(value));
      }
    }
  });
  return fmt::format("{}_{:08x}", name, sum);
}

TablesOfRun::TablesOfRun(workload::Workload& workload, const std::string& run_name)
    : workload_(workload), schema_(workload.schema()) {
  if (run_name.empty()) return;
  for (auto& table : schema_.tables) table.name += "_" + run_name;
}

}  // namespace cupel::run
