// Operators and casts between types, by PostgreSQL's rules.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sql/expression/expression.hpp"

namespace cupel::sql {

// Casts that PostgreSQL would make by itself in this context; nullptr if it would not.
// A literal or a parameter of unknown type becomes one of this type.
class Coercion {
 public:
  Coercion(Dialect dialect, std::vector<Type>& parameters)
      : dialect_(dialect), parameters_(parameters) {}
  [[nodiscard]] ExpressionPtr to(const ExpressionPtr& expression, const FullType& type,
                                 Context context) const;
  // The one type of CASE, COALESCE, IN …; raises 42804 naming `what`.
  [[nodiscard]] FullType common(const std::vector<ExpressionPtr>& all, const char* what) const;
  // An operator, by PostgreSQL's choice for the types of its sides.
  [[nodiscard]] ExpressionPtr binary(const std::string& name, ExpressionPtr left,
                                     ExpressionPtr right,
                                     std::optional<std::uint32_t> position) const;
  [[nodiscard]] ExpressionPtr minus(const ExpressionPtr& part,
                                    std::optional<std::uint32_t> position) const;
  [[nodiscard]] ExpressionPtr function(const std::string& name, std::vector<ExpressionPtr> parts,
                                       std::optional<std::uint32_t> position) const;
  // To what common() gave; in MySQL decimals show as many digits as the longest of them.
  [[nodiscard]] ExpressionPtr alike(const ExpressionPtr& part, const FullType& type) const;
  // MySQL: the digits behind the point that a number shows, known before it runs.
  [[nodiscard]] static int decimals(const Expression& part);
  // MySQL: what CAST is given instead, where PostgreSQL's cast is another.
  [[nodiscard]] ExpressionPtr mysql_cast_of(const ExpressionPtr& part, const FullType& to) const;
  // Brings both sides of a comparison to one type, and gives it.
  Type compared(const std::string& name, ExpressionPtr& left, ExpressionPtr& right,
                std::optional<std::uint32_t> position) const;
  // MySQL: text as the double that it begins with; anything else as it is.
  [[nodiscard]] ExpressionPtr as_number(const ExpressionPtr& part) const;
  // MySQL: a number as its text.
  [[nodiscard]] ExpressionPtr as_text(const ExpressionPtr& part) const;
  // What its strict mode says of text that is no number, or not only: a warning in a query; an
  // error in what is written; and either, as MySQL plans it, in the conditions of what is written.
  enum class Strict : std::uint8_t { kWarning, kError, kEither };
  Strict strictness = Strict::kWarning;
  // As a condition: boolean, or in MySQL a number.
  [[nodiscard]] ExpressionPtr condition(const ExpressionPtr& part, const char* what) const;
  // Compared by equality; the type both sides are brought to.
  [[nodiscard]] Type comparable(const std::string& name, const ExpressionPtr& left,
                                const ExpressionPtr& right,
                                std::optional<std::uint32_t> position) const;
  [[nodiscard]] Dialect dialect() const { return dialect_; }

 private:
  void compare_as_numbers(ExpressionPtr& text, ExpressionPtr& number) const;
  // The three kinds of binary().
  [[nodiscard]] ExpressionPtr comparison(const std::string& name, ExpressionPtr left,
                                         ExpressionPtr right,
                                         std::optional<std::uint32_t> position) const;
  [[nodiscard]] ExpressionPtr concatenation(const std::string& name, ExpressionPtr left,
                                            ExpressionPtr right,
                                            std::optional<std::uint32_t> position) const;
  [[nodiscard]] ExpressionPtr arithmetic(const std::string& name, ExpressionPtr left,
                                         ExpressionPtr right,
                                         std::optional<std::uint32_t> position) const;
  // Of integers of which one has no sign.
  [[nodiscard]] ExpressionPtr arithmetic_without_sign(char operation, const ExpressionPtr& left,
                                                      const ExpressionPtr& right) const;
  Dialect dialect_;
  std::vector<Type>& parameters_;
};

// A number as MySQL writes it.
std::string mysql_text_of(double value, bool real);

}  // namespace cupel::sql
