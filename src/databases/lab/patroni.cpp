// Patroni: PostgreSQL servers that choose their primary by an etcd beside each.
//
// A node is a Patroni, its PostgreSQL and an etcd. Patroni starts PostgreSQL as a daemon, whose
// parent would be init; so the node's first process is a small program that adopts what is below
// it, and what is done to the node's processes meets all of them. Asked to end, it ends Patroni
// first, which shuts down its PostgreSQL, and then etcd.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "base/budget.hpp"
#include "databases/lab/etcd.hpp"
#include "databases/lab/failover.hpp"
#include "databases/lab/kinds.hpp"
#include "databases/lab/loopback.hpp"
#include "databases/lab/postgres.hpp"
#include "databases/lab/programs.hpp"

namespace cupel::lab {

namespace {

using base::Error;
using base::Ok;
using base::Seconds;
using base::Status;
using Json = nlohmann::json;

constexpr Seconds kRestAnswer{1}, kToSwitchOver{30};
enum PatroniPort : std::uint8_t { kPostgresClients, kEtcdClients, kEtcdPeers, kPatroniRest };
constexpr EtcdPorts kEtcdPorts{.clients = kEtcdClients, .peers = kEtcdPeers};

// Starts the commands, which `--` separates, and ends when the first of them does. 36 is
// PR_SET_CHILD_SUBREAPER.
constexpr const char* kKeeper = R"(
import ctypes, os, signal, subprocess, sys
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
words, commands, asked = sys.argv[1:], [], []
while '--' in words:
    commands.append(words[:words.index('--')])
    words = words[words.index('--') + 1:]
helpers = [subprocess.Popen(command, env={k: v for k, v in os.environ.items() if k[:8] != 'PATRONI_'})
           for command in commands[1:] + [words]]
main = subprocess.Popen(commands[0])
def end(*_):
    asked.append(True)
    os.kill(main.pid, signal.SIGTERM)
signal.signal(signal.SIGTERM, end)
while True:
    process, status = os.wait()
    if process == main.pid:
        break
for helper in helpers if asked else []:
    helper.terminate()
    helper.wait()
sys.exit(os.waitstatus_to_exitcode(status) & 255)
)";

Status find_patroni() {
  auto found = find_standby();
  if (found.ok()) found = need(find_program("patroni"), "program `patroni`", "patroni");
  if (found.ok())
    found = need(find_program("python3", {"/usr/bin"}), "program `python3`", "python3");
  if (found.ok()) found = need(find_program("etcd"), "program `etcd`", "etcd-server");
  return found;
}

Status initialize_patroni(const Site& site) {
  for (const auto& node : site.nodes) {
    auto made = run_once(site, {"mkdir", node.directory}, node.log);
    if (!made.ok()) return made;
  }
  return Ok{};
}

std::string patroni_name(const Site& site, const Node& node) {
  return fmt::format("node-{}", site.number_of(node));
}

// PostgreSQL's, beside that of its etcd.
std::string data_of(const Node& node) {
  return node.directory + "/data";
}

std::string patroni_place(const Node& node, PatroniPort port) {
  return fmt::format("{}:{}", node.address, node.ports[port]);
}

// What prepare() adds is for etcd, the last.
std::vector<std::string> patroni_command(const Site& site, const Node& node) {
  std::vector<std::string> command{find_program("python3", {"/usr/bin"}), "-c", kKeeper,
                                   find_program("patroni"), "--"};
  for (auto& word : etcd_arguments(site, node, node.directory + "/etcd", kEtcdPorts)) {
    command.push_back(std::move(word));
  }
  command.emplace_back("--log-level=warn");
  return command;
}

// What all nodes agree on; it is in etcd from the first start on. A primary that cannot renew its
// lock gives up before another takes it: loop_wait + 2 · retry_timeout is not more than ttl.
Json patroni_shared(const Site& site) {
  return {{"ttl", 7},
          {"loop_wait", 1},
          {"retry_timeout", 3},
          {"maximum_lag_on_failover", 1 << 20},
          {"synchronous_mode", site.options.synchronous},
          {"postgresql",
           {{"use_pg_rewind", true},
            {"parameters",
             {{"max_connections", 200}, {"wal_log_hints", "on"}, {"wal_keep_size", "256MB"}}}}}};
}

Json patroni_settings(const Site& site, const Node& node) {
  Json hosts = Json::array();
  for (const auto& other : site.nodes) hosts.push_back(patroni_place(other, kEtcdClients));
  Json parameters = {{"unix_socket_directories", ""},
                     {"deadlock_timeout", "20ms"},
                     {"fsync", site.options.durable ? "on" : "off"}};
  for (const auto& option : site.options.server_options) {
    const auto equals = option.find('=');
    parameters[option.substr(0, equals)] =
        equals == std::string::npos ? "on" : option.substr(equals + 1);
  }
  const auto account = Json{{"username", "cupel"}};
  const auto psql = postgres_program("psql");
  const auto rest = patroni_place(node, kPatroniRest);
  return {{"scope", "cupel"},
          {"name", patroni_name(site, node)},
          {"restapi", {{"listen", rest}, {"connect_address", rest}}},
          {"etcd3", {{"hosts", hosts}}},
          {"bootstrap",
           {{"dcs", patroni_shared(site)},
            {"initdb", Json::array({{{"encoding", "UTF8"}}, {{"locale", "C"}}, "no-sync"})},
            {"post_bootstrap", fmt::format("sh -c '{} --command=\"CREATE DATABASE cupel\" "
                                           "--dbname=\"$1\"' sh",
                                           psql)}}},
          {"postgresql",
           {{"listen", patroni_place(node, kPostgresClients)},
            {"connect_address", patroni_place(node, kPostgresClients)},
            {"data_dir", data_of(node)},
            {"bin_dir", std::filesystem::path(psql).parent_path().string()},
            {"pgpass", node.directory + "/pgpass"},
            {"basebackup", {{{"checkpoint", "fast"}}, "no-sync"}},
            // A standby that no rewind helps is copied anew.
            {"remove_data_directory_on_rewind_failure", true},
            {"remove_data_directory_on_diverged_timelines", true},
            {"authentication", {{"superuser", account}, {"replication", account}}},
            {"parameters", parameters},
            {"pg_hba",
             {"local all all trust", "host all all samenet trust",
              "host replication all samenet trust"}}}}};
}

std::vector<std::pair<std::string, std::string>> patroni_environment(const Site& site,
                                                                     const Node& node) {
  return {{"PATRONI_CONFIGURATION", patroni_settings(site, node).dump()}};
}

// Whether a node says yes to a question of Patroni's REST interface: "/leader", "/replica" …
bool says_yes(const Node& node, std::string_view question) {
  const auto answer = ask(node.address, node.ports[kPatroniRest],
                          fmt::format("GET {} HTTP/1.0\r\n\r\n", question), kRestAnswer);
  return answer.substr(0, answer.find('\r')).find(" 200 ") != std::string::npos;
}

bool patroni_is_up(const Site& /*site*/, const Node& node, std::string_view /*written*/) {
  return says_yes(node, "/readiness");
}

std::vector<std::size_t> patroni_leaders(const Site& site) {
  std::vector<std::size_t> found;
  for (const auto& node : site.nodes) {
    if (says_yes(node, "/leader")) found.push_back(site.number_of(node));
  }
  return found;
}

// By Patroni, which stops the old primary in an orderly way, so that nothing is lost.
base::Result<std::size_t> switch_over(const Site& site) {
  const auto leaders = patroni_leaders(site);
  if (leaders.empty()) return Error{.message = "no primary answers that could hand over"};
  const auto& old = site.nodes[leaders.front()];
  const auto body = fmt::format(R"({{"leader":"{}"}})", patroni_name(site, old));
  const auto said = ask_until(
      old.address, old.ports[kPatroniRest],
      fmt::format("POST /switchover HTTP/1.0\r\nContent-Length: {}\r\n\r\n{}", body.size(), body),
      {}, kToSwitchOver);
  if (said.find(" 200 ") != std::string::npos) {
    return await_primary(kToSwitchOver, site, patroni_leaders, leaders.front());
  }
  // Its reason is the body.
  const auto body_at = said.find("\r\n\r\n");
  return Error{.message = "Patroni makes no switchover: " +
                          (body_at == std::string::npos ? "no answer" : said.substr(body_at + 4))};
}

// Its etcd; Patroni takes its own name off the list when it ends, or the name expires.
Status leave_patroni(const Site& site, std::size_t node) {
  return remove_etcd_member(site, node, kEtcdPorts);
}

base::Result<std::vector<std::string>> prepare_patroni(const Site& site, const Start& start) {
  if (!start.joins) return std::vector<std::string>();
  const auto& node = site.nodes[start.node];
  auto made = run_once(site, {"mkdir", node.directory}, node.log);
  if (!made.ok()) return std::move(made).error();
  return add_etcd_member(site, start.node, kEtcdPorts);
}

// Those that one of the Patronis lists.
std::vector<std::size_t> patroni_names(const Site& site) {
  std::vector<std::size_t> found;
  for (const auto& node : site.nodes) {
    if (node.left) continue;
    const auto answer = ask_until(node.address, node.ports[kPatroniRest],
                                  "GET /cluster HTTP/1.0\r\n\r\n", {}, kRestAnswer);
    const auto body = answer.find("\r\n\r\n");
    if (body == std::string::npos) continue;
    const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
    const auto all = Json::parse(answer.substr(body), nullptr, false);
    if (!all.is_object() || !all.contains("members")) continue;
    for (const auto& member : all["members"]) {
      for (const auto& other : site.nodes) {
        if (member.value("name", std::string()) == patroni_name(site, other)) {
          found.push_back(site.number_of(other));
        }
      }
    }
    break;
  }
  return found;
}

// A switchover is only to those that the Patronis list.
bool cluster_is_formed(const Site& site) {
  const auto leaders = patroni_leaders(site);
  if (leaders.size() != 1) return false;
  bool synchronous = !site.options.synchronous;
  for (const auto& node : site.nodes) {
    if (site.number_of(node) == leaders.front()) continue;
    if (!says_yes(node, "/replica")) return false;
    synchronous = synchronous || says_yes(node, "/synchronous");
  }
  return synchronous && patroni_names(site).size() == site.nodes.size();
}

// Of the etcds, or of the Patronis.
std::vector<std::size_t> patroni_members(const Site& site) {
  const auto etcds = etcd_members(site, kEtcdPorts), names = patroni_names(site);
  std::set<std::size_t> all(etcds.begin(), etcds.end());
  all.insert(names.begin(), names.end());
  return {all.begin(), all.end()};
}

bool has_joined_patroni(const Site& site, std::size_t node) {
  const auto in = [&](const std::vector<std::size_t>& all) {
    return std::find(all.begin(), all.end(), node) != all.end();
  };
  return says_yes(site.nodes[node], "/replica") && in(patroni_names(site)) &&
         in(etcd_members(site, kEtcdPorts));
}

void clear_data(const Node& node) {
  // The server's user may have made it a link.
  if (!std::filesystem::is_directory(std::filesystem::symlink_status(node.directory))) return;
  auto postgres = node;
  postgres.directory = data_of(node);
  clear_postgres(postgres);
}

}  // namespace

constinit const KindSpec kPatroniKind{
    .kind = Kind::kPatroni,
    .name = "patroni",
    .summary = "PostgreSQL servers under Patroni, with an etcd beside each",
    .user = "postgres",
    .url = "postgres://ACCOUNT@HOSTS/cupel",
    .least_nodes = 3,
    .default_nodes = 3,
    .most_nodes = 9,
    .ports = 4,  // clients, etcd's clients, etcd's peers, Patroni's REST interface
    .has_standbys = true,
    .together = true,
    .patience = 120,  // standbys are copied from the primary
    .find_programs = find_patroni,
    .initialize = initialize_patroni,
    .command = patroni_command,
    .is_up = patroni_is_up,
    .prepare = prepare_patroni,
    .is_formed = cluster_is_formed,
    .primaries = patroni_leaders,
    .failover = switch_over,
    .membership = {.standbys_only = true,
                   .leave = leave_patroni,
                   .has_joined = has_joined_patroni,
                   .members = patroni_members},
    .environment = patroni_environment,
    .no_clocks = kGoClocks,
    .shared_memory = kPostgresSharedMemory,
    .clear_remains = clear_data};

}  // namespace cupel::lab
