// Operators, functions and casts between types: PostgreSQL's rules (its manual, chapter 10).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sql/expression/expression.hpp"

namespace cupel::sql {

// Whether the operator holds for values of which the first is before, at or after the second.
bool holds_for_order(const std::string& name, int order);

// Casts that the database would make by itself in this context; nullptr if it would not.
// A literal or a parameter of unknown type becomes one of this type.
class Coercion {
 public:
  explicit Coercion(std::vector<Type>& parameters) : parameters_(parameters) {}

  [[nodiscard]] ExpressionPtr to(const ExpressionPtr& expression, const FullType& type,
                                 Context context) const;
  // The one type of CASE, COALESCE, IN …; raises 42804 naming `what`.
  [[nodiscard]] static FullType common(const std::vector<ExpressionPtr>& all, const char* what);
  // To what common() gave.
  [[nodiscard]] ExpressionPtr alike(const ExpressionPtr& part, const FullType& type) const {
    return to(part, {type.type}, Context::kImplicit);
  }
  // What is of no type yet as text.
  [[nodiscard]] ExpressionPtr settled(const ExpressionPtr& part) const;
  // As a condition.
  [[nodiscard]] ExpressionPtr condition(const ExpressionPtr& part, const char* what) const;

  // Operators, by the database's choice for the types of their sides.
  [[nodiscard]] ExpressionPtr binary(const std::string& name, ExpressionPtr left,
                                     ExpressionPtr right) const;
  [[nodiscard]] ExpressionPtr minus(const ExpressionPtr& part) const;
  // Brings both sides of a comparison to one type, and gives it.
  Type compared(const std::string& name, ExpressionPtr& left, ExpressionPtr& right) const;
  // Compared by equality; the type both sides are brought to.
  [[nodiscard]] static Type comparable(const std::string& name, const ExpressionPtr& left,
                                       const ExpressionPtr& right);
  [[nodiscard]] ExpressionPtr null_if(const ExpressionPtr& left, const ExpressionPtr& right) const;
  // Functions (functions.cpp).
  [[nodiscard]] ExpressionPtr coalesce(const std::vector<ExpressionPtr>& parts) const;
  [[nodiscard]] ExpressionPtr function(const std::string& name,
                                       const std::vector<ExpressionPtr>& parts) const;

 private:
  [[nodiscard]] ExpressionPtr comparison(const std::string& name, ExpressionPtr left,
                                         ExpressionPtr right) const;
  [[nodiscard]] ExpressionPtr concatenation(const std::string& name, const ExpressionPtr& left,
                                            const ExpressionPtr& right) const;
  [[nodiscard]] ExpressionPtr arithmetic(const std::string& name, ExpressionPtr left,
                                         ExpressionPtr right) const;
  std::vector<Type>& parameters_;
};

}  // namespace cupel::sql
