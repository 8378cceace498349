// cupel mock test: the options. The runs are mocktest's, the words are in mock_test_report.cpp.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/emit.hpp"
#include "apps/interrupt.hpp"
#include "apps/mock/mock_options.hpp"
#include "apps/mock/mock_test_report.hpp"
#include "apps/options.hpp"
#include "apps/units.hpp"
#include "databases/drivers/url.hpp"
#include "mock/mocktest/database_run.hpp"
#include "mock/mocktest/exploration.hpp"
#include "mock/mocktest/iterations.hpp"
#include "report/wording.hpp"

namespace cupel::apps {

namespace {

// The number of runs on one line of a terminal, which goes when the result is there.
class RunProgress {
 public:
  // `most`: how many runs there are; none: not known.
  explicit RunProgress(std::optional<std::uint64_t> most)
      : most_(most), shown_(isatty(STDERR_FILENO) != 0) {}
  RunProgress(const RunProgress&) = delete;
  RunProgress& operator=(const RunProgress&) = delete;
  ~RunProgress() { end(); }

  // Thread-safe.
  void ran() {
    using namespace std::chrono_literals;
    const std::lock_guard lock(mutex_);
    ++done_;
    const auto now = std::chrono::steady_clock::now();
    if (!shown_ || now - last_ < 200ms) return;
    last_ = now;
    any_ = true;
    print_in_place(fmt::format("{}{} after {:.0f} s", report::counted(done_, "run"),
                               most_ ? fmt::format(" of {}", report::grouped(*most_)) : "",
                               std::chrono::duration<double>(now - begin_).count()));
  }
  void end() {
    const std::lock_guard lock(mutex_);
    if (any_) print_in_place("");
    any_ = shown_ = false;
  }

 private:
  using Moment = std::chrono::steady_clock::time_point;

