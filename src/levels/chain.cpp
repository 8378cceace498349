// chain_of_compare_and_sets: see the header.
#include "levels/chain.hpp"

#include <absl/container/flat_hash_map.h>

#include <algorithm>

namespace cupel::levels {

using history::Time;
using history::TxnStatus;

bool chain_of_compare_and_sets(const History& h, const Accesses& a, const Part& part, Time drift,
                               std::vector<Owner>& chain) {
  absl::flat_hash_map<Owner, Owner> next;  // by the version read
  for (const Owner o : part.owners) {
    if (h.status(a.txns[o]) != TxnStatus::kCommitted) return false;
    if (a.write_first[o + 1] - a.write_first[o] != 1 || a.read_first[o + 1] - a.read_first[o] != 1) return false;
    const ExternalRead& read = a.reads[a.read_first[o]];
    if (read.last_candidate - read.first_candidate != 1) return false;
    if (!next.emplace(a.candidates[read.first_candidate], o).second) return false;
  }
  chain.clear();
  for (auto it = next.find(kInitialOwner); it != next.end(); it = next.find(chain.back())) {
    chain.push_back(it->second);
    if (chain.size() > part.owners.size()) return false;
  }
  if (chain.size() != part.owners.size()) return false;
  absl::flat_hash_map<history::SessionId, TxnId> last_of;  // session order: TxnIds of a session ascend
  for (const Owner o : chain) {
    auto& last = last_of[h.session(a.txns[o])];
    if (last.valid() && last > a.txns[o]) return false;
    last = a.txns[o];
  }
  Time earliest_completion = std::numeric_limits<Time>::max();
  for (auto it = chain.rbegin(); it != chain.rend(); ++it) {
    const TxnId txn = a.txns[*it];
    if (earliest_completion < h.invoke(txn) - drift) return false;
    earliest_completion = std::min(earliest_completion, h.complete(txn) + drift);
  }
  return true;
}

}  // namespace cupel::levels
