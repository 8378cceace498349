// Compares each end with the latest beginning before it: see the header.
#include "engine/analysis/clocks_back.hpp"

#include <algorithm>

#include "data/history/times.hpp"

namespace cupel::analysis {

using history::History;
using history::kNoTime;
using history::SessionId;
using history::TxnId;
using history::TxnStatus;

std::optional<ClocksBack> clocks_back(const History& h) {
  ClocksBack found;
  for (std::size_t s = 0; s < h.session_count(); ++s) {
    TxnId latest;  // to begin, so far in the session
    for (TxnId t = h.session_begin(SessionId(s)); t != h.session_end(SessionId(s)); ++t.raw) {
      const bool ended = h.status(t) != TxnStatus::kIndeterminate && h.complete(t) != kNoTime;
      if (latest.valid() && ended && h.complete(t) < h.invoke(latest)) {
        if (found.count++ == 0) {
          found.earlier = latest;
          found.later = t;
        }
        found.most = std::max(found.most, history::between(h.complete(t), h.invoke(latest)));
      }
      if (h.invoke(t) == kNoTime) continue;
      if (!latest.valid() || h.invoke(t) > h.invoke(latest)) latest = t;
    }
  }
  return found.count == 0 ? std::nullopt : std::optional(found);
}

}  // namespace cupel::analysis
