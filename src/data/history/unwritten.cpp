// Unwritten: see the header.
#include "data/history/unwritten.hpp"

#include <algorithm>

namespace cupel::history {

namespace {

// Whether all that the operation saw is written, or was there before.
bool is_explained(const History& h, const WrittenValues& written, const Operation& op) {
  const auto has = [&](KeyId key, ValueId value) {
    return !value.valid() || value == h.null_value() || value == h.initial_value(key) ||
           written.has(key, value);
  };
  switch (op.kind) {
    case OpKind::kRead:
      return has(op.key, op.value);
    case OpKind::kListRead: {
      if (!h.list_known(op)) return true;
      const auto elements = h.list(op);
      return std::all_of(elements.begin(), elements.end(),
                         [&](ValueId element) { return written.has(op.key, element); });
    }
    case OpKind::kRangeRead: {
      const auto entries = h.range(op).entries;
      return std::all_of(entries.begin(), entries.end(),
                         [&](const RangeEntry& entry) { return has(entry.key, entry.value); });
    }
    case OpKind::kCompareAndSet: {
      const auto cas = h.compare_and_set(op);
      return !cas.succeeded || has(op.key, cas.expected);
    }
    default:
      return true;
  }
}

}  // namespace

WrittenValues::WrittenValues(const History& h) {
  for (std::size_t o = 0; o < h.op_count(); ++o) {
    const auto op = h.op(OpId(o));
    switch (op.kind) {
      case OpKind::kWrite:
      case OpKind::kAppend:
      case OpKind::kInsert:
      case OpKind::kDelete:
        values_.insert(pair_of(op.key, op.value));
        break;
      case OpKind::kCompareAndSet:
        values_.insert(pair_of(op.key, h.compare_and_set(op).desired));
        break;
      default:
        break;
    }
  }
}

std::optional<OpId> first_unwritten_read(const History& h) {
  const WrittenValues written(h);
  for (std::uint32_t t = 0; t < h.txn_count(); ++t) {
    const TxnId id(t);
    if (h.status(id) != TxnStatus::kCommitted) continue;
    for (auto o = h.first_op(id); o < h.last_op(id); ++o) {
      if (!is_explained(h, written, h.op(OpId(o)))) return OpId(o);
    }
  }
  return std::nullopt;
}

}  // namespace cupel::history
