// etcd: one server, or a cluster whose members know each other from the start.
#include <fmt/format.h>

#include "lab/kinds.hpp"
#include "lab/loopback.hpp"
#include "lab/programs.hpp"

namespace cupel::lab {

namespace {

base::Status find_etcd() {
  return need(find_program("etcd"), "program `etcd`", "etcd-server");
}

base::Status initialize_etcd(const Site& /*site*/) {
  return base::Ok{};  // makes its own
}

std::string peer_url(const Node& node) {
  return fmt::format("http://{}:{}", node.address, node.ports[1]);
}

std::vector<std::string> etcd_command(const Site& site, const Node& node) {
  const auto clients = fmt::format("http://{}:{}", node.address, node.ports[0]);
  const auto peers = peer_url(node);
  std::string members;
  for (const auto& member : site.nodes) {
    members += fmt::format("{}node-{}={}", members.empty() ? "" : ",", site.number_of(member),
                           peer_url(member));
  }
  std::vector<std::string> command{find_program("etcd"),
                                   fmt::format("--name=node-{}", site.number_of(node)),
                                   "--data-dir=" + node.directory,
                                   "--listen-client-urls=" + clients,
                                   "--advertise-client-urls=" + clients,
                                   "--listen-peer-urls=" + peers,
                                   "--initial-advertise-peer-urls=" + peers,
                                   "--initial-cluster=" + members,
                                   "--logger=zap",
                                   "--log-outputs=stderr"};
  for (const auto& option : site.options.server_options) command.push_back("--" + option);
  return command;
}

bool etcd_is_up(const Node& node, std::string_view /*written*/) {
  return ask(node, "GET /health HTTP/1.0\r\n\r\n", base::Seconds(1)).find("\"health\":\"true\"") !=
         std::string::npos;
}

}  // namespace

constinit const KindSpec kEtcdKind{.kind = Kind::kEtcd,
                                   .name = "etcd",
                                   .summary = "etcd, one server or a cluster",
                                   .user = "etcd",
                                   .url = "etcd://HOSTS",
                                   .most_nodes = 9,
                                   .ports = 2,  // clients, peers
                                   .together = true,
                                   .find_programs = find_etcd,
                                   .initialize = initialize_etcd,
                                   .command = etcd_command,
                                   .is_up = etcd_is_up};

}  // namespace cupel::lab
