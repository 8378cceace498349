// cupel check: reads, checks, prints. The ladder without -l, one line a level
// with it.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <vector>

#include "base/budget.hpp"
#include "check/check.hpp"
#include "cli/command.hpp"
#include "cli/emit.hpp"
#include "cli/options.hpp"
#include "cli/report_folder.hpp"
#include "cli/spelling.hpp"
#include "cli/told.hpp"
#include "crdt/io/reader.hpp"
#include "explain/counts/whole_history.hpp"
#include "explain/power/test_power.hpp"
#include "history/builder.hpp"
#include "levels/product.hpp"
#include "levels/streamed_zones.hpp"
#include "report/certificate.hpp"
#include "report/render.hpp"

namespace cupel::cli {

namespace {

struct CheckArguments {
  std::vector<std::string> histories, levels;
  std::vector<std::string> emit;
  std::string format, certificate, report;
  LimitArguments limits;
  bool json = false, worth = false;
  bool survey = true;
};

// The command line that shows it again: what changes the answer, not what it costs.
std::string command_of(const std::string& file, const CheckArguments& arguments) {
  std::string command = "cupel check";
  for (const auto& level : arguments.levels) command += " -l " + shell_word(level);
  if (!arguments.format.empty()) command += " -f " + shell_word(arguments.format);
  if (!arguments.limits.clock_drift.empty()) {
    command += " --clock-drift " + shell_word(arguments.limits.clock_drift);
  }
  return command + " " + shell_word(file);
}

// False, having complained, if the file cannot be written.
bool write_certificate(const std::string& file, const history::History& history,
                       const check::CheckResult& result, const check::Options& options) {
  const auto made = report::certificate(history, result, options.clock_drift_ns);
  for (const levels::Level level : made.missing) {
    complain(fmt::format(
        "{} is not in the certificate: a limit was met while its evidence was put together",
        levels::name(level)));
  }
  return write_whole(file, made.json, /*append=*/false, "the certificate");
}

// Is nothing violated, or nothing that the database promised? Of single levels this is
// asked only with --worth.
bool passed(const history::History& history, const check::CheckResult& result) {
  const auto says = [&](const char* name) { return report::metadata_of(history, name); };
  const auto promised = levels::promised(says("database"), says("isolation"), says("settings"));
  for (const auto& level : result.levels) {
    if (level.verdict == check::Verdict::kViolated &&
        (!promised || levels::implies(*promised, level.level))) {
      return false;
    }
    if (level.verdict == check::Verdict::kUnknown && promised == level.level) return false;
  }
  return !result.strongest_satisfied.empty();
}

std::optional<power::TestPower> worth_of(const history::History& history,
                                         const check::CheckResult& result,
                                         const check::Options& options, bool asked,
                                         base::Budget& budget) {
  if (!asked && (!options.asked.empty() || !passed(history, result))) return std::nullopt;
  try {
    const base::AllocationWatch watch(&budget);
    return power::measure(history, budget);
  } catch (const std::bad_alloc&) {  // by the watch, or the system's own limit
    if (budget.limit() == base::Limit::kNone) throw;
    power::TestPower nothing;
    nothing.limit_met = true;
    return nothing;
  }
}

// Where the memory of a history is felt.
constexpr std::size_t kLeastStreamed = 4'000'000;

// Whether a long history of single operations is linearizable, decided while it is read. Nothing
// where something else was asked as well, or where only those who hold the history can tell.
std::optional<check::CheckResult> streamed(const std::string& file, const CheckArguments& arguments,
                                           const check::Options& options,
                                           std::optional<formats::Format> format,
                                           base::Budget& budget) {
  if (options.asked != std::vector{levels::Level::kLinearizable} || options.clock_drift_ns != 0 ||
      options.evidence || arguments.worth || arguments.json || !arguments.report.empty() ||
      !arguments.emit.empty()) {
    return std::nullopt;
  }
  levels::StreamedZones zones(budget);
  const base::Stopwatch::Lap lap(budget.stopwatch(), "read");
  if (!formats::stream(file, {.format = format, .threads = options.threads, .budget = &budget},
                       kLeastStreamed, zones)) {
    return std::nullopt;
  }
  const auto decided_by = zones.decide();
  if (!decided_by) return std::nullopt;
  check::CheckResult result;
  result.levels.push_back({.level = levels::Level::kLinearizable,
                           .verdict = check::Verdict::kSatisfied,
                           .decided_by = std::string(*decided_by)});
  result.strongest_satisfied = {levels::Level::kLinearizable};
  return result;
}

// What tells whether a file is the history of a replicated data type: its first lines.
constexpr std::size_t kFirstLines = 64 << 10;

// Of what is no history of transactions, but one of a replicated data type: which command takes it.
std::string where_to_check(const std::string& file) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(file, unknown)) return "";  // a pipe can be read once
  std::ifstream in(file, std::ios::binary);
  std::string bytes(kFirstLines, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(in.gcount()));
  if (bytes.size() == kFirstLines)
    bytes.resize(bytes.rfind('\n') + 1);  // npos + 1: no line, no history
  std::vector<std::string> types;
  for (const auto type : crdt::all_types()) {
    const auto read = crdt::read(bytes, file, {.type = type});
    if (read.ok() && !read->ops.empty()) types.emplace_back(crdt::name(type));
  }
  if (types.empty()) return "";
  return fmt::format(
      "; it can be read as the history of a replicated data type, {}: `cupel crdt check --type {} "
      "{}`",
      one_of(types), types.front(), shell_word(file));
}

