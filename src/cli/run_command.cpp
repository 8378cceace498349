// cupel run: a workload on a database, recorded, checked.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <ctime>
#include <filesystem>
#include <limits>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/command.hpp"
#include "cli/interrupt.hpp"
#include "cli/options.hpp"
#include "cli/spelling.hpp"
#include "cli/units.hpp"
#include "cli/version.hpp"
#include "report/render.hpp"
#include "report/wording.hpp"
#include "run/run_and_check.hpp"
#include "text/json.hpp"

namespace cupel::cli {

namespace {

struct RunArguments {
  run::RunAndCheckOptions options;
  ShapeArguments shape;
  std::vector<std::string> levels;
  LimitArguments limits;
  std::string format, time_limit;
  std::string fault_every = "10s", fault_for = "5s", statement_timeout = "10s";
  bool json = false, list = false;
  Option* db = nullptr;
  Option* sessions = nullptr;
  Option* txns = nullptr;
};

// In the current folder, with the extension of `format`.
std::string history_name(const std::string& format) {
  const char* extension = format == "cupel" ? "cupel" : "jsonl";
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  char text[64];
  std::strftime(text, sizeof text, "cupel-run-%Y%m%d-%H%M%S", &parts);
  std::string name = fmt::format("{}.{}", text, extension);
  for (int i = 2; std::filesystem::exists(name); ++i)
    name = fmt::format("{}-{}.{}", text, i, extension);
  return name;
}

// A line on the terminal, rewritten five times a second while a run goes on.
class ProgressLine {
 public:
  ProgressLine(const run::Progress& progress, const run::RunOptions& options,
               const std::atomic<bool>& stopped)
      : progress_(progress),
        options_(options),
        stopped_(stopped),
        shown_(isatty(STDERR_FILENO) != 0) {}
  ~ProgressLine() { end(); }

  void stage(run::Stage stage) {
    end();
    if (!shown_) return;
    switch (stage) {
      case run::Stage::kPrepare:
        write("making and filling the tables ...");
        break;
      case run::Stage::kRun:
        thread_ = std::thread([this] { show(); });
        break;
      case run::Stage::kRead:
        write("reading the history ...");
        break;
      case run::Stage::kCheck:
        write("checking ...");
        break;
    }
  }
  void end() {
    if (thread_.joinable()) {
      {
        const std::lock_guard lock(mutex_);
        over_ = true;
      }
      wake_.notify_one();
      thread_.join();
      over_ = false;
    }
    if (shown_) print_status("\r\x1b[K");
  }

 private:
  void write(const std::string& text) { print_status("\r\x1b[K" + text); }
  void show() {
    const auto begin = std::chrono::steady_clock::now();
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, std::chrono::milliseconds(200), [&] { return over_; })) {
      const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
      const std::uint64_t committed = progress_.committed, aborted = progress_.aborted;
      const auto done = static_cast<double>(committed + aborted + progress_.unknown);
      std::string text =
          fmt::format("{:.0f} s  {} committed ({:.0f}/s), {} aborted, {} unknown", passed.count(),
                      report::grouped(committed), static_cast<double>(committed) / passed.count(),
                      report::grouped(aborted), report::grouped(progress_.unknown));
      if (const auto waiting = progress_.sessions_waiting.load(); waiting > 0) {
        text += fmt::format(", {} of {} sessions without a connection", waiting, options_.sessions);
      }
      double left = options_.time_limit > 0 ? options_.time_limit - passed.count() : 1e9;
      if (options_.txns > 0 && done > 0) {
        const auto all = static_cast<double>(options_.txns * options_.sessions);
        left = std::min(left, (all - done) / done * passed.count());
      }
      if (left < 1e9) text += fmt::format(", {:.0f} s left", std::max(0.0, left));
      if (stopped_) text += ", ending";
      write(text);
    }
  }

  const run::Progress& progress_;
  const run::RunOptions& options_;
  const std::atomic<bool>& stopped_;
  bool shown_;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool over_ = false;
};

std::string database_name(const drivers::Facts& facts) {
  return facts.version.empty() ? facts.product : facts.product + " " + facts.version;
}

