// Own clusters: a KindSpec made of what a file says. The functions of a KindSpec know their site,
// and a site its kind, by which the description is found.
#include "databases/lab/own.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include "base/budget.hpp"
#include "base/newlines.hpp"
#include "databases/lab/kinds.hpp"
#include "databases/lab/log.hpp"
#include "databases/lab/programs.hpp"

namespace cupel::lab {

namespace {

namespace fs = std::filesystem;
using base::Error;
using base::Ok;
using base::Status;
using Json = nlohmann::json;

constexpr std::size_t kMostKinds = 200;  // a Kind is a byte
constexpr std::uint32_t kMostNodes = 9;
constexpr std::size_t kMostPorts = 8;
constexpr base::Seconds kStatusTime{5};

struct Description {
  bool from_file = true;  // not from the state of a server that was started by it
  std::string text;       // as JSON
  std::string name, url, user, install, start, status, primary, leave, join;
  std::uint32_t nodes = 1;
  std::size_t ports = 1;
  double patience = 60;
  KindSpec spec{};
};

// Never shrinks, so that the texts which the specs view stay.
struct Registry {
  std::mutex mutex;
  std::deque<Description> all;
  static Registry& get() {
    static Registry registry;
    return registry;
  }
};

const Description& description_of(Kind kind) {
  auto& registry = Registry::get();
  const std::lock_guard lock(registry.mutex);
  return registry.all.at(static_cast<std::size_t>(kind) - kBuiltInKinds);
}

using Environment = std::vector<std::pair<std::string, std::string>>;

Environment environment_of_node(const Site& site, const Node& node) {
  const auto& own = description_of(site.kind);
  Environment all{{"LAB_NODE", std::to_string(site.number_of(node))},
                  {"LAB_NODES", std::to_string(site.nodes.size())},
                  {"LAB_ADDRESS", node.address},
                  {"LAB_DATA", node.directory}};
  for (std::size_t i = 0; i < own.ports; ++i) {
    const auto suffix = i == 0 ? std::string() : std::to_string(i + 1);
    if (node.ports.size() > i) all.emplace_back("LAB_PORT" + suffix, std::to_string(node.ports[i]));
    std::string hosts;
    for (const auto& member : site.nodes) {
      if (member.ports.size() <= i) continue;
      hosts += fmt::format("{}{}:{}", hosts.empty() ? "" : ",", member.address, member.ports[i]);
    }
    all.emplace_back("LAB_HOSTS" + suffix, hosts);
  }
  return all;
}

// A command of the description, by the shell, as the processes of the node are.
base::ProcessOptions command_of(const Site& site, const Node& node, const std::string& text) {
  auto environment = environment_of(site);
  for (auto& variable : environment_of_node(site, node)) environment.push_back(std::move(variable));
  return {.arguments = {"/bin/sh", "-c", text},
          .environment = std::move(environment),
          .directory = site.directory,
          .user = site.user,
          .network = node.network};
}

// Its output, unless it is interrupted.
base::Result<std::string> run_command(const Site& site, const Node& node, const std::string& text,
                                      base::Seconds time,
                                      const std::atomic<bool>* interrupted = nullptr) {
  auto options = command_of(site, node, text);
  options.output = base::Stream::pipe();
  auto process = base::Process::start(options);
  if (!process.ok()) return std::move(process).error();
  const auto deadline = std::chrono::steady_clock::now() + time;
  std::optional<std::string> output;
  while (!output && std::chrono::steady_clock::now() < deadline) {
    output = process->read_all(std::min(time, base::Seconds(0.1)));
    if (!output && interrupted != nullptr && *interrupted) {
      return Error{.message = fmt::format("interrupted while `{}` ran", text)};
    }
  }
  const auto status = output ? process->wait(time) : std::nullopt;
  if (!status) return Error{.message = fmt::format("`{}` did not end in {} s", text, time.count())};
  if (!status->well()) {
    return Error{.message = fmt::format("`{}` {}", text, status->to_string())};
  }
  return *std::move(output);
}

Status find_nothing() {
  return Ok{};  // its commands say what they lack
}

Status make_folders(const Site& site) {
  for (const auto& node : site.nodes) {
    auto made = run_once(site, {"mkdir", "-p", node.directory}, node.log);
    if (!made.ok()) return made;
  }
  return Ok{};
}

base::Result<std::vector<std::string>> install(const Site& site, const Start& start) {
  const auto& own = description_of(site.kind);
  const auto& node = site.nodes[start.node];
  if (start.joins) {
    auto made = run_once(site, {"mkdir", "-p", node.directory}, node.log);
    if (!made.ok()) return std::move(made).error();
  }
  const auto run = [&](const char* field, const std::string& command) -> Status {
    if (command.empty()) return Ok{};
    constexpr base::Seconds kToInstall{300};
    const auto done = run_command(site, node, command, kToInstall, site.options.interrupted);
    if (done.ok()) return Ok{};
    return Error{.message = fmt::format("{}: {}", field, done.error().message)};
  };
  auto ready = start.first || start.joins ? run("install", own.install) : Status(Ok{});
  if (ready.ok() && start.joins) ready = run("join", own.join);
  if (!ready.ok()) return std::move(ready).error();
  return std::vector<std::string>();
}

Status leave_own(const Site& site, std::size_t node) {
  constexpr base::Seconds kToLeave{60};
  const auto done = run_command(site, site.nodes[node], description_of(site.kind).leave, kToLeave,
                                site.options.interrupted);
  if (done.ok()) return Ok{};
  return Error{.message = "leave: " + done.error().message};
}

std::vector<std::string> start_command(const Site& site, const Node& /*node*/) {
  return {"/bin/sh", "-c", description_of(site.kind).start};
}

bool is_up(const Site& site, const Node& node, std::string_view /*written*/) {
  const auto& command = description_of(site.kind).status;
  if (command.empty()) return listens(node.address, node.ports[0], base::Seconds(1));
  auto process = base::Process::start(command_of(site, node, command));
  const auto status = process.ok() ? process->wait(kStatusTime) : std::nullopt;
  return status && status->well();
}

// The numbers that the command prints; the nodes that it fails on know of none.
std::vector<std::size_t> primaries(const Site& site) {
  const auto& own = description_of(site.kind);
  std::vector<std::size_t> found;
  for (const auto& node : site.nodes) {
    const auto output = run_command(site, node, own.primary, kStatusTime);
    if (!output.ok()) continue;
    std::istringstream words(*output);
    for (std::size_t number = 0; words >> number;) {
      const bool known = std::find(found.begin(), found.end(), number) != found.end();
      if (number < site.nodes.size() && !known) found.push_back(number);
    }
    if (!found.empty()) break;
  }
  return found;
}

[[noreturn]] void wrong(const std::string& field, const Json& found, std::string_view expected) {
  throw std::invalid_argument(
      fmt::format("{}: found {}, expected {}", field, found.dump(), expected));
}

std::string text_of_field(const std::string& name, const Json& value) {
  if (!value.is_string() || value.get<std::string>().empty()) wrong(name, value, "a text");
  return value;
}

double number_of_field(const std::string& name, const Json& value, double least, double most) {
  if (!value.is_number() || value.get<double>() < least || value.get<double>() > most) {
    wrong(name, value, fmt::format("a number from {} to {}", least, most));
  }
  return value;
}

void take_field(const std::string& name, const Json& value, Description& own) {
  const std::map<std::string, std::string*> texts{
      {"url", &own.url},     {"user", &own.user},     {"install", &own.install},
      {"start", &own.start}, {"status", &own.status}, {"primary", &own.primary},
      {"leave", &own.leave}, {"join", &own.join}};
  if (const auto text = texts.find(name); text != texts.end()) {
    *text->second = text_of_field(name, value);
  } else if (name == "nodes") {
    own.nodes = static_cast<std::uint32_t>(number_of_field(name, value, 1, kMostNodes));
  } else if (name == "ports") {
    own.ports = static_cast<std::size_t>(number_of_field(name, value, 1, kMostPorts));
  } else if (name == "patience") {
    own.patience = number_of_field(name, value, 0.1, 3600);
  } else {
    throw std::invalid_argument(fmt::format(
        "{}: found an unknown field, expected url, nodes, ports, user, install, start, status, "
        "primary, leave, join or patience",
        name));
  }
}

void fill_spec(Kind kind, Description& own) {
  auto& spec = own.spec;
  spec.kind = kind;
  spec.name = own.name;
  spec.summary = "a cluster of your own";
  spec.user = own.user;
  spec.url = own.url;
  spec.default_nodes = own.nodes;
  spec.most_nodes = kMostNodes;
  spec.ports = own.ports;
  spec.together = true;
  spec.patience = own.patience;
  spec.find_programs = find_nothing;
  spec.initialize = make_folders;
  spec.prepare = install;
  spec.command = start_command;
  spec.is_up = is_up;
  spec.environment = environment_of_node;
  if (!own.primary.empty()) spec.primaries = primaries;
  if (!own.leave.empty()) spec.membership.leave = leave_own;
}

base::Result<Kind> add_kind(Registry& registry, Description own, const std::string& text) {
  if (registry.all.size() == kMostKinds) {
    return Error{.message = "found too many descriptions of clusters", .file = own.name};
  }
  const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
  try {
    const auto all = Json::parse(text, nullptr, true, true);
    if (!all.is_object()) wrong("the file", all, "an object with url, start and more");
    for (const auto& [field, value] : all.items()) take_field(field, value, own);
    for (const char* field : {"url", "start"}) {
      if (!all.contains(field)) {
        throw std::invalid_argument(fmt::format("found no field `{}`, expected it", field));
      }
    }
    if (own.leave.empty() != own.join.empty()) {
      throw std::invalid_argument("found only one of the fields leave and join, expected both");
    }
    if (!own.user.empty() && !credentials_of(own.user)) {
      wrong("user", own.user, "a user of this machine");
    }
    if (own.url.find("HOSTS") == std::string::npos) {
      wrong("url", own.url, "HOSTS in the place of the nodes' addresses, as in redis://HOSTS");
    }
    own.text = all.dump();
  } catch (const Json::parse_error& error) {
    const auto at =
        std::min<std::size_t>(error.byte - std::min<std::size_t>(error.byte, 1), text.size());
    return Error{.message =
                     "found no JSON here, expected the description of a cluster: an object "
                     "with url, start and more (docs/reference/lab.md)",
                 .file = own.name,
                 .line = 1 + base::count_newlines(std::string_view(text).substr(0, at))};
  } catch (const std::exception& error) {
    return Error{.message = error.what(), .file = own.name};
  }
  registry.all.push_back(std::move(own));
  const auto kind = static_cast<Kind>(kBuiltInKinds + registry.all.size() - 1);
  fill_spec(kind, registry.all.back());
  return kind;
}

}  // namespace

bool names_own_kind(std::string_view name) {
  return name.ends_with(".json");
}

const KindSpec& spec_of_own(Kind kind) {
  return description_of(kind).spec;
}

base::Result<Kind> own_kind(const std::string& path) {
  auto& registry = Registry::get();
  const std::lock_guard lock(registry.mutex);
  std::error_code failed;
  const auto name = fs::weakly_canonical(path, failed).string();
  for (const auto& known : registry.all) {
    if (known.from_file && known.name == name) return known.spec.kind;
  }
  std::ifstream in(path);
  if (failed || !in || fs::is_directory(path, failed)) {
    return Error{.message = "cannot read the description of a cluster: is the path right?",
                 .file = path};
  }
  std::ostringstream text;
  text << in.rdbuf();
  Description own;
  own.name = name;
  return add_kind(registry, std::move(own), text.str());
}

std::string description_of_kind(Kind kind) {
  return static_cast<std::size_t>(kind) < kBuiltInKinds ? std::string() : description_of(kind).text;
}

base::Result<Kind> described_kind(const std::string& name, const std::string& text) {
  auto& registry = Registry::get();
  const std::lock_guard lock(registry.mutex);
  for (const auto& known : registry.all) {
    if (known.name == name && known.text == text) return known.spec.kind;
  }
  Description own;
  own.from_file = false;
  own.name = name;
  return add_kind(registry, std::move(own), text);
}

}  // namespace cupel::lab
