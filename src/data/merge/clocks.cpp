// Clocks: see the header.
#include "data/merge/clocks.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "base/hash_table.hpp"
#include "data/history/times.hpp"
#include "data/history/values_read.hpp"

namespace cupel::merge {

using history::History;
using history::KeyId;
using history::kNoTime;
using history::OpId;
using history::OpKind;
using history::TxnId;
using history::ValueId;

namespace {

constexpr Time kUnbounded = std::numeric_limits<Time>::max();

// The least sums of bounds from recording 0 to each, over the bounds as arcs from j to i, or
// backwards. None: a negative cycle.
std::optional<std::vector<Time>> shortest(std::uint32_t recordings,
                                          std::span<const OffsetBound> bounds, bool backwards) {
  std::vector<Time> least(recordings, kUnbounded);
  least[0] = 0;
  for (std::uint32_t round = 0; round <= recordings; ++round) {
    bool changed = false;
    for (const auto& bound : bounds) {
      const auto from = backwards ? bound.i : bound.j, to = backwards ? bound.j : bound.i;
      if (least[from] == kUnbounded) continue;
      const Time sum = history::later(least[from], bound.most);
      if (sum >= least[to]) continue;
      least[to] = sum;
      changed = true;
    }
    if (!changed) return least;
  }
  return std::nullopt;
}

// Who wrote each value of each key, if only one transaction did.
class Writers {
 public:
  explicit Writers(const History& history) : history_(history) {
    for (std::uint32_t t = 0; t < history.txn_count(); ++t) {
      for (auto i = history.first_op(TxnId(t)); i < history.last_op(TxnId(t)); ++i) {
        add(TxnId(t), history.op(OpId(i)));
      }
    }
  }

  // None: nobody did, or several, or the key held it from the start.
  [[nodiscard]] TxnId of(KeyId key, ValueId value) const {
    if (!value.valid() || value == history_.null_value()) return TxnId::none();
    if (!history_.is_list(key) && value == history_.initial_value(key)) return TxnId::none();
    const auto it = by_version_.find({key.raw, value.raw});
    return it == by_version_.end() ? TxnId::none() : it->second;
  }

 private:
  void add(TxnId txn, const history::Operation& op) {
    switch (op.kind) {
      case OpKind::kWrite:
      case OpKind::kAppend:
      case OpKind::kInsert:
        return add(txn, op.key, op.value);
      case OpKind::kCompareAndSet: {
        // Also of one that failed, as far as its client knows.
        return add(txn, op.key, history_.compare_and_set(op).desired);
      }
      case OpKind::kDelete:
        return add(txn, op.key, op.value);
      case OpKind::kRead:
      case OpKind::kListRead:
      case OpKind::kRangeRead:
        return;
    }
  }
  void add(TxnId txn, KeyId key, ValueId value) {
    if (!value.valid()) return;
    const auto [it, first] = by_version_.try_emplace({key.raw, value.raw}, txn);
    if (!first && it->second != txn) it->second = TxnId::none();
  }

  const History& history_;
  base::HashMap<std::pair<std::uint32_t, std::uint32_t>, TxnId> by_version_;
};

}  // namespace

Offsets solve(std::uint32_t recordings, std::span<const OffsetBound> bounds) {
  const auto most = shortest(recordings, bounds, false), least = shortest(recordings, bounds, true);
  Offsets offsets;
  offsets.ranges.resize(recordings);
  if (!most || !least) {
    offsets.contradicted = true;
    return offsets;
  }
  for (std::uint32_t i = 0; i < recordings; ++i) {
    if ((*most)[i] == kUnbounded || (*least)[i] == kUnbounded) continue;
    offsets.ranges[i] = OffsetRange{-(*least)[i], (*most)[i]};
    if (offsets.ranges[i]->least > offsets.ranges[i]->most) offsets.contradicted = true;
  }
  return offsets;
}

std::vector<OffsetBound> bounds_of_reads(const History& h,
                                         std::span<const std::uint32_t> recording_of,
                                         std::span<const Interval> times) {
  const Writers writers(h);
  std::map<std::pair<std::uint32_t, std::uint32_t>, Time> most;
  for (std::uint32_t t = 0; t < h.txn_count(); ++t) {
    // Of a transaction whose outcome is not known the answers came before its end all the same.
    const Time complete = times[t].complete;
    // What an indeterminate compare-and-set saw is not known.
    if (complete == kNoTime || h.status(TxnId(t)) == history::TxnStatus::kIndeterminate) continue;
    for (auto i = h.first_op(TxnId(t)); i < h.last_op(TxnId(t)); ++i) {
      history::for_each_value_read(h, h.op(OpId(i)), [&](KeyId key, ValueId value) {
        const TxnId writer = writers.of(key, value);
        if (!writer.valid() || times[writer.index()].invoke == kNoTime) return;
        const auto from = recording_of[writer.index()], to = recording_of[t];
        if (from == to) return;
        const Time bound = history::between(times[writer.index()].invoke, complete);
        const auto [it, first] = most.try_emplace({from, to}, bound);
        if (!first) it->second = std::min(it->second, bound);
      });
    }
  }
  std::vector<OffsetBound> bounds;
  bounds.reserve(most.size());
  for (const auto& [pair, bound] : most) bounds.push_back({pair.first, pair.second, bound});
  return bounds;
}

}  // namespace cupel::merge
