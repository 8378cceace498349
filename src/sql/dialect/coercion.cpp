// Operators and coercions, by PostgreSQL's rules (its manual, chapter 10).
#include "sql/dialect/coercion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace cupel::sql {

namespace {

constexpr double kExact = 9007199254740992;  // 2^53: below it a double holds all integers

// The result type of arithmetic on two numbers.
Type number_pair(Type left, Type right) {
  if (left == right) return left;
  if (left == Type::kDouble || right == Type::kDouble) return Type::kDouble;
  if (left == Type::kReal || right == Type::kReal) return Type::kDouble;
  if (left == Type::kNumeric || right == Type::kNumeric) return Type::kNumeric;
  if (left == Type::kUnsigned || right == Type::kUnsigned) return Type::kUnsigned;
  if (left == Type::kBigint || right == Type::kBigint) return Type::kBigint;
  return Type::kInteger;
}

[[noreturn]] void no_operator(const std::string& name, Type left, Type right,
                              std::optional<std::uint32_t> position) {
  raise("42883",
        fmt::format("operator does not exist: {} {} {}", type_name(left), name, type_name(right)),
        position);
}

bool is_comparison(const std::string& name) {
  return name == "=" || name == "<>" || name == "<" || name == "<=" || name == ">" || name == ">=";
}

[[noreturn]] void division_by_zero() {
  raise("22012", "division by zero");
}

[[noreturn]] void out_of_range(Type type) {
  throw SqlException{{.sqlstate = "22003",
                      .message = fmt::format("{} out of range", type_name(type)),
                      .mysql_number = 1690}};
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
  if (over) out_of_range(type);
  return checked_integer(result, type);
}

Scalar double_arithmetic(char operation, double left, double right, Type type) {
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
  result = checked_double(result, type);
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

// Of integers of which one has no sign, as decimals: what the result does not hold is an error.
Scalar unsigned_arithmetic(char operation, const Decimal& left, const Decimal& right, Type type) {
  if (operation == '%' && right.sign() == 0) return {};
  const auto result = std::get<Decimal>(decimal_arithmetic(operation, left, right));
  if (type == Type::kBigint) {  // a remainder with a sign
    const auto whole = result.to_integer();
    if (!whole) out_of_range(type);
    return *whole;
  }
  const auto number = unsigned_of(result);
  if (!number) out_of_range(type);
  return *number;
}

// MySQL: NULL for a divisor of zero.
Scalar mysql_division(const Scalar& left, const Scalar& right, Type type) {
  if (type == Type::kDouble) {
    if (std::get<double>(right) == 0) return {};
    return double_arithmetic('/', std::get<double>(left), std::get<double>(right), type);
  }
  const auto& divisor = std::get<Decimal>(right);
  if (divisor.sign() == 0) return {};
  const auto& number = std::get<Decimal>(left);
  return number.mysql_quotient(divisor);
}

}  // namespace

ExpressionPtr Coercion::as_number(const ExpressionPtr& part) const {
  if (!is_textual(*part)) return part;
  // MySQL shows what is computed of it with no more digits than it thinks that CAST gives.
  if (part->has_char_cast) {
    not_supported("CAST AS CHAR where a number is needed");
  }
  if (part->kind == Expression::Kind::kConstant) {
    if (is_null(part->constant)) return constant({}, {Type::kDouble});
    const auto number = leading_number(std::get<std::string>(part->constant));
    // An error there or a warning, as it is planned.
    if (strictness != Strict::kWarning && number.rest) {
      not_supported("a literal that is no number, where one is needed");
    }
    return constant(number.value(), {Type::kDouble});
  }
  // Constants are computed as it is planned.
  const bool fixed = part->sources == 0 && part->outside.empty();
  const auto how = strictness == Strict::kError && fixed ? Strict::kEither : strictness;
  return strict("number", {Type::kDouble}, {part},
                [how](const std::vector<Scalar>& values) -> Scalar {
                  const auto& text = std::get<std::string>(values[0]);
                  const auto number = leading_number(text);
                  if (how == Strict::kEither && number.rest) {
                    not_supported("text that is no number, in what decides what is written");
                  }
                  if (how == Strict::kError && number.rest) {
                    raise("22007", fmt::format("Truncated incorrect DOUBLE value: '{}'", text));
                  }
                  return number.value();
                });
}

ExpressionPtr Coercion::as_text(const ExpressionPtr& part) const {
  const auto type = part->type.type;
  if (type == Type::kBoolean) return as_text(to(part, {Type::kInteger}, Context::kImplicit));
  if (type == Type::kDouble || type == Type::kReal) return mysql_cast_of(part, {Type::kText});
  return to(part, {Type::kText}, Context::kExplicit);
}

// Both are brought to a type in which MySQL's comparison of doubles has the same answer.
void Coercion::compare_as_numbers(ExpressionPtr& text, ExpressionPtr& number) const {
  const auto type = number->type.type;
  const bool literal = text->kind == Expression::Kind::kConstant && !is_null(text->constant);
  const bool whole = is_whole(type) || type == Type::kBoolean;
  if (literal) {
    const auto words = std::get<std::string>(text->constant);
    const auto lead = leading_number(words);
    text = as_number(text);
    const double value = lead.value();
    if (type == Type::kDouble || type == Type::kReal) return;
    if (std::fabs(value) >= kExact) {
      const auto exact = Decimal::parse(words);
      // The digits of an integer, in a column of integers: it is looked for as it is.
      if (exact && whole && number->kind == Expression::Kind::kColumn &&
          words.find_first_not_of("0123456789") == words.npos) {
        text = constant(*exact, {Type::kNumeric});
        return;
      }
      not_supported("comparing a text of more than 15 digits with a number");
    }
    if (whole) {
      if (value == std::nearbyint(value)) {
        text = constant(static_cast<std::int64_t>(value), {Type::kBigint});
      }
      return;
    }
  } else {
    text = as_number(text);
    if (type == Type::kDouble || type == Type::kReal || type == Type::kBoolean) return;
  }
  const auto decimal = to(number, {Type::kNumeric}, Context::kImplicit);
  number = strict("double", {Type::kDouble}, {decimal}, [](const std::vector<Scalar>& values) {
    const auto& exact = std::get<Decimal>(values[0]);
    if (exact.whole_digits() + exact.scale() > 15) {
      not_supported("comparing text with a number of more than 15 digits");
    }
    return Scalar(exact.to_double());
  });
}

ExpressionPtr Coercion::to(const ExpressionPtr& expression, const FullType& type,
                           Context context) const {
  const auto from = expression->type.type;
  const bool mysql = dialect_ == Dialect::kMysql;
  if (from == Type::kNull) {
    if (expression->kind == Expression::Kind::kParameter) {
      auto& known = parameters_[expression->parameter];
      if (known == Type::kNull) known = type.type;
      auto typed = std::make_shared<Expression>(*expression);
      typed->type = {known};
      return to(typed, type, context);
    }
    if (expression->kind == Expression::Kind::kConstant) {
      if (context == Context::kAssignment) {
        return constant(mysql ? mysql_assign(expression->constant, from, type)
                              : assign(expression->constant, from, type),
                        type);
      }
      try {
        return constant(cast(expression->constant, from, type), type);
      } catch (const SqlException&) {
        if (!mysql) throw;  // MySQL takes what it begins with, or null
        not_supported(fmt::format("the text '{}' where a value of type {} is needed",
                                  std::get<std::string>(expression->constant),
                                  type_name(type.type)));
      }
    }
  }
  const bool as_is =
      from == type.type && (type == expression->type || (type.length < 0 && type.precision < 0));
  if (as_is) return expression;
  const bool mysql_number =
      mysql && ((from == Type::kBoolean && is_number(type.type)) ||
                (is_string(from) && is_number(type.type) && context == Context::kAssignment));
  if (!mysql_number && !can_cast(from, type.type, context)) return nullptr;
  auto made =
      strict(fmt::format("cast to {} {} {} {}", type_name(type.type), type.length, type.precision,
                         type.scale),
             type, {expression},
             [from, type, mysql,
              assigned = context == Context::kAssignment](const std::vector<Scalar>& values) {
               if (mysql && assigned) return mysql_assign(values[0], from, type);
               return assigned ? assign(values[0], from, type) : cast(values[0], from, type);
             });
  if (made->kind == Expression::Kind::kConstant) return made;  // null
  auto as_cast = std::make_shared<Expression>(*made);
  as_cast->kind = Expression::Kind::kCast;
  return as_cast;
}

FullType Coercion::common(const std::vector<ExpressionPtr>& all, const char* what) const {
  FullType found;
  bool same = true;
  const auto any = [&](auto of_type) {
    return std::any_of(all.begin(), all.end(),
                       [&](const auto& one) { return of_type(one->type.type); });
  };
  // MySQL: numbers among text are text.
  if (dialect_ == Dialect::kMysql &&
      std::any_of(all.begin(), all.end(), [](const auto& one) { return is_textual(*one); }) &&
      std::any_of(all.begin(), all.end(), [](const auto& one) { return is_numeric(*one); })) {
    return {Type::kText};
  }
  // Integers of which some have a sign and some have none: decimals in MySQL.
  const bool mixed = any([](Type type) { return type == Type::kUnsigned; }) &&
                     any([](Type type) { return is_integer(type) || type == Type::kBoolean; });
  for (const auto& one : all) {
    const auto type = mixed && is_whole(one->type.type) ? FullType{Type::kNumeric} : one->type;
    if (type.type == Type::kNull) continue;
    if (found.type == Type::kNull) {
      found = type;
      continue;
    }
    same = same && found == type;
    if (found.type == type.type) continue;
    const auto left = found.type;
    if (dialect_ == Dialect::kMysql && (left == Type::kBoolean) != (type.type == Type::kBoolean) &&
        (is_number(left) || is_number(type.type))) {
      if (left == Type::kBoolean) found = {type.type};
      continue;
    }
    // The first type wins unless it goes over into the other and not the reverse.
    if (can_cast(left, type.type, Context::kImplicit) &&
        !can_cast(type.type, left, Context::kImplicit)) {
      found = {type.type};
    } else if (is_string(left) && is_string(type.type)) {
      // All go over into each other; text is the preferred one.
      if (type.type == Type::kText) found = {Type::kText};
    } else if (!can_cast(type.type, left, Context::kImplicit)) {
      raise("42804", fmt::format("{} types {} and {} cannot be matched", what, type_name(left),
                                 type_name(type.type)));
    }
  }
  if (found.type == Type::kNull) return {Type::kText};
  for (const auto& one : all) {
    const bool of_null = one->kind == Expression::Kind::kConstant && is_null(one->constant) &&
                         is_number(one->type.type);
    if (of_null && dialect_ == Dialect::kMysql) {
      not_supported("the type of what is computed of NULL");  // a double there, or not
    }
  }
  if (dialect_ == Dialect::kMysql && found.type == Type::kNumeric) {
    FullType longest{Type::kNumeric};
    longest.positive =
        std::all_of(all.begin(), all.end(), [](const auto& one) { return one->type.positive; });
    for (const auto& one : all) longest.scale = std::max(longest.scale, decimals(*one));
    return longest;
  }
  return same ? found : FullType{found.type};
}

int Coercion::decimals(const Expression& part) {
  if (part.type.type != Type::kNumeric) return 0;
  const bool known = part.kind == Expression::Kind::kConstant && !is_null(part.constant);
  return known ? std::get<Decimal>(part.constant).scale() : part.type.scale;
}

ExpressionPtr Coercion::alike(const ExpressionPtr& part, const FullType& type) const {
  if (dialect_ == Dialect::kMysql && is_string(type.type) && is_numeric(*part)) {
    const bool real = part->type.type == Type::kDouble || part->type.type == Type::kReal;
    if (real && part->kind != Expression::Kind::kColumn) {
      not_supported("text of a computed floating-point number");  // cut to a length of its own
    }
    return as_text(part);
  }
  auto made = to(part, {type.type}, Context::kImplicit);
  if (dialect_ != Dialect::kMysql || type.type != Type::kNumeric || made == nullptr) return made;
  return strict("showing", type, {made}, [digits = type.scale](const std::vector<Scalar>& values) {
    return Scalar(std::get<Decimal>(values[0]).showing(digits));
  });
}

ExpressionPtr Coercion::mysql_cast_of(const ExpressionPtr& part, const FullType& to) const {
  const auto from = part->type.type;
  const bool text = is_string(to.type);
  if (from == Type::kBoolean) return this->to(part, {Type::kInteger}, Context::kImplicit);
  if (text && (from == Type::kDouble || from == Type::kReal)) {
    return strict("text", {Type::kText}, {part},
                  [real = from == Type::kReal](const std::vector<Scalar>& values) -> Scalar {
                    return mysql_text_of(std::get<double>(values[0]), real);
                  });
  }
  if (text || (from == to.type && from != Type::kNumeric)) return part;
  // To the other kind of integer bit by bit.
  if (to.type == Type::kUnsigned && is_integer(from)) {
    return strict("unsigned", {Type::kUnsigned}, {part}, [](const std::vector<Scalar>& values) {
      return Scalar(static_cast<std::uint64_t>(std::get<std::int64_t>(values[0])));
    });
  }
  if (to.type == Type::kBigint && from == Type::kUnsigned) {
    return strict("signed", {Type::kBigint}, {part}, [](const std::vector<Scalar>& values) {
      return Scalar(static_cast<std::int64_t>(std::get<std::uint64_t>(values[0])));
    });
  }
  // What does not fit, or is no number, MySQL takes in part, with a warning.
  const auto whole = from == Type::kNull ? this->to(part, {Type::kText}, Context::kImplicit) : part;
  return strict("checked", whole->type, {whole},
                [to, type = whole->type.type](const std::vector<Scalar>& values) {
                  try {
                    (void)cast(values[0], type, to);
                  } catch (const SqlException&) {
                    not_supported("a CAST of a value that is none of the type");
                  }
                  return values[0];
                });
}

std::string mysql_text_of(double value, bool real) {
  if (value == 0) return "0";
  // The shortest digits that read back, six of a float; 0.DIGITS times ten to the `point`.
  const auto written = real ? fmt::format("{:.5e}", value) : [&] {
    char buffer[64];
    const auto end =
        std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific);
    return std::string(buffer, end.ptr);
  }();
  const auto mark = written.find('e');
  const int point = std::atoi(written.c_str() + mark + 1) + 1;
  std::string digits;
  for (const char c : written.substr(0, mark)) {
    if (c >= '0' && c <= '9') digits += c;
  }
  digits.erase(digits.find_last_not_of('0') + 1);
  const std::string sign = value < 0 ? "-" : "";
  const auto size = static_cast<int>(digits.size());
  constexpr int kFixed = 15;
  if (point > kFixed || point < 1 - kFixed) {
    const auto more = size > 1 ? "." + digits.substr(1) : "";
    return fmt::format("{}{}{}e{}", sign, digits[0], more, point - 1);
  }
  if (point <= 0) return sign + "0." + std::string(static_cast<std::size_t>(-point), '0') + digits;
  if (size <= point)
    return sign + digits + std::string(static_cast<std::size_t>(point - size), '0');
  const auto whole = static_cast<std::size_t>(point);
  return sign + digits.substr(0, whole) + "." + digits.substr(whole);
}

