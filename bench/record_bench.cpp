// record_bench: what recording costs, in two parts.
//
//   record_bench [--runs N] [--tiny] [--without-servers] [--only SQLite]
//
// 1. An operation: processor time of the thread that records it, and of the whole
//    process (with the thread that writes the file), for integers and for short text
//    keys, on one thread and on eight. To be under a microsecond.
// 2. Throughput: the transactions of a workload through run::run, recorded to a file,
//    against the same transactions in a bare loop over drivers::Connection, with the
//    same threads, which connects, fills in values and executes, and does nothing
//    else: whatever the runner does besides counts as recording. In turn, on the same
//    tables; the cost is of each round, and its median and quartiles are printed, with
//    the processor time of this process a commit, which a busy machine changes less.
//    To be at most 10 %.
//
// Every recorded file is read back and its transactions and operations are counted
// before a time is printed.
#include <fmt/format.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cupel/record.hpp"
#include "data/formats/formats.hpp"
#include "databases/drivers/driver.hpp"
#ifdef CUPEL_LAB
#include "databases/lab/server.hpp"
#endif
#include "run/run.hpp"

namespace {

using namespace cupel;
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

[[noreturn]] void stop(const std::string& why) {
  fmt::print(stderr, "record_bench: {}; no time is printed\n", why);
  std::exit(1);
}

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double process_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "cupel-bench-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) stop("no temporary folder");
    path = pattern;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  std::string path;
};

struct Settings {
  int runs = 21;  // odd
  bool tiny = false, servers = true;
  std::string only;  // loads whose name has this in it, and no operations
};

void expect_history(const std::string& path, std::uint64_t committed, std::uint64_t ops) {
  const auto history = formats::read(path);
  if (!history) stop(history.error().to_string());
  std::uint64_t there = 0;
  for (std::uint32_t t = 0; t < history->txn_count(); ++t) {
    there += history->status(history::TxnId(t)) == history::TxnStatus::kCommitted;
  }
  if (there != committed) {
    stop(fmt::format("{} transactions committed, {} are in the history", committed, there));
  }
  if (ops > 0 && history->op_count() != ops) {
    stop(fmt::format("{} operations were recorded, {} are in the history", ops,
                     history->op_count()));
  }
}

// ---- An operation.

constexpr std::uint64_t kOpsPerTxn = 6;

// Transactions of three reads and three writes, begin and outcome included.
void record(Recorder& recorder, bool text, std::uint64_t txns) {
  std::vector<Scalar> keys;
  for (int k = 0; k < 64; ++k) {
    keys.push_back(text ? Scalar(fmt::format("account:{}", k)) : Scalar(std::int64_t{k}));
  }
  auto session = recorder.session();
  for (std::uint64_t t = 0; t < txns; ++t) {
    session.begin();
    for (std::uint64_t i = 0; i < kOpsPerTxn / 2; ++i) {
      const auto& key = keys[(t * 7 + i) % keys.size()];
      session.read(key, static_cast<std::int64_t>(t));
      session.write(key, recorder.unique_id());
    }
    session.committing();
    session.committed();
  }
}

struct Cost {
  double thread_ns, process_ns;  // an operation
};
Cost cost(bool text, unsigned threads, std::uint64_t txns, bool look) {
  const Folder folder;
  const auto path = folder.path + "/history.jsonl";
  std::string error;
  const auto recorder = Recorder::open(path, {}, error);
  if (!recorder) stop(error);
  std::vector<double> seconds(threads);
  std::vector<std::thread> clients;
  const auto before = process_seconds();
  for (unsigned i = 0; i < threads; ++i) {
    clients.emplace_back([&, i] {
      const auto begin = thread_seconds();
      record(*recorder, text, txns);
      seconds[i] = thread_seconds() - begin;
    });
  }
  for (auto& client : clients) client.join();
  if (!recorder->close(error)) stop(error);
  const auto all = process_seconds() - before;
  const auto ops = static_cast<double>(threads * txns * kOpsPerTxn);
  if (look) expect_history(path, threads * txns, threads * txns * kOpsPerTxn);
  double sum = 0;
  for (const auto one : seconds) sum += one;
  return {.thread_ns = 1e9 * sum / ops, .process_ns = 1e9 * all / ops};
}

