// Runs a campaign and keeps its results, a line each, so that what was done once
// is not done again.
#include "run/campaign.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <semaphore>
#include <thread>
#include <utility>
#include <vector>

#include "base/budget.hpp"
#include "base/hash_table.hpp"
#include "base/write_file.hpp"
#include "text/json.hpp"

namespace cupel::run {

namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

Json to_json(const CampaignResult& r) {
  return {{"identity", r.identity},   {"database", r.database},
          {"isolation", r.isolation}, {"workload", r.workload},
          {"faults", r.faults},       {"seed", r.seed},
          {"product", r.product},     {"asked", r.asked},
          {"verdict", r.verdict},     {"error", r.error},
          {"anomalies", r.anomalies}, {"strongest_satisfied", r.strongest_satisfied},
          {"committed", r.committed}, {"aborted", r.aborted},
          {"unknown", r.unknown},     {"seconds", r.seconds},
          {"history", r.history},     {"without_faults", r.without_faults}};
}

// Throws Json::exception on what is no result.
CampaignResult from_json(const Json& json) {
  CampaignResult r;
  json.at("identity").get_to(r.identity);
  json.at("database").get_to(r.database);
  json.at("isolation").get_to(r.isolation);
  json.at("workload").get_to(r.workload);
  r.faults = json.value("faults", std::string());  // files of before have none
  json.at("seed").get_to(r.seed);
  json.at("product").get_to(r.product);
  json.at("asked").get_to(r.asked);
  json.at("verdict").get_to(r.verdict);
  json.at("error").get_to(r.error);
  json.at("anomalies").get_to(r.anomalies);
  json.at("strongest_satisfied").get_to(r.strongest_satisfied);
  json.at("committed").get_to(r.committed);
  json.at("aborted").get_to(r.aborted);
  json.at("unknown").get_to(r.unknown);
  json.at("seconds").get_to(r.seconds);
  json.at("history").get_to(r.history);
  r.without_faults = json.value("without_faults", false);
  return r;
}

std::string dump(const CampaignResult& result) {
  const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
  return text::dump(to_json(result));
}

// By identity. A last line without an end is what a crash left: it is done again.
base::Result<base::HashMap<std::string, CampaignResult>> read_results(const std::string& path) {
  base::HashMap<std::string, CampaignResult> results;
  errno = 0;
  std::ifstream in(path);
  if (!in && errno != ENOENT) {  // or what is there would be replaced by nothing
    return base::Error{.message = fmt::format("cannot read the results: {}", std::strerror(errno)),
                       .file = path};
  }
  std::string line;
  std::uint64_t number = 0;
  while (std::getline(in, line)) {
    ++number;
    const bool whole = !in.eof();
    try {
      const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
      auto result = from_json(Json::parse(line));
      results.insert_or_assign(result.identity, std::move(result));
    } catch (const Json::exception&) {
      if (!whole) break;
      return base::Error{.message =
                             "found no result of a campaign, expected what an earlier time "
                             "wrote; use another folder, or remove the line",
                         .file = path,
                         .line = number};
    }
  }
  return results;
}

CampaignResult result_of(const CampaignRun& run) {
  CampaignResult result;
  result.identity = run.identity;
  result.database = run.database;
  result.isolation = run.isolation;
  result.workload = run.workload;
  result.faults = run.faults;
  result.seed = run.options.run.seed;
  return result;
}

void fill(CampaignResult& result, const CheckedRun& checked) {
  result.product = checked.facts.version.empty()
                       ? checked.facts.product
                       : checked.facts.product + " " + checked.facts.version;
  for (const auto level : checked.asked) {
    result.asked += (result.asked.empty() ? "" : ", ") + std::string(levels::name(level));
  }
  if (checked.loses() && !checked.by_name) result.asked += " and durable";
  const auto verdict = checked.verdict();
  if (verdict == check::Verdict::kRefused) {
    result.verdict = "error";
    result.error = checked.result(checked.asked.front()).detail;
  } else {
    result.verdict = check::to_string(verdict);
  }
  const auto names = anomalies(checked);
  result.anomalies.assign(names.begin(), names.end());
  for (const auto level : checked.analysis.check.strongest_satisfied) {
    result.strongest_satisfied.emplace_back(levels::name(level));
  }
  result.committed = checked.run.committed;
  result.aborted = checked.run.aborted;
  result.unknown = checked.run.unknown;
  result.seconds = checked.run.seconds;
  result.without_faults = checked.run.faults_left_out;
}

// What a violation ends under StopAt::kEach.
std::string cell_of(const CampaignRun& run) {
  return run.database + '\n' + run.isolation + '\n' + run.workload + '\n' + run.faults;
}

std::string file_name(const CampaignRun& run) {
  std::string name = fmt::format("{}-{}-{}{}-{}", run.database, run.isolation, run.workload,
                                 run.faults.empty() ? "" : "-" + run.faults, run.options.run.seed);
  for (char& c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.';
    if (!plain) c = '_';
  }
  // Names that differ in what is not plain, and columns of other campaigns in the
  // same folder, are distinguished by the identity.
  std::uint32_t sum = 2166136261;  // FNV-1a
  for (const char c : run.identity) sum = (sum ^ static_cast<unsigned char>(c)) * 16777619U;
  return fmt::format("{}-{:08x}.jsonl", name, sum);
}

// The lock of a folder, which one campaign holds while it runs. It goes with the process, however
// that ends, and leaves nothing in the folder.
class FolderLock {
 public:
  static base::Result<FolderLock> take(const std::string& folder) {
    const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0) {
      return base::Error{.message = fmt::format("cannot open the folder: {}", std::strerror(errno)),
                         .file = folder};
    }
    FolderLock lock(file);
    // A file system without such locks is no reason not to run.
    if (::flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      return base::Error{.message =
                             "another campaign is running in this folder; wait until it "
                             "ends, or give -o another folder",
                         .file = folder};
    }
    return lock;
  }
  FolderLock(FolderLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  FolderLock& operator=(FolderLock&&) = delete;
  ~FolderLock() {
    if (file_ >= 0) ::close(file_);
  }

 private:
  explicit FolderLock(int file) : file_(file) {}
  int file_;
};

// Written again, so that a line that a crash cut off is gone: first those of this campaign.
base::Status rewrite_results(const Campaign& campaign, const std::string& path,
                             const base::HashMap<std::string, CampaignResult>& known) {
  std::string text;
  base::HashSet<std::string> ours;
  for (const auto& run : campaign.runs) {
    ours.insert(run.identity);
    const auto it = known.find(run.identity);
    if (it != known.end()) text += dump(it->second) + '\n';
  }
  for (const auto& [identity, result] : known) {
    if (!ours.contains(identity)) text += dump(result) + '\n';
  }
  return base::replace_file(path, text);
}

// The runs of a campaign, taken one after the other by as many threads as there are jobs. Their
// checks wait for each other: each may use all cores, and the memory that is there.
class Cells {
 public:
  Cells(const Campaign& campaign, const std::string& folder,
        base::HashMap<std::string, CampaignResult> known, const std::atomic<bool>& stop,
        const CampaignListener& listener)
      : campaign_(campaign),
        folder_(folder),
        known_(std::move(known)),
        stop_(stop),
        listener_(listener),
        results_(campaign.runs.size()) {}

