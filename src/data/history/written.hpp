// written: the value that an operation writes.
#pragma once

#include "data/history/history.hpp"

namespace cupel::history {

// none(): it writes nothing.
[[nodiscard]] inline ValueId written(const History& h, const Operation& op) {
  switch (op.kind) {
    case OpKind::kWrite:
    case OpKind::kAppend:
    case OpKind::kInsert:
    case OpKind::kDelete:
      return op.value;
    case OpKind::kCompareAndSet: {
      const auto cas = h.compare_and_set(op);
      return cas.succeeded ? cas.desired : ValueId::none();
    }
    default:
      return ValueId::none();
  }
}

}  // namespace cupel::history
