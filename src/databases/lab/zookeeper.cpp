// ZooKeeper: one server, or an ensemble whose members know each other from the start. Each is a
// Java virtual machine with a small heap.
//
// Who the members are is ZooKeeper's own dynamic configuration, which it writes itself beside the
// file that it is started with; a member leaves and joins by `reconfig` of ZooKeeper's shell
// (ZooKeeper's manual, page Dynamic Reconfiguration).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "databases/lab/kinds.hpp"
#include "databases/lab/loopback.hpp"
#include "databases/lab/programs.hpp"

namespace cupel::lab {

namespace {

constexpr base::Seconds kToReconfigure{15};
constexpr const char* kZookeeperJar = "/usr/share/java/zookeeper.jar";  // names what it needs
constexpr const char* kLogJar = "/usr/share/java/slf4j-simple.jar";     // to standard error

base::Status find_zookeeper() {
  auto found = need(find_program("java"), "program `java`", "default-jre-headless");
  if (!found.ok()) return found;
  return need(std::filesystem::exists(kZookeeperJar) ? "yes" : "",
              fmt::format("file {}", kZookeeperJar), "libzookeeper-java");
}

std::string zookeeper_configuration_of(const Node& node) {
  return node.directory + ".cfg";
}

base::Status make_zookeeper_folder(const Site& site, const Node& node) {
  auto made = run_once(site, {"mkdir", node.directory}, node.log);
  if (!made.ok()) return made;
  return write_as_user(site, node.directory + "/myid",
                       fmt::format("{}\n", site.number_of(node) + 1));
}

base::Status initialize_zookeeper(const Site& site) {
  for (const auto& node : site.nodes) {
    if (auto made = make_zookeeper_folder(site, node); !made.ok()) return made;
  }
  return base::Ok{};
}

std::string zookeeper_classes() {
  return fmt::format("{}:{}", kZookeeperJar, kLogJar);
}

std::vector<std::string> zookeeper_command(const Site& /*site*/, const Node& node) {
  return {find_program("java"),
          "-Xmx128m",
          "-Xss512k",
          "-XX:+UseSerialGC",
          "-XX:TieredStopAtLevel=1",  // a quick start
          "-XX:-UsePerfData",         // no file in /tmp that a crash would leave
          "-Dorg.slf4j.simpleLogger.showDateTime=true",
          "-Dzookeeper.jmx.log4j.disable=true",
          "-Dzookeeper.skipACL=yes",  // or only a user with a password may change the members
          "-cp",
          zookeeper_classes(),
          "org.apache.zookeeper.server.quorum.QuorumPeerMain",
          zookeeper_configuration_of(node)};
}

// "server.1=ADDRESS:FOLLOWERS:ELECTION:participant;ADDRESS:CLIENTS"
std::string member_line(const Site& site, const Node& node) {
  return fmt::format("server.{}={}:{}:{}:participant;{}:{}", site.number_of(node) + 1, node.address,
                     node.ports[1], node.ports[2], node.address, node.ports[0]);
}

// A tick is short, so that a leader that is gone is replaced within seconds.
base::Status write_zookeeper_configuration(const Site& site, const Node& node) {
  auto text = fmt::format(
      "tickTime=500\ninitLimit=20\nsyncLimit=4\ndataDir={}\nmaxClientCnxns=0\n"
      "admin.enableServer=false\npreAllocSize=1024\nforceSync={}\n4lw.commands.whitelist=*\n",
      node.directory, site.options.durable ? "yes" : "no");
  if (site.nodes.size() == 1) {
    text += fmt::format("clientPort={}\nclientPortAddress={}\n", node.ports[0], node.address);
  } else {
    text += "reconfigEnabled=true\nstandaloneEnabled=false\n";
    for (const auto& member : site.nodes) text += member_line(site, member) + "\n";
  }
  for (const auto& option : site.options.server_options) text += option + "\n";
  return write_as_user(site, zookeeper_configuration_of(node), text);
}

std::string mode_of(const Node& node) {
  const auto answer = ask(node, "srvr", base::Seconds(1));
  const auto mode = answer.find("Mode: ");
  return mode == std::string::npos ? std::string()
                                   : answer.substr(mode + 6, answer.find('\n', mode) - mode - 6);
}

bool zookeeper_is_up(const Site& /*site*/, const Node& node, std::string_view /*written*/) {
  return !mode_of(node).empty();
}

// Each member takes writes, but only by the leader.
std::vector<std::size_t> zookeeper_leaders(const Site& site) {
  std::vector<std::size_t> found;
  for (const auto& node : site.nodes) {
    const auto mode = mode_of(node);
    if (mode == "leader" || mode == "standalone") found.push_back(site.number_of(node));
  }
  return found;
}

// By the member that knows the latest ones.
std::vector<std::size_t> zookeeper_members(const Site& site) {
  std::vector<std::size_t> found;
  unsigned long long latest = 0;
  for (const auto& node : site.nodes) {
    if (node.left) continue;
    const auto answer = ask_until(node.address, node.ports[0], "conf", {}, base::Seconds(1));
    const auto at = answer.find("\nversion=");
    if (at == std::string::npos) continue;
    const auto version = std::strtoull(answer.c_str() + at + 9, nullptr, 16);
    if (version < latest) continue;
    latest = version;
    found.clear();
    for (const auto& member : site.nodes) {
      const auto line = fmt::format("\nserver.{}=", site.number_of(member) + 1);
      if (answer.find(line) != std::string::npos) found.push_back(site.number_of(member));
    }
  }
  return found;
}

bool is_zookeeper_member(const Site& site, std::size_t node) {
  const auto all = zookeeper_members(site);
  return std::find(all.begin(), all.end(), node) != all.end();
}

// By the members but this one.
base::Status reconfigure(const Site& site, std::size_t node, const std::string& option,
                         const std::string& value) {
  std::vector<std::string> others;
  for (const auto& other : site.nodes) {
    if (other.left || site.number_of(other) == node) continue;
    others.push_back(fmt::format("{}:{}", other.address, other.ports[0]));
  }
  if (others.empty()) return base::Error{.message = "there is no other member"};
  return run_once(site,
                  {find_program("java"), "-Xmx64m", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData",
                   "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", zookeeper_classes(),
                   "org.apache.zookeeper.ZooKeeperMain", "-timeout", "5000", "-server",
                   fmt::format("{}", fmt::join(others, ",")), "reconfig", option, value},
                  site.nodes[node].directory + ".reconfig.log");
}

// A leader that is removed steps down, and its answer may get lost.
base::Status leave_ensemble(const Site& site, std::size_t node) {
  const auto deadline = std::chrono::steady_clock::now() + kToReconfigure;
  for (;;) {
    auto removed = reconfigure(site, node, "-remove", std::to_string(node + 1));
    if (removed.ok() || std::chrono::steady_clock::now() > deadline) return removed;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    const auto all = zookeeper_members(site);
    const bool gone = !all.empty() && std::find(all.begin(), all.end(), node) == all.end();
    if (gone) return base::Ok{};
  }
}

// It hears a leader by now, and follows it without a vote until it is a member.
bool has_joined_ensemble(const Site& site, std::size_t node) {
  if (is_zookeeper_member(site, node)) return true;
  // Why it fails is in its log; the next look tries again.
  (void)reconfigure(site, node, "-add", member_line(site, site.nodes[node]));
  return false;
}

base::Result<std::vector<std::string>> prepare_zookeeper(const Site& site, const Start& start) {
  const auto& node = site.nodes[start.node];
  if (start.joins) {
    // An earlier try may have added it, and a member must not forget what it voted for.
    auto ready = leave_ensemble(site, start.node);
    if (ready.ok()) ready = make_zookeeper_folder(site, node);
    if (!ready.ok()) return std::move(ready).error();
  }
  if (start.first || start.joins) {
    auto written = write_zookeeper_configuration(site, node);
    if (!written.ok()) return std::move(written).error();
  }
  return std::vector<std::string>();
}

}  // namespace

constinit const KindSpec kZookeeperKind{
    .kind = Kind::kZookeeper,
    .name = "zookeeper",
    .summary = "ZooKeeper, an ensemble or one server",
    .user = "zookeeper",
    .url = "zookeeper://HOSTS",
    .default_nodes = 3,
    .most_nodes = 9,
    .ports = 3,  // clients, followers, election
    .together = true,
    .find_programs = find_zookeeper,
    .initialize = initialize_zookeeper,
    .command = zookeeper_command,
    .is_up = zookeeper_is_up,
    .prepare = prepare_zookeeper,
    .primaries = zookeeper_leaders,
    .membership = {
        .leave = leave_ensemble, .has_joined = has_joined_ensemble, .members = zookeeper_members}};

}  // namespace cupel::lab
