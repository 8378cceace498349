// The stages of a checked run: see the header.
#include "run/run_and_check.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <future>

#include "base/budget.hpp"
#include "base/temp_dir.hpp"
#include "base/verdict.hpp"
#include "base/watched_threads.hpp"
#include "base/write_file.hpp"
#include "data/formats/extra_fields.hpp"
#include "data/formats/formats.hpp"
#include "data/formats/recording.hpp"
#include "data/history/builder.hpp"
#include "data/merge/join.hpp"
#include "data/workload/plan.hpp"
#include "databases/lab/disk/disk.hpp"
#include "databases/lab/namespaces.hpp"
#include "engine/analysis/explanations.hpp"
#include "engine/analysis/final_reads.hpp"
#include "engine/analysis/levels_by_name.hpp"
#include "engine/analysis/source.hpp"
#include "engine/levels/product.hpp"
#include "report/nodes.hpp"
#include "run/faults/injector.hpp"
#include "run/faults/lab_cluster.hpp"
#include "run/faults/plan.hpp"
#include "run/lab_url.hpp"
#include "run/tables_of_run.hpp"

namespace cupel::run {

using check::Verdict;
using levels::Level;

namespace {

base::Result<std::unique_ptr<workload::Workload>> workload_of(const RunAndCheckOptions& options) {
  if (options.workload.ends_with(".json")) return workload::read_plan(options.workload);
  auto shape = options.shape;
  shape.sessions = options.run.sessions_in_all();
  shape.seed = options.run.seed;
  return workload::make_workload(options.workload, shape);
}

// The metadata that a connection pooler stood before the database: drivers::Facts.
constexpr const char* kPooler = "pooler";

// Where it is judged while it goes on, what was seen is in the file after this time.
constexpr double kLiveFlush = 0.005;

// What is in the header of the history. Never the URL: it may hold a password.
RecordOptions header(const RunAndCheckOptions& options, const CheckedRun& checked,
                     const workload::Workload& workload) {
  const auto& facts = checked.facts;
  RecordOptions record;
  auto& metadata = record.metadata;
  const auto say = [&](const char* name, const std::string& text) {
    if (!text.empty()) metadata.emplace_back(name, text);
  };
  say("database", facts.version.empty() ? facts.product : facts.product + " " + facts.version);
  say("isolation", facts.isolation);
  say("settings", facts.detail);
  say(kPooler, facts.pooler);
  say("servers", std::string(checked.several_servers ? levels::kSeveralServers : ""));
  say(levels::kNoPromise, checked.no_promise);
  say(report::kNodes, checked.nodes);
  say("reads from", std::string(name(options.run.read_from)));
  say("workload", std::filesystem::path(options.workload).filename().string());
  if (workload.sessions() > 0) say("sessions", std::to_string(workload.sessions()));
  say("seed", std::to_string(options.run.seed));
  say("recorded by", options.recorded_by);
  if (!options.tables.empty()) {
    const auto& run = options.run;
    metadata.emplace_back(merge::kRunFact, shared_run_name(options.tables, workload));
    metadata.emplace_back(merge::kSessionsFact,
                          fmt::format("{}-{} of {}", run.first_session,
                                      run.first_session + run.sessions - 1, run.sessions_in_all()));
  }
  record.default_initial = workload.default_initial();
  return record;
}

// What the times of a recording count from: CLOCK_MONOTONIC, which all processes of one start of a
// machine share, but for those in a time namespace of their own.
std::string clock_of(const Recorder& recorder) {
  std::string boot = "unknown";
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  std::error_code none;
  const auto space = std::filesystem::read_symlink("/proc/self/ns/time", none).string();
  // Of a machine that does not say which it is nothing is known.
  return boot == "unknown" ? "" : fmt::format("{},{} {}", boot, space, recorder.started_ns());
}

// Where the history is written as it happens.
std::string recorded_at(const std::string& history) {
  return history.ends_with(".cupel") ? history + ".jsonl" : history;
}

// Of a recording of several files.
base::Status check_folder(const RunAndCheckOptions& options) {
  std::error_code failed;
  const auto status = std::filesystem::status(options.history, failed);
  if (!std::filesystem::exists(status)) return base::Ok{};
  if (!std::filesystem::is_directory(status)) {
    return base::Error{.message = "is a file, expected a folder for the files of the history",
                       .file = options.history};
  }
  if (!std::filesystem::is_empty(options.history, failed) || failed) {
    return base::Error{.message =
                           "is a folder with something in it, and a recorded history cannot "
                           "be had again; name another folder",
                       .file = options.history};
  }
  if (access(options.history.c_str(), W_OK | X_OK) != 0) {
    return base::Error{.message = fmt::format("cannot be written: {}", std::strerror(errno)),
                       .file = options.history};
  }
  return base::Ok{};
}

// Asked before the database is touched: what was recorded cannot be recorded again,
// so that nothing may be in its place, and a run must not end for want of a folder.
base::Status check_output(const RunAndCheckOptions& options) {
  const std::filesystem::path path(options.history);
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  std::error_code failed;
  if (!std::filesystem::is_directory(folder, failed)) {
    const bool missing = failed == std::errc::no_such_file_or_directory;
    const auto why = missing  ? fmt::format("there is no folder {}", folder.string())
                     : failed ? fmt::format("the folder {} cannot be used: {}", folder.string(),
                                            failed.message())
                              : fmt::format("{} is a file, not a folder", folder.string());
    return base::Error{
        .message = why + (missing ? "; make it, or name another" : "; name another folder"),
        .file = options.history};
  }
  const auto recorded = recorded_at(options.history);
  if (options.rotate_bytes > 0) {
    if (auto free = check_folder(options); !free.ok()) return free;
  }
  for (const auto& file : {options.history, recorded}) {
    if (std::filesystem::is_symlink(file, failed) && !std::filesystem::exists(file, failed)) {
      return base::Error{.message = "is a link that leads nowhere; remove it, or name another file",
                         .file = file};
    }
    if (!std::filesystem::exists(file, failed)) continue;
    if (!std::filesystem::is_regular_file(file, failed)) continue;  // /dev/null has nothing to lose
    if (options.overwrite) {
      // A new file takes the place of a link, and what it leads to stays as it is.
      if (std::filesystem::is_symlink(file, failed)) std::filesystem::remove(file, failed);
      continue;
    }
    return base::Error{.message = file == options.history
                                      ? "is there already, and a recorded history cannot be had "
                                        "again; name another file, or say --overwrite"
                                      : "is there already, what an earlier run left that was "
                                        "killed; move it, or say --overwrite",
                       .file = file};
  }
  const auto logs = logs_of(options.history);
  if (is_lab_url(options.url) && !options.overwrite && std::filesystem::exists(logs, failed)) {
    return base::Error{.message =
                           "is there already, with the logs of an earlier run; name another "
                           "history, or say --overwrite",
                       .file = logs};
  }
  const auto faults = faults_file_of(options.history);
  if (options.inject.any() && !options.overwrite && std::filesystem::exists(faults, failed)) {
    return base::Error{.message =
                           "is there already, with the faults of an earlier run; name another "
                           "history, or say --overwrite",
                       .file = faults};
  }
  if (options.rotate_bytes == 0 && std::filesystem::is_directory(recorded, failed)) {
    return base::Error{.message = "cannot be written: it is a folder", .file = recorded};
  }
  const bool there = std::filesystem::exists(recorded, failed);
  if (there && access(recorded.c_str(), W_OK) != 0) {
    return base::Error{.message = fmt::format("cannot be written: {}", std::strerror(errno)),
                       .file = recorded};
  }
  if (!there && access(folder.c_str(), W_OK | X_OK) != 0) {
    return base::Error{.message = fmt::format("cannot be made in the folder {}: {}",
                                              folder.string(), std::strerror(errno)),
                       .file = recorded};
  }
  return base::Ok{};
}

}  // namespace

std::string faults_file_of(const std::string& history) {
  return history + ".faults.json";
}

std::string logs_of(const std::string& history) {
  return history + ".logs";
}

bool CheckedRun::loses() const {
  return analysis.final_reads && !analysis.final_reads->well();
}

Verdict CheckedRun::verdict() const {
  const Verdict lost = losses().verdict();
  Verdict worst = lost == Verdict::kViolated ? lost : Verdict::kSatisfied;
  for (const Level level : asked) {
    const auto verdict = result(level).verdict;
    if (verdict == Verdict::kViolated) return verdict;
    if (verdict != Verdict::kSatisfied && worst == Verdict::kSatisfied) worst = verdict;
  }
  return worst == Verdict::kSatisfied ? lost : worst;
}

analysis::Losses CheckedRun::losses() const {
  return {.shown = loses(),
          .gone = run.data_gone,
          .failed = run.final_reads_failed,
          .by_name = by_name && analysis::levels_by_name(asked.size())};
}

const check::LevelResult& CheckedRun::result(Level level) const {
  const auto& all = analysis.check.levels;
  return *std::find_if(all.begin(), all.end(),
                       [&](const auto& result) { return result.level == level; });
}

std::set<std::string> anomalies(const CheckedRun& checked) {
  std::set<std::string> names;
  if (const auto& reads = checked.analysis.final_reads) {
    if (!reads->lost.empty()) names.insert("lost-write");
    if (!reads->divergent.empty()) names.insert("divergent-replicas");
  }
  for (const auto& level : checked.analysis.check.levels) {
    if (!level.violation || level.explained_at.value_or(level.level) != level.level) continue;
    for (const auto& one :
         analysis::explanations_of(checked.history, checked.analysis, level).shown) {
      names.insert(one.anomaly.name);
    }
  }
  return names;
}

namespace {

// One run, stage by stage. Each stage returns why the run ends there, if it does.
class Stages {
 public:
  Stages(const RunAndCheckOptions& options, const std::atomic<bool>& stop, Progress& progress,
         const std::function<void(Stage)>& listener)
      : options_(options),
        stop_(stop),
        progress_(progress),
        listener_(listener),
        recorded_(recorded_at(options.history)) {
    checked_.workload = options.workload;
  }

