// cupel mock test: runs a command against fresh mock stores, with other seeds until it fails or
// with every choice there is, and says which anomaly made it fail.
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <sstream>

#include "analysis/analyze.hpp"
#include "base/parallel.hpp"
#include "base/process.hpp"
#include "cli/emit.hpp"
#include "cli/interrupt.hpp"
#include "cli/mock_options.hpp"
#include "cli/options.hpp"
#include "cli/units.hpp"
#include "explain/counts/whole_history.hpp"
#include "history/mask.hpp"
#include "levels/level.hpp"
#include "mock/explore.hpp"
#include "report/render.hpp"
#include "report/wording.hpp"

namespace cupel::cli {

namespace {

namespace fs = std::filesystem;
using wire::Interface;
using wire::Server;

constexpr double kSettleMs = 5;  // usual

struct TestArguments : StoreArguments {
  std::uint64_t iterations = 100;
  bool explore = false;
  std::string states = "reads", settle = fmt::format("{}ms", kSettleMs);
  bool settle_given = false;
  std::optional<std::vector<std::size_t>> choices;
  unsigned jobs = 1;
  std::string time_limit = "60s", history;
  double time_limit_seconds = 60;
  LimitArguments limits;
  std::string setup;
  std::vector<std::string> command;
};

// Of one run of the command.
struct Failed {
  std::uint64_t seed = 0;
  std::string how;     // "exited with 1"
  std::string output;  // its end
  history::History history;
  std::uint64_t conflicts = 0;  // transactions that the store aborted
  bool met_store = true;        // it began a transaction
};

// A folder for what the commands print, removed at the end.
class OutputFolder {
 public:
  static base::Result<std::unique_ptr<OutputFolder>> make() {
    std::error_code error;
    auto pattern = (fs::temp_directory_path(error) / "cupel-mock-XXXXXX").string();
    if (error || ::mkdtemp(pattern.data()) == nullptr) {
      return base::Error{.message = "cannot make a folder for the command's output",
                         .file = pattern};
    }
    return std::unique_ptr<OutputFolder>(new OutputFolder(pattern));
  }
  ~OutputFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;
  [[nodiscard]] std::string file(std::uint64_t number) const {
    return (path_ / std::to_string(number)).string();
  }

