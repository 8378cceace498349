// Queries: tables, conditions, groups, order and locks; see the header.
#include "mock/sql/plan/query.hpp"

#include <algorithm>
#include <bit>

namespace cupel::sql {

namespace {

constexpr int kDeepestQuery = 60;
constexpr std::size_t kMostSources = 60;

// Outputs, or what a query is grouped or ordered by: each is compared with all of the others.
void check_entries(std::size_t count) {
  if (count > 1664) raise("54000", "target lists can have at most 1664 entries");
}

void conjuncts(const ExpressionPtr& condition, Conditions& all) {
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
  const bool decimals = side.type.type == Type::kNumeric && side.type.size < 0;
  const bool integers = (is_integer(side.type.type) || decimals) && is_integer(inner.type.type);
  const bool texts = side.type.type == Type::kText && inner.type.type == Type::kVarchar;
  return integers || texts ? &inner : nullptr;
}

// To what the conditions say that the column is equal; null if they do not.
ExpressionPtr equal_to(const Conditions& conditions, std::size_t source, std::size_t column) {
  for (const auto& condition : conditions) {
    if (condition->kind != Expression::Kind::kEqual) continue;
    for (const std::size_t side : {0, 1}) {
      const auto* plain = plain_column(*condition->parts[side]);
      const auto& other = condition->parts[1 - side];
      if (plain != nullptr && plain->depth == 0 && plain->source == source &&
          plain->column == column && (other->sources & bit(source)) == 0) {
        return other;
      }
    }
  }
  return nullptr;
}

bool is_grouped(const Select& select, const std::string& signature) {
  return std::any_of(select.groups.begin(), select.groups.end(),
                     [&](const auto& group) { return group->signature == signature; });
}

void check_grouped(const Expression& one, const Select& select) {
  if (is_grouped(select, one.signature)) return;
  if (one.inside != 0) not_supported("a sub-query that names columns of a query with groups");
  if (one.kind == Expression::Kind::kColumn && one.depth == 0) {
    const auto& from = select.sources[one.source];
    // All columns of a table hang on its primary key.
    const auto& key = from.table->key;
    if (key.empty() || !std::all_of(key.begin(), key.end(), [&](auto column) {
          return is_grouped(select, column_value(0, one.source, column, {})->signature);
        })) {
      raise("42803",
            "column \"{}.{}\" must appear in the GROUP BY clause or be used in an "
            "aggregate function",
            from.name, from.table->columns[one.column].name);
    }
  }
  for (const auto& part : one.parts) check_grouped(*part, select);
}

// The output that a place in GROUP BY or ORDER BY names, or null if it is no number.
const Output* output_at(const Select& select, const Tree& node, const char* clause) {
  if (kind_of(node) != "A_Const") return nullptr;
  if (!has(body_of(node), "ival")) {
    raise("42601", "non-integer constant in {}", clause);
  }
  const auto place = number_of(body_of(node)["ival"], "ival");
  if (place < 1 || place > static_cast<std::int64_t>(select.outputs.size())) {
    raise("42P10", "{} position {} is not in select list", clause, place);
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
      raise("42702", "ORDER BY \"{}\" is ambiguous", name);
    }
    found = &output;
  }
  return found;
}

struct Strength {
  std::string_view parser_name, clause;
  mock::LockMode mode;
};
constexpr Strength kStrengths[] = {
    {"LCS_FORUPDATE", "FOR UPDATE", mock::LockMode::kUpdate},
    {"LCS_FORNOKEYUPDATE", "FOR NO KEY UPDATE", mock::LockMode::kNoKeyUpdate},
    {"LCS_FORSHARE", "FOR SHARE", mock::LockMode::kShare},
    {"LCS_FORKEYSHARE", "FOR KEY SHARE", mock::LockMode::kKeyShare},
};

}  // namespace

Source Binder::source(const Tree& range_variable) const {
  const auto name = table_name(range_variable);
  Source made;
  made.table = catalog_.find(name);
  if (made.table == nullptr) raise("42P01", "relation \"{}\" does not exist", name);
  const auto& alias = field(range_variable, "alias");
  made.name = alias.is_null() ? name : text_of(alias, "aliasname");
  return made;
}

