// merge_campaigns: the results of shards, or of several campaigns, as one table.
#include <filesystem>
#include <set>
#include <system_error>

#include "base/folder.hpp"
#include "base/write_file.hpp"
#include "run/campaign.hpp"
#include "run/campaign_results.hpp"

namespace cupel::run {

namespace {

namespace fs = std::filesystem;

constexpr const char* kFolderInUse = "a campaign is running in this folder; wait until it ends";

// The runs of all plans, each once, in the order of the first plan that has them.
base::Result<Campaign> joined_plans(const std::vector<std::string>& folders) {
  Campaign joined;
  std::set<std::string> there;
  for (const auto& folder : folders) {
    auto plan = read_campaign_plan(folder);
    if (!plan.ok()) return plan;
    if (!joined.runs.empty() && plan->stop != joined.stop) {
      return base::Error{.message =
                             "found another `stop` in this campaign than in the one before; "
                             "expected campaigns that end by the same rule",
                         .file = folder};
    }
    joined.stop = plan->stop;
    for (auto& run : plan->runs) {
      if (there.insert(run.identity).second) joined.runs.push_back(std::move(run));
    }
  }
  return joined;
}

base::Status read_all(const std::string& folder, KnownResults& known) {
  KnownResults own;
  if (auto read = read_results(folder + "/results.jsonl", own); !read.ok()) return read;
  const auto runs = folder + "/runs";
  std::error_code none;
  if (fs::is_directory(runs, none)) {
    const auto names = base::names_in_folder(runs);
    if (!names) return base::Error{.message = "cannot read the folder", .file = runs};
    for (const auto& name : *names) {
      if (!name.ends_with(".json")) continue;
      if (auto read = read_result_of_shard(runs + "/" + name, own); !read.ok()) return read;
    }
  }
  for (auto& [identity, result] : own) {
    const auto before = known.find(identity);
    if (before != known.end() && before->second.verdict != "error") continue;
    known.insert_or_assign(identity, std::move(result));
  }
  return base::Ok{};
}

// The runs as one process would have made them: what a violation ends is not there.
CampaignSummary in_order(const Campaign& campaign, const KnownResults& known) {
  CampaignSummary summary;
  std::set<std::string> ended;
  for (const auto& run : campaign.runs) {
    if (ended.contains(cell_of(run))) continue;
    const auto it = known.find(run.identity);
    if (it == known.end()) {
      ++summary.left;
      continue;
    }
    ++summary.resumed;
    summary.results.push_back(it->second);
    if (it->second.verdict != "violated") continue;
    if (campaign.stop == StopAt::kFirst) break;
    if (campaign.stop == StopAt::kEach) ended.insert(cell_of(run));
  }
  return summary;
}

// A link where the file system has them, else a copy.
base::Status bring(const fs::path& from, const fs::path& to) {
  std::error_code failed;
  if (!fs::exists(from, failed) || fs::equivalent(from, to, failed)) return base::Ok{};
  fs::remove_all(to, failed);
  if (fs::is_directory(from, failed)) {
    fs::copy(from, to, fs::copy_options::recursive, failed);
  } else {
    fs::create_hard_link(from, to, failed);
    if (failed) fs::copy_file(from, to, failed);
  }
  if (!failed) return base::Ok{};
  return base::Error{.message = "cannot be copied: " + failed.message(), .file = from.string()};
}

base::Status bring_histories(const CampaignSummary& summary,
                             const std::vector<std::string>& folders, const std::string& into) {
  for (const auto& result : summary.results) {
    if (result.history.empty()) continue;
    bool found = false;
    for (const auto& folder : folders) {
      const auto history = folder + "/" + result.history;
      std::error_code none;
      if (!fs::exists(history, none)) continue;
      found = true;
      const auto to = into + "/" + result.history;
      for (const auto& [source, target] :
           {std::pair(history, to), std::pair(logs_of(history), logs_of(to)),
            std::pair(faults_file_of(history), faults_file_of(to))}) {
        if (auto brought = bring(source, target); !brought.ok()) return brought;
      }
      break;
    }
    if (!found) {
      return base::Error{
          .message = "found no such history in the folders, though a result names it",
          .file = result.history};
    }
  }
  return base::Ok{};
}

}  // namespace

bool is_campaign_folder(const std::string& folder) {
  std::error_code none;
  return fs::is_regular_file(folder + "/plan.json", none) ||
         fs::is_regular_file(folder + "/results.jsonl", none);
}

base::Result<CampaignSummary> merge_campaigns(const std::vector<std::string>& folders,
                                              const std::string& into) {
  std::error_code failed;
  fs::create_directories(into, failed);
  if (failed) {
    return base::Error{.message = "cannot make the folder: " + failed.message(), .file = into};
  }
  const auto own = Lock::take(into, Lock::Kind::kOnly, kFolderInUse);
  if (!own.ok()) return own.error();
  const auto plan = joined_plans(folders);
  if (!plan.ok()) return plan.error();
  KnownResults known;
  std::vector<Lock> locks;
  for (const auto& folder : folders) {
    if (!fs::equivalent(folder, into, failed)) {
      auto lock = Lock::take(folder, Lock::Kind::kOnly, kFolderInUse);
      if (!lock.ok()) return lock.error();
      locks.push_back(std::move(lock).value());
    }
    if (auto read = read_all(folder, known); !read.ok()) return std::move(read).error();
  }
  auto summary = in_order(*plan, known);
  std::string lines;
  for (const auto& run : plan->runs) {
    const auto it = known.find(run.identity);
    if (it != known.end()) lines += result_line(it->second) + '\n';
  }
  auto done = bring_histories(summary, folders, into);
  if (done.ok()) done = base::replace_file(into + "/results.jsonl", lines);
  if (done.ok()) done = write_plan(*plan, into);
  if (done.ok()) done = write_summary(summary, into);
  if (!done.ok()) return std::move(done).error();
  return summary;
}

}  // namespace cupel::run