int check_one(const std::string& file, const CheckArguments& arguments,
              const check::Options& options, std::optional<formats::Format> format,
              Emitter& emitter, std::optional<ReportFolder>& folder) {
  // From here on: reading counts as well.
  base::Budget budget(options.timeout_seconds
                          ? std::optional(std::chrono::duration<double>(*options.timeout_seconds))
                          : std::nullopt,
                      options.memory_limit_bytes);
  const auto nothing = history::HistoryBuilder().finish();
  if (const auto result = streamed(file, arguments, options, format, budget)) {
    print(report::lines({.file = file, .history = *nothing, .result = *result}));
    return kSatisfied;
  }
  using Lap = base::Stopwatch::Lap;
  std::optional<Lap> lap(std::in_place, budget.stopwatch(), "read");
  const auto read =
      formats::read(file, {.format = format, .threads = options.threads, .budget = &budget});
  lap.reset();
  const bool stopped = !read.ok() && read.error().limit_met;
  if (!read.ok() && !stopped) {
    auto error = read.error();
    error.message += where_to_check(file);
    complain(error);
    emitter.add(file, error);
    if (folder) folder->add(file, error);
    return kBad;
  }
  const auto& history = stopped ? nothing : read;
  const auto result = stopped ? check::unread(options, read.error().message)
                              : check::check(*history, options, budget);
  const auto shrinking = shrink_options(arguments.limits, result);
  // One --shrink-time for both, first for what is shown first.
  const auto began = base::Budget::Clock::now();
  lap.emplace(budget.stopwatch(), "explain", base::Stopwatch::Within::kWhole);
  auto counterexamples = shrunk(*history, result, shrinking, budget);
  auto rest = shrinking;
  rest.seconds -= std::chrono::duration<double>(base::Budget::Clock::now() - began).count();
  lap.reset();
  lap.emplace(budget.stopwatch(), "survey", base::Stopwatch::Within::kWhole);
  auto survey = arguments.survey ? surveyed(*history, result, options, rest, budget)
                                 : std::optional<counts::WholeHistory>();
  if (survey) counts::count_reported(*history, counterexamples, *survey);
  lap.reset();
  lap.emplace(budget.stopwatch(), "explain", base::Stopwatch::Within::kWhole);
  const auto fields = tell_with_fields(file, *history, result, counterexamples, survey, budget);
  lap.reset();
  lap.emplace(budget.stopwatch(), "worth", base::Stopwatch::Within::kWhole);
  const auto worth =
      stopped ? std::nullopt : worth_of(*history, result, options, arguments.worth, budget);
  lap.reset();
  const auto stages = budget.stopwatch().stages();
  const report::Checked checked{file,
                                *history,
                                result,
                                !stopped,
                                counterexamples,
                                worth ? &*worth : nullptr,
                                survey ? &*survey : nullptr,
                                &fields,
                                &stages};
  const report::TextStyle style{.colour = use_colour()};
  if (emitter.any()) {
    emitter.add({checked, command_of(file, arguments),
                 lines_of_labels(file, report::metadata_of(*history, "format"),
                                 report::labels_of(checked))});
  }
  if (arguments.json) {
    print(report::json(checked));
  } else if (emitter.instead_of_text()) {
    // It was given above, or will be when all histories are.
  } else if (options.asked.empty()) {
    print(report::ladder(checked, style));
  } else {
    print(report::lines(checked) + report::explanation(checked) + report::worth_text(checked));
  }

  int code = kSatisfied;
  if (!arguments.certificate.empty() && stopped) {
    // Nothing can be said of a history that was not read, not even which it is.
    std::error_code ignored;
    complain(base::Error{
        .message = fmt::format(
            "no certificate was written: a limit was met while the history was read{}",
            std::filesystem::exists(arguments.certificate, ignored) ? "; this file is of before"
                                                                    : ""),
        .file = arguments.certificate});
  } else if (!arguments.certificate.empty() &&
             !write_certificate(arguments.certificate, *history, result, options)) {
    code = kBad;
  }
  if (folder) {
    if (const auto added = folder->add(checked); !added.ok()) {
      complain(added.error());
      code = kBad;
    }
  }
  for (const auto& level : result.levels) {
    switch (level.verdict) {
      case check::Verdict::kSatisfied:
        break;
      case check::Verdict::kViolated:
        code = std::max<int>(code, kViolated);
        break;
      case check::Verdict::kUnknown:
        code = std::max<int>(code, kUnknown);
        break;
      case check::Verdict::kRefused:
        if (options.asked.empty()) break;  // the ladder asks what can be asked
        // The reason names the level: "linearizable is about …".
        complain(
            base::Error{.message = fmt::format("{} is refused: it {}", levels::name(level.level),
                                               report::without_own_name(level.level, level.detail)),
                        .file = file});
        code = kBad;
        break;
    }
  }
  return code;
}

}  // namespace