  base::Result<CampaignSummary> run() && {
    {
      std::vector<std::jthread> workers;
      for (std::uint32_t i = 1; i < campaign_.jobs; ++i) workers.emplace_back([this] { work(); });
      work();
    }
    if (thrown_) std::rethrow_exception(thrown_);
    if (!failed_.ok()) return failed_.error();
    for (auto& result : results_) {
      if (result) summary_.results.push_back(std::move(*result));
    }
    return std::move(summary_);
  }

 private:
  void work() {
    try {
      while (const auto next = take()) finish(*next, result_at(*next));
    } catch (...) {
      const std::lock_guard lock(mutex_);
      thrown_ = std::current_exception();
    }
  }

  // The next run that is still to be made; none: there is nothing more to do.
  std::optional<std::size_t> take() {
    const std::lock_guard lock(mutex_);
    for (; next_ < campaign_.runs.size() && !over_ && !thrown_ && failed_.ok(); ++next_) {
      const auto& run = campaign_.runs[next_];
      if (ended_.contains(cell_of(run))) continue;
      const auto before = known_.find(run.identity);
      // A database that was not there may be there now.
      if (before != known_.end() && before->second.verdict != "error") {
        ++summary_.resumed;
        keep(next_, before->second);
        continue;
      }
      const std::chrono::duration<double> passed = Clock::now() - begin_;
      if (stop_ || (campaign_.budget > 0 && passed.count() >= campaign_.budget)) {
        ++summary_.left;
        continue;
      }
      listener_.before(run, next_ + 1, campaign_.runs.size());
      return next_++;
    }
    return std::nullopt;
  }