  base::Result<CheckedRun> run() && {
    auto recorded = prepare();
    if (recorded.ok()) recorded = record();
    database_.reset();
    end_server(recorded.ok());
    if (!recorded.ok()) {
      auto why = std::move(recorded).error();
      if (!checked_.server_logs.empty()) {
        why.message += fmt::format("; the logs of the server are in {}", checked_.server_logs);
      }
      return why;
    }
    if (checked_.part) {
      checked_.file = recorded_;
      return std::move(checked_);
    }
    if (auto done = read_and_check(); !done.ok()) return std::move(done).error();
    if (!node_died_ && checked_.verdict() != Verdict::kViolated) drop_logs();
    return std::move(checked_);
  }

 private:
  base::Status prepare() {
    listener_(is_lab_url(options_.url) ? Stage::kStart : Stage::kPrepare);
    auto workload = workload_of(options_);
    if (!workload.ok()) return std::move(workload).error();
    workload_ = std::move(*workload);
    const auto sessions = workload_->sessions();
    if (options_.tables.empty() && sessions > kMostSessions) {  // of a plan
      return base::Error{.message = fmt::format("found {} sessions, expected at most {}: each is a "
                                                "thread with a connection",
                                                sessions, kMostSessions)};
    }
    if (auto output = check_output(options_); !output.ok()) return output;
    if (auto fit = check_lab(); !fit.ok()) return fit;
    if (auto opened = open_database(); !opened.ok()) return opened;
    if (auto possible = prepare_faults(); !possible.ok()) return possible;
    if (auto prepared = prepare_tables(); !prepared.ok()) return prepared;
    if (!stop_) return base::Ok{};
    clean();
    return base::Error{.message = "ended before the first transaction; nothing was recorded"};
  }

