// Names and types resolved: parse tree to plan; see query.hpp.
#include "sql/plan/query.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <unordered_set>

#include "sql/parse/sql_words.hpp"

namespace cupel::sql {

namespace {

std::uint64_t bit(std::size_t source) {
  return std::uint64_t{1} << source;
}

// Whether nothing in it has a name: PostgreSQL calls it by its type, or CASE by that word.
bool weak_name(const Tree& node) {
  const auto kind = kind_of(node);
  if (kind == "SubLink") return text_of(body_of(node), "subLinkType") == "ANY_SUBLINK";
  if (kind == "TypeCast") return weak_name(field(body_of(node), "arg"));
  if (kind == "CaseExpr") {
    return !has(body_of(node), "defresult") || weak_name(field(body_of(node), "defresult"));
  }
  return kind == "A_Const" || kind == "ParamRef" || kind == "BoolExpr" || kind == "NullTest" ||
         (kind == "A_Expr" && text_of(body_of(node), "kind") != "AEXPR_NULLIF");
}

std::string output_name(const Tree& node) {
  const auto kind = kind_of(node);
  const auto& body = body_of(node);
  if (kind == "ColumnRef") {
    const auto& last = list(body, "fields").back();
    if (kind_of(last) == "String") return text_of(body_of(last), "sval");
  }
  if (kind == "FuncCall") return strings_of(body, "funcname").back();
  if (kind == "TypeCast") {
    if (!weak_name(field(body, "arg"))) return output_name(field(body, "arg"));
    return strings_of(field(body, "typeName"), "names").back();
  }
  if (kind == "CaseExpr") {
    return weak_name(node) ? "case" : output_name(field(body, "defresult"));
  }
  if (kind == "CoalesceExpr") return "coalesce";
  if (kind == "A_Expr" && text_of(body, "kind") == "AEXPR_NULLIF") return "nullif";
  if (kind == "SQLValueFunction") {
    auto name = text_of(body, "op").substr(6);
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return name;
  }
  if (kind == "SubLink") {
    const auto type = text_of(body, "subLinkType");
    if (type == "EXISTS_SUBLINK") return "exists";
    if (type == "EXPR_SUBLINK") {
      const auto& select = body_of(field(body, "subselect"));
      const auto& targets = list(select, "targetList");
      if (!targets.empty()) {
        const auto& target = body_of(targets[0]);
        return has(target, "name") ? text_of(target, "name") : output_name(field(target, "val"));
      }
    }
  }
  return "?column?";
}

// The last of the sources of `mask`, in the order in which joins bind them.
void leaves(const Join& join, std::vector<const Join*>& all) {
  if (join.kind == Join::Kind::kLeaf) {
    all.push_back(&join);
    return;
  }
  leaves(*join.left, all);
  leaves(*join.right, all);
}

std::uint64_t sources_in(const Join& join) {
  std::vector<const Join*> all;
  leaves(join, all);
  std::uint64_t mask = 0;
  for (const auto* one : all) mask |= bit(one->source);
  return mask;
}

// Where a condition on the sources of `mask` can be asked first.
Join& place_for(Join& join, std::uint64_t mask) {
  if (join.kind == Join::Kind::kLeaf) return join;
  if ((mask & sources_in(*join.right)) == 0) return place_for(*join.left, mask);
  if (join.kind == Join::Kind::kLeft) return join;
  return place_for(*join.right, mask);
}

void conjuncts(const ExpressionPtr& condition, std::vector<ExpressionPtr>& all) {
  if (condition->kind != Expression::Kind::kAnd) {
    all.push_back(condition);
    return;
  }
  for (const auto& part : condition->parts) conjuncts(part, all);
}

// Whether it reads of this source nothing but the primary key, and nothing elsewhere that
// is not bound: sub-queries read.
bool reads_key_only(const Expression& expression, const Source& source, std::size_t number) {
  if (expression.reads_queries) return false;
  if (expression.kind == Expression::Kind::kColumn && expression.depth == 0 &&
      expression.source == number && !source.table->in_key(expression.column)) {
    return false;
  }
  return std::all_of(expression.parts.begin(), expression.parts.end(),
                     [&](const auto& part) { return reads_key_only(*part, source, number); });
}

// The column that a side of an equality is, seen through casts that keep apart what the
// column keeps apart.
const Expression* plain_column(const Expression& side) {
  if (side.kind == Expression::Kind::kColumn) return &side;
  if (side.kind != Expression::Kind::kCast) return nullptr;
  const auto& inner = *side.parts[0];
  if (inner.kind != Expression::Kind::kColumn) return nullptr;
  // Decimals of any length, too.
  const bool decimals = side.type.type == Type::kNumeric && side.type.precision < 0;
  const bool integers = (is_integer(side.type.type) || decimals) && is_integer(inner.type.type);
  const bool texts = side.type.type == Type::kText && inner.type.type == Type::kVarchar;
  return integers || texts ? &inner : nullptr;
}

bool is_system_column(const std::string& name) {
  static constexpr std::string_view kNames[] = {"ctid", "xmin", "cmin", "xmax", "cmax", "tableoid"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

// Outputs, or what a query is grouped or ordered by: each is compared with all of the others.
void check_entries(std::size_t count) {
  if (count > 1664) raise("54000", "target lists can have at most 1664 entries");
}

using AggregateKind = Aggregate::Kind;

constexpr std::pair<std::string_view, AggregateKind> kAggregates[] = {
    {"count", AggregateKind::kCount},  {"sum", AggregateKind::kSum},
    {"avg", AggregateKind::kAverage},  {"min", AggregateKind::kLeast},
    {"max", AggregateKind::kGreatest},
};

std::optional<AggregateKind> aggregate_kind(const std::string& name) {
  for (const auto& [called, kind] : kAggregates) {
    if (name == called) return kind;
  }
  return std::nullopt;
}

// The numbers of `x IN (1, 2, 3)`, where x is an integer; empty for every other list. Thousands
// of them are one look-up a row then.
std::unordered_set<std::int64_t> integers_compared(const std::vector<ExpressionPtr>& equalities) {
  std::unordered_set<std::int64_t> numbers;
  for (const auto& equality : equalities) {
    if (equality->kind != Expression::Kind::kEqual) return {};
    const auto& left = *equality->parts[0];
    const auto& right = *equality->parts[1];
    const auto* number = std::get_if<std::int64_t>(&right.constant);
    if (right.kind != Expression::Kind::kConstant || number == nullptr ||
        !is_integer(left.type.type) || left.signature != equalities[0]->parts[0]->signature) {
      return {};
    }
    numbers.insert(*number);
  }
  return numbers;
}

}  // namespace

TablePtr Binder::table(const Tree& range_variable) const {
  check_fields(range_variable, "a table name",
               {"schemaname", "relname", "inh", "relpersistence", "alias", "catalogname"});
  const auto name = text_of(range_variable, "relname");
  if (!flag_of(range_variable, "inh")) not_supported("ONLY");
  const auto schema = text_of(range_variable, "schemaname");
  if (!schema.empty() && schema != "public") {
    if (schema == "pg_catalog" || schema == "information_schema") {
      not_supported("the schema " + schema);
    }
    raise("42P01", fmt::format("relation \"{}.{}\" does not exist", schema, name));
  }
  auto found = catalog_.find(name);
  if (found == nullptr) {
    raise("42P01", fmt::format("relation \"{}\" does not exist", name));
  }
  return found;
}

Source Binder::source(TablePtr table, std::string name) {
  Source made;
  made.name = std::move(name);
  for (const auto& column : table->columns) made.columns.emplace_back(column.name, column.type);
  made.table = std::move(table);
  return made;
}

FullType Binder::type(const Tree& body, bool* serial) {
  check_fields(body, "a type", {"names", "typmods", "typemod"});
  const auto names = strings_of(body, "names");
  const auto& name = names.back();
  std::vector<int> modifiers;
  for (const auto& one : list(body, "typmods")) {
    const auto& value = field(body_of(one), "ival");
    if (kind_of(one) != "A_Const" || value.is_null()) not_supported("a type's modifier");
    modifiers.push_back(static_cast<int>(number_of(value, "ival")));
  }
  const auto plain = [&](Type made) -> FullType {
    if (!modifiers.empty() && !(is_time(made) && modifiers[0] == 6)) {
      not_supported(fmt::format("{}({})", type_name(made), modifiers[0]));
    }
    return {made};
  };
  const auto counted = [&](Type made) -> FullType {
    if (serial == nullptr) raise("42704", fmt::format("type \"{}\" does not exist", name));
    *serial = true;
    return plain(made);
  };
  const auto sized = [&](Type made) -> FullType {
    FullType full{made};
    if (modifiers.empty()) return full;
    if (modifiers[0] < 1)
      raise("22023", fmt::format("length for type {} must be at least 1", name));
    if (modifiers[0] > 10485760) {
      raise("22023", fmt::format("length for type {} cannot exceed 10485760", name));
    }
    full.length = modifiers[0];
    return full;
  };
  if (name == "int2") return plain(Type::kSmallint);
  if (name == "int4") return plain(Type::kInteger);
  if (name == "int8") return plain(Type::kBigint);
  if (name == "float8") return plain(Type::kDouble);
  if (name == "bool") return plain(Type::kBoolean);
  if (name == "text") return plain(Type::kText);
  if (name == "date") return plain(Type::kDate);
  if (name == "timestamp") return plain(Type::kTimestamp);
  if (name == "timestamptz") return plain(Type::kTimestampTz);
  if (name == "smallserial" || name == "serial2") return counted(Type::kSmallint);
  if (name == "serial" || name == "serial4") return counted(Type::kInteger);
  if (name == "bigserial" || name == "serial8") return counted(Type::kBigint);
  if (name == "varchar") return sized(Type::kVarchar);
  if (name == "numeric") {
    FullType full{Type::kNumeric};
    if (modifiers.empty()) return full;
    full.precision = modifiers[0];
    full.scale = modifiers.size() > 1 ? modifiers[1] : 0;
    if (full.precision < 1 || full.precision > 1000) {
      raise("22023",
            fmt::format("NUMERIC precision {} must be between 1 and 1000", full.precision));
    }
    if (full.scale < 0 || full.scale > full.precision) {
      not_supported(fmt::format("NUMERIC scale {}", full.scale));
    }
    return full;
  }
  not_supported("the type " + name);
}

ExpressionPtr Binder::expression(const Tree& node, Scope& scope) {
  if (++depth_ > 400) {
    depth_ = 0;
    raise("54001", "stack depth limit exceeded");
  }
  auto made = bound(node, scope);
  --depth_;
  return made;
}

ExpressionPtr Binder::literal(const Tree& body) {
  check_fields(body, "a constant", {"ival", "fval", "sval", "boolval", "isnull"});
  if (flag_of(body, "isnull")) return constant({}, {Type::kNull});
  if (has(body, "ival")) return constant(number_of(body["ival"], "ival"), {Type::kInteger});
  if (has(body, "boolval")) return constant(flag_of(body["boolval"], "boolval"), {Type::kBoolean});
  if (has(body, "sval")) return constant(text_of(body["sval"], "sval"), {Type::kNull});
  const auto digits = text_of(field(body, "fval"), "fval");
  const auto number = Decimal::parse(digits);
  if (!number) raise("22003", "value overflows numeric format");
  if (digits.find_first_of(".eE") == digits.npos) {
    if (const auto whole = number->to_integer()) {
      // Only the least of all fits: its digits alone do not.
      const bool narrow = *whole == std::numeric_limits<std::int32_t>::min();
      return constant(*whole, {narrow ? Type::kInteger : Type::kBigint});
    }
  }
  return constant(*number, {Type::kNumeric});
}

ExpressionPtr Binder::parameter(const Tree& body) {
  check_fields(body, "a parameter", {"number"});
  const auto number = number_of(body, "number");
  if (number < 1 || number > 65535)
    raise("42P02", fmt::format("there is no parameter ${}", number));
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

ExpressionPtr Binder::connective(const Tree& body, Scope& scope) {
  check_fields(body, "a condition", {"boolop", "args"});
  const auto op = text_of(body, "boolop");
  const bool both = op == "AND_EXPR";
  std::vector<ExpressionPtr> parts;
  for (const auto& argument : list(body, "args")) {
    parts.push_back(coercion.condition(expression(argument, scope), both              ? "AND"
                                                                    : op == "OR_EXPR" ? "OR"
                                                                                      : "NOT"));
  }
  if (op == "NOT_EXPR") {
    return strict("not", {Type::kBoolean}, parts, [](const std::vector<Scalar>& values) -> Scalar {
      return !std::get<bool>(values[0]);
    });
  }
  auto made = computed(both ? "and" : "or", {Type::kBoolean}, parts,
                       [parts, both](const Frame& frame) -> Scalar {
                         bool null = false;
                         for (const auto& part : parts) {
                           const auto value = part->value(frame);
                           if (is_null(value)) {
                             null = true;
                           } else if (std::get<bool>(value) != both) {
                             return !both;
                           }
                         }
                         return null ? Scalar() : Scalar(both);
                       });
  if (!both) return made;
  auto conjunction = std::make_shared<Expression>(*made);
  conjunction->kind = Expression::Kind::kAnd;
  return conjunction;
}

ExpressionPtr Binder::null_test(const Tree& body, Scope& scope) {
  check_fields(body, "IS NULL", {"arg", "nulltesttype"});
  const auto part = coercion.settled(expression(field(body, "arg"), scope));
  const bool wanted = text_of(body, "nulltesttype") == "IS_NULL";
  return computed(wanted ? "is null" : "is not null", {Type::kBoolean}, {part},
                  [part, wanted](const Frame& frame) -> Scalar {
                    return is_null(part->value(frame)) == wanted;
                  });
}

ExpressionPtr Binder::type_cast(const Tree& body, Scope& scope) {
  check_fields(body, "a cast", {"arg", "typeName"});
  const auto to = type(field(body, "typeName"));
  const auto part = expression(field(body, "arg"), scope);
  auto made = coercion.to(part, to, Context::kExplicit);
  if (made == nullptr) {
    raise("42846",
          fmt::format("cannot cast type {} to {}", type_name(part->type.type), type_name(to.type)));
  }
  return made;
}

ExpressionPtr Binder::session_value(const Tree& node) {
  const auto& body = body_of(node);
  check_fields(body, "a function", {"op", "typmod"});
  const auto op = text_of(body, "op");
  if (op == "SVFOP_CURRENT_TIMESTAMP") return coercion.function("now", {});
  if (op == "SVFOP_LOCALTIMESTAMP" || op == "SVFOP_CURRENT_DATE") {
    const auto now = coercion.function("now", {});
    return coercion.to(now, {op == "SVFOP_CURRENT_DATE" ? Type::kDate : Type::kTimestamp},
                       Context::kAssignment);
  }
  if (op == "SVFOP_CURRENT_SCHEMA") {
    return coercion.function(output_name(node), {});
  }
  not_supported(output_name(node));
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
  if (kind == "CaseExpr") return case_of(body, scope);
  if (kind == "CoalesceExpr") {
    check_fields(body, "a function", {"args"});
    std::vector<ExpressionPtr> parts;
    for (const auto& argument : list(body, "args")) parts.push_back(expression(argument, scope));
    return coercion.coalesce(parts);
  }
  if (kind == "SubLink") return sub_query(body, scope);
  if (kind == "SQLValueFunction") return session_value(node);
  if (kind == "SetToDefault") raise("42601", "DEFAULT is not allowed in this context");
  not_supported(in_sql(kind));
}

ExpressionPtr Binder::column(const Tree& body, Scope& scope) {
  check_fields(body, "a column", {"fields"});
  const auto& fields = list(body, "fields");
  if (kind_of(fields.back()) == "A_Star") not_supported("* in an expression");
  auto names = strings_of(body, "fields");
  if (names.size() > 3) not_supported("a name of four parts");
  if (names.size() == 3) names.erase(names.begin());  // the schema
  const auto& name = names.back();
  const std::string of = names.size() == 2 ? names[0] : "";
  std::vector<Scope*> passed;
  bool known_source = false;
  std::size_t depth = 0;
  for (Scope* at = &scope; at != nullptr; at = at->outer, ++depth) {
    std::optional<std::pair<std::size_t, std::size_t>> found;
    if (at->sources != nullptr) {
      for (std::size_t source = 0; source < at->sources->size(); ++source) {
        const auto& one = (*at->sources)[source];
        if (one.out_of_scope || (!of.empty() && one.name != of)) continue;
        known_source |= !of.empty();
        for (std::size_t place = 0; place < one.columns.size(); ++place) {
          if (one.columns[place].first != name) continue;
          if (found) {
            raise("42702", fmt::format("column reference \"{}\" is ambiguous", name));
          }
          found = {source, place};
        }
      }
    }
    if (found) {
      for (auto* inner : passed) inner->correlated = true;
      const auto& source = (*at->sources)[found->first];
      at->touched |= bit(found->first);
      at->columns.push_back(*found);
      auto made = std::make_shared<Expression>();
      made->kind = Expression::Kind::kColumn;
      made->type = source.columns[found->second].second;
      made->depth = depth;
      made->source = found->first;
      made->column = found->second;
      made->signature = fmt::format("#{}.{}.{}", depth, found->first, found->second);
      if (depth == 0) made->sources = bit(found->first);
      made->value = [depth, from = found->first, place = found->second](const Frame& frame) {
        const Frame* owner = &frame;
        for (std::size_t up = 0; up < depth; ++up) owner = owner->outer;
        return owner->rows[from]->cell(place);
      };
      return made;
    }
    passed.push_back(at);
  }
  if (of.empty() && !fields.empty()) {
    for (const Scope* at = &scope; at != nullptr; at = at->outer) {
      if (at->sources == nullptr) continue;
      for (const auto& source : *at->sources) {
        if (source.name == name && !source.out_of_scope) {
          not_supported(fmt::format("a row as a value ({}, where {} is a table)", name, name));
        }
      }
    }
  }
  if (is_system_column(name)) {
    not_supported("the system column " + name);
  }
  if (!of.empty() && !known_source) {
    raise("42P01", fmt::format("missing FROM-clause entry for table \"{}\"", of));
  }
  raise("42703", of.empty() ? fmt::format("column \"{}\" does not exist", name)
                            : fmt::format("column {}.{} does not exist", of, name));
}

ExpressionPtr Binder::membership(const Tree& body, Scope& scope) {
  const bool negated = text_of(body_of(list(body, "name")[0]), "sval") == "<>";
  const auto left = expression(field(body, "lexpr"), scope);
  std::vector<ExpressionPtr> all{left};
  for (const auto& item : list(body_of(field(body, "rexpr")), "items")) {
    all.push_back(expression(item, scope));
  }
  std::vector<ExpressionPtr> equalities;
  std::optional<FullType> shared;
  for (std::size_t at = 1; at < all.size(); ++at) {
    auto right = all[at];
    if (right->type.type == Type::kNull && left->type.type == Type::kNull) {
      if (!shared) shared = Coercion::common(all, "IN");
      right = coercion.to(right, *shared, Context::kImplicit);
    }
    equalities.push_back(coercion.binary("=", left, right));
  }
  return computed(
      negated ? "not in" : "in", {Type::kBoolean}, equalities,
      [equalities, negated, numbers = integers_compared(equalities)](const Frame& frame) -> Scalar {
        if (!numbers.empty()) {
          const auto value = equalities[0]->parts[0]->value(frame);
          if (is_null(value)) return {};
          return (numbers.count(std::get<std::int64_t>(value)) != 0) != negated;
        }
        bool null = false;
        for (const auto& equality : equalities) {
          const auto value = equality->value(frame);
          if (is_null(value)) {
            null = true;
          } else if (std::get<bool>(value)) {
            return !negated;
          }
        }
        return null ? Scalar() : Scalar(negated);
      });
}

ExpressionPtr Binder::null_if(const Tree& body, Scope& scope) {
  const auto left = expression(field(body, "lexpr"), scope);
  const auto right = expression(field(body, "rexpr"), scope);
  return coercion.null_if(left, right);
}

ExpressionPtr Binder::between(const Tree& body, Scope& scope) {
  const auto kind = text_of(body, "kind");
  const auto& left_tree = field(body, "lexpr");
  const auto& right_tree = field(body, "rexpr");
  const auto& bounds = list(body_of(right_tree), "items");
  const auto middle = expression(left_tree, scope);
  const bool inside = kind == "AEXPR_BETWEEN";
  const auto lower = expression(bounds[0], scope), upper = expression(bounds[1], scope);
  const auto low = coercion.binary(inside ? ">=" : "<", middle, lower);
  const auto high = coercion.binary(inside ? "<=" : ">", middle, upper);
  return computed(inside ? "between" : "not between", {Type::kBoolean}, {low, high},
                  [low, high, inside](const Frame& frame) -> Scalar {
                    const auto one = low->value(frame);
                    if (!is_null(one) && std::get<bool>(one) != inside) return !inside;
                    const auto other = high->value(frame);
                    if (!is_null(other) && std::get<bool>(other) != inside) return !inside;
                    if (is_null(one) || is_null(other)) return {};
                    return inside;
                  });
}

ExpressionPtr Binder::operation(const Tree& body, Scope& scope) {
  check_fields(body, "an operator", {"kind", "name", "lexpr", "rexpr"});
  const auto kind = text_of(body, "kind");
  const auto names = strings_of(body, "name");
  if (names.size() != 1) not_supported("an operator of a schema");
  const auto& name = names[0];
  const auto& left_tree = field(body, "lexpr");
  const auto& right_tree = field(body, "rexpr");
  if (kind == "AEXPR_IN") return membership(body, scope);
  if (kind == "AEXPR_OP") {
    if (left_tree.is_null()) {
      auto part = expression(right_tree, scope);
      if (name == "-") return coercion.minus(part);
      if (name == "+" && is_number(part->type.type)) return part;
      not_supported("the operator " + name + " with one side");
    }
    auto left = expression(left_tree, scope);
    auto right = expression(right_tree, scope);
    return coercion.binary(name, std::move(left), std::move(right));
  }
  if (kind == "AEXPR_NULLIF") return null_if(body, scope);
  if (kind == "AEXPR_BETWEEN" || kind == "AEXPR_NOT_BETWEEN") return between(body, scope);
  not_supported("the operator " + kind.substr(6));
}

ExpressionPtr Binder::call(const Tree& body, Scope& scope) {
  check_fields(body, "a function call",
               {"funcname", "args", "agg_star", "agg_distinct", "funcformat"});
  const auto names = strings_of(body, "funcname");
  if (names.size() > 1 && names[0] != "pg_catalog") {
    not_supported("a function of the schema " + names[0]);
  }
  const auto& name = names.back();
  if (const auto kind = aggregate_kind(name)) return aggregate(body, *kind, scope);
  if (has(body, "agg_star") || has(body, "agg_distinct")) {
    not_supported("DISTINCT or * in " + name);
  }
  std::vector<ExpressionPtr> parts;
  for (const auto& argument : list(body, "args")) parts.push_back(expression(argument, scope));
  return coercion.function(name, parts);
}

// The types of its argument and its own.
void Binder::type_aggregate(Aggregate& made, const Tree& body) const {
  const auto kind = made.kind;
  const auto wrong = [&] {
    std::string types;
    for (const auto& argument : made.arguments) types += type_name(argument->type.type);
    raise("42883", fmt::format("function {}({}) does not exist", made.name, types));
  };
  const bool star = flag_of(body, "agg_star");
  if (made.arguments.size() != (star ? 0 : 1)) wrong();
  if (kind == AggregateKind::kCount) {
    if (!star) made.arguments[0] = coercion.settled(made.arguments[0]);
    made.type = {Type::kBigint};
    return;
  }
  if (star) wrong();
  auto& argument = made.arguments[0];
  const bool total = kind == AggregateKind::kSum || kind == AggregateKind::kAverage;
  if (total && argument->type.type == Type::kNull) {
    raise("42725", fmt::format("function {}(unknown) is not unique", made.name));
  }
  argument = coercion.settled(argument);
  const auto type = argument->type.type;
  if (total ? !is_number(type) : type == Type::kBoolean) wrong();
  if (!total) {
    made.type = {type == Type::kVarchar ? Type::kText : type};
  } else if (type == Type::kDouble) {
    made.type = {type};
  } else {
    const bool narrow = type == Type::kSmallint || type == Type::kInteger;
    made.type = {narrow && kind == AggregateKind::kSum ? Type::kBigint : Type::kNumeric};
  }
}

ExpressionPtr Binder::aggregate(const Tree& body, Aggregate::Kind kind, Scope& scope) {
  if (scope.aggregates == nullptr) {
    raise("42803", fmt::format("aggregate functions are not allowed in {}", scope.clause));
  }
  Aggregate made;
  made.kind = kind;
  made.name = strings_of(body, "funcname").back();
  made.distinct = flag_of(body, "agg_distinct");
  auto* place = scope.aggregates;
  scope.aggregates = nullptr;
  const char* clause = scope.clause;
  scope.clause = "an aggregate function";
  const auto touched = scope.touched;
  scope.touched = 0;
  const bool was_correlated = scope.correlated;
  scope.correlated = false;
  for (const auto& argument : list(body, "args")) {
    made.arguments.push_back(expression(argument, scope));
  }
  if (scope.correlated && scope.touched == 0) {
    not_supported("an aggregate of the query around it");
  }
  scope.aggregates = place;
  scope.clause = clause;
  scope.touched |= touched;
  scope.correlated |= was_correlated;

  type_aggregate(made, body);

  auto expression = std::make_shared<Expression>();
  expression->kind = Expression::Kind::kAggregate;
  expression->type = made.type;
  expression->has_aggregate = true;
  const auto number = place->size();
  expression->signature = fmt::format("aggregate {}", number);
  expression->value = [number](const Frame& frame) { return (*frame.aggregates)[number]; };
  place->push_back(std::move(made));
  return expression;
}

ExpressionPtr Binder::case_of(const Tree& body, Scope& scope) {
  check_fields(body, "CASE", {"arg", "args", "defresult"});
  const bool simple = has(body, "arg");
  ExpressionPtr subject;
  if (simple) subject = coercion.settled(expression(field(body, "arg"), scope));
  std::vector<ExpressionPtr> tests;
  std::vector<ExpressionPtr> results;
  for (const auto& branch : list(body, "args")) {
    const auto& when = body_of(branch);
    check_fields(when, "WHEN", {"expr", "result"});
    auto test = expression(field(when, "expr"), scope);
    if (simple) test = coercion.binary("=", subject, test);
    tests.push_back(coercion.condition(test, "CASE/WHEN"));
    results.push_back(expression(field(when, "result"), scope));
  }
  // PostgreSQL takes ELSE first when it looks for the common type.
  std::vector<ExpressionPtr> all;
  all.push_back(has(body, "defresult") ? expression(field(body, "defresult"), scope)
                                       : constant({}, {Type::kNull}));
  all.insert(all.end(), results.begin(), results.end());
  const auto type = coercion.common(all, "CASE");
  for (auto& one : all) one = coercion.alike(one, type);
  auto parts = tests;
  parts.insert(parts.end(), all.begin(), all.end());
  return computed("case", type, parts, [tests, all](const Frame& frame) {
    for (std::size_t at = 0; at < tests.size(); ++at) {
      if (holds(tests[at], frame)) return all[at + 1]->value(frame);
    }
    return all[0]->value(frame);
  });
}

ExpressionPtr Binder::sub_query(const Tree& body, Scope& scope) {
  check_fields(body, "a sub-query", {"subLinkType", "testexpr", "operName", "subselect"});
  if (!scope.queries) not_supported(fmt::format("a sub-query in {}", scope.clause));
  const auto kind = text_of(body, "subLinkType");
  ExpressionPtr test;
  if (has(body, "testexpr")) {
    test = expression(field(body, "testexpr"), scope);
  }
  const auto touched = scope.touched;
  scope.touched = 0;
  const auto columns = std::move(scope.columns);
  scope.columns.clear();
  const auto select = this->select(body_of(field(body, "subselect")), &scope);
  const auto mask = scope.touched;
  auto outside = scope.columns;
  scope.touched |= touched;
  scope.columns.insert(scope.columns.begin(), columns.begin(), columns.end());

  const bool exists = kind == "EXISTS_SUBLINK";
  if (!exists && select->outputs.size() != 1) {
    raise("42601", kind == "EXPR_SUBLINK" ? "subquery must return only one column"
                                          : "subquery has too many columns");
  }

  using Rows = std::vector<Scalar>;
  // Answers of a query that depends on no row are the same all along the statement.
  const auto answer = [select, exists, scalar = kind == "EXPR_SUBLINK"](const Frame& frame) {
    auto& context = frame.context;
    if (!select->correlated) {
      const auto known = context.answers.find(select.get());
      if (known != context.answers.end()) return std::static_pointer_cast<Rows>(known->second);
    }
    auto rows = std::make_shared<Rows>();
    context.run_query(*select, context, &frame, [&](std::vector<Scalar>& values) {
      rows->push_back(exists || values.empty() ? Scalar(true) : values[0]);
      if (scalar && rows->size() > 1) {
        raise("21000", "more than one row returned by a subquery used as an expression");
      }
      return !exists;
    });
    if (!select->correlated) context.answers[select.get()] = rows;
    return rows;
  };

  std::shared_ptr<Expression> made;
  static std::atomic<std::uint64_t> number{0};
  const auto signature = fmt::format("query {}", ++number);
  if (exists) {
    made = std::make_shared<Expression>(
        *computed(signature, {Type::kBoolean}, {},
                  [answer](const Frame& frame) -> Scalar { return !answer(frame)->empty(); }));
  } else if (kind == "EXPR_SUBLINK") {
    made = std::make_shared<Expression>(
        *computed(signature, select->outputs[0].value->type, {}, [answer](const Frame& frame) {
          const auto rows = answer(frame);
          return rows->empty() ? Scalar() : rows->front();
        }));
  } else if (kind == "ANY_SUBLINK" && strings_of(body, "operName").empty()) {  // IN
    const auto& output = select->outputs[0].value;
    const auto type = Coercion::comparable("=", test, output);
    test = coercion.to(test, {type}, Context::kImplicit);
    const auto from = output->type.type;
    if (test == nullptr || !can_cast(from, type, Context::kImplicit)) {
      not_supported("a comparison of these types with a sub-query");
    }
    made = std::make_shared<Expression>(
        *computed(signature, {Type::kBoolean}, {test},
                  [answer, test, from, type](const Frame& frame) -> Scalar {
                    const auto rows = answer(frame);
                    if (rows->empty()) return false;
                    const auto value = test->value(frame);
                    if (is_null(value)) return {};
                    bool null = false;
                    for (const auto& row : *rows) {
                      if (is_null(row)) {
                        null = true;
                      } else if (compare(value, cast(row, from, {type}), type) == 0) {
                        return true;
                      }
                    }
                    return null ? Scalar() : Scalar(false);
                  }));
  } else {
    not_supported("this kind of sub-query");
  }
  made->sources |= mask;
  made->reads_queries = true;
  made->outside.insert(made->outside.end(), outside.begin(), outside.end());
  return made;
}

ExpressionPtr Binder::assigned(const ExpressionPtr& value, const ColumnInfo& column) {
  auto made = coercion.to(value, column.type, Context::kAssignment);
  if (made == nullptr) {
    raise("42804",
          fmt::format("column \"{}\" is of type {} but expression is of type {}", column.name,
                      type_name(column.type.type), type_name(value->type.type)));
  }
  return made;
}

std::unique_ptr<Join> Binder::from_item(const Tree& node, Scope& scope,
                                        std::vector<Source>& sources,
                                        std::vector<std::pair<Join*, const Tree*>>& conditions) {
  const auto kind = kind_of(node);
  const auto& body = body_of(node);
  auto join = std::make_unique<Join>();
  const auto add = [&](Source source) {
    for (const auto& other : sources) {
      if (other.name == source.name && !source.name.empty()) {
        raise("42712", fmt::format("table name \"{}\" specified more than once", source.name));
      }
    }
    if (sources.size() == 60) not_supported("a query of more than 60 tables");
    join->source = sources.size();
    sources.push_back(std::move(source));
  };
  const auto alias_of = [&](Source& source) {
    const auto& alias = field(body, "alias");
    if (alias.is_null()) return;
    check_fields(alias, "an alias", {"aliasname"});
    source.name = text_of(alias, "aliasname");
  };
  if (kind == "RangeVar") {
    auto found = table(body);
    auto made = source(found, found->name);
    alias_of(made);
    add(std::move(made));
    return join;
  }
  if (kind == "JoinExpr") {
    check_fields(body, "a join", {"jointype", "larg", "rarg", "quals"});
    const auto type = text_of(body, "jointype");
    if (type != "JOIN_INNER" && type != "JOIN_LEFT") not_supported("RIGHT JOIN and FULL JOIN");
    join->kind = type == "JOIN_INNER" ? Join::Kind::kInner : Join::Kind::kLeft;
    join->left = from_item(field(body, "larg"), scope, sources, conditions);
    join->right = from_item(field(body, "rarg"), scope, sources, conditions);
    if (has(body, "quals")) conditions.emplace_back(join.get(), &field(body, "quals"));
    return join;
  }
  not_supported(in_sql(kind));
}

std::unique_ptr<Join> Binder::from(const Tree& clause, Scope& scope, std::vector<Source>& sources) {
  std::unique_ptr<Join> root;
  std::vector<std::pair<Join*, const Tree*>> conditions;
  for (const auto& node : clause) {
    auto one = from_item(node, scope, sources, conditions);
    if (root == nullptr) {
      root = std::move(one);
    } else {
      auto both = std::make_unique<Join>();
      both->kind = Join::Kind::kInner;
      both->left = std::move(root);
      both->right = std::move(one);
      root = std::move(both);
    }
  }
  // A condition sees the sources of its own join; a name of another is an error.
  for (const auto& [join, quals] : conditions) {
    const auto mask = sources_in(*join);
    for (std::size_t at = 0; at < sources.size(); ++at) {
      sources[at].out_of_scope = (mask & bit(at)) == 0;
    }
    std::vector<ExpressionPtr> parts;
    scope.clause = "JOIN conditions";
    conjuncts(coercion.condition(expression(*quals, scope), "JOIN/ON"), parts);
    scope.clause = "WHERE";
    for (auto& source : sources) source.out_of_scope = false;
    for (const auto& part : parts) {
      if (join->kind == Join::Kind::kInner) {
        const auto inner = part->sources & mask;
        // Nothing of this join: asked with the first row below it.
        place_for(*join, inner == 0 ? mask : inner).filters.push_back(part);
      } else if (const auto right = part->sources & sources_in(*join->right); right == 0) {
        join->gate.push_back(part);
      } else {
        place_for(*join->right, right).filters.push_back(part);
      }
    }
  }
  return root;
}

void Binder::place(const ExpressionPtr& condition, Join* root, std::vector<ExpressionPtr>& gate) {
  std::vector<ExpressionPtr> parts;
  conjuncts(condition, parts);
  for (const auto& part : parts) {
    if (part->sources == 0 || root == nullptr) {
      gate.push_back(part);
    } else {
      place_for(*root, part->sources).filters.push_back(part);
    }
  }
}

void Binder::finish(Join& root, const std::vector<Source>& sources) {
  if (root.kind != Join::Kind::kLeaf) {
    finish(*root.left, sources);
    finish(*root.right, sources);
    return;
  }
  const auto& source = sources[root.source];
  if (source.table == nullptr) return;
  for (const auto& filter : root.filters) {
    if (reads_key_only(*filter, source, root.source)) root.early.push_back(filter);
  }
  for (const auto column : source.table->key) {
    ExpressionPtr found;
    for (const auto& filter : root.filters) {
      if (filter->kind != Expression::Kind::kEqual) continue;
      for (const std::size_t side : {0, 1}) {
        const auto* plain = plain_column(*filter->parts[side]);
        const auto& other = filter->parts[1 - side];
        if (found == nullptr && plain != nullptr && plain->depth == 0 &&
            plain->source == root.source && plain->column == column &&
            (other->sources & bit(root.source)) == 0) {
          found = other;
        }
      }
    }
    if (found == nullptr) break;
    root.key.push_back(found);
  }
}

std::vector<Output> Binder::outputs(const Tree& targets, Scope& scope) {
  std::vector<Output> made;
  const auto star = [&](const std::string& of) {
    bool any = false;
    for (std::size_t at = 0; scope.sources != nullptr && at < scope.sources->size(); ++at) {
      const auto& one = (*scope.sources)[at];
      if (!of.empty() && one.name != of) continue;
      any = true;
      const auto name = one.name;
      for (const auto& listed : one.columns) {
        const auto column_name = listed.first;
        const Tree tree = {
            {"fields", {{{"String", {{"sval", name}}}}, {{"String", {{"sval", column_name}}}}}}};
        made.push_back({column(tree, scope), column_name});
      }
    }
    if (!any && of.empty()) raise("42601", "SELECT * with no tables specified is not valid");
    if (!any) raise("42P01", fmt::format("missing FROM-clause entry for table \"{}\"", of));
  };
  for (const auto& target : targets) {
    const auto& body = body_of(target);
    check_fields(body, "an output", {"name", "val"});
    const auto& value = field(body, "val");
    if (kind_of(value) == "ColumnRef") {
      const auto& fields = list(body_of(value), "fields");
      if (kind_of(fields.back()) == "A_Star") {
        if (fields.size() > 2) not_supported("a name of three parts before *");
        star(fields.size() == 1 ? "" : text_of(body_of(fields[0]), "sval"));
        continue;
      }
    }
    const auto bound_value = coercion.settled(expression(value, scope));
    made.push_back({bound_value, has(body, "name") ? text_of(body, "name") : output_name(value)});
  }
  check_entries(made.size());
  for (auto& output : made) {
    const auto& value = *output.value;
    if (value.kind != Expression::Kind::kColumn || value.depth != 0) continue;
    const auto& from = (*scope.sources)[value.source];
    if (from.table != nullptr) {
      output.table_id = from.table->id;
      output.number = static_cast<std::uint16_t>(value.column + 1);
    }
  }
  return made;
}

void Binder::check_grouped(const Expression& one, const Select& select) const {
  for (const auto& group : select.groups) {
    if (group->signature == one.signature) return;
  }
  const auto refuse = [&](std::size_t source, std::size_t column) {
    const auto& from = select.sources[source];
    // All columns of a table hang on its primary key.
    if (from.table != nullptr && !from.table->key.empty() &&
        std::all_of(from.table->key.begin(), from.table->key.end(), [&](std::size_t key) {
          return std::any_of(select.groups.begin(), select.groups.end(), [&](const auto& group) {
            return group->signature == fmt::format("#0.{}.{}", source, key);
          });
        })) {
      return;
    }
    for (const auto& group : select.groups) {
      if (group->signature == fmt::format("#0.{}.{}", source, column)) return;
    }
    raise("42803", fmt::format("column \"{}.{}\" must appear in the GROUP BY clause or be used in "
                               "an aggregate function",
                               from.name, from.columns[column].first));
  };
  if (one.kind == Expression::Kind::kColumn && one.depth == 0) refuse(one.source, one.column);
  if (one.parts.empty() || one.reads_queries) {
    if (one.reads_queries && one.parts.empty()) {
      for (const auto& [source, column] : one.outside) refuse(source, column);
    }
  }
  for (const auto& part : one.parts) check_grouped(*part, select);
  if (one.reads_queries && !one.parts.empty()) {
    for (const auto& [source, column] : one.outside) refuse(source, column);
  }
}

ExpressionPtr Binder::bound_of_rows(const Tree& body, const char* name, Scope& scope) {
  if (!has(body, name)) return nullptr;
  const auto bound_for = expression(field(body, name), scope);
  auto value = coercion.to(bound_for, {Type::kBigint}, Context::kAssignment);
  if (value == nullptr) raise("42804", "argument of LIMIT must be type bigint");
  return value;
}

namespace {

// The output that a place in GROUP BY or ORDER BY names, or null if it is no number.
const Output* output_at(const Select& select, const Tree& node, const char* clause) {
  if (kind_of(node) != "A_Const") return nullptr;
  if (!has(body_of(node), "ival")) {
    raise("42601", fmt::format("non-integer constant in {}", clause));
  }
  const auto place = number_of(body_of(node)["ival"], "ival");
  if (place < 1 || place > static_cast<std::int64_t>(select.outputs.size())) {
    raise("42P10", fmt::format("{} position {} is not in select list", clause, place));
  }
  return &select.outputs[static_cast<std::size_t>(place - 1)];
}

// A name without its table, or "".
std::string simple_name(const Tree& node) {
  if (kind_of(node) != "ColumnRef") return "";
  const auto& fields = list(body_of(node), "fields");
  return fields.size() == 1 ? text_of(body_of(fields[0]), "sval") : "";
}

const Output* output_named(const Select& select, const std::string& name) {
  const Output* found = nullptr;
  for (const auto& output : select.outputs) {
    if (output.name != name || name.empty()) continue;
    if (found != nullptr && found->value->signature != output.value->signature) {
      raise("42702", fmt::format("ORDER BY \"{}\" is ambiguous", name));
    }
    found = &output;
  }
  return found;
}

}  // namespace

void Binder::group(const Tree& body, Scope& scope, Select& made) {
  made.grouped = has(body, "groupClause") || has(body, "havingClause");
  scope.aggregates = nullptr;
  scope.clause = "GROUP BY";
  check_entries(list(body, "groupClause").size());
  check_entries(list(body, "sortClause").size());
  for (const auto& node : list(body, "groupClause")) {
    const auto* output = output_at(made, node, "GROUP BY");
    const auto name = simple_name(node);
    if (output == nullptr && !name.empty()) {
      const bool input =
          std::any_of(made.sources.begin(), made.sources.end(), [&](const Source& source) {
            return std::any_of(source.columns.begin(), source.columns.end(),
                               [&](const auto& one) { return one.first == name; });
          });
      if (!input) output = output_named(made, name);
    }
    const auto value = output != nullptr ? output->value : expression(node, scope);
    if (value->has_aggregate) raise("42803", "aggregate functions are not allowed in GROUP BY");
    made.groups.push_back(coercion.settled(value));
  }
}

void Binder::sort(const Tree& body, Scope& scope, Select& made) {
  for (const auto& node : list(body, "sortClause")) {
    const auto& sort = body_of(node);
    check_fields(sort, "ORDER BY", {"node", "sortby_dir", "sortby_nulls"});
    const auto& by = field(sort, "node");
    const auto* output = output_at(made, by, "ORDER BY");
    if (output == nullptr) output = output_named(made, simple_name(by));
    const auto value = coercion.settled(output != nullptr ? output->value : expression(by, scope));
    if (made.distinct &&
        std::none_of(made.outputs.begin(), made.outputs.end(),
                     [&](const Output& one) { return one.value->signature == value->signature; })) {
      raise("42P10", "for SELECT DISTINCT, ORDER BY expressions must appear in select list");
    }
    const auto direction = text_of(sort, "sortby_dir");
    if (direction == "SORTBY_USING") not_supported("ORDER BY USING");
    const bool descending = direction == "SORTBY_DESC";
    const auto nulls = text_of(sort, "sortby_nulls");
    const bool nulls_first =
        nulls == "SORTBY_NULLS_FIRST" || (nulls != "SORTBY_NULLS_LAST" && descending);
    made.sorts.push_back({value, descending, nulls_first});
  }
}

// FOR UPDATE: of all tables of the query, or of those that it names.
void Binder::lock(const Tree& locking, Select& made) {
  check_fields(locking, "FOR UPDATE", {"lockedRels", "strength", "waitPolicy"});
  if (made.grouped || made.distinct) {
    raise("0A000", "FOR UPDATE is not allowed with DISTINCT, GROUP BY or aggregate functions");
  }
  if (made.sources.empty()) return;
  const auto strength = text_of(locking, "strength");
  locks = strength == "LCS_FORUPDATE"        ? "SELECT FOR UPDATE"
          : strength == "LCS_FORNOKEYUPDATE" ? "SELECT FOR NO KEY UPDATE"
          : strength == "LCS_FORSHARE"       ? "SELECT FOR SHARE"
                                             : "SELECT FOR KEY SHARE";
  using mock::LockMode;
  RowLock lock;
  lock.mode = strength == "LCS_FORUPDATE"        ? LockMode::kUpdate
              : strength == "LCS_FORNOKEYUPDATE" ? LockMode::kNoKeyUpdate
              : strength == "LCS_FORSHARE"       ? LockMode::kShare
                                                 : LockMode::kKeyShare;
  const auto policy = text_of(locking, "waitPolicy");
  lock.wait = policy == "LockWaitSkip"    ? RowLock::Wait::kSkip
              : policy == "LockWaitError" ? RowLock::Wait::kNoWait
                                          : RowLock::Wait::kWait;
  const auto& named = list(locking, "lockedRels");
  for (const auto& relation : named) {
    const auto name = text_of(body_of(relation), "relname");
    if (std::none_of(made.sources.begin(), made.sources.end(),
                     [&](const Source& source) { return source.name == name; })) {
      raise("42P01", fmt::format("relation \"{}\" in {} clause not found in FROM clause", name,
                                 locks.substr(locks.find("FOR"))));
    }
  }
  for (auto& source : made.sources) {
    const bool meant =
        named.empty() || std::any_of(named.begin(), named.end(), [&](const auto& relation) {
          return text_of(body_of(relation), "relname") == source.name;
        });
    if (meant && source.table != nullptr) source.lock = lock;
  }
}

SelectPtr Binder::select(const Tree& body, Scope* outer) {
  if (++depth_ > 60) {
    depth_ = 0;
    raise("54001", "stack depth limit exceeded");
  }
  if (has(body, "valuesLists")) not_supported("VALUES without INSERT");
  const auto op = text_of(body, "op");
  if (op != "SETOP_NONE") not_supported(op.substr(op.find('_') + 1));
  check_fields(
      body, "SELECT",
      {"distinctClause", "targetList", "fromClause", "whereClause", "groupClause", "havingClause",
       "sortClause", "limitOffset", "limitCount", "limitOption", "lockingClause", "op"});
  if (text_of(body, "limitOption") == "LIMIT_OPTION_WITH_TIES") not_supported("WITH TIES");
  auto made = std::make_shared<Select>();
  Scope scope;
  scope.outer = outer;
  scope.sources = &made->sources;
  made->from = from(list(body, "fromClause"), scope, made->sources);
  if (has(body, "whereClause")) {
    const auto condition =
        coercion.condition(expression(field(body, "whereClause"), scope), "WHERE");
    place(condition, made->from.get(), made->gate);
  }
  if (made->from != nullptr) finish(*made->from, made->sources);

  scope.aggregates = &made->aggregates;
  const auto& targets = list(body, "targetList");
  check_entries(targets.size());
  made->outputs = outputs(targets, scope);
  group(body, scope, *made);
  scope.aggregates = &made->aggregates;
  if (has(body, "havingClause")) {
    made->having = coercion.condition(expression(field(body, "havingClause"), scope), "HAVING");
  }
  for (const auto& clause : list(body, "distinctClause")) {
    if (!clause.empty()) not_supported("DISTINCT ON");
    made->distinct = true;
  }
  sort(body, scope, *made);
  made->grouped |= !made->aggregates.empty();
  if (made->grouped) {
    for (const auto& output : made->outputs) check_grouped(*output.value, *made);
    if (made->having != nullptr) check_grouped(*made->having, *made);
    for (const auto& sort : made->sorts) check_grouped(*sort.value, *made);
  }
  // Limits see no column of this query.
  Scope limits;
  limits.outer = outer;
  limits.clause = "LIMIT";
  made->limit = bound_of_rows(body, "limitCount", limits);
  made->offset = bound_of_rows(body, "limitOffset", limits);
  for (const auto& locking : list(body, "lockingClause")) lock(body_of(locking), *made);
  made->correlated = scope.correlated || limits.correlated;
  --depth_;
  return made;
}

}  // namespace cupel::sql
