// Text as numbers, integers without sign, and decimals that show what is known of them; see the
// header.
#include "sql/dialect/mysql_coercion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "sql/dialect/arithmetic.hpp"
#include "sql/dialect/dialect.hpp"

namespace cupel::sql {

namespace {

constexpr double kExact = 9007199254740992;  // 2^53: below it a double holds all integers

// Of integers of which one has no sign, as decimals: what the result does not hold is an error.
Scalar unsigned_arithmetic(char operation, const Decimal& left, const Decimal& right, Type type) {
  if (operation == '%' && right.sign() == 0) return {};
  const auto result = std::get<Decimal>(decimal_arithmetic(operation, left, right));
  if (type == Type::kBigint) {  // a remainder with a sign
    const auto whole = result.to_integer();
    if (!whole) raise_result_out_of_range(type);
    return *whole;
  }
  const auto number = unsigned_of(result);
  if (!number) raise_result_out_of_range(type);
  return *number;
}

// NULL for a divisor of zero.
Scalar division(const Scalar& left, const Scalar& right, Type type) {
  if (type == Type::kDouble) {
    if (std::get<double>(right) == 0) return {};
    return double_arithmetic('/', std::get<double>(left), std::get<double>(right), type);
  }
  const auto& divisor = std::get<Decimal>(right);
  if (divisor.sign() == 0) return {};
  const auto& number = std::get<Decimal>(left);
  return number.quotient_hiding_digits(divisor);
}

// What a sum, a product, … of two numbers of a type shows after the point,
FullType arithmetic_type(char operation, const Expression& left, const Expression& right) {
  FullType result{Type::kNumeric};
  const int of_left = Coercion::decimals(left), of_right = Coercion::decimals(right);
  result.positive = left.type.positive && right.type.positive && operation != '/';
  result.scale = operation == '*'   ? of_left + of_right
                 : operation == '/' ? of_left + 4
                                    : std::max(of_left, of_right);
  if (result.scale > 30) not_supported("a decimal with more than 30 digits after the point");

  return result;
}

// + - * / % of two values of a type; NULL for a divisor of zero.
Scalar arithmetic_of(char operation, const std::vector<Scalar>& values, Type type) {
  if (operation == '/') return division(values[0], values[1], type);
  if (operation == '%' && type == Type::kNumeric) {
    const auto& number = std::get<Decimal>(values[0]);
    const auto& divisor = std::get<Decimal>(values[1]);
    if (divisor.sign() == 0) return {};
    auto made = decimal_arithmetic(operation, number, divisor);
    // It is -0 there, which is another number than 0.
    if (number.sign() < 0 && std::get<Decimal>(made).sign() == 0) {
      not_supported("a decimal's remainder of minus nothing");
    }
    return made;
  }
  if (operation == '%' && is_integer(type) && std::get<std::int64_t>(values[1]) == 0) return {};
  return arithmetic_value(operation, values[0], values[1], type);
}

}  // namespace

ExpressionPtr MysqlCoercion::as_number(const ExpressionPtr& part) const {
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
      not_supported("a literal that is not a number where a number is needed");
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
                    not_supported("text that is not a number, in what decides what is written");
                  }
                  if (how == Strict::kError && number.rest) {
                    raise("22007", fmt::format("Truncated incorrect DOUBLE value: '{}'", text));
                  }
                  return number.value();
                });
}

ExpressionPtr MysqlCoercion::as_text(const ExpressionPtr& part) const {
  const auto type = part->type.type;
  if (type == Type::kBoolean) return as_text(to(part, {Type::kInteger}, Context::kImplicit));
  if (type == Type::kDouble || type == Type::kReal) return cast_argument(part, {Type::kText});
  return to(part, {Type::kText}, Context::kExplicit);
}

