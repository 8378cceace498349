// NATS with JetStream: one server, or a cluster whose servers know each other's routes.
//
// JetStream waits for elections with times that cannot be set: a leader that does not answer is
// replaced after 4 to 9 s, and one that is cut off gives up after 10 s.
//
// A server leaves by JetStream's API (NATS' manual, page JetStream Clustering, Administration),
// which takes this of a user of the system account only. With no user in any other account, clients
// need none.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "base/budget.hpp"
#include "databases/lab/failover.hpp"
#include "databases/lab/kinds.hpp"
#include "databases/lab/loopback.hpp"
#include "databases/lab/programs.hpp"

namespace cupel::lab {

namespace {

using base::Error;
using base::Seconds;
using Json = nlohmann::json;

constexpr Seconds kMonitorAnswer{1}, kToStepDown{20}, kApiAnswer{5}, kToRemove{20};
constexpr const char* kSystemUser = "system";  // and its password
enum NatsPort : std::uint8_t { kNatsClients, kNatsRoutes, kNatsMonitor };

base::Status find_nats() {
  return need(find_program("nats-server"), "program `nats-server`", "nats-server");
}

std::string nats_configuration(const Site& site) {
  return site.directory + "/nats.conf";
}

base::Status initialize_nats(const Site& site) {
  return write_as_user(
      site, nats_configuration(site),
      fmt::format("accounts {{ $SYS {{ users = [ {{ user: \"{0}\", password: \"{0}\" }} ] }} }}\n",
                  kSystemUser));
}

std::string nats_name(const Site& site, const Node& node) {
  return fmt::format("node-{}", site.number_of(node));
}

std::string nats_route(const Node& node) {
  return fmt::format("nats://{}:{}", node.address, node.ports[kNatsRoutes]);
}

std::vector<std::string> nats_command(const Site& site, const Node& node) {
  std::vector<std::string> command{find_program("nats-server"),
                                   "--name=" + nats_name(site, node),
                                   "--addr=" + node.address,
                                   fmt::format("--port={}", node.ports[kNatsClients]),
                                   fmt::format("--http_port={}", node.ports[kNatsMonitor]),
                                   "--jetstream",
                                   "--store_dir=" + node.directory};
  if (site.nodes.size() > 1) {
    std::string routes;
    for (const auto& other : site.nodes) routes += (routes.empty() ? "" : ",") + nats_route(other);
    command.push_back("--config=" + nats_configuration(site));
    command.push_back("--cluster_name=cupel");
    command.push_back("--cluster=" + nats_route(node));
    command.push_back("--routes=" + routes);
  }
  for (const auto& option : site.options.server_options) command.push_back("--" + option);
  return command;
}

std::string monitor_says(const Node& node, std::string_view path) {
  return ask_until(node.address, node.ports[kNatsMonitor],
                   fmt::format("GET {} HTTP/1.0\r\n\r\n", path), {}, kMonitorAnswer);
}

// In a cluster: it also knows the leader who assigns the streams.
bool nats_is_up(const Site& /*site*/, const Node& node, std::string_view /*written*/) {
  return monitor_says(node, "/healthz?js-server-only=true").find("\"status\":\"ok\"") !=
         std::string::npos;
}

// The body of an answer of the monitoring port; no object: none.
Json monitored_by(const Node& node, std::string_view path) {
  const auto answer = monitor_says(node, path);
  const auto body = answer.find("\r\n\r\n");
  return body == std::string::npos ? Json() : Json::parse(answer.substr(body), nullptr, false);
}

// A stream of one of cupel's buckets, by what a server that has it knows.
struct NatsStream {
  std::string name, leader;
  std::map<std::string, bool> followers;  // by their names: whether they have everything
  std::size_t replicas = 1;               // that it is to have
};
std::vector<NatsStream> streams_of(const Node& node) {
  std::vector<NatsStream> found;
  const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
  const auto all = monitored_by(node, "/jsz?accounts=true&streams=true&config=true");
  if (!all.is_object()) return found;
  for (const auto& account : all.value("account_details", Json::array())) {
    for (const auto& stream : account.value("stream_detail", Json::array())) {
      NatsStream one;
      one.name = stream.value("name", std::string());
      if (!one.name.starts_with("KV_")) continue;
      const auto cluster = stream.value("cluster", Json::object());
      one.leader = cluster.value("leader", std::string());
      for (const auto& replica : cluster.value("replicas", Json::array())) {
        one.followers[replica.value("name", std::string())] = replica.value("current", false);
      }
      one.replicas = stream.value("config", Json::object()).value("num_replicas", std::size_t{1});
      found.push_back(std::move(one));
    }
  }
  return found;
}

// Every server takes writes, but only by the leader of the stream. Without a bucket: all.
std::vector<std::size_t> nats_leaders(const Site& site) {
  std::vector<std::size_t> leaders, all;
  bool buckets = false;
  for (const auto& node : site.nodes) {
    all.push_back(site.number_of(node));
    const auto streams = streams_of(node);
    buckets = buckets || !streams.empty();
    const auto self = nats_name(site, node);
    if (std::any_of(streams.begin(), streams.end(),
                    [&](const NatsStream& stream) { return stream.leader == self; })) {
      leaders.push_back(site.number_of(node));
    }
  }
  return buckets && site.nodes.size() > 1 ? leaders : all;
}

// The answer to a request of JetStream's API, once `end` is in it; by a user, or by any client.
std::string ask_jetstream(const Node& node, std::string_view subject, const Json& body,
                          std::string_view end, bool by_system = false) {
  Json options{{"verbose", false}};
  if (by_system) options["user"] = options["pass"] = kSystemUser;
  const auto text = body.is_null() ? std::string() : body.dump();
  return ask_until(node.address, node.ports[kNatsClients],
                   fmt::format("CONNECT {}\r\nSUB answer 1\r\nPUB $JS.API.{} answer {}\r\n{}\r\n",
                               options.dump(), subject, text.size(), text),
                   end, kApiAnswer);
}

// The leader of the first bucket hands over; the streams of one run have one leader each.
base::Result<std::size_t> step_down(const Site& site) {
  const auto leaders = nats_leaders(site);
  if (leaders.empty()) return Error{.message = "no leader answers that could hand over"};
  const auto& old = site.nodes[leaders.front()];
  std::string said = "there is no bucket yet";
  for (const auto& stream : streams_of(old)) {
    if (stream.leader != nats_name(site, old)) continue;
    said = ask_jetstream(old, "STREAM.LEADER.STEPDOWN." + stream.name, Json(), "\"success\":true");
    if (said.find("\"success\":true") == std::string::npos) break;
    return await_primary(kToStepDown, site, nats_leaders, leaders.front());
  }
  return Error{.message = "the leader does not hand over: " + said};
}

// The members of JetStream's meta group, the leader first; empty: no leader answers.
std::vector<std::string> meta_group(const Site& site) {
  std::vector<std::string> names;
  for (const auto& node : site.nodes) {
    const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
    const auto all = monitored_by(node, "/jsz");
    const auto group = all.is_object() ? all.value("meta_cluster", Json::object()) : Json::object();
    if (group.value("leader", std::string()) != nats_name(site, node)) continue;
    names.push_back(nats_name(site, node));
    for (const auto& replica : group.value("replicas", Json::array())) {
      names.push_back(replica.value("name", std::string()));
    }
    break;
  }
  return names;
}

// The streams, each as its leader sees it.
std::vector<NatsStream> led_streams(const Site& site) {
  std::vector<NatsStream> found;
  for (const auto& node : site.nodes) {
    for (auto& stream : streams_of(node)) {
      if (stream.leader == nats_name(site, node)) found.push_back(std::move(stream));
    }
  }
  return found;
}

// Of the meta group, or of a stream.
std::vector<std::size_t> nats_members(const Site& site) {
  const auto group = meta_group(site);
  std::set<std::string> names(group.begin(), group.end());
  for (const auto& stream : led_streams(site)) {
    for (const auto& [name, current] : stream.followers) names.insert(name);
  }
  std::vector<std::size_t> found;
  for (const auto& node : site.nodes) {
    if (names.contains(nats_name(site, node))) found.push_back(site.number_of(node));
  }
  return found;
}

// The leader of the meta group has heard from all servers; one alone has no such group.
bool jetstream_is_formed(const Site& site) {
  return site.nodes.size() == 1 || nats_members(site).size() == site.nodes.size();
}

// By any of the others, which hand it on to the leader of the meta group. The streams then have a
// replica less; those of a leader that removed itself would keep it, so it steps down before.
base::Status remove_from_jetstream(const Site& site, std::size_t node) {
  const auto deadline = std::chrono::steady_clock::now() + kToRemove;
  const auto name = nats_name(site, site.nodes[node]);
  std::string said;
  for (; std::chrono::steady_clock::now() < deadline;
       std::this_thread::sleep_for(std::chrono::milliseconds(200))) {
    const auto group = meta_group(site);
    if (group.empty()) continue;
    const auto among = std::find(group.begin(), group.end(), name);
    if (among == group.end()) return base::Ok{};
    for (const auto& other : site.nodes) {
      if (other.left || site.number_of(other) == node) continue;
      said = among == group.begin()
                 ? ask_jetstream(other, "META.LEADER.STEPDOWN", Json(), "}\r\n", true)
                 : ask_jetstream(other, "SERVER.REMOVE", {{"peer", name}}, "}\r\n", true);
      if (said.find("\"success\":true") != std::string::npos) break;
    }
  }
  return Error{.message = "JetStream does not remove the server: " +
                          (said.empty() ? "no leader answers" : said)};
}

base::Result<std::vector<std::string>> prepare_nats(const Site& site, const Start& start) {
  if (start.joins) {
    // An earlier try may have added it, and a member must not forget what it voted for.
    auto removed = remove_from_jetstream(site, start.node);
    if (!removed.ok()) return std::move(removed).error();
  }
  return std::vector<std::string>();
}

// It is in the meta group, and the streams have their replicas again, of which it has everything.
bool has_joined_jetstream(const Site& site, std::size_t index) {
  const auto name = nats_name(site, site.nodes[index]);
  const auto group = meta_group(site);
  if (std::find(group.begin(), group.end(), name) == group.end()) return false;
  std::set<std::string> names, led;
  bool whole = true;
  for (const auto& node : site.nodes) {
    if (node.left) continue;
    for (const auto& stream : streams_of(node)) names.insert(stream.name);
  }
  for (const auto& stream : led_streams(site)) {
    led.insert(stream.name);
    const auto self = stream.followers.find(name);
    whole = whole && stream.followers.size() + 1 >= std::min(stream.replicas, group.size()) &&
            (self == stream.followers.end() || self->second);
  }
  return whole && led == names;
}

}  // namespace

constinit const KindSpec kNatsKind{.kind = Kind::kNats,
                                   .name = "nats",
                                   .summary = "NATS with JetStream, a cluster or one server",
                                   .user = "nats",
                                   .url = "nats://HOSTS",
                                   .default_nodes = 3,
                                   .most_nodes = 5,
                                   .ports = 3,  // clients, routes, monitoring
                                   .together = true,
                                   .find_programs = find_nats,
                                   .initialize = initialize_nats,
                                   .command = nats_command,
                                   .is_up = nats_is_up,
                                   .prepare = prepare_nats,
                                   .is_formed = jetstream_is_formed,
                                   .primaries = nats_leaders,
                                   .failover = step_down,
                                   .membership = {.leave = remove_from_jetstream,
                                                  .has_joined = has_joined_jetstream,
                                                  .members = nats_members},
                                   .no_clocks = kGoClocks};

}  // namespace cupel::lab
