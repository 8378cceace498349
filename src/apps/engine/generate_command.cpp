// cupel generate: a synthetic history from a simulated store, or with --plan a
// workload file for `cupel run`.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "apps/command.hpp"
#include "apps/options.hpp"
#include "apps/spelling.hpp"
#include "data/workload/generate.hpp"
#include "data/workload/plan.hpp"
#include "engine/levels/level.hpp"

namespace cupel::apps {

namespace {

struct GenerateArguments {
  workload::GenerateOptions options;
  std::string store = std::string(workload::name(workload::GenerateOptions().store));
  std::string kind = std::string(workload::name(workload::GenerateOptions().shape));
  ShapeArguments shape;
  std::vector<std::string> inject;
  std::string output, to;
  bool edn = false, no_times = false;
  std::string plan;             // a workload: what is written is a workload file
  std::uint64_t histories = 1;  // with the seeds from options.seed on
  std::string shard_text;
  base::Shard shard = {};
};

template <typename T>
T named(std::optional<T> found, const std::string& text, const char* option,
        const std::vector<std::string>& names) {
  if (!found) {
    throw UsageError(option, fmt::format("found `{}`, expected {}{}", text, one_of(names),
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

std::vector<std::string> injectable_names() {
  const auto known = workload::injectable_anomalies();
  return {known.begin(), known.end()};
}

void check_anomaly(const std::string& name) {
  const auto names = injectable_names();
  if (std::find(names.begin(), names.end(), name) != names.end()) return;
  throw UsageError("--inject", fmt::format("found `{}`, expected {}{}", name, one_of(names),
                                           did_you_mean(name, names)));
}

// What is given of the transactions' shape, in the place of the store's defaults.
void take_shape(const ShapeArguments& given, workload::GenerateOptions& options) {
  if (given.ops) std::tie(options.min_ops, options.max_ops) = parse_ops(*given.ops);
  if (given.distribution) options.distribution = distribution_of(*given.distribution);
  options.keys = given.keys.value_or(options.keys);
  options.read_share = given.read_share.value_or(options.read_share);
  options.duplicates = given.duplicates.value_or(options.duplicates);
}

void add_store_options(Command& command, GenerateArguments& arguments) {
  auto& options = arguments.options;
  const char* store = "Store";
  command
      .add_option("--level", arguments.store,
                  fmt::format("The level that the store provides: {}. Short names are accepted. "
                              "snapshot-isolation and serializable include session order",
                              one_of(names_of(workload::all_stores()))))
      ->type_name("LEVEL")
      ->capture_default_str()
      ->group(store);
  command
      .add_option("--inject", arguments.inject,
                  fmt::format("Anomalies to inject, one of each, separated by commas: {}. May be "
                              "repeated",
                              one_of(injectable_names())))
      ->type_name("ANOMALY")
      ->allow_extra_args(false)
      ->group(store);
  command
      .add_option("--inject-at", options.inject_at,
                  "Inject them after this share of the transactions, from 0 to 1, into the "
                  "clients' own sessions. Default: into new sessions")
      ->type_name("SHARE")
      ->check(share())
      ->needs(command.get_option("--inject"))
      ->group(store);
  command
      .add_option("--abort-rate", options.abort_rate,
                  "Share of transactions that their clients abort, from 0 to 1")
      ->type_name("SHARE")
      ->capture_default_str()
      ->check(share())
      ->group(store);
  command
      .add_option("--indeterminate-rate", options.indeterminate_rate,
                  "Share of transactions whose outcome the client does not know, from 0 to 1")
      ->type_name("SHARE")
      ->capture_default_str()
      ->check(share())
      ->group(store);
  command
      .add_flag("--conflict-aborts", options.conflict_aborts,
                "Also record the transactions that the store aborts because of a conflict. The "
                "store repeats each one until it commits. Default: record only the attempt that "
                "commits")
      ->group(store);
  command.add_option("--seed", options.seed, "The same options and seed give the same history")
      ->type_name("N")
      ->check(whole_number(0, std::numeric_limits<std::uint64_t>::max()))
      ->capture_default_str()
      ->group(store);
  command
      .add_option(
          "--histories", arguments.histories,
          "Make so many histories, with this seed and those after it. {seed} in FILE becomes "
          "the seed of each")
      ->type_name("N")
      ->check(whole_number(1, 1'000'000'000))
      ->capture_default_str()
      ->group(store);
  add_shard_option(command, "histories of --histories", arguments.shard_text);
  command.get_option("--shard")->group(store);
  command
      .add_flag("--no-times", arguments.no_times,
                "Leave out the times at which transactions begin and end")
      ->group(store);
}

// Returns --plan.
Option* add_plan_options(Command& command, GenerateArguments& arguments) {
  const char* plan = "A workload file instead of a history";
  auto* planned =
      command
          .add_option("--plan", arguments.plan,
                      "Write the transactions of this workload (docs/reference/workloads) for "
                      "`cupel run --workload FILE`. The workload's own values apply "
                      "where the options below are not given")
          ->type_name("WORKLOAD")
          ->group(plan);
  for (auto* of_a_plan : add_mix_options(command, plan, arguments.shape)) {
    of_a_plan->needs(planned);
  }
  for (const char* of_a_store :
       {"--to", "--edn", "--level", "--inject", "--abort-rate", "--indeterminate-rate",
        "--no-times", "--conflict-aborts", "--histories", "--shard"}) {
    planned->excludes(command.get_option(of_a_store));
  }
  return planned;
}

void add_client_options(Command& command, GenerateArguments& arguments, Option* planned) {
  auto& options = arguments.options;
  const char* shape = "Clients";
  command
      .add_option("--shape", arguments.kind,
                  fmt::format("Kind of transactions: {}", one_of(names_of(workload::all_shapes()))))
      ->type_name("SHAPE")
      ->capture_default_str()
      ->excludes(planned)
      ->group(shape);
  command.add_option("--sessions", options.sessions, "Number of sessions")
      ->type_name("N")
      ->check(whole_number(1, workload::kMaxSessions))
      ->capture_default_str()
      ->group(shape);
  command.add_option("--txns", options.txns_per_session, "Committed transactions of each session")
      ->type_name("N")
      ->check(whole_number(1, std::numeric_limits<std::uint32_t>::max()))
      ->capture_default_str()
      ->group(shape);
  add_shape_options(command, shape, arguments.shape);
  const workload::GenerateOptions store;
  command.get_option("--ops")->default_str(fmt::format("{}-{}", store.min_ops, store.max_ops));
  command.get_option("--keys")->default_str(std::to_string(store.keys));
  command.get_option("--read-share")->default_str(fmt::format("{}", store.read_share));
  command.get_option("--duplicates")->default_str(fmt::format("{}", store.duplicates));
  command.get_option("--distribution")
      ->default_str(std::string(workload::name(store.distribution)));
}

int write_plan(const GenerateArguments& arguments) {
  auto wanted = shape_of(arguments.plan, arguments.shape);
  wanted.seed = arguments.options.seed;
  wanted.sessions = arguments.options.sessions;
  const auto written = workload::write_plan(arguments.plan, wanted,
                                            arguments.options.txns_per_session, arguments.output);
  return written.ok() ? static_cast<int>(kSatisfied) : bad(written.error());
}

constexpr std::string_view kSeedMark = "{seed}";

// The file of one of several histories.
std::string seeded_name(std::string name, std::uint64_t seed) {
  const auto text = std::to_string(seed);
  for (auto at = name.find(kSeedMark); at != std::string::npos; at = name.find(kSeedMark, at)) {
    name.replace(at, kSeedMark.size(), text);
  }
  return name;
}

int write_generated(const GenerateArguments& arguments) {
  const auto target = write_options(arguments.output, arguments.to, arguments.edn);
  if (!target.ok()) return bad(target.error());
  for (std::uint64_t i = 0; i < arguments.histories; ++i) {
    if (!arguments.shard.takes(i)) continue;
    auto options = arguments.options;
    options.seed += i;
    const auto history = workload::generate(options);
    if (!history.ok()) return bad(history.error());
    const int code = write_history(*history, seeded_name(arguments.output, options.seed), *target);
    if (code != kSatisfied) return code;
  }
  return kSatisfied;
}

// All arguments turned into options.
void take_arguments(GenerateArguments& arguments) {
  auto& options = arguments.options;
  options.store = named(store_of(arguments.store), arguments.store, "--level",
                        names_of(workload::all_stores()));
  options.shape = named(workload::parse_shape(arguments.kind), arguments.kind, "--shape",
                        names_of(workload::all_shapes()));
  take_shape(arguments.shape, options);
  options.times = !arguments.no_times;
  arguments.shard = shard_of(arguments.shard_text);
  if (arguments.histories > 1 && arguments.output.find(kSeedMark) == std::string::npos) {
    throw UsageError("--histories",
                     fmt::format("found the file `{}` for {} histories, expected a "
                                 "name with {} in it, as in h-{}.jsonl",
                                 arguments.output, arguments.histories, kSeedMark, kSeedMark));
  }
  if (arguments.histories - 1 > std::numeric_limits<std::uint64_t>::max() - options.seed) {
    throw UsageError("--histories", "found more histories than there are seeds from --seed on");
  }
  for (const auto& list : arguments.inject) {
    for (const auto& name : split(list, ',')) {
      check_anomaly(name);
      options.inject.push_back(name);
    }
  }
  format_of(arguments.to, "--to");
}

}  // namespace

void add_generate(Command& app, Run& run) {
  auto* command = add_command(app, "generate");
  auto arguments = std::make_shared<GenerateArguments>();
  command
      ->add_option("-o,--output", arguments->output,
                   "The file to write. An existing file is replaced only if the command succeeds. "
                   "- is standard output. {seed} becomes the seed")
      ->required()
      ->check(not_empty("the file to write"))
      ->type_name("FILE");
  add_target_options(*command, arguments->to, arguments->edn, "FILE");

  add_store_options(*command, *arguments);
  auto* planned = add_plan_options(*command, *arguments);
  add_client_options(*command, *arguments, planned);
  command->footer(
      "Examples:\n"
      "  cupel generate --level snapshot-isolation -o history.jsonl\n"
      "  cupel generate --sessions 20 --txns 5000 --keys 1000 --distribution zipf -o big.cupel\n"
      "  cupel generate --level serializable --inject lost-update,long-fork -o bad.jsonl\n"
      "  cupel generate --plan mini --sessions 4 --txns 50 -o plan.json");

  command->callback([arguments, planned, &run] {
    take_arguments(*arguments);
    const bool plan = !planned->empty();
    if (plan) check_workload(arguments->plan, "--plan");
    run = [arguments, plan] { return plan ? write_plan(*arguments) : write_generated(*arguments); };
  });
}

}  // namespace cupel::apps