void operations(const Settings& settings) {
  fmt::print(
      "| an operation on | threads | its thread, ns | the process, ns |\n"
      "|---|---:|---:|---:|\n");
  const std::uint64_t txns = settings.tiny ? 500 : 40'000;
  for (const bool text : {false, true}) {
    for (const unsigned threads : {1U, 8U}) {
      std::vector<double> thread_ns, process_ns;
      for (int i = 0; i < settings.runs; ++i) {
        const auto one = cost(text, threads, txns / threads, i == 0);
        thread_ns.push_back(one.thread_ns);
        process_ns.push_back(one.process_ns);
      }
      fmt::print("| {} | {} | {:.0f} | {:.0f} |\n", text ? "short text keys" : "integer keys",
                 threads, median(thread_ns), median(process_ns));
    }
  }
}

// ---- Throughput.

struct Load {
  std::string name, url, isolation;
  std::uint32_t sessions;
  std::uint64_t txns;  // of a session
};

std::unique_ptr<workload::Workload> make(const Load& load, std::uint64_t seed) {
  // Many keys: conflicts are chance, and would be noise here.
  auto workload = workload::make_workload(
      "general", {.sessions = load.sessions, .keys = 100'000, .seed = seed});
  if (!workload) stop(workload.error().message);
  return *std::move(workload);
}

struct Measured {
  double seconds = 0, cpu_seconds = 0;  // of this process
  std::uint64_t committed = 0, aborted = 0;

  [[nodiscard]] double rate() const { return static_cast<double>(committed) / seconds; }
  [[nodiscard]] double cpu_us() const { return 1e6 * cpu_seconds / static_cast<double>(committed); }
};

Measured sum(const std::array<Measured, 2>& both) {
  Measured sum = both[0];
  sum.seconds += both[1].seconds;
  sum.cpu_seconds += both[1].cpu_seconds;
  sum.committed += both[1].committed;
  sum.aborted += both[1].aborted;
  return sum;
}

// The values that the runner gives: new, and the session's own.
void fill_in(std::vector<workload::Statement>& statements, std::uint64_t& writes,
             std::uint32_t session, std::uint32_t sessions) {
  for (auto& statement : statements) {
    for (auto& value : statement.values) {
      if (value != workload::Datum{}) continue;
      value = static_cast<std::int64_t>(writes++ * sessions + session + 1);
    }
  }
}

Measured bare(drivers::Database& database, const Load& load, std::uint64_t seed) {
  const auto workload = make(load, seed);
  std::atomic<std::uint64_t> committed = 0, aborted = 0;
  std::vector<std::thread> threads;
  const auto cpu = process_seconds();
  const auto begin = Clock::now();
  for (std::uint32_t s = 0; s < load.sessions; ++s) {
    threads.emplace_back([&, s] {
      auto connection = database.connect(s);
      if (!connection) stop(connection.error().message);
      std::uint64_t writes = 0, well = 0;
      std::vector<workload::Reply> replies;
      for (std::uint64_t t = 0; t < load.txns; ++t) {
        auto job = workload->next(s);
        if (!job) stop("the workload ended early");
        fill_in(job->statements, writes, s, load.sessions);
        if (!(*connection)->transact(job->statements, replies)) ++well;
      }
      committed += well;
      aborted += load.txns - well;
    });
  }
  for (auto& thread : threads) thread.join();
  return {.seconds = seconds_since(begin),
          .cpu_seconds = process_seconds() - cpu,
          .committed = committed,
          .aborted = aborted};
}

// Until the file is complete.
Measured recorded(drivers::Database& database, const Load& load, std::uint64_t seed,
                  const std::string& path) {
  const auto workload = make(load, seed);
  std::string error;
  const std::atomic<bool> never = false;
  run::Progress progress;
  const auto cpu = process_seconds();
  const auto begin = Clock::now();
  auto recorder = Recorder::open(path, {.default_initial = workload->default_initial()}, error);
  if (!recorder) stop(error);
  const auto result =
      run::run({database, *workload, *recorder},
               {.sessions = load.sessions, .txns = load.txns, .seed = seed}, {}, never, progress);
  if (!recorder->close(error)) stop(error);
  Measured measured{.seconds = seconds_since(begin), .cpu_seconds = process_seconds() - cpu};
  if (!result) stop(result.error().message);
  measured.committed = result->committed;
  measured.aborted = result->aborted;
  if (result->unknown > 0) stop("a transaction's outcome is unknown");
  return measured;
}

void throughput(const Load& load, const Settings& settings) {
  if (load.name.find(settings.only) == std::string::npos) return;
  auto database = drivers::open(load.url, {.isolation = load.isolation});
  if (!database) stop(database.error().message);
  if (const auto made = (*database)->prepare(*make(load, 1)); !made) stop(made.error().message);
  std::vector<double> bare_rate, recorded_rate, lost, bare_cpu, recorded_cpu;
  std::uint64_t aborted = 0, all = 0;
  // The first round warms up. Who comes second finds the keys in the caches, so each
  // round has both orders.
  for (int i = settings.tiny ? 1 : 0; i <= settings.runs; ++i) {
    const auto seed = 2 * static_cast<std::uint64_t>(i) + 1;
    const Folder folder;
    const std::array<std::string, 2> paths{folder.path + "/0.jsonl", folder.path + "/1.jsonl"};
    std::array<Measured, 2> without, with;
    without[0] = bare(**database, load, seed);
    with[0] = recorded(**database, load, seed, paths[0]);
    with[1] = recorded(**database, load, seed + 1, paths[1]);
    without[1] = bare(**database, load, seed + 1);
    for (int k = 0; k < 2; ++k) expect_history(paths[k], with[k].committed, 0);
    const auto bare_sum = sum(without), recorded_sum = sum(with);
    if (bare_sum.committed == 0 || recorded_sum.committed == 0) stop("nothing was committed");
    if (i == 0) continue;
    bare_rate.push_back(bare_sum.rate());
    recorded_rate.push_back(recorded_sum.rate());
    lost.push_back(100 * (1 - recorded_sum.rate() / bare_sum.rate()));
    bare_cpu.push_back(bare_sum.cpu_us());
    recorded_cpu.push_back(recorded_sum.cpu_us());
    aborted += bare_sum.aborted + recorded_sum.aborted;
    all += 4 * load.sessions * load.txns;
  }
  (*database)->clean();
  auto sorted = lost;
  std::sort(sorted.begin(), sorted.end());
  fmt::print(
      "| {} | {} | {:.0f} | {:.0f} | {:.1f} % | {:.1f} to {:.1f} % | {:.0f} | {:.0f} | {:.1f} % "
      "|\n",
      load.name, load.sessions, median(bare_rate), median(recorded_rate), median(lost),
      sorted[sorted.size() / 4], sorted[sorted.size() * 3 / 4], median(bare_cpu),
      median(recorded_cpu), 100 * static_cast<double>(aborted) / static_cast<double>(all));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--runs") == 0 && i + 1 < argc && std::atoi(argv[i + 1]) > 0) {
      settings.runs = std::atoi(argv[++i]);
    } else if (std::strcmp(argv[i], "--tiny") == 0) {
      settings.tiny = true;
      settings.runs = 1;
    } else if (std::strcmp(argv[i], "--without-servers") == 0) {
      settings.servers = false;
    } else if (std::strcmp(argv[i], "--only") == 0 && i + 1 < argc) {
      settings.only = argv[++i];
    } else {
      fmt::print(stderr,
                 "usage: record_bench [--runs N] [--tiny] [--without-servers] [--only LOAD]\n");
      return 3;
    }
  }
  utsname machine{};
  uname(&machine);
  fmt::print("{} {}, {} hardware threads, g++ {}, medians of {}\n\n", machine.sysname,
             machine.machine, std::thread::hardware_concurrency(), __VERSION__, settings.runs);
  if (settings.only.empty()) operations(settings);

  fmt::print(
      "\n| database | sessions | bare, commits/s | recorded | cost | half of the rounds | bare, "
      "µs of processor a commit | recorded | aborted |\n"
      "|---|---:|---:|---:|---:|---|---:|---:|---:|\n");
  const Folder folder;
  // No waiting for a disk, whose moods would hide what is measured.
  const auto sqlite = "sqlite:" + folder.path + "/bench.sqlite?synchronous=off";
  const std::uint64_t share = settings.tiny ? 50 : 1;
  throughput({"SQLite, alone", sqlite, "", 1, 10'000 / share}, settings);
  throughput({"SQLite", sqlite, "", 8, 1'250 / share}, settings);
#ifdef CUPEL_LAB
  if (settings.servers) {
    auto server = lab::start(lab::Kind::kPostgres, {.durable = false});
    if (!server) stop(server.error().to_string());
    for (const auto* isolation : {"repeatable-read", "serializable"}) {
      for (const std::uint32_t sessions : {1U, 8U}) {
        throughput({fmt::format("PostgreSQL, {}", isolation), server->url(), isolation, sessions,
                    2'000 / sessions / share},
                   settings);
      }
    }
  }
#endif
}