  base::Status prepare_tables() {
    if (options_.tables.empty()) {
      const TablesOfRun tables(*workload_, database_->shared() ? new_run_name() : "");
      return database_->prepare(tables);
    }
    checked_.part = true;
    const auto name = shared_run_name(options_.tables, *workload_);
    return database_->join(TablesOfRun(*workload_, name).schema());
  }

  base::Status open_database() {
    std::string url = options_.url;
    if (url.empty()) {
      auto made = base::TempDir::make("cupel-");
      if (!made.ok()) return std::move(made).error();
      folder_ = *std::move(made);
      url = "sqlite:" + folder_->file("cupel.sqlite");
    }
    if (is_lab_url(url)) {
      if (auto started = start_server(); !started.ok()) return started;
      listener_(Stage::kPrepare);
      const auto parsed = parse_lab_url(url);
      if (!parsed.ok()) return parsed.error();
      url = url_for_driver(server_->url(), *parsed);
    }
    auto database = drivers::open(url, options_.open);
    if (!database.ok()) return std::move(database).error();
    database_ = std::move(*database);
    checked_.facts = database_->facts();
    if (auto hosts = check_hosts(); !hosts.ok()) return hosts;
    number_nodes();
    return check_needs(database_->can(), checked_.facts.product);
  }

