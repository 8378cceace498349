// cupel mock: serves a database that is as weak as its level allows. `cupel mock test` is in
// mock_test_command.cpp.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>

#include "apps/emit.hpp"
#include "apps/interrupt.hpp"
#include "apps/mock/mock_options.hpp"
#include "apps/options.hpp"
#include "base/read_file.hpp"
#include "mock/mocktest/engine_run.hpp"
#include "mock/wire/store_server.hpp"
#include "report/wording.hpp"

namespace cupel::apps {

namespace {

using wire::Interface;

struct ServeArguments : StoreArguments {
  std::optional<std::uint16_t> postgres, http;
  std::string address = "127.0.0.1", history;
  std::optional<std::string> password;
  std::string password_file;
};

bool is_loopback(const std::string& address) {
  return address.starts_with("127.") || address == "::1" || address == "localhost";
}

// Where the history goes. Checked at the start: at the end, what happened would be lost.
base::Result<std::optional<formats::WriteOptions>> history_target(const ServeArguments& arguments) {
  if (arguments.history.empty()) return std::optional<formats::WriteOptions>();
  const auto asked = write_options(arguments.history, "", false, "");
  if (!asked.ok()) return asked.error();
  if (const auto can = formats::can_write(arguments.history, *asked); !can.ok()) return can.error();
  return std::optional(*asked);
}

// Where no list of processes shows it: the first line of a file, or of the environment.
base::Status take_password(ServeArguments& arguments) {
  const char* exported = std::getenv("CUPEL_MOCK_PASSWORD");
  if (arguments.password_file.empty()) {
    if (!arguments.password && exported != nullptr) arguments.password = exported;
    return base::Ok{};
  }
  auto text = base::read_file(arguments.password_file);
  if (!text.ok()) return std::move(text).error();
  arguments.password = text->substr(0, text->find_first_of("\r\n"));
  if (!arguments.password->empty()) return base::Ok{};
  return base::Error{.message = "found an empty first line, expected the password there",
                     .file = arguments.password_file};
}

void print_level(const ServeArguments& arguments) {
  flush_output();
  if (!arguments.note.empty()) print_note(arguments.note);
  print_error(fmt::format("level {}, seed {}; Ctrl-C stops it", mock::title(arguments.store),
                          arguments.store.seed));
}

// The command's exit code.
int write_served(const ServeArguments& arguments, const formats::WriteOptions& target,
                 const base::Result<history::History>& history) {
  if (!history.ok()) return bad(history.error());
  if (history->txn_count() == 0) {
    print_error(fmt::format(
        "warning: no transaction ended, so there is no history, and {} was not written{}",
        arguments.history, of_another_run(arguments.history)));
    return kSatisfied;
  }
  const int code = write_history(*history, arguments.history, target);
  if (code == kSatisfied) {
    const auto level = arguments.store.product == mock::Product::kNone
                           ? fmt::format(" -l {}", mock::name(arguments.store.level))
                           : std::string();
    print_error(fmt::format("wrote {}; to check: cupel check{} {}",
                            report::counted(history->txn_count(), "transaction"), level,
                            shell_word(arguments.history)));
  }
  return code;
}

// Clients that do nothing, or strangers, leave place for others.
constexpr std::size_t kMostConnections = 2000;

void allow_connections() {
  rlimit files = {};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = std::max(files.rlim_cur, std::min<rlim_t>(files.rlim_max, 2 * kMostConnections));
  ::setrlimit(RLIMIT_NOFILE, &files);
}

int serve_engine(const ServeArguments& arguments) {
  allow_connections();
  const auto target = history_target(arguments);
  if (!target.ok()) return bad(target.error());
  const Interruptible interruptible;
  const auto engine =
      mocktest::start_engine(arguments.engine, {.store = arguments.store,
                                                .locks = arguments.engine_locks,
                                                .strong_constraints = arguments.strong_constraints,
                                                .interrupted = &interruptible.stopped()});
  if (!engine.ok()) return bad(engine.error());
  print(arguments.engine == mocktest::Engine::kPostgres
            ? fmt::format("postgres  psql {}\n", (*engine)->url())
            : fmt::format("mysql     mariadb -h 127.0.0.1 -P {} -u cupel cupel\n",
                          (*engine)->port()));
  print_level(arguments);
  interruptible.wait();
  (*engine)->server().stop();
  return *target ? write_served(arguments, **target, (*engine)->store().history()) : kSatisfied;
}

void print_servers(const ServeArguments& arguments, const wire::Server& server) {
  if (const auto open = server.port(Interface::kPostgres)) {
    print(fmt::format("postgres  psql {}\n", url("postgres", arguments.address, open)));
  }
  if (const auto open = server.port(Interface::kHttp)) {
    print(fmt::format("http      curl {}--json '{{\"sql\": \"select 1\"}}' {}/sql\n",
                      arguments.password ? "-H 'Authorization: Bearer PASSWORD' " : "",
                      http_url(arguments.address, open)));
  }
}

int serve(ServeArguments& arguments) {
  allow_connections();
  if (const auto taken = take_password(arguments); !taken.ok()) return bad(taken.error());
  const auto target = history_target(arguments);
  if (!target.ok()) return bad(target.error());
  wire::StoreServer served(arguments.store);
  const bool all = !arguments.postgres && !arguments.http;
  const auto port = [&](const std::optional<std::uint16_t>& given) {
    return all ? std::optional<std::uint16_t>(0) : given;
  };
  const Interruptible interruptible;
  if (const auto started = served.start({.address = arguments.address,
                                         .postgres = port(arguments.postgres),
                                         .http = port(arguments.http),
                                         .max_connections = kMostConnections,
                                         .password = arguments.password});
      !started.ok()) {
    return bad(started.error());
  }
  if (!is_loopback(arguments.address) && !arguments.password) {
    print_error(fmt::format(
        "warning: every client that reaches {} can use this server; set --password-file to prevent "
        "it",
        arguments.address));
  }
  print_servers(arguments, *served.server);
  print_level(arguments);
  interruptible.wait();
  served.server->stop();
  return *target ? write_served(arguments, **target, served.store.history()) : kSatisfied;
}

}  // namespace

void add_mock(Command& app, Run& run) {
  auto* command = add_command(app, "mock");
  command->require_subcommand(0, 1);
  auto arguments = std::make_shared<ServeArguments>();
  add_engine_options(*command, *arguments);
  add_store_options(*command, *arguments);
  const char* where = "Protocols and ports (default: both, on free ports)";
  const auto port = [&](const char* option, std::optional<std::uint16_t>& value, const char* what) {
    command->add_option(option, value, fmt::format("{}; 0: any free port", what))
        ->type_name("PORT")
        ->check(whole_number(0, 65535))
        ->group(where);
  };
  port("--pg", arguments->postgres, "PostgreSQL's wire protocol on this port");
  port("--http", arguments->http, "HTTP with JSON on this port (docs/reference/mock-server.md)");
  command->add_option("--bind", arguments->address, "The address to listen on")
      ->type_name("ADDRESS")
      ->capture_default_str()
      ->group(where);
  command
      ->add_option("--password", arguments->password,
                   "The password that clients must send. Default: the environment variable "
                   "CUPEL_MOCK_PASSWORD; if there is none, any password is accepted")
      ->type_name("TEXT")
      ->group(where);
  command
      ->add_option(
          "--password-file", arguments->password_file,
          "The same, as the first line of a file. Unlike an argument, no list of processes "
          "shows it")
      ->type_name("FILE")
      ->check(not_empty("a file"))
      ->group(where);
  command
      ->add_option(
          "--history", arguments->history,
          "Write the history of all transactions to this file at the end, in the format of "
          "its extension (.jsonl, .edn, .cupel …)")
      ->type_name("FILE");
  command->footer(
      "Examples:\n"
      "  cupel mock --level causal --pg 5433 --history history.jsonl\n"
      "  cupel mock --level read-committed --policy adversarial\n"
      "  cupel mock --engine postgres --level snapshot-isolation\n"
      "  cupel mock --engine mariadb --level read-committed\n"
      "  cupel mock test --level causal --iterations 200 -- ./run-tests.sh");
  command->callback([arguments, command, &run] {
    if (command->got_subcommand("test")) {
      for (const auto* option : command->get_options()) {
        if (option->count() == 0) continue;
        throw UsageError(
            option->name(),
            "found before `test`, expected after it: `cupel mock test` has options of its own");
      }
      return;
    }
    take_store_options(*arguments);
    arguments->store.overlap = true;
    if (arguments->engine != mocktest::Engine::kOwn) {
      for (const char* option : {"--pg", "--http", "--bind", "--password", "--password-file"}) {
        if (command->get_option(option)->empty()) continue;
        throw UsageError(option,
                         fmt::format("found with --engine {}, expected it with --engine own",
                                     arguments->engine_name));
      }
      run = [arguments] { return serve_engine(*arguments); };
    } else {
      if (arguments->password && !arguments->password_file.empty()) {
        throw UsageError("--password-file", "found with --password, expected one of them");
      }
      run = [arguments] { return serve(*arguments); };
    }
  });
  add_mock_test(*command, run);
}

}  // namespace cupel::apps
