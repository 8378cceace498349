// cupel campaign: a matrix of runs from one file, and its table.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <memory>

#include "apps/command.hpp"
#include "apps/emit.hpp"
#include "apps/interrupt.hpp"
#include "apps/options.hpp"
#include "apps/terminal.hpp"
#include "apps/version.hpp"
#include "base/visible.hpp"
#include "databases/drivers/url.hpp"
#include "databases/lab/namespaces.hpp"
#include "run/campaign.hpp"
#include "run/lab_url.hpp"

namespace cupel::apps {

namespace {

struct CampaignArguments {
  std::string file, folder, shard_text;
  base::Shard shard;
  std::uint32_t jobs = 1;
  bool json = false;
};

// A file of the user's that holds a password, and that others can read.
void warn_of_passwords(const std::string& file, const run::Campaign& campaign) {
  struct stat facts = {};
  const bool holds = std::any_of(campaign.runs.begin(), campaign.runs.end(), [](const auto& run) {
    return drivers::without_password(run.options.url) != run.options.url;
  });
  if (!holds || stat(file.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) return;
  if ((facts.st_mode & (S_IRGRP | S_IROTH)) == 0) return;
  print_error(
      fmt::format("warning: {} holds a password, and other users can read it; to prevent "
                  "it: chmod 600 {}",
                  base::visible(file), base::visible(shell_word(file))));
}

int campaign(const CampaignArguments& arguments) {
  auto campaign = run::read_campaign(arguments.file);
  if (!campaign.ok()) {
    print_error(campaign.error());
    return kBad;
  }
  warn_of_passwords(arguments.file, *campaign);
  for (auto& run : campaign->runs) run.options.recorded_by = fmt::format("cupel {}", version());
  campaign->jobs = arguments.jobs;
  campaign->shard = arguments.shard;
  std::map<std::string, std::string>
      begun;  // by identity: with several jobs lines wait for the end
  const run::CampaignListener listener{
      .before =
          [&](const run::CampaignRun& run, std::size_t number, std::size_t of) {
            const auto text = fmt::format("[{}/{}] {} {} {}{}, seed {}: ", number, of, run.database,
                                          run.isolation, run.workload,
                                          run.faults.empty() ? "" : ", faults " + run.faults,
                                          run.options.run.seed);
            if (arguments.jobs == 1) print_status(text);
            begun[run.identity] = text;
          },
      .after =
          [&](const run::CampaignResult& result) {
            std::string anomalies;
            for (const auto& name : result.anomalies) anomalies += " " + name;
            if (arguments.jobs > 1) print_status(begun[result.identity]);
            print_status(fmt::format("{} {}{}{}\n", result.asked, result.verdict,
                                     anomalies.empty() ? "" : ", seen:", anomalies));
            if (!result.error.empty()) print_status("    " + result.error + "\n");
            if (result.without_faults) {
              print_status("    none of these faults is possible here, so the run had none\n");
            }
          }};
  const bool servers =
      std::any_of(campaign->runs.begin(), campaign->runs.end(),
                  [](const auto& run) { return run::is_lab_url(run.options.url); });
  if (servers) lab::enter_namespaces();
  const Interruptible interruptible;
  const auto summary =
      run::run_campaign(*campaign, arguments.folder, interruptible.stopped(), listener);
  if (interruptible.stopped()) print_status("interrupted\n");
  if (!summary.ok()) {
    print_error(summary.error());
    return kBad;
  }
  arguments.json     ? print(run::summary_json(*summary))
  : output_columns() ? print_text(run::summary_text(*summary))
                     : print(run::summary_markdown(*summary));
  return run::exit_code(*summary);
}

}  // namespace

void add_campaign(Command& app, Run& run) {
  auto* command = add_command(app, "campaign");
  auto arguments = std::make_shared<CampaignArguments>();
  command
      ->add_option("FILE", arguments->file,
                   "The campaign, a JSON file (docs/reference/campaign.md)")
      ->required()
      ->type_name("");
  command
      ->add_option("-o,--output", arguments->folder,
                   "The folder for the results. Results of this campaign that it already contains "
                   "are kept; only the missing runs are made")
      ->required()
      ->check(not_standard_output("the folder to write to"))
      ->type_name("DIR");
  command
      ->add_option("-j,--jobs", arguments->jobs,
                   "Runs at the same time. Each with a database of its own: runs on one server "
                   "disturb each other's timing")
      ->type_name("N")
      ->capture_default_str()
      ->check(whole_number(1, 64));
  add_shard_option(*command, "runs", arguments->shard_text);
  command->add_flag("--json", arguments->json, "Print the summary as one JSON object");
  command->footer(
      "The folder gets results.jsonl, summary.md, summary.json, the histories that violate the\n"
      "requested level, and a history with its page for each anomaly of each column.\n"
      "Exit code: as `cupel check`, over all runs.\n"
      "\n"
      "Example, a file of one database and two levels:\n"
      "  {\"databases\": [{\"name\": \"PostgreSQL\", \"url\": \"postgres://me@127.0.0.1/test\",\n"
      "                  \"isolations\": [\"read-committed\", \"serializable\"]}],\n"
      "   \"workloads\": [\"general\", \"mini\", \"append\"], \"seeds\": 5, \"budget\": 600}");
  command->callback([arguments, &run] {
    arguments->shard = shard_of(arguments->shard_text);
    run = [arguments] { return campaign(*arguments); };
  });
}

}  // namespace cupel::apps