void Binder::add_source(const Tree& range_variable, Select& made) const {
  auto added = source(range_variable);
  for (const auto& other : made.sources) {
    if (other.name == added.name) {
      raise("42712", "table name \"{}\" specified more than once", added.name);
    }
  }
  if (made.sources.size() == kMostSources) not_supported("a query of more than 60 tables");
  made.sources.push_back(std::move(added));
}

void Binder::from_item(const Tree& node, Scope& scope, Select& made) {
  const auto& body = body_of(node);
  if (kind_of(node) == "RangeVar") return add_source(body, made);
  from_item(field(body, "larg"), scope, made);
  const auto& right = field(body, "rarg");
  if (kind_of(right) != "RangeVar") not_supported("a join in brackets");
  add_source(body_of(right), made);
  made.sources.back().optional = text_of(body, "jointype") == "JOIN_LEFT";
  if (!has(body, "quals")) return;
  scope.clause = "JOIN conditions";
  const auto on = condition(field(body, "quals"), scope, "JOIN/ON");
  scope.clause = "WHERE";
  if (made.sources.back().optional) {
    conjuncts(on, made.sources.back().on);
  } else {
    place(on, made);
  }
}

void Binder::place(const ExpressionPtr& condition, Select& made) {
  Conditions parts;
  conjuncts(condition, parts);
  for (const auto& part : parts) {
    const auto last = static_cast<std::size_t>(std::bit_width(part->sources));
    (last == 0 ? made.gate : made.sources[last - 1].filters).push_back(part);
  }
}

void Binder::find_keys(Select& made) {
  for (std::size_t at = 0; at < made.sources.size(); ++at) {
    auto& source = made.sources[at];
    const auto& conditions = source.optional ? source.on : source.filters;
    for (const auto& one : conditions) {
      if (reads_key_only(*one, source, at)) source.early.push_back(one);
    }
    for (const auto column : source.table->key) {
      auto value = equal_to(conditions, at, column);
      if (value == nullptr) break;
      source.key.push_back(std::move(value));
    }
  }
}

std::vector<Output> Binder::outputs(const Tree& targets, Scope& scope) {
  std::vector<Output> made;
  check_entries(targets.size());
  const auto star = [&](const std::string& of) {
    bool any = false;
    for (std::size_t at = 0; scope.sources != nullptr && at < scope.sources->size(); ++at) {
      const auto& one = (*scope.sources)[at];
      if (!of.empty() && one.name != of) continue;
      any = true;
      for (std::size_t column = 0; column < one.table->columns.size(); ++column) {
        const auto& info = one.table->columns[column];
        made.push_back({column_value(0, at, column, info.type), info.name});
      }
    }
    if (!any && of.empty()) raise("42601", "SELECT * with no tables specified is not valid");
    if (!any) raise("42P01", "missing FROM-clause entry for table \"{}\"", of);
  };
  for (const auto& target : targets) {
    const auto& body = body_of(target);
    const auto& value = field(body, "val");
    const auto& fields = list(body_of(value), "fields");
    if (kind_of(value) == "ColumnRef" && kind_of(fields.back()) == "A_Star") {
      if (fields.size() > 2) not_supported("a name of more than two parts");
      star(fields.size() == 1 ? "" : text_of(body_of(fields[0]), "sval"));
      continue;
    }
    made.push_back({coercion.settled(expression(value, scope)), output_name(target)});
  }
  check_entries(made.size());
  return made;
}

ExpressionPtr Binder::row_count(const Tree& body, const char* name, Scope& scope) {
  if (!has(body, name)) return nullptr;
  auto value =
      coercion.to(expression(field(body, name), scope), {Type::kBigint}, Context::kAssignment);
  if (value == nullptr) raise("42804", "argument of LIMIT must be type bigint");
  return value;
}

