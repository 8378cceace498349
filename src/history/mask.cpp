// with_unknown: see the header.
#include "history/mask.hpp"

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

}  // namespace cupel::history