ExpressionPtr Coercion::condition(const ExpressionPtr& part, const char* what) const {
  if (dialect_ == Dialect::kMysql && (is_number(part->type.type) || is_textual(*part))) {
    if (is_textual(*part)) return condition(as_number(part), what);
    return binary("<>", part, constant(std::int64_t{0}, {Type::kInteger}), {});
  }
  auto made = to(part, {Type::kBoolean}, Context::kImplicit);
  if (made == nullptr) {
    raise("42804", fmt::format("argument of {} must be type boolean, not type {}", what,
                               type_name(part->type.type)));
  }
  return made;
}

Type Coercion::comparable(const std::string& name, const ExpressionPtr& left,
                          const ExpressionPtr& right, std::optional<std::uint32_t> position) const {
  const auto one = left->type.type;
  const auto other = right->type.type;
  const bool mysql = dialect_ == Dialect::kMysql;
  if (one == Type::kNull && other == Type::kNull) return order_type(Type::kText, mysql);
  if (one == Type::kNull) return order_type(other, mysql);
  if (other == Type::kNull) return order_type(one, mysql);
  if (is_number(one) && is_number(other)) {
    const auto both = number_pair(one, other);
    return both == Type::kUnsigned && one != other ? Type::kNumeric : both;
  }
  if (is_string(one) && is_string(other))
    return order_type(one == other ? one : Type::kText, mysql);
  if (one == other) return one;
  if (is_time(one) && is_time(other)) {
    return one == Type::kTimestampTz || other == Type::kTimestampTz ? Type::kTimestampTz
                                                                    : Type::kTimestamp;
  }
  if (dialect_ == Dialect::kMysql) {
    if (one == Type::kBoolean && is_number(other)) return other;
    if (other == Type::kBoolean && is_number(one)) return one;
    not_supported(fmt::format("comparing {} with {}", type_name(one), type_name(other)));
  }
  no_operator(name, one, other, position);
}