std::string run_text(const run::CheckedRun& checked, const run::RunAndCheckOptions& options) {
  const auto& ran = checked.run;
  std::string text =
      fmt::format("{} at {}: workload {}, {} session{}, seed {}\n", database_name(checked.facts),
                  checked.facts.isolation, checked.workload, checked.sessions,
                  checked.sessions == 1 ? "" : "s", options.run.seed);
  if (!checked.facts.detail.empty()) text += fmt::format("  settings: {}\n", checked.facts.detail);
  text += fmt::format(
      "  {} committed, {} aborted ({:.1f} %), {} unknown in {:.1f} s: {:.0f} "
      "commits/s, latency p50 {:.2f} ms, p99 {:.2f} ms\n",
      report::grouped(ran.committed), report::grouped(ran.aborted), 100 * ran.abort_rate(),
      report::grouped(ran.unknown), ran.seconds,
      static_cast<double>(ran.committed) / std::max(ran.seconds, 1e-9), ran.p50_ms, ran.p99_ms);
  for (const auto& [reason, count] : ran.reasons) {
    text += fmt::format("    {:>8}  {}\n", report::grouped(count), reason);
  }
  if (ran.given_up > 0) {
    text += fmt::format("    {:>8}  given up by the program\n", report::grouped(ran.given_up));
  }
  if (ran.jobs.size() > 1) {
    text += fmt::format("    {:<24} {:>9} {:>9} {:>8} {:>9} {:>9}\n", "transaction", "committed",
                        "aborted", "unknown", "p50 ms", "p99 ms");
    for (const auto& [name, job] : ran.jobs) {
      text += fmt::format("    {:<24} {:>9} {:>9} {:>8} {:>9.2f} {:>9.2f}\n", name,
                          report::grouped(job.committed), report::grouped(job.aborted),
                          report::grouped(job.unknown), job.p50_ms, job.p99_ms);
    }
  }
  if (ran.faults > 0)
    text += fmt::format("  faults: {}, reconnects: {}\n", ran.faults, ran.reconnects);
  text += fmt::format("  history: {}\n\n", checked.file);
  return text;
}

std::string verdict_text(const run::CheckedRun& checked) {
  std::string text;
  for (const auto level : checked.asked) {
    const auto& result = checked.result(level);
    text += fmt::format("{}: {}", levels::name(level), check::to_string(result.verdict));
    if (checked.promised) {
      text += fmt::format(", which is what {} promises at {}", checked.facts.product,
                          checked.facts.isolation);
    }
    if (result.verdict == check::Verdict::kRefused) text += " (" + result.detail + ")";
    text += '\n';
  }
  if (!checked.promised && checked.asked.size() == 1 &&
      checked.asked.front() == levels::Level::kReadCommitted) {
    text += fmt::format(
        "  ({} promises none of cupel's levels at {}, so the weakest was asked for; -l asks for "
        "another)\n",
        checked.facts.product, checked.facts.isolation);
  }
  return text + '\n';
}

std::string run_json(const run::CheckedRun& checked, const run::RunAndCheckOptions& options) {
  using Json = nlohmann::ordered_json;
  const auto& ran = checked.run;
  Json run;
  run["database"] = checked.facts.product;
  run["version"] = checked.facts.version;
  run["isolation"] = checked.facts.isolation;
  run["workload"] = checked.workload;
  run["sessions"] = checked.sessions;
  run["seed"] = options.run.seed;
  run["seconds"] = ran.seconds;
  run["committed"] = ran.committed;
  run["aborted"] = ran.aborted;
  run["given_up"] = ran.given_up;
  run["unknown"] = ran.unknown;
  run["abort_rate"] = ran.abort_rate();
  run["p50_ms"] = ran.p50_ms;
  run["p99_ms"] = ran.p99_ms;
  run["reconnects"] = ran.reconnects;
  run["faults"] = ran.faults;
  run["reasons"] = Json::object();
  for (const auto& [reason, count] : ran.reasons) run["reasons"][reason] = count;
  run["jobs"] = Json::object();
  for (const auto& [name, job] : ran.jobs) {
    run["jobs"][name] = {{"committed", job.committed}, {"aborted", job.aborted},
                         {"given_up", job.given_up},   {"unknown", job.unknown},
                         {"p50_ms", job.p50_ms},       {"p99_ms", job.p99_ms}};
  }
  run["asked"] = Json::array();
  for (const auto level : checked.asked) {
    run["asked"].push_back({{"level", levels::name(level)},
                            {"verdict", check::to_string(checked.result(level).verdict)},
                            {"promised", checked.promised}});
  }
  run["warnings"] = ran.warnings;
  auto text = report::json({checked.file, checked.history, checked.analysis});
  text.resize(text.find_last_of('}'));
  return text + ",\"run\":" + text::dump(run) + "}\n";
}

