// Kinds: what differs from one server to another: which programs and packages, how
// a directory is filled, the command line, when it is up, how it is stopped.
//
// To add a kind: an enumerator in server.hpp, a KindSpec in a file of its own with its
// declaration below, and its place in the table of kinds.cpp.
#pragma once

#include <csignal>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/process.hpp"
#include "base/result.hpp"
#include "databases/lab/loopback.hpp"
#include "databases/lab/server.hpp"

namespace cupel::lab {

// One process of a server.
struct Node {
  std::string directory;                         // its data
  std::string log;                               // a file; its standard output and error
  std::string address = std::string(kLoopback);  // on which it listens, and nowhere else
  std::vector<std::uint16_t> ports = {};         // the first is for clients
  std::vector<std::string> arguments = {};       // the whole command line
  // A namespace that its processes live in, as a file: "/proc/123/ns/net". Empty: ours.
  std::string network = {};
  std::vector<std::pair<std::string, std::string>> environment = {};  // besides ours
  bool left = false;  // the cluster, and its data are gone: Server::leave()
};

// As ask() of loopback.hpp, of the port for clients.
std::string ask(const Node& node, std::string_view request, base::Seconds timeout);

// Everything under `directory`, which is empty, and belongs to the user already.
struct Site {
  Kind kind = Kind::kPostgres;
  std::string directory;
  std::optional<base::Credentials> user;
  Options options;
  std::vector<Node> nodes;

  [[nodiscard]] std::size_t number_of(const Node& node) const {
    return static_cast<std::size_t>(&node - nodes.data());
  }
};

// Besides ours, of every process of the server. kMark names the directory: by it the processes of
// a server are found that nobody stopped.
inline constexpr const char* kMark = "CUPEL_LAB";
std::vector<std::pair<std::string, std::string>> environment_of(const Site& site);

// A start of one node.
struct Start {
  std::size_t node = 0;
  bool first = true;   // with data as initialize() made it
  bool alone = false;  // no other node runs
  bool joins = false;  // it left the cluster, has no data and is to be a member again
};

// How a node leaves the cluster by the product's own commands, and is a member again after a start
// without data. A kind without leave() has no such thing.
struct Membership {
  // Why no node of this cluster can leave, in a sentence; empty: one can.
  std::string (*unfit)(const Site& site) = nullptr;
  bool standbys_only = false;  // a primary cannot leave
  // While the node runs. Afterwards its process is ended and its data are removed.
  base::Status (*leave)(const Site& site, std::size_t node) = nullptr;
  // Once its process has ended.
  base::Status (*forget)(const Site& site, std::size_t node) = nullptr;
  // Whether a node that joins, and is up, is a member by now. It is asked until then, and takes the
  // next step each time.
  bool (*has_joined)(const Site& site, std::size_t node) = nullptr;
  // Whom one of the members lists that answer.
  std::vector<std::size_t> (*members)(const Site& site) = nullptr;
};

// Membership::leave of a node whose orderly end is all that is needed.
base::Status leave_by_ending(const Site& site, std::size_t node);

// Why a server's clock cannot be shifted (KindSpec::no_clocks).
inline constexpr std::string_view kGoClocks =
    "a Go program asks the kernel for the time, and no library that could change it";

struct KindSpec {
  Kind kind;
  std::string_view name;
  std::string_view summary;  // of what is started
  std::string_view user;     // the package's own, if root starts it
  std::string_view url;      // "postgres://ACCOUNT@HOSTS/cupel"; SENTINELS: by the second ports
  std::uint32_t least_nodes = 1, default_nodes = 1, most_nodes = 1;
  std::size_t ports = 1;      // of a node
  bool has_standbys = false;  // the first node is the primary, and the others follow it
  // A node answers only once others run: all are started before the first is waited for.
  bool together = false;
  // Stops a node without leaving files. The directory is removed afterwards, so nothing needs
  // to be saved.
  int stop_signal = SIGKILL;
  double patience = 60;  // seconds, with a start

  // The programs are there. Error: which package to install.
  base::Status (*find_programs)();
  // Fills the data directories: accounts, the database.
  base::Status (*initialize)(const Site& site);
  // The command line, once the ports are known.
  std::vector<std::string> (*command)(const Site& site, const Node& node);
  // Does it answer? `written`: its log since it was started.
  bool (*is_up)(const Site& site, const Node& node, std::string_view written);

  // What a kind may leave out:
  // Makes a node ready to start; returns further arguments.
  base::Result<std::vector<std::string>> (*prepare)(const Site& site, const Start& start) = nullptr;
  // The order in which to start all nodes anew after all were killed.
  base::Result<std::vector<std::size_t>> (*restart_order)(const Site& site) = nullptr;
  // A node that gives up because the others have not yet noticed its end is started once more.
  bool starts_twice = false;
  // The nodes have found each other, and each may fail, leave or take over: waited for after the
  // start of all. To answer is not enough where that needs no other node.
  bool (*is_formed)(const Site& site) = nullptr;
  // The nodes that take writes now; by default the first, if the others are standbys, else all.
  std::vector<std::size_t> (*primaries)(const Site& site) = nullptr;
  // As Server::failover(), but without the end of a primary that cannot become a follower while it
  // runs: it is killed before, and prepare() of its next start makes it one.
  base::Result<std::size_t> (*failover)(const Site& site) = nullptr;
  bool failover_kills = false;
  Membership membership = {};
  // Variables of its processes, once the ports of all nodes are known.
  std::vector<std::pair<std::string, std::string>> (*environment)(const Site& site,
                                                                  const Node& node) = nullptr;
  // Why its programs cannot have clocks of their own, in a sentence.
  std::string_view no_clocks = {};
  // Whether it would ignore a wish to end at this moment, instead of ending a little later.
  bool (*ignores_end)(const Site& site, const Node& node) = nullptr;
  // How the names begin of the files of shared memory that a process which was killed leaves.
  std::string_view shared_memory = {};
  // What a server that is gone left outside its directory, and what would keep the
  // next one from starting there.
  void (*clear_remains)(const Node& node) = nullptr;
};

const KindSpec& spec_of(Kind kind);
// Kinds from here on are of own.hpp.
inline constexpr std::size_t kBuiltInKinds = static_cast<std::size_t>(Kind::kDqlite) + 1;
const KindSpec& spec_of_own(Kind kind);

// The kinds, each in its own file.
extern const KindSpec kPostgresKind, kPostgresStandbyKind;
extern const KindSpec kMariadbKind, kMariadbReplicaKind, kGaleraKind;
extern const KindSpec kRedisKind, kRedisReplicaKind, kRedisSentinelKind, kRedisClusterKind;
extern const KindSpec kEtcdKind, kZookeeperKind;
extern const KindSpec kNatsKind, kPatroniKind, kDqliteKind;

// None: this machine has no such user.
std::optional<base::Credentials> credentials_of(const std::string& user);

// Who the processes of a kind run as, if we are root: the package's own user, or
// nobody. None: as we are.
std::optional<base::Credentials> user_of(Kind kind);

}  // namespace cupel::lab
