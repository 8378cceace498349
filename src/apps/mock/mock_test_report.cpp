// The words of `cupel mock test`; see the header.
#include "apps/mock/mock_test_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "apps/emit.hpp"
#include "data/history/naming.hpp"
#include "engine/analysis/analyze.hpp"
#include "mock/mocktest/failure_cause.hpp"
#include "mock/mocktest/phantoms.hpp"
#include "report/render.hpp"
#include "report/wording.hpp"

namespace cupel::apps {

namespace {

namespace fs = std::filesystem;

std::string contents_of(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

std::string command_text(const MockTestArguments& arguments) {
  std::string text;
  for (const auto& word : arguments.test.command) {
    text += (text.empty() ? "" : " ") + shell_word(word);
  }
  return text;
}

// "at causal", "on postgres://me@127.0.0.1/shop"
std::string at_or_on(const MockTestArguments& arguments) {
  return arguments.on.empty() ? fmt::format("at {}", mock::title(arguments.store))
                              : "on " + arguments.on;
}

// With --on.
bool is_mysql(const MockTestArguments& arguments) {
  return arguments.on.starts_with("mysql:") || arguments.on.starts_with("mariadb:");
}

// "exited with 1"
std::string ending(const MockTestArguments& arguments, const mocktest::CommandEnd& end) {
  using Kind = mocktest::CommandEnd::Kind;
  if (end.kind == Kind::kViolated) {
    return fmt::format("violates {} (--live)", levels::name(*arguments.test.live));
  }
  return end.kind == Kind::kTimedOut
             ? fmt::format("took more than {} (--time-limit)", arguments.time_limit)
             : end.status.to_string();
}

// Does the output say that a table is missing, in the words of PostgreSQL, MariaDB or SQLite?
bool misses_table(const std::string& output) {
  static const std::regex words(
      R"re((relation|table) "?[^"\n]*"? does not exist|Table '[^'\n]*' doesn't exist|no such table)re");
  return std::regex_search(output, words);
}

// Each run starts with what --setup leaves, and without it with nothing.
void hint_at_setup(const MockTestArguments& arguments, const mocktest::FailedRun& failed) {
  if (!arguments.test.setup.empty() || !misses_table(failed.output)) return;
  print_text(
      arguments.on.empty()
          ? "  A table is missing: each run starts with an empty store. Make the tables with "
            "--setup COMMAND.\n"
          : "  A table is missing. If the command does not make it, use --setup COMMAND.\n");
}

// A command that does not use the store says nothing about the level.
int report_store_not_reached(const MockTestArguments& arguments,
                             const std::optional<mocktest::FailedRun>& failed) {
  const auto command = command_text(arguments);
  if (failed) {
    print_text(fmt::format("failed: {} {}\n", command, ending(arguments, failed->end)));
    print(failed->output);
    hint_at_setup(arguments, *failed);
  }
  if (!arguments.on.empty()) {
    print_error(fmt::format(
        "{} never connected to the database by the proxy, so nothing was "
        "tested; connect to the address in {}",
        command, is_mysql(arguments) ? "MYSQL_HOST and MYSQL_TCP_PORT" : "PGHOST and PGPORT"));
    return kBad;
  }
  const char* where = arguments.engine == mocktest::Engine::kPostgres ? "PGHOST and PGPORT"
                      : arguments.engine == mocktest::Engine::kMariadb
                          ? "MYSQL_HOST and MYSQL_TCP_PORT"
                          : "PGHOST and PGPORT, or in CUPEL_MOCK_HTTP_URL";
  print_error(
      fmt::format("{} never began a transaction on the store, so nothing was tested; connect to "
                  "the address in {}",
                  command, where));
  return kBad;
}

// --- Why the command failed

std::size_t readers_without_commit(const history::History& history) {
  std::size_t count = 0;
  for (std::uint32_t i = 0; i < history.txn_count(); ++i) {
    const history::TxnId txn(i);
    if (history.status(txn) == history::TxnStatus::kCommitted) continue;
    for (auto op = history.first_op(txn); op < history.last_op(txn); ++op) {
      if (history.kind(history::OpId(op)) != history::OpKind::kRead) continue;
      ++count;
      break;
    }
  }
  return count;
}

void report_readers_without_commit(const mocktest::FailedRun& failed) {
  const auto count = readers_without_commit(failed.history);
  if (count <= failed.conflicts) return;
  print_text(
      fmt::format("  - {} read and did not commit, so what was read there was not checked.\n",
                  report::counted(count, "transaction")));
}

// What the server of a true database ended: the command may not run it again.
std::string aborts_on(const MockTestArguments& arguments, const mocktest::FailedRun& failed) {
  const bool mysql = is_mysql(arguments);
  std::string text;
  if (failed.deadlocks > 0) {
    text += fmt::format(
        "  - The command does not retry after a deadlock: the server ended {} in this "
        "run ({}).\n",
        report::counted(failed.deadlocks, "transaction"), mysql ? "1213" : "40P01");
  }
  if (failed.conflicts > failed.deadlocks) {
    text += fmt::format(
        "  - The command does not retry aborted transactions: the server aborted {} in "
        "this run\n"
        "    with {}.\n",
        report::counted(failed.conflicts - failed.deadlocks, "transaction"),
        mysql ? "error 1020" : "SQLSTATE 40001");
  }
  if (failed.lock_timeouts > 0) {
    text += fmt::format(
        "  - The command does not retry when a lock is not free in time: the server gave "
        "up {} in this run ({}).\n",
        report::counted(failed.lock_timeouts, "wait"), mysql ? "1205" : "55P03");
  }
  return text;
}

constexpr std::size_t kMostPhantoms = 3;

// False: there is none.
bool report_phantoms(const mocktest::FailedRun& failed) {
  const auto phantoms = mocktest::find_phantoms(failed.history, kMostPhantoms);
  for (const auto& phantom : phantoms) {
    print_text(fmt::format("  - A phantom: {}\n", sentence_of(failed.history, phantom)));
    for (const auto txn : {phantom.reader, phantom.inserter}) {
      const auto label = failed.history.label(txn);
      const auto statements = failed.statements.find(label);
      if (statements == failed.statements.end()) continue;
      for (const auto& [name, text] : statements->second)
        print_text(
            fmt::format("    {}: {}\n", history::transaction_name(failed.history, txn), text));
    }
  }
  return !phantoms.empty();
}

// Why nothing on a true database is violated, although the command failed.
void report_no_cause_on(const MockTestArguments& arguments, const mocktest::FailedRun& failed) {
  print_text(
      failed.nothing_recorded.empty()
          ? "No anomaly was found in what the statements read and wrote. Possible reasons:\n"
          : fmt::format("Nothing is recorded, so an anomaly has no name: {}. Possible reasons:\n",
                        failed.nothing_recorded));
  print_text(aborts_on(arguments, failed));
  const bool phantoms = report_phantoms(failed);
  print_text(
      "  - The order of the transactions alone makes it fail: a client may read in one and write "
      "in another.\n");
  if (!phantoms) print_text("  - The command fails by itself, in every order.\n");
  report_readers_without_commit(failed);
  if (!failed.not_recorded.empty() || !failed.nothing_recorded.empty())
    print_text("  - An anomaly, in what is not recorded.\n");
}

// What the clients did, and what of it the history leaves out.
void report_schedule(const mocktest::FailedRun& failed) {
  constexpr std::size_t kMostSteps = 60, kMostReasons = 8;
  const auto& schedule = failed.schedule;
  if (schedule.empty()) return;
  print_text("The steps, in their order; what concerns nobody else has no number:\n");
  const auto first = schedule.size() > kMostSteps ? schedule.size() - kMostSteps : 0;
  if (first > 0) print_text(fmt::format("  … {} before\n", report::counted(first, "statement")));
  for (auto i = first; i < schedule.size(); ++i)
    print_text(fmt::format("  {:>3}  {}\n",
                           schedule[i].number == 0 ? "" : std::to_string(schedule[i].number),
                           schedule[i].text));
  const auto& left_out = failed.not_recorded;
  if (left_out.empty() || !failed.nothing_recorded.empty()) return;
  print_text("Not recorded:\n");
  for (std::size_t i = 0; i < left_out.size() && i < kMostReasons; ++i)
    print_text(fmt::format("  {}\n", left_out[i]));
  if (left_out.size() > kMostReasons)
    print_text(fmt::format("  … {} more\n", left_out.size() - kMostReasons));
}

// The history keeps to all levels.
void report_no_cause(const MockTestArguments& arguments, const mocktest::FailedRun& failed) {
  if (!arguments.on.empty()) return report_no_cause_on(arguments, failed);
  const bool timed = failed.history.has_all_times();
  print_text(
      fmt::format("The history satisfies every level{} too. Possible reasons:\n",
                  timed ? ", strict-serializable" : " of the mock, strong-session-serializable"));
  if (!report_phantoms(failed))
    print_text("  - The command fails by itself, though each transaction sees what it should.\n");
  print_text(
      "  - The order of the transactions alone makes it fail: a client may read in one and write "
      "in\n"
      "    another.\n");
  report_readers_without_commit(failed);
  if (failed.conflicts > 0) {
    print_text(
        fmt::format("  - The command does not retry aborted transactions: the store aborted {} in "
                    "this run,\n"
                    "    with SQLSTATE 40001 (1213 in MySQL's protocol, 409 in HTTP). Databases do "
                    "so at their\n"
                    "    stronger levels, and the client has to run the transaction again.\n",
                    report::counted(failed.conflicts, "transaction")));
  }
  if (!timed) {
    print_text(
        "  - The command relies on real-time order: one connection sees at once what another one "
        "committed.\n"
        "    No level of the mock promises that. Use one connection, or close the first before the "
        "second\n"
        "    opens: a new connection with the same name continues its session. What all clients "
        "must\n"
        "    find belongs into --setup.\n");
  }
  const auto& store = arguments.store;
  const bool strongest = store.level >= mock::Level::kStrongSessionSerializable &&
                         store.latest > 0 && store.uniform <= 0 && store.adversarial <= 0;
  if (!strongest && !timed) {
    print_text(
        "To find out which, run the test with --level strong-session-serializable --policy latest. "
        "If each key\n"
        "has one writer, a test that still fails is most likely wrong itself.\n");
  }
}

// At the end of the anomaly's explanation.
void report_relevance(const mocktest::FailureCause& cause) {
  if (cause.observed_by_last_reader) {
    print_text(fmt::format(
        "  The last transaction that read, of session {}, read what a transaction of this "
        "anomaly wrote.\n",
        cause.last_reader_session));
    return;
  }
  if (!cause.involves_last_reader) {
    print_text(
        "  No anomaly was found that involves the last transaction that read. The history does not "
        "show which\n"
        "  anomaly made the command fail.\n");
    return;
  }
  print_text(fmt::format("  This anomaly involves the last transaction that read, of session {}.\n",
                         cause.last_reader_session));
  if (cause.excluded > 0) {
    print_text(
        fmt::format("  {} at {} or above {} not.\n",
                    report::counted(static_cast<std::uint64_t>(cause.excluded), "other anomaly"),
                    levels::name(*cause.weakest_violated), cause.excluded == 1 ? "does" : "do"));
  }
}

// Rows that transactions of the anomaly missed.
void report_phantoms_of(const mocktest::FailedRun& failed,
                        const std::vector<explain::Counterexample>& counterexamples) {
  std::set<history::TxnId> involved;
  for (const auto& one : counterexamples)
    involved.insert(one.original_txn.begin(), one.original_txn.end());
  auto phantoms = mocktest::find_phantoms(failed.history, failed.history.txn_count());
  std::erase_if(phantoms, [&](const mocktest::Phantom& phantom) {
    return !involved.contains(phantom.reader) || !involved.contains(phantom.inserter);
  });
  for (std::size_t i = 0; i < phantoms.size() && i < kMostPhantoms; ++i)
    print_text(fmt::format("  A phantom: {}\n", sentence_of(failed.history, phantoms[i])));
}

// Which of the engine's constraints and locks are weaker than the product's.
void report_weakened(const MockTestArguments& arguments) {
  if (arguments.engine == mocktest::Engine::kOwn || !arguments.on.empty()) return;
  const char* product = arguments.engine == mocktest::Engine::kPostgres ? "PostgreSQL" : "MariaDB";
  if (!arguments.strong_constraints) {
    print_text(
        fmt::format("  Unique constraints and foreign keys were weaker than {0}'s in this run: "
                    "they checked what "
                    "the level\n"
                    "  allows a transaction to see (--constraints weak). With --constraints "
                    "strong they are as {0}'s.\n",
                    product));
  }
  if (!arguments.engine_locks) {
    print_text(
        fmt::format("  Statements took no locks in this run, as they do in {} (--locks "
                    "ignored).\n",
                    product));
  }
}

// What every history of the store satisfies: of InnoDB's only that much, since statements that lock
// read beside the snapshot.
mock::Level satisfied_level(const MockTestArguments& arguments) {
  const auto& store = arguments.store;
  if (!arguments.on.empty()) return mock::Level::kReadCommitted;
  return store.level == mock::Level::kPrefix && store.product != mock::Product::kNone
             ? mock::Level::kReadCommitted
             : store.level;
}

// "postgres-read-committed"
std::string level_in_file_name(const mock::Options& store) {
  std::string level(mock::title(store));
  std::replace(level.begin(), level.end(), ':', '-');
  return level;
}

void report_cause(const MockTestArguments& arguments, const mocktest::FailedRun& failed,
                  const std::string& file) {
  const auto& history = failed.history;
  analysis::Options options;
  options.check = check_options({}, arguments.limits);
  options.shrink_seconds = shrink_seconds(arguments.limits);
  options.fields = [&](const std::set<std::uint32_t>& labels, base::Budget&) {
    explain::FieldsByLabel fields;
    for (const auto label : labels) {
      const auto found = failed.statements.find(label);
      if (found != failed.statements.end()) fields.insert(*found);
    }
    return fields;
  };
  const auto cause = mocktest::find_failure_cause(
      history, satisfied_level(arguments), options,
      failed.end.kind == mocktest::CommandEnd::Kind::kViolated ? arguments.test.live
                                                               : std::nullopt);
  for (const auto& checked : cause.checks) print_text(report::lines({file, history, checked}));
  if (cause.unknown()) {
    print_text(report::explanation({file, history, cause.checks.back()}));
    return;
  }
  if (!cause.anomaly) return report_no_cause(arguments, failed);
  // With --on the steps are printed already, as they were.
  print_text(report::explanation({file, cause.anomaly->history, cause.anomaly->analysis},
                                 {.colour = use_colour(), .interleaving = arguments.on.empty()}));
  report_phantoms_of(failed, cause.anomaly->analysis.counterexamples);
  print_text(report::counts({file, history, *cause.counts}));
  const auto level = cause.counts->check.levels.front().level;
  if (arguments.on.empty() && levels::needs_real_time(level)) {
    print_text(
        "  Databases on one server show one connection at once what another one committed. Of the "
        "mock's levels,\n"
        "  only strict-serializable and those of products do (--level postgres:read-committed). "
        "What "
        "all\n"
        "  clients must find belongs into --setup.\n");
  }
  report_relevance(cause);
  if (arguments.on.empty()) return;
  if (const auto aborts = aborts_on(arguments, failed); !aborts.empty())
    print_text("Other possible reasons:\n" + aborts);
}

// Which run failed, and the options that repeat it.
struct FailureText {
  std::string which, again;
};

int report_failure(const MockTestArguments& arguments, const mocktest::FailedRun& failed,
                   const FailureText& text) {
  const auto file = arguments.history.empty()
                        ? fmt::format("cupel-mock-{}-{}.jsonl",
                                      arguments.on.empty()  ? level_in_file_name(arguments.store)
                                      : is_mysql(arguments) ? "on-mysql"
                                                            : "on-postgres",
                                      failed.seed)
                        : arguments.history;
  const auto target = write_options(file, "", false, "");
  if (!target.ok()) return bad(target.error());
  const auto command = command_text(arguments);
  print_text(
      fmt::format("failed: {}: {} {}\n", text.which, command, ending(arguments, failed.end)));
  print(failed.output);
  print(fmt::format("again: cupel mock test {} {} -- {}\n", fmt::join(arguments.given, " "),
                    text.again, command));
  if (arguments.hides_password)
    print_text(fmt::format("  Set {} to the password first, which is not printed.\n",
                           is_mysql(arguments) ? "MYSQL_PWD" : "PGPASSWORD"));
  hint_at_setup(arguments, failed);
  if (!arguments.on.empty()) report_schedule(failed);
  if (!failed.nothing_recorded.empty()) {
    report_no_cause_on(arguments, failed);
    return kViolated;
  }
  if (const auto sessions = failed.history.session_count(); sessions > 1 && arguments.on.empty()) {
    print_text(
        fmt::format("  This repeats the run if the requests of the {} sessions arrive in the same "
                    "order.\n",
                    sessions));
  }
  if (failed.history.txn_count() == 0) {
    print_text(fmt::format(
        "history: {} is not written{}; no transaction ended in this run: the command fails by "
        "itself, or it ended too early\n",
        file, of_another_run(file)));
    return kViolated;
  }
  const auto before = fs::exists(file) ? std::optional(contents_of(file)) : std::nullopt;
  if (const int code = write_history(failed.history, file, *target); code != kSatisfied)
    return code;
  if (before && *before != contents_of(file)) {
    print_error(
        fmt::format("warning: {} held the history of another run and was replaced; --history FILE "
                    "chooses another file",
                    file));
  }
  print_text(fmt::format("history: {}, {}; all levels: cupel check {}\n", file,
                         report::counted(failed.history.txn_count(), "transaction"),
                         shell_word(file)));
  report_cause(arguments, failed, file);
  report_weakened(arguments);
  if (failed.ignored_locks) {
    print_text(
        "  Statements of this run ask for locks, as FOR UPDATE does, and took none (--locks "
        "ignored).\n"
        "  With --locks honoured they do.\n");
  }
  return kViolated;
}

// --- Exploration

std::string in_words(const std::vector<std::size_t>& choices) {
  return fmt::format("{}", fmt::join(choices, ","));
}

// With the settle time that the exploration came to, and with the seed, which the command may use.
MockTestArguments as_explored(MockTestArguments arguments,
                              const mocktest::ExplorationResult& result) {
  if (arguments.store.seed != 0) {
    arguments.given.push_back(fmt::format("--seed {}", arguments.store.seed));
  }
  if (!arguments.settle_given && result.settle_ms != kDefaultSettleMs) {
    arguments.given.push_back(fmt::format("--settle {}ms", result.settle_ms));
  }
  return arguments;
}

void warn_of_late_clients(const mocktest::ExplorationResult& result) {
  using mocktest::LateClients;
  if (result.late_clients == LateClients::kNone) return;
  if (result.late_clients == LateClients::kUnknown) {
    return print_error(
        "warning: this may be incomplete: it was stopped before the first run was repeated, so "
        "clients that start late are not known");
  }
  const auto longer = mocktest::longer_settle_ms(result.settle_ms);
  print_error(fmt::format(
      "warning: this is incomplete: some clients started after the first choice was "
      "made; with --settle {}ms the first run {}, so use that or more",
      longer, result.late_clients == LateClients::kFailed ? "fails" : "has other choices"));
}

void warn_of_incompleteness(const MockTestArguments& arguments,
                            const mocktest::ExplorationResult& result, bool stopped) {
  if (result.diverged > 0) {
    print_error(fmt::format(
        "warning: this may be incomplete: {} had other choices than earlier runs that began in the "
        "same way; the command must do the same when it reads the same; if it has several clients "
        "at a time, a longer --settle may help",
        report::counted(result.diverged, "run")));
  }
  if (!result.exhausted) {
    print_error(
        fmt::format("warning: this is incomplete: {}",
                    stopped ? "it was stopped"
                            : fmt::format("the limit of {} was reached (--iterations)",
                                          report::counted(arguments.exploration.max_runs, "run"))));
  }
  warn_of_late_clients(result);
  constexpr std::size_t kMostStatements = 3;
  std::size_t said = 0;
  for (const auto& statement : result.unrepeatable) {
    if (said++ == kMostStatements) break;
    print_error(
        fmt::format("warning: this is not exhaustive: `{}` is not repeatable. It calls a "
                    "function that returns another value in each run",
                    statement));
  }
  if (said > kMostStatements)
    print_error(fmt::format("warning: {} more statements are not repeatable",
                            result.unrepeatable.size() - kMostStatements));
}

}  // namespace

int report_iterations(const MockTestArguments& arguments, const mocktest::IterationResult& result,
                      bool stopped) {
  const auto count = arguments.iterations.count;
  const auto where = at_or_on(arguments);
  if (result.failed) {
    const auto& failed = *result.failed;
    if (!failed.reached_store) return report_store_not_reached(arguments, failed);
    return report_failure(
        arguments, failed,
        {fmt::format("iteration {} of {} {}, seed {}", failed.seed - arguments.store.seed + 1,
                     count, where, failed.seed),
         fmt::format("--seed {} --iterations 1", failed.seed)});
  }
  if (stopped) {
    print_error(fmt::format("stopped after {} of {}; none failed", result.finished,
                            report::counted(count, "iteration")));
    return kUnknown;
  }
  if (!result.reached_store) return report_store_not_reached(arguments, {});
  const auto first = arguments.store.seed, last = first + count - 1;
  print_text(fmt::format(
      "passed: {} {}, {}: {}\n", report::counted(count, "iteration"), where,
      first == last ? fmt::format("seed {}", first) : fmt::format("seeds {} to {}", first, last),
      command_text(arguments)));
  return kSatisfied;
}

int report_chosen_run(const MockTestArguments& given, const mocktest::ExplorationResult& result) {
  const auto arguments = as_explored(given, result);
  if (result.runs == 0) {
    print_error("stopped before the run ended");
    return kUnknown;
  }
  if (!result.reached_store) return report_store_not_reached(arguments, result.failed);
  if (result.diverged > 0) {
    print_error(
        "warning: the run did not offer the choices of --choices: the command, an option or the "
        "level is another one, or the command does not do the same when it reads the same");
  }
  const auto where = at_or_on(arguments);
  if (result.failed) {
    return report_failure(arguments, *result.failed,
                          {fmt::format("one run {}", where),
                           fmt::format("--choices {}", in_words(result.failed_choices))});
  }
  print_text(fmt::format("passed: one run {}: {}\n", where, command_text(arguments)));
  return result.diverged > 0 ? kUnknown : kSatisfied;
}

int report_exploration(const MockTestArguments& given, const mocktest::ExplorationResult& result,
                       bool stopped) {
  if (result.runs > 0 && !result.reached_store)
    return report_store_not_reached(given, result.failed);
  const auto arguments = as_explored(given, result);
  const auto where = at_or_on(arguments);
  int code = kSatisfied;
  if (result.failed) {
    const auto choices = in_words(result.failed_choices);
    code = report_failure(
        arguments, *result.failed,
        {fmt::format("run {} {}, choices {}", result.failed_number, where,
                     choices.empty() ? "none" : choices),
         choices.empty() ? "--explore --iterations 1" : fmt::format("--choices {}", choices)});
    if (code != kViolated) return code;
  }
  print_text(fmt::format(
      "explored: {} in {} {}, {} that the client saw ({}); {}: {}\n",
      report::counted(result.histories,
                      arguments.on.empty() ? "different history" : "different interleaving"),
      report::counted(result.runs, "run"), where, report::counted(result.states, "state"),
      arguments.states,
      result.failures > 0    ? fmt::format("{} failed", result.failures)
      : arguments.on.empty() ? "no history failed"
                             : "none failed",
      command_text(arguments)));
  warn_of_incompleteness(arguments, result, stopped);
  if (code != kSatisfied) return code;
  const bool complete = result.exhausted && result.diverged == 0 && result.unrepeatable.empty() &&
                        result.late_clients == mocktest::LateClients::kNone;
  return complete ? kSatisfied : kUnknown;
}

void report_settle_raised(double before_ms, double now_ms) {
  print_error(
      fmt::format("some clients started more than {} ms after the others; the exploration starts "
                  "again with --settle {}ms",
                  before_ms, now_ms));
}

}  // namespace cupel::apps
