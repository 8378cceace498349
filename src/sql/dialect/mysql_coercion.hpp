// MySQL's rules of types, where they are not PostgreSQL's: text is a number where one is needed,
// booleans are numbers, integers are computed in 64 bits with or without a sign, and a division
// gives a decimal whose digits are known before it runs.
#pragma once

#include "sql/dialect/coercion.hpp"

namespace cupel::sql {

class MysqlCoercion : public Coercion {
 public:
  using Coercion::Coercion;
  [[nodiscard]] FullType common(const std::vector<ExpressionPtr>& all,
                                const char* what) const override;
  [[nodiscard]] ExpressionPtr alike(const ExpressionPtr& part, const FullType& type) const override;
  [[nodiscard]] ExpressionPtr condition(const ExpressionPtr& part, const char* what) const override;
  [[nodiscard]] ExpressionPtr assigned(const ExpressionPtr& value,
                                       const FullType& type) const override;
  // Text as the double that it begins with.
  [[nodiscard]] ExpressionPtr as_number(const ExpressionPtr& part) const override;
  [[nodiscard]] ExpressionPtr without_boolean(const ExpressionPtr& part) const override;
  [[nodiscard]] ExpressionPtr number(const std::string& digits,
                                     const Decimal& value) const override;
  [[nodiscard]] ExpressionPtr null_if(const ExpressionPtr& left, const ExpressionPtr& right,
                                      std::optional<std::uint32_t> position) const override;
  [[nodiscard]] ExpressionPtr like_side(const ExpressionPtr& part, const std::string& name,
                                        std::optional<std::uint32_t> position) const override;
  void prepare_between(ExpressionPtr& middle, const ExpressionPtr& lower,
                       const ExpressionPtr& upper) const override;
  [[nodiscard]] ExpressionPtr cast_argument(const ExpressionPtr& part,
                                            const FullType& to) const override;
  [[nodiscard]] ExpressionPtr cast_result(const ExpressionPtr& made,
                                          const FullType& to) const override;
  [[nodiscard]] ExpressionPtr argument(const ExpressionPtr& part, Type type) const override;
  [[nodiscard]] SqlException no_function(const std::string& name, const std::string& types,
                                         std::optional<std::uint32_t> position) const override;
  [[nodiscard]] ExpressionPtr widened(const ExpressionPtr& part) const override;
  [[nodiscard]] FullType showing(Type type, int digits) const override;

 protected:
  void check_text(const Scalar& text, Type type) const override;
  [[nodiscard]] bool casts(Type from, Type to, Context context) const override;
  bool join(FullType& found, const FullType& type) const override;
  void prepare_comparison(ExpressionPtr& left, ExpressionPtr& right) const override;
  [[nodiscard]] Type comparable_types(const std::string& name, Type left, Type right,
                                      std::optional<std::uint32_t> position) const override;
  [[nodiscard]] ExpressionPtr arithmetic(const std::string& name, ExpressionPtr left,
                                         ExpressionPtr right,
                                         std::optional<std::uint32_t> position) const override;

 private:
  // A number as its text.
  [[nodiscard]] ExpressionPtr as_text(const ExpressionPtr& part) const;
  void compare_as_numbers(ExpressionPtr& text, ExpressionPtr& number) const;
  // Of integers of which one has no sign.
  [[nodiscard]] ExpressionPtr arithmetic_without_sign(char operation, const ExpressionPtr& left,
                                                      const ExpressionPtr& right) const;
};

// A number as MySQL writes it.
std::string mysql_text_of(double value, bool real);

}  // namespace cupel::sql
