// Shared options: see the header.
#include "cli/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "cli/spelling.hpp"

namespace cupel::cli {

std::vector<levels::Level> levels_of(const std::vector<std::string>& names) {
  std::vector<levels::Level> asked;
  for (const auto& list : names) {
    for (const auto& name : CLI::detail::split(list, ',')) {
      const auto level = levels::parse_level(name);
      if (!level) {
        const auto suggestion = did_you_mean(name, level_names());
        throw CLI::ValidationError(
            "--level", fmt::format("found `{}`, which is no level{} `cupel levels` lists them", name,
                                   suggestion.empty() ? ";" : suggestion));
      }
      if (std::find(asked.begin(), asked.end(), *level) == asked.end()) asked.push_back(*level);
    }
  }
  return asked;
}

std::pair<std::uint32_t, std::uint32_t> parse_ops(const std::string& text) {
  const CLI::ValidationError error(
      "--ops", fmt::format("found `{}`, expected a number or a range, as in 6 or 4-8", text));
  const auto dash = text.find('-');
  const auto number = [&](const std::string& part) {
    std::uint32_t value = 0;
    if (!CLI::detail::lexical_cast(part, value) || value == 0) throw error;
    return value;
  };
  const auto low = number(text.substr(0, dash));
  const auto high = dash == std::string::npos ? low : number(text.substr(dash + 1));
  if (high < low) throw error;
  return {low, high};
}

void add_shape_options(CLI::App& command, const char* group, ShapeArguments& arguments) {
  const auto add_share = [&](const char* name, std::optional<double>& value,
                             const char* description) {
    command.add_option(name, value, description)->type_name("SHARE")->check(share())->group(group);
  };
  command.add_option("--ops", arguments.ops, "Operations of a transaction: a number or a range")
      ->type_name("N|MIN-MAX")
      ->group(group);
  command.add_option("--keys", arguments.keys, "Keys")
      ->type_name("N")
      ->check(whole_number(1, workload::kMaxKeys))
      ->group(group);
  add_share("--read-share", arguments.read_share, "Share of operations that read, from 0 to 1");
  add_share("--read-only-share", arguments.read_only_share, "Share of transactions that only read");
  add_share("--write-only-share", arguments.write_only_share, "Share of transactions that only write");
  add_share("--rmw-share", arguments.rmw_share,
            "Share of transactions that read each key before they write it");
  command
      .add_option("--distribution", arguments.distribution,
                  "How keys are chosen: uniform, zipf, hotspot or exponential")
      ->type_name("NAME")
      ->group(group);
  add_share("--duplicates", arguments.duplicates, "Share of writes that write a value again");
  command.add_flag("--deletes", arguments.deletes,
                   "range-*: delete rows, instead of writing tombstones")
      ->group(group);
  command
      .add_option("--scale", arguments.scale,
                  "Size of the application workloads' tables; 1 is as in the papers")
      ->type_name("X")
      ->check(not_negative())
      ->group(group);
}

workload::WorkloadOptions shape_of(std::string_view workload, const ShapeArguments& arguments) {
  workload::WorkloadOptions shape;
  for (const auto& info : workload::all_workloads()) {
    if (info.name == workload) shape = info.defaults;
  }
  const auto take = [](auto& option, const auto& given) {
    if (given) option = *given;
  };
  take(shape.keys, arguments.keys);
  take(shape.read_share, arguments.read_share);
  take(shape.read_only_share, arguments.read_only_share);
  take(shape.write_only_share, arguments.write_only_share);
  take(shape.rmw_share, arguments.rmw_share);
  take(shape.duplicates, arguments.duplicates);
  take(shape.scale, arguments.scale);
  shape.tombstones = !arguments.deletes;
  if (arguments.ops) std::tie(shape.min_ops, shape.max_ops) = parse_ops(*arguments.ops);
  if (arguments.distribution) {
    const auto found = workload::parse_distribution(*arguments.distribution);
    if (!found) {
      throw CLI::ValidationError("--distribution",
                                 fmt::format("found `{}`, expected uniform, zipf, hotspot or "
                                             "exponential",
                                             *arguments.distribution));
    }
    shape.distribution = *found;
  }
  return shape;
}

}  // namespace cupel::cli
