// The stages of an assay: see the header.
#include "run/assay.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>

#include "formats/formats.hpp"
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

base::Result<Assay> assay(const AssayOptions& options, const std::atomic<bool>& stop,
                          Progress& progress, const std::function<void(Stage)>& listener) {
  Assay assay;
  assay.workload = options.workload;
  listener(Stage::kPrepare);
  auto workload = workload_of(options);
  if (!workload.ok()) return workload.error();

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
    return base::Error{.message = fmt::format(
                           "the workload {} needs {}, which the driver for {} does not have; "
                           "`cupel run --list` says what goes with what",
                           options.workload, lacks, assay.facts.product)};
  }
  if (const auto prepared = (*database)->prepare(**workload); !prepared.ok()) {
    return prepared.error();
  }

  const bool binary = options.history.ends_with(".cupel");
  const auto recorded_at = binary ? options.history + ".jsonl" : options.history;
  std::string error;
  auto recorder = Recorder::open(recorded_at, header(options, assay.facts, **workload), error);
  if (!recorder) return base::Error{.message = error};

  listener(Stage::kRun);
  auto run_options = options.run;
  run_options.sessions = assay.sessions = (*workload)->sessions();
  auto ran = run(**database, **workload, *recorder, run_options, options.faults, stop, progress);
  const bool written = recorder->close(error);
  if (!options.keep) (*database)->clean();
  if (!ran.ok()) return ran.error();
  if (!written) return base::Error{.message = error};
  assay.run = std::move(ran).value();

  listener(Stage::kRead);
  auto history = formats::read(recorded_at, {.format = formats::Format::kJepsen,
                                             .threads = options.check.threads});
  if (!history.ok()) {
    return base::Error{.message = "the recorded history does not read back: " +
                                  history.error().to_string()};
  }
  assay.history = std::move(history).value();
  if (binary) {
    const auto converted = formats::write(assay.history, options.history,
                                          {.format = formats::Format::kCupel});
    if (!converted.ok()) return converted.error();
    std::error_code ignored;
    std::filesystem::remove(recorded_at, ignored);
  }

  listener(Stage::kCheck);
  auto ladder = options.check;
  ladder.asked.clear();
  assay.check = check::check(assay.history, ladder);
  assay.asked = options.check.asked;
  if (assay.asked.empty()) {
    const auto level = levels::promised(assay.facts.product, assay.facts.isolation, assay.facts.detail);
    assay.promised = level.has_value();
    assay.asked = {level.value_or(Level::kReadCommitted)};
  }
  return assay;
}

}  // namespace cupel::run
