// Queries: from PostgreSQL's parse tree to a plan; exec/query_run.hpp runs it over the store.
//
// A plan is a nested loop in the order in which the sources are written. Each condition is
// asked as soon as the sources it names have a row, those of the primary key before
// anything is read, and outputs last, of the rows that are left: no key of the store is
// read that the answer does not need (thesis, figure 4.6, here for joins, groups and
// sub-queries too).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sql/expression/coercion.hpp"
#include "sql/parse/tree.hpp"

namespace cupel::sql {

struct Select;
using SelectPtr = std::shared_ptr<Select>;

struct Source {
  std::string name;  // its alias, or the table's name
  TablePtr table;
  std::vector<std::pair<std::string, FullType>> columns;
  bool out_of_scope = false;         // not seen by the condition of a join that is bound now
  std::optional<RowLock> lock = {};  // FOR UPDATE
};

struct Join {
  enum class Kind : std::uint8_t { kLeaf, kInner, kLeft };
  Kind kind = Kind::kLeaf;
  std::size_t source = 0;  // kLeaf
  std::unique_ptr<Join> left;
  std::unique_ptr<Join> right;
  std::vector<ExpressionPtr> gate;     // kLeft: conditions of ON that the right has no part in
  std::vector<ExpressionPtr> filters;  // asked when all below has a row
  std::vector<ExpressionPtr> key;      // kLeaf: the first values of the primary key
  std::vector<ExpressionPtr> early;    // kLeaf: those of `filters` that read nothing
};

struct Output {
  ExpressionPtr value;
  std::string name;
  // The table's column that it is: Table::id, and its number from 1.
  std::uint32_t table_id = 0;
  std::uint16_t number = 0;
};

struct Sort {
  ExpressionPtr value;
  bool descending = false;
  bool nulls_first = false;
};

struct Aggregate {
  enum class Kind : std::uint8_t { kCount, kSum, kAverage, kLeast, kGreatest };
  Kind kind = Kind::kCount;
  std::string name;  // as the statement has it
  std::vector<ExpressionPtr> arguments;
  bool distinct = false;
  FullType type;
};

struct Select {
  std::vector<Source> sources;
  std::unique_ptr<Join> from;       // null: one row of nothing
  std::vector<ExpressionPtr> gate;  // conditions that no source has a part in
  std::vector<Output> outputs;
  std::vector<ExpressionPtr> groups;
  bool grouped = false;
  std::vector<Aggregate> aggregates;
  ExpressionPtr having;
  bool distinct = false;
  std::vector<Sort> sorts;
  ExpressionPtr limit;
  ExpressionPtr offset;
  bool correlated = false;  // depends on a row of the query around it
};

// Names that an expression may use.
struct Scope {
  Scope* outer = nullptr;
  std::vector<Source>* sources = nullptr;
  std::vector<Aggregate>* aggregates = nullptr;  // null: not allowed here …
  const char* clause = "WHERE";                  // … in this clause
  bool queries = true;                           // whether sub-queries are allowed
  std::uint64_t touched = 0;
  std::vector<std::pair<std::size_t, std::size_t>> columns = {};
  bool correlated = false;
};

class Binder {
 public:
  Binder(const Tables& catalog, std::vector<Type>& parameters)
      : coercion(parameters), catalog_(catalog), parameters_(parameters) {}

  const Coercion coercion;
  std::string locks;  // "SELECT FOR UPDATE", the last that was seen

  SelectPtr select(const Tree& body, Scope* outer);
  ExpressionPtr expression(const Tree& node, Scope& scope);
  // Of a column's type, as INSERT and UPDATE assign it. Raises 42804.
  ExpressionPtr assigned(const ExpressionPtr& value, const ColumnInfo& column);
  std::vector<Output> outputs(const Tree& targets, Scope& scope);

  [[nodiscard]] TablePtr table(const Tree& range_variable) const;
  static Source source(TablePtr table, std::string name);
  static FullType type(const Tree& type_name, bool* serial = nullptr);
  // The tree of joins over FROM; adds to `sources`.
  std::unique_ptr<Join> from(const Tree& clause, Scope& scope, std::vector<Source>& sources);
  // Puts a condition, cut at its ANDs, where it can be asked first.
  void place(const ExpressionPtr& condition, Join* root, std::vector<ExpressionPtr>& gate);
  void finish(Join& root, const std::vector<Source>& sources);

 private:
  // LIMIT or OFFSET; null if it is not there.
  ExpressionPtr bound_of_rows(const Tree& body, const char* name, Scope& scope);
  ExpressionPtr bound(const Tree& node, Scope& scope);
  static ExpressionPtr literal(const Tree& body);
  ExpressionPtr parameter(const Tree& body);
  ExpressionPtr connective(const Tree& body, Scope& scope);  // AND, OR, NOT
  ExpressionPtr null_test(const Tree& body, Scope& scope);
  ExpressionPtr type_cast(const Tree& body, Scope& scope);
  ExpressionPtr session_value(const Tree& node);  // CURRENT_DATE and its like
  ExpressionPtr column(const Tree& body, Scope& scope);
  ExpressionPtr operation(const Tree& body, Scope& scope);
  ExpressionPtr membership(const Tree& body, Scope& scope);
  ExpressionPtr null_if(const Tree& body, Scope& scope);
  ExpressionPtr between(const Tree& body, Scope& scope);
  ExpressionPtr call(const Tree& body, Scope& scope);
  ExpressionPtr aggregate(const Tree& body, Aggregate::Kind kind, Scope& scope);
  void type_aggregate(Aggregate& made, const Tree& body) const;
  ExpressionPtr sub_query(const Tree& body, Scope& scope);
  ExpressionPtr case_of(const Tree& body, Scope& scope);
  std::unique_ptr<Join> from_item(const Tree& node, Scope& scope, std::vector<Source>& sources,
                                  std::vector<std::pair<Join*, const Tree*>>& conditions);
  void check_grouped(const Expression& expression, const Select& select) const;
  // GROUP BY, ORDER BY and FOR UPDATE of a query whose outputs are known.
  void group(const Tree& body, Scope& scope, Select& made);
  void sort(const Tree& body, Scope& scope, Select& made);
  void lock(const Tree& locking, Select& made);

  const Tables& catalog_;
  std::vector<Type>& parameters_;
  int depth_ = 0;
};

}  // namespace cupel::sql
