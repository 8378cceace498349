// What statements write, and the constraints of it: checked by reads of the store, so weak reads
// may miss what they look for. An UPDATE names the columns that it changes, and only constraints of
// these are checked; null: all.
#pragma once

#include <map>
#include <vector>

#include "mock/sql/plan/plan.hpp"

namespace cupel::sql {

using Changes = std::map<std::size_t, Scalar>;  // new values by column

// A stored row with new values over it.
class Overlay : public Row {
 public:
  explicit Overlay(StoredRow& row) : below(row) {}
  Scalar cell(std::size_t column) override {
    const auto found = values.find(column);
    return found == values.end() ? below.cell(column) : found->second;
  }
  StoredRow& below;
  Changes values;
};

void check_nulls(const Table& table, Row& row, const Changes* changes);  // raises 23502
// Whether another row has the same values in unique columns; check_unique() raises 23505.
bool is_duplicate(ExecutionContext& context, const TablePtr& table, Row& row);
void check_unique(ExecutionContext& context, const TablePtr& table, Row& row, const StoredRow* self,
                  const Changes* changes);
// Raises 23503 if a row that it refers to is not there.
void check_parents(ExecutionContext& context, const Table& table, Row& row, const Changes* changes);
// Raises 23503 if a row refers to one of these, which were deleted.
void check_children(ExecutionContext& context, const Table& table,
                    const std::vector<StoredRow*>& deleted);
// A new row of these values.
StoredRow& add(ExecutionContext& context, const TablePtr& table, Row& row);

}  // namespace cupel::sql
