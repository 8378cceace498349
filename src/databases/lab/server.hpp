// Servers to test against: PostgreSQL, MariaDB, Redis, etcd and NATS, also with standbys or as
// clusters, from Debian's packages, each node in a directory of its own, on free ports of the
// loopback interface, as an unprivileged user.
//
//   auto server = lab::start(lab::Kind::kPostgres, {});
//   server->url();      // "postgres://cupel@127.0.0.1:23456/cupel"
//   server->kill();     // SIGKILL, as a crash
//   server->restart();  // the same data and port
//   server->stop();     // or the destructor: no process, no directory is left
//
// The user `cupel` needs no password and may do anything in the database `cupel`;
// PostgreSQL, MariaDB and Galera also have the user `guarded` with the password
// `secret` (guarded_url()). Run by root, a server becomes its package's own user,
// or nobody. Only processes that were started here are signalled, by id and start.
//
// A server is used by one thread at a time; different ones by any.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace cupel::lab {

enum class Kind : std::uint8_t {
  kPostgres,
  kPostgresStandby,
  kMariadb,
  kMariadbReplica,
  kGalera,
  kRedis,
  kRedisReplica,
  kRedisSentinel,
  kRedisCluster,
  kEtcd,
  kZookeeper,
  kNats,
  kPatroni,
  kDqlite
};
std::span<const Kind> all_kinds();
// "postgres", "postgres-standby" …
std::string_view name(Kind kind);
// What is started: "one PostgreSQL server".
std::string_view summary(Kind kind);
// How many nodes it may have; at most 1 if it is a single server.
struct NodeCount {
  std::uint32_t least, by_default, most;
};
NodeCount node_count(Kind kind);
// The first node is the primary, and the others follow it.
bool has_standbys(Kind kind);
// By its name, or by the path of a description of one's own (own.hpp), which ends in .json.
// Errors: an unknown name (with those that there are), a bad description.
base::Result<Kind> find_kind(const std::string& name);
// Are its programs installed? Error: which package to install.
base::Status find_programs(Kind kind);
// The form of its URLs: "postgres://ACCOUNT@HOSTS/cupel".
std::string_view url_form(Kind kind);

struct Options {
  // Further options of the server, in its own words: "innodb_snapshot_isolation=ON",
  // "requirepass=secret". They come last, so they win.
  std::vector<std::string> server_options = {};
  // Whether a commit waits for the disk. What was acknowledged survives kill()
  // either way; without, only a crash of the whole machine would lose it, and tests
  // that crash servers take seconds less: PostgreSQL 3 s instead of 12 on a busy disk.
  bool durable = true;
  std::uint32_t nodes = 0;  // 0: the kind's default; no more than node_count() allows
  // A commit on the primary waits until a standby or replica has it.
  bool synchronous = false;
  // Each node in a network namespace of its own, 198.18.S.1, 198.18.S.2 …, so that set_links()
  // works; networks_forbidden() of namespaces.hpp says where that is not possible. The thread that
  // calls start(), and those that it starts from then on, are in a network with the nodes and with
  // nothing else, and it stays there. If the server is detached, the thread stays where it is, and
  // the nodes are reached from there: as root only.
  bool namespaces = false;
  // Each node has a clock of its own, so that set_clock() works; ignored where without_clocks()
  // says why there can be none.
  bool clocks = false;
  // Each node has a disk of its own, so that set_disk() works; disks_forbidden() of disk/disk.hpp
  // says where that is not possible. Not for a detached server.
  bool disks = false;
  // Leave the server running when this program ends; stop() still stops it.
  bool detached = false;
  // Once it is true, start() gives up.
  const std::atomic<bool>* interrupted = nullptr;
  // If not empty: a file that always holds to_json(), from the first process on
  // until stop() removes it, so that another program can attach() and stop().
  std::string state_file = {};
};

// What is wrong with the packets that one node, or the clients, send to another.
inline constexpr std::size_t kClients = SIZE_MAX;
struct LinkFault {
  std::size_t from = 0, to = 0;        // nodes by number, or kClients
  double loss = 0;                     // share of the packets that get lost; 1: all
  bool reset = false;                  // connections are broken by a reset
  double delay = 0, jitter = 0;        // seconds that each takes longer, and at most so much more
  std::uint64_t bytes_per_second = 0;  // 0: as many as possible
};

// What the network did so far to the packets of a link.
struct LinkCount {
  std::size_t from = 0, to = 0;
  std::uint64_t lost = 0, reset = 0, slow = 0;
};

// How a node's clock differs from the machine's. The monotonic clock is the machine's.
struct ClockFault {
  double offset = 0;            // seconds that it is ahead
  double rate = 1;              // seconds that it counts in a second
  double jump = 0, period = 0;  // seconds; it is ahead by `jump` in every other half period
};

// What is wrong with a node's disk.
struct DiskFault {
  bool full = false;  // nothing new can be written; what is there can be overwritten
  double errors = 0;  // share of the writes and syncs that fail with EIO
};

// What a disk did so far because of its faults.
struct DiskCount {
  std::uint64_t refused = 0;  // writes, because it was full
  std::uint64_t failed = 0;   // writes and syncs, with EIO
};

// What a power loss took.
struct LostBytes {
  std::uint64_t files = 0;
  std::uint64_t overwritten = 0;  // bytes that are again what they were
  std::uint64_t cut_off = 0;      // bytes that the files are shorter
};

class Server {
 public:
  Server(Server&&) noexcept;
  Server& operator=(Server&&) noexcept;
  ~Server();  // stop(), unless detached

