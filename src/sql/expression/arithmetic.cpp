// One function a type; see the header.
#include "sql/expression/arithmetic.hpp"

#include <fmt/format.h>

#include <cmath>

namespace cupel::sql {

namespace {

[[noreturn]] void division_by_zero() {
  raise("22012", "division by zero");
}

Scalar double_arithmetic(char operation, double left, double right) {
  double result = 0;
  switch (operation) {
    case '+':
      result = left + right;
      break;
    case '-':
      result = left - right;
      break;
    case '*':
      result = left * right;
      break;
    default:
      if (right == 0 && !std::isnan(left)) division_by_zero();
      result = left / right;
  }
  if (std::isinf(result) && !std::isinf(left) && !std::isinf(right)) {
    raise("22003", "value out of range: overflow");
  }
  if (result == 0 && left != 0 &&
      ((operation == '*' && right != 0) || (operation == '/' && !std::isinf(right)))) {
    raise("22003", "value out of range: underflow");
  }
  return result;
}

Scalar decimal_arithmetic(char operation, const Decimal& left, const Decimal& right) {
  switch (operation) {
    case '+':
      return left + right;
    case '-':
      return left - right;
    case '*':
      return left * right;
    default:
      if (right.sign() == 0) division_by_zero();
      return operation == '/' ? left.divided_by(right) : left.remainder(right);
  }
}

}  // namespace

Type number_pair(Type left, Type right) {
  if (left == right) return left;
  if (left == Type::kDouble || right == Type::kDouble) return Type::kDouble;
  if (left == Type::kNumeric || right == Type::kNumeric) return Type::kNumeric;
  if (left == Type::kBigint || right == Type::kBigint) return Type::kBigint;
  return Type::kInteger;
}

void raise_no_operator(const std::string& name, Type left, Type right) {
  raise("42883",
        fmt::format("operator does not exist: {} {} {}", type_name(left), name, type_name(right)));
}

Scalar integer_arithmetic(char operation, std::int64_t left, std::int64_t right, Type type) {
  std::int64_t result = 0;
  bool over = false;
  switch (operation) {
    case '+':
      over = __builtin_add_overflow(left, right, &result);
      break;
    case '-':
      over = __builtin_sub_overflow(left, right, &result);
      break;
    case '*':
      over = __builtin_mul_overflow(left, right, &result);
      break;
    case '/':
      if (right == 0) division_by_zero();
      over = right == -1 && __builtin_sub_overflow(std::int64_t{0}, left, &result);
      if (right != -1) result = left / right;
      break;
    default:
      if (right == 0) division_by_zero();
      result = right == -1 ? 0 : left % right;
  }
  if (over) raise("22003", fmt::format("{} out of range", type_name(type)));
  return checked_integer(result, type);
}

Scalar arithmetic_value(char operation, const Scalar& left, const Scalar& right, Type type) {
  if (type == Type::kNumeric) {
    return decimal_arithmetic(operation, std::get<Decimal>(left), std::get<Decimal>(right));
  }
  if (is_integer(type)) {
    return integer_arithmetic(operation, std::get<std::int64_t>(left),
                              std::get<std::int64_t>(right), type);
  }
  return double_arithmetic(operation, std::get<double>(left), std::get<double>(right));
}

}  // namespace cupel::sql
