// Operators, functions and casts between types: PostgreSQL's rules (its manual, chapter 10).
#pragma once

#include <string>
#include <vector>

#include "mock/sql/expression/expression.hpp"

namespace cupel::sql {

// Casts that the database would make by itself in this context; nullptr if it would not.
// A literal or a parameter of unknown type becomes one of this type.
class Coercion {
 public:
  explicit Coercion(std::vector<Type>& parameters) : parameters_(parameters) {}

  [[nodiscard]] ExpressionPtr to(const ExpressionPtr& expression, const FullType& type,
                                 Context context) const;
  // The one type of CASE, COALESCE, IN …; raises 42804 naming `what`.
  [[nodiscard]] static FullType common(const std::vector<ExpressionPtr>& all, const char* what);
  // What is of no type yet as text.
  [[nodiscard]] ExpressionPtr settled(const ExpressionPtr& part) const;
  // As a condition.
  [[nodiscard]] ExpressionPtr condition(const ExpressionPtr& part, const char* what) const;

  // Operators, by the database's choice for the types of their sides.
  [[nodiscard]] ExpressionPtr binary(const std::string& name, const ExpressionPtr& left,
                                     const ExpressionPtr& right) const;
  // Compared by equality; the type both sides are brought to.
  [[nodiscard]] static Type comparable(const std::string& name, const ExpressionPtr& left,
                                       const ExpressionPtr& right);
  [[nodiscard]] ExpressionPtr coalesce(const std::vector<ExpressionPtr>& parts) const;
  [[nodiscard]] static ExpressionPtr function(const std::string& name, std::size_t arguments);

 private:
  [[nodiscard]] ExpressionPtr arithmetic(const std::string& name, const ExpressionPtr& left,
                                         const ExpressionPtr& right) const;
  std::vector<Type>& parameters_;
};

}  // namespace cupel::sql