  [[nodiscard]] base::Status check_needs(const workload::Needs& can,
                                         std::string_view product) const {
    const auto lacks = unfit(workload_->needs(), can);
    if (lacks.empty()) return base::Ok{};
    return base::Error{
        .message = fmt::format("the workload {} needs {}, which the driver for {} does not have; "
                               "`cupel run --list` shows which workload runs on which database",
                               options_.workload, lacks, product)};
  }

  // What a test server cannot do is known before it starts.
  base::Status check_lab() {
    if (!is_lab_url(options_.url)) return base::Ok{};
    const auto url = parse_lab_url(options_.url);
    if (!url.ok()) return url.error();
    const auto read_from = options_.run.read_from;
    const auto nodes =
        url->options.nodes > 0 ? url->options.nodes : lab::node_count(url->kind).by_default;
    if (read_from != ReadFrom::kOwnHost && nodes < 2) return no_hosts();
    const auto& asked = options_.open.isolation;
    const auto level = isolation_of(options_.url, asked);
    const auto begins = begins_on_standbys(options_.url, asked);
    const auto can = can_at(options_.url, asked);
    if (!level.ok()) return level.error();
    if (!begins.ok()) return begins.error();
    if (!can.ok()) return can.error();
    const bool on_standbys = read_from == ReadFrom::kReplica || read_from == ReadFrom::kAny;
    if (on_standbys && lab::has_standbys(url->kind) && !*begins) {
      return not_at_this_level(fmt::format("a standby of {}", lab::name(url->kind)), *level, "");
    }
    return check_needs(*can, lab::name(url->kind));
  }

  [[nodiscard]] base::Error no_hosts() const {
    return {.message =
                fmt::format("{}: found no hosts to choose between, expected several, as in "
                            "postgres://H1,H2/db; `cupel lab start postgres-standby` starts such "
                            "a pair",
                            names().read_from)};
  }
  [[nodiscard]] base::Error not_at_this_level(std::string_view host, std::string_view level,
                                              const std::string& why) const {
    return {.message = fmt::format("{} begins no transaction at {}{}; choose another {}, or {} "
                                   "primary",
                                   host, level, why.empty() ? "" : ": " + why, names().isolation,
                                   names().read_from)};
  }

  base::Status start_server() {
    auto url = parse_lab_url(options_.url);
    if (!url.ok()) return std::move(url).error();
    url->options.interrupted = &stop_;
    durable_ = url->options.durable && url->options.server_options.empty();
    url->options.clocks = faults::asks_for(options_.inject, faults::Kind::Needs::kClocks);
    url->options.disks = faults::asks_for(options_.inject, faults::Kind::Needs::kDisks) &&
                         lab::disks_forbidden().empty();
    lab::clear_remains();  // of runs that were killed
    const auto forbidden = lab::networks_forbidden();
    url->options.namespaces = forbidden.empty();
    if (!forbidden.empty()) {
      checked_.run.warnings.push_back(forbidden +
                                      ", so the nodes share the loopback interface, "
                                      "and faults of the network are not possible");
    }
    auto started = lab::start(url->kind, url->options);
    if (!started.ok()) return std::move(started).error();
    server_ = *std::move(started);
    return base::Ok{};
  }

  // A fault that is not possible is an error before anything is asked of the database.
  base::Status prepare_faults() {
    auto inject = options_.inject;
    if (!inject.any()) return base::Ok{};
    if (!server_) {
      return base::Error{
          .message = fmt::format("{}: cupel did not start this database, so it cannot reach its "
                                 "processes and its network; start one for the run with the URL "
                                 "lab:KIND, as in lab:postgres{}",
                                 names().faults, names().commands)};
    }
    inject.seed = options_.run.seed;
    inject.optional_name = names().faults_optional;
    cluster_.emplace(*server_);
    auto schedule = faults::Schedule::make(inject, *cluster_, fault_warnings_);
    if (!schedule.ok()) return std::move(schedule).error();
    schedule_ = *std::move(schedule);
    // Replication may be asynchronous, and then a new primary lacks what the old one acknowledged.
    checked_.several_servers =
        checked_.several_servers ||
        schedule_->may_have([](const faults::Kind& kind) { return kind.moves_primary; });
    checked_.no_promise = without_promise();
    return base::Ok{};
  }