// Both are brought to a type in which MySQL's comparison of doubles has the same answer.
void MysqlCoercion::compare_as_numbers(ExpressionPtr& text, ExpressionPtr& number) const {
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

void MysqlCoercion::check_text(const Scalar& text, Type type) const {
  // It takes what the text begins with, or null.
  not_supported(fmt::format("the text '{}' where a value of type {} is needed",
                            std::get<std::string>(text), type_name(type)));
}

bool MysqlCoercion::casts(Type from, Type to, Context context) const {
  const bool number = is_number(to) && (from == Type::kBoolean ||
                                        (is_string(from) && context == Context::kAssignment));
  return number || can_cast(from, to, context);
}

bool MysqlCoercion::join(FullType& found, const FullType& type) const {
  const auto left = found.type;
  const bool boolean = (left == Type::kBoolean) != (type.type == Type::kBoolean) &&
                       (is_number(left) || is_number(type.type));
  if (boolean && left == Type::kBoolean) found = {type.type};
  return boolean;
}

FullType MysqlCoercion::common(const std::vector<ExpressionPtr>& all, const char* what) const {
  // Numbers among text are text.
  if (std::any_of(all.begin(), all.end(), [](const auto& one) { return is_textual(*one); }) &&
      std::any_of(all.begin(), all.end(), [](const auto& one) { return is_numeric(*one); })) {
    return {Type::kText};
  }
  const auto found = Coercion::common(all, what);
  for (const auto& one : all) {
    const bool of_null = one->kind == Expression::Kind::kConstant && is_null(one->constant) &&
                         is_number(one->type.type);
    if (of_null) not_supported("the type of what is computed of NULL");  // a double there, or not
  }
  if (found.type != Type::kNumeric) return found;
  FullType longest{Type::kNumeric};
  longest.positive =
      std::all_of(all.begin(), all.end(), [](const auto& one) { return one->type.positive; });
  for (const auto& one : all) longest.scale = std::max(longest.scale, decimals(*one));
  return longest;
}

ExpressionPtr MysqlCoercion::alike(const ExpressionPtr& part, const FullType& type) const {
  if (is_string(type.type) && is_numeric(*part)) {
    const bool real = part->type.type == Type::kDouble || part->type.type == Type::kReal;
    if (real && part->kind != Expression::Kind::kColumn) {
      not_supported("text of a computed floating-point number");  // cut to a length of its own
    }
    return as_text(part);
  }
  auto made = to(part, {type.type}, Context::kImplicit);
  if (type.type != Type::kNumeric || made == nullptr) return made;
  return strict("showing", type, {made}, [digits = type.scale](const std::vector<Scalar>& values) {
    return Scalar(std::get<Decimal>(values[0]).showing(digits));
  });
}

ExpressionPtr MysqlCoercion::cast_argument(const ExpressionPtr& part, const FullType& to) const {
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
                    not_supported("a CAST of a value that is not of the type");
                  }
                  return values[0];
                });
}

