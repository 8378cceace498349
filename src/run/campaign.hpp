// campaign: a matrix of databases × isolation levels × faults × workloads × seeds, checked
// run by run, and a table of which anomalies were seen where, in the manner of
// Hermitage (github.com/ept/hermitage).
//
// The file (docs/reference/campaign.md):
//   {"databases": [{"name": "PostgreSQL", "url": "postgres://…", "isolations": ["read-committed",
//   …]}],
//    "workloads": ["general", {"workload": "mini", "keys": 20}],
//    "faults": ["none", "partition,kill"],
//    "seeds": 10, "sessions": 10, "txns": 100, …, "stop": "each", "budget": 600}
//
// A folder keeps what came out: results.jsonl, a line a run, which makes the
// campaign resumable; summary.md and summary.json; the histories that violate
// what was asked; of each cell with an anomaly the history and the page of the first run.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/shard.hpp"
#include "run/run_and_check.hpp"

namespace cupel::run {

enum class StopAt : std::uint8_t {
  kEach,   // a violation of what was asked ends its database, level and workload
  kFirst,  // … ends the campaign
  kNever,  // every seed is run
};

struct CampaignRun {
  std::string database;   // the column's name
  std::string isolation;  // as the driver spells it; never empty
  std::string workload;   // a name that is unique among the workloads of the file
  std::string faults;     // the same of its faults; empty: none
  RunAndCheckOptions options;
  std::string identity;  // of everything that decides it: what results are kept under
};

struct Campaign {
  std::vector<CampaignRun> runs;  // seed by seed over the whole matrix, so that a budget that
                                  // ends early has seen all of it
  StopAt stop = StopAt::kEach;
  double budget = 0;       // seconds; 0: none
  std::uint32_t jobs = 1;  // runs at the same time
  // Which of the runs are made, by their places in the list. Shards share a folder, and may be
  // made at the same time, on different machines, and again.
  base::Shard shard = {};
};

// What is known of a finished run; a line of results.jsonl.
struct CampaignResult {
  std::string identity, database, isolation, workload, faults, product;
  std::uint64_t seed = 0;
  std::string asked, verdict;   // the level, and "satisfied", "violated", "unknown" or "error"
  std::string error;            // why, for "error" and "unknown": a sentence
  bool without_faults = false;  // none of `faults` is possible here, and they are optional
  std::vector<std::string> anomalies;  // names, of every violated level, sorted
  std::vector<std::string> strongest_satisfied;
  std::uint64_t committed = 0, aborted = 0, unknown = 0;
  double seconds = 0;
  std::string history;  // its file, if kept
};

struct CampaignSummary {
  std::vector<CampaignResult> results;
  std::size_t resumed = 0;   // of them, from an earlier time
  std::size_t left = 0;      // runs that the budget or Ctrl-C left out
  bool interrupted = false;  // Ctrl-C left some out: their verdicts are unknown
};

// Errors name the file and the place inside: "databases[0].url: found …, expected …".
base::Result<Campaign> read_campaign(const std::string& path);

// Runs what results.jsonl in `folder` does not have yet. A database that is not
// there is a result ("error"), not the end. `listener` hears of each run before
// and after it, one call at a time; with several jobs runs may end in another order.
struct CampaignListener {
  std::function<void(const CampaignRun&, std::size_t number, std::size_t of)> before;
  std::function<void(const CampaignResult&)> after;
};
base::Result<CampaignSummary> run_campaign(const Campaign& campaign, const std::string& folder,
                                           const std::atomic<bool>& stop,
                                           const CampaignListener& listener);

// Is this the folder of a campaign?
bool is_campaign_folder(const std::string& folder);
// The results of several folders, or of the shards that share one, as one campaign: in the order of
// their plans, a run that several have counted once, and without what a violation would have ended
// before it if one process had made all runs. `into` gets what run_campaign() leaves, kept
// histories included; it may be one of the folders. Errors: a folder without a plan, plans that do
// not end by the same rule, a campaign that still runs in one of them.
base::Result<CampaignSummary> merge_campaigns(const std::vector<std::string>& folders,
                                              const std::string& into);

// The table: rows anomalies, columns database and level, cells "seen N of M" or "not
// seen". Markdown, and one JSON object. For a terminal, a block of lines for each database and
// level.
std::string summary_markdown(const CampaignSummary& summary);
std::string summary_text(const CampaignSummary& summary);
std::string summary_json(const CampaignSummary& summary);

// As `cupel check` exits: 0, 1, 2, or 3 for errors; the largest. At least 2 if it was interrupted,
// and if no run was made.
int exit_code(const CampaignSummary& summary);

}  // namespace cupel::run
