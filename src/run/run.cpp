// Starts the sessions, watches the clock, runs the faults, adds up.
#include "run/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>

#include "base/text.hpp"
#include "engine/analysis/final_reads.hpp"
#include "report/wording.hpp"
#include "run/faults.hpp"
#include "run/faults/injector.hpp"
#include "run/final_reads.hpp"
#include "run/latencies.hpp"
#include "run/session.hpp"

namespace cupel::run {

namespace {

// A silence of so many seconds, and of this share of the run, is mentioned.
constexpr double kSilence = 2, kSilentShare = 0.2;

void add_up(const std::vector<std::unique_ptr<ClientSession>>& sessions, RunResult& result) {
  std::map<std::string, Latencies> latencies;
  Latencies all;
  for (const auto& session : sessions) {
    const auto& report = session->report();
    for (const auto& [job, tally] : report.jobs) {
      auto& stats = result.jobs[job];
      stats.committed += tally.committed;
      stats.aborted += tally.aborted;
      stats.given_up += tally.given_up;
      stats.unknown += tally.unknown;
      latencies[job].add(tally.latencies);
      all.add(tally.latencies);
    }
    for (const auto& [reason, count] : report.reasons) result.reasons[reason] += count;
    result.first_errors.insert(report.first_errors.begin(), report.first_errors.end());
    result.reconnects += report.reconnects;
    result.last_commit = std::max(result.last_commit, report.last_commit);
    if (report.ends_without_answer()) ++result.without_answer;
    if (!report.warning.empty()) result.warnings.push_back(report.warning);
  }
  for (auto& [job, stats] : result.jobs) {
    stats.p50_ms = latencies[job].percentile_ms(0.5);
    stats.p99_ms = latencies[job].percentile_ms(0.99);
    result.committed += stats.committed;
    result.aborted += stats.aborted;
    result.given_up += stats.given_up;
    result.unknown += stats.unknown;
  }
  result.p50_ms = all.percentile_ms(0.5);
  result.p99_ms = all.percentile_ms(0.99);
}

// A database that stopped answering long before the end: what was checked is the part before.
void note_silence(const RunOptions& options, RunResult& result) {
  if (result.committed == 0) return;  // nothing_committed() reports it
  // What the sessions still waited for after the time limit is not part of the load.
  const double end =
      options.time_limit > 0 ? std::min(result.seconds, options.time_limit) : result.seconds;
  const double silent = end - result.last_commit;
  const double between = options.rate > 0 ? 1 / options.rate : 0;
  if (silent < kSilence + 2 * between || silent < kSilentShare * end) return;
  result.warnings.push_back(
      fmt::format("nothing committed in the last {:.1f} s of {:.1f} s; the verdict is about the "
                  "time before",
                  silent, end));
}

// RunOptions::final_reads_if_needed.
bool may_have_lost_data(const std::vector<std::unique_ptr<ClientSession>>& sessions,
                        const RunResult& result) {
  return result.without_answer > 0 ||
         std::any_of(sessions.begin(), sessions.end(),
                     [](const auto& session) { return session->report().broke; });
}

// Some databases and clients have no code of their own for a missing privilege.
bool lacks_privilege(const std::string& words) {
  const auto text = base::to_lower(words);
  const auto has = [&](const char* part) { return text.find(part) != std::string::npos; };
  return has("permission denied") || has("access denied") || has("command denied") ||
         has("not authorized") || has("privilege") || has("noperm") || has("permissions violation");
}

// A remedy for the most frequent reason of the failures. `words`: the first of them.
std::string remedy(std::string_view reason, const std::string& words, const SettingNames& names) {
  if (lacks_privilege(words)) return "Give the user the privileges that this takes";
  const auto is = [&](drivers::Cause cause) { return reason.starts_with(name(cause)); };
  if (is(drivers::Cause::kConflict)) {
    return fmt::format("Use fewer sessions ({}) or more keys", names.sessions);
  }
  if (is(drivers::Cause::kTimeout)) {
    return fmt::format("Use fewer sessions ({}), or allow statements more time", names.sessions);
  }
  if (is(drivers::Cause::kConnection)) {
    return "See in the database's log why it closes connections or accepts no write";
  }
  if (is(drivers::Cause::kGone)) return "Let nothing drop the tables while the load runs";
  return "See in the database's log why it rejects them";
}

// A run that was meant to read from replicas and never did.
void note_reads(const RunOptions& options,
                const std::vector<std::unique_ptr<ClientSession>>& sessions, RunResult& result) {
  if (options.read_from != ReadFrom::kReplica && options.read_from != ReadFrom::kAny) return;
  for (const auto& session : sessions) {
    if (session->report().reads > 0) return;
  }
  result.warnings.push_back(
      fmt::format("{} {}: no transaction of the workload only reads, so all of them ran on the "
                  "primary",
                  options.names.read_from, name(options.read_from)));
}

// A run that was meant to have faults and had none.
void note_no_fault(const SettingNames& names, const FaultOptions& commands,
                   const faults::Injector* injector, RunResult& result) {
  const bool meant = !commands.fault.empty() || (injector != nullptr && injector->possible());
  if (!meant || result.faults + result.failed_faults > 0) return;
  result.warnings.push_back(
      fmt::format("no fault began: the load ended after {:.1f} s; see {} and {}", result.seconds,
                  names.time_limit, names.fault_every));
}

// Once all are healed.
void take_faults(faults::Injector& injector, RunResult& result) {
  injector.heal_all();
  result.faults += injector.count();
  result.failed_faults += injector.failed();
  result.fault_list = injector.done();
  const auto& warnings = injector.warnings();
  result.warnings.insert(result.warnings.end(), warnings.begin(), warnings.end());
  result.faults_left_out = !injector.possible();
}

// A connection that was cut for long tries again at ever longer intervals, up to about as long as
// it was cut.
FinalReadsOptions final_reads_after(double quiet, const FaultOptions& commands,
                                    const RunResult& result) {
  double longest = commands.fault.empty() ? 0 : commands.lasts;
  for (const auto& fault : result.fault_list) {
    longest = std::max(longest, fault.ended - fault.began);
  }
  constexpr double kLongest = 60;
  return {.quiet = quiet + 1.5 * longest, .longest = kLongest + quiet + 1.5 * longest};
}

// A check of the recording needs the facts.
void take_final_reads(const FinalReadsDone& done, Recorder& recorder, RunResult& result) {
  result.final_reads = true;
  result.warnings.insert(result.warnings.end(), done.warnings.begin(), done.warnings.end());
  result.final_reads_failed = done.failed;
  result.data_gone = done.gone;
  if (!done.gone.empty()) recorder.fact(analysis::kDataGone, done.gone);
  if (!done.failed.empty()) recorder.fact(analysis::kFinalReadsFailed, done.failed);
}

// After so many seconds. If the recorder failed, its close() will say why.
bool is_over(const RunOptions& options, double seconds, const Recorder& recorder) {
  if (options.time_limit > 0 && seconds >= options.time_limit) return true;
  return recorder.failed() || (options.enough != nullptr && *options.enough);
}

}  // namespace

std::string_view name(ReadFrom read_from) {
  switch (read_from) {
    case ReadFrom::kOwnHost:
      break;
    case ReadFrom::kPrimary:
      return "primary";
    case ReadFrom::kReplica:
      return "replica";
    case ReadFrom::kAny:
      return "any";
  }
  return {};
}

std::string unfit(const workload::Needs& needs, const workload::Needs& can) {
  if (needs.interactive && !can.interactive)
    return "transactions of several statements, one after the other";
  if (needs.multiple && !can.multiple && !can.interactive)
    return "transactions of several statements";
  if (needs.tables && !can.tables) return "tables of several columns";
  if (needs.ranges && !can.ranges) return "range reads";
  if (needs.deletes && !can.deletes) return "inserts and deletes";
  if (needs.lists && !can.lists) return "lists to append to";
  if (needs.compare_and_set && !can.compare_and_set) return "compare-and-set";
  // Where a transaction goes in one piece and its answer may be lost, nobody knows
  // which comparisons succeeded and which deletes found something, and a history that
  // guesses could accuse a correct database.
  if (needs.multiple && !can.interactive && (needs.compare_and_set || needs.deletes)) {
    return "to know what each compare-and-set and delete beside other statements did, also when "
           "the answer is lost";
  }
  return {};
}

std::string_view default_workload(const workload::Needs& can) {
  const auto all = workload::all_workloads();
  for (const auto& info : all) {
    const auto made = workload::make_workload(info.name, info.defaults);
    if (made.ok() && unfit((*made)->needs(), can).empty()) return info.name;
  }
  return all.front().name;
}

base::Error nothing_committed(const RunResult& result, const SettingNames& names) {
  auto text = fmt::format("nothing committed in {:.1f} s", result.seconds);
  if (result.aborted + result.unknown == 0) {
    return {.message = fmt::format("{}: no transaction ended. Allow more time ({})", text,
                                   names.time_limit)};
  }
  text += fmt::format(": {} aborted, {} with an unknown outcome", report::grouped(result.aborted),
                      report::grouped(result.unknown));
  if (result.reasons.empty()) {
    return {.message =
                fmt::format("{}. The workload gave up every transaction; use another one, or "
                            "another seed",
                            text)};
  }
  const auto most = std::max_element(
      result.reasons.begin(), result.reasons.end(),
      [](const auto& one, const auto& other) { return one.second < other.second; });
  constexpr std::size_t kMostShown = 3;
  std::size_t shown = 0;
  for (const auto& [reason, count] : result.reasons) {
    if (shown++ == kMostShown) {
      text += fmt::format("; and {} other reasons", result.reasons.size() - kMostShown);
      break;
    }
    const auto words = result.first_errors.find(reason);
    text += fmt::format("; {} ({} times){}", reason, count,
                        words == result.first_errors.end() || words->second.empty()
                            ? ""
                            : ", first: " + words->second);
  }
  const auto words = result.first_errors.find(most->first);
  return {.message = fmt::format(
              "{}. {}", text,
              remedy(most->first, words == result.first_errors.end() ? "" : words->second, names))};
}

base::Result<RunResult> run(const RunParts& parts, const RunOptions& options,
                            const FaultOptions& fault_options, const std::atomic<bool>& stop,
                            Progress& progress) {
  auto& [database, workload, recorder, injector] = parts;
  InitialValues initials(workload, recorder);
  Shared shared{.database = database,
                .workload = workload,
                .recorder = recorder,
                .initials = initials,
                .options = options,
                .stop = stop,
                .progress = progress,
                .begin = Clock::now(),
                .hosts = database.hosts()};
  if (options.read_from != ReadFrom::kOwnHost) {
    const auto primary = database.primary();
    if (!primary.ok()) return primary.error();
    shared.primary = *primary;
  }
  std::vector<std::unique_ptr<ClientSession>> sessions;
  for (std::uint32_t i = 0; i < options.sessions; ++i) {
    sessions.push_back(std::make_unique<ClientSession>(shared, options.first_session + i));
  }
  std::mutex mutex;
  std::condition_variable ended;
  std::uint32_t left = options.sessions;
  // Whatever happens here, the sessions end and are joined.
  std::vector<std::jthread> threads;
  threads.reserve(sessions.size());
  struct EndOfAll {
    std::atomic<bool>& done;
    ~EndOfAll() { done = true; }
  };
  const EndOfAll end_of_all{shared.done};
  std::string no_thread;
  for (auto& session : sessions) {
    try {
      threads.emplace_back([&, work = session.get()] {
        work->work();
        const std::lock_guard lock(mutex);
        if (--left == 0) ended.notify_one();
      });
    } catch (const std::system_error& error) {
      no_thread = fmt::format(
          "the system gave threads to {} of {} sessions only ({}); ask for "
          "fewer: {}",
          threads.size(), sessions.size(), error.code().message(), shared.options.names.sessions);
      shared.done = true;
      const std::lock_guard lock(mutex);
      left -= static_cast<std::uint32_t>(sessions.size() - threads.size());
      break;
    }
  }
  Faults faults(fault_options, recorder);
  if (injector != nullptr) injector->start();
  for (std::unique_lock lock(mutex);
       !ended.wait_for(lock, std::chrono::milliseconds(5), [&] { return left == 0; });) {
    // The sessions' end does not wait for a fault command.
    lock.unlock();
    const std::chrono::duration<double> passed = Clock::now() - shared.begin;
    if (is_over(options, passed.count(), recorder)) shared.done = true;
    if (!shared.over()) {
      faults.look();
    } else if (injector != nullptr) {
      injector->end();  // what the sessions wait for may be healed only then
    }
    lock.lock();
  }
  for (auto& thread : threads) thread.join();
  for (const auto& session : sessions) session->rethrow();
  if (!no_thread.empty()) return base::Error{.message = no_thread};
  RunResult result;
  result.seconds = std::chrono::duration<double>(Clock::now() - shared.begin).count();
  progress.phase = Progress::Phase::kHealing;
  faults.end(stop);
  result.faults = faults.count();
  result.failed_faults = faults.failed();
  if (injector != nullptr) take_faults(*injector, result);
  add_up(sessions, result);
  const bool needed = options.final_reads_if_needed && may_have_lost_data(sessions, result);
  if (options.final_reads || needed) {
    progress.phase = Progress::Phase::kFinalReads;
    std::vector<const WrittenRows*> rows;
    for (const auto& session : sessions) rows.push_back(&session->written());
    const auto reads = final_reads_after(options.quiet, fault_options, result);
    take_final_reads(read_finally({database, workload, recorder}, initials, rows, reads, stop),
                     recorder, result);
  }
  note_silence(options, result);
  note_reads(options, sessions, result);
  note_no_fault(options.names, fault_options, injector, result);
  const auto fault_warnings = faults.warnings();
  result.warnings.insert(result.warnings.end(), fault_warnings.begin(), fault_warnings.end());
  for (const auto& session : sessions) {
    if (!session->report().error.empty()) {
      return base::Error{.message = session->report().error};
    }
  }
  if (result.committed + result.aborted + result.unknown == 0 && !result.warnings.empty()) {
    return base::Error{.message = result.warnings.front()};
  }
  return result;
}

}  // namespace cupel::run
