// PostgreSQL: one server, or a primary with streaming standbys.
//
// A standby is a copy that pg_basebackup makes of the running primary (PostgreSQL's manual,
// chapter High Availability, section Log-Shipping Standby Servers).
#include <fmt/format.h>
#include <sys/shm.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "base/write_file.hpp"
#include "lab/kinds.hpp"
#include "lab/log.hpp"
#include "lab/programs.hpp"

namespace cupel::lab {

namespace {

namespace fs = std::filesystem;
using base::Ok;
using base::Status;
using base::write_file;

// /usr/lib/postgresql/VERSION/bin, newest first.
std::vector<std::string> postgres_folders() {
  std::map<int, std::string, std::greater<>> by_version;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/usr/lib/postgresql", ignored)) {
    const int version = std::atoi(entry.path().filename().c_str());
    if (version > 0) by_version[version] = (entry.path() / "bin").string();
  }
  std::vector<std::string> folders;
  for (const auto& [version, folder] : by_version) folders.push_back(folder);
  return folders;
}

std::string postgres_program(const std::string& name) {
  return find_program(name, postgres_folders());
}

Status find_postgres() {
  for (const char* name : {"postgres", "initdb"}) {
    auto found = need(postgres_program(name), fmt::format("program `{}`", name), "postgresql");
    if (!found.ok()) return found;
  }
  return Ok{};
}

Status find_standby() {
  auto found = find_postgres();
  if (!found.ok()) return found;
  return need(postgres_program("pg_basebackup"), "program `pg_basebackup`", "postgresql-client");
}

Status initialize_postgres(const Site& site) {
  const auto log = site.directory + "/initdb.log";
  const auto& data = site.nodes.front().directory;
  auto made = run_once(site,
                       {postgres_program("initdb"), "-D", data, "-U", "cupel", "-A", "trust", "-E",
                        "UTF8", "--locale=C", "--no-sync", "--no-instructions"},
                       log);
  if (!made.ok()) return made;
  const auto sql = site.directory + "/initialize.sql";
  made = write_file(sql, fmt::format("CREATE DATABASE cupel;\n"
                                     "CREATE ROLE {0} LOGIN PASSWORD '{1}';\n",
                                     kGuarded, kSecret));
  if (!made.ok()) return made;
  made = run_once(site, {postgres_program("postgres"), "--single", "-F", "-D", data, "postgres"},
                  log, sql);
  if (!made.ok()) return made;
  return write_file(data + "/pg_hba.conf", fmt::format("local all all trust\n"
                                                       "host all {} samenet scram-sha-256\n"
                                                       "host all all samenet trust\n"
                                                       "host replication all samenet trust\n",
                                                       kGuarded));
}

std::vector<std::string> postgres_command(const Site& site, const Node& node) {
  std::vector<std::string> command{postgres_program("postgres"), "-D", node.directory};
  const auto set = [&](const std::string& setting) {
    command.emplace_back("-c");
    command.push_back(setting);
  };
  set("listen_addresses=" + node.address);
  set(fmt::format("port={}", node.ports[0]));
  set("unix_socket_directories=");
  set("max_connections=200");
  set("deadlock_timeout=20ms");  // by default each deadlock costs a second, and load has many
  if (site.nodes.size() > 1) {
    set("wal_keep_size=256MB");  // a standby that was down for a while catches up
    if (site.options.synchronous) set("synchronous_standby_names=*");
  }
  if (!site.options.durable) {
    set("fsync=off");
    set("full_page_writes=off");
  }
  for (const auto& option : site.options.server_options) set(option);
  return command;
}

// PostgreSQL listens before it can do anything else.
bool postgres_is_up(const Node& /*node*/, std::string_view written) {
  const auto says = [&](std::string_view words) {
    return written.find(words) != std::string_view::npos;
  };
  return says("database system is ready to accept connections") ||
         says("database system is ready to accept read-only connections");
}

base::Result<std::vector<std::string>> copy_primary(const Site& site, const Start& start) {
  if (start.node == 0 || !start.first) return std::vector<std::string>();
  const auto& node = site.nodes[start.node];
  auto made =
      run_once_on(site, node,
                  {postgres_program("pg_basebackup"),
                   fmt::format("--dbname=host={} port={} user=cupel application_name=standby{}",
                               site.nodes.front().address, site.nodes.front().ports[0], start.node),
                   "--pgdata=" + node.directory, "--write-recovery-conf", "--wal-method=stream",
                   "--checkpoint=fast", "--no-sync"},
                  node.log + ".basebackup");
  if (!made.ok()) return std::move(made).error();
  return std::vector<std::string>();
}

void clear_postgres(const Node& node) {
  // The seventh line of postmaster.pid is "KEY ID" of a small shared memory segment.
  const auto path = node.directory + "/postmaster.pid";
  std::ifstream in(path);
  std::string line;
  for (int i = 0; i < 7 && std::getline(in, line); ++i) {
  }
  unsigned long key = 0;
  int id = 0;
  shmid_ds facts{};
  if (in && std::sscanf(line.c_str(), "%lu %d", &key, &id) == 2 &&
      ::shmctl(id, IPC_STAT, &facts) == 0 &&
      static_cast<unsigned long>(static_cast<unsigned>(facts.shm_perm.__key)) == key) {
    if (facts.shm_nattch != 0) return;  // somebody still serves this directory
    ::shmctl(id, IPC_RMID, nullptr);
  }
  // Where nobody reaps orphans the killed process stays a zombie, which PostgreSQL
  // would take for a server that runs.
  std::error_code ignored;
  fs::remove(path, ignored);
}

}  // namespace

constinit const KindSpec kPostgresKind{
    .kind = Kind::kPostgres,
    .name = "postgres",
    .summary = "one PostgreSQL server",
    .user = "postgres",
    .url = "postgres://ACCOUNT@HOSTS/cupel",
    // It gives back its shared memory; SIGINT ends it without waiting for its clients.
    .stop_signal = SIGINT,
    .find_programs = find_postgres,
    .initialize = initialize_postgres,
    .command = postgres_command,
    .is_up = postgres_is_up,
    .clear_remains = clear_postgres};

constinit const KindSpec kPostgresStandbyKind{
    .kind = Kind::kPostgresStandby,
    .name = "postgres-standby",
    .summary = "a PostgreSQL primary and its streaming standbys",
    .user = "postgres",
    .url = "postgres://ACCOUNT@HOSTS/cupel",
    .least_nodes = 2,
    .default_nodes = 2,
    .most_nodes = 9,
    .has_standbys = true,
    .stop_signal = SIGINT,
    .find_programs = find_standby,
    .initialize = initialize_postgres,
    .command = postgres_command,
    .is_up = postgres_is_up,
    .prepare = copy_primary,
    .clear_remains = clear_postgres};

}  // namespace cupel::lab
