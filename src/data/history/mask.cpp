// with_unknown: see the header.
#include "data/history/mask.hpp"

#include <algorithm>
#include <cstdint>

namespace cupel::history {

History with_unknown(History h, std::span<const OpId> reads) {
  for (const OpId op : reads) {
    const auto i = op.index();
    switch (h.kind_[i]) {
      case OpKind::kRead:
      case OpKind::kListRead:
        h.value_[i] = ValueId::kNoneRaw;
        break;
      case OpKind::kRangeRead: {
        // An empty range, from a bound to itself, would still read that key.
        h.kind_[i] = OpKind::kRead;
        h.key_[i] = KeyId::kNoneRaw;
        h.value_[i] = ValueId::kNoneRaw;
        break;
      }
      case OpKind::kCompareAndSet: {
        const CompareAndSet cas = h.cas_[h.value_[i]];
        h.kind_[i] = cas.succeeded ? OpKind::kWrite : OpKind::kRead;
        h.value_[i] = cas.succeeded ? cas.desired.raw : ValueId::kNoneRaw;
        break;
      }
      default:
        break;
    }
  }
  return h;
}

History with_failed(History h, std::span<const OpId> compares) {
  for (const OpId op : compares) {
    h.kind_[op.index()] = OpKind::kRead;
    h.value_[op.index()] = ValueId::kNoneRaw;
  }
  return h;
}

std::vector<OpId> operations_on(const History& h, const ScalarTable& keys) {
  std::vector<std::uint8_t> wanted(h.key_count());
  for (std::size_t k = 0; k < wanted.size(); ++k)
    wanted[k] = keys.find(h.key(KeyId(k))).has_value() ? 1 : 0;
  const auto is_wanted = [&](KeyId key) { return wanted[key.index()] != 0; };
  std::vector<OpId> found;
  for (std::size_t o = 0; o < h.op_count(); ++o) {
    const auto op = h.op(OpId(o));
    if (op.kind != OpKind::kRangeRead) {
      if (op.key.valid() && is_wanted(op.key)) found.emplace_back(o);
      continue;
    }
    const auto range = h.range(op);
    const auto between = h.keys_between(h.value(range.low), h.value(range.high));
    if (std::any_of(between.begin(), between.end(), is_wanted)) found.emplace_back(o);
  }
  return found;
}

}  // namespace cupel::history
