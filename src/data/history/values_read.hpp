// values_read: the values that an operation returned, each with its key.
#pragma once

#include "data/history/history.hpp"

namespace cupel::history {

// Calls visit(key, value) for the value of a read, each element of a list, each entry of a range,
// and the value that a successful compare-and-set found. Unknown values are left out.
template <typename Visit>
void for_each_value_read(const History& h, const Operation& op, const Visit& visit) {
  switch (op.kind) {
    case OpKind::kRead:
      if (op.value.valid()) visit(op.key, op.value);
      return;
    case OpKind::kListRead:
      if (!h.list_known(op)) return;
      for (const auto element : h.list(op)) visit(op.key, element);
      return;
    case OpKind::kRangeRead:
      for (const auto& entry : h.range(op).entries) visit(entry.key, entry.value);
      return;
    case OpKind::kCompareAndSet:
      if (const auto cas = h.compare_and_set(op); cas.succeeded) visit(op.key, cas.expected);
      return;
    case OpKind::kWrite:
    case OpKind::kAppend:
    case OpKind::kInsert:
    case OpKind::kDelete:
      return;
  }
}

}  // namespace cupel::history
