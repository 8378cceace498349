// Options that several commands share, and what turns their texts into values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/command.hpp"
#include "base/shard.hpp"
#include "data/formats/interpretation.hpp"
#include "data/history/history.hpp"
#include "data/workload/workload.hpp"
#include "engine/check/check.hpp"
#include "engine/levels/level.hpp"

namespace cupel::apps {

// The value, or a usage error that names the option.
template <typename T>
T or_throw(base::Result<T> result, const char* option) {
  if (!result.ok()) throw UsageError(option, result.error().message);
  return std::move(result).value();
}

// "si,serializable" and the like, each level once, in the order asked.
std::vector<levels::Level> levels_of(const std::vector<std::string>& names);

// What a check may cost, and how far the clocks may be wrong: --timeout,
// --memory-limit, --shrink-time, --threads and --clock-drift, each as given.
struct LimitArguments {
  std::string timeout, memory_limit, clock_drift, shrink_time;
  unsigned threads = 0;
};
// `timed`: what the timeout is for, as in "For each history".
void add_limit_options(Command& command, const std::string& timed, LimitArguments& arguments);
// Without --memory-limit; 0 where the system does not say what is free.
std::uint64_t default_memory_limit();

// For these levels, as levels_of() takes them.
check::Options check_options(const std::vector<std::string>& levels,
                             const LimitArguments& arguments);

// --shard, and what it says; all of it if it is not given. `tasks`: what is shared out, as in
// "histories".
void add_shard_option(Command& command, const char* tasks, std::string& text);
base::Shard shard_of(const std::string& text);

// --initial, for a command that reads histories, and what it says.
void add_initial_option(Command& command, std::vector<std::string>& texts);
formats::InitialValues initial_values(const std::vector<std::string>& texts);

// --kind and --ignore, for a command that reads histories, and what they say.
struct InterpretationArguments {
  std::string kind;
  std::vector<std::string> ignore;

  // As on the command line, with a space before each.
  [[nodiscard]] std::string words() const;
};
// `objects`: the command takes histories of objects, too.
void add_interpretation_options(Command& command, InterpretationArguments& arguments,
                                bool objects = false);
formats::Interpretation interpretation(const InterpretationArguments& arguments,
                                       bool objects = false);
// Notes that say which op maps were left out of a history, and, with `kind`, how it was read.
void note_interpretation(const std::string& file, const history::History& history, bool kind);

// How long violations may be made smaller; none: not given.
std::optional<double> shrink_seconds(const LimitArguments& arguments);

// Refuses what is no name of a workload, with the name that may have been meant.
// `more`: what else the option takes.
void check_workload(const std::string& name, const char* option, const char* more = "");

workload::Distribution distribution_of(const std::string& name);

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
// Those that a simulated store has too, and those of workloads alone, which it
// returns; --scale is added by who has use for it.
void add_shape_options(Command& command, const char* group, ShapeArguments& arguments);
std::vector<Option*> add_mix_options(Command& command, const char* group,
                                     ShapeArguments& arguments);
// The options of the workload's source, and what the command line says instead.
workload::WorkloadOptions shape_of(std::string_view workload, const ShapeArguments& arguments);

}  // namespace cupel::apps
