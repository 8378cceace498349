// Expressions after names and types are resolved: a tree whose nodes give a value for the rows of
// a query.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "mock/sql/table/execution_context.hpp"

namespace cupel::sql {

// The rows that an expression sees: one of each source of its query; then those of the
// query around it.
struct Frame {
  ExecutionContext& context;
  const Frame* outer = nullptr;
  std::vector<Row*> rows = {};
  const std::vector<Scalar>* aggregates = nullptr;
};

struct Expression;
using ExpressionPtr = std::shared_ptr<const Expression>;

struct Expression {
  enum class Kind : std::uint8_t {
    kConstant,
    kParameter,
    kColumn,
    kCast,  // by Coercion::to(), of its one part
    kAnd,
    kEqual,
    kAggregate,
    kOther
  };
  Kind kind = Kind::kOther;
  FullType type;
  std::vector<ExpressionPtr> parts;
  std::function<Scalar(const Frame&)> value;
  // Equal expressions have equal signatures; those with a sub-query have none equal.
  std::string signature;
  Scalar constant;            // kConstant
  std::size_t parameter = 0;  // kParameter, from 0
  std::size_t depth = 0;      // kColumn: 0 is this query, 1 the one around it …
  std::size_t source = 0;
  std::size_t column = 0;
  std::uint64_t sources = 0;  // which sources of this query its value depends on, as bits
  bool reads_queries = false;
  bool has_aggregate = false;
  std::uint64_t inside = 0;  // of a sub-query: which sources of this query are named in it
};

inline std::uint64_t bit(std::size_t source) {
  return std::uint64_t{1} << source;
}

// Whether a condition holds: true, not false or null.
bool holds(const ExpressionPtr& condition, const Frame& frame);

ExpressionPtr constant(Scalar value, const FullType& type);
// Of a row of the query that is `depth` queries around this one.
ExpressionPtr column_value(std::size_t depth, std::size_t source, std::size_t column,
                           const FullType& type);
// An expression of `parts`, dependent on what they depend on.
ExpressionPtr computed(const std::string& name, FullType type, std::vector<ExpressionPtr> parts,
                       std::function<Scalar(const Frame&)> value);
// As computed(), null when any part is null; `value` is given the values of the parts.
ExpressionPtr strict(const std::string& name, FullType type, std::vector<ExpressionPtr> parts,
                     std::function<Scalar(const std::vector<Scalar>&)> value);

}  // namespace cupel::sql
