// Counts first reads by value: see the header.
#include "engine/analysis/first_reads.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/hash_table.hpp"

namespace cupel::analysis {

namespace {

using history::History;
using history::KeyId;
using history::OpId;
using history::OpKind;
using history::TxnId;
using history::TxnStatus;
using history::ValueId;

std::vector<TxnId> in_time_order(const History& h) {
  std::vector<TxnId> order;
  for (std::size_t t = 0; t < h.txn_count(); ++t) order.emplace_back(t);
  const bool timed = h.has_times();
  std::stable_sort(order.begin(), order.end(), [&](TxnId a, TxnId b) {
    return timed ? h.invoke(a) < h.invoke(b) : h.label(a) < h.label(b);
  });
  return order;
}

// What an operation read and wrote of its key; none(): nothing.
struct Access {
  ValueId read, written;
};

Access access_of(const History& h, const history::Operation& op) {
  switch (op.kind) {
    case OpKind::kRead:
      return {op.value, ValueId::none()};
    case OpKind::kWrite:
    case OpKind::kInsert:
    case OpKind::kDelete:
      return {ValueId::none(), op.value};
    case OpKind::kCompareAndSet: {
      const auto cas = h.compare_and_set(op);
      return {cas.succeeded ? cas.expected : ValueId::none(), cas.desired};
    }
    case OpKind::kAppend:
    case OpKind::kListRead:
    case OpKind::kRangeRead:
      break;
  }
  return {};
}

}  // namespace

std::optional<UnwrittenStart> unwritten_start(const History& h) {
  std::vector<bool> accessed(h.key_count()), written(h.value_count());
  base::HashMap<std::uint32_t, std::size_t> first_reads;  // value → keys
  UnwrittenStart best;
  for (const TxnId t : in_time_order(h)) {
    for (auto i = h.first_op(t); i < h.last_op(t); ++i) {
      const auto op = h.op(OpId(i));
      const auto access = access_of(h, op);
      if (access.written.valid()) written[access.written.index()] = true;
      if (h.status(t) != TxnStatus::kCommitted || !op.key.valid() || h.is_list(op.key)) continue;
      if (!access.read.valid() && !access.written.valid()) continue;
      if (accessed[op.key.index()]) continue;
      accessed[op.key.index()] = true;
      if (!access.read.valid()) continue;
      ++best.of;
      if (access.read != h.initial_value(op.key)) ++first_reads[access.read.raw];
    }
  }
  for (const auto& [value, keys] : first_reads) {
    if (written[value] || keys < best.keys) continue;
    if (keys > best.keys || value < best.value.raw) {  // one answer, whatever the table's order
      best.value = ValueId(value);
      best.keys = keys;
    }
  }
  if (best.keys == 0 || 4 * best.keys < 3 * best.of) return std::nullopt;
  return best;
}

}  // namespace cupel::analysis
