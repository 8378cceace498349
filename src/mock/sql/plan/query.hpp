// Queries: from PostgreSQL's parse tree to a plan; exec/run.hpp runs it over the store.
//
// A plan is a nested loop in the order in which the tables are written. Each condition is
// asked as soon as the tables it names have a row, those of the primary key before
// anything is read, and outputs last, of the rows that are left: no key of the store is
// read that the answer does not need (thesis, figure 4.6, here for joins, groups and
// sub-queries too).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "mock/sql/expression/coercion.hpp"
#include "mock/sql/parse/tree.hpp"

namespace cupel::sql {

struct Select;
using SelectPtr = std::shared_ptr<Select>;
using Conditions = std::vector<ExpressionPtr>;

// A table in FROM, and what is asked when it and those before it have a row.
struct Source {
  std::string name;  // its alias, or the table's name
  TablePtr table;
  bool optional = false;  // of a left join: a row of nulls where `on` holds for none
  Conditions on;          // of a left join
  Conditions filters;     // all others
  Conditions key;         // the first values of the primary key
  Conditions early;       // those of the conditions above that read nothing of it but the key
  std::optional<RowLock> lock = {};  // FOR UPDATE
};

struct Output {
  ExpressionPtr value;
  std::string name;
};

struct Sort {
  ExpressionPtr value;
  bool descending = false;
};

struct Aggregate {
  enum class Kind : std::uint8_t { kCount, kSum, kAverage, kLeast, kGreatest };
  Kind kind = Kind::kCount;
  bool distinct = false;
  ExpressionPtr argument;  // null: count(*)
  FullType type;
};

struct Select {
  std::vector<Source> sources;
  Conditions gate;  // conditions that no source has a part in
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
  std::uint64_t touched = 0;                     // sources that were named, as bits
  bool correlated = false;                       // a name of the query around it, too
};

// Parse trees to plans: names and types resolved. Expressions are in bind_expression.cpp.
class Binder {
 public:
  Binder(const Tables& catalog, std::vector<Type>& parameters)
      : coercion(parameters), catalog_(catalog), parameters_(parameters) {}

  const Coercion coercion;
  std::string locks;  // "SELECT FOR UPDATE", the last that was seen

  SelectPtr select(const Tree& body, Scope* outer);
  ExpressionPtr expression(const Tree& node, Scope& scope);
  // A condition: WHERE, HAVING, ON.
  ExpressionPtr condition(const Tree& node, Scope& scope, const char* clause);
  ExpressionPtr default_of(const ColumnInfo& column);
  // Of a column's type, as INSERT and UPDATE assign it. Raises 42804.
  ExpressionPtr assigned(const ExpressionPtr& value, const ColumnInfo& column);
  std::vector<Output> outputs(const Tree& targets, Scope& scope);

  // A table with its alias.
  [[nodiscard]] Source source(const Tree& range_variable) const;
  static FullType type(const Tree& type_name, bool* serial = nullptr);
  // Puts WHERE, cut at its ANDs, where each part can be asked first; then keys are found.
  void place(const ExpressionPtr& condition, Select& made);
  static void find_keys(Select& made);

 private:
  ExpressionPtr bound(const Tree& node, Scope& scope);
  static ExpressionPtr literal(const Tree& body);
  ExpressionPtr parameter(const Tree& body);
  static ExpressionPtr negation(const ExpressionPtr& part);
  static ExpressionPtr connected(const std::vector<ExpressionPtr>& parts, bool conjunction);
  ExpressionPtr connective(const Tree& body, Scope& scope);  // AND, OR, NOT
  ExpressionPtr null_test(const Tree& body, Scope& scope);
  ExpressionPtr type_cast(const Tree& body, Scope& scope);
  ExpressionPtr column(const Tree& body, Scope& scope);
  ExpressionPtr operation(const Tree& body, Scope& scope);
  ExpressionPtr in_list(const Tree& body, Scope& scope);
  ExpressionPtr call(const Tree& body, Scope& scope);
  ExpressionPtr aggregate(const Tree& body, Aggregate::Kind kind, Scope& scope);
  void type_aggregate(Aggregate& made, const std::string& name) const;
  ExpressionPtr sub_query(const Tree& body, Scope& scope);

  void from_item(const Tree& node, Scope& scope, Select& made);
  void add_source(const Tree& range_variable, Select& made) const;
  // LIMIT or OFFSET; null if it is not there.
  ExpressionPtr row_count(const Tree& body, const char* name, Scope& scope);
  // GROUP BY, ORDER BY and FOR UPDATE of a query whose outputs are known.
  void group(const Tree& body, Scope& scope, Select& made);
  void sort(const Tree& body, Scope& scope, Select& made);
  void lock(const Tree& locking, Select& made);

  const Tables& catalog_;
  std::vector<Type>& parameters_;
  int depth_ = 0;
};

// The name of an output without AS.
std::string output_name(const Tree& node);

}  // namespace cupel::sql
