// Kinds: PostgreSQL, MariaDB, Galera, Redis and etcd as Debian 12 packages them.
//
// No file of the machine's own configuration is read, and none is written.
#include "lab/kinds.hpp"

#include <fmt/format.h>
#include <pwd.h>
#include <sys/shm.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>

#include "base/write_file.hpp"
#include "lab/log.hpp"
#include "lab/loopback.hpp"

namespace cupel::lab {

namespace {

namespace fs = std::filesystem;
using base::Error;
using base::Ok;
using base::Seconds;
using base::Status;
using base::write_file;

constexpr const char* kGaleraLibrary = "/usr/lib/galera/libgalera_smm.so";
constexpr Seconds kToInitialize{120};

// The account that needs a password: Server::guarded_url().
constexpr const char* kGuarded = "guarded";
constexpr const char* kSecret = "secret";

// Empty: not found.
std::string find_program(const std::string& name, std::vector<std::string> folders = {}) {
  const char* path = std::getenv("PATH");
  const std::string list = path != nullptr ? path : "";
  for (std::size_t start = 0; start < list.size();) {
    const auto end = std::min(list.find(':', start), list.size());
    folders.push_back(list.substr(start, end - start));
    start = end + 1;
  }
  // Where servers are, and where the PATH of a plain user often does not lead.
  for (const char* folder : {"/usr/local/sbin", "/usr/sbin", "/sbin"}) folders.emplace_back(folder);
  for (const auto& folder : folders) {
    auto program = folder + "/" + name;
    std::error_code ignored;
    if (fs::is_regular_file(program, ignored) && ::access(program.c_str(), X_OK) == 0) {
      return program;
    }
  }
  return {};
}

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

// Runs a program of the server's package until it ends. Error: the end of its log.
Status run_once(const Site& site, std::vector<std::string> arguments, const std::string& log,
                const std::string& input = {}) {
  const auto program = fs::path(arguments.front()).filename().string();
  auto process = base::Process::start({
      .arguments = std::move(arguments),
      .environment = {{"HOME", site.directory}, {"TMPDIR", site.directory}, {"LC_ALL", "C"}},
      .directory = site.directory,
      .input = input.empty() ? base::Stream::nothing() : base::Stream::file(input),
      .output = base::Stream::file(log),
      .errors = base::Stream::output(),
      .user = site.user,
  });
  if (!process.ok()) return std::move(process).error();
  const auto status = process->wait(kToInitialize);
  if (status && status->well()) return Ok{};
  return Error{.message =
                   fmt::format("{} {}; the end of its log:\n{}", program,
                               status ? status->to_string()
                                      : fmt::format("did not end in {} s", kToInitialize.count()),
                               last_lines(log, 20))};
}

// PostgreSQL

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
                                                       "host all {} 127.0.0.1/32 scram-sha-256\n"
                                                       "host all all 127.0.0.1/32 trust\n",
                                                       kGuarded));
}

std::vector<std::string> postgres_command(const Site& site, const Node& node) {
  std::vector<std::string> command{postgres_program("postgres"), "-D", node.directory};
  const auto set = [&](const std::string& setting) {
    command.emplace_back("-c");
    command.push_back(setting);
  };
  set("listen_addresses=127.0.0.1");
  set(fmt::format("port={}", node.ports[0]));
  set("unix_socket_directories=");
  set("max_connections=200");
  set("deadlock_timeout=20ms");  // by default each deadlock costs a second, and load has many
  if (!site.options.durable) {
    set("fsync=off");
    set("full_page_writes=off");
  }
  for (const auto& option : site.options.server_options) set(option);
  return command;
}

// MariaDB and Galera

bool is_galera(const Site& site) {
  return site.kind == Kind::kGalera;
}

