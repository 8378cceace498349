// The processes of a run: the set-up and the command.
#include "mock/mocktest/command_run.hpp"

#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "mock/mocktest/output_text.hpp"
#include "mock/mocktest/statement_lines.hpp"

namespace cupel::mocktest {

namespace {

using wire::Interface;
using wire::Server;

constexpr const char* kAddress = "127.0.0.1";

Environment environment(const Server& server, std::uint64_t seed) {
  const auto postgres = server.port(Interface::kPostgres);
  return {
      {"PGHOST", kAddress},
      {"PGPORT", std::to_string(postgres)},
      {"PGUSER", "cupel"},
      {"PGDATABASE", "cupel"},
      {"CUPEL_MOCK_PG_URL", fmt::format("postgres://cupel@{}:{}/cupel", kAddress, postgres)},
      {"CUPEL_MOCK_HTTP_URL", fmt::format("http://{}:{}", kAddress, server.port(Interface::kHttp))},
      {"CUPEL_MOCK_SEED", std::to_string(seed)}};
}

// Runs the set-up against a store that behaves like a database in one place, and makes the state it
// leaves the initial state of `served`, which every session sees.
base::Result<CommandEnd> set_up(wire::StoreServer& served, const Test& test, std::uint64_t seed,
                                const RunContext& context) {
  mock::Store loading(setup_store_options());
  const auto backend = wire::make_backend(loading, served.catalog);
  auto server = Server::start(*backend, {.postgres = 0, .http = 0});
  if (!server.ok()) return std::move(server).error();
  auto end = run_setup(test, environment(**server, seed), context);
  if (!end.ok() || end->kind == CommandEnd::Kind::kStopped) return end;
  const auto session = loading.open_session("copy");
  const auto reading = loading.begin(session);  // before the server stops, which ends the store
  for (const auto& key : reading->keys_with_prefix("")) {
    served.store.set_initial(key, *reading->read(key));
  }
  reading->rollback();
  (*server)->stop();
  return *end;
}

}  // namespace

base::Result<CommandEnd> run_process(const std::vector<std::string>& command,
                                     const Environment& environment, double time_limit_seconds,
                                     const RunContext& context) {
  auto process = base::Process::start({.arguments = command,
                                       .environment = environment,
                                       .input = base::Stream::nothing(),
                                       .output = base::Stream::file(context.output),
                                       .errors = base::Stream::output()});
  if (!process.ok()) return std::move(process).error();
  if (context.started) context.started(process->id());
  const auto began = std::chrono::steady_clock::now();
  std::optional<base::ExitStatus> status;
  bool timed_out = false;
  const auto violated = [&] { return context.violated && context.violated(); };
  const base::Seconds pause(context.violated ? 0.02 : 0.05);
  while (!status && !timed_out && !context.stopping() && !violated()) {
    status = process->wait(pause);
    timed_out =
        base::Seconds(std::chrono::steady_clock::now() - began).count() > time_limit_seconds;
  }
  using Kind = CommandEnd::Kind;
  if (status && !status->known) {
    return base::Error{.message = "the command " + status->to_string(), .file = command.front()};
  }
  if (status) return CommandEnd{status->well() ? Kind::kPassed : Kind::kFailed, *status};
  process->stop(base::Seconds(violated() ? 0.05 : 1));
  return CommandEnd{violated() ? Kind::kViolated : timed_out ? Kind::kTimedOut : Kind::kStopped};
}

base::Result<CommandEnd> run_test_command(const Test& test, const Environment& environment,
                                          const RunContext& context) {
  auto end = run_process(test.command, environment, test.time_limit_seconds, context);
  if (!end.ok() || end->kind != CommandEnd::Kind::kFailed || !end->status.not_run()) return end;
  return base::Error{.message = fmt::format("the command {}, so nothing was tested. Correct the "
                                            "command; it printed:\n{}",
                                            end->status.to_string(), last_lines_of(context.output)),
                     .file = test.command.front()};
}

base::Result<CommandEnd> run_watched(const Test& test, const LiveWatch::Store& store,
                                     const Environment& environment, const RunContext& context) {
  if (!test.live) return run_test_command(test, environment, context);
  LiveWatch watch(store, *test.live);
  auto watched = context;
  watched.violated = [&] { return watch.violated(); };
  auto end = run_test_command(test, environment, watched);
  if (!end.ok() || end->kind == CommandEnd::Kind::kStopped) return end;
  const auto violated = watch.end();
  if (!violated.ok()) return violated.error();
  if (*violated && end->kind == CommandEnd::Kind::kPassed) end->kind = CommandEnd::Kind::kViolated;
  return end;
}

mock::Options setup_store_options() {
  mock::Options options;
  options.level = mock::Level::kStrongSessionSerializable;
  options.choose = [](std::size_t allowed) { return allowed - 1; };  // what was committed last
  return options;
}

base::Result<CommandEnd> run_setup(const Test& test, const Environment& environment,
                                   const RunContext& context) {
  auto end =
      run_process({"/bin/sh", "-c", test.setup}, environment, test.time_limit_seconds, context);
  if (!end.ok() || !end->failed()) return end;
  const auto how = end->kind == CommandEnd::Kind::kTimedOut
                       ? fmt::format("took more than {} s (--time-limit)", test.time_limit_seconds)
                       : end->status.to_string();
  return base::Error{
      .message = fmt::format("the set-up {}; it printed:\n{}", how, last_lines_of(context.output)),
      .file = test.setup};
}

base::Result<CommandEnd> run_command(wire::StoreServer& served, const Test& test,
                                     std::uint64_t seed, const RunContext& context) {
  if (!test.setup.empty()) {
    const auto ready = set_up(served, test, seed, context);
    if (!ready.ok()) return ready.error();
    if (ready->kind == CommandEnd::Kind::kStopped) return *ready;
  }
  if (const auto started = served.start({.postgres = 0, .http = 0}); !started.ok())
    return started.error();
  const LiveWatch::Store store{[&] { return served.store.history(); },
                               [&] { return served.store.commits(); }};
  auto end = run_watched(test, store, environment(*served.server, seed), context);
  served.server->stop();
  return end;
}

base::Result<FailedRun> failed_run(const wire::StoreServer& served, std::uint64_t seed,
                                   const CommandEnd& end, const std::string& output) {
  auto history = served.store.history();
  if (!history.ok()) return std::move(history).error();
  return FailedRun{.seed = seed,
                   .end = end,
                   .output = last_lines_of(output),
                   .history = std::move(*history),
                   .statements = statement_fields(served.store.statements()),
                   .conflicts = served.store.conflicts(),
                   .reached_store = served.store.asked_for() > 0,
                   .ignored_locks = served.catalog.ignored_locks()};
}

}  // namespace cupel::mocktest