  // Why nothing is promised under the faults that may come; empty: it is.
  [[nodiscard]] std::string without_promise() const {
    using Leaves = faults::Kind::Leaves;
    const auto may_leave = [&](Leaves leaves) {
      return schedule_->may_have([&](const faults::Kind& kind) { return kind.leaves == leaves; });
    };
    if (may_leave(Leaves::kAnything)) return "a fault changes what is stored";
    if (may_leave(Leaves::kSynced) && !durable_) {
      return "a fault loses what was not synced, and the server has options that may let commits "
             "go without";
    }
    return "";
  }

  // What it does is written down at once, so that it is known even if cupel is killed.
  std::unique_ptr<faults::Injector> injector(Recorder& recorder) {
    if (!schedule_) return nullptr;
    const auto file = faults_file_of(options_.history);
    faults::Hooks hooks{.commits = [this] { return progress_.committed.load(); },
                        .note =
                            [&recorder](bool begins, const std::string& what) {
                              begins ? recorder.fault_begins(what) : recorder.fault_ends(what);
                            },
                        .changed =
                            [this, file](const std::vector<faults::Done>& done) {
                              faults_written_ = base::replace_file(file, faults::plan_text(done));
                            }};
    hooks.changed({});
    return std::make_unique<faults::Injector>(*cluster_, *std::exchange(schedule_, std::nullopt),
                                              std::move(hooks), stop_);
  }

  void note_faults(const faults::Injector& injector) {
    auto& run = checked_.run;
    checked_.faults_file = faults_file_of(options_.history);
    node_died_ = node_died_ || injector.node_died();
    run.warnings.insert(run.warnings.end(), fault_warnings_.begin(), fault_warnings_.end());
    if (!faults_written_.ok()) run.warnings.push_back(faults_written_.error().to_string());
  }

  // Its logs stay if it may be asked what happened: the verdict is known only later.
  void end_server(bool recorded) {
    if (!server_) return;
    auto& warnings = checked_.run.warnings;
    for (std::size_t node = 0; node < server_->nodes(); ++node) {
      if (server_->running(node)) continue;
      node_died_ = true;
      warnings.push_back(fmt::format("node {} of the test server was dead at the end", node));
    }
    std::error_code ignored;
    if ((recorded && (std::filesystem::is_regular_file(recorded_, ignored) ||
                      formats::is_recording(recorded_))) ||
        node_died_) {
      checked_.server_logs = logs_of(options_.history);
      if (auto kept = server_->copy_logs(checked_.server_logs); !kept.ok()) {
        warnings.push_back(kept.error().to_string());
        drop_logs();
      }
    }
    server_.reset();
  }

  void drop_logs() {
    std::error_code ignored;
    if (!checked_.server_logs.empty()) std::filesystem::remove_all(checked_.server_logs, ignored);
    checked_.server_logs.clear();
  }

  // Faults name nodes by number, transactions by host.
  void number_nodes() {
    if (!server_) return;
    for (std::size_t node = 0; node < server_->nodes(); ++node) {
      const auto url = server_->url(node);
      for (const auto& host : database_->nodes()) {
        const auto at = url.find(host);
        const auto end = at + host.size();
        const bool whole =
            at != std::string::npos &&
            (end == url.size() || !std::isdigit(static_cast<unsigned char>(url[end])));
        if (!whole) continue;
        checked_.nodes += fmt::format("{}{} {}", checked_.nodes.empty() ? "" : "\n", node, host);
      }
    }
  }

  // That every host can do its part.
  base::Status check_hosts() {
    const auto read_from = options_.run.read_from;
    const auto hosts = database_->hosts();
    checked_.several_servers = database_->fails_over();
    if (hosts.size() < 2) {
      if (read_from == ReadFrom::kOwnHost) return base::Ok{};
      return no_hosts();
    }
    const bool on_all = read_from != ReadFrom::kPrimary;
    checked_.several_servers = on_all || checked_.several_servers;
    for (std::uint32_t host = 0; host < hosts.size() && on_all; ++host) {
      const auto writes = database_->takes_writes(host);
      if (!writes.ok()) return writes.error();
      if (*writes) continue;
      if (read_from == ReadFrom::kOwnHost) {
        return base::Error{.message = fmt::format("{} takes no writes, as a standby or replica; "
                                                  "say {} primary, replica or any",
                                                  hosts[host], names().read_from)};
      }
      if (!database_->can().interactive) continue;
      // PostgreSQL's standbys have no serializable.
      auto connection = database_->connect_to_host(host);
      if (!connection.ok()) return std::move(connection).error();
      if (const auto failure = (*connection)->begin()) {
        return not_at_this_level(hosts[host], checked_.facts.isolation, failure->message);
      }
      (*connection)->rollback();
    }
    return base::Ok{};
  }