Type Coercion::compared(const std::string& name, ExpressionPtr& left, ExpressionPtr& right,
                        std::optional<std::uint32_t> position) const {
  if (dialect_ == Dialect::kMysql) {
    // Literals have a sign: without it they are compared as what they are compared with, so that
    // they can name a key.
    const auto without_sign = [](ExpressionPtr& literal, const ExpressionPtr& other) {
      if (other->type.type != Type::kUnsigned || literal->kind != Expression::Kind::kConstant ||
          !is_integer(literal->type.type) || is_null(literal->constant)) {
        return;
      }
      const auto number = std::get<std::int64_t>(literal->constant);
      if (number >= 0) literal = constant(static_cast<std::uint64_t>(number), {Type::kUnsigned});
    };
    if (is_textual(*left) && is_numeric(*right)) compare_as_numbers(left, right);
    if (is_textual(*right) && is_numeric(*left)) compare_as_numbers(right, left);
    // Drivers send integers as doubles.
    const auto of_integer = [](ExpressionPtr& literal, const ExpressionPtr& other) {
      if (!is_whole(other->type.type) || literal->kind != Expression::Kind::kConstant ||
          literal->type.type != Type::kDouble || is_null(literal->constant)) {
        return;
      }
      const double number = std::get<double>(literal->constant);
      if (std::fabs(number) < kExact && number == std::nearbyint(number)) {
        literal = constant(static_cast<std::int64_t>(number), {Type::kBigint});
      }
    };
    of_integer(left, right);
    of_integer(right, left);
    without_sign(left, right);
    without_sign(right, left);
  }
  const auto type = comparable(name, left, right, position);
  left = to(left, {type}, Context::kImplicit);
  right = to(right, {type}, Context::kImplicit);
  return type;
}

