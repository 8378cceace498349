// Arithmetic on values of one type, with the errors of what does not fit.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sql/expression/expression.hpp"

namespace cupel::sql {

// The result type of arithmetic on two numbers.
Type number_pair(Type left, Type right);

[[noreturn]] void raise_no_operator(const std::string& name, Type left, Type right);

Scalar integer_arithmetic(char operation, std::int64_t left, std::int64_t right, Type type);
// + - * / % of two values of this type. Raises 22012 for a divisor of zero.
Scalar arithmetic_value(char operation, const Scalar& left, const Scalar& right, Type type);

}  // namespace cupel::sql