  std::mutex mutex_;
  std::optional<std::uint64_t> most_;
  std::uint64_t done_ = 0;
  Moment begin_ = std::chrono::steady_clock::now(), last_ = begin_;
  bool shown_, any_ = false;
};

int run_test(const MockTestArguments& arguments) {
  if (!arguments.note.empty()) print_note(arguments.note);
  auto test = arguments.test;
  test.store = arguments.store;
  test.engine = arguments.engine;
  test.strong_constraints = arguments.strong_constraints;
  test.engine_locks = arguments.engine_locks;
  const Interruptible interruptible;
  const auto& stopped = interruptible.stopped();
  const bool explores = arguments.explore || arguments.exploration.choices;
  RunProgress progress(explores ? std::nullopt : std::optional(arguments.iterations.count));
  test.on_run = [&] { progress.ran(); };
  if (!arguments.explore && !arguments.exploration.choices) {
    const auto result = mocktest::run_iterations(test, arguments.iterations, stopped);
    progress.end();
    return result.ok() ? report_iterations(arguments, *result, stopped) : bad(result.error());
  }
  const auto result = test.database.empty()
                          ? mocktest::explore(test, arguments.exploration, stopped)
                          : mocktest::explore_database(test, arguments.exploration, stopped);
  progress.end();
  if (!result.ok()) return bad(result.error());
  return arguments.explore ? report_exploration(arguments, *result, stopped)
                           : report_chosen_run(arguments, *result);
}

constexpr const char* kFooter =
    "The environment of the command names the store: PGHOST, PGPORT, PGUSER, PGDATABASE,\n"
    "CUPEL_MOCK_PG_URL and CUPEL_MOCK_HTTP_URL; with --engine mariadb MYSQL_HOST,\n"
    "MYSQL_TCP_PORT, MYSQL_USER, MYSQL_DATABASE and CUPEL_MOCK_MYSQL_URL. CUPEL_MOCK_SEED is the\n"
    "seed. A run fails if its exit code is not 0, if it takes longer than --time-limit, or if its\n"
    "history violates the level of --live.\n"
    "\n"
    "Exit code: 0 no run failed, 1 a run failed, 2 stopped early, or the exploration may be\n"
    "incomplete, 3 the command could not be run or did not use the store.\n"
    "\n"
    "Examples:\n"
    "  cupel mock test --level causal --iterations 200 -- ./run-tests.sh --quick\n"
    "  cupel mock test --level causal --setup 'psql -qXf tables.sql' -- ./two-clients.sh\n"
    "  cupel mock test --level causal --live serializable -- ./load.sh\n"
    "  cupel mock test --level causal --explore -- ./two-clients.sh\n"
    "  cupel mock test --on postgres://me@127.0.0.1/shop --explore -- ./run-tests.sh";

void add_run_options(Command& testing, MockTestArguments& arguments) {
  testing
      .add_option("--iterations", arguments.iterations.count,
                  "The number of runs; each has a fresh store with the next seed. With --explore: "
                  "the maximum, 10000 if not given")
      ->type_name("N")
      ->capture_default_str()
      ->check(whole_number(1, 1'000'000'000));
  testing.add_option("--jobs", arguments.iterations.jobs, "The number of runs at the same time")
      ->type_name("N")
      ->capture_default_str()
      ->check(whole_number(1, 256));
  testing
      .add_option("--time-limit", arguments.time_limit, "A run that takes longer than this fails")
      ->type_name("DURATION")
      ->capture_default_str();
  testing
      .add_option("--setup", arguments.test.setup,
                  "A shell command that runs before each run of the test, alone, against a store "
                  "with a single copy of the data. The state that it leaves is the initial state "
                  "of the test's store, for every session")
      ->type_name("COMMAND");
  testing
      .add_option("--live", arguments.live,
                  "End a run at the first violation of this level, which is stronger than that of "
                  "the store, and explain it: such a run has failed, whatever its exit code")
      ->type_name("LEVEL");
  testing
      .add_option("--history", arguments.history,
                  "The file for the history of the failed run. Default: "
                  "cupel-mock-LEVEL-SEED.jsonl in the current folder")
      ->type_name("FILE");
}

void add_database_options(Command& testing, MockTestArguments& arguments) {
  const char* group = "A true database";
  auto* on =
      testing
          .add_option("--on", arguments.test.database,
                      "Run the command on this PostgreSQL, MariaDB or MySQL database instead "
                      "of a store: postgres://USER@HOST/DATABASE or "
                      "mysql://USER@HOST/DATABASE. A proxy holds each client's next "
                      "statement and decides who goes on: by the seed, or in every order "
                      "(--explore). Each run has a copy of the database, which is dropped "
                      "afterwards. --setup runs once, on such a copy")
          ->type_name("URL")
          ->group(group);
  testing
      .add_flag("--in-place", arguments.test.in_place,
                "With --on: use the database itself, and no copies. --setup runs before each run, "
                "and has to undo what the run before it did. Anomalies have no names then")
      ->needs(on)
      ->group(group);
  for (const char* option : {"--level", "--locks", "--engine", "--constraints", "--policy",
                             "--delay", "--latency", "--patience", "--abort-rate", "--live"}) {
    on->excludes(testing.get_option(option));
  }
}

void add_exploration_options(Command& testing, MockTestArguments& arguments) {
  const char* group = "Exploration of all runs";
  auto* explored =
      testing
          .add_flag("--explore", arguments.explore,
                    "Make every possible run instead of random ones: each value that a read may "
                    "return, and each order of the transactions of clients that wait at the same "
                    "time. Report how many different histories and states there are")
          ->group(group);
  auto* choices =
      testing
          .add_option("--choices", arguments.exploration.choices,
                      "Make one run with these choices, as --explore prints them: numbers, "
                      "separated by commas")
          ->delimiter(',')
          ->check(whole_number(0, 1'000'000'000))
          ->type_name("N")
          ->group(group);
  testing
      .add_option("--states", arguments.states,
                  "The definition of a state: the values that each session read (reads), or what "
                  "the command printed (output)")
      ->type_name("WHAT")
      ->capture_default_str()
      ->check(one_of_names({"reads", "output"}))
      ->needs(explored)
      ->group(group);
  testing
      .add_option("--settle", arguments.settle,
                  "With --explore or --choices: a transaction begins only when no client has "
                  "connected and no transaction has ended for this long. Then all waiting clients "
                  "can be chosen. Without this "
                  "option, --explore raises the default if the first run shows that it is too "
                  "short")
      ->type_name("DURATION")
      ->capture_default_str()
      ->group(group);
  for (const char* option : {"--policy", "--abort-rate", "--live"}) {
    explored->excludes(testing.get_option(option));
    choices->excludes(testing.get_option(option));
  }
  explored->excludes(testing.get_option("--jobs"))->excludes(choices);
  choices->excludes(testing.get_option("--jobs"))->excludes(testing.get_option("--iterations"));
}

// The URL without its password, for a command line.
std::string url_to_repeat(std::string shown) {
  for (const std::string_view hidden : {":***@", "?password=***", "&password=***"}) {
    const auto at = shown.find(hidden);
    if (at == std::string::npos) continue;
    const bool login = hidden.front() == ':';
    shown.erase(at, hidden.size() - (login ? 1 : 0));
    if (hidden.front() == '?' && at < shown.size() && shown[at] == '&') shown[at] = '?';
  }
  return shown;
}

// With --on, what repeats the run.
void take_database(MockTestArguments& arguments) {
  arguments.on = drivers::without_password(arguments.test.database);
  if (arguments.test.in_place && arguments.iterations.jobs > 1)
    throw UsageError("--jobs", "found it with --in-place, expected one run at a time");
  const auto url = url_to_repeat(arguments.on);
  arguments.hides_password = url != arguments.test.database;
  arguments.given = {fmt::format("--on {}", shell_word(url))};
  if (arguments.test.in_place) arguments.given.emplace_back("--in-place");
}

// --live: a level that this store may violate.
void take_live(MockTestArguments& arguments) {
  if (arguments.live.empty()) return;
  const auto levels = levels_of({arguments.live});
  if (levels.size() != 1) {
    throw UsageError("--live", fmt::format("found `{}`, expected one level", arguments.live));
  }
  const auto level = levels.front();
  const auto& store = arguments.store;
  const bool of_product = store.product != mock::Product::kNone;
  const auto own = levels::parse_level(mock::name(store.level));
  if (!of_product && own && levels::implies(*own, level)) {
    throw UsageError(
        "--live", fmt::format("found {}, which every history of this store satisfies; expected a "
                              "level above {} (--level)",
                              levels::name(level), mock::title(store)));
  }
  arguments.test.live = level;
  arguments.given.push_back(fmt::format("--live {}", levels::name(level)));
}

// The texts made into values; throws UsageError.
void take_test_options(Command& testing, MockTestArguments& arguments) {
  take_store_options(arguments);
  if (!arguments.test.database.empty()) take_database(arguments);
  arguments.test.time_limit_seconds =
      or_throw(parse_duration(arguments.time_limit, 1), "--time-limit");
  if (arguments.time_limit != MockTestArguments().time_limit) {
    arguments.given.push_back(fmt::format("--time-limit {}", shell_word(arguments.time_limit)));
  }
  if (!arguments.test.setup.empty())
    arguments.given.push_back(fmt::format("--setup {}", shell_word(arguments.test.setup)));
  take_live(arguments);
  check_options({}, arguments.limits);
  static_cast<void>(shrink_seconds(arguments.limits));  // a wrong one is found before the run
  if (!arguments.history.empty()) {
    const auto target = write_options(arguments.history, "", false, "");
    if (!target.ok()) throw UsageError("--history", target.error().to_string());
    if (const auto can = formats::can_write(arguments.history, *target); !can.ok()) {
      throw UsageError("--history", can.error().to_string());
    }
  }
  arguments.store.keep_statements = true;
  arguments.store.settle_ms = 1000 * or_throw(parse_duration(arguments.settle, 0.001), "--settle");
  arguments.settle_given = !testing.get_option("--settle")->empty();
  if (arguments.settle_given && arguments.explore_or_on())
    arguments.given.push_back(fmt::format("--settle {}", shell_word(arguments.settle)));
  if (!arguments.explore && !arguments.exploration.choices) {
    arguments.store.overlap = true;
    return;
  }
  if (arguments.engine != mocktest::Engine::kOwn)
    throw UsageError("--engine",
                     fmt::format("found `{}`, expected `own` with --explore or --choices",
                                 arguments.engine_name));
  if (arguments.store.locks && arguments.on.empty()) {
    throw UsageError(arguments.explore ? "--explore" : "--choices",
                     fmt::format("found it with --level {}{}, expected a level without locks: "
                                 "transactions run one after another in an exploration",
                                 mock::title(arguments.store),
                                 arguments.locks.empty() ? "" : " --locks " + arguments.locks));
  }
  auto& exploration = arguments.exploration;
  if (!testing.get_option("--iterations")->empty()) {
    exploration.max_runs = arguments.iterations.count;
  }
  if (arguments.states == "output") exploration.states = mocktest::StateKind::kOutput;
  exploration.may_raise_settle = !arguments.settle_given;
  exploration.on_settle_raised = report_settle_raised;
}

}  // namespace

void add_mock_test(Command& mock, Run& run) {
  auto* testing = mock.add_subcommand(
      "test", "Run a command once for each seed, against a fresh store, until it fails");
  auto arguments = std::make_shared<MockTestArguments>();
  add_engine_options(*testing, *arguments);
  add_store_options(*testing, *arguments);
  add_run_options(*testing, *arguments);
  add_exploration_options(*testing, *arguments);
  add_database_options(*testing, *arguments);
  add_limit_options(*testing, "The time for the check of the failed run", arguments->limits);
  testing->add_option("COMMAND", arguments->test.command, "The command to run, after --")
      ->required()
      ->type_name("");
  testing->footer(kFooter);
  testing->callback([arguments, testing, &run] {
    take_test_options(*testing, *arguments);
    run = [arguments] { return run_test(*arguments); };
  });
}

}  // namespace cupel::apps
