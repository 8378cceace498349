// cupel lab: servers to test against, which outlive the command that starts them.
//
// What runs is remembered in one file a server, under $XDG_STATE_HOME/cupel/lab or
// ~/.local/state/cupel/lab: name.json, as lab::Server writes it.
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "apps/command.hpp"
#include "databases/lab/namespaces.hpp"
#include "databases/lab/server.hpp"

namespace cupel::apps {

namespace {

namespace fs = std::filesystem;
using base::Error;
using base::Result;

struct LabArguments {
  std::string kind, name;
  std::vector<std::string> names;
  lab::Options options;
  bool fast = false;
  std::string network;  // empty: what is best for the kind
  int node = -1;        // all
};

constexpr const char* kOtherState = "set XDG_STATE_HOME to a folder that you may write to";

Result<std::string> state_folder() {
  const auto value = [](const char* variable) -> std::string {
    const char* text = std::getenv(variable);
    return text != nullptr ? text : "";
  };
  fs::path top = value("XDG_STATE_HOME");
  if (!top.is_absolute()) {  // its standard says to ignore it then
    if (value("HOME").empty()) {
      return Error{.message =
                       "found neither XDG_STATE_HOME nor HOME set; set one, so that running "
                       "servers can be remembered there"};
    }
    top = fs::path(value("HOME")) / ".local/state";
  }
  const auto folder = (top / "cupel/lab").string();
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (failure) {
    return Error{.message = fmt::format("cannot make the folder of the servers' state: {}; {}",
                                        failure.message(), kOtherState),
                 .file = folder};
  }
  return folder;
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  // Not by std::filesystem, which ends the program if it cannot allocate.
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(folder.c_str()), ::closedir);
  while (const auto* entry = open ? ::readdir(open.get()) : nullptr) {
    const std::string_view file = entry->d_name;
    if (file.ends_with(".json")) names.emplace_back(file.substr(0, file.size() - 5));
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string file_of(const std::string& folder, const std::string& name) {
  return folder + "/" + name + ".json";
}

Result<lab::Server> find(const std::string& folder, const std::string& name) {
  const auto names = names_in(folder);
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    return Error{.message = fmt::format("found no server `{}`; {}", name,
                                        names.empty()
                                            ? "none was started; `cupel lab start KIND` starts one"
                                            : fmt::format("there are {}", fmt::join(names, ", ")))};
  }
  return lab::Server::attach(file_of(folder, name));
}

// Commands that change what is remembered come one after the other. The lock goes
// with the program.
Result<base::Ok> lock(const std::string& folder) {
  const auto path = folder + "/lock";
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || ::flock(file, LOCK_EX) != 0) {
    return Error{.message = fmt::format("cannot lock the state of the servers: {}; {}",
                                        std::strerror(errno), kOtherState),
                 .file = path};
  }
  return base::Ok{};
}

Result<std::string> locked_folder() {
  auto folder = state_folder();
  if (!folder.ok()) return folder;
  if (auto locked = lock(*folder); !locked.ok()) return std::move(locked).error();
  lab::clear_remains();
  return folder;
}

// Whether the nodes get networks of their own. Single servers do only if it is asked for: clients
// expect them on loopback.
Result<bool> wants_namespaces(const LabArguments& arguments) {
  const auto kind = *lab::find_kind(arguments.kind);
  const auto& asked = arguments.network;
  const auto nodes =
      arguments.options.nodes > 0 ? arguments.options.nodes : lab::node_count(kind).by_default;
  if (asked == "loopback" || (asked.empty() && nodes == 1)) return false;
  const auto why = ::geteuid() != 0
                       ? std::string(
                             "only root may put the nodes of a server that outlives the "
                             "command in networks of their own")
                       : lab::networks_forbidden();
  if (why.empty()) return true;
  if (!asked.empty()) {
    return Error{.message = fmt::format("--network: {}; `cupel run --db lab:{}` may need no root",
                                        why, arguments.kind)};
  }
  print_status(
      fmt::format("cupel: {}, so the nodes share the loopback interface, and faults of the "
                  "network are not possible\n",
                  why));
  return false;
}

int start(const LabArguments& arguments) {
  const auto folder = locked_folder();
  if (!folder.ok()) return bad(folder.error());
  const auto names = names_in(*folder);
  const auto taken = [&](const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  auto name = arguments.name;
  if (name.empty()) {
    const auto kind = fs::path(arguments.kind).stem().string();  // of a description too
    name = kind;
    for (int i = 2; taken(name); ++i) name = fmt::format("{}-{}", kind, i);
  } else if (taken(name)) {
    return bad({.message = fmt::format("there is a server `{0}` already; `cupel lab stop {0}` "
                                       "stops it",
                                       name)});
  }
  auto options = arguments.options;
  options.durable = !arguments.fast;
  options.detached = true;
  const auto namespaces = wants_namespaces(arguments);
  if (!namespaces.ok()) return bad(namespaces.error());
  options.namespaces = *namespaces;
  options.state_file = file_of(*folder, name);
  const auto server = lab::start(*lab::find_kind(arguments.kind), options);
  if (!server.ok()) return bad(server.error());
  print(server->url() + "\n");
  flush_output();
  print_status(fmt::format("cupel: {0} is up, in {1}; `cupel lab stop {0}` stops and removes it\n",
                           name, server->directory()));
  return kSatisfied;
}

// On standard error: standard output has a line for each server.
void report_no_server() {
  print_error("there is no server; `cupel lab start KIND` starts one");
}

int stop(const LabArguments& arguments) {
  const auto folder = locked_folder();
  if (!folder.ok()) return bad(folder.error());
  auto names = arguments.names;
  if (names == std::vector<std::string>{"all"}) {
    names = names_in(*folder);
    if (names.empty()) report_no_server();
  }
  int code = kSatisfied;
  for (const auto& name : names) {
    auto server = find(*folder, name);
    if (!server.ok()) {
      code = bad(server.error());
      continue;
    }
    server->stop();
    print(fmt::format("stopped {}\n", name));
  }
  return code;
}

struct Listed {
  std::string name, state, url, directory;
  std::vector<int> processes;
};

std::string line_of(const Listed& server) {
  return fmt::format("{}\t{}\t{}\t{}\t{}\n", server.name, server.state, server.url,
                     fmt::join(server.processes, ","), server.directory);
}

std::string json_of(const std::vector<Listed>& servers) {
  auto all = nlohmann::ordered_json::array();
  for (const auto& server : servers)
    all.push_back({{"name", server.name},
                   {"state", server.state},
                   {"url", server.url},
                   {"processes", server.processes},
                   {"directory", server.directory}});
  return nlohmann::ordered_json{{"servers", std::move(all)}}.dump() + "\n";
}

int list(bool as_json) {
  const auto folder = state_folder();
  if (!folder.ok()) return bad(folder.error());
  lab::clear_remains();  // without the lock, which a start may have for long
  const auto names = names_in(*folder);
  if (names.empty() && !as_json) report_no_server();
  int code = kSatisfied;
  std::vector<Listed> servers;
  for (const auto& name : names) {
    const auto server = find(*folder, name);
    if (!server.ok()) {
      code = bad(server.error());
      continue;
    }
    std::size_t running = 0;
    std::vector<int> processes;
    for (std::size_t node = 0; node < server->nodes(); ++node) {
      if (!server->running(node)) continue;
      ++running;
      processes.push_back(server->process(node));
    }
    const auto state = running == 0 ? std::string("dead")
                       : running == server->nodes()
                           ? std::string("running")
                           : fmt::format("{} of {} running", running, server->nodes());
    servers.push_back({name, state, server->url(), server->directory(), processes});
    if (!as_json) print(line_of(servers.back()));
  }
  if (as_json) print(json_of(servers));
  return code;
}

// kill and restart
int disturb(const LabArguments& arguments, bool again) {
  const auto folder = locked_folder();
  if (!folder.ok()) return bad(folder.error());
  auto server = find(*folder, arguments.name);
  if (!server.ok()) return bad(server.error());
  const bool all = arguments.node < 0;
  const auto node = static_cast<std::size_t>(arguments.node);
  if (!all && node >= server->nodes()) {
    return bad({.message = fmt::format("found node {}, but the nodes of {} are 0 to {}", node,
                                       arguments.name, server->nodes() - 1)});
  }
  if (!again) {
    all ? server->kill() : server->kill(node);
    return kSatisfied;
  }
  const auto up = all ? server->restart() : server->restart(node);
  if (!up.ok()) return bad(up.error());
  return kSatisfied;
}

int fail_over(const LabArguments& arguments) {
  const auto folder = locked_folder();
  if (!folder.ok()) return bad(folder.error());
  auto server = find(*folder, arguments.name);
  if (!server.ok()) return bad(server.error());
  const auto primary = server->failover();
  if (!primary.ok()) return bad(primary.error());
  print(fmt::format("node {} of {} is the primary\n", *primary, arguments.name));
  return kSatisfied;
}

std::string kinds() {
  std::vector<std::string_view> names;
  for (const auto kind : lab::all_kinds()) names.push_back(lab::name(kind));
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string described_kinds() {
  std::string text = "Kinds:";
  for (const auto kind : lab::all_kinds()) {
    text += fmt::format("\n  {:<17} {}", lab::name(kind), lab::summary(kind));
  }
  return text;
}

void add_list(Command& lab, Run& run) {
  auto* listing = lab.add_subcommand(
      "list", "Print a line for each server: name, state, URL, process ids, directory");
  auto as_json = std::make_shared<bool>(false);
  listing->add_flag("--json", *as_json, "Print one JSON object on one line");
  listing->callback([as_json, &run] { run = [as_json] { return list(*as_json); }; });
}

}  // namespace

void add_lab(Command& app, Run& run) {
  auto* command = add_command(app, "lab");
  command->require_subcommand(1);
  auto arguments = std::make_shared<LabArguments>();

  auto* starting = command->add_subcommand(
      "start", "Start a server in a temporary directory, and print its URL");
  starting
      ->add_option("KIND", arguments->kind,
                   "The server: " + kinds() + ", or FILE.json: a description of your own")
      ->required()
      ->type_name("");
  starting->add_option("--name", arguments->name, "The name of the server. Default: KIND, KIND-2 …")
      ->type_name("NAME")
      ->check([](const std::string& name) -> std::string {
        const bool well = !name.empty() && name != "all" &&
                          std::all_of(name.begin(), name.end(), [](unsigned char c) {
                            return std::isalnum(c) != 0 || c == '-' || c == '_';
                          });
        return well ? "" : fmt::format("found `{}`, expected letters, digits, - and _", name);
      });
  starting
      ->add_option("-o,--option", arguments->options.server_options,
                   "An option of the server, by its own name. May be repeated")
      ->type_name("NAME=VALUE");
  starting->add_flag("--fast", arguments->fast,
                     "Commits do not wait for the disk. They survive a crash of the server, but "
                     "not of the machine");
  auto* nodes = starting
                    ->add_option("--nodes", arguments->options.nodes,
                                 "Number of nodes. Default: the kind's own")
                    ->type_name("N")
                    ->check(whole_number(1, 9));
  starting
      ->add_option("--network", arguments->network,
                   "Where the nodes listen: loopback, or namespaces, one for each node. Default: "
                   "namespaces for several nodes, if this machine allows it")
      ->type_name("WHERE")
      ->check([](const std::string& where) -> std::string {
        return where == "loopback" || where == "namespaces"
                   ? ""
                   : fmt::format("found `{}`, expected loopback or namespaces", where);
      });
  starting->add_flag("--sync", arguments->options.synchronous,
                     "A commit on the primary waits until a standby or replica has it");
  starting->callback([arguments, nodes, &run] {
    const auto kind = lab::find_kind(arguments->kind);
    if (!kind.ok()) throw UsageError("KIND", kind.error().to_string());
    if (nodes->count() > 0 && lab::node_count(*kind).most == 1) {
      throw UsageError("--nodes",
                       fmt::format("found it with {}, which starts one server", arguments->kind));
    }
    if (arguments->options.synchronous && !lab::has_standbys(*kind)) {
      throw UsageError("--sync", fmt::format("found it with {}, which has no synchronous standby",
                                             arguments->kind));
    }
    run = [arguments] { return start(*arguments); };
  });

  starting->footer(described_kinds());

  auto* stopping = command->add_subcommand(
      "stop", "Stop servers and remove their data; `all` stops all of them");
  stopping->add_option("NAME", arguments->names, "Servers by name, or `all`")
      ->required()
      ->type_name("");
  stopping->callback([arguments, &run] { run = [arguments] { return stop(*arguments); }; });

  add_list(*command, run);

  for (const bool again : {false, true}) {
    auto* disturbing = command->add_subcommand(
        again ? "restart" : "kill",
        again ? "Start a server again, with its old data and port"
              : "Kill a server, or one node, as a crash does (SIGKILL); its data stays");
    disturbing->add_option("NAME", arguments->name, "A server by name")->required()->type_name("");
    disturbing->add_option("--node", arguments->node, "One node of a cluster. The first is 0")
        ->type_name("N")
        ->check(whole_number(0, 1000));
    disturbing->callback([arguments, &run, again] {
      run = [arguments, again] { return disturb(*arguments, again); };
    });
  }
  auto* failing_over = command->add_subcommand(
      "failover",
      "Make another node the primary. Where the old one cannot follow as it is, it is killed, and "
      "`restart` makes it follow");
  failing_over->add_option("NAME", arguments->name, "A server by name")->required()->type_name("");
  failing_over->callback(
      [arguments, &run] { run = [arguments] { return fail_over(*arguments); }; });
  command->footer(
      "Examples:\n"
      "  cupel lab start postgres\n"
      "  cupel lab start mariadb -o innodb_snapshot_isolation=ON\n"
      "  cupel run --db \"$(cupel lab start galera)\"\n"
      "  cupel run --db URL --fault 'cupel lab kill postgres' --heal 'cupel lab restart postgres'\n"
      "  cupel lab stop all");
}

}  // namespace cupel::apps
