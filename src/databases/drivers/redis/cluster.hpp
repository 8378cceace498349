// The lines of one session to the nodes of a Redis Cluster, and the redirections between them.
//
// A transaction goes to the node that has its slot by the map of slots. -MOVED and -ASK are no
// outcomes: the node did not run anything, so the transaction is sent where they point. The map is
// asked for again after -MOVED, and after a node did not answer or said that the cluster is down.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "databases/drivers/driver.hpp"
#include "databases/drivers/redis/line.hpp"
#include "databases/drivers/redis/slots.hpp"

namespace cupel::drivers::redis {

// The map as the first of the hosts says that answers; the one at `first` is asked first.
base::Result<Slots> ask_for_slots(const Settings& settings, const std::vector<Host>& hosts,
                                  std::size_t first = 0);

class ClusterLines {
 public:
  // Whom a transaction that only reads asks.
  enum class Reads : std::uint8_t { kPrimary, kReplica };
  ClusterLines(Settings settings, Slots slots, Reads reads, std::uint32_t turn)
      : settings_(std::move(settings)), slots_(std::move(slots)), reads_(reads), turn_(turn) {}

  using Attempt = std::function<MaybeFailure(Line& line)>;
  // Runs `attempt` on the node that has the key's slot; again on another one if it was redirected.
  // All keys of the transaction are in this slot.
  MaybeFailure transact(const std::string& key, bool only_reads, const Attempt& attempt);

  // Whom the last transaction asked: "127.0.0.1:6381, primary". Empty: nobody.
  [[nodiscard]] const std::string& node() const { return node_; }

 private:
  struct Target {
    Host host;
    bool replica = false;
    bool asking = false;
  };
  [[nodiscard]] base::Result<Target> target_of(std::uint16_t slot, bool from_replica);
  Line* line_to(const Target& target, std::string& why);
  // Where to after this failure; none: it stays.
  [[nodiscard]] std::optional<Target> next_after(const Failure& failure, const Target& asked,
                                                 std::uint16_t slot);
  static std::string name_of(const Target& target);
  Failure unavailable(Failure failure);
  void refresh();

  Settings settings_;
  Slots slots_;
  Reads reads_;
  std::uint32_t turn_;  // which replica, and who is asked for the map
  bool stale_ = false;
  std::string node_;
  std::map<std::string, std::unique_ptr<Line>> lines_;
};

}  // namespace cupel::drivers::redis
