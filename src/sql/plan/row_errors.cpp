// The message; see the header.
#include "sql/plan/row_errors.hpp"

#include <fmt/format.h>

namespace cupel::sql {

void raise_out_of_range(const std::string& column, std::size_t row) {
  raise("22003", fmt::format("Out of range value for column '{}' at row {}", column, row));
}

}  // namespace cupel::sql
