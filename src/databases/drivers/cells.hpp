// Cells, keys and rows as the drivers that are not SQL store them, and what all
// drivers ask of a statement.
//
// Two forms of keys. As text, for stores that people look into: `cupel:TABLE:KEY`.
// As bytes that compare as the keys do, for stores with ordered bytes: the table's
// prefix, then for each key column a tag and
//   an integer  8 bytes, most significant first, the sign bit turned over;
//   a text      its bytes, 0x00 as 0x00 0xff, and 0x00 0x01 at its end;
// so integers come before texts, in order of their values.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "data/workload/statement.hpp"
#include "databases/drivers/driver.hpp"

namespace cupel::drivers {

// Empty if the statement fits the schema, else what is wrong with it.
std::string misfit(const workload::Schema& schema, const workload::Statement& statement);

// The failure of a statement that was not sent: certainly aborted.
Failure refused(std::string message);

std::optional<std::int64_t> to_integer(std::string_view text);

// As a column of this type holds it: an integer for a text is its decimals.
workload::Datum normal(workload::ColumnType type, const workload::Datum& datum);
// The same from text: in a column that is no text, what is exactly the decimals of
// an integer is an integer ("007" is not).
workload::Datum from_text(workload::ColumnType type, std::string_view text);

// A list as text: "3,-4". An append to it; the empty text is the empty list.
std::string appended(std::string_view list, const workload::Datum& element);

// "cupel:district:", "cupel:district:7".
std::string text_prefix(const workload::Table& table);
std::string text_key(const workload::Table& table, const workload::Datum& key);

// Tables that such a store can hold: one key column and one column each.
base::Status one_cell_a_row(const workload::Schema& schema, std::string_view product);

// Every ordered key of the table starts with its prefix, and none of another's does.
std::string ordered_prefix(const workload::Table& table);
std::string ordered_key(const workload::Table& table, std::span<const workload::Datum> key);
// The key columns of ordered_key(); none: bytes that it did not make.
std::optional<std::vector<workload::Datum>> parse_ordered_key(const workload::Table& table,
                                                              std::string_view bytes);

// A row as bytes, one cell after the other.
std::string row_bytes(std::span<const workload::Datum> cells);
// None: bytes that row_bytes() did not make of `columns` cells.
std::optional<std::vector<workload::Datum>> parse_row(std::string_view bytes, std::size_t columns);

}  // namespace cupel::drivers
