// Runs a campaign and keeps its results, a line each, so that what was done once
// is not done again.
#include "run/campaign.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>
#include <mutex>
#include <optional>
#include <semaphore>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/hash_table.hpp"
#include "base/watched_threads.hpp"
#include "base/write_file.hpp"
#include "report/final_reads.hpp"
#include "report/page.hpp"
#include "run/campaign_results.hpp"
#include "run/run_report.hpp"

namespace cupel::run {

namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kBusy =
    "another campaign is running in this folder; wait until it ends, or give -o another folder";

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

std::string why_unknown(const CheckedRun& checked) {
  for (const auto level : checked.asked) {
    const auto& found = checked.result(level);
    if (found.verdict == check::Verdict::kUnknown) return found.detail;
  }
  return report::unknown_whether_lost(checked.losses().why_unknown());
}

void fill(CampaignResult& result, const CheckedRun& checked) {
  result.product = checked.facts.version.empty()
                       ? checked.facts.product
                       : checked.facts.product + " " + checked.facts.version;
  for (const auto level : checked.asked) {
    result.asked += (result.asked.empty() ? "" : ", ") + std::string(levels::name(level));
  }
  if (checked.losses().verdict() != check::Verdict::kSatisfied) result.asked += " and durable";
  const auto verdict = checked.verdict();
  if (verdict == check::Verdict::kRefused) {
    result.verdict = "error";
    result.error = checked.result(checked.asked.front()).detail;
  } else {
    result.verdict = check::to_string(verdict);
    if (verdict == check::Verdict::kUnknown) result.error = why_unknown(checked);
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

// Written again, so that a line that a crash cut off is gone: first those of this campaign.
base::Status rewrite_results(const Campaign& campaign, const std::string& path,
                             const KnownResults& known) {
  std::string text;
  base::HashSet<std::string> ours;
  for (const auto& run : campaign.runs) {
    ours.insert(run.identity);
    const auto it = known.find(run.identity);
    if (it != known.end()) text += result_line(it->second) + '\n';
  }
  for (const auto& [identity, result] : known) {
    if (!ours.contains(identity)) text += result_line(result) + '\n';
  }
  return base::replace_file(path, text);
}

// The runs of a campaign, taken one after the other by as many threads as there are jobs. Their
// checks wait for each other: each may use all cores, and the memory that is there.
class Cells {
 public:
  Cells(const Campaign& campaign, const std::string& folder, KnownResults known,
        const std::atomic<bool>& stop, const CampaignListener& listener)
      : campaign_(campaign),
        folder_(folder),
        known_(std::move(known)),
        stop_(stop),
        listener_(listener),
        results_(campaign.runs.size()) {}

  base::Result<CampaignSummary> run() && {
    {
      std::vector<std::jthread> workers;
      auto* const watched = base::watched_by_this_thread();
      try {
        for (std::uint32_t i = 1; i < campaign_.jobs; ++i) {
          workers.emplace_back([this, watched] {
            const base::AllocationWatch watch(watched);
            work();
          });
        }
      } catch (const std::system_error&) {
        // The system grants no more threads; those that run share the work.
      }
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
      if (!campaign_.shard.takes(next_)) continue;
      const auto& run = campaign_.runs[next_];
      if (ended_.contains(cell_of(run))) continue;
      const auto before = known_.find(run.identity);
      // A database that was not there may be there now.
      if (before != known_.end() && before->second.verdict != "error") {
        ++summary_.resumed;
        note_anomalies(before->second);
        keep(next_, before->second);
        continue;
      }
      const std::chrono::duration<double> passed = Clock::now() - begin_;
      if (stop_ || (campaign_.budget > 0 && passed.count() >= campaign_.budget)) {
        ++summary_.left;
        summary_.interrupted = summary_.interrupted || stop_;
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
    options.history = folder_ + "/" + file_stem(run) + ".jsonl";
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
    const bool first = !stop_ && checked.ok() && shows_more(result);
    if (first) write_page(*checked, run);
    if (!stop_ && (result.verdict == "violated" || result.verdict == "unknown")) {
      result.history = file_stem(run) + ".jsonl";
    } else if (!first) {
      std::error_code ignored;
      std::filesystem::remove(options.history, ignored);
      std::filesystem::remove(faults_file_of(options.history), ignored);
      const bool kept = checked.ok() ? !checked->server_logs.empty() : !stop_;
      if (!kept) std::filesystem::remove_all(logs_of(options.history), ignored);
    }
    return stop_ ? std::nullopt : std::optional(std::move(result));
  }

  // Is the run the first of its column that shows one of its anomalies? Later ones are not.
  bool shows_more(const CampaignResult& result) {
    if (result.verdict == "error") return false;
    const std::lock_guard lock(mutex_);
    return note_anomalies(result);
  }
  bool note_anomalies(const CampaignResult& result) {
    bool more = false;
    for (const auto& anomaly : result.anomalies) {
      more |= shown_
                  .insert(fmt::format("{}\n{}\n{}\n{}", result.database, result.isolation,
                                      result.faults, anomaly))
                  .second;
    }
    return more;
  }

  void write_page(const CheckedRun& checked, const CampaignRun& run) {
    const auto pages = report::report_files(answer_of(checked));
    auto written =
        base::replace_file(folder_ + "/" + file_stem(run) + ".html", pages.front().bytes);
    const std::lock_guard lock(mutex_);
    if (!written.ok() && failed_.ok()) failed_ = std::move(written);
  }

  void finish(std::size_t at, std::optional<CampaignResult> result) {
    const std::lock_guard lock(mutex_);
    if (!result) {
      ++summary_.left;
      summary_.interrupted = true;
      return;
    }
    const auto line = result_line(*result) + '\n';
    auto written =
        campaign_.shard.is_all()
            ? base::write_file(folder_ + "/results.jsonl", line, base::WriteMode::kAppend)
            : base::replace_file(result_file(folder_, campaign_.runs[at]), line);
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
  const KnownResults known_;
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
  base::HashSet<std::string> shown_;                    // anomalies, by column
  std::vector<std::optional<CampaignResult>> results_;  // by run
  CampaignSummary summary_;
};

}  // namespace

base::Status write_summary(const CampaignSummary& summary, const std::string& folder) {
  for (const auto& [name, text] : {std::pair("summary.md", summary_markdown(summary)),
                                   std::pair("summary.json", summary_json(summary))}) {
    if (auto written = base::replace_file(folder + "/" + name, text); !written.ok()) return written;
  }
  return base::Ok{};
}

base::Result<CampaignSummary> run_campaign(const Campaign& campaign, const std::string& folder,
                                           const std::atomic<bool>& stop,
                                           const CampaignListener& listener) {
  const bool all = campaign.shard.is_all();
  std::error_code failed;
  std::filesystem::create_directories(all ? folder : folder + "/runs", failed);
  if (failed) {
    return base::Error{.message = "cannot make the folder: " + failed.message(), .file = folder};
  }
  const auto lock = Lock::take(folder, all ? Lock::Kind::kOnly : Lock::Kind::kShared, kBusy);
  if (!lock.ok()) return lock.error();
  std::optional<base::Result<Lock>> of_shard;
  if (!all) {
    const auto file = folder + "/runs/shard-" + std::to_string(campaign.shard.number) + "-of-" +
                      std::to_string(campaign.shard.of) + ".lock";
    of_shard.emplace(Lock::take(file, Lock::Kind::kOnly,
                                "the same shard is running in this folder; wait until it ends"));
    if (!of_shard->ok()) return of_shard->error();
  }
  if (auto written = write_plan(campaign, folder); !written.ok()) {
    return std::move(written).error();
  }
  const auto results_path = folder + "/results.jsonl";
  KnownResults known;
  if (auto read = read_results(results_path, known); !read.ok()) return std::move(read).error();
  for (std::size_t i = 0; i < campaign.runs.size(); ++i) {
    if (!campaign.shard.takes(i)) continue;
    auto read = read_result_of_shard(result_file(folder, campaign.runs[i]), known);
    if (!read.ok()) return std::move(read).error();
  }
  if (all) {
    auto written = rewrite_results(campaign, results_path, known);
    if (!written.ok()) return std::move(written).error();
  }

  auto ran = Cells(campaign, folder, std::move(known), stop, listener).run();
  if (!ran.ok() || !all) return ran;  // who joins the shards writes the summary
  if (auto written = write_summary(*ran, folder); !written.ok()) return std::move(written).error();
  return ran;
}

int exit_code(const CampaignSummary& summary) {
  const bool nothing = summary.results.empty() && summary.left > 0;
  int code = summary.interrupted || nothing ? 2 : 0;
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