Status initialize_mariadb(const Site& site) {
  const auto log = site.directory + "/install-db.log";
  const auto sql = site.directory + "/initialize.sql";
  auto made = write_file(sql, fmt::format("FLUSH PRIVILEGES;\n"  // or no account can be made
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
                   "--skip-name-resolve", "--extra-file=" + sql, "--innodb-log-file-size=8M",
                   "--innodb-flush-method=nosync", "--sync-frm=0", "--skip-log-bin"},
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

std::vector<std::string> mariadb_command(const Site& site, const Node& node) {
  std::vector<std::string> command{
      find_program("mariadbd"),
      "--no-defaults",
      "--datadir=" + node.directory,
      "--socket=" + node.directory + ".sock",
      "--pid-file=" + node.directory + ".pid",
      "--tmpdir=" + site.directory,
      fmt::format("--port={}", node.ports[0]),
      "--bind-address=127.0.0.1",
      "--skip-name-resolve",
      "--max-connections=200",
      "--innodb-log-file-size=8M",
  };
  if (!site.options.durable) {
    command.emplace_back("--innodb-flush-log-at-trx-commit=2");
    command.emplace_back("--innodb-flush-method=nosync");
  }
  if (is_galera(site)) {
    std::string members;
    for (const auto& member : site.nodes) {
      members += fmt::format("{}127.0.0.1:{}", members.empty() ? "" : ",", member.ports[1]);
    }
    for (const auto& option : {
             std::string("--binlog-format=ROW"),
             std::string("--innodb-autoinc-lock-mode=2"),
             std::string("--wsrep-on=ON"),
             std::string("--wsrep-provider=") + kGaleraLibrary,
             std::string("--wsrep-cluster-name=cupel"),
             "--wsrep-cluster-address=gcomm://" + members,
             fmt::format("--wsrep-node-name=node-{}", &node - site.nodes.data()),
             fmt::format("--wsrep-node-address=127.0.0.1:{}", node.ports[1]),
             fmt::format("--wsrep-provider-options=base_port={0};gmcast.listen_addr=tcp://"
                         "127.0.0.1:{0};ist.recv_addr=127.0.0.1:{1};gcache.size=32M",
                         node.ports[1], node.ports[2]),
             std::string("--wsrep-sst-method=rsync"),
             fmt::format("--wsrep-sst-receive-address=127.0.0.1:{}", node.ports[3]),
         }) {
      command.push_back(option);
    }
  }
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
  auto run = run_once(site, std::move(command), log);
  if (!run.ok()) return std::move(run).error();
  const auto text = text_of(log);
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

// Redis and etcd

std::vector<std::string> redis_command(const Site& site, const Node& node) {
  std::vector<std::string> command{find_program("redis-server"),
                                   "--port",
                                   std::to_string(node.ports[0]),
                                   "--bind",
                                   "127.0.0.1",
                                   "--dir",
                                   node.directory,
                                   "--save",
                                   "",
                                   "--appendonly",
                                   "yes",
                                   "--appendfsync",
                                   site.options.durable ? "always" : "no"};
  for (const auto& option : site.options.server_options) {
    const auto equals = option.find('=');
    command.push_back("--" + option.substr(0, equals));
    if (equals != std::string::npos) command.push_back(option.substr(equals + 1));
  }
  return command;
}

std::vector<std::string> etcd_command(const Site& site, const Node& node) {
  const auto clients = fmt::format("http://127.0.0.1:{}", node.ports[0]);
  const auto peers = fmt::format("http://127.0.0.1:{}", node.ports[1]);
  std::vector<std::string> command{find_program("etcd"),
                                   "--name=cupel",
                                   "--data-dir=" + node.directory,
                                   "--listen-client-urls=" + clients,
                                   "--advertise-client-urls=" + clients,
                                   "--listen-peer-urls=" + peers,
                                   "--initial-advertise-peer-urls=" + peers,
                                   "--initial-cluster=cupel=" + peers,
                                   "--logger=zap",
                                   "--log-outputs=stderr"};
  for (const auto& option : site.options.server_options) command.push_back("--" + option);
  return command;
}

}  // namespace

std::optional<base::Credentials> user_of(Kind kind) {
  if (::geteuid() != 0) return std::nullopt;
  const char* own = nullptr;
  switch (kind) {
    case Kind::kPostgres:
      own = "postgres";
      break;
    case Kind::kMariadb:
    case Kind::kGalera:
      own = "mysql";
      break;
    case Kind::kRedis:
      own = "redis";
      break;
    case Kind::kEtcd:
      own = "etcd";
      break;
  }
  for (const char* user : {own, "nobody"}) {
    passwd entry{};
    passwd* found = nullptr;
    std::vector<char> buffer(16384);
    if (::getpwnam_r(user, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr) {
      return base::Credentials{found->pw_uid, found->pw_gid};
    }
  }
  constexpr uid_t kNobodyUser = 65534;  // "nobody"
  return base::Credentials{kNobodyUser, kNobodyUser};
}

std::size_t ports_of_a_node(Kind kind) {
  switch (kind) {
    case Kind::kGalera:
      return 4;  // clients, group, incremental and whole state transfers
    case Kind::kEtcd:
      return 2;  // clients, peers
    default:
      return 1;
  }
}

Status find_programs(Kind kind) {
  const auto need = [](const std::string& found, std::string_view program,
                       std::string_view package) -> Status {
    if (!found.empty()) return Ok{};
    return Error{.message =
                     fmt::format("found no {}; install the Debian package {}", program, package)};
  };
  switch (kind) {
    case Kind::kPostgres: {
      auto found = need(postgres_program("postgres"), "program `postgres`", "postgresql");
      return found.ok() ? need(postgres_program("initdb"), "program `initdb`", "postgresql")
                        : found;
    }
    case Kind::kMariadb:
    case Kind::kGalera: {
      auto found = need(find_program("mariadbd"), "program `mariadbd`", "mariadb-server");
      if (found.ok()) {
        found = need(find_program("mariadb-install-db"), "program `mariadb-install-db`",
                     "mariadb-server");
      }
      if (kind == Kind::kMariadb || !found.ok()) return found;
      found = need(fs::exists(kGaleraLibrary) ? "yes" : "",
                   fmt::format("library {}", kGaleraLibrary), "galera-4");
      return found.ok() ? need(find_program("rsync"), "program `rsync`", "rsync") : found;
    }
    case Kind::kRedis:
      return need(find_program("redis-server"), "program `redis-server`", "redis-server");
    case Kind::kEtcd:
      return need(find_program("etcd"), "program `etcd`", "etcd-server");
  }
  return Ok{};
}

Status initialize(const Site& site) {
  switch (site.kind) {
    case Kind::kPostgres:
      return initialize_postgres(site);
    case Kind::kMariadb:
    case Kind::kGalera:
      return initialize_mariadb(site);
    case Kind::kRedis:
      return run_once(site, {"mkdir", site.nodes.front().directory}, site.nodes.front().log);
    case Kind::kEtcd:
      return Ok{};  // makes its own
  }
  return Ok{};
}

void plan_commands(Site& site) {
  for (auto& node : site.nodes) {
    switch (site.kind) {
      case Kind::kPostgres:
        node.arguments = postgres_command(site, node);
        break;
      case Kind::kMariadb:
      case Kind::kGalera:
        node.arguments = mariadb_command(site, node);
        break;
      case Kind::kRedis:
        node.arguments = redis_command(site, node);
        break;
      case Kind::kEtcd:
        node.arguments = etcd_command(site, node);
        break;
    }
  }
}

base::Result<std::vector<std::string>> start_arguments(const Site& site, std::size_t node,
                                                       bool first, bool alone) {
  std::vector<std::string> more;
  if (!is_galera(site)) return more;
  if (alone) more.emplace_back("--wsrep-new-cluster");
  if (first) return more;
  const auto& data = site.nodes[node].directory;
  const auto position = recovered_position(site, site.nodes[node]);
  if (!position.ok()) return position.error();
  more.push_back("--wsrep-start-position=" + *position);
  if (alone) {
    // The cluster as it was is gone: this node, which has the most, is the new one.
    std::error_code ignored;
    for (const auto& member : site.nodes) fs::remove(member.directory + "/gvwstate.dat", ignored);
    const auto state = data + "/grastate.dat";
    const auto changed = std::regex_replace(text_of(state), std::regex("safe_to_bootstrap: 0"),
                                            "safe_to_bootstrap: 1");
    auto written = write_file(state, changed);
    if (!written.ok()) return std::move(written).error();
  }
  return more;
}

base::Result<std::vector<std::size_t>> restart_order(const Site& site) {
  std::vector<std::size_t> order;
  for (std::size_t node = 0; node < site.nodes.size(); ++node) order.push_back(node);
  if (!is_galera(site)) return order;
  std::vector<long long> positions;
  for (const auto& node : site.nodes) {
    const auto position = recovered_position(site, node);
    if (!position.ok()) return position.error();
    positions.push_back(std::strtoll(position->c_str() + position->find(':') + 1, nullptr, 10));
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return positions[a] > positions[b]; });
  return order;
}

bool is_up(const Site& site, const Node& node, std::string_view written) {
  constexpr Seconds kMoment{1};
  const auto port = node.ports[0];
  const auto says = [&](std::string_view words) {
    return written.find(words) != std::string_view::npos;
  };
  switch (site.kind) {
    // PostgreSQL listens before it can do anything else.
    case Kind::kPostgres:
      return says("database system is ready to accept connections");
    case Kind::kMariadb:
      return says("ready for connections") && !ask(port, "", kMoment).empty();
    case Kind::kGalera:
      return says("Synchronized with group, ready for connections") &&
             !ask(port, "", kMoment).empty();
    case Kind::kRedis: {
      const auto answer = ask(port, "PING\r\n", kMoment);
      return answer.rfind("+PONG", 0) == 0 || answer.rfind("-NOAUTH", 0) == 0;
    }
    case Kind::kEtcd:
      return ask(port, "GET /health HTTP/1.0\r\n\r\n", kMoment).find("\"health\":\"true\"") !=
             std::string::npos;
  }
  return false;
}

Seconds patience(Kind kind) {
  return Seconds(kind == Kind::kGalera ? 120 : 60);
}

int stop_signal(Kind kind) {
  // PostgreSQL gives back its shared memory; SIGINT ends it without waiting for its
  // clients. The others have nothing outside their directory, so nothing to say.
  return kind == Kind::kPostgres ? SIGINT : SIGKILL;
}

void clear_remains(const Site& site, const Node& node) {
  if (site.kind != Kind::kPostgres) return;
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
  std::filesystem::remove(path, ignored);
}

}  // namespace cupel::lab
