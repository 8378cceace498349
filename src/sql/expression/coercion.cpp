// Casts, comparisons and arithmetic; see the header.
#include "sql/expression/coercion.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sql/expression/arithmetic.hpp"

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
        return constant(assign(expression->constant, from, type), type);
      }
      return constant(cast(expression->constant, from, type), type);
    }
  }
  const bool as_is =
      from == type.type && (type == expression->type || (type.length < 0 && type.precision < 0));
  if (as_is) return expression;
  if (!can_cast(from, type.type, context)) return nullptr;
  auto made = strict(
      fmt::format("cast to {} {} {} {}", type_name(type.type), type.length, type.precision,
                  type.scale),
      type, {expression},
      [from, type, assigned = context == Context::kAssignment](const std::vector<Scalar>& values) {
        return assigned ? assign(values[0], from, type) : cast(values[0], from, type);
      });
  if (made->kind == Expression::Kind::kConstant) return made;  // null
  auto as_cast = std::make_shared<Expression>(*made);
  as_cast->kind = Expression::Kind::kCast;
  return as_cast;
}

FullType Coercion::common(const std::vector<ExpressionPtr>& all, const char* what) {
  FullType found;
  bool same = true;
  for (const auto& one : all) {
    const auto& type = one->type;
    if (type.type == Type::kNull) continue;
    if (found.type == Type::kNull) {
      found = type;
      continue;
    }
    same = same && found == type;
    if (found.type == type.type) continue;
    const auto left = found.type;
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

ExpressionPtr Coercion::settled(const ExpressionPtr& part) const {
  return part->type.type == Type::kNull ? to(part, {Type::kText}, Context::kImplicit) : part;
}

ExpressionPtr Coercion::condition(const ExpressionPtr& part, const char* what) const {
  auto made = to(part, {Type::kBoolean}, Context::kImplicit);
  if (made == nullptr) {
    raise("42804", fmt::format("argument of {} must be type boolean, not type {}", what,
                               type_name(part->type.type)));
  }
  return made;
}

Type Coercion::comparable(const std::string& name, const ExpressionPtr& left,
                          const ExpressionPtr& right) {
  const auto one = left->type.type;
  const auto other = right->type.type;
  if (one == Type::kNull && other == Type::kNull) return Type::kText;
  if (one == Type::kNull || one == other) return other;
  if (other == Type::kNull) return one;
  if (is_number(one) && is_number(other)) return number_pair(one, other);
  if (is_string(one) && is_string(other)) return Type::kText;
  if (is_time(one) && is_time(other)) {
    return one == Type::kTimestampTz || other == Type::kTimestampTz ? Type::kTimestampTz
                                                                    : Type::kTimestamp;
  }
  raise_no_operator(name, one, other);
}

Type Coercion::compared(const std::string& name, ExpressionPtr& left, ExpressionPtr& right) const {
  const auto type = comparable(name, left, right);
  left = to(left, {type}, Context::kImplicit);
  right = to(right, {type}, Context::kImplicit);
  return type;
}

ExpressionPtr Coercion::minus(const ExpressionPtr& part) const {
  auto made = part;
  if (made->type.type == Type::kNull) made = to(made, {Type::kDouble}, Context::kImplicit);
  const auto type = made->type.type;
  if (!is_number(type)) {
    raise("42883", fmt::format("operator does not exist: - {}", type_name(type)));
  }
  return strict("-", {type}, {made}, [type](const std::vector<Scalar>& values) -> Scalar {
    if (type == Type::kNumeric) return std::get<Decimal>(values[0]).negated();
    if (is_integer(type)) {
      return integer_arithmetic('-', 0, std::get<std::int64_t>(values[0]), type);
    }
    return -std::get<double>(values[0]);
  });
}

ExpressionPtr Coercion::comparison(const std::string& name, ExpressionPtr left,
                                   ExpressionPtr right) const {
  const auto type = compared(name, left, right);
  auto made = strict(name, {Type::kBoolean}, {left, right},
                     [type, name](const std::vector<Scalar>& values) -> Scalar {
                       return holds_for_order(name, compare(values[0], values[1], type));
                     });
  if (name != "=" || made->kind == Expression::Kind::kConstant) return made;
  auto equal = std::make_shared<Expression>(*made);
  equal->kind = Expression::Kind::kEqual;
  return equal;
}

ExpressionPtr Coercion::concatenation(const std::string& name, const ExpressionPtr& left,
                                      const ExpressionPtr& right) const {
  const auto one = left->type.type;
  const auto other = right->type.type;
  const bool text =
      is_string(one) || is_string(other) || (one == Type::kNull && other == Type::kNull);
  const bool unknown = one == Type::kNull || other == Type::kNull;
  if (!text && !unknown) raise_no_operator(name, one, other);
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

ExpressionPtr Coercion::arithmetic(const std::string& name, ExpressionPtr left,
                                   ExpressionPtr right) const {
  const auto one = left->type.type;
  const auto other = right->type.type;
  const char operation = name[0];
  if (is_time(one) || is_time(other)) {
    not_supported(fmt::format("{} {} {}", type_name(one), name, type_name(other)));
  }
  if (one == Type::kNull && other == Type::kNull) {
    raise("42725", fmt::format("operator is not unique: unknown {} unknown", name));
  }
  const auto known = one == Type::kNull ? other : one;
  if (!is_number(known) || (other != Type::kNull && !is_number(other))) {
    raise_no_operator(name, one, other);
  }
  const auto type = one == Type::kNull || other == Type::kNull ? known : number_pair(one, other);
  if (operation == '%' && type == Type::kDouble) {
    raise_no_operator(name, one, other);
  }
  left = to(left, {type}, Context::kImplicit);
  right = to(right, {type}, Context::kImplicit);
  if (left == nullptr || right == nullptr) raise_no_operator(name, one, other);
  return strict(name, {type}, {left, right}, [type, operation](const std::vector<Scalar>& values) {
    return arithmetic_value(operation, values[0], values[1], type);
  });
}

ExpressionPtr Coercion::binary(const std::string& name, ExpressionPtr left,
                               ExpressionPtr right) const {
  if (name == "!=") return comparison("<>", std::move(left), std::move(right));
  if (is_comparison(name)) return comparison(name, std::move(left), std::move(right));
  if (name == "||") return concatenation(name, left, right);
  if (name.size() == 1 && std::string_view("+-*/%").find(name[0]) != std::string_view::npos) {
    return arithmetic(name, std::move(left), std::move(right));
  }
  not_supported("the operator " + name);
}

ExpressionPtr Coercion::null_if(const ExpressionPtr& left, const ExpressionPtr& right) const {
  const auto equal = binary("=", left, right);
  const auto type = comparable("=", left, right);
  const auto kept = left->type.type == type ? left : to(left, {type}, Context::kImplicit);
  return computed("nullif", kept->type, {kept, equal}, [kept, equal](const Frame& frame) {
    return holds(equal, frame) ? Scalar() : kept->value(frame);
  });
}

}  // namespace cupel::sql
