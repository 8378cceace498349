// A table, and for the rest the parser's own name taken apart; see the header.
#include "sql/parse/sql_words.hpp"

#include <algorithm>
#include <utility>

namespace cupel::sql {

namespace {

constexpr std::pair<std::string_view, std::string_view> kWords[] = {
    // Clauses, as fields of what they belong to.
    {"over", "OVER (window functions)"},
    {"intoClause", "SELECT … INTO"},
    {"agg_order", "ORDER BY in an aggregate function"},
    {"agg_filter", "FILTER"},
    {"usingClause", "USING"},
    {"isNatural", "NATURAL JOIN"},
    {"colnames", "names of columns"},
    {"arrayBounds", "an array"},
    {"inhRelations", "INHERITS"},
    {"partspec", "PARTITION BY"},
    // Expressions, and what stands in FROM and in CREATE TABLE.
    {"A_ArrayExpr", "ARRAY"},
    {"A_Indirection", "a subscript or a field of a value"},
    {"BooleanTest", "IS TRUE, IS FALSE or IS UNKNOWN"},
    {"MinMaxExpr", "GREATEST or LEAST"},
    {"RowExpr", "a row as a value"},
    {"GroupingSet", "GROUPING SETS, ROLLUP or CUBE"},
    {"RangeSubselect", "a sub-query in FROM"},
    {"RangeFunction", "a function in FROM"},
    {"RangeTableSample", "TABLESAMPLE"},
    {"TableLikeClause", "LIKE in CREATE TABLE"},
    {"CreateSeqStmt", "CREATE SEQUENCE"},
};

bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}

}  // namespace

std::string in_sql(std::string_view parser_name) {
  const auto* known = std::find_if(std::begin(kWords), std::end(kWords),
                                   [&](const auto& word) { return word.first == parser_name; });
  if (known != std::end(kWords)) return std::string(known->second);
  auto name = parser_name;
  if (name.starts_with("A_")) name.remove_prefix(2);
  for (const std::string_view end : {"Stmt", "Expr", "Clause"}) {
    if (name.size() > end.size() && name.ends_with(end)) name.remove_suffix(end.size());
  }
  std::string words;
  for (std::size_t at = 0; at < name.size(); ++at) {
    const char c = name[at];
    if (is_upper(c) && at > 0 && is_lower(name[at - 1])) words += ' ';
    words += c == '_' ? ' ' : is_lower(c) ? static_cast<char>(c - 32) : c;
  }
  return words;
}

}  // namespace cupel::sql
