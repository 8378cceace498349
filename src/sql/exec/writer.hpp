// What statements write, and the constraints of it: checked by reads of the store, so weak reads
// may miss what they look for.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
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
  explicit Writer(const TargetTable& target) : table_(target.table), checks_(target.checks) {}
  [[nodiscard]] const TablePtr& table() const { return table_; }
  // Raises what the values of these columns violate in themselves.
  void check(ExecutionContext& context, Row& row, const std::set<std::size_t>* changed) const;
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
  [[nodiscard]] bool parent_there(ExecutionContext& context, const TablePtr& parent,
                                  const ForeignKey& foreign,
                                  const std::vector<Scalar>& values) const;

 private:
  TablePtr table_;
  const std::vector<BoundCheck>& checks_;
};

// What a row was to its children before it went, or changed.
struct ParentChange {
  TablePtr table;
  std::map<std::size_t, Scalar> values;              // of the columns that children refer to
  std::optional<std::map<std::size_t, Scalar>> now;  // changed, not deleted
};

ParentChange parent_change(ExecutionContext& context, const TablePtr& table, Row& row);
// Does to the children of these rows what their foreign keys say.
void apply_foreign_keys(ExecutionContext& context, std::vector<ParentChange> pending);

struct Rewrite {
  StoredRow& row;
  Overlay& over;
  const std::set<std::size_t>& changed;
};

// Writes new values over a row; gives the row, which is another if its key changed.
StoredRow& rewrite(ExecutionContext& context, Writer& writer, const Rewrite& what,
                   std::vector<ParentChange>& pending);

// New values of a row, of its old ones.
void compute(const std::vector<Assignment>& set, const Frame& frame, Overlay& over);
std::set<std::size_t> columns_set(const std::vector<Assignment>& set);
// RETURNING of one row.
void return_row(const Returning& what, const Frame& frame, Result& result);
// As a client sees them.
std::vector<Datum> shown_row(const std::vector<Output>& outputs, const std::vector<Scalar>& values);

}  // namespace cupel::sql
