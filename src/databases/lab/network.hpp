// Network: a network namespace for each node of a server, and a bridge between them.
//
//   clients                     node 0           node 1
//   198.18.S.254 on the bridge  198.18.S.1 eth0  198.18.S.2 eth0
//
// 198.18.0.0/15 is for tests of networks (RFC 2544). No route leads out. A fault from A to B is
// made where B receives: rules of its firewall (nft), and SlowLinks.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "databases/lab/server.hpp"

namespace cupel::lab {

// Names of a network that outlives us.
struct NetworkName {
  std::string id;       // "cupel-Kd81Lq": the bridge; its namespaces are "cupel-Kd81Lq-0" …
  unsigned subnet = 1;  // S
  std::size_t nodes = 0;
};

class Network {
 public:
  // One without a name, which vanishes with the processes in it. The clients' part is the thread
  // that calls this, and those that it starts from then on: it moves there.
  static base::Result<Network> make(std::size_t nodes);
  // One with a name. The clients' part is the network of this thread, where the bridge shows
  // `owner`. Error: also that it cannot be made; nothing is left then.
  static base::Result<Network> make_named(std::size_t nodes, const std::string& id,
                                          const std::string& owner);
  static base::Result<Network> attach(const NetworkName& name);

  Network(Network&&) noexcept;
  Network& operator=(Network&&) noexcept;
  ~Network();  // heals it; what has a name stays until remove_network()

  [[nodiscard]] const NetworkName& name() const;  // no id: it has none
  [[nodiscard]] std::string address(std::size_t node) const;
  // Of a node's namespace, for base::ProcessOptions::network.
  [[nodiscard]] std::string file(std::size_t node) const;

  // As those of Server.
  base::Status set_links(std::span<const LinkFault> faults);
  [[nodiscard]] base::Result<std::vector<LinkCount>> disturbed() const;

 private:
  struct State;
  explicit Network(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// "cupel-Kd81Lq" for the server in the directory "/tmp/cupel-lab-Kd81Lq"; empty: not a server's.
std::string network_id_of(const std::string& directory);
// Whether a network of ours may have this id.
bool is_network_id(std::string_view id);

// Removes what has a name; processes in it keep their part until they end.
void remove_network(const std::string& id);

// Those with a name whose bridge is in the network of this thread: the id and the owner, which
// is empty if its program was killed as it made the bridge. None if they cannot be listed.
std::vector<std::pair<std::string, std::string>> named_networks();
// Whether a process lives in one.
bool is_inhabited(const std::string& id);

}  // namespace cupel::lab