  // None: it was cut short, and says too little.
  std::optional<CampaignResult> result_at(std::size_t at) {
    const auto& run = campaign_.runs[at];
    auto result = result_of(run);
    auto options = run.options;
    options.history = folder_ + "/" + file_name(run);
    options.overwrite = true;  // of a run that a crash cut short
    Progress progress;
    // Not a mutex: the stages of a run need not be one thread's.
    struct Turn {
      std::binary_semaphore& checks;
      bool taken = false;
      ~Turn() {
        if (taken) checks.release();
      }
    } turn{checks_};
    const auto checked = run_and_check(options, stop_, progress, [&](Stage stage) {
      if (stage != Stage::kRead) return;
      checks_.acquire();
      turn.taken = true;
    });
    if (!stop_) {
      if (checked.ok()) {
        fill(result, *checked);
        const auto& ran = checked->run;
        if (run.options.inject.any() && ran.faults == 0 && !ran.faults_left_out) {
          result.verdict = "error";
          result.error =
              "no fault began, so this run says nothing about them; a longer time_limit "
              "or a shorter `every` lets them begin";
        }
      } else {
        result.verdict = "error";
        result.error = checked.error().to_string();
      }
    }
    if (!stop_ && (result.verdict == "violated" || result.verdict == "unknown")) {
      result.history = file_name(run);
    } else {
      std::error_code ignored;
      std::filesystem::remove(options.history, ignored);
      std::filesystem::remove(faults_file_of(options.history), ignored);
      const bool kept = checked.ok() ? !checked->server_logs.empty() : !stop_;
      if (!kept) std::filesystem::remove_all(logs_of(options.history), ignored);
    }
    return stop_ ? std::nullopt : std::optional(std::move(result));
  }

  void finish(std::size_t at, std::optional<CampaignResult> result) {
    const std::lock_guard lock(mutex_);
    if (!result) {
      ++summary_.left;
      return;
    }
    auto written = base::write_file(folder_ + "/results.jsonl", dump(*result) + '\n',
                                    base::WriteMode::kAppend);
    if (!written.ok() && failed_.ok()) failed_ = std::move(written);
    listener_.after(*result);
    keep(at, *std::move(result));
  }

  void keep(std::size_t at, CampaignResult result) {
    if (result.verdict == "violated") {
      if (campaign_.stop == StopAt::kEach) ended_.insert(cell_of(campaign_.runs[at]));
      if (campaign_.stop == StopAt::kFirst) over_ = true;
    }
    results_[at] = std::move(result);
  }

  const Campaign& campaign_;
  const std::string& folder_;
  const base::HashMap<std::string, CampaignResult> known_;
  const std::atomic<bool>& stop_;
  const CampaignListener& listener_;
  const Clock::time_point begin_ = Clock::now();

  std::binary_semaphore checks_{1};
  std::mutex mutex_;  // of all below
  std::size_t next_ = 0;
  bool over_ = false;
  base::Status failed_ = base::Ok{};
  std::exception_ptr thrown_;
  base::HashSet<std::string> ended_;
  std::vector<std::optional<CampaignResult>> results_;  // by run
  CampaignSummary summary_;
};

}  // namespace

base::Result<CampaignSummary> run_campaign(const Campaign& campaign, const std::string& folder,
                                           const std::atomic<bool>& stop,
                                           const CampaignListener& listener) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) {
    return base::Error{.message = "cannot make the folder: " + failed.message(), .file = folder};
  }
  const auto lock = FolderLock::take(folder);
  if (!lock.ok()) return lock.error();
  const auto results_path = folder + "/results.jsonl";
  auto known = read_results(results_path);
  if (!known.ok()) return known.error();
  if (auto written = rewrite_results(campaign, results_path, *known); !written.ok()) {
    return std::move(written).error();
  }

  auto ran = Cells(campaign, folder, *std::move(known), stop, listener).run();
  if (!ran.ok()) return ran;
  const auto& summary = *ran;
  for (const auto& [name, text] : {std::pair("summary.md", summary_markdown(summary)),
                                   std::pair("summary.json", summary_json(summary))}) {
    auto written = base::write_file(folder + "/" + name, text);
    if (!written.ok()) return std::move(written).error();
  }
  return ran;
}

int exit_code(const CampaignSummary& summary) {
  int code = 0;
  for (const auto& result : summary.results) {
    const int own = result.verdict == "satisfied"  ? 0
                    : result.verdict == "violated" ? 1
                    : result.verdict == "unknown"  ? 2
                                                   : 3;
    code = std::max(code, own);
  }
  return code;
}

}  // namespace cupel::run
