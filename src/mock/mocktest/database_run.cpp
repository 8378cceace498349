// A copy of the database and a proxy for each run; see the header.
#include "mock/mocktest/database_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "base/temp_dir.hpp"
#include "mock/mocktest/output_text.hpp"
#include "mock/mocktest/statement_lines.hpp"
#include "mock/proxy/footprint.hpp"
#include "mock/proxy/row_history.hpp"
#include "mock/proxy/sessions.hpp"
#include "mock/wire/bytes.hpp"

namespace cupel::mocktest {

namespace {

using proxy::SchedulingProxy;

constexpr std::size_t kMostRecordedRows = 20'000;

// What the clients read, whatever the order of their statements.
std::string observed(const std::vector<proxy::Executed>& executed) {
  std::map<std::string, std::string> by_client;
  for (const auto& one : executed) {
    auto& text = by_client[one.client];
    for (const auto& answer : one.answers) {
      for (const auto& row : answer.rows) {
        for (const auto& cell : row) text += cell ? fmt::format("{}:{}", cell->size(), *cell) : "-";
        text += '\n';
      }
      text += answer.tag + answer.code + '\n';
    }
  }
  std::string all;
  for (const auto& [client, text] : by_client)
    all += fmt::format("{}:{}{}:{}", client.size(), client, text.size(), text);
  return all;
}

std::string shown(std::string text) {
  constexpr std::size_t kLongest = 90;
  std::replace(text.begin(), text.end(), '\n', ' ');
  if (text.size() <= kLongest) return text;
  auto end = kLongest;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "…";
}

// PostgreSQL's binary form of the types that clients use most; "…" for another one.
std::string binary_in_words(std::uint32_t type, const std::string& bytes) {
  constexpr std::uint32_t kBool = 16, kInt8 = 20, kInt2 = 21, kInt4 = 23, kText = 25, kUuid = 2950,
                          kVarchar = 1043, kName = 19, kChar = 1042;
  wire::Reader reader(bytes);
  if (type == kBool && bytes.size() == 1) return bytes[0] != 0 ? "true" : "false";
  if (type == kInt2 && bytes.size() == 2) return std::to_string(reader.big<std::int16_t>());
  if (type == kInt4 && bytes.size() == 4) return std::to_string(reader.big<std::int32_t>());
  if (type == kInt8 && bytes.size() == 8) return std::to_string(reader.big<std::int64_t>());
  if (type == kText || type == kVarchar || type == kName || type == kChar) return bytes;
  if (type != kUuid || bytes.size() != 16) return "…";
  std::string words;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    words += fmt::format("{}{:02x}", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                         static_cast<unsigned char>(bytes[i]));
  return words;
}

// "alice: UPDATE c SET n = 1 -- shop.py:7; waited for a lock; 40P01 deadlock detected"
std::string in_words(const proxy::Executed& executed) {
  std::string text, remarks;
  for (const auto& request : executed.requests) {
    std::string parameters;
    for (const auto& parameter : request.parameters)
      parameters += (parameters.empty() ? " [" : ", ") +
                    (!parameter.value        ? "NULL"
                     : parameter.format == 0 ? *parameter.value
                                             : binary_in_words(parameter.type, *parameter.value));
    text += (text.empty() ? "" : "; ") + statement_line(request.text) +
            (parameters.empty() ? "" : shown(parameters) + "]");
  }
  if (executed.left) text = "(disconnects)";
  const auto remark = [&](const std::string& words) {
    remarks += (remarks.empty() && text.find(" -- ") == text.npos ? " -- " : "; ") + words;
  };
  if (executed.waited) {
    remark(executed.done_in == executed.turn
               ? "waited for a lock"
               : fmt::format("waited for a lock until step {}", executed.done_in));
  }
  for (const auto& answer : executed.answers) {
    if (!answer.code.empty()) remark(answer.code + " " + answer.message);
    if (answer.rows.size() == 1 && answer.rows[0].size() == 1 && answer.rows[0][0])
      remark("read " + shown(*answer.rows[0][0]));
  }
  return fmt::format("{}: {}{}", executed.client, text, remarks);
}

// In the order in which they began. What was not held stands before the next step of its client:
// when it was done says nothing.
std::vector<FailedRun::Step> steps_of(const std::vector<proxy::Executed>& executed) {
  std::map<std::string, std::vector<FailedRun::Step>> aside;
  std::map<std::uint64_t, std::vector<FailedRun::Step>> by_turn;
  for (const auto& one : executed) {
    auto& steps = aside[one.client];
    steps.push_back({one.turn, in_words(one)});
    if (one.turn == 0) continue;
    by_turn[one.turn] = std::exchange(steps, {});
  }
  std::vector<FailedRun::Step> all;
  for (auto& [turn, steps] : by_turn)
    std::move(steps.begin(), steps.end(), std::back_inserter(all));
  for (auto& [client, steps] : aside)
    std::move(steps.begin(), steps.end(), std::back_inserter(all));
  return all;
}

// "steps 1, 3 to 5 and 8"
std::string in_words(const std::set<std::uint64_t>& numbers) {
  std::vector<std::string> parts;
  for (auto first = numbers.begin(); first != numbers.end();) {
    auto last = first, next = std::next(first);
    while (next != numbers.end() && *next == *last + 1) last = next++;
    if (*last > *first + 1) {
      parts.push_back(fmt::format("{} to {}", *first, *last));
    } else {
      for (auto number = *first; number <= *last; ++number) parts.push_back(std::to_string(number));
    }
    first = next;
  }
  std::string text = numbers.size() == 1 ? "step " : "steps ";
  for (std::size_t i = 0; i < parts.size(); ++i)
    text += (i == 0 ? "" : i + 1 == parts.size() ? " and " : ", ") + parts[i];
  return text;
}

// "SELECT random()"
void add_unrepeatable(const proxy::Executed& executed, proxy::Dialect dialect,
                      std::set<std::string>& found) {
  for (const auto& request : executed.requests) {
    for (const auto& statement : proxy::statements_of(request.text, dialect)) {
      if (!statement.unrepeatable.empty()) found.insert(statement_line(request.text));
    }
  }
}

}  // namespace

Environment DatabaseRunner::environment(std::uint16_t port, const std::string& database,
                                        std::uint64_t seed) const {
  auto environment = database_->environment(port, database);
  environment.emplace_back("CUPEL_MOCK_SEED", std::to_string(seed));
  return environment;
}

base::Result<CommandEnd> DatabaseRunner::set_up(const RunContext& context) {
  auto passing = SchedulingProxy::start({.server = database_->endpoint(),
                                         .dialect = database_->dialect(),
                                         .dialogue = {.database_asked = database_->name(),
                                                      .database_given = database_->original(),
                                                      .holds = false}});
  if (!passing.ok()) return std::move(passing).error();
  return run_setup(test_, environment((*passing)->port(), database_->original(), test_.store.seed),
                   context);
}

base::Result<std::unique_ptr<DatabaseRunner>> DatabaseRunner::start(const Test& test,
                                                                    const RunContext& context) {
  auto database = proxy::TestDatabase::open({.url = test.database, .in_place = test.in_place});
  if (!database.ok()) return std::move(database).error();
  std::unique_ptr<DatabaseRunner> runner(new DatabaseRunner(test, std::move(*database)));
  if (!test.in_place && !test.setup.empty()) {
    const auto end = runner->set_up(context);
    if (!end.ok()) return end.error();
    if (end->kind == CommandEnd::Kind::kStopped) return std::unique_ptr<DatabaseRunner>();
  }
  runner->no_recorder_ = runner->database_->install_recorder();
  return runner;
}

base::Result<DatabaseRunner::Run> DatabaseRunner::run(
    std::uint64_t seed, const Choose& choose,
    const std::function<void(const proxy::Footprint&)>& ran, const RunContext& context,
    double settle_ms) {
  Run run;
  if (test_.in_place && !test_.setup.empty()) {
    const auto end = set_up(context);
    if (!end.ok()) return end.error();
    run.end = *end;
    if (end->kind == CommandEnd::Kind::kStopped) return run;
  }
  auto copy = database_->make_copy();
  if (!copy.ok()) return std::move(copy).error();
  run.database = *copy;
  const auto fail = [&](base::Error error) -> base::Result<Run> {
    drop(run);
    return error;
  };
  auto connection = database_->connect(run.database);
  if (!connection.ok()) return fail(connection.error());
  auto catalog = (*connection)->read_catalog();
  if (!catalog.ok()) return fail(catalog.error());
  const auto level = (*connection)->read_default_level();
  if (!level.ok()) return fail(level.error());
  if (no_recorder_.empty()) {
    auto rows = (*connection)->read_rows(*catalog, kMostRecordedRows);
    if (rows.ok()) {
      run.rows = std::move(*rows);
    } else {
      run.no_rows = rows.error().message;
    }
  }
  proxy::Sessions sessions(*level, database_->dialect());
  std::optional<base::Error> unread;
  const auto follow = [&](const std::vector<proxy::Executed>& executed,
                          const proxy::Executed* waits) {
    proxy::Footprint footprint;
    if (waits != nullptr) footprint = sessions.begun(*waits, *catalog);
    for (const auto& one : executed) {
      const auto touched = sessions.follow(one, *catalog).footprint;
      if (touched.unrepeatable) add_unrepeatable(one, database_->dialect(), run.unrepeatable);
      footprint.add(touched);
    }
    // What is unknown may have changed the tables. With an old catalog, statements that depend on
    // each other would be taken for independent ones.
    if (footprint.unknown) {
      auto anew = (*connection)->read_catalog();
      if (anew.ok()) {
        *catalog = std::move(*anew);
      } else if (!unread) {
        unread = anew.error();
      }
    }
    ran(footprint);
  };
  auto server = SchedulingProxy::start(
      {.server = database_->endpoint(),
       .dialect = database_->dialect(),
       .dialogue = {.database_asked = database_->name(),
                    .database_given = run.database,
                    .user = database_->user(),
                    .mark = database_->mark()},
       .settle = std::chrono::duration<double>(settle_ms / 1000),
       .choose = choose,
       .ran = follow,
       .blockers =
           [&](const std::vector<std::int32_t>& backends) {
             return (*connection)->read_blockers(backends);
           },
       .recorded = [&](std::int32_t backend) { return (*connection)->read_recorded(backend); }});
  if (!server.ok()) return fail(server.error());
  auto watched = context;
  watched.started = [&](pid_t process) { (*server)->watch(process); };
  const auto end =
      run_test_command(test_, environment((*server)->port(), run.database, seed), watched);
  (*server)->stop();
  if (!end.ok()) return fail(end.error());
  if (!(*server)->trouble().empty())
    return fail({.message = "the database: " + (*server)->trouble()});
  if (unread)
    return fail({.message = "the tables cannot be read again after a statement that may have "
                            "changed them: " +
                            unread->message});
  run.end = *end;
  run.reached = (*server)->connections() > 0;
  run.executed = (*server)->executed();
  run.observed = observed(run.executed);
  return run;
}

base::Result<FailedRun> DatabaseRunner::failed_run(const Run& run, std::uint64_t seed,
                                                   const std::string& output) {
  FailedRun failed{
      .seed = seed, .end = run.end, .output = last_lines_of(output), .reached_store = run.reached};
  failed.schedule = steps_of(run.executed);
  for (const auto& one : run.executed) {
    for (const auto& answer : one.answers) {
      const bool deadlock = answer.code == "40P01" || answer.code == "1213";
      failed.deadlocks += deadlock ? 1 : 0;
      failed.conflicts += deadlock || answer.code == "40001" || answer.code == "1020" ? 1 : 0;
      failed.lock_timeouts += answer.code == "55P03" || answer.code == "1205" ? 1 : 0;
    }
  }
  auto connection = database_->connect(run.database);
  if (!connection.ok()) return std::move(connection).error();
  auto recorded = proxy::record_rows(run.executed, run.rows, **connection);
  if (!recorded.ok()) return std::move(recorded).error();
  failed.history = std::move(recorded->history);
  for (std::uint32_t label = 0; label < recorded->executed.size(); ++label) {
    std::set<std::uint64_t> steps;
    for (const auto index : recorded->executed[label]) {
      if (const auto turn = run.executed[index].turn; turn != 0) steps.insert(turn);
    }
    if (!steps.empty())
      failed.statements[label].emplace_back(std::string(explain::kStepsField), in_words(steps));
  }
  failed.not_recorded = std::move(recorded->not_recorded);
  failed.nothing_recorded = !no_recorder_.empty()  ? no_recorder_
                            : !run.no_rows.empty() ? run.no_rows
                                                   : recorded->nothing_recorded;
  return failed;
}

namespace {

class DatabaseExploration {
 public:
  DatabaseExploration(const Test& test, const ExplorationOptions& options,
                      const base::TempDir& folder, const std::atomic<bool>& stopped)
      : test_(test),
        options_(options),
        folder_(folder),
        stopped_(stopped),
        settle_ms_(test.store.settle_ms) {
    restart();
  }

