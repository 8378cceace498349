// Operators and casts between types: PostgreSQL's rules (its manual, chapter 10). A dialect with
// others overrides what is virtual.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sql/expression/expression.hpp"

namespace cupel::sql {

class Dialect;

// Whether the operator holds for values of which the first is before, at or after the second.
bool holds_for_order(const std::string& name, int order);

// Casts that the database would make by itself in this context; nullptr if it would not.
// A literal or a parameter of unknown type becomes one of this type.
class Coercion {
 public:
  Coercion(const Dialect& dialect, std::vector<Type>& parameters)
      : dialect_(dialect), parameters_(parameters) {}
  virtual ~Coercion() = default;
  Coercion(const Coercion&) = delete;
  Coercion& operator=(const Coercion&) = delete;
  [[nodiscard]] const Dialect& dialect() const { return dialect_; }

  [[nodiscard]] ExpressionPtr to(const ExpressionPtr& expression, const FullType& type,
                                 Context context) const;
  // The one type of CASE, COALESCE, IN …; raises 42804 naming `what`.
  [[nodiscard]] virtual FullType common(const std::vector<ExpressionPtr>& all,
                                        const char* what) const;
  // To what common() gave.
  [[nodiscard]] virtual ExpressionPtr alike(const ExpressionPtr& part, const FullType& type) const;
  // As a condition.
  [[nodiscard]] virtual ExpressionPtr condition(const ExpressionPtr& part, const char* what) const;
  // Of a column's type, as INSERT and UPDATE assign it.
  [[nodiscard]] virtual ExpressionPtr assigned(const ExpressionPtr& value,
                                               const FullType& type) const;
  // What text says where a number is needed, or a boolean where a number is; else as it is.
  [[nodiscard]] virtual ExpressionPtr as_number(const ExpressionPtr& part) const { return part; }
  [[nodiscard]] virtual ExpressionPtr without_boolean(const ExpressionPtr& part) const {
    return part;
  }
  // A literal's digits.
  [[nodiscard]] virtual ExpressionPtr number(const std::string& digits, const Decimal& value) const;

  // Operators, by the database's choice for the types of their sides.
  [[nodiscard]] ExpressionPtr binary(const std::string& name, ExpressionPtr left,
                                     ExpressionPtr right,
                                     std::optional<std::uint32_t> position) const;
  [[nodiscard]] ExpressionPtr minus(const ExpressionPtr& part,
                                    std::optional<std::uint32_t> position) const;
  // Brings both sides of a comparison to one type, and gives it.
  Type compared(const std::string& name, ExpressionPtr& left, ExpressionPtr& right,
                std::optional<std::uint32_t> position) const;
  // Compared by equality; the type both sides are brought to.
  [[nodiscard]] Type comparable(const std::string& name, const ExpressionPtr& left,
                                const ExpressionPtr& right,
                                std::optional<std::uint32_t> position) const;
  [[nodiscard]] virtual ExpressionPtr null_if(const ExpressionPtr& left, const ExpressionPtr& right,
                                              std::optional<std::uint32_t> position) const;
  // A side of LIKE as text.
  [[nodiscard]] virtual ExpressionPtr like_side(const ExpressionPtr& part, const std::string& name,
                                                std::optional<std::uint32_t> position) const;
  virtual void prepare_between(ExpressionPtr& /*middle*/, const ExpressionPtr& /*lower*/,
                               const ExpressionPtr& /*upper*/) const {}
  // What CAST is given, and what it gives, where its cast is another than to()'s.
  [[nodiscard]] virtual ExpressionPtr cast_argument(const ExpressionPtr& part,
                                                    const FullType& /*to*/) const {
    return part;
  }
  [[nodiscard]] virtual ExpressionPtr cast_result(const ExpressionPtr& made,
                                                  const FullType& /*to*/) const {
    return made;
  }

  // Functions (functions.cpp).
  [[nodiscard]] ExpressionPtr function(const std::string& name, std::vector<ExpressionPtr> parts,
                                       std::optional<std::uint32_t> position) const;
  // An argument of this type; nullptr if it is none without a cast.
  [[nodiscard]] virtual ExpressionPtr argument(const ExpressionPtr& part, Type type) const;
  // The error of a function without these types of arguments.
  [[nodiscard]] virtual SqlException no_function(const std::string& name, const std::string& types,
                                                 std::optional<std::uint32_t> position) const;
  // An integer as wide as the database computes with it.
  [[nodiscard]] virtual ExpressionPtr widened(const ExpressionPtr& part) const { return part; }
  // The type of a result that shows so many digits after the point.
  [[nodiscard]] virtual FullType showing(Type type, int /*digits*/) const { return {type}; }

  // The digits after the point that a number shows, known before it runs.
  [[nodiscard]] static int decimals(const Expression& part);

  // What text that is no number, or not only, is where a number is needed: a warning in a query; an
  // error in what is written; and either, as it is planned, in the conditions of what is written.
  enum class Strict : std::uint8_t { kWarning, kError, kEither };
  Strict strictness = Strict::kWarning;

 protected:
  // Raises if a text that is no value of this type is another error than the cast's.
  virtual void check_text(const Scalar& /*text*/, Type /*type*/) const {}
  // Whether values of this type can be cast so.
  [[nodiscard]] virtual bool casts(Type from, Type to, Context context) const {
    return can_cast(from, to, context);
  }
  // Whether it has made one type of two by a rule of its own.
  virtual bool join(FullType& /*found*/, const FullType& /*type*/) const { return false; }
  virtual void prepare_comparison(ExpressionPtr& /*left*/, ExpressionPtr& /*right*/) const {}
  // The type to compare two others by.
  [[nodiscard]] virtual Type comparable_types(const std::string& name, Type left, Type right,
                                              std::optional<std::uint32_t> position) const;
  [[nodiscard]] virtual ExpressionPtr arithmetic(const std::string& name, ExpressionPtr left,
                                                 ExpressionPtr right,
                                                 std::optional<std::uint32_t> position) const;

 private:
  [[nodiscard]] ExpressionPtr comparison(const std::string& name, ExpressionPtr left,
                                         ExpressionPtr right,
                                         std::optional<std::uint32_t> position) const;
  [[nodiscard]] ExpressionPtr concatenation(const std::string& name, ExpressionPtr left,
                                            ExpressionPtr right,
                                            std::optional<std::uint32_t> position) const;
  const Dialect& dialect_;
  std::vector<Type>& parameters_;
};

// NULLIF: `left` if it is not equal.
ExpressionPtr null_if_equal(const ExpressionPtr& left, const ExpressionPtr& equal);

}  // namespace cupel::sql
