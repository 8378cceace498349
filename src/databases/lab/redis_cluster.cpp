// Redis Cluster: primaries that share the slots of the keys, and their replicas.
//
// redis-cli forms it, and refuses fewer than three primaries. Who is what is in each node's
// nodes.conf, which Redis writes itself, so a node that is started anew is what it was.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <sstream>
#include <thread>

#include "databases/lab/failover.hpp"
#include "databases/lab/kinds.hpp"
#include "databases/lab/loopback.hpp"
#include "databases/lab/programs.hpp"
#include "databases/lab/redis.hpp"

namespace cupel::lab {

namespace {

using base::Error;
using base::Ok;
using base::Seconds;
using base::Status;

constexpr Seconds kNodeAnswer{1}, kToTakeOver{20};
constexpr std::size_t kLeastPrimaries = 3;
enum RedisPort : std::uint8_t { kClusterClients, kClusterBus };

Status find_redis_cluster() {
  auto found = find_redis();
  return found.ok() ? need(find_program("redis-cli"), "program `redis-cli`", "redis-tools") : found;
}

Status initialize_redis_cluster(const Site& site) {
  const auto count = site.nodes.size();
  if (count != kLeastPrimaries && count < 2 * kLeastPrimaries) {
    return Error{.message = fmt::format(
                     "found {} nodes, expected 3 without replicas, or from 6 on: redis-cluster "
                     "needs three primaries, and gives each a replica",
                     count)};
  }
  return initialize_redis_group(site);
}

std::vector<std::string> redis_cluster_command(const Site& site, const Node& node) {
  return redis_arguments(
      site, node,
      {"--cluster-enabled", "yes", "--cluster-port", std::to_string(node.ports[kClusterBus]),
       "--cluster-node-timeout", "2000"});
}

std::string ask_node(const Node& node, std::string_view command) {
  return ask_until(node.address, node.ports[kClusterClients], fmt::format("{}\r\n", command),
                   "\r\n", kNodeAnswer);
}

// A node as one of them sees it: a line of CLUSTER NODES.
struct Seen {
  std::string id, flags, primary;
  std::size_t number = 0;  // of the site; none: SIZE_MAX
  bool connected = false, has_slots = false;
  // Nobody knows of a node at once whose replica it is.
  [[nodiscard]] bool has_part() const { return has_slots || (is("slave") && primary != "-"); }
  [[nodiscard]] bool is(std::string_view flag) const {
    return fmt::format(",{},", flags).find(fmt::format(",{},", flag)) != std::string::npos;
  }
};

// Which node has this port, of "ADDRESS:PORT@BUS"; the ports of the nodes differ.
std::size_t number_at(const Site& site, const std::string& place) {
  for (const auto& node : site.nodes) {
    if (place.find(fmt::format(":{}@", node.ports[kClusterClients])) != std::string::npos) {
      return site.number_of(node);
    }
  }
  return SIZE_MAX;
}

std::vector<Seen> seen_by(const Site& site, const Node& node) {
  std::istringstream lines(ask_redis_for_text(node, "CLUSTER NODES"));
  std::vector<Seen> all;
  std::string line;
  std::getline(lines, line);  // the length
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    Seen one;
    std::string place, pinged, answered, epoch, link, slot;
    if (!(words >> one.id >> place >> one.flags >> one.primary >> pinged >> answered >> epoch >>
          link)) {
      continue;
    }
    one.number = number_at(site, place);
    one.connected = link == "connected";
    one.has_slots = static_cast<bool>(words >> slot);
    all.push_back(std::move(one));
  }
  return all;
}

std::optional<Seen> self_of(const std::vector<Seen>& all) {
  const auto found =
      std::find_if(all.begin(), all.end(), [](const Seen& one) { return one.is("myself"); });
  return found == all.end() ? std::nullopt : std::optional(*found);
}

bool cluster_is_well(const Node& node) {
  return ask_redis_for_text(node, "CLUSTER INFO").find("cluster_state:ok") != std::string::npos;
}

// A primary that hears no majority takes writes until the node timeout is over.
bool takes_writes(const Site& site, const Node& node) {
  const auto self = self_of(seen_by(site, node));
  return self && self->is("master") && self->has_slots && cluster_is_well(node);
}

std::vector<std::size_t> shard_primaries(const Site& site) {
  std::vector<std::size_t> found;
  for (const auto& node : site.nodes) {
    if (takes_writes(site, node)) found.push_back(site.number_of(node));
  }
  return found;
}

// Once for all nodes; the first has the log of it.
Status create_cluster(const Site& site) {
  std::vector<std::string> command{find_program("redis-cli"), "--cluster", "create"};
  for (const auto& node : site.nodes) {
    command.push_back(fmt::format("{}:{}@{}", node.address, node.ports[kClusterClients],
                                  node.ports[kClusterBus]));
  }
  const bool replicas = site.nodes.size() >= 2 * kLeastPrimaries;
  for (const char* word : {"--cluster-replicas", replicas ? "1" : "0", "--cluster-yes"}) {
    command.emplace_back(word);
  }
  return run_once(site, std::move(command), site.nodes.front().log);
}

bool replica_follows(const Node& replica) {
  return ask_redis_for_text(replica, "INFO replication").find("master_link_status:up") !=
         std::string::npos;
}

// All see all, every slot has a primary, and the replicas follow.
bool redis_cluster_is_formed(const Site& site) {
  bool formed = true, fresh = true;
  for (const auto& node : site.nodes) {
    const auto all = seen_by(site, node);
    fresh = fresh && all.size() == 1 && !all.front().has_slots;
    const auto self = self_of(all);
    const bool ready = self && (self->is("master") || replica_follows(node));
    const bool known =
        std::all_of(all.begin(), all.end(), [](const Seen& one) { return one.has_part(); });
    formed = formed && ready && known && all.size() == site.nodes.size() && cluster_is_well(node);
  }
  if (fresh) (void)create_cluster(site);  // its log says what went wrong
  return formed;
}

// The nodes that a primary has as its replicas, and that answer it.
std::vector<std::size_t> replicas_of(const Site& site, std::size_t primary) {
  std::vector<std::size_t> found;
  const auto all = seen_by(site, site.nodes[primary]);
  const auto self = self_of(all);
  for (const auto& one : all) {
    const bool follows = self && one.primary == self->id && one.connected && !one.is("fail");
    if (follows && one.number < site.nodes.size()) found.push_back(one.number);
  }
  return found;
}

// By CLUSTER FAILOVER of a replica, which waits until it has everything. Error: its answer.
base::Result<std::size_t> hand_over(const Site& site, std::size_t primary) {
  std::string said = "it has no replica that answers";
  for (const auto next : replicas_of(site, primary)) {
    said = ask_node(site.nodes[next], "CLUSTER FAILOVER");
    if (!said.starts_with("+OK")) continue;
    return await_primary(kToTakeOver, [&]() -> std::optional<std::size_t> {
      return takes_writes(site, site.nodes[next]) && !takes_writes(site, site.nodes[primary])
                 ? std::optional(next)
                 : std::nullopt;
    });
  }
  return Error{.message = fmt::format("node {} does not hand over: {}", primary,
                                      said.substr(0, said.find('\r')))};
}

// Every primary hands over to a replica of its own. Returns the first of the new ones.
base::Result<std::size_t> redis_cluster_failover(const Site& site) {
  const auto primaries = shard_primaries(site);
  if (primaries.empty()) return Error{.message = "no primary answers that could hand over"};
  std::optional<std::size_t> first;
  for (const auto primary : primaries) {
    auto next = hand_over(site, primary);
    if (!next.ok()) return next;
    if (!first) first = *next;
  }
  return *first;
}

std::string no_replicas(const Site& site) {
  if (site.nodes.size() >= 2 * kLeastPrimaries) return {};
  return fmt::format(
      "found {} nodes, which have no replicas that could take over the slots, expected at least {}",
      site.nodes.size(), 2 * kLeastPrimaries);
}

// A primary hands over its slots to a replica before.
Status leave_cluster(const Site& site, std::size_t node) {
  if (!takes_writes(site, site.nodes[node])) return Ok{};
  auto next = hand_over(site, node);
  return next.ok() ? Status(Ok{}) : std::move(next).error();
}

// By every other node, or they would learn of it from each other. One that was its replica has to
// follow another first.
Status forget_node(const Site& site, std::size_t node) {
  const auto forgotten = [&](const Node& by, std::string& said) {
    bool all = true;
    for (const auto& one : seen_by(site, by)) {
      if (one.number != node) continue;
      said = ask_node(by, "CLUSTER FORGET " + one.id);
      all = all && said.starts_with("+OK");
    }
    return all;
  };
  for (const auto& other : site.nodes) {
    if (other.left || site.number_of(other) == node) continue;
    std::string said;
    const auto deadline = std::chrono::steady_clock::now() + kToTakeOver;
    while (!forgotten(other, said)) {
      if (std::chrono::steady_clock::now() > deadline) {
        return Error{.message =
                         fmt::format("node {} does not forget node {}: {}", site.number_of(other),
                                     node, said.substr(0, said.find('\r')))};
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }
  return Ok{};
}

std::vector<std::size_t> cluster_members(const Site& site) {
  std::set<std::size_t> all;
  for (const auto& node : site.nodes) {
    if (node.left) continue;
    for (const auto& one : seen_by(site, node)) {
      const bool listed = !one.is("handshake") && !one.is("noaddr");
      if (listed && one.number < site.nodes.size()) all.insert(one.number);
    }
  }
  return {all.begin(), all.end()};
}

// The primary that has fewest replicas; empty: none is known.
std::string neediest_primary(const std::vector<Seen>& all) {
  std::string found;
  std::ptrdiff_t fewest = 0;
  for (const auto& primary : all) {
    if (!primary.is("master") || !primary.has_slots || primary.is("fail")) continue;
    const auto replicas = std::count_if(all.begin(), all.end(),
                                        [&](const Seen& one) { return one.primary == primary.id; });
    if (!found.empty() && replicas >= fewest) continue;
    found = primary.id;
    fewest = replicas;
  }
  return found;
}

base::Result<std::vector<std::string>> prepare_redis_cluster(const Site& site, const Start& start) {
  if (!start.joins) return std::vector<std::string>();
  auto made =
      run_once(site, {"mkdir", site.nodes[start.node].directory}, site.nodes[start.node].log);
  if (!made.ok()) return std::move(made).error();
  return std::vector<std::string>();
}

// It meets the others, and then follows a primary.
bool has_joined_cluster(const Site& site, std::size_t index) {
  const auto& node = site.nodes[index];
  std::vector<const Node*> others;
  for (const auto& other : site.nodes) {
    if (!other.left && redis_is_up(site, other, {})) others.push_back(&other);
  }
  if (others.empty()) return false;
  const auto all = seen_by(site, node);
  const auto self = self_of(all);
  const bool meets =
      std::any_of(all.begin(), all.end(), [](const Seen& one) { return one.is("handshake"); });
  if (!self || meets) return false;
  if (all.size() == 1) {
    ask_node(node, fmt::format("CLUSTER MEET {} {} {}", others[0]->address,
                               others[0]->ports[kClusterClients], others[0]->ports[kClusterBus]));
    return false;
  }
  if (self->is("master")) {
    const bool known = std::all_of(
        all.begin(), all.end(), [](const Seen& one) { return one.is("myself") || one.has_part(); });
    const auto primary = neediest_primary(all);
    if (known && !primary.empty() && all.size() > others.size()) {
      ask_node(node, "CLUSTER REPLICATE " + primary);
    }
    return false;
  }
  const bool known = std::all_of(others.begin(), others.end(), [&](const Node* other) {
    const auto list = seen_by(site, *other);
    return std::any_of(list.begin(), list.end(), [&](const Seen& one) {
      return one.number == index && one.has_part() && one.id == self->id;
    });
  });
  return known && replica_follows(node);
}

}  // namespace

constinit const KindSpec kRedisClusterKind{
    .kind = Kind::kRedisCluster,
    .name = "redis-cluster",
    .summary = "Redis Cluster: primaries that share the keys, and their replicas",
    .user = "redis",
    .url = "redis://HOSTS",
    .least_nodes = kLeastPrimaries,
    .default_nodes = 2 * kLeastPrimaries,
    .most_nodes = 12,
    .ports = 2,  // clients, the other nodes
    .together = true,
    .find_programs = find_redis_cluster,
    .initialize = initialize_redis_cluster,
    .command = redis_cluster_command,
    .is_up = redis_is_up,
    .prepare = prepare_redis_cluster,
    .is_formed = redis_cluster_is_formed,
    .primaries = shard_primaries,
    .failover = redis_cluster_failover,
    .membership = {.unfit = no_replicas,
                   .leave = leave_cluster,
                   .forget = forget_node,
                   .has_joined = has_joined_cluster,
                   .members = cluster_members},
    .ignores_end = redis_ignores_end};

}  // namespace cupel::lab