namespace {

// What is written may neither be a history that is read nor another thing written.
void refuse_overwriting(const CheckArguments& arguments, const Emitter& emitter) {
  auto outputs = emitter.files();
  for (auto& [name, file] : outputs) name = "--emit " + name;
  if (!arguments.certificate.empty()) outputs.emplace_back("--certificate", arguments.certificate);
  const auto same = [](const std::string& a, const std::string& b) {
    std::error_code unknown;
    if (std::filesystem::equivalent(a, b, unknown))
      return std::filesystem::is_regular_file(a, unknown);
    return std::filesystem::path(a).lexically_normal() ==
           std::filesystem::path(b).lexically_normal();
  };
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto& [name, file] = outputs[i];
    for (const auto& history : arguments.histories) {
      if (same(file, history)) {
        throw CLI::ValidationError(
            name, fmt::format("found {}, which is the history; expected another file", file));
      }
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (same(file, outputs[j].second)) {
        throw CLI::ValidationError(
            name, fmt::format("found {}, which {} writes already; expected another file", file,
                              outputs[j].first));
      }
    }
  }
}

}  // namespace

void add_check(CLI::App& app, Run& run) {
  auto* command = app.add_subcommand("check", "Decide which isolation levels histories satisfy");
  auto arguments = std::make_shared<CheckArguments>();
  command
      ->add_option("HISTORY", arguments->histories,
                   "History files, or the directories that dbcop, cobra and viper use; - is "
                   "standard input")
      ->required()
      ->type_name("");
  command
      ->add_option("-l,--level", arguments->levels,
                   "Levels to decide, separated by commas; may be repeated. Default: all that the "
                   "history has the "
                   "facts for (the ladder)")
      ->type_name("LEVEL")
      ->allow_extra_args(false)
      ->group(kWhatIsAsked);
  add_limit_options(*command, "For each history, its reading and all levels together",
                    arguments->limits);
  command
      ->add_option(
          "--certificate", arguments->certificate,
          "Write the evidence for every verdict to this file, for cupel verify. One history only")
      ->type_name("FILE")
      ->group(kWhatIsAsked);
  command
      ->add_flag("--worth", arguments->worth,
                 "Also say what the test was worth: what met in time, and which anomalies the "
                 "workload could have shown. Default: only below a ladder that passed")
      ->group(kWhatIsAsked);
  command
      ->add_flag("--survey,!--no-survey", arguments->survey,
                 "Where something is violated: count each anomaly in the whole history, and look "
                 "for more violations, one for each independent cause, for 2 s and a tenth of what "
                 "the check took. Default: --survey")
      ->group(kWhatItCosts);
  add_format_option(*command, arguments->format);
  command->add_flag("--json", arguments->json, "One JSON object for each history, on one line");
  command
      ->add_option("--report", arguments->report,
                   "A folder for a page (index.html) with verdicts, statistics, timeline and the "
                   "pictures of violations, which are also there as .dot and .svg")
      ->type_name("DIR");
  command
      ->add_option("--emit", arguments->emit,
                   "Give the violations as markdown, sql, plume, jepsen, junit, sarif or github, "
                   "separated by commas; may be repeated. Without =FILE it takes the place of the "
                   "text on standard output; github goes to $GITHUB_STEP_SUMMARY where that is set")
      ->type_name("FORMAT[=FILE]")
      ->allow_extra_args(false);
  command->footer(
      "With -l: one line FILE<TAB>LEVEL<TAB>satisfied|violated|unknown for each file and level, "
      "and\n"
      "below the lines of a file, indented by two blanks, why a level is violated.\n"
      "A level asked for by name that has no meaning for the history (real time without times) is\n"
      "refused: an error, exit code 3.\n"
      "\n"
      "Examples:\n"
      "  cupel check history.jsonl\n"
      "  cupel check -l snapshot-isolation,serializable histories/*.edn | grep -v '^  '\n"
      "  cupel check -l strict --clock-drift 1ms --timeout 5m history.jsonl\n"
      "  cupel check --emit sql history.jsonl > try.sql\n"
      "  cupel check -l si --emit junit=report.xml --emit github histories/*.jsonl\n"
      "  cupel check --json history.jsonl | jq -r '.levels[] | [.level, .verdict] | @tsv'");
  command->callback([arguments, &run] {
    auto options = check_options(arguments->levels, arguments->limits);
    options.evidence = !arguments->certificate.empty();
    if (!arguments->certificate.empty() && arguments->histories.size() > 1) {
      throw CLI::ValidationError(
          "--certificate",
          fmt::format("found {} histories, expected one: a certificate is of one history",
                      arguments->histories.size()));
    }
    shrink_options(arguments->limits, {});  // that it can be read
    const auto format = format_of(arguments->format, "--format");
    auto emitter = std::make_shared<Emitter>(arguments->emit, arguments->histories.size() > 1);
    if (arguments->json && emitter->instead_of_text()) {
      throw CLI::ValidationError("--emit",
                                 "standard output has place for one of it and --json; name "
                                 "a file, as in --emit sql=FILE");
    }
    refuse_overwriting(*arguments, *emitter);
    run = [arguments, options, format, emitter] {
      int code = kSatisfied;
      bool first = true;
      // Before hours of checking.
      if (!emitter->can_write_all() ||
          (!arguments->certificate.empty() &&
           !can_write(arguments->certificate, /*append=*/false, "the certificate"))) {
        return static_cast<int>(kBad);
      }
      std::optional<ReportFolder> folder;
      if (!arguments->report.empty()) {
        folder.emplace(arguments->report, arguments->histories.size());
        if (const auto made = folder->prepare(); !made.ok()) {
          complain(made.error());
          return static_cast<int>(kBad);
        }
      }
      for (const auto& file : arguments->histories) {
        const bool apart = options.asked.empty() && !arguments->json && !emitter->instead_of_text();
        if (!first && apart) print("\n");
        first = false;
        code = std::max(code, check_one(file, *arguments, options, format, *emitter, folder));
        flush_output();
      }
      if (const auto done = folder ? folder->finish() : base::Ok{}; !done.ok()) {
        complain(done.error());
        code = kBad;
      }
      if (!emitter->finish()) code = kBad;
      return code;
    };
  });
}

}  // namespace cupel::cli