 private:
  explicit OutputFolder(const std::string& path) : path_(path) {}
  fs::path path_;
};

std::string whole_file(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

// The last lines, indented; says what is left out.
std::string end_of_file(const std::string& file) {
  constexpr std::uint64_t kMostBytes = 16384;
  constexpr std::size_t kMostLines = 40;
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  const auto size = static_cast<std::uint64_t>(std::max<std::streamoff>(in.tellg(), 0));
  const auto skipped = size > kMostBytes ? size - kMostBytes : 0;
  in.seekg(static_cast<std::streamoff>(skipped));
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  const auto first = lines.size() > kMostLines ? lines.size() - kMostLines : 0;
  std::string text = skipped > 0 || first > 0 ? "  …\n" : "";
  for (auto i = first; i < lines.size(); ++i) text += "  " + lines[i] + "\n";
  return text;
}

std::vector<std::pair<std::string, std::string>> environment(const Server& server,
                                                             std::uint64_t seed) {
  const std::string address = "127.0.0.1";
  const auto postgres = server.port(Interface::kPostgres), mysql = server.port(Interface::kMysql);
  return {{"PGHOST", address},
          {"PGPORT", std::to_string(postgres)},
          {"PGUSER", "cupel"},
          {"PGDATABASE", "cupel"},
          {"MYSQL_HOST", address},
          {"MYSQL_TCP_PORT", std::to_string(mysql)},
          {"CUPEL_MOCK_PG_URL", url("postgres", address, postgres)},
          {"CUPEL_MOCK_MYSQL_URL", url("mysql", address, mysql)},
          {"CUPEL_MOCK_HTTP_URL", http_url(address, server.port(Interface::kHttp))},
          {"CUPEL_MOCK_SEED", std::to_string(seed)}};
}

// Of one run of the command.
struct Ended {
  bool whole = true;                    // false: `over` said so before
  std::optional<std::string> how = {};  // it failed: "exited with 1"
};

base::Result<Ended> run_against(const Server& server, const std::vector<std::string>& command,
                                const TestArguments& arguments, std::uint64_t seed,
                                const std::string& output, const std::function<bool()>& over) {
  auto process = base::Process::start({.arguments = command,
                                       .environment = environment(server, seed),
                                       .input = base::Stream::nothing(),
                                       .output = base::Stream::file(output),
                                       .errors = base::Stream::output()});
  if (!process.ok()) return std::move(process).error();
  const auto began = std::chrono::steady_clock::now();
  std::optional<base::ExitStatus> status;
  bool late = false;
  while (!status && !late && !over()) {
    status = process->wait(base::Seconds(0.05));
    late = base::Seconds(std::chrono::steady_clock::now() - began).count() >
           arguments.time_limit_seconds;
  }
  if (!status) process->stop(base::Seconds(1));
  if (!status && !late) return Ended{.whole = false};
  if (!status)
    return Ended{.how = fmt::format("took more than {} (--time-limit)", arguments.time_limit)};
  return Ended{.how = status->well() ? std::nullopt : std::optional(status->to_string())};
}

// Runs --setup against a database in one place, and gives the store what that holds in the end
// as its initial state: what every session sees that has not seen more. False if `over` said so.
base::Result<bool> set_up(Served& served, const TestArguments& arguments, std::uint64_t seed,
                          const std::string& output, const std::function<bool()>& over) {
  mock::Options options;
  options.level = mock::Level::kStrongSessionSerializable;
  options.choose = [](std::size_t allowed) { return allowed - 1; };  // what was committed last
  mock::Store loading(options);
  const auto backend = wire::make_backend(loading, served.catalog);
  auto server = Server::start(*backend, {.postgres = 0, .mysql = 0, .http = 0});
  if (!server.ok()) return std::move(server).error();
  const auto ended =
      run_against(**server, {"/bin/sh", "-c", arguments.setup}, arguments, seed, output, over);
  if (!ended.ok()) return ended.error();
  if (ended->how) {
    return base::Error{
        .message = fmt::format("the set-up {}; it printed:\n{}", *ended->how, end_of_file(output)),
        .file = arguments.setup};
  }
  if (!ended->whole) return false;
  const auto session = loading.open_session("copy");
  const auto reading = loading.begin(session);  // before the server stops, which ends the store
  for (const auto& key : reading->keys_with_prefix("")) {
    served.store.set_initial(key, *reading->read(key));
  }
  reading->rollback();
  (*server)->stop();
  return true;
}

// The servers are stopped when it returns; the output is in the file.
base::Result<Ended> run_command(Served& served, const TestArguments& arguments, std::uint64_t seed,
                                const std::string& output, const std::function<bool()>& over) {
  if (!arguments.setup.empty()) {
    const auto ready = set_up(served, arguments, seed, output, over);
    if (!ready.ok()) return ready.error();
    if (!*ready) return Ended{.whole = false};
  }
  if (const auto started = served.start({.postgres = 0, .mysql = 0, .http = 0}); !started.ok())
    return started.error();
  auto ended = run_against(*served.server, arguments.command, arguments, seed, output, over);
  served.server->stop();
  return ended;
}

class Tester {
 public:
  Tester(const TestArguments& arguments, const OutputFolder& folder,
         const std::atomic<bool>& stopped)
      : arguments_(arguments), folder_(folder), stopped_(stopped) {}

  // One iteration, unless an earlier one failed.
  void run(std::uint64_t number) {
    if (over(number)) return;
    auto options = arguments_.store;
    options.seed += number;
    Served served(options);
    const auto output = folder_.file(number);
    const auto ended =
        run_command(served, arguments_, options.seed, output, [&] { return over(number); });
    if (!ended.ok()) return stop(ended.error());
    ++done_;
    const bool met_store = served.store.asked_for() > 0;
    if (met_store) met_store_ = true;
    if (ended->how) {
      auto history = served.store.history();
      if (!history.ok()) return stop(history.error());
      const std::lock_guard lock(mutex_);
      if (number < first_) {
        first_ = number;
        failed_ = Failed{options.seed,
                         *ended->how,
                         end_of_file(output),
                         std::move(*history),
                         served.store.conflicts(),
                         met_store};
      }
    }
    std::error_code ignored;
    fs::remove(output, ignored);
  }

  [[nodiscard]] const std::optional<base::Error>& error() const { return error_; }
  [[nodiscard]] const std::optional<Failed>& failed() const { return failed_; }
  [[nodiscard]] std::uint64_t done() const { return done_; }
  // Did any run begin a transaction?
  [[nodiscard]] bool met_store() const { return met_store_; }

 private:
  [[nodiscard]] bool over(std::uint64_t number) const {
    return stopped_ || broken_ || number > first_;
  }
  void stop(base::Error error) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::move(error);
    broken_ = true;
  }

  const TestArguments& arguments_;
  const OutputFolder& folder_;
  const std::atomic<bool>& stopped_;
  std::mutex mutex_;
  std::atomic<std::uint64_t> first_ = std::numeric_limits<std::uint64_t>::max(), done_ = 0;
  std::atomic<bool> broken_ = false, met_store_ = false;
  std::optional<Failed> failed_;
  std::optional<base::Error> error_;
};

std::string command_text(const std::vector<std::string>& command) {
  std::string text;
  for (const auto& word : command) text += (text.empty() ? "" : " ") + shell_word(word);
  return text;
}

// The reads of the committed transaction that came last of those that read: most likely what the
// command did not expect.
struct LastReads {
  history::TxnId txn;
  std::vector<history::OpId> reads;
};
std::optional<LastReads> last_reads(const history::History& history) {
  std::optional<LastReads> last;
  for (std::uint32_t at = 0; at < history.txn_count(); ++at) {
    const history::TxnId txn(at);
    if (history.status(txn) != history::TxnStatus::kCommitted) continue;
    if (last && history.label(txn) < history.label(last->txn)) continue;
    LastReads found{txn, {}};
    for (auto op = history.first_op(txn); op < history.last_op(txn); ++op) {
      if (history.kind(history::OpId(op)) == history::OpKind::kRead) {
        found.reads.emplace_back(op);
      }
    }
    if (!found.reads.empty()) last = std::move(found);
  }
  return last;
}

// Why the history is what the command did not expect. Told is an anomaly of the weakest stronger
// level that has one with the last reads in it: those without are set aside, by taking the reads of
// their transactions for unknown. If none has, it is the first of the weakest level.
void explain_failure(const TestArguments& arguments, const Failed& failed,
                     const std::string& file) {
  const auto& history = failed.history;
  const auto limits = check_options({}, arguments.limits);
  base::Budget budget(limits.timeout_seconds
                          ? std::optional(std::chrono::duration<double>(*limits.timeout_seconds))
                          : std::nullopt,
                      limits.memory_limit_bytes);
  struct Told {
    history::History history;
    analysis::Analysis analysis;
  };
  analysis::Options options;
  options.check = limits;
  options.test_power = analysis::TestPower::kNever;
  options.whole_history = false;
  const auto analyze = [&](const history::History& of, mock::Level level, bool shrink) {
    options.check.asked = {*levels::parse_level(mock::name(level))};
    options.shrink_seconds = shrink ? shrink_seconds(arguments.limits) : 0;
    return analysis::analyze(of, options, budget);
  };
  const auto verdict = [](const analysis::Analysis& found) {
    return found.check.levels.front().verdict;
  };
  const auto last = last_reads(history);
  auto rest = history;
  std::optional<Told> first, with_last;
  std::optional<mock::Level> weakest;
  int set_aside = 0;
  constexpr int kSetAside = 30;
  for (const auto stronger : kMockLevels) {
    if (stronger <= arguments.store.level || with_last) continue;
    auto found = analyze(history, stronger, !first);
    print(report::lines({file, history, found}));
    if (verdict(found) == check::Verdict::kUnknown && !first) {
      print(report::explanation({file, history, found}));
      return;
    }
    bool violated = verdict(found) == check::Verdict::kViolated;
    while (violated) {
      if (first) found = analyze(rest, stronger, true);
      violated = verdict(found) == check::Verdict::kViolated;
      if (!violated) break;
      std::vector<history::OpId> reads;
      bool has_last = false;
      for (const auto& one : found.counterexamples) {
        for (const auto txn : one.original_txn) {
          has_last |= last && txn == last->txn;
          for (auto op = history.first_op(txn); op < history.last_op(txn); ++op) {
            reads.emplace_back(op);
          }
        }
      }
      if (!weakest) weakest = stronger;
      Told told{rest, std::move(found)};
      if (has_last) {
        with_last = std::move(told);
        break;
      }
      if (!first) first = std::move(told);
      if (!last || reads.empty() || ++set_aside == kSetAside) break;
      rest = history::with_unknown(std::move(rest), reads);
    }
    if (first && (!last || set_aside == kSetAside)) break;
  }
  if (first || with_last) {
    const auto& told = with_last ? *with_last : *first;
    print(report::explanation({file, told.history, told.analysis}));
    // All there are, at the level that is told.
    options.check.asked = {told.analysis.check.levels.front().level};
    options.whole_history = true;
    options.shrink_seconds = 0;
    print(report::counts({file, history, analysis::analyze(history, options, budget)}));
    if (with_last) {
      print(fmt::format(
          "  The last transaction that read, of session {}, has a part in what is told.\n",
          history.session_name(history.session(last->txn))));
      if (set_aside > 0) {
        print(fmt::format("  It has none in {} other{} from {} on, set aside.\n",
                          set_aside == 1 ? "one" : std::to_string(set_aside),
                          set_aside == 1 ? "" : "s", mock::name(*weakest)));
      }
    } else {
      print(
          "  No anomaly was found that the last transaction that read has a part in: which of "
          "those in the history\n"
          "  the command minds, the history does not say.\n");
    }
    return;
  }
  print("The history keeps to every level that the mock has, strong-session-serializable too. ");
  print("Either the command fails by\nitself, on any database");
  if (failed.conflicts > 0) {
    print(fmt::format(
        "; or it does not retry what is aborted: the store aborted {} in this run, with\n"
        "SQLSTATE 40001 (1213 in MySQL's protocol, 409 in HTTP), as databases do at their stronger "
        "levels, and a client\n"
        "has to do such a transaction again",
        report::counted(failed.conflicts, "transaction")));
  }
  print(
      "; or it relies on one connection seeing at once what another one committed. No level of "
      "the\n"
      "mock promises that: there is no real-time order between sessions here. ");
  const auto& store = arguments.store;
  const bool told = store.level == mock::Level::kStrongSessionSerializable && store.latest > 0 &&
                    store.uniform <= 0 && store.adversarial <= 0;
  if (!told) {
    print(
        "To tell, run it with --level\n"
        "strong-session-serializable --policy latest: what still fails is most likely the command "
        "itself, if what it reads\n"
        "has one writer. ");
  }
  print(
      "If it is the other, do on one connection what has to be seen, or open\n"
      "the second when the first is closed: with the same name it goes on with its session; and "
      "make "
      "with --setup what\n"
      "every client is to find.\n");
}

// What is said of a run that failed. `again`: the options that repeat it.
int tell_failure(const TestArguments& arguments, const Failed& failed, const std::string& which,
                 const std::string& again) {
  const auto file =
      arguments.history.empty()
          ? fmt::format("cupel-mock-{}-{}.jsonl", mock::name(arguments.store.level), failed.seed)
          : arguments.history;
  const auto target = write_options(file, "", false, "");
  if (!target.ok()) return bad(target.error());
  const auto command = command_text(arguments.command);
  print(fmt::format("failed: {}: {} {}\n", which, command, failed.how));
  print(failed.output);
  print(fmt::format("again: cupel mock test {} {} -- {}\n", fmt::join(arguments.given, " "), again,
                    command));
  if (failed.history.txn_count() == 0) {
    print(
        fmt::format("history: none is written to {}{}; no transaction ended in this run: the "
                    "command fails by itself, or was ended before\n",
                    file, of_another_run(file)));
    return kViolated;
  }
  const auto before = fs::exists(file) ? std::optional(whole_file(file)) : std::nullopt;
  if (const int code = write_history(failed.history, file, *target); code != kSatisfied)
    return code;
  if (before && *before != whole_file(file)) {
    print_error(fmt::format(
        "{} was there, of another run, and was replaced; --history FILE names another file", file));
  }
  print(fmt::format("history: {}, {}; all levels: cupel check {}\n", file,
                    report::counted(failed.history.txn_count(), "transaction"), shell_word(file)));
  explain_failure(arguments, failed, file);
  return kViolated;
}

// Whatever the command did, it says nothing about the level. `how`: of a run that failed.
int never_met_store(const TestArguments& arguments, const std::string& how,
                    const std::string& output) {
  const auto command = command_text(arguments.command);
  if (!how.empty()) print(fmt::format("failed: {} {}\n", command, how));
  print(output);
  print_error(fmt::format(
      "{} never began a transaction on the store, so nothing was tested; it has to connect to what "
      "PGHOST and PGPORT, MYSQL_HOST and MYSQL_TCP_PORT, or CUPEL_MOCK_HTTP_URL say",
      command));
  return kBad;
}

int test(const TestArguments& arguments) {
  const auto folder = OutputFolder::make();
  if (!folder.ok()) return bad(folder.error());
  const Interruptible interruptible;
  Tester tester(arguments, **folder, interruptible.stopped());
  base::for_each_index(arguments.iterations, arguments.jobs,
                       [&](std::size_t number) { tester.run(number); });
  const auto level = mock::name(arguments.store.level);
  if (const auto& error = tester.error()) return bad(*error);
  if (!tester.failed()) {
    if (interruptible.stopped()) {
      print_error(fmt::format("stopped after {} of {}, of which none failed", tester.done(),
                              report::counted(arguments.iterations, "iteration")));
      return kUnknown;
    }
    if (!tester.met_store()) return never_met_store(arguments, "", "");
    const auto first = arguments.store.seed, last = first + arguments.iterations - 1;
    print(fmt::format(
        "passed: {} at {}, {}: {}\n", report::counted(arguments.iterations, "iteration"), level,
        first == last ? fmt::format("seed {}", first) : fmt::format("seeds {} to {}", first, last),
        command_text(arguments.command)));
    return kSatisfied;
  }
  const auto& failed = *tester.failed();
  if (!failed.met_store) return never_met_store(arguments, failed.how, failed.output);
  return tell_failure(
      arguments, failed,
      fmt::format("iteration {} of {} at {}, seed {}", failed.seed - arguments.store.seed + 1,
                  arguments.iterations, level, failed.seed),
      fmt::format("--seed {} --iterations 1", failed.seed));
}

// --- exploring

// Long enough for a process to start, and much longer than what was waited.
double longer_settle(double settle_ms) {
  return std::max(250.0, 2 * settle_ms);
}

// The first run again, with more time for clients to come: were there as many to choose from each
// time as before, and did it fail as before? A client that comes too late each time is never chosen
// from, and nothing else would show it.
enum class Waited { kTheSame, kOtherChoices, kFailed, kStopped };
base::Result<Waited> waited_longer(const TestArguments& arguments, const OutputFolder& folder,
                                   const std::vector<std::size_t>& offered, bool failed,
                                   const std::atomic<bool>& stopped) {
  auto options = arguments.store;
  options.settle_ms = longer_settle(options.settle_ms);
  std::vector<std::size_t> now;
  options.choose = [&](std::size_t of) {
    now.push_back(of);
    return std::size_t{0};
  };
  Served served(options);
  // None of those of the runs that count.
  const auto output = folder.file(std::numeric_limits<std::uint64_t>::max());
  const auto ended =
      run_command(served, arguments, options.seed, output, [&] { return stopped.load(); });
  if (!ended.ok()) return ended.error();
  std::error_code ignored;
  fs::remove(output, ignored);
  if (!ended->whole) return Waited::kStopped;
  if (now != offered) return Waited::kOtherChoices;
  return ended->how && !failed ? Waited::kFailed : Waited::kTheSame;
}

// Runs the command once for each history, as mock::Explorer has it. Where the usual --settle shows
// to be too short, with a longer one.
int explore(TestArguments arguments) {
  const auto folder = OutputFolder::make();
  if (!folder.ok()) return bad(folder.error());
  const Interruptible interruptible;
  std::optional<mock::Explorer> explorer(std::in_place);
  if (arguments.choices) explorer.emplace(*arguments.choices);
  const std::uint64_t most = arguments.choices ? 1 : arguments.iterations;
  auto options = arguments.store;
  bool in_order = false;  // where levels are mixed; see mock/explore.hpp
  // How many there were to choose from, each time in the first run.
  std::vector<std::size_t> offered;
  bool first_run = true;
  options.choose = [&](std::size_t of) {
    if (first_run) offered.push_back(of);
    return explorer->choose(of);
  };
  options.before_turn = [&](const mock::Progress& progress) {
    explorer->reached(in_order ? progress.in_order : progress.history, progress.turns);
  };
  std::uint64_t runs = 0, failures = 0;
  std::map<std::string, std::uint64_t> states;
  std::optional<Failed> failed;
  std::uint64_t failed_run = 0;
  std::vector<std::size_t> failed_choices;
  bool more = true, met_store = false;
  Waited waited = Waited::kTheSame;
  while (more && runs < most && !interruptible.stopped()) {
    Served served(options);
    const auto output = (*folder)->file(runs);
    const auto ended = run_command(served, arguments, options.seed, output,
                                   [&] { return interruptible.stopped().load(); });
    if (!ended.ok()) return bad(ended.error());
    if (!ended->whole) break;
    ++runs;
    if (served.store.asked_for() > 0) met_store = true;
    if (!met_store && ended->how) {
      return never_met_store(arguments, *ended->how, end_of_file(output));
    }
    if (first_run && met_store && !arguments.choices) {
      const auto known = waited_longer(arguments, **folder, offered, ended->how.has_value(),
                                       interruptible.stopped());
      if (!known.ok()) return bad(known.error());
      waited = *known;
      const auto longer = longer_settle(options.settle_ms);
      constexpr double kLongestMs = 1000;
      if (waited == Waited::kOtherChoices && !arguments.settle_given && longer <= kLongestMs) {
        print_error(
            fmt::format("some clients come later than {} ms after the others; explored with "
                        "--settle {}ms instead",
                        options.settle_ms, longer));
        arguments.store.settle_ms = options.settle_ms = longer;
        explorer.emplace();
        offered.clear();
        runs = 0;
        continue;
      }
    }
    first_run = false;
    if (served.store.mixed() && !in_order && !arguments.choices) {
      in_order = true;
      explorer.emplace();
      failures = 0;
      states.clear();
      failed.reset();
      continue;
    }
    more = explorer->next(served.store.digest());
    if (!explorer->repeated()) {
      ++states[arguments.states == "output" ? whole_file(output) : served.store.observed()];
      if (ended->how && ++failures == 1) {
        auto history = served.store.history();
        if (!history.ok()) return bad(history.error());
        failed_run = runs;
        failed_choices = explorer->choices();
        failed = Failed{options.seed, *ended->how, end_of_file(output), std::move(*history),
                        served.store.conflicts()};
      }
    }
    std::error_code ignored;
    fs::remove(output, ignored);
  }
  if (runs > 0 && !met_store) return never_met_store(arguments, "", "");
  if (!arguments.settle_given && options.settle_ms != kSettleMs) {
    arguments.given.push_back(fmt::format("--settle {}ms", options.settle_ms));
  }
  const auto level = mock::name(arguments.store.level);
  const auto in_words = fmt::format("{}", fmt::join(failed_choices, ","));
  if (arguments.choices) {
    if (runs == 0) {
      print_error("stopped before the run ended");
      return kUnknown;
    }
    if (explorer->diverged() > 0) {
      print_error(
          "warning: the run had not the choices that --choices gives: the command, its options or "
          "the level "
          "are not those of the run that had them, or what it does is not decided by what it "
          "reads");
    }
    if (failed)
      return tell_failure(arguments, *failed, fmt::format("one run at {}", level),
                          fmt::format("--choices {}", in_words));
    print(fmt::format("passed: one run at {}: {}\n", level, command_text(arguments.command)));
    return kSatisfied;
  }
  int code = kSatisfied;
  if (failed) {
    code = tell_failure(
        arguments, *failed,
        fmt::format("run {} at {}, choices {}", failed_run, level,
                    in_words.empty() ? "none" : in_words),
        in_words.empty() ? "--explore --iterations 1" : fmt::format("--choices {}", in_words));
    if (code != kViolated) return code;
  }
  std::uint64_t histories = 0;
  for (const auto& [state, count] : states) histories += count;
  print(fmt::format("explored: {} in {} at {}, {} that the client saw ({}); {}: {}\n",
                    report::counted(histories, "different history"), report::counted(runs, "run"),
                    level, report::counted(states.size(), "state"), arguments.states,
                    failures == 0 ? "no history failed" : fmt::format("{} failed", failures),
                    command_text(arguments.command)));
  if (explorer->diverged() > 0) {
    print_error(
        fmt::format("warning: this may not be all: {} did not repeat what runs with the same "
                    "choices did before. What "
                    "the command does has to be decided by what it reads; if it has several "
                    "clients at a time, a "
                    "longer --settle may help",
                    report::counted(explorer->diverged(), "run")));
  }
  if (more) {
    print_error(fmt::format("warning: this is not all: {}",
                            interruptible.stopped()
                                ? "it was stopped"
                                : fmt::format("the limit of {} was reached (--iterations)",
                                              report::counted(most, "run"))));
  }
  if (waited != Waited::kTheSame) {
    const auto longer = longer_settle(options.settle_ms);
    print_error(
        waited == Waited::kStopped
            ? "warning: this may not be all: it was stopped before the first run was made again"
            : fmt::format(
                  "warning: this may not be all: when a transaction is let go only {} ms after the "
                  "last "
                  "client came, the first run {}, so some clients come too late to be chosen from; "
                  "explore again with --settle {}ms or more",
                  longer, waited == Waited::kFailed ? "fails" : "has other choices", longer));
  }
  if (code != kSatisfied) return code;
  return more || explorer->diverged() > 0 || waited != Waited::kTheSame ? kUnknown : kSatisfied;
}

}  // namespace

void add_mock_test(Command& mock, Run& run) {
  auto* testing = mock.add_subcommand(
      "test", "Run a command against fresh stores with other seeds until it fails");
  auto tested = std::make_shared<TestArguments>();
  add_store_options(*testing, *tested);
  testing
      ->add_option("--iterations", tested->iterations,
                   "Runs of the command, each with a store of its own; the seeds count up")
      ->type_name("N")
      ->capture_default_str()
      ->check(whole_number(1, 1'000'000'000));
  auto* jobs = testing->add_option("--jobs", tested->jobs, "Runs at the same time")
                   ->type_name("N")
                   ->capture_default_str()
                   ->check(whole_number(1, 256));
  testing->add_option("--time-limit", tested->time_limit, "A run that takes longer has failed")
      ->type_name("DURATION")
      ->capture_default_str();
  testing
      ->add_option("--setup", tested->setup,
                   "Run by the shell before each run of the command, alone, against a database in "
                   "one place; what that then holds is there from the start, for every session")
      ->type_name("COMMAND");
  testing
      ->add_option("--history", tested->history,
                   "Where the history of the run that failed goes. Default: "
                   "cupel-mock-LEVEL-SEED.jsonl here")
      ->type_name("FILE");
  const char* exploring = "Exploring a small test whole";
  auto* explored =
      testing
          ->add_flag(
              "--explore", tested->explore,
              "Every run there is instead of some: each value that a read may return, each order "
              "of "
              "the transactions of clients that wait at the same time; --iterations (then 10000) "
              "is the most. Counts the histories, each once, and the states that the client saw")
          ->group(exploring);
  auto* choices = testing
                      ->add_option("--choices", tested->choices,
                                   "One run, with these choices, as --explore prints them")
                      ->delimiter(',')
                      ->check(whole_number(0, 1'000'000'000))
                      ->type_name("N,N…")
                      ->group(exploring);
  testing
      ->add_option("--states", tested->states,
                   "What a state is: the values that each session read (reads), or what the "
                   "command printed (output)")
      ->type_name("WHAT")
      ->capture_default_str()
      ->check(one_of_names({"reads", "output"}))
      ->needs(explored)
      ->group(exploring);
  testing
      ->add_option("--settle", tested->settle,
                   "With --explore and --choices: no transaction begins before nobody came for "
                   "this long, so that "
                   "all clients that wait are there to choose from. Not given, --explore takes a "
                   "longer one where the first run shows this to be too short")
      ->type_name("DURATION")
      ->capture_default_str()
      ->group(exploring);
  for (const char* option : {"--policy", "--abort-rate"}) {
    explored->excludes(testing->get_option(option));
    choices->excludes(testing->get_option(option));
  }
  explored->excludes(jobs)->excludes(choices);
  choices->excludes(jobs)->excludes(testing->get_option("--iterations"));
  add_limit_options(*testing, "For the check of the run that failed", tested->limits);
  testing->add_option("COMMAND", tested->command, "What to run, behind --")
      ->required()
      ->type_name("");
  testing->footer(
      "The command finds the store by PGHOST, PGPORT, PGUSER, PGDATABASE, MYSQL_HOST, "
      "MYSQL_TCP_PORT,\n"
      "CUPEL_MOCK_PG_URL, CUPEL_MOCK_MYSQL_URL and CUPEL_MOCK_HTTP_URL. It fails with an exit code "
      "that\n"
      "is not 0. Exit code here: 0 no run failed, 1 one did, 2 stopped before (or none failed and "
      "not\n"
      "all was explored), 3 it could not be run.\n"
      "\n"
      "Examples:\n"
      "  cupel mock test --level causal --iterations 200 -- ./run-tests.sh --quick\n"
      "  cupel mock test --level causal --setup 'psql -qXf tables.sql' -- ./two-clients.sh\n"
      "  cupel mock test --level causal --explore -- ./two-clients.sh");
  testing->callback([tested, testing, &run] {
    take_store_options(*tested);
    tested->time_limit_seconds = or_throw(parse_duration(tested->time_limit, 1), "--time-limit");
    if (tested->time_limit != TestArguments().time_limit) {
      tested->given.push_back(fmt::format("--time-limit {}", shell_word(tested->time_limit)));
    }
    if (!tested->setup.empty())
      tested->given.push_back(fmt::format("--setup {}", shell_word(tested->setup)));
    check_options({}, tested->limits);
    if (!tested->history.empty()) {
      const auto target = write_options(tested->history, "", false, "");
      if (!target.ok()) throw UsageError("--history", target.error().to_string());
      if (const auto can = formats::can_write(tested->history, *target); !can.ok()) {
        throw UsageError("--history", can.error().to_string());
      }
    }
    if (tested->explore || tested->choices) {
      if (testing->get_option("--iterations")->empty()) tested->iterations = 10'000;
      tested->store.settle_ms = 1000 * or_throw(parse_duration(tested->settle, 0.001), "--settle");
      tested->settle_given = !testing->get_option("--settle")->empty();
      if (tested->settle_given)
        tested->given.push_back(fmt::format("--settle {}", shell_word(tested->settle)));
      run = [tested] { return explore(*tested); };
      return;
    }
    run = [tested] { return test(*tested); };
  });
}

}  // namespace cupel::cli
