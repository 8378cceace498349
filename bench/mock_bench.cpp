// How long a read of the mock store takes on a history of some length.
//
//   mock_bench [--tiny] [TRANSACTIONS] [LEVEL]
//   mock_bench --large [KEYS] [LEVEL]
//   mock_bench [--tiny] [TRANSACTIONS] mixed
//
// For each level, workload and number of sessions: builds a history of TRANSACTIONS
// (10,000) transactions with uniform choices, sessions in a random order, and takes the
// time of the reads among the last tenth of them. The history is checked at the level
// before a time is printed. --tiny: a short history, for the tests. --large: how long one
// transaction takes that reads and writes KEYS (4,000) keys, which another wrote, and half and a
// quarter of that: the time of an operation should stay the same. mixed: each transaction at one of
// several levels at random, checked at the weakest of them.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "base/random.hpp"
#include "engine/check/check.hpp"
#include "engine/mock/store.hpp"

namespace {

using namespace cupel;
using Clock = std::chrono::steady_clock;

struct Workload {
  const char* name;
  int keys;
  double writes;  // share of the operations
};
constexpr Workload kWorkloads[] = {
    {"hot-keys", 10, 0.5},
    {"many-keys", 10'000, 0.5},
    {"read-mostly", 200, 0.1},
    {"write-heavy", 200, 0.8},
};
constexpr mock::Level kLevels[] = {mock::Level::kReadCommitted,
                                   mock::Level::kReadAtomic,
                                   mock::Level::kCausal,
                                   mock::Level::kPrefix,
                                   mock::Level::kStrongSessionSnapshotIsolation,
                                   mock::Level::kStrongSessionSerializable};

// Each transaction is at one of the levels; the first is the weakest.
bool measure(const std::string& name, const std::vector<mock::Level>& levels,
             const Workload& workload, int sessions, int transactions) {
  const auto level = levels.front();
  mock::Options options;
  options.level = level;
  options.seed = 1;
  mock::Store store(options);
  base::Random random(2);
  std::vector<std::uint32_t> ids;
  for (int s = 0; s < sessions; ++s) ids.push_back(store.open_session(std::to_string(s)));
  std::vector<double> times;
  int conflicts = 0;
  std::int64_t value = 0;
  const auto start = Clock::now();
  for (int t = 0; t < transactions; ++t) {
    const auto session = ids[random.below(ids.size())];
    const auto of_txn = levels.size() > 1 ? levels[random.below(levels.size())] : level;
    const auto txn = store.begin(session, {.level = of_txn, .policy = {}});
    bool alive = true;
    std::vector<std::string> written;  // reads of these are no choice and not timed
    for (int i = 0; i < 8 && alive; ++i) {
      const auto key = "k" + std::to_string(random.below(workload.keys));
      if (random.chance(workload.writes)) {
        written.push_back(key);
        alive = txn->write(key, mock::Value::of(++value));
        continue;
      }
      const auto before = Clock::now();
      txn->read(key);
      const std::chrono::duration<double, std::micro> took = Clock::now() - before;
      const bool own = std::find(written.begin(), written.end(), key) != written.end();
      if (!own && t >= transactions - transactions / 10) times.push_back(took.count());
    }
    conflicts += !alive || !txn->commit();
  }
  const double total = std::chrono::duration<double>(Clock::now() - start).count();
  check::Options asked;
  asked.asked = {*levels::parse_level(mock::name(level))};
  asked.timeout_seconds = 60;
  const auto verdict = check::check(*store.history(), asked).levels[0].verdict;
  if (verdict != check::Verdict::kSatisfied) {
    fmt::print("{} {} {}: the history is {} at the level\n", name, workload.name, sessions,
               check::to_string(verdict));
    return false;
  }
  std::sort(times.begin(), times.end());
  fmt::print(
      "{:<36} {:<12} {:>3} sessions  median {:>9.1f} µs  99 % {:>9.1f} µs  max {:>9.1f} µs  "
      "conflicts {:>5}  {:.2f} s\n",
      name, workload.name, sessions, times[times.size() / 2], times[times.size() * 99 / 100],
      times.back(), conflicts, total);
  std::fflush(stdout);
  return true;
}

// Seconds for a transaction that reads and writes this many keys.
double large(mock::Level level, int keys) {
  mock::Options options;
  options.level = level;
  mock::Store store(options);
  const auto writer = store.open_session("writer"), other = store.open_session("other");
  std::vector<std::string> names;
  for (int k = 0; k < keys; ++k) names.push_back("k" + std::to_string(k));
  const auto first = store.begin(writer);
  for (const auto& name : names) first->write(name, mock::Value::of(std::int64_t{1}));
  first->commit();
  const auto start = Clock::now();
  const auto second = store.begin(other);
  for (const auto& name : names) {
    const auto value = second->read(name);
    second->write(name, mock::Value::of(value->integer + 2));
  }
  second->commit();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void measure_large(mock::Level level, int keys) {
  fmt::print("{:<36}", mock::name(level));
  for (const int some : {keys / 4, keys / 2, keys}) {
    fmt::print("  {:>6} keys {:>8.1f} ms", some, 1000 * large(level, some));
  }
  fmt::print("\n");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  int transactions = 10'000;
  int keys = 4'000;
  bool tiny = false, of_large = false;
  std::string only;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--tiny") == 0) {
      tiny = true;
    } else if (std::strcmp(argv[i], "--large") == 0) {
      of_large = true;
    } else if (argv[i][0] >= '0' && argv[i][0] <= '9') {
      (of_large ? keys : transactions) = std::atoi(argv[i]);
    } else {
      only = argv[i];
    }
  }
  if (of_large || tiny) {
    for (const auto level : kLevels) {
      if (only.empty() || mock::name(level) == only) measure_large(level, tiny ? 100 : keys);
    }
    if (of_large) return 0;
  }
  if (tiny) transactions = 300;
  fmt::print("{} transactions of 8 operations, uniform choices, {} processors, seeds 1 and 2\n",
             transactions, std::thread::hardware_concurrency());
  bool good = true;
  for (const auto level : kLevels) {
    if (!only.empty() && mock::name(level) != only) continue;
    for (const auto& workload : kWorkloads) {
      for (const int sessions : {3, 10, 50}) {
        if (tiny && sessions == 50) continue;
        good = measure(std::string(mock::name(level)), {level}, workload, sessions, transactions) &&
               good;
      }
    }
  }
  using enum mock::Level;
  const std::pair<const char*, std::vector<mock::Level>> mixtures[] = {
      {"causal to serializable",
       {kCausal, kPrefix, kStrongSessionSnapshotIsolation, kStrongSessionSerializable}},
      {"read-committed and serializable", {kReadCommitted, kStrongSessionSerializable}}};
  for (const auto& [name, levels] : mixtures) {
    if (!only.empty() && only != "mixed") continue;
    for (const auto& workload : kWorkloads) {
      for (const int sessions : {3, 10, 50}) {
        if (tiny && sessions != 10) continue;
        good = measure(name, levels, workload, sessions, transactions) && good;
      }
    }
  }
  return good ? 0 : 1;
}