ExpressionPtr Coercion::minus(const ExpressionPtr& part,
                              std::optional<std::uint32_t> position) const {
  auto made = dialect_ == Dialect::kMysql ? as_number(part) : part;
  if (made->type.type == Type::kNull) made = to(made, {Type::kDouble}, Context::kImplicit);
  const auto type = made->type.type;
  if (dialect_ == Dialect::kMysql && type == Type::kBoolean) {
    return minus(to(made, {Type::kInteger}, Context::kImplicit), position);
  }
  if (!is_number(type)) {
    raise("42883", fmt::format("operator does not exist: - {}", type_name(type)), position);
  }
  const bool fixed =
      made->sources == 0 && made->outside.empty() && !made->reads_queries && !made->has_aggregate;
  if (type == Type::kUnsigned) {
    if (made->kind == Expression::Kind::kConstant && !is_null(made->constant)) {
      const auto number = Decimal::of_unsigned(std::get<std::uint64_t>(made->constant)).negated();
      const auto whole = number.to_integer();
      return whole ? constant(*whole, {Type::kBigint}) : constant(number, {Type::kNumeric});
    }
    // MySQL computes what is constant when it plans, and has a decimal if it is large.
    if (fixed) not_supported("minus of a computed constant without a sign", position);
    return strict("-", {Type::kBigint}, {made}, [](const std::vector<Scalar>& values) -> Scalar {
      const auto number = Decimal::of_unsigned(std::get<std::uint64_t>(values[0])).negated();
      const auto whole = number.to_integer();
      if (!whole) out_of_range(Type::kBigint);
      return *whole;
    });
  }
  FullType negated{type};
  if (dialect_ == Dialect::kMysql) negated.scale = decimals(*made);
  const bool widens = fixed && dialect_ == Dialect::kMysql;
  return strict("-", negated, {made}, [type, widens](const std::vector<Scalar>& values) -> Scalar {
    if (type == Type::kNumeric) return std::get<Decimal>(values[0]).negated();
    if (is_integer(type)) {
      const auto number = std::get<std::int64_t>(values[0]);
      if (widens && number == std::numeric_limits<std::int64_t>::min()) {
        not_supported("minus of a computed constant of -2^63");  // a decimal there
      }
      return integer_arithmetic('-', 0, number, type);
    }
    return -std::get<double>(values[0]);
  });
}

