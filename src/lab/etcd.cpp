// etcd: one server, or a cluster whose members know each other from the start.
#include "lab/etcd.hpp"

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

std::vector<std::string> etcd_command(const Site& site, const Node& node) {
  auto command = etcd_arguments(site, node, node.directory, 0, 1);
  for (const auto& option : site.options.server_options) command.push_back("--" + option);
  return command;
}

bool etcd_is_up(const Site& /*site*/, const Node& node, std::string_view /*written*/) {
  return ask(node, "GET /health HTTP/1.0\r\n\r\n", base::Seconds(1)).find("\"health\":\"true\"") !=
         std::string::npos;
}

std::string post(const Node& node, std::string_view path, std::string_view body) {
  return ask(
      node,
      fmt::format("POST {} HTTP/1.0\r\nContent-Length: {}\r\n\r\n{}", path, body.size(), body),
      base::Seconds(1));
}

// Of an answer, the number that follows `"NAME":"`; empty: none.
std::string number_in(const std::string& answer, std::string_view name) {
  const auto key = fmt::format("\"{}\":\"", name);
  const auto found = answer.find(key);
  if (found == std::string::npos) return {};
  const auto begin = found + key.size();
  return answer.substr(begin, answer.find('"', begin) - begin);
}

// A member's own number, and the leader's by what it knows; empty: it does not answer.
struct MemberStatus {
  std::string self, leader;
};
MemberStatus status_of(const Node& node) {
  const auto answer = post(node, "/v3/maintenance/status", "{}");
  return {.self = number_in(answer, "member_id"), .leader = number_in(answer, "leader")};
}

// Each member takes writes, but only by the leader.
std::vector<std::size_t> etcd_leaders(const Site& site) {
  std::vector<std::size_t> found;
  for (const auto& node : site.nodes) {
    const auto status = status_of(node);
    if (!status.self.empty() && status.self == status.leader) found.push_back(site.number_of(node));
  }
  return found;
}

// The leader hands over to the next member that follows it.
base::Result<std::size_t> move_leader(const Site& site) {
  const auto leaders = etcd_leaders(site);
  if (leaders.empty()) return base::Error{.message = "no leader answers that could hand over"};
  const auto leader = leaders.front();
  const auto self = status_of(site.nodes[leader]).self;
  std::string said = "no other member follows the leader";
  for (std::size_t i = 1; i < site.nodes.size(); ++i) {
    const auto next = (leader + i) % site.nodes.size();
    const auto follower = status_of(site.nodes[next]);
    if (follower.self.empty() || follower.leader != self) continue;
    // It answers when the other is the leader.
    said = post(site.nodes[leader], "/v3/maintenance/transfer-leadership",
                fmt::format(R"({{"targetID":"{}"}})", follower.self));
    if (said.find(" 200 OK") != std::string::npos) return next;
    said = said.empty() ? "no answer" : said.substr(0, said.find('\r'));
  }
  return base::Error{.message = "the leader does not hand over: " + said};
}

}  // namespace

std::vector<std::string> etcd_arguments(const Site& site, const Node& node,
                                        const std::string& directory, std::size_t client_port,
                                        std::size_t peer_port) {
  const auto url = [](const Node& of, std::size_t port) {
    return fmt::format("http://{}:{}", of.address, of.ports[port]);
  };
  std::string members;
  for (const auto& member : site.nodes) {
    members += fmt::format("{}node-{}={}", members.empty() ? "" : ",", site.number_of(member),
                           url(member, peer_port));
  }
  const auto clients = url(node, client_port), peers = url(node, peer_port);
  return {find_program("etcd"),
          fmt::format("--name=node-{}", site.number_of(node)),
          "--data-dir=" + directory,
          "--listen-client-urls=" + clients,
          "--advertise-client-urls=" + clients,
          "--listen-peer-urls=" + peers,
          "--initial-advertise-peer-urls=" + peers,
          "--initial-cluster=" + members,
          "--logger=zap",
          "--log-outputs=stderr"};
}

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
                                   .is_up = etcd_is_up,
                                   .primaries = etcd_leaders,
                                   .failover = move_leader,
                                   .no_clocks = kGoClocks};

}  // namespace cupel::lab
