// libpg_query as one function; see the header.
#include "mock/sql/parse/tree.hpp"

#include <pg_query.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <memory>
#include <utility>

#include "mock/sql/value/scalar.hpp"

namespace cupel::sql {

namespace {

const Tree kMissing;
const Tree kEmpty = Tree::array();

// libpg_query asserts nothing about what it is given but a C string; it keeps its own
// limit of nesting (54001).
constexpr std::size_t kLongest = std::size_t{16} << 20;

// libpg_query 15-4.0 leaves negative integers out of its JSON as it leaves out zero. The
// number is then where the constant begins in the text: signs and brackets, then digits.
std::int64_t written_integer(std::string_view text, std::size_t at) {
  const auto digits = std::min(text.find_first_not_of(" \t\r\n\f\v-(", at), text.size());
  std::int64_t value = 0;
  const auto read = std::from_chars(text.data() + digits, text.data() + text.size(), value);
  if (read.ec != std::errc()) not_supported("a comment between a sign and its number");
  return std::count(text.begin() + at, text.begin() + digits, '-') % 2 == 0 ? value : -value;
}

void restore_integers(Tree& tree, std::string_view text) {
  std::vector<Tree*> waiting{&tree};
  while (!waiting.empty()) {
    auto& node = *waiting.back();
    waiting.pop_back();
    if (!node.is_structured()) continue;
    if (node.is_object() && node.contains("A_Const")) {
      auto& constant = node["A_Const"];
      const auto at = constant.value("location", std::int64_t{-1});
      if (constant.contains("ival") && constant["ival"].empty() && at >= 0 &&
          static_cast<std::size_t>(at) < text.size() && text[static_cast<std::size_t>(at)] == '-') {
        constant["ival"]["ival"] = written_integer(text, static_cast<std::size_t>(at));
      }
      continue;
    }
    for (auto& child : node) waiting.push_back(&child);
  }
}

// The parser's own names of clauses and nodes that say too little.
constexpr std::pair<std::string_view, std::string_view> kWords[] = {
    {"over", "OVER (window functions)"},
    {"agg_order", "ORDER BY in an aggregate function"},
    {"agg_filter", "FILTER"},
    {"colnames", "names of columns"},
    {"infer", "a list of columns"},
    {"A_Indirection", "a subscript or a field of a value"},
    {"GroupingSet", "GROUPING SETS, ROLLUP or CUBE"},
    {"RangeSubselect", "a sub-query in FROM"},
    {"RangeFunction", "a function in FROM"},
    {"RangeTableSample", "TABLESAMPLE"},
    {"TableLikeClause", "LIKE in CREATE TABLE"},
    {"CreateSeqStmt", "CREATE SEQUENCE"},
    {"CreateStmt", "CREATE TABLE"},
    {"IndexStmt", "CREATE INDEX"},
    {"SortBy", "ORDER BY"},
    {"RangeVar", "a table name"},
    {"relation", "a table name"},
    {"pktable", "REFERENCES"},
    {"catalogname", "a database"},
    {"typeName", "a type"},
    {"FuncCall", "a function call"},
    {"JoinExpr", "a join"},
    {"relpersistence", "TEMPORARY or UNLOGGED"},
    {"fk_matchtype", "MATCH"},
    {"fk_upd_action", "ON UPDATE"},
    {"fk_del_action", "ON DELETE"},
};

}  // namespace

std::vector<Tree> parse(std::string_view text) {
  if (text.size() > kLongest) raise("54000", "a statement of more than 16 MiB");
  if (!valid_utf8(text)) raise("22021", "invalid byte sequence for encoding \"UTF8\"");
  check_parser_limits(text);
  const std::string terminated(text);
  const auto result = pg_query_parse(terminated.c_str());
  const std::unique_ptr<const PgQueryParseResult, void (*)(const PgQueryParseResult*)> freed(
      &result, [](const PgQueryParseResult* it) { pg_query_free_parse_result(*it); });
  if (result.error != nullptr) {
    const std::string message = result.error->message;
    std::optional<std::uint32_t> position;
    if (result.error->cursorpos > 0) {
      position = static_cast<std::uint32_t>(result.error->cursorpos);
    }
    const bool deep = message.find("stack depth") != message.npos;
    throw SqlException{{deep ? "54001" : "42601", message, {}, position}};
  }
  auto tree = Tree::parse(result.parse_tree, nullptr, false);
  if (tree.is_discarded() || !tree.is_object()) {
    raise("XX000", "the parser's tree cannot be read");
  }
  restore_integers(tree, text);
  std::vector<Tree> statements;
  for (auto& statement : tree["stmts"]) {
    if (statement.contains("stmt")) statements.push_back(std::move(statement["stmt"]));
  }
  return statements;
}

std::string_view kind_of(const Tree& node) {
  if (!node.is_object() || node.empty()) return "";
  return node.begin().key();
}

const Tree& body_of(const Tree& node) {
  if (!node.is_object() || node.empty()) return kMissing;
  return node.begin().value();
}

bool has(const Tree& body, const char* field) {
  return body.is_object() && body.contains(field);
}

const Tree& field(const Tree& body, const char* field) {
  return has(body, field) ? body[field] : kMissing;
}

const Tree& list(const Tree& body, const char* name) {
  const auto& found = field(body, name);
  return found.is_array() ? found : kEmpty;
}

std::string text_of(const Tree& body, const char* name) {
  const auto& found = field(body, name);
  return found.is_string() ? found.get<std::string>() : std::string();
}

std::int64_t number_of(const Tree& body, const char* name) {
  const auto& found = field(body, name);
  return found.is_number_integer() ? found.get<std::int64_t>() : 0;
}

bool flag_of(const Tree& body, const char* name) {
  const auto& found = field(body, name);
  return found.is_boolean() && found.get<bool>();
}

std::vector<std::string> strings_of(const Tree& body, const char* name) {
  std::vector<std::string> all;
  for (const auto& node : list(body, name)) {
    if (kind_of(node) != "String") not_supported("a name with {}", in_sql(kind_of(node)));
    all.push_back(text_of(body_of(node), "sval"));
  }
  return all;
}

std::string name_in(std::string_view schema, const std::vector<std::string>& names) {
  if (names.size() > 2 || (names.size() == 2 && names[0] != schema)) {
    not_supported("the schema {}", names[0]);
  }
  return names.back();
}

std::string table_name(const Tree& body) {
  if (!has(body, "relname")) return name_in("public", strings_of(body, "items"));
  if (!flag_of(body, "inh")) not_supported("ONLY");
  auto name = text_of(body, "relname");
  return has(body, "schemaname") ? name_in("public", {text_of(body, "schemaname"), name}) : name;
}

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
  unsigned char before = 0;
  for (const unsigned char c : name) {
    if (std::isupper(c) != 0 && std::islower(before) != 0) words += ' ';
    words += c == '_' ? ' ' : static_cast<char>(std::toupper(c));
    before = c;
  }
  return words;
}

}  // namespace cupel::sql
