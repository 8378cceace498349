// Which initial values a list may be said to have.
#pragma once

#include "data/history/scalar.hpp"

namespace cupel::history {

// Null, or the text of an empty list. A list starts empty; a key with any other initial value is
// a register.
inline bool starts_empty(ScalarView initial) {
  return initial.kind == ScalarKind::kNull || initial == ScalarView::literal("[]");
}

}  // namespace cupel::history
