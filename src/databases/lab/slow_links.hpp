// SlowLinks: packets that arrive later than they were sent, or no faster than at a certain rate.
//
// Not every kernel has netem. So the receiver's firewall drops the packets of a slow link as they
// come, except marked ones; a packet socket sees them before that, and a thread gives the receiver
// a marked copy when its time has come. If this process dies, nobody delivers them any more.
#pragma once

#include <netinet/in.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.hpp"
#include "databases/lab/namespaces.hpp"

namespace cupel::lab {

// Of the packets that a slow link delivers.
inline constexpr std::uint32_t kDeliveredMark = 0xc09e1;

struct SlowLink {
  const Namespace* network = nullptr;  // the receiver's
  std::string interface;               // of the receiver, where the packets arrive
  in_addr from{}, to{};
  double delay = 0, jitter = 0;        // seconds; the packets stay in order
  std::uint64_t bytes_per_second = 0;  // 0: as many as possible

  [[nodiscard]] bool same_ends(const SlowLink& other) const {
    return from.s_addr == other.from.s_addr && to.s_addr == other.to.s_addr;
  }
};

class SlowLinks {
 public:
  SlowLinks();
  SlowLinks(const SlowLinks&) = delete;
  SlowLinks& operator=(const SlowLinks&) = delete;
  ~SlowLinks();  // delivers at once what waits

  // These are slow now. Links that were slow before go on until end_others().
  base::Status begin(const std::vector<SlowLink>& links);
  // No other links are slow any more; what waits on them is delivered at once.
  void end_others(const std::vector<SlowLink>& links);

 private:
  class Worker;
  std::unique_ptr<Worker> worker_;  // none while no link is slow
};

}  // namespace cupel::lab
