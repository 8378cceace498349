// Servers: start, kill, restart and stop, the same for every kind.
#include "databases/lab/server.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <system_error>
#include <thread>

#include "base/budget.hpp"
#include "base/descriptor.hpp"
#include "base/folder.hpp"
#include "base/process.hpp"
#include "base/temp_dir.hpp"
#include "base/text.hpp"
#include "base/write_file.hpp"
#include "databases/lab/clock/clock.hpp"
#include "databases/lab/disk/corrupt.hpp"
#include "databases/lab/disk/disk.hpp"
#include "databases/lab/kinds.hpp"
#include "databases/lab/log.hpp"
#include "databases/lab/loopback.hpp"
#include "databases/lab/namespaces.hpp"
#include "databases/lab/network.hpp"
#include "databases/lab/own.hpp"
#include "databases/lab/remains.hpp"

namespace cupel::lab {

namespace {

namespace fs = std::filesystem;
using base::Error;
using base::Ok;
using base::Seconds;
using base::Status;
using Clock = std::chrono::steady_clock;
using Json = nlohmann::json;

constexpr Seconds kToForget{20};  // until the others no longer list a node that left
constexpr std::chrono::seconds kToHearOfTheEnd{10};
constexpr int kTries = 4;  // with other ports each, if somebody else took one
constexpr auto kPause = std::chrono::milliseconds(20);
constexpr mode_t kFolderMode = 0700;  // PostgreSQL wants its data for itself

// A process by id and start; not there: start is 0.
struct Identity {
  pid_t id = 0;
  std::uint64_t start = 0;
  bool operator==(const Identity&) const = default;
  [[nodiscard]] bool lives() const { return start != 0 && base::process_start(id) == start; }
  void signal(int number) const {
    if (start != 0) base::signal_process(id, start, number);
  }
};

// The children of a process, their children, and so on.
std::vector<Identity> descendants(pid_t ancestor) {
  std::vector<std::pair<pid_t, pid_t>> parents;  // child, parent
  for (const auto& name : base::names_in_folder("/proc").value_or(std::vector<std::string>())) {
    const auto id = static_cast<pid_t>(std::atoi(name.c_str()));
    if (id <= 0) continue;
    const auto text = text_of("/proc/" + name + "/stat");
    const auto name_end = text.rfind(')');
    char state = 0;
    int parent = 0;
    if (name_end != std::string::npos &&
        std::sscanf(text.c_str() + name_end + 1, " %c %d", &state, &parent) == 2) {
      parents.emplace_back(id, parent);
    }
  }
  std::vector<Identity> found{{ancestor, 0}};
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (const auto& [child, parent] : parents) {
      if (parent == found[i].id) {
        if (const auto start = base::process_start(child)) found.push_back({child, *start});
      }
    }
  }
  found.erase(found.begin());
  return found;
}

// The files that a process maps whose names begin so, and have no folder after that.
void add_mapped_files(const Identity& process, std::string_view begin,
                      std::set<std::string>& files) {
  std::istringstream maps(text_of("/proc/" + std::to_string(process.id) + "/maps"));
  for (std::string line; !begin.empty() && std::getline(maps, line);) {
    const auto at = line.find(begin);
    if (at == std::string::npos) continue;
    auto file = line.substr(at, line.find(' ', at) - at);  // "FILE (deleted)"
    if (file.find('/', begin.size()) == std::string::npos) files.insert(std::move(file));
  }
}

// Stops a process so that it starts no others, and returns when it has stopped. It
// may already have been about to: what SIGSTOP meets in the kernel it ends first.
void stand_still(const Identity& process) {
  process.signal(SIGSTOP);
  const auto deadline = Clock::now() + std::chrono::seconds(10);
  while (process.lives() && Clock::now() < deadline) {
    const auto text = text_of("/proc/" + std::to_string(process.id) + "/stat");
    const auto state = text.find_first_not_of(' ', text.rfind(')') + 1);  // ID (NAME) STATE …
    if (state != std::string::npos && text[state] == 'T') return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

bool mentions_taken_port(std::string_view text) {
  return base::to_lower(text).find("address already in use") != std::string::npos;
}

}  // namespace

struct Server::State {
  Site site;
  std::vector<Identity> processes;                     // one a node
  std::vector<std::optional<base::Process>> children;  // those that this program started
  std::vector<std::size_t> old_logs;                   // how long each log was before the start
  std::optional<Network> network;                      // if the nodes have their own
  std::optional<NetworkName> network_name;             // if it outlives this program
  std::vector<NodeClock> clocks;                       // one a node, or none
  std::vector<Disk> disks;                             // one a node, or none
  bool stopped = false;
  bool port_taken = false;                   // why the last start failed
  std::function<bool()> give_up;             // once it says so, no node is waited for any longer
  bool gave_up = false;                      // it did
  std::vector<std::future<bool>> questions;  // by node: whether it is up, asked by a thread

  [[nodiscard]] const KindSpec& spec() const { return spec_of(site.kind); }
  void resize(std::size_t nodes) {
    processes.resize(nodes);
    children.resize(nodes);
    old_logs.resize(nodes);
    questions.resize(nodes);
  }

  [[nodiscard]] bool any_lives() const {
    return std::any_of(processes.begin(), processes.end(),
                       [](const Identity& process) { return process.lives(); });
  }

  [[nodiscard]] std::string json() const {
    const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
    Json nodes = Json::array();
    for (std::size_t i = 0; i < site.nodes.size(); ++i) {
      const auto& node = site.nodes[i];
      nodes.push_back({{"pid", processes[i].id},
                       {"start", processes[i].start},
                       {"address", node.address},
                       {"network", node.network},
                       {"ports", node.ports},
                       {"directory", node.directory},
                       {"log", node.log},
                       {"left", node.left},
                       {"arguments", node.arguments}});
    }
    Json all{{"cupel_lab", 1},
             {"kind", std::string(name(site.kind))},
             {"directory", site.directory},
             {"durable", site.options.durable},
             {"synchronous", site.options.synchronous},
             {"server_options", site.options.server_options},
             {"nodes", std::move(nodes)}};
    if (const auto description = description_of_kind(site.kind); !description.empty()) {
      all["description"] = Json::parse(description);
    }
    if (network_name) {
      all["network"] = {{"id", network_name->id}, {"subnet", network_name->subnet}};
    }
    if (site.user) all["user"] = {{"uid", site.user->user}, {"gid", site.user->group}};
    return all.dump(2) + "\n";
  }

  Status save() const {
    const auto& path = site.options.state_file;
    if (path.empty()) return Ok{};
    auto saved = base::replace_file(path, json());
    if (saved.ok()) return saved;
    auto error = std::move(saved).error();
    error.message = "the state of the server: " + error.message;
    return error;
  }

  [[nodiscard]] std::vector<std::pair<std::string, std::string>> environment_with(
      const Node& node) const {
    auto all = environment_of(site);
    all.insert(all.end(), node.environment.begin(), node.environment.end());
    return all;
  }

  // A network for each node.
  Status make_network() {
    if (const auto why = networks_forbidden(); !why.empty()) return Error{.message = why};
    auto made =
        site.options.detached
            ? Network::make_named(site.nodes.size(), network_id_of(site.directory), site.directory)
            : Network::make(site.nodes.size());
    if (!made.ok()) return std::move(made).error();
    network = *std::move(made);
    if (site.options.detached) network_name = network->name();
    for (std::size_t i = 0; i < site.nodes.size(); ++i) {
      site.nodes[i].address = network->address(i);
      site.nodes[i].network = network->file(i);
    }
    return Ok{};
  }

  // Once the nodes' environment is known otherwise.
  Status make_clocks() {
    if (!site.options.clocks || !spec().no_clocks.empty()) return Ok{};
    for (std::size_t i = clocks.size(); i < site.nodes.size(); ++i) {
      auto clock = NodeClock::make(fmt::format("{}/clock-{}", site.directory, i));
      if (!clock.ok()) return std::move(clock).error();
      clocks.push_back(*std::move(clock));
    }
    for (std::size_t i = 0; i < clocks.size(); ++i) {
      const auto more = clocks[i].environment();
      auto& environment = site.nodes[i].environment;
      environment.insert(environment.end(), more.begin(), more.end());
    }
    return Ok{};
  }

  [[nodiscard]] Status make_folder(const std::string& folder) const {
    const bool made = ::mkdir(folder.c_str(), kFolderMode) == 0;
    if (made && (!site.user || ::chown(folder.c_str(), site.user->user, site.user->group) == 0)) {
      return Ok{};
    }
    return Error{.message = std::strerror(errno), .file = folder};
  }
  [[nodiscard]] std::string disk_folder(std::size_t index) const {
    return fmt::format("{}/disk-{}", site.directory, index);
  }

  // Each node has its data in a folder that becomes its disk. Its log stays where it is.
  Status make_disk_folders() {
    if (const auto why = disks_forbidden(); !why.empty()) return Error{.message = why};
    for (std::size_t i = 0; i < site.nodes.size(); ++i) {
      if (auto made = make_folder(disk_folder(i)); !made.ok()) return made;
      auto& data = site.nodes[i].directory;
      data = fmt::format("{}/{}", disk_folder(i), fs::path(data).filename().string());
    }
    return Ok{};
  }

  // What is in the folders now is on the disks: to make a database there would take long.
  Status mount_disks() {
    if (!site.options.disks || !disks.empty()) return Ok{};
    for (std::size_t i = 0; i < site.nodes.size(); ++i) {
      const auto stored = fmt::format("{}/stored-{}", site.directory, i);
      std::error_code failed;
      fs::rename(disk_folder(i), stored, failed);
      if (failed) return Error{.message = failed.message(), .file = stored};
      if (auto made = make_folder(disk_folder(i)); !made.ok()) return made;
      auto disk = Disk::mount(stored, disk_folder(i));
      if (!disk.ok()) return std::move(disk).error();
      disks.push_back(*std::move(disk));
    }
    return Ok{};
  }

  // What cupel itself has put there lasts.
  void sync_disk(std::size_t index) {
    if (index < disks.size()) disks[index].sync();
  }

  // Starts the process of a node.
  Status spawn(Start start) {
    const auto& node = site.nodes[start.node];
    start.joins = node.left;
    if (start.joins) remove_data(start.node);  // of an earlier try
    auto arguments = node.arguments;
    if (spec().prepare != nullptr) {
      auto more = spec().prepare(site, start);
      if (!more.ok()) return std::move(more).error();
      sync_disk(start.node);
      arguments.insert(arguments.end(), more->begin(), more->end());
    }
    std::error_code ignored;
    const auto size = fs::file_size(node.log, ignored);
    old_logs[start.node] = ignored ? 0 : static_cast<std::size_t>(size);
    auto process = base::Process::start({
        .arguments = std::move(arguments),
        .environment = environment_with(node),
        .directory = site.directory,
        .output = base::Stream::file(node.log),
        .errors = base::Stream::output(),
        .user = site.user,
        .network = node.network,
        .detached = site.options.detached,
    });
    if (!process.ok()) return std::move(process).error();
    processes[start.node] = {process->id(), base::process_start(process->id()).value_or(0)};
    children[start.node] = std::move(*process);
    questions[start.node] = {};  // was about the process before
    return save();
  }

  void remove_data(std::size_t index) const {
    std::error_code ignored;
    fs::remove_all(site.nodes[index].directory, ignored);
  }

  [[nodiscard]] std::vector<std::size_t> members() const {
    if (spec().membership.members != nullptr) return spec().membership.members(site);
    return those([](const Node& node) { return !node.left; });
  }
  // No list is no answer: the others may be too busy to say whom they list.
  [[nodiscard]] bool is_no_member(std::size_t index) const {
    const auto all = members();
    return !all.empty() && std::find(all.begin(), all.end(), index) == all.end();
  }

  // Of a node that is up: whether it is a member again, if it left.
  bool has_joined(std::size_t index) {
    auto& node = site.nodes[index];
    if (!node.left) return true;
    const auto asked = spec().membership.has_joined;
    if (asked != nullptr && !asked(site, index)) return false;
    node.left = false;
    static_cast<void>(save());
    return true;
  }

  Status leave(std::size_t index) {
    const auto& how = spec().membership;
    auto done = how.leave(site, index);
    if (!done.ok() && !is_no_member(index)) return done;
    end_in_order(index);
    site.nodes[index].left = true;
    remove_data(index);
    if (auto saved = save(); !saved.ok()) return saved;
    if (how.forget != nullptr) {
      if (auto forgotten = how.forget(site, index); !forgotten.ok()) return forgotten;
    }
    const auto deadline = Clock::now() + kToForget;
    while (!is_no_member(index)) {
      if (Clock::now() > deadline) {
        return Error{.message = fmt::format(
                         "the other nodes still list node {} after {} s, or do not say whom", index,
                         kToForget.count())};
      }
      std::this_thread::sleep_for(kPause);
    }
    return Ok{};
  }

  static bool is_node_up(const Site& site, std::size_t index, std::size_t old_log) {
    const auto& node = site.nodes[index];
    return spec_of(site.kind).is_up(site, node, text_of_log(node.log, old_log));
  }

  // An answer may take a second to stay away; a caller that may give up does not wait for that. The
  // question then outlives the wait, and the site may change meanwhile, so it has a copy of it.
  bool is_up_by_now(std::size_t index) {
    if (!give_up) return is_node_up(site, index, old_logs[index]);
    auto& question = questions[index];
    if (!question.valid()) {
      try {
        question = std::async(std::launch::async, is_node_up, site, index, old_logs[index]);
      } catch (const std::system_error&) {  // no thread is free
        return is_node_up(site, index, old_logs[index]);
      }
    }
    return question.wait_for(kPause) == std::future_status::ready && question.get();
  }

  // Waits until a node is up that was just started.
  Status wait_for(std::size_t index) {
    const auto started = Clock::now();
    const auto failed = [&](std::size_t which, const std::string& how) -> Status {
      const auto& log = site.nodes[which].log;
      port_taken = mentions_taken_port(text_of_log(log, old_logs[which]));
      return Error{.message = fmt::format("{} {}; the end of its log:\n{}", spec().name, how,
                                          last_lines(log, 20, old_logs[which]))};
    };
    for (;;) {
      for (std::size_t other = 0; other < children.size(); ++other) {
        if (other != index && (!spec().together || give_up)) continue;
        if (auto status = children[other] ? children[other]->wait(Seconds(0)) : std::nullopt) {
          return failed(other, "did not start: it " + status->to_string());
        }
      }
      if (is_up_by_now(index) && has_joined(index)) return Ok{};
      const auto* interrupted = give_up ? nullptr : site.options.interrupted;
      if (interrupted != nullptr && *interrupted) {
        return Error{.message = fmt::format("interrupted while {} started", spec().name)};
      }
      if (give_up && give_up()) {
        gave_up = true;
        return Error{.message = fmt::format("{} was not waited for", spec().name)};
      }
      if (Clock::now() - started > Seconds(spec().patience)) {
        return failed(index, fmt::format("did not answer in {} s", spec().patience));
      }
      std::this_thread::sleep_for(kPause);
    }
  }

  Status launch_once(const Start& start) {
    port_taken = false;
    auto up = spawn(start);
    return up.ok() ? wait_for(start.node) : up;
  }

  Status launch(const Start& start) {
    auto up = launch_once(start);
    const bool again = spec().starts_twice && !start.first && !start.alone;
    if (up.ok() || !again || processes[start.node].lives()) return up;
    return launch_once(start);
  }

  // Members in the order in which to start all of them anew.
  base::Result<std::vector<std::size_t>> restart_order() const {
    if (spec().restart_order == nullptr) {
      return those([](const Node& node) { return !node.left; });
    }
    auto found = spec().restart_order(site);
    if (found.ok()) std::erase_if(*found, [&](auto index) { return site.nodes[index].left; });
    return found;
  }

  Status launch_all(bool first) {
    auto order = all_nodes();
    if (!first) {
      auto found = restart_order();
      if (!found.ok()) return std::move(found).error();
      order = *found;
    }
    port_taken = false;
    for (const auto index : order) {
      const Start start{.node = index, .first = first, .alone = index == order.front()};
      auto up = spec().together ? spawn(start) : launch(start);
      if (!up.ok()) return up;
    }
    for (const auto index : order) {
      if (!spec().together) break;
      if (auto up = wait_for(index); !up.ok()) return up;
    }
    for (const auto index : those([](const Node& node) { return node.left; })) {
      if (auto up = launch({.node = index, .first = false}); !up.ok()) return up;
    }
    return wait_until_formed();
  }

  Status wait_until_formed() {
    if (spec().is_formed == nullptr) return Ok{};
    const auto started = Clock::now();
    while (!spec().is_formed(site)) {
      const auto* interrupted = site.options.interrupted;
      if (interrupted != nullptr && *interrupted) {
        return Error{.message = fmt::format("interrupted while the nodes of {} found each other",
                                            spec().name)};
      }
      if (Clock::now() - started > Seconds(spec().patience)) {
        return Error{.message = fmt::format(
                         "the nodes of {} did not find each other in {} s; the end of the log of "
                         "the first:\n{}",
                         spec().name, spec().patience, last_lines(site.nodes.front().log, 20))};
      }
      std::this_thread::sleep_for(kPause);
    }
    return Ok{};
  }

  // Starts those of the nodes that do not run, and waits for all. Who left needs the others first.
  Status launch_stopped(std::vector<std::size_t> nodes) {
    const auto left = std::stable_partition(
        nodes.begin(), nodes.end(), [&](std::size_t index) { return !site.nodes[index].left; });
    const std::vector<std::size_t> joining(left, nodes.end());
    nodes.erase(left, nodes.end());
    if (auto up = launch_stopped_members(std::move(nodes)); !up.ok()) return up;
    for (const auto index : joining) {
      if (auto up = launch_stopped_members({index}); !up.ok()) return up;
    }
    return Ok{};
  }

  Status launch_stopped_members(std::vector<std::size_t> order) {
    const auto members = those([](const Node& node) { return !node.left; });
    if (!any_lives() && order.size() == members.size() && !order.empty()) {
      auto found = restart_order();
      if (!found.ok()) return std::move(found).error();
      order = *found;
    }
    // What was started before and not waited for may be what the others need.
    std::stable_partition(order.begin(), order.end(),
                          [&](std::size_t index) { return processes[index].lives(); });
    // To those that run they may be missing for a majority, without which none answers.
    const bool at_once = spec().together || any_lives();
    const auto step = [&](std::size_t index) {
      if (processes[index].lives()) return spec().together ? Status(Ok{}) : wait_for(index);
      clear_remains(index);
      const Start start{.node = index, .first = false, .alone = !any_lives()};
      return at_once ? spawn(start) : launch(start);
    };
    const auto wait = [&](std::size_t index) {
      auto up = wait_for(index);
      if (up.ok() || !spec().starts_twice || processes[index].lives()) return up;
      return launch_once({.node = index, .first = false, .alone = !any_lives()});
    };
    const auto numbered = [](std::size_t index, Status status) -> Status {
      if (status.ok()) return status;
      auto error = std::move(status).error();
      error.message = fmt::format("node {}: {}", index, error.message);
      return error;
    };
    for (const auto index : order) {
      if (auto up = step(index); !up.ok()) return numbered(index, std::move(up));
    }
    if (!at_once) return Ok{};
    for (const auto index : order) {
      if (auto up = wait(index); !up.ok()) return numbered(index, std::move(up));
    }
    return Ok{};
  }

  void clear_remains(std::size_t index) const {
    if (spec().clear_remains != nullptr) spec().clear_remains(site.nodes[index]);
  }

  // Sends a signal to a node's process; SIGKILL also to all below it, which would
  // otherwise find out by themselves and only after a while. Returns when they are gone.
  void end(const std::vector<std::size_t>& indices, int number) {
    std::vector<Identity> all;
    std::set<std::string> shared_memory;
    for (const auto index : indices) {
      if (!processes[index].lives()) continue;
      // Or one that they start after the look below would survive, and PostgreSQL does
      // not start again while a process of an earlier start lives.
      if (number == SIGKILL) pause(index);
      const auto below = descendants(processes[index].id);
      if (number == SIGKILL) {
        add_mapped_files(processes[index], spec().shared_memory, shared_memory);
        for (const auto& process : below) {
          add_mapped_files(process, spec().shared_memory, shared_memory);
        }
      }
      processes[index].signal(number);
      if (number == SIGKILL) {
        for (const auto& process : below) process.signal(SIGKILL);
      }
      all.push_back(processes[index]);
      all.insert(all.end(), below.begin(), below.end());
    }
    const auto deadline = Clock::now() + std::chrono::seconds(10);
    for (const auto& process : all) {
      while (process.lives()) {
        if (Clock::now() > deadline) process.signal(SIGKILL);
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
    }
    for (const auto& file : shared_memory) ::unlink(file.c_str());
    for (const auto index : indices) {
      if (children[index]) children[index]->wait(Seconds(10));  // no zombie stays
      children[index].reset();
      processes[index] = {};
      clear_remains(index);
    }
  }

  // As its manual asks for.
  void end_in_order(std::size_t index) {
    const auto deadline = Clock::now() + kToHearOfTheEnd;
    const auto ignores = spec().ignores_end;
    while (ignores != nullptr && processes[index].lives() && Clock::now() < deadline &&
           ignores(site, site.nodes[index])) {
      std::this_thread::sleep_for(kPause);
    }
    end({index}, spec().stop_signal == SIGKILL ? SIGTERM : spec().stop_signal);
  }

  // A process that one of them starts meanwhile is met by the next look.
  void pause(std::size_t index) {
    if (!processes[index].lives()) return;
    stand_still(processes[index]);
    std::vector<Identity> seen;
    for (bool more = true; more;) {
      more = false;
      for (const auto& process : descendants(processes[index].id)) {
        if (std::find(seen.begin(), seen.end(), process) != seen.end()) continue;
        stand_still(process);
        seen.push_back(process);
        more = true;
      }
    }
  }

  // The children first: a parent that runs would find them stopped.
  void resume(std::size_t index) {
    if (!processes[index].lives()) return;
    for (const auto& process : descendants(processes[index].id)) process.signal(SIGCONT);
    processes[index].signal(SIGCONT);
  }

  [[nodiscard]] bool shows_clock(std::size_t index) const {
    auto all = descendants(processes[index].id);
    all.push_back(processes[index]);
    return std::any_of(all.begin(), all.end(),
                       [&](const Identity& process) { return clocks[index].shown_to(process.id); });
  }

  [[nodiscard]] std::vector<std::size_t> all_nodes() const {
    std::vector<std::size_t> all(site.nodes.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    return all;
  }

  template <class Wanted>
  [[nodiscard]] std::vector<std::size_t> those(const Wanted& wanted) const {
    std::vector<std::size_t> found;
    for (const auto index : all_nodes()) {
      if (wanted(site.nodes[index])) found.push_back(index);
    }
    return found;
  }

  void stop() {
    if (stopped) return;
    stopped = true;
    end(all_nodes(), spec().stop_signal);
    for (const auto index : all_nodes()) clear_remains(index);
    kill_all_in(site.directory);  // helpers of the servers that they did not end
    disks.clear();
    network.reset();
    if (network_name) remove_network(network_name->id);
    std::error_code ignored;
    fs::remove_all(site.directory, ignored);
    if (!site.options.state_file.empty()) fs::remove(site.options.state_file, ignored);
  }
};

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}
Server::Server(Server&&) noexcept = default;
Server& Server::operator=(Server&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}
Server::~Server() {
  if (state_ != nullptr && !state_->site.options.detached) state_->stop();
}

Kind Server::kind() const {
  return state_->site.kind;
}
std::size_t Server::nodes() const {
  return state_->site.nodes.size();
}
std::uint16_t Server::port(std::size_t node) const {
  return state_->site.nodes.at(node).ports[0];
}
int Server::process(std::size_t node) const {
  return state_->processes.at(node).id;
}
const std::string& Server::directory() const {
  return state_->site.directory;
}
bool Server::running(std::size_t node) const {
  return state_->processes.at(node).lives();
}

std::string Server::log(std::size_t node, std::size_t lines) const {
  return last_lines(state_->site.nodes.at(node).log, lines);
}

base::Status Server::copy_logs(const std::string& folder) const {
  std::error_code failed;
  fs::create_directories(folder, failed);
  for (const auto& node : state_->site.nodes) {
    if (failed) break;
    const auto copy = fs::path(folder) / fs::path(node.log).filename();
    // Not through a link that the server put there.
    const base::Descriptor log(
        ::open(node.log.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (!log) {
      failed.assign(errno, std::generic_category());
      break;
    }
    fs::copy_file(fmt::format("/proc/self/fd/{}", log.get()), copy,
                  fs::copy_options::overwrite_existing, failed);
  }
  if (!failed) return Ok{};
  return Error{.message = "cannot keep the logs of the server: " + failed.message(),
               .file = folder};
}

namespace {

std::string hosts_of(const std::vector<Node>& nodes, std::size_t port) {
  std::vector<std::string> hosts;
  for (const auto& node : nodes) {
    hosts.push_back(fmt::format("{}:{}", node.address, node.ports[port]));
  }
  return fmt::format("{}", fmt::join(hosts, ","));
}

std::string url_of(Kind kind, const std::string& account, const std::vector<Node>& nodes) {
  const auto hosts = hosts_of(nodes, 0);
  const auto sentinels = spec_of(kind).ports > 1 ? hosts_of(nodes, 1) : std::string();
  std::string url(spec_of(kind).url);
  for (const auto& [word, text] : {std::pair("ACCOUNT", account), std::pair("HOSTS", hosts),
                                   std::pair("SENTINELS", sentinels)}) {
    if (const auto at = url.find(word); at != std::string::npos) {
      url.replace(at, std::strlen(word), text);
    }
  }
  return url;
}

}  // namespace

std::string Server::url() const {
  return url_of(kind(), "cupel", state_->site.nodes);
}
std::string Server::url(std::size_t node) const {
  return url_of(kind(), "cupel", {state_->site.nodes.at(node)});
}
std::string Server::guarded_url(std::string_view password) const {
  return url_of(kind(), fmt::format("guarded:{}", password), state_->site.nodes);
}

void Server::kill() {
  state_->end(state_->all_nodes(), SIGKILL);
  static_cast<void>(state_->save());  // the file then names a process that is gone: no harm
}
void Server::kill(std::size_t node) {
  state_->end({node}, SIGKILL);
  static_cast<void>(state_->save());  // the file then names a process that is gone: no harm
}

Status Server::restart() {
  state_->end(state_->all_nodes(), SIGKILL);
  return state_->launch_all(false);
}
Status Server::restart(std::size_t node) {
  state_->end({node}, SIGKILL);
  return state_->launch({.node = node, .first = false, .alone = !state_->any_lives()});
}

void Server::shut_down(std::size_t node) {
  state_->end_in_order(node);
  static_cast<void>(state_->save());  // the file then names a process that is gone: no harm
}

base::Result<bool> Server::start_stopped(std::span<const std::size_t> nodes,
                                         const std::function<bool()>& give_up) {
  for (auto& question : state_->questions) {
    const bool answered =
        question.valid() && question.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
    if (answered) question = {};  // long ago, perhaps
  }
  state_->gave_up = false;
  state_->give_up = give_up;
  auto up = state_->launch_stopped({nodes.begin(), nodes.end()});
  state_->give_up = nullptr;
  if (up.ok()) return true;
  if (state_->gave_up) return false;
  return std::move(up).error();
}

bool Server::answers(std::size_t node) const {
  const auto& where = state_->site.nodes.at(node);
  return running(node) && state_->spec().is_up(state_->site, where,
                                               text_of_log(where.log, state_->old_logs.at(node)));
}

void Server::pause(std::size_t node) {
  state_->pause(node);
}
void Server::resume(std::size_t node) {
  state_->resume(node);
}

Status Server::set_links(std::span<const LinkFault> faults) {
  if (state_->network) return state_->network->set_links(faults);
  if (faults.empty()) return Ok{};
  return Error{.message = "the nodes share one network, in which no link can be disturbed"};
}

base::Result<std::vector<LinkCount>> Server::disturbed() const {
  if (state_->network) return state_->network->disturbed();
  return std::vector<LinkCount>();
}

bool Server::has_networks() const {
  return state_->network.has_value();
}

Status Server::set_clock(std::size_t node, const ClockFault& fault) {
  if (state_->clocks.empty()) return Error{.message = without_clocks()};
  state_->clocks.at(node).set(fault);
  return Ok{};
}

std::string Server::without_clocks() const {
  if (const auto why = state_->spec().no_clocks; !why.empty()) return std::string(why);
  if (state_->clocks.empty()) return "the nodes were started with the clock of the machine";
  for (std::size_t node = 0; node < nodes(); ++node) {
    if (!running(node) || state_->shows_clock(node)) continue;
    return fmt::format(
        "no process of node {} loads the library that changes its clock; a program that is linked "
        "statically does not",
        node);
  }
  return {};
}

Status Server::set_disk(std::size_t node, const DiskFault& fault) {
  if (!has_disks()) return Error{.message = "the nodes have no disks of their own"};
  state_->disks.at(node).set(fault);
  return Ok{};
}

DiskCount Server::disk_count(std::size_t node) const {
  return has_disks() ? state_->disks.at(node).count() : DiskCount();
}

base::Result<LostBytes> Server::lose_unsynced(std::size_t node) {
  if (!has_disks()) return Error{.message = "the nodes have no disks of their own"};
  if (running(node)) return Error{.message = fmt::format("node {} runs", node)};
  return state_->disks.at(node).lose_unsynced();
}

bool Server::has_disks() const {
  return !state_->disks.empty();
}

base::Result<std::string> Server::corrupt(std::size_t node, std::uint64_t bits,
                                          std::uint64_t seed) {
  if (running(node)) return Error{.message = fmt::format("node {} runs", node)};
  return flip_bits(state_->site.nodes.at(node).directory, bits, seed);
}

std::vector<std::size_t> Server::primaries() const {
  const auto& spec = state_->spec();
  if (spec.primaries != nullptr) return spec.primaries(state_->site);
  if (spec.has_standbys) return {0};
  return state_->all_nodes();
}

bool Server::has_failover() const {
  return state_->spec().failover != nullptr && nodes() > 1;
}

base::Result<std::size_t> Server::failover() {
  const auto& spec = state_->spec();
  if (spec.failover == nullptr) {
    return Error{.message = fmt::format("{} has no failover that could be asked for", spec.name)};
  }
  const auto killed = spec.failover_kills ? primaries() : std::vector<std::size_t>();
  for (const auto node : killed) kill(node);
  auto primary = spec.failover(state_->site);
  // What was asked to be the primary may yet become it, beside the one that starts again.
  if (!primary.ok() && !killed.empty()) (void)restart();
  return primary;
}

std::string Server::without_membership() const {
  const auto& spec = state_->spec();
  if (spec.membership.leave == nullptr) {
    return spec.most_nodes < 2
               ? fmt::format("{} is one server, which no node can leave", spec.name)
               : fmt::format("the description of {} has no commands leave and join", spec.name);
  }
  if (nodes() < 2) return "found 1 node, expected at least 2";
  return spec.membership.unfit == nullptr ? std::string() : spec.membership.unfit(state_->site);
}

std::vector<std::size_t> Server::leavers() const {
  auto all = members();
  if (!without_membership().empty() || all.size() < 2) return {};
  const auto stay =
      state_->spec().membership.standbys_only ? primaries() : std::vector<std::size_t>();
  std::erase_if(all, [&](std::size_t node) {
    return !running(node) || std::find(stay.begin(), stay.end(), node) != stay.end();
  });
  return all;
}

std::vector<std::size_t> Server::members() const {
  return state_->members();
}

Status Server::leave(std::size_t node) {
  if (auto why = without_membership(); !why.empty()) return Error{.message = std::move(why)};
  const auto may = leavers();
  if (std::find(may.begin(), may.end(), node) == may.end()) {
    return Error{.message = fmt::format("node {} cannot leave now: it is {}", node,
                                        !running(node)         ? "not running"
                                        : members().size() < 2 ? "the last member"
                                                               : "the primary, or no member")};
  }
  return state_->leave(node);
}

void Server::stop() {
  state_->stop();
}
std::string Server::to_json() const {
  return state_->json();
}

namespace {

// A server of one's own kind can be stopped even if the file that describes it is gone.
base::Result<Kind> kind_in(const Json& state) {
  const auto kind = state.at("kind").get<std::string>();
  if (!names_own_kind(kind)) return find_kind(kind);
  if (state.contains("description")) return described_kind(kind, state["description"].dump());
  auto found = find_kind(kind);
  return found.ok() ? found : described_kind(kind, R"({"url": "HOSTS", "start": "false"})");
}

}  // namespace

base::Result<Server> Server::attach(const std::string& state_file) {
  const auto bad = [&](std::string what) {
    return Error{.message = std::move(what), .file = state_file};
  };
  if (!fs::exists(state_file)) return bad("there is no such file");
  auto state = std::make_unique<State>();
  const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
  try {
    const auto all = Json::parse(text_of(state_file));
    const auto kind = kind_in(all);
    if (all.at("cupel_lab") != 1 || !kind.ok()) return bad("found the state of an unknown server");
    auto& site = state->site;
    site.kind = *kind;
    site.directory = all.at("directory");
    // stop() removes it, so it had better be one that we made.
    if (fs::path(site.directory).filename().string().rfind(kDirectory, 0) != 0) {
      return bad("found a directory that is no test server's: " + site.directory);
    }
    site.options.durable = all.at("durable");
    site.options.synchronous = all.value("synchronous", false);
    site.options.server_options = all.at("server_options");
    site.options.detached = true;
    site.options.state_file = state_file;
    if (all.contains("user"))
      site.user = base::Credentials{all["user"].at("uid"), all["user"].at("gid")};
    std::vector<Identity> processes;
    for (const auto& node : all.at("nodes")) {
      site.nodes.push_back({.directory = node.at("directory"),
                            .log = node.at("log"),
                            .address = node.value("address", std::string(kLoopback)),
                            .ports = node.at("ports"),
                            .arguments = node.at("arguments"),
                            .network = node.value("network", std::string()),
                            .left = node.value("left", false)});
      processes.push_back({node.at("pid"), node.at("start")});
    }
    for (auto& node : site.nodes) {
      const auto environment = spec_of(site.kind).environment;
      if (environment != nullptr) node.environment = environment(site, node);
    }
    site.options.nodes = static_cast<std::uint32_t>(site.nodes.size());
    state->resize(site.nodes.size());
    state->processes = std::move(processes);
    if (all.contains("network")) {
      const NetworkName network{.id = all["network"].at("id"),
                                .subnet = all["network"].at("subnet"),
                                .nodes = site.nodes.size()};
      if (network.id != network_id_of(site.directory)) {
        return bad("found a network that is no test server's: " + network.id);
      }
      // It is gone after a start of the machine, and stop() is to work then.
      if (auto attached = Network::attach(network)) state->network = *std::move(attached);
      state->network_name = network;
    }
  } catch (const Json::exception& error) {
    return bad(std::string("expected the state of a server as cupel writes it, found: ") +
               error.what());
  }
  return Server(std::move(state));
}

base::Result<Server> start(Kind kind, const Options& options) {
  const auto& spec = spec_of(kind);
  if (options.nodes > spec.most_nodes || (options.nodes > 0 && options.nodes < spec.least_nodes)) {
    return Error{.message = fmt::format("found {} nodes, but {} has {} to {}", options.nodes,
                                        spec.name, spec.least_nodes, spec.most_nodes)};
  }
  if (auto found = spec.find_programs(); !found.ok()) return std::move(found).error();
  auto state = std::make_unique<Server::State>();
  auto& site = state->site;
  site.kind = kind;
  site.options = options;
  site.user = user_of(kind);
  const std::size_t nodes = options.nodes == 0 ? spec.default_nodes : options.nodes;
  state->resize(nodes);

  const auto made = base::make_temp_dir(kDirectory);
  if (!made.ok()) return made.error();
  const auto directory = made->string();
  site.directory = directory;
  for (std::size_t i = 0; i < nodes; ++i) {
    const auto data = fmt::format("{}/{}{}", directory, fs::path(name(kind)).stem().string(),
                                  nodes > 1 ? fmt::format("-{}", i) : "");
    site.nodes.push_back({.directory = data, .log = data + ".log"});
  }
  const auto give_up = [&](Status status) {
    state->stop();
    return std::move(status).error();
  };
  if (auto noted = note_owner(site); !noted.ok()) return give_up(std::move(noted));
  if (site.user && ::chown(directory.c_str(), site.user->user, site.user->group) != 0) {
    return give_up(Error{.message = std::strerror(errno), .file = directory});
  }
  if (options.disks) {
    if (auto disks = state->make_disk_folders(); !disks.ok()) return give_up(std::move(disks));
  }
  if (options.namespaces) {
    if (auto network = state->make_network(); !network.ok()) return give_up(std::move(network));
  }
  for (int tries = 1;; ++tries) {
    if (auto ready = spec.initialize(site); !ready.ok()) return give_up(std::move(ready));
    if (auto mounted = state->mount_disks(); !mounted.ok()) return give_up(std::move(mounted));
    const auto ports = free_ports(nodes * spec.ports);
    if (ports.empty()) {
      return give_up(Error{.message = "found no free port from 20000 to 32000 on 127.0.0.1"});
    }
    for (std::size_t i = 0; i < nodes; ++i) {
      const auto each = static_cast<std::ptrdiff_t>(spec.ports);
      const auto first = ports.begin() + static_cast<std::ptrdiff_t>(i) * each;
      site.nodes[i].ports.assign(first, first + each);
    }
    for (auto& node : site.nodes) {
      node.arguments = spec.command(site, node);
      node.environment.clear();
      if (spec.environment != nullptr) node.environment = spec.environment(site, node);
    }
    if (auto clocks = state->make_clocks(); !clocks.ok()) return give_up(std::move(clocks));
    auto up = state->launch_all(true);
    for (std::size_t i = 0; i < nodes; ++i) state->sync_disk(i);
    if (up.ok()) return Server(std::move(state));
    if (!state->port_taken || tries == kTries) return give_up(std::move(up));
    state->end(state->all_nodes(), SIGKILL);
    // What ran in them for a while is no new cluster any more.
    std::error_code ignored;
    for (const auto& node : site.nodes) fs::remove_all(node.directory, ignored);
  }
}

}  // namespace cupel::lab
