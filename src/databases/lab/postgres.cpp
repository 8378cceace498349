// PostgreSQL: one server, or a primary with streaming standbys.
//
// A standby is a copy that pg_basebackup makes of the running primary (PostgreSQL's manual,
// chapter High Availability, section Log-Shipping Standby Servers).
#include "databases/lab/postgres.hpp"

#include <fmt/format.h>
#include <sys/shm.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "base/folder.hpp"
#include "databases/lab/kinds.hpp"
#include "databases/lab/log.hpp"
#include "databases/lab/programs.hpp"

namespace cupel::lab {

namespace {

namespace fs = std::filesystem;
using base::Error;
using base::Ok;
using base::Status;

// /usr/lib/postgresql/VERSION/bin, newest first.
std::vector<std::string> postgres_folders() {
  std::map<int, std::string, std::greater<>> by_version;
  const std::string all = "/usr/lib/postgresql";
  for (const auto& name : base::names_in_folder(all).value_or(std::vector<std::string>())) {
    const int version = std::atoi(name.c_str());
    if (version > 0) by_version[version] = all + "/" + name + "/bin";
  }
  std::vector<std::string> folders;
  for (const auto& [version, folder] : by_version) folders.push_back(folder);
  return folders;
}

}  // namespace

std::string postgres_program(const std::string& name) {
  return find_program(name, postgres_folders());
}

namespace {

Status find_postgres() {
  for (const char* name : {"postgres", "initdb"}) {
    auto found = need(postgres_program(name), fmt::format("program `{}`", name), "postgresql");
    if (!found.ok()) return found;
  }
  return Ok{};
}

}  // namespace

Status find_standby() {
  auto found = find_postgres();
  if (!found.ok()) return found;
  for (const char* name : {"pg_basebackup", "psql"}) {
    found = need(postgres_program(name), fmt::format("program `{}`", name), "postgresql-client");
    if (!found.ok()) return found;
  }
  return Ok{};
}

namespace {

Status initialize_postgres(const Site& site) {
  const auto log = site.directory + "/initdb.log";
  const auto& data = site.nodes.front().directory;
  auto made = run_once(site,
                       {postgres_program("initdb"), "-D", data, "-U", "cupel", "-A", "trust", "-E",
                        "UTF8", "--locale=C", "--no-sync", "--no-instructions"},
                       log);
  if (!made.ok()) return made;
  const auto sql = site.directory + "/initialize.sql";
  made = write_as_user(site, sql,
                       fmt::format("CREATE DATABASE cupel;\n"
                                   "CREATE ROLE {0} LOGIN PASSWORD '{1}';\n",
                                   kGuarded, kSecret));
  if (!made.ok()) return made;
  made = run_once(site, {postgres_program("postgres"), "--single", "-F", "-D", data, "postgres"},
                  log, sql);
  if (!made.ok()) return made;
  return write_as_user(site, data + "/pg_hba.conf",
                       fmt::format("local all all trust\n"
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

// PostgreSQL listens before it can do anything else, and again while it recovers from the crash of
// one of its processes.
bool postgres_is_up(const Site& /*site*/, const Node& /*node*/, std::string_view written) {
  std::size_t ready = 0, crash = 0;  // where its log says so last, from 1
  const auto note = [&](std::string_view words, std::size_t& last) {
    const auto at = written.rfind(words);
    if (at != std::string_view::npos) last = std::max(last, at + 1);
  };
  note("database system is ready to accept connections", ready);
  note("database system is ready to accept read-only connections", ready);
  note("terminating any other active server processes", crash);
  return ready > crash;
}

bool is_standby(const Node& node) {
  return fs::exists(node.directory + "/standby.signal");
}

// Which node is the primary: the first, until a failover writes here "OLD NEXT". It does so before
// the promotion, at whose end the file standby.signal goes: then, and only then, NEXT is it.
std::string primary_file(const Site& site) {
  return site.directory + "/primary";
}
std::size_t primary_of(const Site& site) {
  std::istringstream in(text_of_log(primary_file(site)));
  std::size_t old = 0, next = 0;
  const auto known = [&](std::size_t node) { return node < site.nodes.size(); };
  if (!(in >> old) || !known(old)) return 0;
  const bool promoted = (in >> next) && known(next) && !is_standby(site.nodes[next]);
  return promoted ? next : old;
}
Status write_primary(const Site& site, std::size_t old, std::size_t next) {
  return write_as_user(site, primary_file(site), fmt::format("{} {}\n", old, next));
}

// Where a standby gets the log from.
std::string connection_to(const Node& primary, std::size_t standby) {
  return fmt::format("host={} port={} user=cupel application_name=standby{}", primary.address,
                     primary.ports[0], standby);
}

// A standby that a failover did not reach: it may be ahead of the new primary.
std::string missed_failover(const Node& node) {
  return node.directory + ".missed-failover";
}

constexpr const char* kBefore = ".before";  // a directory of a primary that became a standby

// A node that is no standby of the primary yet becomes a copy of it: at its first start, and after
// a failover.
base::Result<std::vector<std::string>> copy_primary(const Site& site, const Start& start) {
  const auto& node = site.nodes[start.node];
  const auto primary = primary_of(site);
  const bool follows = is_standby(node) && !fs::exists(missed_failover(node));
  if (start.node == primary || follows) return std::vector<std::string>();
  std::error_code failed;
  // While its directory is not complete it looks like that of a primary.
  auto settled = start.first ? Status(Ok{}) : write_primary(site, primary, primary);
  if (!settled.ok()) return std::move(settled).error();
  if (is_standby(node) || start.first) {
    fs::remove_all(node.directory, failed);
  } else if (fs::exists(node.directory, failed)) {
    // It has been a primary, and may have what no other node has.
    fs::remove_all(node.directory + kBefore, failed);
    fs::rename(node.directory, node.directory + kBefore, failed);
  }
  if (failed) return Error{.message = failed.message(), .file = node.directory};
  auto made = run_once_on(
      site, node,
      {postgres_program("pg_basebackup"),
       "--dbname=" + connection_to(site.nodes[primary], start.node), "--pgdata=" + node.directory,
       "--write-recovery-conf", "--wal-method=stream", "--checkpoint=fast", "--no-sync"},
      node.log + ".basebackup");
  if (!made.ok()) return std::move(made).error();
  fs::remove(missed_failover(node), failed);
  return std::vector<std::string>();
}

base::Result<std::vector<std::size_t>> primary_first(const Site& site) {
  std::vector<std::size_t> order{primary_of(site)};
  for (std::size_t node = 0; node < site.nodes.size(); ++node) {
    if (node != order.front()) order.push_back(node);
  }
  return order;
}

// By what their directories say; a server that was killed leaves no postmaster.pid.
std::vector<std::size_t> postgres_primaries(const Site& site) {
  std::vector<std::size_t> found;
  for (const auto& node : site.nodes) {
    if (!is_standby(node) && fs::exists(node.directory + "/postmaster.pid")) {
      found.push_back(site.number_of(node));
    }
  }
  return found;
}

// The first cell of the answer to the last statement. Each has a transaction of its own.
base::Result<std::string> query(const Site& site, const Node& node,
                                const std::vector<std::string>& statements) {
  const auto log = node.log + ".psql";
  std::error_code ignored;
  fs::remove(log, ignored);
  std::vector<std::string> command{
      postgres_program("psql"),
      "--no-psqlrc",
      "--tuples-only",
      "--no-align",
      "--quiet",
      "--set=ON_ERROR_STOP=1",
      fmt::format("--dbname=host={} port={} user=cupel dbname=cupel connect_timeout=3",
                  node.address, node.ports[0])};
  for (const auto& statement : statements) command.push_back("--command=" + statement);
  auto ran = run_once_on(site, node, std::move(command), log);
  if (!ran.ok()) return std::move(ran).error();
  auto text = text_of_log(log);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

// The standby that has most of the log becomes the primary, and the others follow it.
base::Result<std::size_t> promote_standby(const Site& site) {
  std::optional<std::size_t> next;
  double most = -1;
  std::string why = "there is none";
  for (const auto& node : site.nodes) {
    if (!is_standby(node)) continue;
    const auto received =
        query(site, node, {"SELECT coalesce(pg_last_wal_receive_lsn(), '0/0') - '0/0'::pg_lsn"});
    if (!received.ok()) {
      why = received.error().message;
    } else if (const double bytes = std::atof(received->c_str()); bytes > most) {
      next = site.number_of(node);
      most = bytes;
    }
  }
  if (!next) return Error{.message = "no standby can be promoted: " + why};
  auto written = write_primary(site, primary_of(site), *next);
  if (!written.ok()) return std::move(written).error();
  const auto promoted = query(site, site.nodes[*next], {"SELECT pg_promote(true, 60)"});
  if (!promoted.ok()) return promoted.error();
  if (*promoted != "t") return Error{.message = "the standby was not promoted in 60 s"};
  for (const auto& node : site.nodes) {
    if (!is_standby(node)) continue;
    const auto follows = query(site, node,
                               {fmt::format("ALTER SYSTEM SET primary_conninfo = '{}'",
                                            connection_to(site.nodes[*next], site.number_of(node))),
                                "SELECT pg_reload_conf()"});
    if (follows.ok()) continue;
    written = write_as_user(site, missed_failover(node), "");
    if (!written.ok()) return std::move(written).error();
  }
  return *next;
}

// Nobody takes its missing directory for that of a node which was promoted.
Status leave_primary(const Site& site, std::size_t /*node*/) {
  const auto primary = primary_of(site);
  return write_primary(site, primary, primary);
}

// The primary, and whom it sends its log to.
std::vector<std::size_t> followed_and_followers(const Site& site) {
  auto found = postgres_primaries(site);
  if (found.empty()) return found;
  const auto names = query(
      site, site.nodes[found.front()],
      {"SELECT coalesce(string_agg(substr(application_name, 8), ' '), '') FROM pg_stat_replication "
       "WHERE application_name LIKE 'standby%' AND state = 'streaming'"});
  if (!names.ok()) return found;
  std::istringstream numbers(*names);
  for (std::size_t number = 0; numbers >> number;) {
    if (number < site.nodes.size()) found.push_back(number);
  }
  std::sort(found.begin(), found.end());
  return found;
}

bool all_follow(const Site& site) {
  return followed_and_followers(site).size() == site.nodes.size();
}

bool follows_primary(const Site& site, std::size_t node) {
  const auto all = followed_and_followers(site);
  return std::find(all.begin(), all.end(), node) != all.end();
}

}  // namespace

void clear_postgres(const Node& node) {
  // Who owns the directory must not have others' files or memory removed.
  struct stat directory {};
  if (::lstat(node.directory.c_str(), &directory) != 0 || !S_ISDIR(directory.st_mode)) return;
  // The seventh line of postmaster.pid is "KEY ID" of a small shared memory segment.
  const auto path = node.directory + "/postmaster.pid";
  std::istringstream in(text_of_log(path));
  std::string line;
  for (int i = 0; i < 7 && std::getline(in, line); ++i) {
  }
  unsigned long key = 0;
  int id = 0;
  shmid_ds facts{};
  if (in && std::sscanf(line.c_str(), "%lu %d", &key, &id) == 2 &&
      ::shmctl(id, IPC_STAT, &facts) == 0 && facts.shm_perm.cuid == directory.st_uid &&
      static_cast<unsigned long>(static_cast<unsigned>(facts.shm_perm.__key)) == key) {
    if (facts.shm_nattch != 0) return;  // somebody still serves this directory
    ::shmctl(id, IPC_RMID, nullptr);
  }
  // Where nobody reaps orphans the killed process stays a zombie, which PostgreSQL
  // would take for a server that runs.
  std::error_code ignored;
  fs::remove(path, ignored);
}

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
    .shared_memory = kPostgresSharedMemory,
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
    .restart_order = primary_first,
    .is_formed = all_follow,
    .primaries = postgres_primaries,
    .failover = promote_standby,
    .failover_kills = true,
    .membership = {.standbys_only = true,
                   .leave = leave_primary,
                   .has_joined = follows_primary,
                   .members = followed_and_followers},
    .shared_memory = kPostgresSharedMemory,
    .clear_remains = clear_postgres};

}  // namespace cupel::lab
