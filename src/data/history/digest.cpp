// digest: see the header.
#include "data/history/digest.hpp"

#include "data/history/fold.hpp"

namespace cupel::history {

std::uint64_t digest(const History& h) {
  Fold fold;
  const auto value = [&](ValueId v) {
    if (v.valid()) return fold.add(h.value(v));
    fold.add(~std::uint64_t{0});
  };
  fold.add(h.session_count());
  fold.add(h.key_count());
  for (std::uint32_t k = 0; k < h.key_count(); ++k) {
    fold.add(h.key(KeyId(k)));
    value(h.initial_value(KeyId(k)));
  }
  value(h.default_initial_value());
  for (std::uint32_t t = 0; t < h.txn_count(); ++t) {
    const TxnId txn(t);
    fold.add(static_cast<std::uint64_t>(h.session(txn).raw) << 8 |
             static_cast<std::uint64_t>(h.status(txn)));
    fold.add(static_cast<std::uint64_t>(h.invoke(txn)));
    fold.add(static_cast<std::uint64_t>(h.complete(txn)));
    fold.add(h.last_op(txn) - h.first_op(txn));
    for (std::uint32_t i = h.first_op(txn); i < h.last_op(txn); ++i) {
      const Operation op = h.op(OpId(i));
      fold.add(static_cast<std::uint64_t>(op.kind) << 32 | op.key.raw);
      switch (op.kind) {
        case OpKind::kListRead: {
          const bool known = h.list_known(op);
          const auto elements = known ? h.list(op) : std::span<const ValueId>();
          fold.add(known ? elements.size() : ~std::uint64_t{0});
          for (const ValueId element : elements) value(element);
          break;
        }
        case OpKind::kRangeRead: {
          const RangeRead range = h.range(op);
          value(range.low);
          value(range.high);
          fold.add(range.entries.size());
          for (const auto& entry : range.entries) {
            fold.add(std::uint64_t{entry.key.raw});
            value(entry.value);
          }
          break;
        }
        case OpKind::kCompareAndSet: {
          const CompareAndSet cas = h.compare_and_set(op);
          value(cas.expected);
          value(cas.desired);
          fold.add(std::uint64_t{cas.succeeded});
          break;
        }
        default:
          value(op.value);
      }
    }
  }
  return fold.value();
}

}  // namespace cupel::history