void Binder::group(const Tree& body, Scope& scope, Select& made) {
  made.grouped = has(body, "groupClause") || has(body, "havingClause");
  scope.aggregates = nullptr;
  scope.clause = "GROUP BY";
  check_entries(list(body, "groupClause").size());
  for (const auto& node : list(body, "groupClause")) {
    const auto* output = output_at(made, node, "GROUP BY");
    const auto name = simple_name(node);
    const bool input =
        std::any_of(made.sources.begin(), made.sources.end(),
                    [&](const Source& source) { return source.table->column(name).has_value(); });
    if (output == nullptr && !input) output = output_named(made, name);
    const auto value = output != nullptr ? output->value : expression(node, scope);
    if (value->has_aggregate) raise("42803", "aggregate functions are not allowed in GROUP BY");
    made.groups.push_back(coercion.settled(value));
  }
}

void Binder::sort(const Tree& body, Scope& scope, Select& made) {
  check_entries(list(body, "sortClause").size());
  for (const auto& node : list(body, "sortClause")) {
    const auto& sort = body_of(node);
    const auto& by = field(sort, "node");
    const auto* output = output_at(made, by, "ORDER BY");
    if (output == nullptr) output = output_named(made, simple_name(by));
    const auto value = coercion.settled(output != nullptr ? output->value : expression(by, scope));
    if (made.distinct &&
        std::none_of(made.outputs.begin(), made.outputs.end(),
                     [&](const Output& one) { return one.value->signature == value->signature; })) {
      raise("42P10", "for SELECT DISTINCT, ORDER BY expressions must appear in select list");
    }
    made.sorts.push_back({value, text_of(sort, "sortby_dir") == "SORTBY_DESC"});
  }
}

// FOR UPDATE: of all tables of the query, or of those that it names.
void Binder::lock(const Tree& locking, Select& made) {
  if (made.grouped || made.distinct) {
    raise("0A000", "FOR UPDATE is not allowed with DISTINCT, GROUP BY or aggregate functions");
  }
  const auto* strength = std::find_if(
      std::begin(kStrengths), std::end(kStrengths),
      [&](const Strength& one) { return one.parser_name == text_of(locking, "strength"); });
  const auto policy = text_of(locking, "waitPolicy");
  const RowLock lock{strength->mode, policy == "LockWaitSkip"    ? RowLock::Wait::kSkip
                                     : policy == "LockWaitError" ? RowLock::Wait::kNoWait
                                                                 : RowLock::Wait::kWait};
  if (!made.sources.empty()) locks = "SELECT " + std::string(strength->clause);
  const auto take = [&](Source& source) {
    if (source.lock) not_supported("a table that is locked twice by one query");
    source.lock = lock;
  };
  const auto& named = list(locking, "lockedRels");
  if (named.empty()) std::for_each(made.sources.begin(), made.sources.end(), take);
  for (const auto& relation : named) {
    if (has(body_of(relation), "schemaname")) {
      raise("42601", "{} must specify unqualified relation names", strength->clause);
    }
    const auto name = table_name(body_of(relation));
    const auto source = std::find_if(made.sources.begin(), made.sources.end(),
                                     [&](const Source& one) { return one.name == name; });
    if (source == made.sources.end()) {
      raise("42P01", "relation \"{}\" in {} clause not found in FROM clause", name,
            strength->clause);
    }
    take(*source);
  }
}

SelectPtr Binder::select(const Tree& body, Scope* outer) {
  if (++depth_ > kDeepestQuery) raise("54001", "stack depth limit exceeded");
  if (has(body, "valuesLists")) not_supported("VALUES without INSERT");
  auto made = std::make_shared<Select>();
  Scope scope;
  scope.outer = outer;
  scope.sources = &made->sources;
  for (const auto& item : list(body, "fromClause")) from_item(item, scope, *made);
  if (has(body, "whereClause")) place(condition(field(body, "whereClause"), scope, "WHERE"), *made);
  find_keys(*made);

  scope.aggregates = &made->aggregates;
  made->outputs = outputs(list(body, "targetList"), scope);
  group(body, scope, *made);
  scope.aggregates = &made->aggregates;
  if (has(body, "havingClause")) {
    made->having = condition(field(body, "havingClause"), scope, "HAVING");
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
  made->limit = row_count(body, "limitCount", limits);
  made->offset = row_count(body, "limitOffset", limits);
  for (const auto& locking : list(body, "lockingClause")) lock(body_of(locking), *made);
  made->correlated = scope.correlated || limits.correlated;
  --depth_;
  return made;
}

}  // namespace cupel::sql
