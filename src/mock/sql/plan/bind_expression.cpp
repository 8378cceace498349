// Expressions from the parse tree: names and types resolved; see query.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <set>

#include "mock/sql/plan/query.hpp"

namespace cupel::sql {

namespace {

constexpr int kDeepestExpression = 400;

// As PostgreSQL calls an output; false: by its type, or not at all.
std::pair<std::string, bool> named(const Tree& node) {
  const auto kind = kind_of(node);
  const auto& body = body_of(node);
  if (kind == "ColumnRef") return {text_of(body_of(list(body, "fields").back()), "sval"), true};
  if (kind == "FuncCall") return {strings_of(body, "funcname").back(), true};
  if (kind == "CoalesceExpr") return {"coalesce", true};
  if (kind == "SQLValueFunction") return {"current_timestamp", true};
  if (kind == "TypeCast") {
    auto inner = named(field(body, "arg"));
    if (inner.second) return inner;
    return {strings_of(field(body, "typeName"), "names").back(), false};
  }
  if (kind == "SubLink" && text_of(body, "subLinkType") == "EXISTS_SUBLINK")
    return {"exists", true};
  if (kind == "SubLink" && text_of(body, "subLinkType") == "EXPR_SUBLINK") {
    const auto& targets = list(body_of(field(body, "subselect")), "targetList");
    if (!targets.empty()) return {output_name(targets[0]), true};
  }
  return {"?column?", false};
}

// The rows of a sub-query. Those of one that depends on no row are the same all along a statement.
using Answers = std::shared_ptr<std::vector<Scalar>>;
Answers answers(const Select& select, const Frame& frame, std::size_t most) {
  auto& context = frame.context;
  if (!select.correlated) {
    const auto known = context.answers.find(&select);
    if (known != context.answers.end()) return known->second;
  }
  auto rows = std::make_shared<std::vector<Scalar>>();
  context.run_query(select, context, &frame, [&](std::vector<Scalar>& values) {
    rows->push_back(values.empty() ? Scalar(true) : values[0]);
    return rows->size() < most;
  });
  if (!select.correlated) context.answers[&select] = rows;
  return rows;
}

// Whether the value is one of them: null if it is none, and one is null.
Scalar is_among(const Scalar& value, const std::vector<Scalar>& all) {
  if (is_null(value) && !all.empty()) return {};
  bool null = false;
  for (const auto& one : all) {
    null |= is_null(one);
    if (!is_null(one) && value == one) return true;
  }
  return null ? Scalar() : Scalar(false);
}

constexpr std::pair<std::string_view, Aggregate::Kind> kAggregates[] = {
    {"count", Aggregate::Kind::kCount},  {"sum", Aggregate::Kind::kSum},
    {"avg", Aggregate::Kind::kAverage},  {"min", Aggregate::Kind::kLeast},
    {"max", Aggregate::Kind::kGreatest},
};

}  // namespace

std::string output_name(const Tree& node) {
  if (kind_of(node) != "ResTarget") return named(node).first;
  const auto& target = body_of(node);
  return has(target, "name") ? text_of(target, "name") : named(field(target, "val")).first;
}

FullType Binder::type(const Tree& body, bool* serial) {
  using enum Type;
  static constexpr std::pair<std::string_view, Type> kTypes[] = {
      {"int2", kSmallint},        {"int4", kInteger},        {"int8", kBigint},
      {"smallserial", kSmallint}, {"serial", kInteger},      {"bigserial", kBigint},
      {"serial2", kSmallint},     {"serial4", kInteger},     {"serial8", kBigint},
      {"bool", kBoolean},         {"text", kText},           {"varchar", kVarchar},
      {"numeric", kNumeric},      {"timestamp", kTimestamp}, {"timestamptz", kTimestampTz},
  };
  const auto name = name_in("pg_catalog", strings_of(body, "names"));
  const auto* known = std::find_if(std::begin(kTypes), std::end(kTypes),
                                   [&](const auto& one) { return one.first == name; });
  if (known == std::end(kTypes)) not_supported("the type {}", name);
  FullType made{known->second};
  if (name.find("serial") != name.npos) {
    if (serial == nullptr) raise("42704", "type \"{}\" does not exist", name);
    *serial = true;
  }
  std::vector<int> modifiers;
  for (const auto& one : list(body, "typmods")) {
    const auto& value = field(body_of(one), "ival");
    if (value.is_null()) not_supported("a type's modifier");
    modifiers.push_back(static_cast<int>(number_of(value, "ival")));
  }
  const bool numeric = made.type == Type::kNumeric;
  if (modifiers.size() > (numeric ? 2 : 1)) not_supported("a type with so many modifiers");
  if (modifiers.empty() || (is_time(made.type) && modifiers[0] == 6)) return made;
  if (!numeric && made.type != Type::kVarchar) {
    not_supported("{}({})", type_name(made.type), modifiers[0]);
  }
  if (modifiers[0] < 1 || modifiers[0] > (numeric ? 1000 : 10485760)) {
    raise("22023", "invalid {}({})", type_name(made.type), modifiers[0]);
  }
  made.size = modifiers[0];
  if (modifiers.size() > 1) made.scale = modifiers[1];
  if (made.scale < 0 || (numeric && made.scale > made.size)) {
    not_supported("NUMERIC scale {}", made.scale);
  }
  return made;
}

ExpressionPtr Binder::expression(const Tree& node, Scope& scope) {
  if (++depth_ > kDeepestExpression) raise("54001", "stack depth limit exceeded");
  auto made = bound(node, scope);
  --depth_;
  return made;
}

ExpressionPtr Binder::condition(const Tree& node, Scope& scope, const char* clause) {
  return coercion.condition(expression(node, scope), clause);
}

ExpressionPtr Binder::bound(const Tree& node, Scope& scope) {
  const auto kind = kind_of(node);
  const auto& body = body_of(node);
  if (kind == "ColumnRef") return column(body, scope);
  if (kind == "A_Const") return literal(body);
  if (kind == "ParamRef") return parameter(body);
  if (kind == "A_Expr") return operation(body, scope);
  if (kind == "BoolExpr") return connective(body, scope);
  if (kind == "NullTest") return null_test(body, scope);
  if (kind == "TypeCast") return type_cast(body, scope);
  if (kind == "FuncCall") return call(body, scope);
  if (kind == "SubLink") return sub_query(body, scope);
  if (kind == "SQLValueFunction") {
    const auto op = text_of(body, "op");
    if (op != "SVFOP_CURRENT_TIMESTAMP") not_supported("{}", op.substr(op.find('_') + 1));
    return Coercion::function("now", 0);
  }
  if (kind == "CoalesceExpr") {
    std::vector<ExpressionPtr> parts;
    for (const auto& argument : list(body, "args")) parts.push_back(expression(argument, scope));
    return coercion.coalesce(parts);
  }
  if (kind == "SetToDefault") raise("42601", "DEFAULT is not allowed in this context");
  not_supported("{}", in_sql(kind));
}

ExpressionPtr Binder::literal(const Tree& body) {
  if (flag_of(body, "isnull")) return constant({}, {Type::kNull});
  if (has(body, "ival")) return constant(number_of(body["ival"], "ival"), {Type::kInteger});
  if (has(body, "boolval")) return constant(flag_of(body["boolval"], "boolval"), {Type::kBoolean});
  if (has(body, "sval")) return constant(text_of(body["sval"], "sval"), {Type::kNull});
  const auto digits = text_of(field(body, "fval"), "fval");
  const auto number = Decimal::parse(digits);
  if (!number) raise("22003", "value overflows numeric format");
  if (digits.find_first_of(".eE") == digits.npos) {
    if (const auto whole = number->to_integer()) {
      const bool narrow = *whole == static_cast<std::int32_t>(*whole);
      return constant(*whole, {narrow ? Type::kInteger : Type::kBigint});
    }
  }
  return constant(*number, {Type::kNumeric});
}

ExpressionPtr Binder::parameter(const Tree& body) {
  const auto number = number_of(body, "number");
  if (number < 1 || number > 65535) {
    raise("42P02", "there is no parameter ${}", number);
  }
  const auto at = static_cast<std::size_t>(number - 1);
  if (parameters_.size() <= at) parameters_.resize(at + 1, Type::kNull);
  auto made = std::make_shared<Expression>();
  made->kind = Expression::Kind::kParameter;
  made->type = {parameters_[at]};
  made->parameter = at;
  made->signature = fmt::format("${}", number);
  made->value = [at](const Frame& frame) { return frame.context.parameters[at]; };
  return made;
}

ExpressionPtr Binder::negation(const ExpressionPtr& part) {
  return strict("not", {Type::kBoolean}, {part}, [](const std::vector<Scalar>& values) -> Scalar {
    return !std::get<bool>(values[0]);
  });
}

ExpressionPtr Binder::connected(const std::vector<ExpressionPtr>& parts, bool conjunction) {
  auto made = std::make_shared<Expression>(
      *computed(conjunction ? "and" : "or", {Type::kBoolean}, parts,
                [parts, conjunction](const Frame& frame) -> Scalar {
                  bool null = false;
                  for (const auto& part : parts) {
                    const auto value = part->value(frame);
                    null |= is_null(value);
                    if (!is_null(value) && std::get<bool>(value) != conjunction)
                      return !conjunction;
                  }
                  return null ? Scalar() : Scalar(conjunction);
                }));
  if (conjunction) made->kind = Expression::Kind::kAnd;
  return made;
}

ExpressionPtr Binder::connective(const Tree& body, Scope& scope) {
  auto name = text_of(body, "boolop");
  name.resize(name.find('_'));  // "AND_EXPR"
  std::vector<ExpressionPtr> parts;
  for (const auto& argument : list(body, "args")) {
    parts.push_back(condition(argument, scope, name.c_str()));
  }
  return name == "NOT" ? negation(parts[0]) : connected(parts, name == "AND");
}

ExpressionPtr Binder::null_test(const Tree& body, Scope& scope) {
  const auto part = coercion.settled(expression(field(body, "arg"), scope));
  const bool wanted = text_of(body, "nulltesttype") == "IS_NULL";
  return computed(wanted ? "is null" : "is not null", {Type::kBoolean}, {part},
                  [part, wanted](const Frame& frame) -> Scalar {
                    return is_null(part->value(frame)) == wanted;
                  });
}

ExpressionPtr Binder::type_cast(const Tree& body, Scope& scope) {
  const auto to = type(field(body, "typeName"));
  const auto part = expression(field(body, "arg"), scope);
  auto made = coercion.to(part, to, Context::kExplicit);
  if (made == nullptr) {
    raise("42846", "cannot cast type {} to {}", type_name(part->type.type), type_name(to.type));
  }
  return made;
}

ExpressionPtr Binder::column(const Tree& body, Scope& scope) {
  if (kind_of(list(body, "fields").back()) == "A_Star") not_supported("* in an expression");
  const auto names = strings_of(body, "fields");
  if (names.size() > 2) not_supported("a name of more than two parts");
  const auto& name = names.back();
  const auto table = names.size() == 2 ? names[0] : "";
  bool known_source = false, is_source = false;
  std::size_t depth = 0;
  for (Scope* at = &scope; at != nullptr; at = at->outer, ++depth) {
    if (at->sources == nullptr) continue;
    std::optional<std::pair<std::size_t, std::size_t>> found;
    for (std::size_t source = 0; source < at->sources->size(); ++source) {
      const auto& one = (*at->sources)[source];
      is_source |= one.name == name;
      if (!table.empty() && one.name != table) continue;
      known_source = true;
      const auto place = one.table->column(name);
      if (!place) continue;
      if (found) raise("42702", "column reference \"{}\" is ambiguous", name);
      found = {source, *place};
    }
    if (!found) continue;
    for (Scope* inner = &scope; inner != at; inner = inner->outer) inner->correlated = true;
    at->touched |= bit(found->first);
    return column_value(depth, found->first, found->second,
                        (*at->sources)[found->first].table->columns[found->second].type);
  }
  if (!table.empty() && !known_source) {
    raise("42P01", "missing FROM-clause entry for table \"{}\"", table);
  }
  if (table.empty() && is_source) not_supported("a row as a value ({} is a table)", name);
  raise("42703", "column \"{}\" does not exist", name);
}

ExpressionPtr Binder::in_list(const Tree& body, Scope& scope) {
  std::vector<ExpressionPtr> all{expression(field(body, "lexpr"), scope)};
  for (const auto& item : list(body_of(field(body, "rexpr")), "items")) {
    all.push_back(expression(item, scope));
    (void)Coercion::comparable("=", all[0], all.back());
  }
  const auto type = Coercion::common(all, "IN");
  for (auto& one : all) one = coercion.to(one, {type.type}, Context::kImplicit);
  // Thousands of constants are one look-up a row.
  std::set<Scalar> known;
  bool constants = true, null = false;
  std::vector<ExpressionPtr> equalities;
  for (std::size_t at = 1; at < all.size(); ++at) {
    const auto& one = *all[at];
    constants &= one.kind == Expression::Kind::kConstant;
    null |= constants && is_null(one.constant);
    if (constants && !is_null(one.constant)) known.insert(one.constant);
    equalities.push_back(coercion.binary("=", all[0], all[at]));
  }
  if (!constants) return connected(equalities, false);
  return computed("in", {Type::kBoolean}, all,
                  [test = all[0], known, null](const Frame& frame) -> Scalar {
                    const auto value = test->value(frame);
                    if (is_null(value)) return {};
                    if (known.contains(value)) return true;
                    return null ? Scalar() : Scalar(false);
                  });
}

ExpressionPtr Binder::operation(const Tree& body, Scope& scope) {
  const auto kind = text_of(body, "kind");
  const auto names = strings_of(body, "name");
  if (names.size() != 1) not_supported("an operator of a schema");
  const auto& name = names[0];
  const auto& left = field(body, "lexpr");
  const auto& right = field(body, "rexpr");
  if (kind == "AEXPR_IN") {
    const auto made = in_list(body, scope);
    return name == "=" ? made : negation(made);
  }
  if (kind == "AEXPR_BETWEEN" || kind == "AEXPR_NOT_BETWEEN") {
    const auto middle = expression(left, scope);
    const auto& bounds = list(body_of(right), "items");
    const auto made = connected({coercion.binary(">=", middle, expression(bounds[0], scope)),
                                 coercion.binary("<=", middle, expression(bounds[1], scope))},
                                true);
    return kind == "AEXPR_BETWEEN" ? made : negation(made);
  }
  if (kind != "AEXPR_OP") not_supported("the operator {}", kind.substr(6));
  if (!left.is_null()) {
    const auto one = expression(left, scope);
    return coercion.binary(name, one, expression(right, scope));
  }
  if (name == "-") {
    const auto part = expression(right, scope);
    const FullType type{is_number(part->type.type) ? part->type.type : Type::kNumeric};
    const auto zero = cast(std::int64_t{0}, Type::kInteger, type);
    return coercion.binary(name, constant(zero, type), part);
  }
  not_supported("the operator {} with one side", name);
}

ExpressionPtr Binder::call(const Tree& body, Scope& scope) {
  const auto name = name_in("pg_catalog", strings_of(body, "funcname"));
  for (const auto& [called, kind] : kAggregates) {
    if (name == called) return aggregate(body, kind, scope);
  }
  if (has(body, "agg_star") || has(body, "agg_distinct")) {
    not_supported("DISTINCT or * in {}", name);
  }
  return Coercion::function(name, list(body, "args").size());
}

// The types of its argument and its own.
void Binder::type_aggregate(Aggregate& made, const std::string& name) const {
  using Kind = Aggregate::Kind;
  const bool total = made.kind == Kind::kSum || made.kind == Kind::kAverage;
  if (made.kind == Kind::kCount) {
    if (made.argument != nullptr) made.argument = coercion.settled(made.argument);
    made.type = {Type::kBigint};
    return;
  }
  if (made.argument != nullptr && !total) made.argument = coercion.settled(made.argument);
  const auto type = made.argument == nullptr ? Type::kNull : made.argument->type.type;
  if (total ? !is_number(type) : type == Type::kBoolean || type == Type::kNull) {
    raise("42883", "function {}({}) does not exist", name, type_name(type));
  }
  if (!total) {
    made.type = {type == Type::kVarchar ? Type::kText : type};
  } else {
    const bool narrow = type == Type::kSmallint || type == Type::kInteger;
    made.type = {narrow && made.kind == Kind::kSum ? Type::kBigint : Type::kNumeric};
  }
}

ExpressionPtr Binder::aggregate(const Tree& body, Aggregate::Kind kind, Scope& scope) {
  const auto name = strings_of(body, "funcname").back();
  if (scope.aggregates == nullptr) {
    raise("42803", "aggregate functions are not allowed in {}", scope.clause);
  }
  const auto& arguments = list(body, "args");
  if (arguments.size() != (flag_of(body, "agg_star") ? 0 : 1)) {
    raise("42883", "function {} of {} arguments does not exist", name, arguments.size());
  }
  Aggregate made;
  made.kind = kind;
  made.distinct = flag_of(body, "agg_distinct");
  if (!arguments.empty()) {
    Scope inner = scope;
    inner.aggregates = nullptr;
    inner.clause = "an aggregate function";
    inner.touched = 0;
    inner.correlated = false;
    made.argument = expression(arguments[0], inner);
    if (inner.correlated && inner.touched == 0) {
      not_supported("an aggregate of the query around it");
    }
    scope.touched |= inner.touched;
    scope.correlated |= inner.correlated;
  }
  type_aggregate(made, name);
  auto expression = std::make_shared<Expression>();
  expression->kind = Expression::Kind::kAggregate;
  expression->type = made.type;
  expression->has_aggregate = true;
  const auto number = scope.aggregates->size();
  expression->signature = fmt::format("aggregate {}", number);
  expression->value = [number](const Frame& frame) { return (*frame.aggregates)[number]; };
  scope.aggregates->push_back(std::move(made));
  return expression;
}

ExpressionPtr Binder::sub_query(const Tree& body, Scope& scope) {
  if (!scope.queries) not_supported("a sub-query in {}", scope.clause);
  const auto kind = text_of(body, "subLinkType");
  std::vector<ExpressionPtr> parts;
  if (has(body, "testexpr")) parts.push_back(expression(field(body, "testexpr"), scope));
  const auto touched = std::exchange(scope.touched, 0);
  const auto select = this->select(body_of(field(body, "subselect")), &scope);
  const auto inside = scope.touched;
  scope.touched |= touched;

  const bool exists = kind == "EXISTS_SUBLINK";
  if (!exists && select->outputs.size() != 1) {
    raise("42601", "subquery must return only one column");
  }
  FullType type{Type::kBoolean};
  std::function<Scalar(const Frame&)> value;
  if (exists) {
    value = [select](const Frame& frame) -> Scalar { return !answers(*select, frame, 1)->empty(); };
  } else if (kind == "EXPR_SUBLINK") {
    type = select->outputs[0].value->type;
    value = [select](const Frame& frame) -> Scalar {
      const auto rows = answers(*select, frame, 2);
      if (rows->size() > 1) {
        raise("21000", "more than one row returned by a subquery used as an expression");
      }
      return rows->empty() ? Scalar() : rows->front();
    };
  } else if (kind == "ANY_SUBLINK" && !has(body, "operName")) {  // IN
    auto& output = select->outputs[0].value;
    const auto common = Coercion::comparable("=", parts[0], output);
    const auto test = parts[0] = coercion.to(parts[0], {common}, Context::kImplicit);
    output = coercion.to(output, {common}, Context::kImplicit);
    value = [select, test](const Frame& frame) {
      const auto rows = answers(*select, frame, std::numeric_limits<std::size_t>::max());
      return rows->empty() ? Scalar(false) : is_among(test->value(frame), *rows);
    };
  } else {
    not_supported("this kind of sub-query");
  }
  static std::atomic<std::uint64_t> number{0};
  auto made = std::make_shared<Expression>(
      *computed(fmt::format("query {}", ++number), type, std::move(parts), std::move(value)));
  made->sources |= inside;
  made->inside = inside;
  made->reads_queries = true;
  return made;
}

ExpressionPtr Binder::default_of(const ColumnInfo& column) {
  if (column.counter != nullptr) {
    return computed("next value", column.type, {},
                    [counter = column.counter, type = column.type](const Frame&) -> Scalar {
                      return cast(counter->next(), Type::kBigint, type);
                    });
  }
  if (column.default_value.is_null()) return constant({}, column.type);
  Scope scope;
  scope.clause = "DEFAULT expressions";
  scope.queries = false;
  return assigned(expression(column.default_value, scope), column);
}

ExpressionPtr Binder::assigned(const ExpressionPtr& value, const ColumnInfo& column) {
  auto made = coercion.to(value, column.type, Context::kAssignment);
  if (made == nullptr) {
    raise("42804", "column \"{}\" is of type {} but expression is of type {}", column.name,
          type_name(column.type.type), type_name(value->type.type));
  }
  return made;
}

}  // namespace cupel::sql