  [[nodiscard]] const SettingNames& names() const { return options_.run.names; }

  void clean() {
    if (!options_.keep && !checked_.part) database_->clean();
  }

  // As where there are no such tables.
  static bool only_refused(const RunResult& ran) {
    return ran.committed + ran.unknown == 0 && !ran.reasons.empty() &&
           std::all_of(ran.reasons.begin(), ran.reasons.end(), [](const auto& reason) {
             return reason.first.starts_with(name(drivers::Cause::kStatement)) ||
                    reason.first.starts_with(name(drivers::Cause::kGone));
           });
  }

  // However the recording ends: the tables are dropped, and only a whole history stays.
  class Recording {
   public:
    explicit Recording(Stages& stages) : stages_(stages) {}
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;
    ~Recording() {
      try {
        stages_.clean();
      } catch (const std::exception&) {  // the error that ends the run is the one to report
      }
      std::error_code ignored;
      if (begun && !whole && std::filesystem::is_regular_file(stages_.recorded_, ignored)) {
        std::filesystem::remove(stages_.recorded_, ignored);
      }
      // Nothing else was in it.
      if (begun && !whole && formats::is_recording(stages_.recorded_)) {
        std::filesystem::remove_all(stages_.recorded_, ignored);
      }
    }
    bool begun = false, whole = false;

   private:
    Stages& stages_;
  };

  base::Status record() {
    Recording recording(*this);
    std::string error;
    auto facts = header(options_, checked_, *workload_);
    if (options_.live) facts.flush_seconds = kLiveFlush;
    facts.rotate_bytes = options_.rotate_bytes;
    auto recorder = Recorder::open(recorded_, facts, error);
    if (!recorder) return base::Error{.message = error};
    recording.begun = true;
    listener_(Stage::kRun);
    auto run_options = options_.run;
    if (!checked_.part) run_options.sessions = workload_->sessions();  // a plan has its own
    checked_.sessions = run_options.sessions;
    // Where something may be lost, or be in one place and not in another.
    run_options.final_reads =
        !checked_.part &&
        (!options_.faults.fault.empty() || options_.inject.any() || database_->hosts().size() > 1);
    run_options.final_reads_if_needed = !checked_.part;
    if (checked_.part) recorder->fact(merge::kClockFact, clock_of(*recorder));
    const auto injector = this->injector(*recorder);
    std::atomic<bool> enough = false;
    const auto live = this->live(enough);
    if (live) run_options.enough = &enough;
    auto ran = run::run({*database_, *workload_, *recorder, injector.get()}, run_options,
                        options_.faults, stop_, progress_);
    interrupted_ = options_.load_ended ? options_.load_ended() : stop_.load();
    listener_(Stage::kEnd);
    if (checked_.part && ran.ok() && only_refused(*ran)) {
      recorder->close(error);
      return base::Error{
          .message = fmt::format(
              "the database refused every transaction ({}); were the tables {} made, with the same "
              "options? --make-tables makes them",
              ran->reasons.begin()->first, options_.tables)};
    }
    // Only then is it known that others read nothing which is not here.
    if (checked_.part && ran.ok()) recorder->fact(merge::kEndedFact, "yes");
    if (checked_.part && ran.ok() && ran->without_answer > 0) {
      recorder->fact(analysis::kFinalReadsFailed,
                     fmt::format("the database did not answer {} of {} sessions of a worker at "
                                 "their end, and a worker makes no final reads",
                                 ran->without_answer, run_options.sessions));
    }
    note_pooler(*recorder);
    const bool written = recorder->close(error);
    if (live) checked_.live = live->end();
    if (!ran.ok()) return std::move(ran).error();  // nothing was answered
    if (!written) {
      recording.whole = true;  // up to there: what was recorded cannot be had again
      return base::Error{.message = error + "; `cupel check` reads what was written before"};
    }
    auto warnings = std::move(checked_.run.warnings);
    checked_.run = std::move(ran).value();
    checked_.run.warnings.insert(checked_.run.warnings.begin(), warnings.begin(), warnings.end());
    if (injector) note_faults(*injector);
    return something_committed(recording);
  }

