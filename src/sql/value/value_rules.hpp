// How a dialect treats values, where tables and expressions need to know.
#pragma once

#include "sql/value/scalar.hpp"

namespace cupel::sql {

struct ValueRules {
  bool blanks_at_end_count = true;      // of text that is compared
  bool evaluates_all_arguments = true;  // of a function, where one before is null
};

// The type to compare values of this one by: character(n) pads, so blanks at its end do not count.
inline Type order_type(Type type, const ValueRules& rules) {
  return !rules.blanks_at_end_count && is_string(type) ? Type::kChar : type;
}

}  // namespace cupel::sql
