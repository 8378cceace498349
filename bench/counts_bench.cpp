// What counting the anomalies of a whole history costs beside checking it.
//
//   counts_bench [--txns N] [--keys N] [--shape register|mini] [--runs N]
//
// Generates a history of 20 sessions at snapshot isolation with one anomaly of each
// kind injected twice, checks that the counts are right, and prints CPU seconds of this
// process for the check of one level, the counts and the search for more causes.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "data/workload/generate.hpp"
#include "engine/check/check.hpp"
#include "engine/explain/counts/whole_history.hpp"

namespace {

double cpu_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

template <typename Work>
double timed(const Work& work) {
  const double begin = cpu_seconds();
  work();
  return cpu_seconds() - begin;
}

}  // namespace

int main(int argc, char** argv) {
  cupel::workload::GenerateOptions options;
  options.sessions = 20;
  options.min_ops = options.max_ops = 15;
  options.keys = 1000;
  std::uint32_t txns = 2000;
  int runs = 1;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view flag = argv[i];
    if (flag == "--txns") txns = static_cast<std::uint32_t>(std::atoi(argv[i + 1]));
    if (flag == "--keys") options.keys = static_cast<std::uint64_t>(std::atoll(argv[i + 1]));
    if (flag == "--shape") options.shape = *cupel::workload::parse_shape(argv[i + 1]);
    if (flag == "--runs") runs = std::atoi(argv[i + 1]);
  }
  options.txns_per_session = txns / options.sessions;
  for (const char* injected : {"lost-update", "lost-update", "causality-violation"}) {
    options.inject.emplace_back(injected);
  }
  const auto history = cupel::workload::generate(options);
  if (!history.ok()) {
    fmt::print(stderr, "{}\n", history.error().to_string());
    return 1;
  }
  double check = 1e9, count = 1e9, causes = 1e9;
  for (int run = 0; run < runs; ++run) {
    cupel::check::CheckResult result;
    const cupel::check::Options asked{
        .asked = {cupel::levels::Level::kStrongSessionSnapshotIsolation}, .threads = 1};
    check = std::min(check, timed([&] { result = cupel::check::check(*history, asked); }));
    cupel::base::Budget budget;
    count = std::min(count, timed([&] {
                       const cupel::counts::AnomalyCounts found(
                           *history, budget, {.accesses = result.accesses, .threads = 1});
                       for (const auto& one : found.counts()) {
                         const bool right = (one.name == "lost-update" && one.count == 2) ||
                                            (one.name == "causality-violation" && one.count == 1) ||
                                            one.name == "write-skew";
                         if (right) continue;
                         fmt::print(stderr, "found {} {}, which was not injected\n", one.count,
                                    one.name);
                         std::exit(1);
                       }
                       if (found.counts().size() < 2 || !found.finished()) std::exit(1);
                     }));
    const double both =
        timed([&] { (void)cupel::counts::analyze_history(*history, result, asked, budget); });
    causes = std::min(causes, both - count);
  }
  fmt::print(
      "{} transactions, {} operations: check {:.2f} s, counts {:.2f} s, more causes {:.2f} s\n",
      history->txn_count(), history->op_count(), check, count, std::max(causes, 0.0));
  return 0;
}
