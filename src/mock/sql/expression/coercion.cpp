// Casts, comparisons, arithmetic and functions; see the header.
#include "mock/sql/expression/coercion.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cupel::sql {

namespace {

// An operator, and whether it holds for a side that is before, at or after the other.
struct Comparison {
  std::string_view name;
  bool before, at, after;
};
constexpr Comparison kComparisons[] = {
    {"=", false, true, false}, {"<>", true, false, true}, {"<", true, false, false},
    {"<=", true, true, false}, {">", false, false, true}, {">=", false, true, true},
};

[[noreturn]] void raise_no_operator(const std::string& name, Type left, Type right) {
  raise("42883", "operator does not exist: {} {} {}", type_name(left), name, type_name(right));
}

Decimal decimal_arithmetic(char operation, const Decimal& left, const Decimal& right) {
  if (operation == '+') return left + right;
  if (operation == '-') return left - right;
  if (operation == '*') return left * right;
  if (right.sign() == 0) raise("22012", "division by zero");
  return operation == '/' ? left.divided_by(right) : left.remainder(right);
}

Scalar arithmetic_value(char operation, const Scalar& left, const Scalar& right, Type type) {
  if (type == Type::kNumeric) {
    return decimal_arithmetic(operation, std::get<Decimal>(left), std::get<Decimal>(right));
  }
  const auto one = std::get<std::int64_t>(left), other = std::get<std::int64_t>(right);
  if (operation == '/' && other != 0 && other != -1) return one / other;  // cut, not rounded
  return cast(decimal_arithmetic(operation, Decimal(one), Decimal(other)), Type::kNumeric, {type});
}

// What two types have in common, where what is of no type yet is as the other.
std::optional<Type> shared_type(Type one, Type other) {
  if (one == other || one == Type::kNull) return other;
  if (other == Type::kNull) return one;
  if (is_string(one) && is_string(other)) return Type::kText;
  if ((is_number(one) && is_number(other)) || (is_time(one) && is_time(other))) {
    return std::max(one, other);
  }
  return std::nullopt;
}

}  // namespace

ExpressionPtr Coercion::to(const ExpressionPtr& expression, const FullType& type,
                           Context context) const {
  const auto from = expression->type.type;
  const bool assigned = context == Context::kAssignment;
  if (from == Type::kNull && expression->kind == Expression::Kind::kParameter) {
    auto& known = parameters_[expression->parameter];
    if (known == Type::kNull) known = type.type;
    auto typed = std::make_shared<Expression>(*expression);
    typed->type = {known};
    return to(typed, type, context);
  }
  if (from == Type::kNull && expression->kind == Expression::Kind::kConstant) {
    const auto& value = expression->constant;
    return constant(assigned ? assign(value, from, type) : cast(value, from, type), type);
  }
  const bool as_is = from == type.type && (type == expression->type || (type.size < 0));
  if (as_is) return expression;
  if (!can_cast(from, type.type, context)) return nullptr;
  auto made = std::make_shared<Expression>(
      *strict(fmt::format("cast to {} {} {}", type_name(type.type), type.size, type.scale), type,
              {expression}, [from, type, assigned](const std::vector<Scalar>& values) {
                return assigned ? assign(values[0], from, type) : cast(values[0], from, type);
              }));
  if (made->kind != Expression::Kind::kConstant) made->kind = Expression::Kind::kCast;
  return made;
}

FullType Coercion::common(const std::vector<ExpressionPtr>& all, const char* what) {
  FullType found;
  bool same = true;
  for (const auto& one : all) {
    if (one->type.type == Type::kNull) continue;
    same = same && (found.type == Type::kNull || found == one->type);
    const auto type = shared_type(found.type, one->type.type);
    if (!type) {
      raise("42804", "{} types {} and {} cannot be matched", what, type_name(found.type),
            type_name(one->type.type));
    }
    found = same ? one->type : FullType{*type};
  }
  return found.type == Type::kNull ? FullType{Type::kText} : found;
}

ExpressionPtr Coercion::settled(const ExpressionPtr& part) const {
  return part->type.type == Type::kNull ? to(part, {Type::kText}, Context::kImplicit) : part;
}

