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
  std::string kind = std::string(workload::name(workload::GenerateOptions().shape));
  ShapeArguments shape;
  std::vector<std::string> inject;
  std::string output, to;
  bool edn = false, no_times = false;
  std::string plan;  // a workload: what is written is a workload file
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
  const auto known = workload::plantable_anomalies();
  if (std::find(known.begin(), known.end(), name) != known.end()) return;
  const std::vector<std::string> names(known.begin(), known.end());
  throw CLI::ValidationError("--inject", fmt::format("found `{}`, expected {}{}", name,
                                                     one_of(names), did_you_mean(name, names)));
}

// What is given of the transactions' shape, in the place of the store's defaults.
void take_shape(const ShapeArguments& given, workload::GenerateOptions& options) {
  if (given.ops) std::tie(options.min_ops, options.max_ops) = parse_ops(*given.ops);
  if (given.distribution) options.distribution = distribution_of(*given.distribution);
  options.keys = given.keys.value_or(options.keys);
  options.read_share = given.read_share.value_or(options.read_share);
  options.duplicates = given.duplicates.value_or(options.duplicates);
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
      ->add_option("--inject-at", options.inject_at,
                   "Plant them after this share of the transactions, from 0 to 1, in the clients' "
                   "own sessions. Default: in sessions of their own")
      ->type_name("SHARE")
      ->check(share())
      ->needs(command->get_option("--inject"))
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
  for (auto* of_a_plan : add_mix_options(*command, plan, arguments->shape)) {
    of_a_plan->needs(planned);
  }
  for (const char* of_a_store : {"--to", "--edn", "--level", "--inject", "--abort-rate",
                                 "--indeterminate-rate", "--no-times", "--conflict-aborts"}) {
    planned->excludes(command->get_option(of_a_store));
  }

  const char* shape = "What its clients do";
  command
      ->add_option(
          "--shape", arguments->kind,
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
      ->check(whole_number(1, std::numeric_limits<std::uint32_t>::max()))
      ->capture_default_str()
      ->group(shape);
  add_shape_options(*command, shape, arguments->shape);
  const workload::GenerateOptions store;
  command->get_option("--ops")->default_str(fmt::format("{}-{}", store.min_ops, store.max_ops));
  command->get_option("--keys")->default_str(std::to_string(store.keys));
  command->get_option("--read-share")->default_str(fmt::format("{}", store.read_share));
  command->get_option("--duplicates")->default_str(fmt::format("{}", store.duplicates));
  command->get_option("--distribution")
      ->default_str(std::string(workload::name(store.distribution)));
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
    asked.shape = named(workload::parse_shape(arguments->kind), arguments->kind, "--shape",
                        names_of(workload::all_shapes()));
    take_shape(arguments->shape, asked);
    asked.times = !arguments->no_times;
    for (const auto& list : arguments->inject) {
      for (const auto& name : CLI::detail::split(list, ',')) {
        check_anomaly(name);
        asked.inject.push_back(name);
      }
    }
    format_of(arguments->to, "--to");
    if (command->count("--plan") > 0) {
      check_workload(arguments->plan, "--plan");
      auto wanted = shape_of(arguments->plan, arguments->shape);
      wanted.seed = asked.seed;
      wanted.sessions = asked.sessions;
      run = [arguments, wanted]() -> int {
        const auto written = workload::write_plan(
            arguments->plan, wanted, arguments->options.txns_per_session, arguments->output);
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
