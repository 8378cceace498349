// Casts, comparisons and arithmetic; see the header.
#include "sql/dialect/coercion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "sql/dialect/arithmetic.hpp"
#include "sql/dialect/dialect.hpp"

namespace cupel::sql {

namespace {

bool is_comparison(const std::string& name) {
  return name == "=" || name == "<>" || name == "<" || name == "<=" || name == ">" || name == ">=";
}

}  // namespace

bool holds_for_order(const std::string& name, int order) {
  if (name == "=") return order == 0;
  if (name == "<>") return order != 0;
  if (name == "<") return order < 0;
  if (name == "<=") return order <= 0;
  if (name == ">") return order > 0;
  return order >= 0;
}

ExpressionPtr Coercion::to(const ExpressionPtr& expression, const FullType& type,
                           Context context) const {
  const auto from = expression->type.type;
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
        return constant(dialect_.assigned(expression->constant, from, type), type);
      }
      try {
        return constant(cast(expression->constant, from, type), type);
      } catch (const SqlException&) {
        check_text(expression->constant, type.type);
        throw;
      }
    }
  }
  const bool as_is =
      from == type.type && (type == expression->type || (type.length < 0 && type.precision < 0));
  if (as_is) return expression;
  if (!casts(from, type.type, context)) return nullptr;
  auto made = strict(fmt::format("cast to {} {} {} {}", type_name(type.type), type.length,
                                 type.precision, type.scale),
                     type, {expression},
                     [from, type, &dialect = dialect_, assigned = context == Context::kAssignment](
                         const std::vector<Scalar>& values) {
                       return assigned ? dialect.assigned(values[0], from, type)
                                       : cast(values[0], from, type);
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
  // Integers of which some have a sign and some have none.
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
    if (join(found, type)) continue;
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
  return same ? found : FullType{found.type};
}

int Coercion::decimals(const Expression& part) {
  if (part.type.type != Type::kNumeric) return 0;
  const bool known = part.kind == Expression::Kind::kConstant && !is_null(part.constant);
  return known ? std::get<Decimal>(part.constant).scale() : part.type.scale;
}

ExpressionPtr Coercion::alike(const ExpressionPtr& part, const FullType& type) const {
  return to(part, {type.type}, Context::kImplicit);
}

ExpressionPtr Coercion::condition(const ExpressionPtr& part, const char* what) const {
  auto made = to(part, {Type::kBoolean}, Context::kImplicit);
  if (made == nullptr) {
    raise("42804", fmt::format("argument of {} must be type boolean, not type {}", what,
                               type_name(part->type.type)));
  }
  return made;
}

ExpressionPtr Coercion::assigned(const ExpressionPtr& value, const FullType& type) const {
  return to(value, type, Context::kAssignment);
}

ExpressionPtr Coercion::number(const std::string& digits, const Decimal& value) const {
  if (digits.find_first_of(".eE") == digits.npos) {
    if (const auto whole = value.to_integer()) {
      // Only the least of all fits: its digits alone do not.
      const bool narrow = *whole == std::numeric_limits<std::int32_t>::min();
      return constant(*whole, {narrow ? Type::kInteger : Type::kBigint});
    }
  }
  return constant(value, {Type::kNumeric});
}

Type Coercion::comparable(const std::string& name, const ExpressionPtr& left,
                          const ExpressionPtr& right, std::optional<std::uint32_t> position) const {
  const auto one = left->type.type;
  const auto other = right->type.type;
  const auto& rules = dialect_.rules().values;
  if (one == Type::kNull && other == Type::kNull) return order_type(Type::kText, rules);
  if (one == Type::kNull) return order_type(other, rules);
  if (other == Type::kNull) return order_type(one, rules);
  if (is_number(one) && is_number(other)) {
    const auto both = number_pair(one, other);
    return both == Type::kUnsigned && one != other ? Type::kNumeric : both;
  }
  if (is_string(one) && is_string(other))
    return order_type(one == other ? one : Type::kText, rules);
  if (one == other) return one;
  if (is_time(one) && is_time(other)) {
    return one == Type::kTimestampTz || other == Type::kTimestampTz ? Type::kTimestampTz
                                                                    : Type::kTimestamp;
  }
  return comparable_types(name, one, other, position);
}

Type Coercion::comparable_types(const std::string& name, Type left, Type right,
                                std::optional<std::uint32_t> position) const {
  raise_no_operator(name, left, right, position);
}

Type Coercion::compared(const std::string& name, ExpressionPtr& left, ExpressionPtr& right,
                        std::optional<std::uint32_t> position) const {
  prepare_comparison(left, right);
  const auto type = comparable(name, left, right, position);
  left = to(left, {type}, Context::kImplicit);
  right = to(right, {type}, Context::kImplicit);
  return type;
}

ExpressionPtr Coercion::minus(const ExpressionPtr& part,
                              std::optional<std::uint32_t> position) const {
  auto made = as_number(part);
  if (made->type.type == Type::kNull) made = to(made, {Type::kDouble}, Context::kImplicit);
  made = without_boolean(made);
  const auto type = made->type.type;
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
    // What is constant is computed when it is planned, and is a decimal if it is large.
    if (fixed) not_supported("minus of a computed constant without a sign", position);
    return strict("-", {Type::kBigint}, {made}, [](const std::vector<Scalar>& values) -> Scalar {
      const auto number = Decimal::of_unsigned(std::get<std::uint64_t>(values[0])).negated();
      const auto whole = number.to_integer();
      if (!whole) raise_result_out_of_range(Type::kBigint);
      return *whole;
    });
  }
  const auto negated = showing(type, decimals(*made));
  const bool widens = fixed && dialect_.rules().queries.folds_minus_to_decimal;
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

ExpressionPtr Coercion::comparison(const std::string& name, ExpressionPtr left, ExpressionPtr right,
                                   std::optional<std::uint32_t> position) const {
  const auto type = compared(name, left, right, position);
  auto made = strict(name, {Type::kBoolean}, {left, right},
                     [type, name](const std::vector<Scalar>& values) -> Scalar {
                       return holds_for_order(name, compare(values[0], values[1], type));
                     });
  if (name != "=" || made->kind == Expression::Kind::kConstant) return made;
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
  if (!text && !unknown) raise_no_operator(name, one, other, position);
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

ExpressionPtr Coercion::arithmetic(const std::string& name, ExpressionPtr left, ExpressionPtr right,
                                   std::optional<std::uint32_t> position) const {
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
    raise("42725", fmt::format("operator is not unique: unknown {} unknown", name), position);
  }
  const auto known = one == Type::kNull ? other : one;
  if (!is_number(known) || (other != Type::kNull && !is_number(other))) {
    raise_no_operator(name, one, other, position);
  }
  const auto type = one == Type::kNull || other == Type::kNull ? known : number_pair(one, other);
  if (operation == '%' && (type == Type::kReal || type == Type::kDouble)) {
    raise_no_operator(name, one, other, position);
  }
  left = to(left, {type}, Context::kImplicit);
  right = to(right, {type}, Context::kImplicit);
  if (left == nullptr || right == nullptr) raise_no_operator(name, one, other, position);
  return strict(name, {type}, {left, right}, [type, operation](const std::vector<Scalar>& values) {
    return arithmetic_value(operation, values[0], values[1], type);
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

ExpressionPtr null_if_equal(const ExpressionPtr& left, const ExpressionPtr& equal) {
  return computed("nullif", left->type, {left, equal}, [left, equal](const Frame& frame) {
    return holds(equal, frame) ? Scalar() : left->value(frame);
  });
}

ExpressionPtr Coercion::null_if(const ExpressionPtr& left, const ExpressionPtr& right,
                                std::optional<std::uint32_t> position) const {
  const auto equal = binary("=", left, right, position);
  const auto type = comparable("=", left, right, position);
  return null_if_equal(left->type.type == type ? left : to(left, {type}, Context::kImplicit),
                       equal);
}

ExpressionPtr Coercion::like_side(const ExpressionPtr& part, const std::string& name,
                                  std::optional<std::uint32_t> position) const {
  auto text = to(part, {Type::kText}, Context::kImplicit);
  if (text == nullptr) {
    raise("42883",
          fmt::format("operator does not exist: {} {} unknown", type_name(part->type.type), name),
          position);
  }
  return text;
}

ExpressionPtr Coercion::argument(const ExpressionPtr& part, Type type) const {
  return to(part, {type}, Context::kImplicit);
}

SqlException Coercion::no_function(const std::string& name, const std::string& types,
                                   std::optional<std::uint32_t> position) const {
  return {{"42883", fmt::format("function {}({}) does not exist", name, types), {}, position}};
}

}  // namespace cupel::sql
