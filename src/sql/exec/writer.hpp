// What statements write, and the constraints of it: checked by reads of the store, so weak reads
// may miss what they look for.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sql/plan/plan.hpp"

namespace cupel::sql {

// A stored row with new values over it.
class Overlay : public Row {
 public:
  explicit Overlay(Row& below) : below_(below) {}
  Scalar cell(std::size_t column) override {
    const auto found = values.find(column);
    return found == values.end() ? below_.cell(column) : found->second;
  }
  std::map<std::size_t, Scalar> values;

 private:
  Row& below_;
};

// The constraints of one table, and the writes to it.
class Writer {
 public:
  explicit Writer(TablePtr table) : table_(std::move(table)) {}
  [[nodiscard]] const TablePtr& table() const { return table_; }
  // Raises 23502 for a null in one of these columns that has to have a value.
  void check_nulls(Row& row, const std::set<std::size_t>* changed) const;
  [[nodiscard]] std::vector<Scalar> key_of(Row& row) const;
  // The row that has the same values in these unique columns, besides `self`.
  StoredRow* find_duplicate(ExecutionContext& context, Row& row,
                            const std::vector<std::size_t>& columns, const StoredRow* self) const;
  [[noreturn]] static void raise_duplicate(const Table& table, Row& row, const std::string& name,
                                           const std::vector<std::size_t>& columns);
  void check_unique(ExecutionContext& context, Row& row, const StoredRow* self,
                    const std::set<std::size_t>* changed) const;
  // A new row of these values; its constraints but foreign keys hold.
  StoredRow& add(ExecutionContext& context, Row& row);
  // Foreign keys of a row that was written.
  void check_parents(ExecutionContext& context, Row& row,
                     const std::set<std::size_t>* changed) const;

 private:
  TablePtr table_;
};

// What a row was to its children before it went, or changed.
struct FormerParent {
  TablePtr table;
  std::map<std::size_t, Scalar> values;  // of the columns that children refer to
};

FormerParent former_parent(ExecutionContext& context, const TablePtr& table, Row& row);
// Raises 23503 if a row still refers to one of these.
void check_children(ExecutionContext& context, const std::vector<FormerParent>& former);

struct Rewrite {
  StoredRow& row;
  Overlay& over;
  const std::set<std::size_t>& changed;
};

// Writes new values over a row; gives the row, which is another if its key changed.
StoredRow& rewrite(ExecutionContext& context, Writer& writer, const Rewrite& what,
                   std::vector<FormerParent>& former);

// New values of a row, of its old ones.
void compute(const std::vector<Assignment>& set, const Frame& frame, Overlay& over);
std::set<std::size_t> columns_set(const std::vector<Assignment>& set);
// RETURNING of one row.
void return_row(const Returning& what, const Frame& frame, Result& result);
// As a client sees them.
std::vector<Datum> shown_row(const std::vector<Output>& outputs, const std::vector<Scalar>& values);

}  // namespace cupel::sql
