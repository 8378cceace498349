// Connection poolers for the tests: PgBouncer, and Pgpool-II over one server, each a process on
// loopback with a configuration of its own, which runs as an unprivileged user.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/process.hpp"
#include "databases/lab/kinds.hpp"
#include "databases/lab/loopback.hpp"
#include "databases/lab/programs.hpp"
#include "databases/lab/server.hpp"
#include "support/polling.hpp"
#include "support/scratch_folder.hpp"

namespace cupel::test {

class Pooler {
 public:
  // In front of a PostgreSQL server. `settings`: further lines of its section [pgbouncer].
  static std::unique_ptr<Pooler> pgbouncer(const lab::Server& server, const std::string& mode,
                                           const std::string& settings = {}) {
    auto made = std::unique_ptr<Pooler>(new Pooler);
    const auto config = made->folder_.file("pgbouncer.ini",
                                           fmt::format("[databases]\n"
                                                       "cupel = host=127.0.0.1 port={} user=cupel\n"
                                                       "[pgbouncer]\n"
                                                       "listen_addr = 127.0.0.1\n"
                                                       "listen_port = {}\n"
                                                       "unix_socket_dir =\n"
                                                       "auth_type = any\n"
                                                       "pool_mode = {}\n"
                                                       "{}\n",
                                                       server.port(), made->port_, mode, settings));
    made->start({lab::find_program("pgbouncer"), config});
    return made;
  }

  // In raw mode, in which it only keeps connections.
  static std::unique_ptr<Pooler> pgpool(const lab::Server& server) {
    auto made = std::unique_ptr<Pooler>(new Pooler);
    const auto& folder = made->folder_;
    const auto sockets = folder.path();
    const auto config = folder.file(
        "pgpool.conf", fmt::format("backend_clustering_mode = 'raw'\n"
                                   "listen_addresses = '127.0.0.1'\n"
                                   "port = {0}\n"
                                   "pcp_port = {1}\n"
                                   "unix_socket_directories = '{2}'\n"
                                   "socket_dir = '{2}'\n"
                                   "pcp_socket_dir = '{2}'\n"
                                   "pid_file_name = '{2}/pgpool.pid'\n"
                                   "logdir = '{2}'\n"
                                   "num_init_children = 24\n"
                                   "sr_check_period = 0\n"
                                   "backend_hostname0 = '127.0.0.1'\n"
                                   "backend_port0 = {3}\n",
                                   made->port_, made->other_port_, sockets, server.port()));
    made->start({lab::find_program("pgpool"), "-n", "-f", config, "-F", folder.file("pcp.conf", ""),
                 "-a", folder.file("pool_hba.conf", "")});
    return made;
  }

  [[nodiscard]] std::string url() const {
    return fmt::format("postgres://cupel@127.0.0.1:{}/cupel", port_);
  }

 private:
  Pooler() {
    const auto ports = lab::free_ports(2);
    if (ports.size() != 2) throw std::runtime_error("there are no free ports");
    port_ = ports[0];
    other_port_ = ports[1];
  }

  void start(std::vector<std::string> arguments) {
    if (arguments[0].empty()) throw std::runtime_error("the pooler is not installed");
    const auto user = lab::user_of(lab::Kind::kPostgres);
    if (user) {
      for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
        if (::chown(entry.path().c_str(), user->user, user->group) != 0) {
          throw std::runtime_error("the pooler cannot be given its configuration");
        }
      }
      if (::chown(folder_.path().c_str(), user->user, user->group) != 0) {
        throw std::runtime_error("the pooler cannot be given its folder");
      }
    }
    auto started = base::Process::start({.arguments = std::move(arguments),
                                         .directory = folder_.path(),
                                         .output = base::Stream::file(folder_.path("log")),
                                         .errors = base::Stream::output(),
                                         .user = user});
    if (!started.ok()) throw std::runtime_error(started.error().to_string());
    process_ = std::make_unique<base::Process>(std::move(started).value());
    // It says nothing when it is ready.
    if (!poll_until([&] {
          return !process_->running() || lab::listens("127.0.0.1", port_, base::Seconds(1));
        }) ||
        !process_->running()) {
      throw std::runtime_error("the pooler does not start");
    }
  }

  ScratchFolder folder_;
  std::uint16_t port_ = 0, other_port_ = 0;
  std::unique_ptr<base::Process> process_;  // ends before its folder goes
};

}  // namespace cupel::test