  base::Result<ExplorationResult> run() && {
    auto runner = DatabaseRunner::start(test_, context(folder_.file("setup")));
    if (!runner.ok()) return std::move(runner).error();
    if (!*runner) return std::move(result_);
    runner_ = std::move(*runner);
    const std::uint64_t most = options_.choices ? 1 : options_.max_runs;
    while (!result_.exhausted && result_.runs < most && !stopped_) {
      const auto next = run_once();
      if (!next.ok()) return next.error();
      if (!*next) break;
    }
    result_.states = states_.size();
    result_.histories = all_.found();
    result_.diverged = all_.diverged();
    result_.settle_ms = settle_ms_;
    return std::move(result_);
  }

 private:
  void restart() {
    all_ = options_.choices ? proxy::Interleavings(*options_.choices) : proxy::Interleavings();
    states_.clear();
    result_.failures = 0;
    result_.failed.reset();
  }

  // False: that was the last one.
  base::Result<bool> run_once() {
    const auto output = folder_.file(std::to_string(result_.runs));
    std::vector<std::size_t> offered;
    const auto run = runner_->run(
        test_.store.seed,
        [&](const std::vector<proxy::Interleavings::Waiting>& waiting) {
          if (waiting.size() > 1) offered.push_back(waiting.size());
          return all_.choose(waiting);
        },
        [&](const proxy::Footprint& footprint) { all_.ran(footprint); }, context(output),
        settle_ms_);
    if (!run.ok()) return run.error();
    auto counted = count(*run, output, offered);
    runner_->drop(*run);
    std::error_code ignored;
    std::filesystem::remove(output, ignored);
    return counted;
  }

