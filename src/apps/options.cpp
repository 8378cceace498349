// Shared options: see the header.
#include "apps/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "apps/emit.hpp"
#include "apps/spelling.hpp"
#include "apps/units.hpp"
#include "base/text.hpp"
#include "base/usable_memory.hpp"
#include "data/history/facts.hpp"
#include "engine/explain/why/glossary.hpp"
#include "report/render.hpp"

namespace cupel::apps {

namespace {

// Why a name that cupel knows is no level to ask for, and which one is.
std::string no_level(const std::string& name, const explain::LevelAsked& known) {
  auto text = known.anomaly ? fmt::format("`{}` is an anomaly, not a level.", name)
                            : fmt::format("cupel has no level `{}`.", name);
  if (known.nearest) {
    text += fmt::format(" The {} is {}.",
                        known.anomaly ? "weakest level that forbids it" : "nearest level",
                        levels::name(*known.nearest));
  }
  return text + fmt::format(" `cupel explain {}` says more", shell_word(name));
}

// Once: a command may read its levels twice.
void note_level(const std::string& name, levels::Level level) {
  static std::set<std::string> said;
  if (said.insert(name).second)
    print_note(fmt::format("{} is checked as {}", name, levels::name(level)));
}

}  // namespace

std::vector<levels::Level> levels_of(const std::vector<std::string>& names) {
  std::vector<levels::Level> asked;
  for (const auto& list : names) {
    for (const auto& name : split(list, ',')) {
      const auto known = explain::level_asked(name);
      const auto level = known ? known->level : std::nullopt;
      if (level && !known->instead.empty()) note_level(name, *level);
      if (!level) {
        if (known) throw UsageError("--level", no_level(name, *known));
        const auto suggestion = did_you_mean(name, level_names());
        throw UsageError("--level",
                         fmt::format("found `{}`, which is no level{} `cupel levels` lists them",
                                     name, suggestion.empty() ? ";" : suggestion));
      }
      if (std::find(asked.begin(), asked.end(), *level) == asked.end()) asked.push_back(*level);
    }
  }
  return asked;
}

void add_limit_options(Command& command, const std::string& timed, LimitArguments& arguments) {
  command
      .add_option(
          "--clock-drift", arguments.clock_drift,
          "Largest error of the clients' clocks. Widens every interval between invocation and "
          "completion by this on both sides. With ns, us, ms or s, as in 1ms; a bare number is "
          "nanoseconds. Default: 0")
      ->type_name("DURATION")
      ->group(kQuestionOptions);
  command
      .add_option("--timeout", arguments.timeout,
                  timed +
                      ". Levels that are undecided when the limit is reached are unknown. Seconds, "
                      "or with a unit: 90, 90s, 5m. Default: no limit")
      ->type_name("DURATION")
      ->group(kCostOptions);
  command
      .add_option(
          "--memory-limit", arguments.memory_limit,
          "The resident memory that the process may use. Levels that are undecided when "
          "the limit is reached are unknown. Bytes, or with K, M, G: 512M, 4G. 0: no limit. "
          "Default: three quarters of the machine, and at most nine tenths of what is free")
      ->type_name("SIZE")
      ->group(kCostOptions);
  command
      .add_option(
          "--shrink-time", arguments.shrink_time,
          "The time to shrink the violations of a history before they are explained. 0: do "
          "not shrink. Seconds, or with a unit. Default: the time of the check, at least 1s "
          "and at most 5s")
      ->type_name("DURATION")
      ->group(kCostOptions);
  command
      .add_option("--threads", arguments.threads,
                  "Threads that read JSON lines and decide parts of a history. The number never "
                  "changes a verdict. Default: 0, as many as the machine has")
      ->type_name("N")
      ->check(whole_number(0, std::numeric_limits<unsigned>::max()))
      ->group(kCostOptions);
}

// An unknown verdict beats a process that the system kills, or a machine that nobody else can use.
std::uint64_t default_memory_limit() {
  return std::min(base::usable_memory() / 10 * 9, base::machine_memory() / 4 * 3);
}

check::Options check_options(const std::vector<std::string>& levels,
                             const LimitArguments& arguments) {
  check::Options options;
  options.asked = levels_of(levels);
  options.threads = arguments.threads;
  if (!arguments.timeout.empty()) {
    options.timeout_seconds = or_throw(parse_duration(arguments.timeout, 1), "--timeout");
  }
  options.memory_limit_bytes = arguments.memory_limit.empty()
                                   ? default_memory_limit()
                                   : or_throw(parse_size(arguments.memory_limit), "--memory-limit");
  if (!arguments.clock_drift.empty()) {
    options.clock_drift_ns = or_throw(parse_nanoseconds(arguments.clock_drift), "--clock-drift");
  }
  return options;
}

void add_shard_option(Command& command, const char* tasks, std::string& text) {
  command
      .add_option(
          "--shard", text,
          fmt::format("Share the work: only the {} of shard I of N. auto: as the environment "
                      "of Slurm, MPI or srun says; auto/N: of Kubernetes or GNU parallel "
                      "(docs/how-to/scale.md)",
                      tasks))
      ->check(not_empty("I/N, auto or auto/N"))
      ->type_name("I/N");
}

base::Shard shard_of(const std::string& text) {
  if (text.empty()) return {};
  return or_throw(base::parse_shard(text, base::environment), "--shard");
}

void add_initial_option(Command& command, std::vector<std::string>& texts) {
  command
      .add_option(
          "--initial", texts,
          "What every key held before the history, or one key, as in 0 or x=0, whatever the "
          "history says. May be repeated. Default: what the history says, else nothing "
          "(null; 0 in plume, awdit and dbcop)")
      ->type_name("VALUE|KEY=VALUE")
      ->allow_extra_args(false)
      ->group(kQuestionOptions);
}

formats::InitialValues initial_values(const std::vector<std::string>& texts) {
  return or_throw(formats::parse_initial_values(texts), "--initial");
}

std::string InterpretationArguments::words() const {
  std::string text = kind.empty() ? "" : " --kind " + shell_word(kind);
  for (const auto& f : ignore) text += " --ignore " + shell_word(f);
  return text;
}

void add_interpretation_options(Command& command, InterpretationArguments& arguments,
                                bool objects) {
  command
      .add_option("--kind", arguments.kind,
                  fmt::format("The kind of workload that op maps record: {}{}. Default: as their "
                              "f and their values say; values that fit no kind are an error",
                              formats::workload_names(),
                              objects ? ", or objects: " + formats::object_names() : ""))
      ->type_name("KIND")
      ->group(kQuestionOptions);
  command
      .add_option(
          "--ignore", arguments.ignore,
          "Leave out the op maps with this f, or with one of several separated by commas. May be "
          "repeated. Default: op maps that cupel "
          "cannot read as transactions are an error")
      ->type_name("F[,F…]")
      ->allow_extra_args(false)
      ->group(kQuestionOptions);
}

formats::Interpretation interpretation(const InterpretationArguments& arguments, bool objects) {
  formats::Interpretation as;
  for (const auto& words : arguments.ignore) as.add_ignored(words);
  if (arguments.kind.empty()) return as;
  as.kind = formats::parse_workload(arguments.kind);
  if (as.kind) return as;
  as.objects = formats::parse_objects(arguments.kind);
  if (as.objects && objects) return as;
  if (as.objects) {
    throw UsageError("--kind",
                     fmt::format("found `{}`, a kind of objects, which only check, verify "
                                 "and elle read; expected {}",
                                 arguments.kind, formats::workload_names()));
  }
  const auto meant = formats::meant_workload(arguments.kind);
  throw UsageError(
      "--kind",
      fmt::format("found `{}`, expected {}{}", arguments.kind,
                  formats::workload_names() + (objects ? ", or " + formats::object_names() : ""),
                  meant ? fmt::format("; did you mean `{}`?", formats::name(*meant)) : ""));
}

void note_interpretation(const std::string& file, const history::History& history, bool kind) {
  if (const auto cut = history.fact(history::kCut); !cut.empty())
    print_note(fmt::format("{}: {}", file, cut));
  if (const auto ignored = history.fact("ignored"); !ignored.empty())
    print_note(fmt::format("{}: left out: {}", file, report::ignored_text(ignored)));
  if (const auto how = history.fact("kind"); kind && !how.empty())
    print_note(fmt::format("{}: read as {}", file, how));
}

std::optional<double> shrink_seconds(const LimitArguments& arguments) {
  if (arguments.shrink_time.empty()) return std::nullopt;
  return or_throw(parse_duration(arguments.shrink_time, 1), "--shrink-time");
}

void check_workload(const std::string& name, const char* option, const char* more) {
  std::vector<std::string> names;
  for (const auto& info : workload::all_workloads()) names.emplace_back(info.name);
  if (std::find(names.begin(), names.end(), name) != names.end()) return;
  // The names of Elle and Jepsen.
  constexpr std::pair<std::string_view, std::string_view> kOtherNames[] = {
      {"list-append", "append"}, {"rw-register", "general"}, {"wr", "general"},
      {"cas-register", "lwt"},   {"register", "lwt"},        {"registers", "general"}};
  const auto word = base::to_lower(name, " _", '-');
  const auto* const other = std::find_if(std::begin(kOtherNames), std::end(kOtherNames),
                                         [&](const auto& one) { return one.first == word; });
  const auto meant = other != std::end(kOtherNames)
                         ? fmt::format(" Did you mean `{}`?", other->second)
                         : suggestion(name, names);
  throw UsageError(option, fmt::format("there is no workload `{}`.{} `cupel run --list` lists "
                                       "them{}",
                                       name, meant, more));
}

workload::Distribution distribution_of(const std::string& name) {
  if (const auto found = workload::parse_distribution(name)) return *found;
  std::vector<std::string> names;
  for (const auto one : workload::all_distributions()) names.emplace_back(workload::name(one));
  throw UsageError("--distribution", fmt::format("found `{}`, expected {}{}", name, one_of(names),
                                                 did_you_mean(name, names)));
}

std::pair<std::uint32_t, std::uint32_t> parse_ops(const std::string& text) {
  const UsageError error("--ops",
                         fmt::format("found `{}`, expected a number, 1 or more, or a range "
                                     "of such numbers, as in 6 or 4-8",
                                     text));
  const auto dash = text.find('-');
  const auto number = [&](const std::string& part) {
    std::uint32_t value = 0;
    const auto* const last = part.data() + part.size();
    const auto [end, failure] = std::from_chars(part.data(), last, value);
    if (failure != std::errc() || end != last || value == 0) throw error;
    return value;
  };
  const auto low = number(text.substr(0, dash));
  const auto high = dash == std::string::npos ? low : number(text.substr(dash + 1));
  if (high < low) {
    throw UsageError(
        "--ops",
        fmt::format("found `{}`, expected the lower number first, as in {}-{}", text, high, low));
  }
  return {low, high};
}

namespace {

void add_share(Command& command, const char* name, const char* group, std::optional<double>& value,
               const char* description) {
  command.add_option(name, value, description)->type_name("SHARE")->check(share())->group(group);
}

}  // namespace

void add_shape_options(Command& command, const char* group, ShapeArguments& arguments) {
  command.add_option("--ops", arguments.ops, "Operations of a transaction: a number or a range")
      ->type_name("N|MIN-MAX")
      ->group(group);
  command.add_option("--keys", arguments.keys, "Number of keys")
      ->type_name("N")
      ->check(whole_number(1, workload::kMaxKeys))
      ->group(group);
  add_share(command, "--read-share", group, arguments.read_share,
            "Share of operations that read, from 0 to 1");
  command
      .add_option("--distribution", arguments.distribution,
                  "How keys are chosen: uniform, zipf, hotspot or exponential")
      ->type_name("NAME")
      ->group(group);
  add_share(command, "--duplicates", group, arguments.duplicates,
            "Share of writes that repeat an earlier value, from 0 to 1");
}

std::vector<Option*> add_mix_options(Command& command, const char* group,
                                     ShapeArguments& arguments) {
  const auto before = command.get_options().size();
  add_share(command, "--read-only-share", group, arguments.read_only_share,
            "general: share of transactions that only read");
  add_share(command, "--write-only-share", group, arguments.write_only_share,
            "general: share of transactions that only write");
  add_share(command, "--rmw-share", group, arguments.rmw_share,
            "general: share of transactions that read each key before they write it");
  command
      .add_flag("--deletes", arguments.deletes,
                "range-*: delete rows, instead of writing tombstones")
      ->group(group);
  auto all = command.get_options();
  return {all.begin() + static_cast<std::ptrdiff_t>(before), all.end()};
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
  if (arguments.distribution) shape.distribution = distribution_of(*arguments.distribution);
  return shape;
}

}  // namespace cupel::apps
