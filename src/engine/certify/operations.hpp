// What an operation reads and writes, as docs/reference/levels.md has it.
//
// `verify --proved` trusts this file: the proved verifier reads the text that canonical.cpp
// writes, and this file says what stands in it (docs/internals/trust.md).
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "data/history/history.hpp"
#include "data/history/text_order.hpp"

namespace cupel::certify {

using history::History;
using history::KeyId;
using history::OpId;
using history::TxnId;
using history::ValueId;

// A version of a register.
struct Version {
  ValueId value;
  bool deleted = false;
};

// What a read saw of one key.
struct Seen {
  enum What : std::uint8_t {
    kValue,
    kAbsence,  // a range read that does not return the register
    kOther,    // a compare-and-set that failed: anything but this value
    kList,     // a whole list; a range read that does not return the list saw it empty
  } what = kValue;
  ValueId value = {};
  std::span<const ValueId> list = {};

  // Registers only.
  [[nodiscard]] bool fits(Version version, ValueId null) const {
    switch (what) {
      case kValue:
        return version.value == value;
      case kAbsence:
        return version.deleted || version.value == null;
      case kOther:
        return version.value != value;
      case kList:
        break;
    }
    return false;
  }
};

// Does the operation write (or append)? A compare-and-set that failed does not.
inline bool writes(const History& h, const history::Operation& op) {
  using history::OpKind;
  switch (op.kind) {
    case OpKind::kWrite:
    case OpKind::kAppend:
    case OpKind::kInsert:
    case OpKind::kDelete:
      return true;
    case OpKind::kCompareAndSet:
      return h.compare_and_set(op).succeeded;
    default:
      return false;
  }
}

// What it writes.
inline Version version(const History& h, OpId id) {
  using history::OpKind;
  const auto op = h.op(id);
  if (op.kind == OpKind::kCompareAndSet) return {h.compare_and_set(op).desired, false};
  return {op.value, op.kind == OpKind::kDelete};
}

// visit(key, seen) for all that an operation reads, own writes or not, if that is known. Of a
// transaction that is not committed only compare-and-sets that succeeded are known to have read.
template <typename Visit>
void for_each_seen(const History& h, TxnId txn, OpId id, const Visit& visit) {
  using history::OpKind;
  const auto op = h.op(id);
  const bool committed = h.status(txn) == history::TxnStatus::kCommitted;
  if (op.kind == OpKind::kCompareAndSet) {
    const auto cas = h.compare_and_set(op);
    if (cas.succeeded || committed) {
      visit(op.key, Seen{cas.succeeded ? Seen::kValue : Seen::kOther, cas.expected});
    }
    return;
  }
  if (!committed) return;
  switch (op.kind) {
    case OpKind::kRead:
      if (op.value.valid()) visit(op.key, Seen{Seen::kValue, op.value});
      break;
    case OpKind::kListRead:
      if (h.list_known(op)) visit(op.key, Seen{Seen::kList, {}, h.list(op)});
      break;
    case OpKind::kRangeRead: {
      const auto range = h.range(op);
      std::vector<KeyId> returned;
      for (const auto& entry : range.entries) {
        returned.push_back(entry.key);
        visit(entry.key, Seen{Seen::kValue, entry.value});
      }
      std::sort(returned.begin(), returned.end());
      history::for_each_sure_key(h, range, [&](KeyId key) {
        if (std::binary_search(returned.begin(), returned.end(), key)) return;
        visit(key, h.is_list(key) ? Seen{Seen::kList} : Seen{Seen::kAbsence});
      });
      break;
    }
    default:
      break;
  }
}

}  // namespace cupel::certify
