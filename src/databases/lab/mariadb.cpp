// MariaDB: one server, a primary with replicas, or a Galera cluster.
//
// A replica that joins again is a copy that mariadb-backup makes of the running primary (MariaDB's
// manual, page Setting up a Replica with mariadb-backup).
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <regex>
#include <sstream>

#include "databases/lab/kinds.hpp"
#include "databases/lab/log.hpp"
#include "databases/lab/loopback.hpp"
#include "databases/lab/programs.hpp"

namespace cupel::lab {

namespace {

namespace fs = std::filesystem;
using base::Error;
using base::Ok;
using base::Status;

constexpr const char* kGaleraLibrary = "/usr/lib/galera/libgalera_smm.so";

Status find_mariadb() {
  for (const char* name : {"mariadbd", "mariadb-install-db"}) {
    auto found = need(find_program(name), fmt::format("program `{}`", name), "mariadb-server");
    if (!found.ok()) return found;
  }
  return Ok{};
}

// With the client program, which asks the nodes whether they have found each other.
Status find_mariadb_group() {
  auto found = find_mariadb();
  return found.ok() ? need(find_program("mariadb"), "program `mariadb`", "mariadb-client") : found;
}

Status find_galera() {
  auto found = find_mariadb_group();
  if (!found.ok()) return found;
  found = need(fs::exists(kGaleraLibrary) ? "yes" : "", fmt::format("library {}", kGaleraLibrary),
               "galera-4");
  return found.ok() ? need(find_program("rsync"), "program `rsync`", "rsync") : found;
}

Status initialize_mariadb(const Site& site) {
  const auto log = site.directory + "/install-db.log";
  const auto sql = site.directory + "/initialize.sql";
  auto made = write_as_user(site, sql,
                            fmt::format("FLUSH PRIVILEGES;\n"  // or no account can be made
                                        "CREATE DATABASE cupel;\n"
                                        "CREATE USER cupel@'%';\n"
                                        "GRANT ALL PRIVILEGES ON *.* TO cupel@'%';\n"
                                        "CREATE USER {0}@'%' IDENTIFIED BY '{1}';\n"
                                        "GRANT ALL PRIVILEGES ON cupel.* TO {0}@'%';\n",
                                        kGuarded, kSecret));
  if (!made.ok()) return made;
  const auto& data = site.nodes.front().directory;
  made = run_once(site,
                  {find_program("mariadb-install-db"), "--no-defaults", "--datadir=" + data,
                   "--auth-root-authentication-method=normal", "--skip-test-db",
                   "--skip-name-resolve", "--extra-file=" + sql, "--loose-innodb-log-file-size=8M",
                   "--loose-innodb-flush-method=nosync", "--sync-frm=0", "--skip-log-bin"},
                  log);
  if (!made.ok()) return made;
  // It ends well even if the SQL did not.
  if (!fs::exists(data + "/cupel")) {
    return Error{.message = "mariadb-install-db did not make the database; the end of its log:\n" +
                            last_lines(log, 20)};
  }
  for (std::size_t node = 1; node < site.nodes.size(); ++node) {
    made = run_once(site, {"cp", "-a", data, site.nodes[node].directory}, log);
    if (!made.ok()) return made;
  }
  return Ok{};
}

// One node of a Galera cluster.
void add_group(const Site& site, const Node& node, std::vector<std::string>& command) {
  std::string members;
  for (const auto& member : site.nodes) {
    members += fmt::format("{}{}:{}", members.empty() ? "" : ",", member.address, member.ports[1]);
  }
  for (const auto& option : {
           std::string("--binlog-format=ROW"),
           std::string("--innodb-autoinc-lock-mode=2"),
           std::string("--wsrep-on=ON"),
           std::string("--wsrep-provider=") + kGaleraLibrary,
           std::string("--wsrep-cluster-name=cupel"),
           "--wsrep-cluster-address=gcomm://" + members,
           fmt::format("--wsrep-node-name=node-{}", site.number_of(node)),
           fmt::format("--wsrep-node-address={}:{}", node.address, node.ports[1]),
           fmt::format("--wsrep-node-incoming-address={}:{}", node.address, node.ports[0]),
           fmt::format("--wsrep-provider-options=base_port={1};gmcast.listen_addr=tcp://"
                       "{0}:{1};ist.recv_addr={0}:{2};gcache.size=32M",
                       node.address, node.ports[1], node.ports[2]),
           std::string("--wsrep-sst-method=rsync"),
           fmt::format("--wsrep-sst-receive-address={}:{}", node.address, node.ports[3]),
       }) {
    command.push_back(option);
  }
}

// A primary, or one of its replicas: a replica follows by the primary's global transaction ids.
void add_replication(const Site& site, const Node& node, std::vector<std::string>& command) {
  const auto number = site.number_of(node);
  command.push_back(fmt::format("--server-id={}", number + 1));
  command.push_back(fmt::format("--report-host=node-{}", number));
  command.push_back("--log-bin=" + node.directory + "/binlog");
  command.emplace_back("--binlog-format=ROW");
  if (site.options.synchronous) {
    command.emplace_back("--rpl-semi-sync-master-enabled=ON");
    command.emplace_back("--rpl-semi-sync-master-wait-point=AFTER_SYNC");
    command.emplace_back("--rpl-semi-sync-master-timeout=1000000000");  // ms: it waits
    command.emplace_back("--rpl-semi-sync-slave-enabled=ON");
  }
  if (number == 0) return;
  command.emplace_back("--read-only=ON");
  command.emplace_back("--skip-slave-start");
  command.push_back("--init-file=" + node.directory + ".follow.sql");
}

std::vector<std::string> mariadb_command(const Site& site, const Node& node) {
  std::vector<std::string> command{
      find_program("mariadbd"),
      "--no-defaults",
      "--datadir=" + node.directory,
      "--socket=" + node.directory + ".sock",
      "--pid-file=" + node.directory + ".pid",
      "--tmpdir=" + site.directory,
      fmt::format("--port={}", node.ports[0]),
      "--bind-address=" + node.address,
      "--skip-name-resolve",
      "--max-connections=200",
      "--loose-innodb-log-file-size=8M",
  };
  if (!site.options.durable) {
    command.emplace_back("--loose-innodb-flush-log-at-trx-commit=2");
    command.emplace_back("--loose-innodb-flush-method=nosync");
  }
  if (site.kind == Kind::kGalera) add_group(site, node, command);
  if (site.kind == Kind::kMariadbReplica) add_replication(site, node, command);
  for (const auto& option : site.options.server_options) command.push_back("--" + option);
  return command;
}

// A Galera node's last position, "UUID:NUMBER", as a crash left it in InnoDB: the
// file grastate.dat has it only after an orderly end.
base::Result<std::string> recovered_position(const Site& site, const Node& node) {
  const auto log = node.directory + ".recovery.log";
  std::error_code ignored;
  fs::remove(log, ignored);
  auto command = node.arguments;
  command.emplace_back("--wsrep-recover");
  auto run = run_once_on(site, node, std::move(command), log);
  if (!run.ok()) return std::move(run).error();
  const auto text = text_of_log(log);
  static const std::regex position("Recovered position: *([0-9a-f-]+:-?[0-9]+)");
  std::smatch match;
  if (!std::regex_search(text, match, position)) {
    return Error{.message =
                     "found no recovered position in the log of mariadbd --wsrep-recover; "
                     "its end:\n" +
                     last_lines(log, 20)};
  }
  return match[1].str();
}

base::Result<std::vector<std::string>> prepare_galera(const Site& site, const Start& start) {
  std::vector<std::string> more;
  if (start.joins) {  // a whole state transfer fills it
    auto made =
        run_once(site, {"mkdir", site.nodes[start.node].directory}, site.nodes[start.node].log);
    if (!made.ok()) return std::move(made).error();
    return more;
  }
  if (start.alone) more.emplace_back("--wsrep-new-cluster");
  if (start.first) return more;
  const auto& data = site.nodes[start.node].directory;
  const auto position = recovered_position(site, site.nodes[start.node]);
  if (!position.ok()) return position.error();
  more.push_back("--wsrep-start-position=" + *position);
  if (start.alone) {
    // The cluster as it was is gone: this node, which has the most, is the new one.
    std::error_code ignored;
    for (const auto& member : site.nodes) fs::remove(member.directory + "/gvwstate.dat", ignored);
    const auto state = data + "/grastate.dat";
    const auto changed = std::regex_replace(text_of_log(state), std::regex("safe_to_bootstrap: 0"),
                                            "safe_to_bootstrap: 1");
    auto written = write_as_user(site, state, changed);
    if (!written.ok()) return std::move(written).error();
  }
  return more;
}

base::Result<std::vector<std::size_t>> latest_first(const Site& site) {
  std::vector<std::size_t> order;
  for (std::size_t node = 0; node < site.nodes.size(); ++node) order.push_back(node);
  std::vector<long long> positions;
  for (const auto& node : site.nodes) {
    if (node.left) {
      positions.push_back(-1);
      continue;
    }
    const auto position = recovered_position(site, node);
    if (!position.ok()) return position.error();
    positions.push_back(std::strtoll(position->c_str() + position->find(':') + 1, nullptr, 10));
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return positions[a] > positions[b]; });
  return order;
}

// The answer of a node to a statement, a row a line; none: it does not answer.
std::optional<std::string> ask_mariadb(const Site& site, const Node& node,
                                       const std::string& statement) {
  const auto log = node.directory + ".asked";
  std::error_code ignored;
  fs::remove(log, ignored);
  auto asked =
      run_once_on(site, node,
                  {find_program("mariadb"), "--no-defaults", "--host=" + node.address,
                   fmt::format("--port={}", node.ports[0]), "--protocol=tcp", "--user=cupel",
                   "--connect-timeout=3", "--skip-column-names", "--execute=" + statement},
                  log);
  return asked.ok() ? std::optional(text_of_log(log)) : std::nullopt;
}

// By the addresses for clients that the first member which answers gives.
std::vector<std::size_t> group_members(const Site& site) {
  std::vector<std::size_t> found;
  for (const auto& node : site.nodes) {
    if (node.left) continue;
    auto text = ask_mariadb(site, node, "SHOW STATUS LIKE 'wsrep_incoming_addresses'");
    if (!text) continue;
    *text += ",";
    for (const auto& member : site.nodes) {
      const auto place = fmt::format("{}:{}", member.address, member.ports[0]);
      for (const char* end : {",", "\n"}) {
        if (text->find(place + end) != std::string::npos) found.push_back(site.number_of(member));
      }
    }
    break;
  }
  return found;
}

bool mariadb_is_up(const Site& /*site*/, const Node& node, std::string_view written) {
  return written.find("ready for connections") != std::string_view::npos &&
         !ask(node, "", base::Seconds(1)).empty();
}

bool galera_is_up(const Site& /*site*/, const Node& node, std::string_view written) {
  return written.find("Synchronized with group, ready for connections") != std::string_view::npos &&
         !ask(node, "", base::Seconds(1)).empty();
}

// Fills the empty directory of a replica. Returns the global transaction id that it has.
base::Result<std::string> copy_mariadb(const Site& site, const Node& primary, const Node& replica) {
  const auto log = replica.directory + ".backup.log";
  const auto program = find_program("mariadb-backup");
  for (const auto& command :
       {std::vector<std::string>{
            program, "--no-defaults", "--backup", "--target-dir=" + replica.directory,
            "--datadir=" + primary.directory, "--host=" + primary.address,
            fmt::format("--port={}", primary.ports[0]), "--protocol=tcp", "--user=cupel"},
        std::vector<std::string>{program, "--no-defaults", "--prepare",
                                 "--target-dir=" + replica.directory}}) {
    auto made = run_once_on(site, replica, command, log);
    if (!made.ok()) return std::move(made).error();
  }
  // "FILE POSITION ID"; there is no id before the first write.
  std::istringstream position(text_of(replica.directory + "/xtrabackup_binlog_info"));
  std::string file, place, id;
  if (!(position >> file >> place)) {
    return Error{.message = "mariadb-backup wrote no position; the end of its log:\n" +
                            last_lines(log, 20)};
  }
  position >> id;
  return id;
}

// What a replica does at each start.
base::Result<std::vector<std::string>> prepare_replica(const Site& site, const Start& start) {
  if (start.node == 0) return std::vector<std::string>();
  const auto& primary = site.nodes.front();
  const auto& replica = site.nodes[start.node];
  std::string position;
  if (start.joins) {
    auto copied = copy_mariadb(site, primary, replica);
    if (!copied.ok()) return std::move(copied).error();
    position = fmt::format("SET GLOBAL gtid_slave_pos='{}';\n", *copied);
  }
  auto written = write_as_user(
      site, replica.directory + ".follow.sql",
      // Who may write in spite of read_only would stop the replication by the first conflict. An
      // idle primary notices within a heartbeat that a replica is gone.
      fmt::format("SET sql_log_bin=0;\nREVOKE READ ONLY ADMIN ON *.* FROM cupel@'%';\n{}"
                  "CHANGE MASTER TO MASTER_HOST='{}', MASTER_PORT={}, MASTER_USER='cupel', "
                  "MASTER_CONNECT_RETRY=1, MASTER_HEARTBEAT_PERIOD=1, "
                  "MASTER_USE_GTID=slave_pos;\nSTART SLAVE;\n",
                  position, primary.address, primary.ports[0]));
  if (!written.ok()) return std::move(written).error();
  return std::vector<std::string>();
}

std::string without_backup(const Site& site) {
  if (site.options.synchronous && site.nodes.size() == 2) {
    return "found 2 nodes and --sync: commits wait for the only replica, and no copy of the "
           "primary can be made while commits wait; expected at least 3";
  }
  auto found = need(find_program("mariadb-backup"), "program `mariadb-backup`", "mariadb-backup");
  return found.ok() ? std::string() : std::move(found).error().message;
}

// The primary, and the replicas that are connected to it.
std::vector<std::size_t> connected_replicas(const Site& site) {
  std::vector<std::size_t> found;
  const auto text = ask_mariadb(site, site.nodes.front(), "SHOW SLAVE HOSTS");
  if (!text) return found;
  found.push_back(0);
  std::istringstream rows(*text);
  for (std::string row; std::getline(rows, row);) {  // "SERVER-ID HOST PORT PRIMARY-ID"
    const auto number = static_cast<std::size_t>(std::atoi(row.c_str())) - 1;
    if (number > 0 && number < site.nodes.size()) found.push_back(number);
  }
  std::sort(found.begin(), found.end());
  return found;
}

bool replication_runs(const Site& site, std::size_t replica) {
  const auto runs =
      ask_mariadb(site, site.nodes[replica], "SHOW GLOBAL STATUS LIKE 'Slave_running'");
  return runs && runs->find("ON") != std::string::npos;
}

bool replicates(const Site& site, std::size_t node) {
  const auto all = connected_replicas(site);
  return std::find(all.begin(), all.end(), node) != all.end() && replication_runs(site, node);
}

bool all_replicate(const Site& site) {
  if (connected_replicas(site).size() != site.nodes.size()) return false;
  for (std::size_t node = 1; node < site.nodes.size(); ++node) {
    if (!replication_runs(site, node)) return false;
  }
  return true;
}

}  // namespace