// + - * / % of two values of a type. MySQL divides otherwise, and has NULL for a divisor of zero.
static Scalar arithmetic_value(char operation, const std::vector<Scalar>& values, Type type,
                               bool mysql) {
  if (mysql && operation == '/') {
    return mysql_division(values[0], values[1], type);
  }
  if (type == Type::kNumeric) {
    const auto& divisor = std::get<Decimal>(values[1]);
    if (mysql && operation == '%' && divisor.sign() == 0) return {};
    const auto& number = std::get<Decimal>(values[0]);
    auto made = decimal_arithmetic(operation, number, divisor);
    // It is -0 there, which is another number than 0.
    if (mysql && operation == '%' && number.sign() < 0 && std::get<Decimal>(made).sign() == 0) {
      not_supported("a decimal's remainder of minus nothing");
    }
    return made;
  }
  if (is_integer(type)) {
    const auto divisor = std::get<std::int64_t>(values[1]);
    if (mysql && operation == '%' && divisor == 0) return {};
    return integer_arithmetic(operation, std::get<std::int64_t>(values[0]), divisor, type);
  }
  return double_arithmetic(operation, std::get<double>(values[0]), std::get<double>(values[1]),
                           type);
}

// date + integer, date - integer, date - date; nullptr for anything else.
static ExpressionPtr days(char operation, const ExpressionPtr& left, const ExpressionPtr& right) {
  const auto one = left->type.type;
  const auto other = right->type.type;
  const std::string name(1, operation);
  if (one == Type::kDate && other == Type::kDate && operation == '-') {
    return strict(name, {Type::kInteger}, {left, right},
                  [](const std::vector<Scalar>& values) -> Scalar {
                    return std::get<std::int64_t>(values[0]) - std::get<std::int64_t>(values[1]);
                  });
  }
  const bool counted = (operation == '+' || (operation == '-' && one == Type::kDate)) &&
                       (one == Type::kInteger || other == Type::kInteger ||
                        one == Type::kSmallint || other == Type::kSmallint);
  if (counted) {
    return strict(name, {Type::kDate}, {left, right},
                  [operation](const std::vector<Scalar>& values) -> Scalar {
                    const auto days_after = std::get<std::int64_t>(values[1]);
                    const auto date = std::get<std::int64_t>(values[0]) +
                                      (operation == '-' ? -days_after : days_after);
                    if (date < -730119 || date > 2921939) {
                      raise("22008", "date out of range");
                    }
                    return date;
                  });
  }

  return nullptr;
}

