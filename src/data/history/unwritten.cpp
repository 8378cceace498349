// Unwritten: see the header.
#include "data/history/unwritten.hpp"

#include <algorithm>
#include <cstdint>

#include "base/hash_table.hpp"

namespace cupel::history {

namespace {

class Versions {
 public:
  explicit Versions(const History& h) : h_(h) {
    for (std::size_t o = 0; o < h.op_count(); ++o) {
      const auto op = h.op(OpId(o));
      switch (op.kind) {
        case OpKind::kWrite:
        case OpKind::kAppend:
        case OpKind::kInsert:
        case OpKind::kDelete:
          written_.insert(version(op.key, op.value));
          break;
        case OpKind::kCompareAndSet:
          written_.insert(version(op.key, h.compare_and_set(op).desired));
          break;
        default:
          break;
      }
    }
  }

  [[nodiscard]] bool has(KeyId key, ValueId value) const {
    return !value.valid() || value == h_.null_value() || value == h_.initial_value(key) ||
           written_.contains(version(key, value));
  }
  [[nodiscard]] bool has_all(const Operation& op) const {
    switch (op.kind) {
      case OpKind::kRead:
        return has(op.key, op.value);
      case OpKind::kListRead: {
        if (!h_.list_known(op)) return true;
        const auto elements = h_.list(op);
        return std::all_of(elements.begin(), elements.end(), [&](ValueId element) {
          return written_.contains(version(op.key, element));
        });
      }
      case OpKind::kRangeRead: {
        const auto entries = h_.range(op).entries;
        return std::all_of(entries.begin(), entries.end(),
                           [&](const RangeEntry& entry) { return has(entry.key, entry.value); });
      }
      case OpKind::kCompareAndSet: {
        const auto cas = h_.compare_and_set(op);
        return !cas.succeeded || has(op.key, cas.expected);
      }
      default:
        return true;
    }
  }

 private:
  static std::uint64_t version(KeyId key, ValueId value) {
    return (std::uint64_t{key.raw} << 32) | value.raw;
  }

  const History& h_;
  base::HashSet<std::uint64_t> written_;
};

}  // namespace

std::optional<OpId> first_unwritten_read(const History& h) {
  const Versions versions(h);
  for (std::uint32_t t = 0; t < h.txn_count(); ++t) {
    const TxnId id(t);
    if (h.status(id) != TxnStatus::kCommitted) continue;
    for (auto o = h.first_op(id); o < h.last_op(id); ++o) {
      if (!versions.has_all(h.op(OpId(o)))) return OpId(o);
    }
  }
  return std::nullopt;
}

}  // namespace cupel::history
