// Redis: one server, a primary with replicas, or these under Sentinels, one beside each server.
//
// Replication is asynchronous. Who is primary is in each server's redis.conf, which Redis rewrites
// itself when it changes, so a server that is started anew is what it was. A replica that left has
// none any more: it starts as a new replica of who is the primary then.
#include "databases/lab/redis.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <set>
#include <thread>

#include "databases/lab/failover.hpp"
#include "databases/lab/kinds.hpp"
#include "databases/lab/loopback.hpp"
#include "databases/lab/programs.hpp"

namespace cupel::lab {

namespace {

using base::Error;
using base::Ok;
using base::Seconds;
using base::Status;

constexpr const char* kMonitored = "cupel";  // the Sentinels' name for the primary
constexpr Seconds kAnswer{1}, kToFailOver{20}, kToLearn{20};

// Every option of Redis has a value.
Status initialize_redis(const Site& site) {
  for (const auto& option : site.options.server_options) {
    if (option.find('=') != std::string::npos) continue;
    return Error{.message = fmt::format(
                     "the option `{0}` of Redis has no value. Write {0}={1}", option,
                     option == "requirepass" ? "PASSWORD, and add the password to the URL of the "
                                               "server: redis://:PASSWORD@HOST:PORT"
                                             : "VALUE")};
  }
  for (const auto& node : site.nodes) {
    auto made = run_once(site, {"mkdir", node.directory}, node.log);
    if (!made.ok()) return made;
  }
  return Ok{};
}

}  // namespace

Status find_redis() {
  return need(find_program("redis-server"), "program `redis-server`", "redis-server");
}

Status initialize_redis_group(const Site& site) {
  for (const auto& option : site.options.server_options) {
    if (option.starts_with("requirepass")) {
      return Error{.message = fmt::format("the option `requirepass` cannot be used with {}: its "
                                          "servers reach each other without a password. Leave it "
                                          "out, or start redis",
                                          name(site.kind))};
    }
  }
  return initialize_redis(site);
}

std::vector<std::string> redis_arguments(const Site& site, const Node& node,
                                         const std::vector<std::string>& more) {
  std::vector<std::string> command{find_program("redis-server")};
  command.insert(command.end(), more.begin(), more.end());
  for (const auto& option :
       {std::string("--port"), std::to_string(node.ports[0]), std::string("--bind"), node.address,
        std::string("--protected-mode"), std::string("no"), std::string("--dir"), node.directory,
        std::string("--save"), std::string(), std::string("--appendonly"), std::string("yes"),
        std::string("--appendfsync"), std::string(site.options.durable ? "always" : "no"),
        // A replica that asks for everything would wait 5 s for others to ask too.
        std::string("--repl-diskless-sync-delay"), std::string("0")}) {
    command.push_back(option);
  }
  for (const auto& option : site.options.server_options) {
    const auto equals = option.find('=');
    command.push_back("--" + option.substr(0, equals));
    if (equals != std::string::npos) command.push_back(option.substr(equals + 1));
  }
  return command;
}

std::string ask_redis_for_text(const Node& node, std::string_view command) {
  return ask_until(node.address, node.ports[0], fmt::format("{}\r\n", command), "\n\r\n", kAnswer);
}

bool redis_is_up(const Site& /*site*/, const Node& node, std::string_view /*written*/) {
  const auto answer = ask(node, "PING\r\n", kAnswer);
  return answer.rfind("+PONG", 0) == 0 || answer.rfind("-NOAUTH", 0) == 0;
}

// Redis forgets that it is to end while it writes its first append-only file, as a replica does
// that just got everything ("Writing initial AOF, can't exit").
bool redis_ignores_end(const Site& /*site*/, const Node& node) {
  const auto known = ask_redis_for_text(node, "INFO persistence");
  return known.find("aof_rewrite_in_progress:1") != std::string::npos ||
         known.find("aof_rewrite_scheduled:1") != std::string::npos;
}

namespace {

Status find_sentinel() {
  auto found = find_redis();
  return found.ok() ? need(find_program("setpriv"), "program `setpriv`", "util-linux") : found;
}

std::string configuration_of(const Node& node) {
  return node.directory + "/redis.conf";
}
std::string sentinel_configuration_of(const Node& node) {
  return node.directory + "/sentinel.conf";
}

std::vector<std::string> redis_command(const Site& site, const Node& node) {
  const bool configured = site.kind != Kind::kRedis;
  return redis_arguments(
      site, node, configured ? std::vector{configuration_of(node)} : std::vector<std::string>());
}

// The Sentinels start once the replicas follow: each learns of replicas when it starts and then
// every 10 s only.
std::string sentinels_begin(const Site& site) {
  return site.directory + "/sentinels-begin";
}

// The Sentinel is a child of its server: what is done to the node's processes meets both, and
// neither outlives the other's host.
std::vector<std::string> sentinel_command(const Site& site, const Node& node) {
  std::vector<std::string> command{
      "/bin/sh",
      "-c",
      R"("$1" --pdeathsig KILL /bin/sh -c "$2" sh "$3" "$5" "$4" & shift 4; exec "$@")",
      "sh",
      find_program("setpriv"),
      R"(until [ -e "$1" ]; do sleep 0.1; done; exec "$2" "$3" --sentinel)",
      sentinels_begin(site),
      sentinel_configuration_of(node)};
  for (auto& word : redis_command(site, node)) command.push_back(std::move(word));
  return command;
}

std::string ask_sentinel(const Node& node, std::string_view request) {
  return ask(node.address, node.ports[1], request, kAnswer);
}

bool is_primary(const Node& node) {
  return ask(node, "ROLE\r\n", kAnswer).find("\r\nmaster\r\n") != std::string::npos;
}

std::vector<std::size_t> redis_primaries(const Site& site) {
  std::vector<std::size_t> found;
  for (const auto& node : site.nodes) {
    if (is_primary(node)) found.push_back(site.number_of(node));
  }
  return found;
}

// A primary, and the replicas that it sends its writes to.
std::vector<std::size_t> with_replicas(const Site& site, std::size_t primary) {
  std::vector<std::size_t> found;
  const auto known = ask_redis_for_text(site.nodes[primary], "INFO replication");
  for (const auto& node : site.nodes) {
    const auto replica = fmt::format(":ip={},port={},state=online,", node.address, node.ports[0]);
    const bool follows = known.find(replica) != std::string::npos;
    if (follows || site.number_of(node) == primary) found.push_back(site.number_of(node));
  }
  return found;
}

// The primary, if there is one, and the others have its data. A replica knows that it follows
// before the primary does, which hands over only to replicas that it knows.
std::optional<std::size_t> followed_by_all(const Site& site) {
  const auto following = std::count_if(site.nodes.begin(), site.nodes.end(), [](const Node& node) {
    return ask(node, "ROLE\r\n", kAnswer).find("\r\nconnected\r\n") != std::string::npos;
  });
  if (static_cast<std::size_t>(following) + 1 != site.nodes.size()) return std::nullopt;
  const auto primaries = redis_primaries(site);
  if (primaries.size() != 1) return std::nullopt;
  const bool whole = with_replicas(site, primaries.front()).size() == site.nodes.size();
  return whole ? std::optional(primaries.front()) : std::nullopt;
}

bool group_is_formed(const Site& site) {
  return followed_by_all(site).has_value();
}

bool sentinels_are_formed(const Site& site) {
  const auto number = followed_by_all(site);
  if (!number) return false;
  if (::access(sentinels_begin(site).c_str(), F_OK) != 0 &&
      !write_as_user(site, sentinels_begin(site), "").ok()) {
    return false;
  }
  const auto& primary = site.nodes[*number];
  const auto expected =
      fmt::format("status=ok,address={}:{},slaves={},sentinels={}", primary.address,
                  primary.ports[0], site.nodes.size() - 1, site.nodes.size());
  return std::all_of(site.nodes.begin(), site.nodes.end(), [&](const Node& node) {
    return ask_sentinel(node, "INFO sentinel\r\n").find(expected) != std::string::npos;
  });
}

// Where the Sentinels have the primary now; none: no one answers.
std::optional<std::size_t> monitored(const Site& site) {
  for (const auto& node : site.nodes) {
    const auto answer =
        ask_sentinel(node, fmt::format("SENTINEL GET-MASTER-ADDR-BY-NAME {}\r\n", kMonitored));
    for (const auto& candidate : site.nodes) {
      const auto port = fmt::format("\r\n{}\r\n", candidate.ports[0]);
      if (answer.find(fmt::format("\r\n{}\r\n", candidate.address)) != std::string::npos &&
          answer.find(port) != std::string::npos) {
        return site.number_of(candidate);
      }
    }
  }
  return std::nullopt;
}

// The one that has replicas, by the Sentinels where there are any.
std::optional<std::size_t> current_primary(const Site& site) {
  if (site.kind == Kind::kRedisSentinel) return monitored(site);
  const auto all = redis_primaries(site);
  return all.empty() ? std::nullopt : std::optional(all.front());
}

// The first node starts as the primary; whom a node follows that joins.
base::Result<const Node*> primary_at(const Site& site, const Start& start) {
  if (!start.joins) return &site.nodes.front();
  const auto current = current_primary(site);
  if (!current || *current == start.node) {
    return Error{.message = "no primary answers that the node could follow"};
  }
  return &site.nodes[*current];
}

// At its first start, and when it joins again.
base::Result<std::vector<std::string>> prepare_group(const Site& site, const Start& start) {
  std::vector<std::string> more;
  if (!start.first && !start.joins) return more;
  const auto& node = site.nodes[start.node];
  if (start.joins) {
    auto made = run_once(site, {"mkdir", node.directory}, node.log);
    if (!made.ok()) return std::move(made).error();
  }
  const auto found = primary_at(site, start);
  if (!found.ok()) return found.error();
  const auto& primary = **found;
  const auto follow = fmt::format("replicaof {} {}\n", primary.address, primary.ports[0]);
  auto written = write_as_user(site, configuration_of(node), &node == &primary ? "" : follow);
  if (!written.ok()) return std::move(written).error();
  if (site.kind != Kind::kRedisSentinel) return more;
  written = write_as_user(
      site, sentinel_configuration_of(node),
      fmt::format("port {1}\nbind {2}\nprotected-mode no\ndir {3}\n"
                  "sentinel monitor {0} {4} {5} {6}\n"
                  "sentinel down-after-milliseconds {0} 1000\n"
                  "sentinel failover-timeout {0} 3000\n"
                  "sentinel parallel-syncs {0} {7}\n",
                  kMonitored, node.ports[1], node.address, node.directory, primary.address,
                  primary.ports[0], site.nodes.size() / 2 + 1, site.nodes.size()));
  if (!written.ok()) return std::move(written).error();
  return more;
}

// By the Sentinels. The old primary takes writes until they make it a replica.
base::Result<std::size_t> sentinel_failover(const Site& site) {
  const auto before = monitored(site);
  std::string answer = "no Sentinel answers";
  for (const auto& node : site.nodes) {
    const auto said = ask_sentinel(node, fmt::format("SENTINEL FAILOVER {}\r\n", kMonitored));
    if (!said.empty()) answer = said.substr(0, said.find('\r'));
    if (said.starts_with("+OK")) {
      return await_primary(kToFailOver, [&]() -> std::optional<std::size_t> {
        const auto now = monitored(site);
        return now && now != before && is_primary(site.nodes[*now]) ? now : std::nullopt;
      });
    }
  }
  return Error{.message = "the Sentinels make no failover: " + answer};
}

// By the command FAILOVER of the primary, which waits for the replica to have everything.
base::Result<std::size_t> redis_failover(const Site& site) {
  const auto primaries = redis_primaries(site);
  if (primaries.empty()) {
    return Error{.message = "no primary answers that could hand over to a replica"};
  }
  const auto& old = site.nodes[primaries.front()];
  auto next_number = (primaries.front() + 1) % site.nodes.size();
  while (site.nodes[next_number].left) next_number = (next_number + 1) % site.nodes.size();
  const auto& next = site.nodes[next_number];
  const auto said =
      ask(old, fmt::format("FAILOVER TO {} {}\r\n", next.address, next.ports[0]), kAnswer);
  if (!said.starts_with("+OK")) {
    return Error{.message =
                     fmt::format("the primary does not hand over: {}",
                                 said.empty() ? "no answer" : said.substr(0, said.find('\r')))};
  }
  auto found = await_primary(kToFailOver, [&]() -> std::optional<std::size_t> {
    return is_primary(next) && !is_primary(old) ? std::optional(site.number_of(next))
                                                : std::nullopt;
  });
  if (!found.ok()) return found;
  for (const auto& node : site.nodes) {
    if (&node != &next) {
      ask(node, fmt::format("REPLICAOF {} {}\r\n", next.address, next.ports[0]), kAnswer);
    }
    ask(node, "CONFIG REWRITE\r\n", kAnswer);
  }
  return found;
}

std::vector<std::size_t> followed_and_following(const Site& site) {
  const auto primary = current_primary(site);
  return primary ? with_replicas(site, *primary) : std::vector<std::size_t>();
}

bool follows_redis_primary(const Site& site, std::size_t node) {
  const auto all = followed_and_following(site);
  return std::find(all.begin(), all.end(), node) != all.end();
}

// Those of the other nodes whose Sentinels answer.
std::vector<const Node*> sentinels_but(const Site& site, std::size_t node) {
  std::vector<const Node*> found;
  for (const auto& other : site.nodes) {
    const bool asked = !other.left && site.number_of(other) != node;
    if (asked && !ask_sentinel(other, "PING\r\n").empty()) found.push_back(&other);
  }
  return found;
}

// How many a Sentinel knows: replicas, and Sentinels with itself.
struct Known {
  unsigned replicas = 0, sentinels = 0;
};
Known known_to(const Node& node) {
  const auto answer = ask_sentinel(node, "INFO sentinel\r\n");
  Known known;
  if (const auto at = answer.find(",slaves="); at != std::string::npos) {
    std::sscanf(answer.c_str() + at, ",slaves=%u,sentinels=%u", &known.replicas, &known.sentinels);
  }
  return known;
}

// The replicas that a Sentinel lists.
std::vector<std::size_t> replicas_by(const Site& site, const Node& sentinel) {
  std::vector<std::size_t> found;
  const auto answer =
      ask_until(sentinel.address, sentinel.ports[1],
                fmt::format("SENTINEL REPLICAS {}\r\nPING\r\n", kMonitored), "+PONG\r\n", kAnswer);
  for (const auto& node : site.nodes) {
    const auto name = fmt::format("\r\n{}:{}\r\n", node.address, node.ports[0]);
    if (answer.find(name) != std::string::npos) found.push_back(site.number_of(node));
  }
  return found;
}

// Redis' manual, Sentinel, section Adding or removing Sentinels: each of the others forgets all
// that it knows (SENTINEL RESET) and finds the other Sentinels again, one after the other. Of
// replicas they learn from the primary, which they ask every 10 s.
Status reset_sentinels(const Site& site, std::size_t node) {
  const auto others = sentinels_but(site, node);
  if (others.empty()) return Error{.message = "no Sentinel answers that could forget the node"};
  for (const auto* other : others) {
    const auto said = ask_sentinel(*other, fmt::format("SENTINEL RESET {}\r\n", kMonitored));
    const auto deadline = std::chrono::steady_clock::now() + kToLearn;
    while (!said.starts_with(":1") || known_to(*other).sentinels < others.size()) {
      if (!said.starts_with(":1") || std::chrono::steady_clock::now() > deadline) {
        return Error{.message =
                         fmt::format("the Sentinel of node {} does not find the others anew "
                                     "after SENTINEL RESET, to which it answered: {}",
                                     site.number_of(*other), said.substr(0, said.find('\r')))};
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }
  return Ok{};
}

// The primary, its replicas, and those that any Sentinel lists, as one that has reset itself does
// not yet.
std::vector<std::size_t> known_to_sentinels(const Site& site) {
  const auto group = followed_and_following(site);
  std::set<std::size_t> all(group.begin(), group.end());
  for (const auto& node : site.nodes) {
    if (node.left) continue;
    for (const auto replica : replicas_by(site, node)) all.insert(replica);
  }
  return {all.begin(), all.end()};
}

// All Sentinels know it and its Sentinel, which knows all.
bool has_joined_sentinels(const Site& site, std::size_t index) {
  if (!follows_redis_primary(site, index)) return false;
  auto all = sentinels_but(site, index);
  all.push_back(&site.nodes[index]);
  const auto replicas = followed_and_following(site).size() - 1;
  return std::all_of(all.begin(), all.end(), [&](const Node* sentinel) {
    const auto known = known_to(*sentinel);
    const auto listed = replicas_by(site, *sentinel);
    return known.sentinels >= all.size() && known.replicas >= replicas &&
           std::find(listed.begin(), listed.end(), index) != listed.end();
  });
}

}  // namespace

constinit const KindSpec kRedisKind{.kind = Kind::kRedis,
                                    .name = "redis",
                                    .summary = "one Redis server",
                                    .user = "redis",
                                    .url = "redis://HOSTS",
                                    .find_programs = find_redis,
                                    .initialize = initialize_redis,
                                    .command = redis_command,
                                    .is_up = redis_is_up};

constinit const KindSpec kRedisReplicaKind{.kind = Kind::kRedisReplica,
                                           .name = "redis-replica",
                                           .summary = "a Redis primary and its replicas",
                                           .user = "redis",
                                           .url = "redis://HOSTS",
                                           .least_nodes = 2,
                                           .default_nodes = 2,
                                           .most_nodes = 9,
                                           .find_programs = find_redis,
                                           .initialize = initialize_redis_group,
                                           .command = redis_command,
                                           .is_up = redis_is_up,
                                           .prepare = prepare_group,
                                           .is_formed = group_is_formed,
                                           .primaries = redis_primaries,
                                           .failover = redis_failover,
                                           .membership = {.standbys_only = true,
                                                          .leave = leave_by_ending,
                                                          .has_joined = follows_redis_primary,
                                                          .members = followed_and_following},
                                           .ignores_end = redis_ignores_end};

constinit const KindSpec kRedisSentinelKind{
    .kind = Kind::kRedisSentinel,
    .name = "redis-sentinel",
    .summary = "a Redis primary and its replicas, under Sentinels",
    .user = "redis",
    .url = "redis://HOSTS?sentinels=SENTINELS&master=cupel",
    .least_nodes = 3,
    .default_nodes = 3,
    .most_nodes = 9,
    .ports = 2,  // clients, Sentinel
    .find_programs = find_sentinel,
    .initialize = initialize_redis_group,
    .command = sentinel_command,
    .is_up = redis_is_up,
    .prepare = prepare_group,
    .is_formed = sentinels_are_formed,
    .primaries = redis_primaries,
    .failover = sentinel_failover,
    .membership = {.standbys_only = true,
                   .leave = leave_by_ending,
                   .forget = reset_sentinels,
                   .has_joined = has_joined_sentinels,
                   .members = known_to_sentinels},
    .ignores_end = redis_ignores_end};

}  // namespace cupel::lab