  // The verdict of a run that committed nothing would say nothing. The recording of a worker
  // stays: another may have read what a transaction of unknown outcome wrote.
  base::Status something_committed(Recording& recording) const {
    const auto& ran = checked_.run;
    recording.whole = ran.committed > 0 || checked_.part;
    if (ran.committed > 0) return base::Ok{};
    if (interrupted_) return base::Error{.message = "interrupted before anything committed"};
    auto why = nothing_committed(ran, names());
    if (checked_.part) why.message += fmt::format(". What was recorded stays in {}", recorded_);
    return why;
  }

  // Some poolers are seen by what they do only.
  void note_pooler(Recorder& recorder) {
    auto pooler = database_->facts().pooler;
    if (pooler == checked_.facts.pooler) return;
    recorder.fact(kPooler, pooler);
    if (pooler == "multiplexed" && checked_.no_promise.empty()) {
      checked_.no_promise =
          "a proxy moves sessions between server connections, which have isolation levels of their "
          "own";
      recorder.fact(levels::kNoPromise, checked_.no_promise);
    }
    checked_.facts.pooler = std::move(pooler);
  }

  // Judges what is recorded from here on, if that is asked for.
  std::unique_ptr<Live> live(std::atomic<bool>& enough) {
    if (!options_.live) return nullptr;
    ask();
    const auto& limits = options_.analysis.check;
    return std::make_unique<Live>(
        LiveOptions{.level = checked_.asked.front(),
                    .drift = limits.clock_drift_ns,
                    .sessions = checked_.sessions,
                    .memory_limit_bytes = limits.memory_limit_bytes,
                    .unique_values =
                        options_.shape.duplicates == 0 && !options_.workload.ends_with(".json"),
                    .certificate = options_.certificate},
        recorded_, enough);
  }

  // What was satisfied all along is so, even if the history as a whole is too large to be checked.
  void take_live() {
    const auto& live = checked_.live;
    if (!live || live->state != base::Verdict::kSatisfied) return;
    for (auto& level : checked_.analysis.check.levels) {
      if (level.verdict != Verdict::kUnknown ||
          (level.level != live->watched && !levels::implies(live->watched, level.level))) {
        continue;
      }
      level.verdict = Verdict::kSatisfied;
      level.decided_by = "watch";
      level.detail.clear();
    }
  }

  base::Status read_and_check() {
    listener_(Stage::kRead);
    const auto& limits = options_.analysis.check;
    base::Budget budget(limits.timeout_seconds
                            ? std::optional(std::chrono::duration<double>(*limits.timeout_seconds))
                            : std::nullopt,
                        limits.memory_limit_bytes);
    const analysis::Source source(recorded_);
    auto history = formats::read(
        recorded_,
        {.format = formats::Format::kJepsen, .threads = limits.threads, .budget = &budget});
    if (!history.ok() && !history.error().limit_met) {
      return base::Error{.message = "the recorded history does not read back: " +
                                    history.error().to_string()};
    }
    checked_.file = recorded_;
    auto every_level = options_.analysis;
    every_level.check.asked.clear();
    every_level.check.evidence |=
        checked_.live && !options_.certificate.empty() && !checked_.live->certified;
    if (history.ok()) {
      checked_.history = std::move(*history);
      if (auto converted = convert(); !converted.ok()) return converted;
      every_level.fields = analysis::fields_of_file(source, checked_.history);
      listener_(Stage::kCheck);
      checked_.analysis = analysis::analyze(checked_.history, every_level, budget);
    } else {
      listener_(Stage::kCheck);
      take_unread(every_level, history.error());
    }
    ask();
    take_live();
    return base::Ok{};
  }

