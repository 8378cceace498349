// Campaign results: what the folder of a campaign keeps, for the campaign that makes it and for
// those who join several.
//
//   results.jsonl   a line a run, of a campaign that one process makes
//   runs/NAME.json  one run each, of shards: whoever makes the run writes this file, at once or
//                   not at all, so any number of machines share the folder and a repeated shard
//                   changes nothing
//   plan.json       all runs, in their order, and what ends them
//
// NAME, like that of a kept history, comes from all that decides the run.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "base/hash_table.hpp"
#include "base/result.hpp"
#include "run/campaign.hpp"

namespace cupel::run {

using KnownResults = base::HashMap<std::string, CampaignResult>;  // by identity

// One line, without its end.
std::string result_line(const CampaignResult& result);
// Adds those of a results.jsonl; there may be no such file. A last line without an end is what a
// crash left: it is not there.
base::Status read_results(const std::string& path, KnownResults& results);
// Adds that of a shard, if there is one.
base::Status read_result_of_shard(const std::string& path, KnownResults& results);

// The name of the history of a run, and of its result, without an ending.
std::string file_stem(const CampaignRun& run);
std::string result_file(const std::string& folder, const CampaignRun& run);
// What a violation ends under StopAt::kEach.
std::string cell_of(const CampaignRun& run);

// summary.md and summary.json.
base::Status write_summary(const CampaignSummary& summary, const std::string& folder);

// The plan of a campaign: its runs without their options, and what ends them.
base::Status write_plan(const Campaign& campaign, const std::string& folder);
base::Result<Campaign> read_campaign_plan(const std::string& folder);

// A file or a folder that one process holds while it runs, or several that share it. It goes with
// the process, however that ends.
class Lock {
 public:
  enum class Kind { kOnly, kShared };
  // `path`: a folder, or a file that is made. `busy`: the error if somebody else has it.
  static base::Result<Lock> take(const std::string& path, Kind kind, const std::string& busy);
  Lock(Lock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  Lock& operator=(Lock&&) = delete;
  ~Lock();

 private:
  explicit Lock(int file) : file_(file) {}
  int file_;
};

}  // namespace cupel::run