ExpressionPtr Coercion::condition(const ExpressionPtr& part, const char* what) const {
  auto made = to(part, {Type::kBoolean}, Context::kImplicit);
  if (made == nullptr) {
    raise("42804", "argument of {} must be type boolean, not type {}", what,
          type_name(part->type.type));
  }
  return made;
}

Type Coercion::comparable(const std::string& name, const ExpressionPtr& left,
                          const ExpressionPtr& right) {
  const auto type = shared_type(left->type.type, right->type.type);
  if (!type) raise_no_operator(name, left->type.type, right->type.type);
  return *type == Type::kNull ? Type::kText : *type;
}

ExpressionPtr Coercion::arithmetic(const std::string& name, const ExpressionPtr& left,
                                   const ExpressionPtr& right) const {
  const auto one = left->type.type;
  const auto other = right->type.type;
  if (is_time(one) || is_time(other)) {
    not_supported("{} {} {}", type_name(one), name, type_name(other));
  }
  if (one == Type::kNull && other == Type::kNull) {
    raise("42725", "operator is not unique: unknown {} unknown", name);
  }
  const auto may_be_number = [](Type type) { return is_number(type) || type == Type::kNull; };
  if (!may_be_number(one) || !may_be_number(other)) raise_no_operator(name, one, other);
  const auto type = std::max(one, other);  // what is unknown is as the other
  return strict(name, {type},
                {to(left, {type}, Context::kImplicit), to(right, {type}, Context::kImplicit)},
                [type, operation = name[0]](const std::vector<Scalar>& values) {
                  return arithmetic_value(operation, values[0], values[1], type);
                });
}

ExpressionPtr Coercion::binary(const std::string& name, const ExpressionPtr& left,
                               const ExpressionPtr& right) const {
  if (name.size() == 1 && std::string_view("+-*/%").find(name[0]) != std::string_view::npos) {
    return arithmetic(name, left, right);
  }
  const auto* known = std::find_if(std::begin(kComparisons), std::end(kComparisons),
                                   [&](const Comparison& one) { return one.name == name; });
  if (known == std::end(kComparisons)) not_supported("the operator {}", name);
  const auto type = comparable(name, left, right);
  auto made = std::make_shared<Expression>(
      *strict(name, {Type::kBoolean},
              {to(left, {type}, Context::kImplicit), to(right, {type}, Context::kImplicit)},
              [known](const std::vector<Scalar>& values) -> Scalar {
                const auto order = values[0] <=> values[1];
                return order < 0 ? known->before : order > 0 ? known->after : known->at;
              }));
  if (name == "=" && made->kind == Expression::Kind::kOther) made->kind = Expression::Kind::kEqual;
  return made;
}

ExpressionPtr Coercion::coalesce(const std::vector<ExpressionPtr>& parts) const {
  const auto type = common(parts, "COALESCE");
  std::vector<ExpressionPtr> all;
  for (const auto& part : parts) all.push_back(to(part, {type.type}, Context::kImplicit));
  // As PostgreSQL's planner, before it asks what the others have in common.
  std::erase_if(all, [](const auto& part) {
    return part->kind == Expression::Kind::kConstant && is_null(part->constant);
  });
  if (all.empty()) return constant({}, type);
  return computed("coalesce", common(all, "COALESCE"), all, [all](const Frame& frame) {
    for (const auto& part : all) {
      auto value = part->value(frame);
      if (!is_null(value)) return value;
    }
    return Scalar();
  });
}

ExpressionPtr Coercion::function(const std::string& name, std::size_t arguments) {
  if (name == "now" && arguments == 0) {
    return computed(name, {Type::kTimestampTz}, {},
                    [](const Frame& frame) -> Scalar { return frame.context.facts.now; });
  }
  // What drivers ask for.
  for (const auto& [known, answer] : std::initializer_list<std::pair<const char*, const char*>>{
           {"version", "PostgreSQL 15.0 (cupel mock)"},
           {"current_database", "cupel"},
           {"current_schema", "public"}}) {
    if (name == known && arguments == 0) return constant(std::string(answer), {Type::kText});
  }
  not_supported("the function {} of {} arguments", name, arguments);
}

}  // namespace cupel::sql
