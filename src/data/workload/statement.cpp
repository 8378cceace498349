// Names of cells, and the key-value table.
#include "data/workload/statement.hpp"

namespace cupel::workload {

Schema kv_schema(ColumnType type) {
  return {{{.name = "cupel_kv",
            .key = {{"k", ColumnType::kInteger}},
            .columns = {{"v", type}},
            .plain = true}}};
}

std::string to_string(const Datum& datum) {
  if (const auto* integer = std::get_if<std::int64_t>(&datum)) return std::to_string(*integer);
  if (const auto* text = std::get_if<std::string>(&datum)) return *text;
  return "null";
}

Datum cell_name(const Table& table, const std::vector<Datum>& key, std::uint32_t column) {
  if (table.plain) return key.front();
  std::string name = table.name + ':';
  for (std::size_t i = 0; i < key.size(); ++i) {
    if (i > 0) name += '.';
    name += to_string(key[i]);
  }
  return name + ':' + table.columns[column].name;
}

}  // namespace cupel::workload
