// cupel generate: a synthetic history from a simulated store, or with --plan a
// workload file for `cupel run`.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "cli/command.hpp"
#include "cli/options.hpp"
#include "cli/spelling.hpp"
#include "levels/level.hpp"
#include "workload/generate.hpp"
#include "workload/plan.hpp"

namespace cupel::cli {

namespace {

struct GenerateArguments {
  workload::GenerateOptions options;
  std::string store = std::string(workload::name(workload::GenerateOptions().store));
  std::string shape = std::string(workload::name(workload::GenerateOptions().shape));
  std::string distribution = std::string(workload::name(workload::GenerateOptions().distribution));
  std::string ops = "4-8";
  std::vector<std::string> inject;
  std::string output, to;
  bool edn = false, no_times = false;
  std::string plan;  // a workload: what is written is a workload file
  double read_only_share = 0, write_only_share = 0, rmw_share = 0;
  bool deletes = false;
};

template <typename T>
T named(std::optional<T> found, const std::string& text, const char* option,
        const std::vector<std::string>& names) {
  if (!found) {
    throw CLI::ValidationError(option, fmt::format("found `{}`, expected {}{}", text, one_of(names),
                                                   did_you_mean(text, names)));
  }
  return *found;
}

template <typename Enum>
std::vector<std::string> names_of(std::span<const Enum> all) {
  std::vector<std::string> names;
  for (const Enum one : all) names.emplace_back(workload::name(one));
  return names;
}

std::optional<workload::Store> store_of(const std::string& text) {
  const auto level = levels::parse_level(text);  // so that "si" will do
  return workload::parse_store(level ? levels::name(*level) : text);
}

void check_anomaly(const std::string& name) {
  const auto known = workload::injectable_anomalies();
  if (std::find(known.begin(), known.end(), name) != known.end()) return;
  const std::vector<std::string> names(known.begin(), known.end());
  throw CLI::ValidationError("--inject", fmt::format("found `{}`, expected {}{}", name,
                                                     one_of(names), did_you_mean(name, names)));
}

void check_workload(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& info : workload::all_workloads()) names.emplace_back(info.name);
  if (std::find(names.begin(), names.end(), name) != names.end()) return;
  throw CLI::ValidationError("--plan", fmt::format("found `{}`, expected {}{}", name, one_of(names),
                                                   did_you_mean(name, names)));
}

// The options of the workload's source, and what the command line says instead.
workload::WorkloadOptions plan_options(const CLI::App& command, const GenerateArguments& asked) {
  workload::WorkloadOptions options;
  for (const auto& info : workload::all_workloads()) {
    if (info.name == asked.plan) options = info.defaults;
  }
  const auto take = [&](const char* name, auto& option, const auto& value) {
    if (command.count(name) > 0) option = value;
  };
  options.seed = asked.options.seed;
  options.sessions = asked.options.sessions;
  take("--keys", options.keys, asked.options.keys);
  take("--read-share", options.read_share, asked.options.read_share);
  take("--distribution", options.distribution, asked.options.distribution);
  take("--duplicates", options.duplicates, asked.options.duplicates);
  take("--read-only-share", options.read_only_share, asked.read_only_share);
  take("--write-only-share", options.write_only_share, asked.write_only_share);
  take("--rmw-share", options.rmw_share, asked.rmw_share);
  options.tombstones = !asked.deletes;
  if (command.count("--ops") > 0) {
    std::tie(options.min_ops, options.max_ops) = parse_ops(asked.ops);
  }
  return options;
}

}  // namespace