  [[nodiscard]] Kind kind() const;
  // For `cupel run --db`: all nodes, the primary first, or one of them.
  [[nodiscard]] std::string url() const;
  [[nodiscard]] std::string url(std::size_t node) const;
  // As the user who needs a password. PostgreSQL, MariaDB, Galera only.
  [[nodiscard]] std::string guarded_url(std::string_view password = "secret") const;
  [[nodiscard]] std::size_t nodes() const;
  [[nodiscard]] std::uint16_t port(std::size_t node = 0) const;  // where clients connect
  [[nodiscard]] int process(std::size_t node = 0) const;
  [[nodiscard]] const std::string& directory() const;
  [[nodiscard]] bool running(std::size_t node = 0) const;
  // The end of what the server wrote to its log.
  [[nodiscard]] std::string log(std::size_t node = 0, std::size_t lines = 20) const;
  // Copies the logs of all nodes into a folder, which is made.
  base::Status copy_logs(const std::string& folder) const;

  // SIGKILL to every process of all nodes, or of one; returns when they are gone.
  void kill();
  void kill(std::size_t node);
  // Kills what still runs and starts it again, with the same data and ports; returns
  // when it answers. Errors: as those of start().
  base::Status restart();
  base::Status restart(std::size_t node);
  // Ends a node as its manual asks for, so that it can save what it has; returns when it is gone.
  void shut_down(std::size_t node);
  // Starts those of the nodes that do not run, and returns when all of them answer: true. False:
  // `give_up` turned true first; what was started runs on, and the next call waits for it again.
  // Errors: as those of restart(), with the node's number.
  base::Result<bool> start_stopped(std::span<const std::size_t> nodes,
                                   const std::function<bool()>& give_up);
  // Whether a node is ready for clients at this moment.
  [[nodiscard]] bool answers(std::size_t node) const;
  // Stops every process of a node where it stands (SIGSTOP), and lets it go on.
  void pause(std::size_t node);
  void resume(std::size_t node);
  // From here on the network has these faults and no others; empty: it is whole. Errors: the
  // nodes have no networks of their own, a fault that this machine cannot make.
  base::Status set_links(std::span<const LinkFault> faults);
  // Of the links that ever had a fault.
  [[nodiscard]] base::Result<std::vector<LinkCount>> disturbed() const;
  // Whether its nodes have networks of their own, so that set_links() works.
  [[nodiscard]] bool has_networks() const;
  // From now on the node's clock differs so. Errors: without_clocks().
  base::Status set_clock(std::size_t node, const ClockFault& fault);
  // Why the nodes have no clocks of their own, in a sentence; empty: they have.
  [[nodiscard]] std::string without_clocks() const;
  // From now on the node's disk has these faults and no others. Errors: it has no disk of its own.
  base::Status set_disk(std::size_t node, const DiskFault& fault);
  [[nodiscard]] DiskCount disk_count(std::size_t node) const;
  // Of a node that does not run: as if its machine had lost power, its disk holds what was synced.
  // What was there when the server was first ready is synced.
  base::Result<LostBytes> lose_unsynced(std::size_t node);
  [[nodiscard]] bool has_disks() const;
  // Flips bits of a node that does not run, as flip_bits() of disk/corrupt.hpp.
  base::Result<std::string> corrupt(std::size_t node, std::uint64_t bits, std::uint64_t seed);
  // The nodes that take writes now, as far as can be seen from outside.
  [[nodiscard]] std::vector<std::size_t> primaries() const;
  // Whether failover() can work: the kind has it, and there is more than one node.
  [[nodiscard]] bool has_failover() const;
  // Makes another node the primary, and returns which when it is one. Where the old primary cannot
  // become a follower while it runs, it was killed, and restart() makes it one.
  // Errors: the kind has no other primary to make, no node is fit to be one.
  base::Result<std::size_t> failover();
  // Takes a node out of the cluster by the product's own commands, stops it and removes its data;
  // returns when the other nodes no longer list it. Its next start makes it a member again, which
  // gets its data from the others. Errors: without_membership(), none of leavers(), what the
  // product says.
  base::Status leave(std::size_t node);
  // Why no node can leave, in a sentence; empty: one can.
  [[nodiscard]] std::string without_membership() const;
  // The nodes that may leave now.
  [[nodiscard]] std::vector<std::size_t> leavers() const;
  // Whom the nodes list as members; of a kind that has no such list, all that did not leave.
  [[nodiscard]] std::vector<std::size_t> members() const;
  // Stops every process and removes the directory. Nothing to do: no error.
  void stop();

  [[nodiscard]] std::string to_json() const;
  // A detached server that another program started: from its state file.
  // Errors: no such file, or not one of ours.
  static base::Result<Server> attach(const std::string& state_file);

 private:
  friend base::Result<Server> start(Kind kind, const Options& options);
  struct State;
  explicit Server(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Removes what programs left of servers that nobody owns any more: a program that was killed while
// it started or used one. Only what the lab made, in the folder for temporary files of this
// process, and networks with a name.
void clear_remains();

// Returns when every node answers, and the nodes of a cluster have found each other: replicas
// follow their primary, which knows it. The same holds of Server::restart() of all nodes, but not
// of one: the others may be gone. Errors: a program that is not installed (which Debian package has
// it), a server that does not start (the end of its log), more nodes than the kind has.
base::Result<Server> start(Kind kind, const Options& options);

}  // namespace cupel::lab