ExpressionPtr Coercion::arithmetic_without_sign(char operation, const ExpressionPtr& left,
                                                const ExpressionPtr& right) const {
  const auto one = left->type.type;
  const std::string name(1, operation);
  const auto of_result =
      operation == '%' && one != Type::kUnsigned ? Type::kBigint : Type::kUnsigned;
  return strict(name, {of_result},
                {to(left, {Type::kNumeric}, Context::kImplicit),
                 to(right, {Type::kNumeric}, Context::kImplicit)},
                [of_result, operation](const std::vector<Scalar>& values) {
                  return unsigned_arithmetic(operation, std::get<Decimal>(values[0]),
                                             std::get<Decimal>(values[1]), of_result);
                });
}

ExpressionPtr Coercion::comparison(const std::string& name, ExpressionPtr left, ExpressionPtr right,
                                   std::optional<std::uint32_t> position) const {
  const auto type = compared(name, left, right, position);
  auto made = strict(name, {Type::kBoolean}, {left, right},
                     [type, name](const std::vector<Scalar>& values) -> Scalar {
                       const int order = compare(values[0], values[1], type);
                       if (name == "=") return order == 0;
                       if (name == "<>") return order != 0;
                       if (name == "<") return order < 0;
                       if (name == "<=") return order <= 0;
                       if (name == ">") return order > 0;
                       return order >= 0;
                     });
  if (name != "=") return made;
  auto equal = std::make_shared<Expression>(*made);
  equal->kind = Expression::Kind::kEqual;
  return equal;
}

