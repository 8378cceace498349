// Errors of single rows: which column and row a value does not fit in, and what INSERT IGNORE does
// not forgive.
#pragma once

#include <cstddef>
#include <string>

#include "sql/dialect/dialect.hpp"
#include "sql/table/table.hpp"
#include "sql/value/error.hpp"

namespace cupel::sql {

[[noreturn]] void raise_out_of_range(const std::string& column, std::size_t row);

// Runs `work`; where the dialect names the column and row of a value that does not fit in, its
// error does so. One of arithmetic (1690) stays as it is.
template <typename Work>
auto in_range(const Dialect& dialect, const ColumnInfo& column, std::size_t row, const Work& work) {
  try {
    return work();
  } catch (const SqlException& exception) {
    const bool fits_not = exception.error.sqlstate == "22003" && exception.error.mysql_number == 0;
    if (dialect.rules().writes.names_column_out_of_range && fits_not)
      raise_out_of_range(column.name, row);
    throw;
  }
}

// INSERT IGNORE of MySQL makes values right that are wrong, and leaves out rows without a parent.
template <typename Work>
auto as_insert_ignore(const Work& work) {
  try {
    return work();
  } catch (const SqlException& exception) {
    const auto& state = exception.error.sqlstate;
    const bool of_value = state.starts_with("22") || state == "01000" || state == "HY000" ||
                          state == "23502" || state == "23503" || state == "23514";
    if (exception.ended || !of_value) throw;
    not_supported("INSERT IGNORE of a row that has another error than a duplicate key");
  }
}

}  // namespace cupel::sql
