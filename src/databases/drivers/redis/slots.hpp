// Slots: which node of a Redis Cluster has a key ("Redis cluster specification" in Redis' manual).
//
// A key's slot is CRC16 of its hash tag, which is what stands between its first `{` and the next
// `}`, or of all of it. Each slot has one primary, and its replicas.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "databases/drivers/url.hpp"

namespace cupel::drivers::redis {

inline constexpr std::uint16_t kSlotCount = 16384;
std::uint16_t slot_of(std::string_view key);

// The slots as one node sees them.
class Slots {
 public:
  // From its answer to CLUSTER NODES; `asked` stands for a node that does not know its own address.
  static Slots parse(std::string_view answer, const Host& asked);

  [[nodiscard]] std::optional<Host> primary_of(std::uint16_t slot) const;
  // That it takes for alive.
  [[nodiscard]] std::vector<Host> replicas_of(std::uint16_t slot) const;
  // Those that have slots, with the number of their replicas.
  [[nodiscard]] std::vector<std::pair<Host, std::size_t>> primaries() const;
  [[nodiscard]] std::vector<Host> nodes() const;  // with a known address
  [[nodiscard]] bool is_primary(const Host& host) const;
  [[nodiscard]] std::size_t replicas() const;

 private:
  struct Node {
    std::string id, follows;
    Host host;
    bool primary = false, alive = true;
    std::vector<std::pair<std::uint16_t, std::uint16_t>> slots = {};  // from, to
    [[nodiscard]] bool has(std::uint16_t slot) const;
  };
  [[nodiscard]] const Node* owner_of(std::uint16_t slot) const;
  static std::optional<Node> parse_node(std::string_view line, const Host& asked);

  std::vector<Node> nodes_;
};

// Where -MOVED or -ASK redirects to: "MOVED 3999 127.0.0.1:6381". None: to no known address.
std::optional<Host> redirected(std::string_view error, const Host& asked);

}  // namespace cupel::drivers::redis