ExpressionPtr Coercion::concatenation(const std::string& name, ExpressionPtr left,
                                      ExpressionPtr right,
                                      std::optional<std::uint32_t> position) const {
  const auto one = left->type.type;
  const auto other = right->type.type;
  const bool text =
      is_string(one) || is_string(other) || (one == Type::kNull && other == Type::kNull);
  const bool unknown = one == Type::kNull || other == Type::kNull;
  if (!text && !unknown) no_operator(name, one, other, position);
  const auto as_text = [&](const ExpressionPtr& part) {
    return to(part, {Type::kText},
              is_string(part->type.type) || part->type.type == Type::kNull ? Context::kImplicit
                                                                           : Context::kExplicit);
  };
  return strict(name, {Type::kText}, {as_text(left), as_text(right)},
                [](const std::vector<Scalar>& values) -> Scalar {
                  const auto& before = std::get<std::string>(values[0]);
                  const auto& after = std::get<std::string>(values[1]);
                  check_length(before.size() + after.size());
                  return before + after;
                });
}

// What a sum, a product, … of two numbers of a type shows behind the point, in MySQL.
static FullType mysql_arithmetic_type(char operation, const Expression& left,
                                      const Expression& right) {
  FullType result{Type::kNumeric};
  const int of_left = Coercion::decimals(left), of_right = Coercion::decimals(right);
  result.positive = left.type.positive && right.type.positive && operation != '/';
  result.scale = operation == '*'   ? of_left + of_right
                 : operation == '/' ? of_left + 4
                                    : std::max(of_left, of_right);
  if (result.scale > 30) not_supported("a decimal with more than 30 digits behind the point");

  return result;
}

