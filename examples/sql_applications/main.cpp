// How often assertions fail: a table of one level, an application's runs with seeds 0, 1 …
//
//   sql_applications --application tpcc --level causal --sessions 3 --runs 100
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <exception>

#include "application.hpp"

namespace {

using namespace cupel::applications;
namespace mock = cupel::mock;

std::unique_ptr<Application> named(const std::string& name, const TpccScale& scale) {
  if (name == "tpcc") return tpcc(scale);
  if (name == "smallbank") return smallbank();
  if (name == "voter") return voter();
  return wikipedia(name == "wikipedia" ? Numbers::kGreatest : Numbers::kSerial);
}

void run_and_print(Application& application, const RunOptions& first, int runs) {
  std::vector<int> failed(application.assertions().size());
  Outcome sum;
  for (int i = 0; i < runs; ++i) {
    RunOptions options = first;
    options.seed += static_cast<std::uint64_t>(i);
    const auto outcome = run(application, options);
    for (std::size_t a = 0; a < failed.size(); ++a) failed[a] += outcome.violated[a] ? 1 : 0;
    sum.committed += outcome.committed;
    sum.rolled_back += outcome.rolled_back;
    sum.refused += outcome.refused;
    sum.conflicts += outcome.conflicts;
    sum.given_up += outcome.given_up;
    if (sum.first_refusal.empty()) sum.first_refusal = outcome.first_refusal;
  }
  fmt::print("{}, {}, {} sessions, {} transactions, {} runs\n", application.name(),
             mock::name(first.level), first.sessions, first.transactions, runs);
  for (std::size_t a = 0; a < failed.size(); ++a) {
    fmt::print("{:4} {:5.1f} %  {}\n", application.assertions()[a].name, 100.0 * failed[a] / runs,
               application.assertions()[a].words);
  }
  fmt::print(
      "a run: {:.1f} committed, {:.1f} rolled back, {:.1f} refused, {:.1f} conflicts, {:.1f} given "
      "up\n",
      1.0 * sum.committed / runs, 1.0 * sum.rolled_back / runs, 1.0 * sum.refused / runs,
      1.0 * sum.conflicts / runs, 1.0 * sum.given_up / runs);
  if (!sum.first_refusal.empty()) fmt::print("the first refused: {}\n", sum.first_refusal);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"How often the assertions of SQL applications fail on the mock store."};
  std::string application = "tpcc", level = "causal";
  RunOptions options;
  TpccScale scale;
  int runs = 100;
  app.add_option("--application", application)
      ->check(CLI::IsMember({"tpcc", "smallbank", "voter", "wikipedia", "wikipedia-serial"}));
  app.add_option("--level", level)->check([](const std::string& text) {
    return mock::level_of(text)
               ? std::string()
               : "found the level " + text + ", expected one of docs/reference/mock.md";
  });
  app.add_option("--sessions", options.sessions)->check(CLI::Range(1, 64));
  app.add_option("--transactions", options.transactions)->check(CLI::Range(1, 100000));
  app.add_option("--runs", runs)->check(CLI::Range(1, 1000000));
  app.add_option("--seed", options.seed);
  app.add_flag("--duplicates", scale.duplicates, "TPC-C: orders without primary keys");
  app.add_option("--lines-min", scale.lines_min, "TPC-C: lines of an order")
      ->check(CLI::Range(1, 99));
  app.add_option("--lines-max", scale.lines_max)->check(CLI::Range(1, 99));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 3;
  }
  options.level = *mock::level_of(level);
  if (scale.lines_min > scale.lines_max) {
    fmt::print(stderr, "found --lines-min above --lines-max, expected it below\n");
    return 3;
  }
  try {
    run_and_print(*named(application, scale), options, runs);
  } catch (const Refused& refused) {
    fmt::print(stderr, "the database refused: {} {}\n", refused.sqlstate, refused.message);
    return 3;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 3;
  }
}
