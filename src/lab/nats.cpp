// NATS with JetStream: one server, or a cluster whose servers know each other's routes.
//
// JetStream waits for elections with times that cannot be set: a leader that does not answer is
// replaced after 4 to 9 s, and one that is cut off gives up after 10 s.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "lab/failover.hpp"
#include "lab/kinds.hpp"
#include "lab/loopback.hpp"
#include "lab/programs.hpp"

namespace cupel::lab {

namespace {

using base::Error;
using base::Seconds;
using Json = nlohmann::json;

constexpr Seconds kMonitorAnswer{1}, kToStepDown{20};
enum NatsPort : std::uint8_t { kNatsClients, kNatsRoutes, kNatsMonitor };

base::Status find_nats() {
  return need(find_program("nats-server"), "program `nats-server`", "nats-server");
}

base::Status initialize_nats(const Site& /*site*/) {
  return base::Ok{};  // makes its own
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

// The streams of cupel's buckets that a server has, each with its leader by what the server knows.
std::vector<std::pair<std::string, std::string>> streams_of(const Node& node) {
  std::vector<std::pair<std::string, std::string>> found;
  const auto answer = monitor_says(node, "/jsz?accounts=true&streams=true");
  const auto body = answer.find("\r\n\r\n");
  if (body == std::string::npos) return found;
  const auto all = Json::parse(answer.substr(body), nullptr, false);
  if (!all.is_object()) return found;
  for (const auto& account : all.value("account_details", Json::array())) {
    for (const auto& stream : account.value("stream_detail", Json::array())) {
      const auto name = stream.value("name", std::string());
      if (!name.starts_with("KV_")) continue;
      const auto cluster = stream.value("cluster", Json::object());
      found.emplace_back(name, cluster.value("leader", std::string()));
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
                    [&](const auto& stream) { return stream.second == self; })) {
      leaders.push_back(site.number_of(node));
    }
  }
  return buckets && site.nodes.size() > 1 ? leaders : all;
}

// The leader of the first bucket hands over; the streams of one run have one leader each.
base::Result<std::size_t> step_down(const Site& site) {
  const auto leaders = nats_leaders(site);
  if (leaders.empty()) return Error{.message = "no leader answers that could hand over"};
  const auto& old = site.nodes[leaders.front()];
  std::string said = "there is no bucket yet";
  for (const auto& [stream, leader] : streams_of(old)) {
    if (leader != nats_name(site, old)) continue;
    said = ask_until(old.address, old.ports[kNatsClients],
                     fmt::format("CONNECT {{\"verbose\":false}}\r\nSUB answer 1\r\n"
                                 "PUB $JS.API.STREAM.LEADER.STEPDOWN.{} answer 0\r\n\r\n",
                                 stream),
                     "\"success\":true", Seconds(5));
    if (said.find("\"success\":true") == std::string::npos) break;
    return await_primary(kToStepDown, site, nats_leaders, leaders.front());
  }
  return Error{.message = "the leader does not hand over: " + said};
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
                                   .primaries = nats_leaders,
                                   .failover = step_down,
                                   .no_clocks = kGoClocks};

}  // namespace cupel::lab
