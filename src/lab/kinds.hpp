// Kinds: what differs from one server to another: which programs and packages, how
// a directory is filled, the command line, when it is up, how it is stopped.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/process.hpp"
#include "base/result.hpp"
#include "lab/server.hpp"

namespace cupel::lab {

// Who the processes of a kind run as, if we are root: the package's own user, or
// nobody. None: as we are.
std::optional<base::Credentials> user_of(Kind kind);

// One process of a server.
struct Node {
  std::string directory;               // its data
  std::string log;                     // a file; its standard output and error
  std::vector<std::uint16_t> ports;    // the first is for clients
  std::vector<std::string> arguments;  // the whole command line
};

// Everything under `directory`, which is empty, and belongs to the user already.
struct Site {
  Kind kind = Kind::kPostgres;
  std::string directory;
  std::optional<base::Credentials> user;
  Options options;
  std::vector<Node> nodes;
};

std::size_t ports_of_a_node(Kind kind);

// The programs are there. Error: which package to install.
base::Status find_programs(Kind kind);
// Fills the data directories: accounts, the database.
base::Status initialize(const Site& site);
// The command lines, once the ports are known.
void plan_commands(Site& site);

// Further arguments by which `node` is started. `first`: with data as initialize()
// made it. `alone`: no other node runs.
base::Result<std::vector<std::string>> start_arguments(const Site& site, std::size_t node,
                                                       bool first, bool alone);
// The order in which to start all nodes anew after all were killed.
base::Result<std::vector<std::size_t>> restart_order(const Site& site);

// Does it answer? `written`: its log since it was started.
bool is_up(const Site& site, const Node& node, std::string_view written);
base::Seconds patience(Kind kind);  // with a start

// The signal that stops it without leaving files. The directory is removed
// afterwards, so nothing needs to be saved.
int stop_signal(Kind kind);
// What a server that is gone left outside its directory, and what would keep the
// next one from starting there.
void clear_remains(const Site& site, const Node& node);

}  // namespace cupel::lab