  base::Result<bool> count(const DatabaseRunner::Run& run, const std::string& output,
                           const std::vector<std::size_t>& offered) {
    if (run.end.kind == CommandEnd::Kind::kStopped) return false;
    ++result_.runs;
    if (test_.on_run) test_.on_run();
    result_.unrepeatable.insert(run.unrepeatable.begin(), run.unrepeatable.end());
    result_.reached_store |= run.reached;
    if (!result_.reached_store && run.end.failed()) {
      auto failed = runner_->failed_run(run, test_.store.seed, output);
      if (!failed.ok()) return failed.error();
      result_.failed = std::move(*failed);
      return false;
    }
    if (result_.runs == 1 && !options_.choices && !looked_for_late_) {
      looked_for_late_ = true;
      const auto late = look_for_late_clients(run.end.failed(), offered);
      if (!late.ok()) return late.error();
      result_.late_clients = *late;
      if (raise_settle()) return true;
    }
    result_.exhausted = !all_.next();
    if (all_.repeated()) return true;
    states_.insert(options_.states == StateKind::kOutput ? contents_of(output) : run.observed);
    if (!run.end.failed() || ++result_.failures > 1) return true;
    auto failed = runner_->failed_run(run, test_.store.seed, output);
    if (!failed.ok()) return failed.error();
    result_.failed = std::move(*failed);
    result_.failed_number = result_.runs;
    result_.failed_choices = all_.choices();
    return true;
  }