  // A limit ended the reading. Live or not, nothing else has judged the final reads.
  void take_unread(const analysis::Options& options, const base::Error& why) {
    auto& failed = checked_.run.final_reads_failed;
    if (checked_.run.final_reads && failed.empty())
      failed = "the recorded history was not read to its end: " + why.message;
    history::HistoryBuilder nothing;
    if (!failed.empty()) nothing.set_metadata(analysis::kFinalReadsFailed, failed);
    const auto& gone = checked_.run.data_gone;
    if (!gone.empty()) nothing.set_metadata(analysis::kDataGone, gone);
    checked_.history = std::move(nothing).finish().value();
    checked_.analysis = analysis::unread(options, why.message);
  }

  // To the compressed format, if the history was asked for in it.
  base::Status convert() {
    if (!options_.history.ends_with(".cupel")) return base::Ok{};
    const auto nodes = formats::nodes_of_file(recorded_, checked_.history.fact("format"));
    const auto converted = formats::write(checked_.history, options_.history,
                                          {.format = formats::Format::kCupel, .nodes = &nodes});
    if (!converted.ok()) {
      auto why = converted.error();
      why.message += "; the history stays in " + recorded_;
      return why;
    }
    std::error_code ignored;
    std::filesystem::remove(recorded_, ignored);
    checked_.file = options_.history;
    checked_.history =
        history::HistoryBuilder::with_metadata(std::move(checked_.history), "format", "cupel");
    return base::Ok{};
  }

  // Which levels decide about the run.
  void ask() {
    checked_.asked = options_.analysis.check.asked;
    checked_.by_name = !checked_.asked.empty();
    if (checked_.by_name) return;
    const auto& facts = checked_.facts;
    auto level =
        levels::promised(facts.product, facts.isolation, facts.detail, checked_.several_servers);
    if (!checked_.no_promise.empty()) level.reset();
    checked_.promised = level.has_value();
    checked_.asked = {level.value_or(Level::kReadCommitted)};
  }

  const RunAndCheckOptions& options_;
  const std::atomic<bool>& stop_;
  Progress& progress_;
  const std::function<void(Stage)>& listener_;
  std::string recorded_;  // the file that is written while the run goes on
  std::optional<base::TempDir> folder_;
  std::optional<lab::Server> server_;  // of a LabUrl
  bool durable_ = true;                // it waits for the disk, and nobody said otherwise
  bool node_died_ = false;             // of the server, before its end
  bool interrupted_ = false;           // `stop` was true at the end of the load
  std::optional<faults::LabCluster> cluster_;
  std::optional<faults::Schedule> schedule_;
  std::vector<std::string> fault_warnings_;
  base::Status faults_written_ = base::Ok{};
  std::unique_ptr<workload::Workload> workload_;
  std::unique_ptr<drivers::Database> database_;
  CheckedRun checked_;
};

}  // namespace

bool is_table_name(const std::string& name) {
  constexpr std::size_t kLongest = 24;
  return !name.empty() && name.size() <= kLongest &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
}

namespace {

base::Status with_shared_tables(
    const RunAndCheckOptions& options,
    const std::function<base::Status(drivers::Database&, const workload::Workload&)>& work) {
  const auto workload = workload_of(options);
  if (!workload.ok()) return workload.error();
  const auto database = drivers::open(options.url, options.open);
  if (!database.ok()) return database.error();
  const TablesOfRun tables(**workload, shared_run_name(options.tables, **workload));
  // Which says so if nobody else could use them.
  if (auto joined = (*database)->join(tables.schema()); !joined.ok()) return joined;
  return work(**database, tables);
}

}  // namespace

base::Status make_shared_tables(const RunAndCheckOptions& options) {
  return with_shared_tables(options, [](drivers::Database& database, const workload::Workload& of) {
    return database.prepare(of);
  });
}

base::Status drop_shared_tables(const RunAndCheckOptions& options) {
  return with_shared_tables(options, [](drivers::Database& database, const workload::Workload&) {
    database.clean();
    return base::Status(base::Ok{});
  });
}

base::Result<CheckedRun> run_and_check(const RunAndCheckOptions& options,
                                       const std::atomic<bool>& stop, Progress& progress,
                                       const std::function<void(Stage)>& listener) {
  base::Budget* const watched = base::watched_by_this_thread();
  const auto run = [&] {
    const base::AllocationWatch watch(watched);
    return Stages(options, stop, progress, listener).run();
  };
  // A test server has a network of its own, and the thread that starts it moves there.
  return is_lab_url(options.url) ? std::async(std::launch::async, run).get() : run();
}

}  // namespace cupel::run
