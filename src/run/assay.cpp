// The stages of an assay: see the header.
#include "run/assay.hpp"

#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>

#include "base/budget.hpp"
#include "explain/why/explain.hpp"
#include "formats/formats.hpp"
#include "history/builder.hpp"
#include "levels/product.hpp"
#include "workload/plan.hpp"

namespace cupel::run {

using check::Verdict;
using levels::Level;

namespace {

// A folder that is removed when done with.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "cupel-XXXXXX").string();
    if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

base::Result<std::unique_ptr<workload::Workload>> workload_of(const AssayOptions& options) {
  if (options.workload.ends_with(".json")) return workload::read_plan(options.workload);
  auto shape = options.shape;
  shape.sessions = options.run.sessions;
  shape.seed = options.run.seed;
  return workload::make_workload(options.workload, shape);
}

// What is in the header of the history. Never the URL: it may hold a password.
RecordOptions header(const AssayOptions& options, const drivers::Facts& facts,
                     const workload::Workload& workload) {
  RecordOptions record;
  auto& metadata = record.metadata;
  const auto say = [&](const char* name, const std::string& text) {
    if (!text.empty()) metadata.emplace_back(name, text);
  };
  say("database", facts.version.empty() ? facts.product : facts.product + " " + facts.version);
  say("isolation", facts.isolation);
  say("settings", facts.detail);
  say("workload", std::filesystem::path(options.workload).filename().string());
  say("seed", std::to_string(options.run.seed));
  say("recorded by", options.recorded_by);
  record.default_initial = workload.default_initial();
  return record;
}

// Where the history is written as it happens.
std::string recorded_at(const std::string& history) {
  return history.ends_with(".cupel") ? history + ".jsonl" : history;
}

// Told before the database is touched: what was recorded cannot be recorded again,
// so that nothing may be in its place, and a run must not end for want of a folder.
base::Status look_at_place(const AssayOptions& options) {
  const std::filesystem::path path(options.history);
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  std::error_code failed;
  if (!std::filesystem::is_directory(folder, failed)) {
    return base::Error{
        .message = fmt::format("there is no folder {}; make it, or name another", folder.string()),
        .file = options.history};
  }
  const auto recorded = recorded_at(options.history);
  for (const auto& file : {options.history, recorded}) {
    if (!std::filesystem::exists(file, failed)) continue;
    if (!std::filesystem::is_regular_file(file, failed)) continue;  // /dev/null has nothing to lose
    if (options.overwrite) continue;
    return base::Error{.message = file == options.history
                                      ? "is there already, and a recorded history cannot be had "
                                        "again; name another file, or say --overwrite"
                                      : "is there already, what an earlier run left that was "
                                        "killed; move it, or say --overwrite",
                       .file = file};
  }
  const auto asked = std::filesystem::exists(recorded, failed) ? recorded : folder.string();
  if (access(asked.c_str(), W_OK) != 0 || std::filesystem::is_directory(recorded, failed)) {
    return base::Error{.message = fmt::format("cannot be written: {}",
                                              std::filesystem::is_directory(recorded, failed)
                                                  ? "it is a folder"
                                                  : std::strerror(errno)),
                       .file = recorded};
  }
  return base::Ok{};
}

}  // namespace

Verdict Assay::verdict() const {
  Verdict worst = Verdict::kSatisfied;
  for (const Level level : asked) {
    const auto verdict = result(level).verdict;
    if (verdict == Verdict::kViolated) return verdict;
    if (verdict != Verdict::kSatisfied) worst = verdict;
  }
  return worst;
}

const check::LevelResult& Assay::result(Level level) const {
  return *std::find_if(check.levels.begin(), check.levels.end(),
                       [&](const auto& result) { return result.level == level; });
}

std::set<std::string> anomalies(const Assay& assay) {
  std::set<std::string> names;
  for (const auto& level : assay.check.levels) {
    if (!level.violation || level.explained_at.value_or(level.level) != level.level) continue;
    for (const auto& anomaly : explain::explain(assay.history, level.level, *level.violation)) {
      names.insert(anomaly.name);
    }
  }
  return names;
}

base::Result<Assay> assay(const AssayOptions& options, const std::atomic<bool>& stop,
                          Progress& progress, const std::function<void(Stage)>& listener) {
  Assay assay;
  assay.workload = options.workload;
  listener(Stage::kPrepare);
  auto workload = workload_of(options);
  if (!workload.ok()) return workload.error();
  if (const auto place = look_at_place(options); !place.ok()) return place.error();

  std::optional<TemporaryFolder> folder;
  std::string url = options.url;
  if (url.empty()) {
    folder.emplace();
    if (folder->path().empty()) {
      return base::Error{.message = "could not make a temporary folder for the database"};
    }
    url = "sqlite:" + folder->path() + "/cupel.sqlite";
  }
  auto database = drivers::open(url, options.open);
  if (!database.ok()) return database.error();
  assay.facts = (*database)->facts();
  if (const auto lacks = unfit((*workload)->needs(), (*database)->can()); !lacks.empty()) {
    return base::Error{
        .message = fmt::format("the workload {} needs {}, which the driver for {} does not have; "
                               "`cupel run --list` says what goes with what",
                               options.workload, lacks, assay.facts.product)};
  }
  if (const auto prepared = (*database)->prepare(**workload); !prepared.ok()) {
    return prepared.error();
  }
  const auto clean = [&] {
    if (!options.keep) (*database)->clean();
  };
  if (stop) {
    clean();
    return base::Error{.message = "ended before the first transaction; nothing was recorded"};
  }

  const bool binary = options.history.ends_with(".cupel");
  const auto recorded = recorded_at(options.history);
  std::string error;
  auto recorder = Recorder::open(recorded, header(options, assay.facts, **workload), error);
  if (!recorder) {
    clean();
    return base::Error{.message = error};
  }

  listener(Stage::kRun);
  auto run_options = options.run;
  run_options.sessions = assay.sessions = (*workload)->sessions();
  auto ran = run(**database, **workload, *recorder, run_options, options.faults, stop, progress);
  const bool written = recorder->close(error);
  clean();
  std::error_code ignored;
  if (!ran.ok()) {  // nothing was answered, so there is nothing to keep
    std::filesystem::remove(recorded, ignored);
    return ran.error();
  }
  if (!written) return base::Error{.message = error};
  assay.run = std::move(ran).value();

  listener(Stage::kRead);
  const auto& limits = options.check;
  base::Budget budget(limits.timeout_seconds
                          ? std::optional(std::chrono::duration<double>(*limits.timeout_seconds))
                          : std::nullopt,
                      limits.memory_limit_bytes);
  auto history = formats::read(
      recorded, {.format = formats::Format::kJepsen, .threads = limits.threads, .budget = &budget});
  std::string unread;
  if (!history.ok()) {
    if (!history.error().limit_met) {
      return base::Error{.message = "the recorded history does not read back: " +
                                    history.error().to_string()};
    }
    unread = history.error().message;
    history = history::HistoryBuilder().finish();
  }
  assay.history = std::move(history).value();
  assay.whole = unread.empty();
  assay.file = recorded;
  if (binary && assay.whole) {
    const auto converted =
        formats::write(assay.history, options.history, {.format = formats::Format::kCupel});
    if (!converted.ok()) {
      auto why = converted.error();
      why.message += "; the history stays in " + recorded;
      return why;
    }
    std::filesystem::remove(recorded, ignored);
    assay.file = options.history;
  }

  listener(Stage::kCheck);
  auto ladder = options.check;
  ladder.asked.clear();
  assay.check =
      assay.whole ? check::check(assay.history, ladder, budget) : check::unread(ladder, unread);
  assay.asked = options.check.asked;
  if (assay.asked.empty()) {
    const auto level =
        levels::promised(assay.facts.product, assay.facts.isolation, assay.facts.detail);
    assay.promised = level.has_value();
    assay.asked = {level.value_or(Level::kReadCommitted)};
  }
  return assay;
}

}  // namespace cupel::run
