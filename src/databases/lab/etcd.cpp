// etcd: one server, or a cluster whose members know each other from the start.
#include "databases/lab/etcd.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "base/budget.hpp"
#include "databases/lab/kinds.hpp"
#include "databases/lab/loopback.hpp"
#include "databases/lab/programs.hpp"

namespace cupel::lab {

namespace {

using Json = nlohmann::json;

constexpr base::Seconds kMembersAnswer{5}, kToBecomeHealthy{8};

base::Status find_etcd() {
  return need(find_program("etcd"), "program `etcd`", "etcd-server");
}

base::Status initialize_etcd(const Site& /*site*/) {
  return base::Ok{};  // makes its own
}

std::vector<std::string> etcd_command(const Site& site, const Node& node) {
  auto command = etcd_arguments(site, node, node.directory, {});
  for (const auto& option : site.options.server_options) command.push_back("--" + option);
  return command;
}

bool etcd_is_up(const Site& /*site*/, const Node& node, std::string_view /*written*/) {
  return ask(node, "GET /health HTTP/1.0\r\n\r\n", base::Seconds(1)).find("\"health\":\"true\"") !=
         std::string::npos;
}

// Of a node's addresses.
std::string etcd_url(const Node& node, std::size_t port) {
  return fmt::format("http://{}:{}", node.address, node.ports[port]);
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

// A question about the members, by a node; null: no answer. Its error is the field "error".
Json ask_for_members(const Node& node, EtcdPorts ports, std::string_view action, const Json& body) {
  const auto text = body.dump();
  const auto said = ask_until(node.address, node.ports[ports.clients],
                              fmt::format("POST /v3/cluster/member/{} HTTP/1.0\r\n"
                                          "Content-Length: {}\r\n\r\n{}",
                                          action, text.size(), text),
                              {}, kMembersAnswer);
  const auto begin = said.find("\r\n\r\n");
  return begin == std::string::npos ? Json() : Json::parse(said.substr(begin), nullptr, false);
}

// The numbers of the members in such an answer by node; a member that is none of ours is left out.
std::vector<std::pair<std::size_t, std::string>> members_in(const Site& site, EtcdPorts ports,
                                                            const Json& answer) {
  std::vector<std::pair<std::size_t, std::string>> found;
  if (!answer.is_object()) return found;
  for (const auto& member : answer.value("members", Json::array())) {
    const auto urls = member.value("peerURLs", std::vector<std::string>());
    for (const auto& node : site.nodes) {
      if (std::find(urls.begin(), urls.end(), etcd_url(node, ports.peers)) == urls.end()) continue;
      found.emplace_back(site.number_of(node), member.value("ID", std::string()));
    }
  }
  return found;
}

// Of the members but this one, the first that does it. Error: what the last one said.
base::Result<Json> by_another(const Site& site, std::size_t node, EtcdPorts ports,
                              std::string_view action, const Json& body) {
  std::string said = "no other member answers";
  for (const auto& other : site.nodes) {
    if (other.left || site.number_of(other) == node) continue;
    const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
    auto answer = ask_for_members(other, ports, action, body);
    if (answer.is_object() && !answer.contains("error")) return answer;
    if (answer.is_object()) said = answer["error"].dump();
  }
  return base::Error{.message = fmt::format("etcd's member {} fails: {}", action, said)};
}

// etcd changes its members only 5 s after the connections between them changed.
base::Result<Json> change_members(const Site& site, std::size_t node, EtcdPorts ports,
                                  std::string_view action, const Json& body) {
  const auto deadline = std::chrono::steady_clock::now() + kToBecomeHealthy;
  for (;;) {
    auto changed = by_another(site, node, ports, action, body);
    const bool again =
        !changed.ok() && changed.error().message.find("unhealthy") != std::string::npos;
    if (!again || std::chrono::steady_clock::now() > deadline) return changed;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
}

base::Status leave_etcd(const Site& site, std::size_t node) {
  return remove_etcd_member(site, node, {});
}

base::Result<std::vector<std::string>> prepare_etcd(const Site& site, const Start& start) {
  return start.joins ? add_etcd_member(site, start.node, {}) : std::vector<std::string>();
}

std::vector<std::size_t> members_of_etcd(const Site& site) {
  return etcd_members(site, {});
}

}  // namespace

std::vector<std::string> etcd_arguments(const Site& site, const Node& node,
                                        const std::string& directory, EtcdPorts ports) {
  std::string members;
  for (const auto& member : site.nodes) {
    members += fmt::format("{}node-{}={}", members.empty() ? "" : ",", site.number_of(member),
                           etcd_url(member, ports.peers));
  }
  const auto clients = etcd_url(node, ports.clients), peers = etcd_url(node, ports.peers);
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

std::vector<std::size_t> etcd_members(const Site& site, EtcdPorts ports) {
  std::set<std::size_t> all;
  for (const auto& node : site.nodes) {
    if (node.left) continue;
    const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
    for (const auto& [member, id] :
         members_in(site, ports, ask_for_members(node, ports, "list", Json::object()))) {
      all.insert(member);
    }
  }
  return {all.begin(), all.end()};
}

base::Status remove_etcd_member(const Site& site, std::size_t node, EtcdPorts ports) {
  const auto list = by_another(site, node, ports, "list", Json::object());
  if (!list.ok()) return list.error();
  for (const auto& [member, id] : members_in(site, ports, *list)) {
    if (member != node) continue;
    if (auto removed = change_members(site, node, ports, "remove", {{"ID", id}}); !removed.ok()) {
      return std::move(removed).error();
    }
  }
  return base::Ok{};
}

// A member that was removed is a new one, with the others as they are now.
base::Result<std::vector<std::string>> add_etcd_member(const Site& site, std::size_t node,
                                                       EtcdPorts ports) {
  // An earlier try may have added it.
  if (auto removed = remove_etcd_member(site, node, ports); !removed.ok()) {
    return std::move(removed).error();
  }
  const auto added =
      change_members(site, node, ports, "add",
                     {{"peerURLs", Json::array({etcd_url(site.nodes[node], ports.peers)})}});
  if (!added.ok()) return added.error();
  std::string all;
  for (const auto& [member, id] : members_in(site, ports, *added)) {
    all += fmt::format("{}node-{}={}", all.empty() ? "" : ",", member,
                       etcd_url(site.nodes[member], ports.peers));
  }
  return std::vector<std::string>{"--initial-cluster=" + all, "--initial-cluster-state=existing"};
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
                                   .prepare = prepare_etcd,
                                   .primaries = etcd_leaders,
                                   .failover = move_leader,
                                   .membership = {.leave = leave_etcd, .members = members_of_etcd},
                                   .no_clocks = kGoClocks};

}  // namespace cupel::lab
