// ZooKeeper: one server, or an ensemble whose members know each other from the start. Each is a
// Java virtual machine with a small heap.
#include <fmt/format.h>

#include <filesystem>

#include "lab/kinds.hpp"
#include "lab/loopback.hpp"
#include "lab/programs.hpp"

namespace cupel::lab {

namespace {

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

base::Status initialize_zookeeper(const Site& site) {
  for (const auto& node : site.nodes) {
    auto made = run_once(site, {"mkdir", node.directory}, node.log);
    if (!made.ok()) return made;
    made = write_as_user(site, node.directory + "/myid",
                         fmt::format("{}\n", site.number_of(node) + 1));
    if (!made.ok()) return made;
  }
  return base::Ok{};
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
          "-cp",
          fmt::format("{}:{}", kZookeeperJar, kLogJar),
          "org.apache.zookeeper.server.quorum.QuorumPeerMain",
          zookeeper_configuration_of(node)};
}

// A tick is short, so that a leader that is gone is replaced within seconds.
base::Result<std::vector<std::string>> prepare_zookeeper(const Site& site, const Start& start) {
  const auto& node = site.nodes[start.node];
  auto text = fmt::format(
      "tickTime=500\ninitLimit=20\nsyncLimit=4\ndataDir={}\nclientPort={}\nclientPortAddress={}\n"
      "maxClientCnxns=0\nadmin.enableServer=false\npreAllocSize=1024\nforceSync={}\n"
      "4lw.commands.whitelist=*\n",
      node.directory, node.ports[0], node.address, site.options.durable ? "yes" : "no");
  for (const auto& member : site.nodes) {
    if (site.nodes.size() == 1) break;
    text += fmt::format("server.{}={}:{}:{}\n", site.number_of(member) + 1, member.address,
                        member.ports[1], member.ports[2]);
  }
  for (const auto& option : site.options.server_options) text += option + "\n";
  auto written = write_as_user(site, zookeeper_configuration_of(node), text);
  if (!written.ok()) return std::move(written).error();
  return std::vector<std::string>();
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

}  // namespace

constinit const KindSpec kZookeeperKind{.kind = Kind::kZookeeper,
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
                                        .primaries = zookeeper_leaders};

}  // namespace cupel::lab
