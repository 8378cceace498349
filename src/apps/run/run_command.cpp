// cupel run: a workload on a database, recorded, checked.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <span>

#include "apps/command.hpp"
#include "apps/engine/check_history.hpp"
#include "apps/engine/report_folder.hpp"
#include "apps/interrupt.hpp"
#include "apps/options.hpp"
#include "apps/spelling.hpp"
#include "apps/terminal.hpp"
#include "apps/units.hpp"
#include "apps/version.hpp"
#include "base/interrupt.hpp"
#include "databases/lab/namespaces.hpp"
#include "report/render.hpp"
#include "run/faults/kinds.hpp"
#include "run/faults/plan.hpp"
#include "run/lab_url.hpp"
#include "run/progress_line.hpp"
#include "run/run_and_check.hpp"
#include "run/run_report.hpp"

namespace cupel::apps {

namespace {

// Of the transactions, where --read-from needs some that only read and nothing else is said.
constexpr double kReadOnlyShare = 0.5;
// Of a load with --faults, if nothing says when it ends.
constexpr const char* kTimeOfFaults = "60s";

struct RunArguments {
  run::RunAndCheckOptions options;
  ShapeArguments shape;
  std::vector<std::string> levels;
  LimitArguments limits;
  std::string format, time_limit, read_from, report, rotate;
  std::string fault_every = "10s", fault_for = "5s", statement_timeout = "10s";
  bool json = false, list = false;
  Option* db = nullptr;
  Option* workload = nullptr;
  Option* sessions = nullptr;
  Option* txns = nullptr;
  Option* faults = nullptr;
  Option* fault_plan = nullptr;
  std::array<Option*, 2> fault_times{};
  std::string fault_plan_file, fault_targets;
  // Of several workers.
  std::string shard;
  bool make_tables = false, drop_tables = false;
  Option* session_offset = nullptr;
  Option* all_sessions = nullptr;
  Option* tables = nullptr;
};

// In the current folder, with the extension of `format`.
std::string history_name(const std::string& format) {
  const char* extension = format == "cupel" ? ".cupel" : format == "folder" ? "" : ".jsonl";
  return unused_name("cupel-run", extension);
}

int code_of(check::Verdict verdict) {
  switch (verdict) {
    case check::Verdict::kSatisfied:
      return kSatisfied;
    case check::Verdict::kViolated:
      return kViolated;
    case check::Verdict::kUnknown:
      return kUnknown;
    case check::Verdict::kRefused:
      return kBad;
  }
  return kBad;
}

// The largest code of all levels counts, as everywhere.
int exit_code(const run::CheckedRun& checked) {
  int code = code_of(checked.verdict());
  for (const auto level : checked.asked)
    code = std::max(code, code_of(checked.result(level).verdict));
  return code;
}

// False, with a message, if the report could not be written. `checked`: none if the run failed.
bool write_report(ReportFolder& folder, const run::CheckedRun* checked) {
  base::Result<base::Ok> done = base::Ok{};
  if (checked != nullptr && !base::interrupted()) {
    done = folder.add(run::answer_of(*checked));
  } else if (checked != nullptr) {
    print_error("no report was written, because the check was interrupted");
  }
  if (done.ok()) done = folder.finish();
  if (!done.ok()) print_error(done.error());
  return done.ok();
}

// The watch has not seen that the run is satisfied, so the certificate is that of the check at the
// end. False, after an error message, if there is none.
bool certify_check(const run::RunAndCheckOptions& options, const run::CheckedRun& checked) {
  if (checked.analysis.whole) {
    return write_certificate(options.certificate, checked.history, checked.analysis.check,
                             {options.analysis.check.clock_drift_ns});
  }
  std::error_code ignored;
  std::filesystem::remove(options.certificate, ignored);
  print_error(base::Error{.message =
                              "no certificate was written: a limit was met while the history "
                              "was read",
                          .file = options.certificate});
  return true;
}

const char* stage_text(run::Stage stage) {
  switch (stage) {
    case run::Stage::kStart:
      return "starting the server";
    case run::Stage::kPrepare:
      return "preparing the tables";
    case run::Stage::kRun:
      return "load";
    case run::Stage::kEnd:
      return "end of the load";
    case run::Stage::kRead:
      return "reading the history";
    case run::Stage::kCheck:
      return "check";
  }
  return "";
}

class LoadClock {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

int run_once(const RunArguments& arguments) {
  auto options = arguments.options;
  std::optional<ReportFolder> folder;
  if (!arguments.report.empty()) {
    // Before a load that takes hours.
    folder.emplace(arguments.report, 1);
    if (const auto made = folder->prepare(); !made.ok()) return bad(made.error());
  }
  if (options.history.empty()) {
    options.history = history_name(arguments.rotate.empty() ? arguments.format : "folder");
  }
  if (run::is_lab_url(options.url)) lab::enter_namespaces();
  const Interruptible interruptible;
  const auto& stopped = interruptible.stopped();
  // From then on Ctrl-C is about the check.
  options.load_ended = [&] { return interruptible.begin_check(); };
  run::Progress progress;
  const LoadClock watch;
  const bool shown = isatty(STDERR_FILENO) != 0;
  run::ProgressLine line(
      {progress, options.run, stopped},
      shown ? [](const std::string& text) { print_in_place(text); } : run::ProgressLine::Write());
  const auto checked = run::run_and_check(options, stopped, progress, [&](run::Stage stage) {
    line.stage(stage);
    print_detail(fmt::format("cupel: {} after {:.3f} s\n", stage_text(stage), watch.seconds()));
  });
  line.end();
  if (!checked.ok()) {
    print_error(checked.error());
    if (folder) write_report(*folder, nullptr);
    return kBad;
  }
  for (const auto& warning : checked->run.warnings) print_error("warning: " + warning);
  if (base::interrupted()) print_error(interrupted_check(checked->file));
  const bool reported = !folder || checked->part || write_report(*folder, &*checked);
  const auto page = folder && reported && !base::interrupted() ? folder->page() : std::string();
  if (arguments.json) {
    print(run::run_json(*checked, options.run.seed));
  } else {
    print_text(run::run_text(*checked, options.run.seed,
                             {.colour = use_colour(), .verbose = verbose()}, page));
  }
  if (checked->part) return kSatisfied;
  if (!reported) return kBad;
  const bool certified = options.certificate.empty() || !checked->live || checked->live->certified;
  if (!certified && !certify_check(options, *checked)) return kBad;
  return exit_code(*checked);
}

// Makes or drops the tables of several workers.
int make_or_drop_tables(const RunArguments& arguments) {
  auto options = arguments.options;
  const auto done =
      arguments.make_tables ? run::make_shared_tables(options) : run::drop_shared_tables(options);
  return done.ok() ? static_cast<int>(kSatisfied) : bad(done.error());
}

// Some of the databases across, all workloads down.
std::string matrix_part(std::span<const drivers::DriverInfo> drivers) {
  std::string text(14, ' ');
  for (const auto& driver : drivers) text += fmt::format(" {:^9}", driver.name);
  while (text.back() == ' ') text.pop_back();
  text += '\n';
  for (const auto& info : workload::all_workloads()) {
    const auto made = workload::make_workload(info.name, info.defaults);
    if (!made.ok()) continue;
    const auto needs = (*made)->needs();
    text += fmt::format("  {:<12}", info.name);
    for (const auto& driver : drivers) {
      // Redis, etcd and ZooKeeper take several statements at once at serializable.
      auto several = driver.can;
      several.multiple = true;
      const bool key_value =
          driver.can_at != nullptr && !driver.can.interactive && !driver.can.multiple;
      const char* cell = run::unfit(needs, driver.can).empty()             ? "x"
                         : key_value && run::unfit(needs, several).empty() ? "(x)"
                                                                           : "-";
      text += fmt::format(" {:^9}", cell);
    }
    while (text.back() == ' ') text.pop_back();
    text += '\n';
  }
  return text;
}

// Which workloads the databases run. As many tables as a terminal of this width needs.
std::string matrix_text(std::optional<std::size_t> columns) {
  constexpr std::size_t kNames = 14, kCell = 10;
  const auto drivers = drivers::all_drivers();
  const auto fit =
      columns && *columns >= kNames + kCell ? (*columns - kNames) / kCell : drivers.size();
  std::string text =
      "Which workload runs on which database (a plan: where its statements are supported):\n";
  for (std::size_t i = 0; i < drivers.size(); i += fit)
    text +=
        (i == 0 ? "" : "\n") + matrix_part(drivers.subspan(i, std::min(fit, drivers.size() - i)));
  return text +
         "  x: at every isolation level, except ranges at RocksDB's ...-for-update\n"
         "  (x): at --isolation serializable only, each transaction as one request\n";
}

std::string faults_list_text() {
  std::string text = "Faults (--faults; a name before a dash stands for all of its variants):\n";
  for (const auto* kind : faults::all_kinds()) {
    text += fmt::format("  {:<18} {}\n", kind->name, kind->summary);
  }
  return text;
}

std::string list_text() {
  std::string text = "Workloads (--workload):\n";
  for (const auto& info : workload::all_workloads()) {
    text += fmt::format("  {:<12} {}  [{}]\n", info.name, info.summary, info.source);
  }
  text += "  FILE.json    the exact transactions of a file, as `cupel generate --plan` writes it\n";
  text +=
      "\nDatabases (--db) and their isolation levels (--isolation; the first is the default):\n";
  for (const auto& driver : drivers::all_drivers()) {
    text += fmt::format("  {}{}\n", driver.url, driver.available ? "" : "   (not installed)");
    std::string levels;
    for (const auto level : driver.isolations)
      levels += (levels.empty() ? "" : ", ") + std::string(level);
    if (driver.any_isolation) levels += ", or any name that the program knows";
    text += fmt::format("      {}\n", levels);
  }
  std::vector<std::string_view> kinds;
  for (const auto kind : lab::all_kinds()) kinds.push_back(lab::name(kind));
  text += fmt::format("  {}\n      a test server, which is started for this run: {}\n",
                      run::kLabUrl, fmt::join(kinds, ", "));
  return text + '\n';
}

void check_format(const std::string& format) {
  if (format.empty() || format == "jepsen" || format == "cupel") return;
  throw UsageError("--format", fmt::format("found `{}`, expected jepsen or cupel; `cupel "
                                           "convert` writes the other formats",
                                           format));
}

// An unknown name with the one that may have been meant; what a plan leaves open.
void take_workload(RunArguments& arguments) {
  auto& asked = arguments.options;
  if (asked.workload.ends_with(".json")) {
    if (arguments.shape.any() || arguments.sessions->count() > 0) {
      throw UsageError("--workload",
                       fmt::format("found the plan `{}` together with an option that says how many "
                                   "sessions there are or what transactions look like; a plan has "
                                   "its own",
                                   asked.workload));
    }
    // All of it, unless less is asked for.
    if (arguments.txns->count() == 0) asked.run.txns = 0;
    return;
  }
  check_workload(asked.workload, "--workload", "; the name of a plan ends in .json");
}

void add_database_options(Command& command, RunArguments& arguments) {
  auto& options = arguments.options;
  const char* whom = "Database";
  arguments.db =
      command
          .add_option("--db", options.url,
                      "The database, as in postgres://me@127.0.0.1/test, or a test server that is "
                      "started for this run, as in lab:postgres. Default: the environment variable "
                      "CUPEL_DB, which no list of processes shows; if there is none, a SQLite "
                      "database in a temporary folder")
          ->type_name("URL")
          ->group(whom);
  command
      .add_option(
          "--isolation", options.open.isolation,
          "The isolation level by the database's own name, as in repeatable-read. Default: see "
          "--list")
      ->type_name("LEVEL")
      ->group(whom);
  command
      .add_option("--statement-timeout", arguments.statement_timeout,
                  "The time that a statement or a connection attempt may take")
      ->type_name("DURATION")
      ->capture_default_str()
      ->group(whom);
  command
      .add_option(
          "--read-from", arguments.read_from,
          "Which of several hosts transactions that only read use: primary, replica or any. "
          "The others use the primary. Default: each session uses one host for everything; of a "
          "test server with standbys, primary")
      ->type_name("WHICH")
      ->group(whom);
  command.add_flag("--keep", options.keep, "Do not drop the tables at the end")->group(whom);
}

void add_client_options(Command& command, RunArguments& arguments) {
  auto& options = arguments.options;
  const char* what = "Clients";
  std::vector<std::string> names;
  for (const auto& info : workload::all_workloads()) names.emplace_back(info.name);
  arguments.workload =
      command
          .add_option("--workload", options.workload,
                      fmt::format("The workload: {}, or a plan FILE.json. --list describes them. "
                                  "Default: the first of them that runs on the database",
                                  fmt::join(names, ", ")))
          ->type_name("NAME")
          ->group(what);
  arguments.sessions = command
                           .add_option("--sessions", options.run.sessions,
                                       "Number of clients. Each has its own connection")
                           ->type_name("N")
                           ->capture_default_str()
                           ->check(whole_number(1, run::kMostSessionsInAll))
                           ->group(what);
  arguments.txns =
      command
          .add_option(
              "--txns", options.run.txns,
              "Transactions of each session; of a plan, all. 0: until --time-limit or Ctrl-C")
          ->type_name("N")
          ->capture_default_str()
          ->check(whole_number(0, 1'000'000'000))
          ->group(what);
  command
      .add_option("--time-limit", arguments.time_limit,
                  "Stop the clients after this time. Default: no limit")
      ->type_name("DURATION")
      ->group(what);
  command
      .add_option("--rate", options.run.rate,
                  "Transactions per second of all sessions together. Default: as many as possible")
      ->type_name("N")
      ->check(not_negative())
      ->group(what);
  command
      .add_option("--retries", options.run.retries,
                  "Repeat an aborted transaction at most this often")
      ->type_name("N")
      ->capture_default_str()
      ->check(whole_number(0, 1'000'000))
      ->group(what);
  command
      .add_option("--seed", options.run.seed,
                  "The same options and seed issue the same transactions")
      ->type_name("N")
      ->capture_default_str()
      ->check(whole_number(0, std::numeric_limits<std::uint64_t>::max()))
      ->group(what);
  const char* shape = "Transactions (defaults: the workload's own, docs/reference/workloads)";
  add_shape_options(command, shape, arguments.shape);
  add_mix_options(command, shape, arguments.shape);
  command
      .add_option("--scale", arguments.shape.scale,
                  "Size of the tables of the application workloads. 1: as in the papers")
      ->type_name("X")
      ->check(positive(1000))
      ->group(shape);
}

void add_worker_options(Command& command, RunArguments& arguments) {
  const char* workers = "Several workers on one database (docs/how-to/scale.md)";
  arguments.tables =
      command
          .add_option(
              "--tables", arguments.options.tables,
              "The tables that all workers use, a name of lower-case letters, digits and _. "
              "The history is a part, which `cupel merge` joins with the others")
          ->type_name("NAME")
          ->group(workers);
  command
      .add_flag("--make-tables", arguments.make_tables,
                "Make and fill these tables, and nothing else: once, before the workers")
      ->needs(arguments.tables)
      ->group(workers);
  command
      .add_flag("--drop-tables", arguments.drop_tables,
                "Drop these tables, and nothing else: once, after the workers")
      ->needs(arguments.tables)
      ->group(workers);
  add_shard_option(command, "sessions", arguments.shard);
  command.get_option("--shard")->needs(arguments.tables)->group(workers);
  arguments.session_offset =
      command
          .add_option("--session-offset", arguments.options.run.first_session,
                      "The number of this worker's first session, where workers have different "
                      "numbers of sessions. With --all-sessions, instead of --shard")
          ->type_name("N")
          ->check(whole_number(0, run::kMostSessionsInAll - 1))
          ->needs(arguments.tables)
          ->group(workers);
  arguments.all_sessions = command
                               .add_option("--all-sessions", arguments.options.run.all_sessions,
                                           "The number of sessions of all workers together")
                               ->type_name("N")
                               ->check(whole_number(1, run::kMostSessionsInAll))
                               ->needs(arguments.session_offset)
                               ->group(workers);
  arguments.session_offset->needs(arguments.all_sessions);
}

void add_fault_options(Command& command, RunArguments& arguments) {
  auto& options = arguments.options;
  const char* faults = "Faults during the run";
  arguments.faults =
      command
          .add_option("--faults", options.inject.list,
                      fmt::format("Faults of a server of lab:KIND: one of {}, several separated by "
                                  "commas to take turns, or joined by + to come at once; or all. "
                                  "The load then runs until --time-limit, by default {}",
                                  fmt::join(faults::all_families(), ", "), kTimeOfFaults))
          ->type_name("LIST")
          ->group(faults);
  command
      .add_option("--fault-targets", arguments.fault_targets,
                  "The nodes that --faults hits: one, minority, majority, primaries or all. "
                  "Default: drawn each time")
      ->type_name("WHICH")
      ->group(faults);
  arguments.fault_plan =
      command
          .add_option("--fault-plan", arguments.fault_plan_file,
                      "The exact faults of a JSON file, such as the HISTORY.faults.json of an "
                      "earlier run")
          ->type_name("FILE")
          ->group(faults);
  command
      .add_flag("--faults-optional", options.inject.optional,
                "Leave out faults that are not possible here, with a warning, instead of an error")
      ->group(faults);
  command.add_option("--fault", options.faults.fault, "A shell command that breaks something")
      ->type_name("CMD")
      ->group(faults);
  command.add_option("--heal", options.faults.heal, "A shell command that repairs it")
      ->type_name("CMD")
      ->group(faults);
  arguments.fault_times[0] =
      command.add_option("--fault-every", arguments.fault_every, "Time before each fault")
          ->type_name("DURATION")
          ->capture_default_str()
          ->group(faults);
  arguments.fault_times[1] =
      command.add_option("--fault-for", arguments.fault_for, "Time from a fault to its healing")
          ->type_name("DURATION")
          ->capture_default_str()
          ->group(faults);
}

void add_output_options(Command& command, RunArguments& arguments) {
  auto& options = arguments.options;
  command
      .add_option("-o,--output", options.history,
                  "The history file: .jsonl, or .cupel for the compressed format. Default: "
                  "cupel-run-DATE-TIME.jsonl in this folder. An existing file is an error")
      ->check(not_standard_output("the file to write"))
      ->type_name("FILE");
  command
      .add_option("-f,--format", arguments.format,
                  "Format of the history: jepsen (JSON lines) or cupel (compressed, at the end of "
                  "the run). Default: by the extension of FILE")
      ->type_name("FORMAT");
  command.add_flag("--overwrite", options.overwrite, "Replace FILE if it exists");
  command
      .add_option("--rotate", arguments.rotate,
                  "Write the history to a folder of files of about this size, each compressed when "
                  "it is full, with an index: FILE is the folder, which `cupel check`, `stats` and "
                  "`watch` take. With K, M or G, as in 64M; at least 4K")
      ->type_name("SIZE");
  command
      .add_option("-l,--level", arguments.levels,
                  "Levels, separated by commas, that decide the exit code. Default: the level that "
                  "the database promises at its isolation level")
      ->type_name("LEVEL")
      ->allow_extra_args(false)
      ->group(kQuestionOptions);
  command
      .add_flag("--live", options.live,
                "Check the level while the run goes on, in bounded memory, and end the load at the "
                "first violation. With several levels: the first of them")
      ->group(kQuestionOptions);
  command
      .add_option("--certificate", options.certificate,
                  "With --live: write the evidence to this file, window by window. `cupel verify` "
                  "checks it")
      ->check(not_standard_output("the file to write"))
      ->type_name("FILE");
  command
      .add_option(
          "--report", arguments.report,
          "Write an HTML page with the timeline, the faults and a picture of each violation "
          "into this folder, as `cupel check --report` does")
      ->check(not_standard_output("the folder to write"))
      ->type_name("DIR");
  add_limit_options(command, "The time to read the recorded history and to decide all levels",
                    arguments.limits);
  command.add_flag("--json", arguments.json, "Print one JSON object on one line");
}

// Transactions that only read are needed to read from a replica.
void take_hosts(RunArguments& arguments) {
  arguments.options.run.read_from = run::usual_read_from(arguments.options.url);
  constexpr std::array kAll{run::ReadFrom::kPrimary, run::ReadFrom::kReplica, run::ReadFrom::kAny};
  if (arguments.read_from.empty()) return;
  const auto* found = std::find_if(kAll.begin(), kAll.end(), [&](run::ReadFrom one) {
    return run::name(one) == arguments.read_from;
  });
  if (found == kAll.end()) {
    throw UsageError("--read-from", fmt::format("found `{}`, expected primary, replica or any",
                                                arguments.read_from));
  }
  arguments.options.run.read_from = *found;
  const auto& name = arguments.options.workload;
  const auto all = workload::all_workloads();
  const auto info =
      std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == name; });
  auto& shape = arguments.shape;
  const bool mixed = info != all.end() && info->defaults.read_only_share == 0 &&
                     info->defaults.write_only_share == 0 && info->defaults.rmw_share == 0;
  const bool said = shape.read_only_share || shape.write_only_share || shape.rmw_share;
  if (*found != run::ReadFrom::kPrimary && mixed && !said) {
    shape.read_only_share = kReadOnlyShare;
  }
}

// Of the output that is asked for, what contradicts itself.
void check_output(const RunArguments& arguments) {
  const auto& file = arguments.options.history;
  check_format(arguments.format);
  if (arguments.options.rotate_bytes > 0) {
    if (arguments.options.overwrite || !arguments.format.empty()) {
      throw UsageError("--rotate",
                       fmt::format("found {}, expected neither --overwrite nor --format: the files "
                                   "are of JSON lines, in a folder that is new or empty",
                                   arguments.options.overwrite ? "--overwrite" : "--format"));
    }
    return;
  }
  if (file.empty()) return;
  const auto target = target_of(file);
  const bool known =
      target && !target->edn &&
      (target->format == formats::Format::kJepsen || target->format == formats::Format::kCupel);
  if (!known) {
    throw UsageError("--output",
                     fmt::format("found `{}`, expected a name that ends in .jsonl, .json or "
                                 ".cupel; `cupel convert` writes the other formats",
                                 file));
  }
  const bool binary = target->format == formats::Format::kCupel;
  if (!arguments.format.empty() && (arguments.format == "cupel") != binary) {
    throw UsageError("--format", fmt::format("found {}, which the name `{}` contradicts",
                                             arguments.format, file));
  }
}

// The database as its URL names it.
std::string url_of(const RunArguments& arguments) {
  return arguments.options.url.empty() ? "sqlite:" : arguments.options.url;
}

void check_database(const RunArguments& arguments) {
  const auto& options = arguments.options;
  // As from `--db "$(a command that failed)"`: SQLite is not what was meant.
  if (arguments.db->count() > 0 && options.url.empty()) {
    throw UsageError("--db",
                     "found an empty URL, expected one as `cupel run --list` "
                     "shows them; without --db it is SQLite");
  }
  const auto level = run::isolation_of(url_of(arguments), options.open.isolation);
  if (!level.ok()) throw UsageError(level.error().to_string());
}

// If none is named, and general does not run on the database, another one does.
void choose_workload(RunArguments& arguments) {
  if (arguments.workload->count() > 0) return;
  auto& options = arguments.options;
  const auto can = run::can_at(url_of(arguments), options.open.isolation);
  if (can.ok()) options.workload = run::default_workload(*can);
}

// Says why it is not general that runs.
void note_default_workload(const RunArguments& arguments) {
  const std::string_view usual = workload::all_workloads().front().name;
  const auto& options = arguments.options;
  if (arguments.workload->count() > 0 || options.workload == usual) return;
  const auto can = run::can_at(url_of(arguments), options.open.isolation);
  const auto level = run::isolation_of(url_of(arguments), options.open.isolation);
  const auto made = workload::make_workload(usual, {});
  if (!can.ok() || !level.ok() || !made.ok()) return;
  print_note(
      fmt::format("the workload is {}, because {} needs {}, which this database does "
                  "not have at {}; --workload chooses another",
                  options.workload, usual, run::unfit((*made)->needs(), *can), *level));
}

// The faults, and how long the load lasts with them.
void take_faults(RunArguments& arguments) {
  auto& options = arguments.options;
  auto& inject = options.inject;
  options.faults.every = or_throw(parse_duration(arguments.fault_every, 1), "--fault-every");
  options.faults.lasts = or_throw(parse_duration(arguments.fault_for, 1), "--fault-for");
  inject.every = options.faults.every;
  inject.lasts = options.faults.lasts;
  if (options.faults.fault.empty() && !options.faults.heal.empty()) {
    throw UsageError("--heal", "found without --fault, expected both");
  }
  const bool listed = arguments.faults->count() > 0, planned = arguments.fault_plan->count() > 0;
  for (const auto* option : arguments.fault_times) {
    if (options.faults.fault.empty() && !listed && option->count() > 0) {
      throw UsageError(option->name(),
                       "found without --faults or --fault, which say what to break");
    }
  }
  if (!arguments.fault_targets.empty()) {
    const auto targets = faults::parse_targets(arguments.fault_targets);
    if (!targets) {
      throw UsageError("--fault-targets",
                       fmt::format("found `{}`, expected one, minority, majority, primaries or all",
                                   arguments.fault_targets));
    }
    if (!listed) throw UsageError("--fault-targets", "found without --faults, expected both");
    inject.targets = *targets;
  }
  if (!listed && !planned) {
    if (inject.optional) {
      throw UsageError("--faults-optional", "found without --faults or --fault-plan");
    }
    return;
  }
  if (listed && planned) {
    throw UsageError("--fault-plan", "found together with --faults, expected one of them");
  }
  if (listed) or_throw(faults::parse_list(inject.list), "--faults");
  if (planned) {
    auto plan = faults::read_plan(arguments.fault_plan_file);
    if (!plan.ok()) throw UsageError("--fault-plan", plan.error().to_string());
    inject.plan = *std::move(plan);
  }
  if (!run::is_lab_url(options.url)) {
    throw UsageError(listed ? "--faults" : "--fault-plan",
                     "found with a database that cupel does not start, so it cannot reach its "
                     "processes and its network; expected --db lab:KIND, as in lab:postgres. "
                     "--fault and --heal name commands for any other database");
  }
  if (arguments.txns->count() > 0) return;
  options.run.txns = 0;
  if (arguments.time_limit.empty()) arguments.time_limit = kTimeOfFaults;
}

// Which of the sessions are this worker's.
void take_share(RunArguments& arguments) {
  auto& options = arguments.options;
  auto& run = options.run;
  if (arguments.tables->count() > 0) {
    if (!run::is_table_name(options.tables)) {
      throw UsageError("--tables",
                       fmt::format("found `{}`, expected at most 24 lower-case letters, "
                                   "digits and _",
                                   options.tables));
    }
    if (options.url.empty() || run::is_lab_url(options.url)) {
      throw UsageError(
          "--tables",
          "found a database that lasts only as long as this run, expected one that all "
          "workers reach: name it with --db");
    }
    if (options.workload.ends_with(".json")) {
      throw UsageError("--tables",
                       "found a plan, expected the name of a workload: a plan is run by "
                       "one process");
    }
    if (options.live || !arguments.rotate.empty()) {
      throw UsageError("--tables",
                       "found --live or --rotate, expected one file that is checked when all "
                       "parts are there");
    }
    if (!options.faults.fault.empty() || options.inject.any()) {
      throw UsageError("--tables",
                       "found faults, expected none: only one process may cause them; "
                       "run their commands beside the workers");
    }
    if (options.history.ends_with(".cupel") || arguments.format == "cupel" ||
        !arguments.report.empty() || !arguments.levels.empty()) {
      throw UsageError("--tables",
                       "found an option about the check or the compressed format, "
                       "expected JSON lines: `cupel merge` joins the parts, and "
                       "`cupel check` checks the whole");
    }
    if (arguments.make_tables && arguments.drop_tables) {
      throw UsageError("--make-tables", "found together with --drop-tables, expected one of them");
    }
  }
  const auto shard = shard_of(arguments.shard);
  if (!arguments.shard.empty()) {
    if (arguments.session_offset->count() > 0) {
      throw UsageError("--shard", "found together with --session-offset, expected one of them");
    }
    const std::uint64_t all = run.sessions;
    if (all < shard.of) {
      throw UsageError("--shard", fmt::format("found {} shards of {} sessions, expected a session "
                                              "for each at least; see --sessions",
                                              shard.of, all));
    }
    const auto first = all * (shard.number - 1) / shard.of, end = all * shard.number / shard.of;
    run.all_sessions = run.sessions;
    run.first_session = static_cast<std::uint32_t>(first);
    run.sessions = static_cast<std::uint32_t>(end - first);
  }
  if (std::uint64_t{run.first_session} + run.sessions > run.sessions_in_all()) {
    throw UsageError(
        "--session-offset",
        fmt::format("found sessions {} to {} of {}, expected numbers below --all-sessions",
                    run.first_session, run.first_session + run.sessions - 1,
                    run.sessions_in_all()));
  }
  if (run.sessions > run::kMostSessions) {
    throw UsageError("--sessions", fmt::format("found {} for one process, expected at most {}",
                                               run.sessions, run::kMostSessions));
  }
}

// All arguments turned into options.
void take_arguments(RunArguments& arguments) {
  auto& options = arguments.options;
  check_database(arguments);
  choose_workload(arguments);
  take_faults(arguments);
  take_hosts(arguments);
  options.shape = shape_of(options.workload, arguments.shape);
  options.open.statement_timeout =
      or_throw(parse_duration(arguments.statement_timeout, 1), "--statement-timeout");
  if (!arguments.time_limit.empty()) {
    options.run.time_limit = or_throw(parse_duration(arguments.time_limit, 1), "--time-limit");
  }
  if (options.inject.list == "all" && options.run.time_limit > 0 &&
      std::all_of(arguments.fault_times.begin(), arguments.fault_times.end(),
                  [](const auto* option) { return option->count() == 0; })) {
    options.inject.within = options.run.time_limit;
  }
  take_workload(arguments);
  options.analysis.check = check_options(arguments.levels, arguments.limits);
  options.analysis.shrink_seconds = shrink_seconds(arguments.limits);
  options.analysis.test_power = analysis::TestPower::kIfPassed;
  if (!arguments.rotate.empty()) {
    constexpr std::uint64_t kLeast = 4096;
    options.rotate_bytes = or_throw(parse_size(arguments.rotate), "--rotate");
    if (options.rotate_bytes < kLeast) {
      throw UsageError("--rotate", fmt::format("found {}, expected 4K or more", arguments.rotate));
    }
  }
  check_output(arguments);
  if (!options.certificate.empty() &&
      (!options.live || options.history.ends_with(".cupel") || arguments.format == "cupel")) {
    throw UsageError("--certificate",
                     options.live ? "found a history in cupel's format, expected JSON lines: it is "
                                    "read in the order in which it was recorded"
                                  : "found it without --live, expected both; `cupel check "
                                    "--certificate` is for the recorded history");
  }
  take_share(arguments);
  options.recorded_by = fmt::format("cupel {}", version());
}

}  // namespace

void add_run(Command& app, Run& run) {
  auto* command = add_command(app, "run");
  auto arguments = std::make_shared<RunArguments>();
  command->add_flag("--list", arguments->list,
                    "List the workloads, databases and isolation levels");
  add_database_options(*command, *arguments);
  add_client_options(*command, *arguments);
  add_worker_options(*command, *arguments);
  add_fault_options(*command, *arguments);
  add_output_options(*command, *arguments);
  command->footer(
      "Examples:\n"
      "  cupel run                                                      SQLite, which is built in\n"
      "  cupel run --db postgres://me@127.0.0.1/test --isolation repeatable-read\n"
      "  cupel run --db 'lab:etcd?nodes=3' --faults kill,pause,partition --time-limit 30s\n"
      "  cupel run --db 'lab:galera?nodes=3' --workload append --read-from any\n"
      "  cupel run --db mysql://root@127.0.0.1:3306/test --workload append --time-limit 10s --txns "
      "0\n"
      "  cupel run --workload tpcc --scale 0.1 -o tpcc.cupel");

  command->callback([arguments, &run] {
    if (arguments->list) {
      run = [] {
        print_text(list_text());
        print_text(matrix_text(output_columns()) + '\n');
        print_text(faults_list_text());
        return static_cast<int>(kSatisfied);
      };
      return;
    }
    if (const char* url = std::getenv("CUPEL_DB"); url != nullptr && arguments->db->count() == 0)
      arguments->options.url = url;
    take_arguments(*arguments);
    if (arguments->make_tables || arguments->drop_tables) {
      run = [arguments] { return make_or_drop_tables(*arguments); };
      return;
    }
    run = [arguments]() -> int {
      note_default_workload(*arguments);
      return run_once(*arguments);
    };
  });
}

}  // namespace cupel::apps