constinit const KindSpec kMariadbKind{.kind = Kind::kMariadb,
                                      .name = "mariadb",
                                      .summary = "one MariaDB server",
                                      .user = "mysql",
                                      .url = "mysql://ACCOUNT@HOSTS/cupel",
                                      .find_programs = find_mariadb,
                                      .initialize = initialize_mariadb,
                                      .command = mariadb_command,
                                      .is_up = mariadb_is_up};

constinit const KindSpec kMariadbReplicaKind{.kind = Kind::kMariadbReplica,
                                             .name = "mariadb-replica",
                                             .summary = "a MariaDB primary and its replicas",
                                             .user = "mysql",
                                             .url = "mysql://ACCOUNT@HOSTS/cupel",
                                             .least_nodes = 2,
                                             .default_nodes = 2,
                                             .most_nodes = 9,
                                             .has_standbys = true,
                                             .find_programs = find_mariadb_group,
                                             .initialize = initialize_mariadb,
                                             .command = mariadb_command,
                                             .is_up = mariadb_is_up,
                                             .prepare = prepare_replica,
                                             .is_formed = all_replicate,
                                             .membership = {.unfit = without_backup,
                                                            .standbys_only = true,
                                                            .leave = leave_by_ending,
                                                            .has_joined = replicates,
                                                            .members = connected_replicas}};

constinit const KindSpec kGaleraKind{
    .kind = Kind::kGalera,
    .name = "galera",
    .summary = "a Galera cluster of MariaDB servers",
    .user = "mysql",
    .url = "mysql://ACCOUNT@HOSTS/cupel",
    .default_nodes = 3,
    .most_nodes = 9,
    .ports = 4,  // clients, group, incremental and whole state transfers
    .patience = 120,
    .find_programs = find_galera,
    .initialize = initialize_mariadb,
    .command = mariadb_command,
    .is_up = galera_is_up,
    .prepare = prepare_galera,
    .restart_order = latest_first,
    .starts_twice = true,
    // Who is shut down in an orderly way leaves the group by itself.
    .membership = {.leave = leave_by_ending, .members = group_members}};

}  // namespace cupel::lab