ExpressionPtr Coercion::arithmetic(const std::string& name, ExpressionPtr left, ExpressionPtr right,
                                   std::optional<std::uint32_t> position) const {
  const auto one = left->type.type;
  const auto other = right->type.type;
  const bool mysql = dialect_ == Dialect::kMysql;
  const char operation = name[0];
  if (mysql) {
    if (is_textual(*left) || is_textual(*right)) {
      return binary(name, as_number(left), as_number(right), position);
    }
    if (one == Type::kBoolean) {
      return binary(name, to(left, {Type::kInteger}, Context::kImplicit), right, position);
    }
    if (other == Type::kBoolean) {
      return binary(name, left, to(right, {Type::kInteger}, Context::kImplicit), position);
    }
  }
  if (one == Type::kDate || other == Type::kDate) {
    if (auto made = days(operation, left, right)) return made;
  }
  if (is_time(one) || is_time(other)) {
    not_supported(fmt::format("{} {} {}", type_name(one), name, type_name(other)), position);
  }
  if (mysql && (one == Type::kNull || other == Type::kNull)) {
    const auto whole = [&](const ExpressionPtr& side) {
      return to(side, {Type::kBigint}, Context::kImplicit);
    };
    if (one == Type::kNull && other == Type::kNull) {
      return binary(name, whole(left), whole(right), position);
    }
  }
  if (one == Type::kNull && other == Type::kNull) {
    raise("42725", fmt::format("operator is not unique: unknown {} unknown", name), position);
  }
  const auto known = one == Type::kNull ? other : one;
  if (!is_number(known) || (other != Type::kNull && !is_number(other))) {
    if (mysql) not_supported(fmt::format("{} {} {}", type_name(one), name, type_name(other)));
    no_operator(name, one, other, position);
  }
  auto type = one == Type::kNull || other == Type::kNull ? known : number_pair(one, other);
  if (mysql && operation == '/' && is_whole(type)) type = Type::kNumeric;
  if (type == Type::kUnsigned) return arithmetic_without_sign(operation, left, right);
  if (mysql && operation == '/' && type == Type::kReal) type = Type::kDouble;
  // MySQL computes whole numbers in 64 bits.
  if (mysql && (type == Type::kInteger || type == Type::kSmallint)) type = Type::kBigint;
  if (operation == '%' && (type == Type::kReal || type == Type::kDouble)) {
    if (mysql) not_supported("% of floating-point numbers");
    no_operator(name, one, other, position);
  }
  FullType result{type};
  if (mysql && type == Type::kNumeric) result = mysql_arithmetic_type(operation, *left, *right);
  left = to(left, {type}, Context::kImplicit);
  right = to(right, {type}, Context::kImplicit);
  if (left == nullptr || right == nullptr) no_operator(name, one, other, position);
  return strict(name, result, {left, right},
                [type, operation, mysql](const std::vector<Scalar>& values) {
                  return arithmetic_value(operation, values, type, mysql);
                });
}

ExpressionPtr Coercion::binary(const std::string& name, ExpressionPtr left, ExpressionPtr right,
                               std::optional<std::uint32_t> position) const {
  if (name == "!=") return comparison("<>", std::move(left), std::move(right), position);
  if (is_comparison(name)) return comparison(name, std::move(left), std::move(right), position);
  if (name == "||") return concatenation(name, std::move(left), std::move(right), position);
  if (name.size() == 1 && std::string_view("+-*/%").find(name[0]) != std::string_view::npos) {
    return arithmetic(name, std::move(left), std::move(right), position);
  }
  not_supported("the operator " + name, position);
}

}  // namespace cupel::sql