  // Repeats the first run with a longer settle time, as Exploration does.
  base::Result<LateClients> look_for_late_clients(bool first_failed,
                                                  const std::vector<std::size_t>& offered) {
    std::vector<std::size_t> offered_now;
    const auto output = folder_.file("repeated");
    const auto run = runner_->run(
        test_.store.seed,
        [&](const std::vector<proxy::Interleavings::Waiting>& waiting) {
          if (waiting.size() > 1) offered_now.push_back(waiting.size());
          return std::size_t{0};
        },
        [](const proxy::Footprint&) {}, context(output), longer_settle_ms(settle_ms_));
    if (!run.ok()) return run.error();
    runner_->drop(*run);
    std::error_code ignored;
    std::filesystem::remove(output, ignored);
    if (run->end.kind == CommandEnd::Kind::kStopped) return LateClients::kUnknown;
    if (offered_now != offered) return LateClients::kOtherChoices;
    return run->end.failed() && !first_failed ? LateClients::kFailed : LateClients::kNone;
  }

  bool raise_settle() {
    if (!raises_settle(options_, result_, settle_ms_)) return false;
    restart();
    return true;
  }

  [[nodiscard]] RunContext context(const std::string& output) const {
    return {.output = output, .stopping = [this] { return stopped_.load(); }};
  }

  const Test& test_;
  const ExplorationOptions& options_;
  const base::TempDir& folder_;
  const std::atomic<bool>& stopped_;
  double settle_ms_;
  bool looked_for_late_ = false;
  std::unique_ptr<DatabaseRunner> runner_;
  proxy::Interleavings all_;
  std::set<std::string> states_;
  ExplorationResult result_;
};

}  // namespace

base::Result<ExplorationResult> explore_database(const Test& test,
                                                 const ExplorationOptions& options,
                                                 const std::atomic<bool>& stopped) {
  const auto folder = base::TempDir::make("cupel-mock-");
  if (!folder.ok()) return folder.error();
  return DatabaseExploration(test, options, *folder, stopped).run();
}

}  // namespace cupel::mocktest