int exit_code(const run::CheckedRun& checked) {
  switch (checked.verdict()) {
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

int run_once(const RunArguments& arguments) {
  auto options = arguments.options;
  if (options.history.empty()) options.history = history_name(arguments.format);
  const Interruptible interruptible;
  const auto& stopped = interruptible.stopped();
  run::Progress progress;
  ProgressLine line(progress, options.run, stopped);
  const auto checked =
      run::run_and_check(options, stopped, progress, [&](run::Stage stage) { line.stage(stage); });
  line.end();
  if (!checked.ok()) {
    print_error(checked.error());
    return kBad;
  }
  for (const auto& warning : checked->run.warnings) print_error("warning: " + warning);
  if (arguments.json) {
    print(run_json(*checked, options));
  } else {
    print(run_text(*checked, options));
    print(verdict_text(*checked));
    print(report::ladder({checked->file, checked->history, checked->analysis},
                         {.colour = use_colour()}));
  }
  return exit_code(*checked);
}

// Which workloads the databases run, as a table: workloads down, databases across.
std::string matrix_text() {
  const auto drivers = drivers::all_drivers();
  std::string text =
      "Which run where (a plan runs where its statements do):\n  " + std::string(12, ' ');
  for (const auto& driver : drivers) text += fmt::format(" {:^8}", driver.name);
  text += '\n';
  for (const auto& info : workload::all_workloads()) {
    const auto made = workload::make_workload(info.name, info.defaults);
    if (!made.ok()) continue;
    const auto needs = (*made)->needs();
    text += fmt::format("  {:<12}", info.name);
    for (const auto& driver : drivers) {
      // Redis and etcd take several statements at once at serializable.
      auto several = driver.can;
      several.multiple = true;
      const bool key_value = !driver.can.interactive && !driver.can.multiple;
      const char* cell = run::unfit(needs, driver.can).empty()             ? "x"
                         : key_value && run::unfit(needs, several).empty() ? "(x)"
                                                                           : "-";
      text += fmt::format(" {:^8}", cell);
    }
    while (text.back() == ' ') text.pop_back();
    text += '\n';
  }
  return text +
         "  x: at every isolation level, except ranges at RocksDB's ...-for-update\n"
         "  (x): at --isolation serializable only, each transaction in one piece\n";
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
    text += fmt::format("  {}{}\n", driver.url, driver.built_in ? "" : "   (not in this build)");
    std::string levels;
    for (const auto level : driver.isolations)
      levels += (levels.empty() ? "" : ", ") + std::string(level);
    if (driver.any_isolation) levels += ", or any name that the program knows";
    text += fmt::format("      {}\n", levels);
  }
  return text + '\n' + matrix_text();
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
  if (asked.run.txns == 0 && asked.run.time_limit == 0) {
    throw UsageError("--txns", "found 0, which needs a --time-limit");
  }
}

void add_database_options(Command& command, RunArguments& arguments) {
  auto& options = arguments.options;
  const char* whom = "The database";
  arguments.db =
      command
          .add_option("--db", options.url,
                      "The database, as in postgres://me@127.0.0.1/test. Default: a SQLite "
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
  command.add_flag("--keep", options.keep, "Keep the tables at the end")->group(whom);
}

void add_client_options(Command& command, RunArguments& arguments) {
  auto& options = arguments.options;
  const char* what = "What its clients do";
  command.add_option("--workload", options.workload, "A workload of --list, or a plan FILE.json")
      ->type_name("NAME")
      ->capture_default_str()
      ->group(what);
  arguments.sessions = command
                           .add_option("--sessions", options.run.sessions,
                                       "Number of clients. Each has its own connection")
                           ->type_name("N")
                           ->capture_default_str()
                           ->check(whole_number(1, 100000))
                           ->group(what);
  arguments.txns =
      command
          .add_option(
              "--txns", options.run.txns,
              "Transactions of each session. 0: until --time-limit. Default with a plan: all of it")
          ->type_name("N")
          ->capture_default_str()
          ->check(whole_number(0, 1'000'000'000))
          ->group(what);
  command.add_option("--time-limit", arguments.time_limit, "Stop the clients after this time")
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
  const char* shape = "What its transactions look like (default: as in the workload's source)";
  add_shape_options(command, shape, arguments.shape);
  add_mix_options(command, shape, arguments.shape);
  command
      .add_option("--scale", arguments.shape.scale,
                  "Size of the tables of the application workloads. 1: as in the papers")
      ->type_name("X")
      ->check(not_negative())
      ->group(shape);
}

void add_fault_options(Command& command, RunArguments& arguments) {
  auto& options = arguments.options;
  const char* broken = "What breaks during the run";
  command.add_option("--fault", options.faults.fault, "A shell command that breaks something")
      ->type_name("CMD")
      ->group(broken);
  command.add_option("--heal", options.faults.heal, "A shell command that repairs it")
      ->type_name("CMD")
      ->group(broken);
  command.add_option("--fault-every", arguments.fault_every, "Time between faults")
      ->type_name("DURATION")
      ->capture_default_str()
      ->group(broken);
  command.add_option("--fault-for", arguments.fault_for, "Time from a fault to its repair")
      ->type_name("DURATION")
      ->capture_default_str()
      ->group(broken);
}

void add_output_options(Command& command, RunArguments& arguments) {
  auto& options = arguments.options;
  command
      .add_option("-o,--output", options.history,
                  "The history file: .jsonl, or .cupel for the compressed format. Default: "
                  "cupel-run-DATE-TIME.jsonl in this folder. An existing file is an error")
      ->type_name("FILE");
  command
      .add_option("-f,--format", arguments.format,
                  "Format of the history: jepsen (JSON lines) or cupel (compressed, at the end of "
                  "the run). Default: by the extension of FILE")
      ->type_name("FORMAT");
  command.add_flag("--overwrite", options.overwrite, "Replace FILE if it exists");
  command
      .add_option("-l,--level", arguments.levels,
                  "Levels, separated by commas, that decide the exit code. Default: the level that "
                  "the database promises at its isolation level")
      ->type_name("LEVEL")
      ->allow_extra_args(false)
      ->group(kWhatIsAsked);
  add_limit_options(command, "The time to read the recorded history and to decide all levels",
                    arguments.limits);
  command.add_flag("--json", arguments.json, "Print one JSON object on one line");
}

// Of the output that is asked for, what contradicts itself.
void check_output(const RunArguments& arguments) {
  const auto& file = arguments.options.history;
  check_format(arguments.format);
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

void check_database(const RunArguments& arguments) {
  const auto& options = arguments.options;
  // As from `--db "$(a command that failed)"`: SQLite is not what was meant.
  if (arguments.db->count() > 0 && options.url.empty()) {
    throw UsageError("--db",
                     "found an empty URL, expected one as `cupel run --list` "
                     "shows them; without --db it is SQLite");
  }
  const auto level =
      drivers::isolation_of(options.url.empty() ? "sqlite:" : options.url, options.open.isolation);
  if (!level.ok()) throw UsageError(level.error().message);
}

// All arguments turned into options.
void take_arguments(RunArguments& arguments) {
  auto& options = arguments.options;
  check_database(arguments);
  options.shape = shape_of(options.workload, arguments.shape);
  options.open.statement_timeout =
      or_throw(parse_duration(arguments.statement_timeout, 1), "--statement-timeout");
  if (!arguments.time_limit.empty()) {
    options.run.time_limit = or_throw(parse_duration(arguments.time_limit, 1), "--time-limit");
  }
  take_workload(arguments);
  options.faults.every = or_throw(parse_duration(arguments.fault_every, 1), "--fault-every");
  options.faults.lasts = or_throw(parse_duration(arguments.fault_for, 1), "--fault-for");
  if (options.faults.fault.empty() && !options.faults.heal.empty()) {
    throw UsageError("--heal", "found without --fault, expected both");
  }
  options.analysis.check = check_options(arguments.levels, arguments.limits);
  options.analysis.shrink_seconds = shrink_seconds(arguments.limits);
  check_output(arguments);
  options.recorded_by = fmt::format("cupel {}", version());
}

}  // namespace

void add_run(Command& app, Run& run) {
  auto* command = app.add_subcommand("run", "Run a workload on a database, record it and check it");
  auto arguments = std::make_shared<RunArguments>();
  command->add_flag("--list", arguments->list,
                    "List the workloads, databases and isolation levels");
  add_database_options(*command, *arguments);
  add_client_options(*command, *arguments);
  add_fault_options(*command, *arguments);
  add_output_options(*command, *arguments);
  command->footer(
      "Examples:\n"
      "  cupel run                                                      the embedded default\n"
      "  cupel run --db postgres://me@127.0.0.1/test --isolation repeatable-read\n"
      "  cupel run --db mysql://root@127.0.0.1:3306/test --workload append --time-limit 10s --txns "
      "0\n"
      "  cupel run --workload tpcc --scale 0.1 -o tpcc.cupel");

  command->callback([arguments, &run] {
    if (arguments->list) {
      run = [] {
        print(list_text());
        return static_cast<int>(kSatisfied);
      };
      return;
    }
    take_arguments(*arguments);
    run = [arguments]() -> int { return run_once(*arguments); };
  });
}

}  // namespace cupel::cli
