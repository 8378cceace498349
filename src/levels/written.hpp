// written: the value that an operation writes.
#pragma once

#include "history/history.hpp"

namespace cupel::levels {

// none(): it writes nothing.
[[nodiscard]] inline history::ValueId written(const history::History& h,
                                              const history::Operation& op) {
  using history::OpKind;
  switch (op.kind) {
    case OpKind::kWrite:
    case OpKind::kAppend:
    case OpKind::kInsert:
    case OpKind::kDelete:
      return op.value;
    case OpKind::kCompareAndSet: {
      const auto cas = h.compare_and_set(op);
      return cas.succeeded ? cas.desired : history::ValueId::none();
    }
    default:
      return history::ValueId::none();
  }
}

}  // namespace cupel::levels