void add_generate(CLI::App& app, Run& run) {
  auto* command = app.add_subcommand("generate", "Make a synthetic history from a simulated store");
  auto arguments = std::make_shared<GenerateArguments>();
  auto& options = arguments->options;
  command
      ->add_option("-o,--output", arguments->output,
                   "The file to write; replaced only when all is well. - is standard output")
      ->required()
      ->type_name("FILE");
  add_target_options(*command, arguments->to, arguments->edn, "FILE");

  const char* behaviour = "How the store behaves";
  command
      ->add_option("--level", arguments->store,
                   fmt::format("The level that the store gives: {}. Short names will do; "
                               "snapshot-isolation and serializable are given with session order",
                               one_of(names_of(workload::all_stores()))))
      ->type_name("LEVEL")
      ->capture_default_str()
      ->group(behaviour);
  command
      ->add_option("--inject", arguments->inject,
                   "Anomalies to plant, one each, separated by commas; may be repeated. The names "
                   "of `cupel explain`")
      ->type_name("ANOMALY")
      ->allow_extra_args(false)
      ->group(behaviour);
  command
      ->add_option("--abort-rate", options.abort_rate,
                   "Share of transactions that abort of their own accord, from 0 to 1")
      ->type_name("SHARE")
      ->capture_default_str()
      ->check(share())
      ->group(behaviour);
  command
      ->add_option("--indeterminate-rate", options.indeterminate_rate,
                   "Share of transactions whose outcome the client does not know, from 0 to 1")
      ->type_name("SHARE")
      ->capture_default_str()
      ->check(share())
      ->group(behaviour);
  command
      ->add_flag("--conflict-aborts", options.conflict_aborts,
                 "Record also what the store aborted because of a conflict. Such a transaction is "
                 "made again until it commits; by default only that is recorded")
      ->group(behaviour);
  command->add_option("--seed", options.seed, "The same options and seed give the same history")
      ->type_name("N")
      ->check(whole_number(0, std::numeric_limits<std::uint64_t>::max()))
      ->capture_default_str()
      ->group(behaviour);
  command
      ->add_flag("--no-times", arguments->no_times, "Leave out when transactions began and ended")
      ->group(behaviour);

  const char* plan = "A workload file instead of a history";
  auto* planned = command
                      ->add_option("--plan", arguments->plan,
                                   "Write the transactions of this workload (docs/workloads), for "
                                   "`cupel run --workload FILE`. Options below that are not given "
                                   "are the workload's own")
                      ->type_name("WORKLOAD")
                      ->group(plan);
  const std::tuple<const char*, double*, const char*> shares[] = {
      {"--read-only-share", &arguments->read_only_share, "only read"},
      {"--write-only-share", &arguments->write_only_share, "only write"},
      {"--rmw-share", &arguments->rmw_share, "write what they read"}};
  for (const auto& [name, target, what] : shares) {
    command->add_option(name, *target, fmt::format("general: share of transactions that {}", what))
        ->type_name("SHARE")
        ->check(share())
        ->needs(planned)
        ->group(plan);
  }
  command
      ->add_flag("--deletes", arguments->deletes,
                 "range-*: delete rows, instead of writing tombstones")
      ->needs(planned)
      ->group(plan);
  for (const char* of_a_store :
       {"--to", "--edn", "--level", "--inject", "--abort-rate", "--indeterminate-rate",
        "--no-times", "--conflict-aborts"}) {
    planned->excludes(command->get_option(of_a_store));
  }

  const char* shape = "What its clients do";
  command
      ->add_option(
          "--shape", arguments->shape,
          fmt::format("Kind of transactions: {}", one_of(names_of(workload::all_shapes()))))
      ->type_name("SHAPE")
      ->capture_default_str()
      ->excludes(planned)
      ->group(shape);
  command->add_option("--sessions", options.sessions, "Sessions")
      ->type_name("N")
      ->check(whole_number(1, workload::kMaxSessions))
      ->capture_default_str()
      ->group(shape);
  command->add_option("--txns", options.txns_per_session, "Transactions of a session that commit")
      ->type_name("N")
      ->check(whole_number(0, std::numeric_limits<std::uint32_t>::max()))
      ->capture_default_str()
      ->group(shape);
  command->add_option("--ops", arguments->ops, "Operations of a transaction: a number or a range")
      ->type_name("N|MIN-MAX")
      ->capture_default_str()
      ->group(shape);
  command->add_option("--keys", options.keys, "Keys")
      ->type_name("N")
      ->check(whole_number(1, workload::kMaxKeys))
      ->capture_default_str()
      ->group(shape);
  command
      ->add_option("--read-share", options.read_share, "Share of operations that read, from 0 to 1")
      ->type_name("SHARE")
      ->capture_default_str()
      ->check(share())
      ->group(shape);
  command
      ->add_option(
          "--distribution", arguments->distribution,
          fmt::format("How keys are chosen: {}", one_of(names_of(workload::all_distributions()))))
      ->type_name("NAME")
      ->capture_default_str()
      ->group(shape);
  command
      ->add_option("--duplicates", options.duplicates,
                   "Share of writes that write a value which was written before, from 0 to 1")
      ->type_name("SHARE")
      ->capture_default_str()
      ->check(share())
      ->group(shape);
  command->footer(
      "Examples:\n"
      "  cupel generate --level snapshot-isolation -o history.jsonl\n"
      "  cupel generate --sessions 20 --txns 5000 --keys 1000 --distribution zipf -o big.cupel\n"
      "  cupel generate --level serializable --inject lost-update,long-fork -o bad.jsonl\n"
      "  cupel generate --plan mini --sessions 4 --txns 50 -o plan.json");

  command->callback([arguments, command, &run] {
    auto& asked = arguments->options;
    asked.store = named(store_of(arguments->store), arguments->store, "--level",
                        names_of(workload::all_stores()));
    asked.shape = named(workload::parse_shape(arguments->shape), arguments->shape, "--shape",
                        names_of(workload::all_shapes()));
    asked.distribution =
        named(workload::parse_distribution(arguments->distribution), arguments->distribution,
              "--distribution", names_of(workload::all_distributions()));
    std::tie(asked.min_ops, asked.max_ops) = parse_ops(arguments->ops);
    asked.times = !arguments->no_times;
    for (const auto& list : arguments->inject) {
      for (const auto& name : CLI::detail::split(list, ',')) {
        check_anomaly(name);
        asked.inject.push_back(name);
      }
    }
    format_of(arguments->to, "--to");
    if (command->count("--plan") > 0) {
      check_workload(arguments->plan);
      run = [arguments, options = plan_options(*command, *arguments)]() -> int {
        const auto written = workload::write_plan(
            arguments->plan, options, arguments->options.txns_per_session, arguments->output);
        if (!written.ok()) {
          complain(written.error());
          return kBad;
        }
        return kSatisfied;
      };
      return;
    }
    run = [arguments]() -> int {
      const auto target = write_options(arguments->output, arguments->to, arguments->edn);
      if (!target.ok()) {
        complain(target.error());
        return kBad;
      }
      const auto history = workload::generate(arguments->options);
      if (!history.ok()) {
        complain(history.error());
        return kBad;
      }
      return write_history(*history, arguments->output, *target);
    };
  });
}

}  // namespace cupel::cli
