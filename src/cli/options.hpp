// Options that several commands share, and what turns their texts into values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/command.hpp"
#include "levels/level.hpp"
#include "workload/workload.hpp"

namespace cupel::cli {

// The value, or a usage error that names the option.
template <typename T>
T or_throw(base::Result<T> result, const char* option) {
  if (!result.ok()) throw CLI::ValidationError(option, result.error().message);
  return std::move(result).value();
}

// "si,serializable" and the like, each level once, in the order asked.
std::vector<levels::Level> levels_of(const std::vector<std::string>& names);

// "6" or "4-8". At least 1.
std::pair<std::uint32_t, std::uint32_t> parse_ops(const std::string& text);

// What the transactions of a workload look like: --ops, --keys, --read-share …,
// each as given, or the workload's own.
struct ShapeArguments {
  std::optional<std::string> ops, distribution;
  std::optional<std::uint64_t> keys;
  std::optional<double> read_share, read_only_share, write_only_share, rmw_share, duplicates, scale;
  bool deletes = false;

  // Is any of them given? A plan leaves none open.
  [[nodiscard]] bool any() const {
    return ops || distribution || keys || read_share || read_only_share || write_only_share ||
           rmw_share || duplicates || scale || deletes;
  }
};
void add_shape_options(CLI::App& command, const char* group, ShapeArguments& arguments);
// The options of the workload's source, and what the command line says instead.
workload::WorkloadOptions shape_of(std::string_view workload, const ShapeArguments& arguments);

}  // namespace cupel::cli