ExpressionPtr MysqlCoercion::cast_result(const ExpressionPtr& made, const FullType& to) const {
  if (!is_string(to.type)) return made;
  auto as_char = std::make_shared<Expression>(*made);
  if (as_char->kind == Expression::Kind::kCast) as_char->kind = Expression::Kind::kOther;
  as_char->signature.insert(0, "as char of ");
  as_char->has_char_cast = true;
  return as_char;
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

ExpressionPtr MysqlCoercion::condition(const ExpressionPtr& part, const char* what) const {
  if (is_textual(*part)) return condition(as_number(part), what);
  if (is_number(part->type.type)) {
    return binary("<>", part, constant(std::int64_t{0}, {Type::kInteger}), {});
  }
  return Coercion::condition(part, what);
}

ExpressionPtr MysqlCoercion::without_boolean(const ExpressionPtr& part) const {
  if (part->type.type != Type::kBoolean) return part;
  return to(part, {Type::kInteger}, Context::kImplicit);
}

ExpressionPtr MysqlCoercion::number(const std::string& digits, const Decimal& value) const {
  if (digits.find_first_of("eE") != digits.npos) {
    return constant(value.to_double(), {Type::kDouble});
  }
  if (digits.find('.') == digits.npos && !value.to_integer()) {
    if (const auto whole = unsigned_of(value)) return constant(*whole, {Type::kUnsigned});
  }
  return Coercion::number(digits, value);
}

ExpressionPtr MysqlCoercion::null_if(const ExpressionPtr& left, const ExpressionPtr& right,
                                     std::optional<std::uint32_t> position) const {
  const bool null = left->kind == Expression::Kind::kConstant && is_null(left->constant);
  if (null && left->type.type == Type::kNull) return left;
  const auto equal = binary("=", left, right, position);
  // The left side as it is. A parameter may have taken the type of the right side.
  const bool unknown = left->type.type == Type::kNull;
  return null_if_equal(unknown ? to(left, {Type::kText}, Context::kExplicit) : left, equal);
}

ExpressionPtr MysqlCoercion::like_side(const ExpressionPtr& part, const std::string& /*name*/,
                                       std::optional<std::uint32_t> /*position*/) const {
  const auto value = is_numeric(*part) ? as_text(part) : part;
  auto text = to(value, {Type::kText}, Context::kImplicit);
  if (text == nullptr) not_supported("LIKE of what is no text");
  return text;
}

void MysqlCoercion::prepare_between(ExpressionPtr& middle, const ExpressionPtr& lower,
                                    const ExpressionPtr& upper) const {
  // With a number among them all are compared as numbers.
  if (is_textual(*middle) && is_textual(*lower) != is_textual(*upper)) {
    not_supported("BETWEEN of text, with a number and a text");
  }
  if (is_numeric(*lower) || is_numeric(*upper)) middle = as_number(middle);
  // MySQL compares quotients here by digits that they do not show.
  for (const auto& part : {middle, lower, upper}) {
    if (part->type.type == Type::kNumeric && part->kind != Expression::Kind::kConstant &&
        part->kind != Expression::Kind::kColumn) {
      not_supported("BETWEEN of a computed decimal");
    }
  }
}

ExpressionPtr MysqlCoercion::assigned(const ExpressionPtr& value, const FullType& type) const {
  auto made = Coercion::assigned(value, type);
  const auto from = value->type.type;
  if (is_string(type.type) && (from == Type::kDouble || from == Type::kReal)) {
    return strict("text of", type, {as_text(value)}, [type](const std::vector<Scalar>& values) {
      const auto& text = std::get<std::string>(values[0]);
      if (type.length >= 0 && static_cast<std::size_t>(type.length) < text.size()) {
        not_supported("a floating-point number in a column too short for it");
      }
      return assign(values[0], Type::kText, type);
    });
  }
  // Text is read as what the column holds.
  if (made == nullptr && is_string(from)) made = to(value, type, Context::kExplicit);
  return made;
}

ExpressionPtr MysqlCoercion::argument(const ExpressionPtr& part, Type type) const {
  auto made = Coercion::argument(part, type);
  // It takes any value for any other.
  const bool exact = is_whole(part->type.type) || part->type.type == Type::kNumeric;
  if (made == nullptr && exact && (is_string(type) || is_integer(type))) {
    made = to(part, {type}, Context::kExplicit);
  }
  return made;
}

SqlException MysqlCoercion::no_function(const std::string& name, const std::string& types,
                                        std::optional<std::uint32_t> position) const {
  auto error = unsupported(fmt::format("{}({})", name, types), position);
  error.error.message += "; the function takes other arguments";
  return error;
}

ExpressionPtr MysqlCoercion::widened(const ExpressionPtr& part) const {
  if (!is_integer(part->type.type)) return part;
  return to(part, {Type::kBigint}, Context::kImplicit);
}

FullType MysqlCoercion::showing(Type type, int digits) const {
  FullType made{type};
  made.scale = digits;
  return made;
}

void MysqlCoercion::prepare_comparison(ExpressionPtr& left, ExpressionPtr& right) const {
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

Type MysqlCoercion::comparable_types(const std::string& /*name*/, Type left, Type right,
                                     std::optional<std::uint32_t> /*position*/) const {
  if (left == Type::kBoolean && is_number(right)) return right;
  if (right == Type::kBoolean && is_number(left)) return left;
  not_supported(fmt::format("comparing {} with {}", type_name(left), type_name(right)));
}

ExpressionPtr MysqlCoercion::arithmetic_without_sign(char operation, const ExpressionPtr& left,
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

ExpressionPtr MysqlCoercion::arithmetic(const std::string& name, ExpressionPtr left,
                                        ExpressionPtr right,
                                        std::optional<std::uint32_t> position) const {
  left = without_boolean(as_number(left));
  right = without_boolean(as_number(right));
  const auto one = left->type.type;
  const auto other = right->type.type;
  const char operation = name[0];
  if (one == Type::kDate || other == Type::kDate) {
    if (auto made = date_arithmetic(operation, left, right)) return made;
  }
  if (is_time(one) || is_time(other)) {
    not_supported(fmt::format("{} {} {}", type_name(one), name, type_name(other)), position);
  }
  if (one == Type::kNull && other == Type::kNull) {
    return binary(name, to(left, {Type::kBigint}, Context::kImplicit),
                  to(right, {Type::kBigint}, Context::kImplicit), position);
  }
  const auto known = one == Type::kNull ? other : one;
  if (!is_number(known) || (other != Type::kNull && !is_number(other))) {
    not_supported(fmt::format("{} {} {}", type_name(one), name, type_name(other)));
  }
  auto type = one == Type::kNull || other == Type::kNull ? known : number_pair(one, other);
  if (operation == '/' && is_whole(type)) type = Type::kNumeric;
  if (type == Type::kUnsigned) return arithmetic_without_sign(operation, left, right);
  if (operation == '/' && type == Type::kReal) type = Type::kDouble;
  // Whole numbers are computed in 64 bits.
  if (type == Type::kInteger || type == Type::kSmallint) type = Type::kBigint;
  if (operation == '%' && (type == Type::kReal || type == Type::kDouble)) {
    not_supported("% of floating-point numbers");
  }
  const auto result =
      type == Type::kNumeric ? arithmetic_type(operation, *left, *right) : FullType{type};
  left = to(left, {type}, Context::kImplicit);
  right = to(right, {type}, Context::kImplicit);
  if (left == nullptr || right == nullptr) raise_no_operator(name, one, other, position);
  return strict(name, result, {left, right}, [type, operation](const std::vector<Scalar>& values) {
    return arithmetic_of(operation, values, type);
  });
}

}  // namespace cupel::sql
