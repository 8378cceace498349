// The parse tree is walked with a list of what is harmless; see the header.
#include "mock/proxy/footprint.hpp"

#include <algorithm>
#include <charconv>

#include "base/text.hpp"
#include "mock/proxy/mysql_statement.hpp"
#include "mock/sql/parse/tree.hpp"
#include "mock/wire/bytes.hpp"

namespace cupel::proxy {

namespace {

using sql::Tree;
using Use = StatementText::Use;

// Nodes of the tree that do nothing besides what the tables and functions in them do.
const std::set<std::string, std::less<>> kHarmlessNodes = {
    "SelectStmt",  "InsertStmt",     "UpdateStmt",      "DeleteStmt",       "ResTarget",
    "ColumnRef",   "A_Const",        "A_Expr",          "BoolExpr",         "NullTest",
    "BooleanTest", "FuncCall",       "SubLink",         "RangeVar",         "RangeSubselect",
    "JoinExpr",    "SortBy",         "TypeCast",        "TypeName",         "String",
    "Integer",     "Float",          "Boolean",         "BitString",        "A_Star",
    "CaseExpr",    "CaseWhen",       "CoalesceExpr",    "MinMaxExpr",       "ParamRef",
    "List",        "LockingClause",  "CommonTableExpr", "WithClause",       "A_ArrayExpr",
    "RowExpr",     "WindowDef",      "SetToDefault",    "SQLValueFunction", "A_Indirection",
    "A_Indices",   "Alias",          "DefElem",         "OnConflictClause", "InferClause",
    "IndexElem",   "MultiAssignRef", "GroupingSet",     "CollateClause"};

// Built-in functions that read no table, leave nothing behind, and return the same in another run
// of the same statements. The clock of a statement or a transaction counts as one that stands still
// (now(), CURRENT_TIMESTAMP): no order of statements decides what it shows. LAST_INSERT_ID() is
// what an earlier INSERT of the same client made, and that one concerns the whole table.
const std::set<std::string, std::less<>> kHarmlessFunctions = {"count",
                                                               "sum",
                                                               "min",
                                                               "max",
                                                               "avg",
                                                               "bool_and",
                                                               "bool_or",
                                                               "every",
                                                               "array_agg",
                                                               "string_agg",
                                                               "json_agg",
                                                               "jsonb_agg",
                                                               "abs",
                                                               "ceil",
                                                               "ceiling",
                                                               "floor",
                                                               "round",
                                                               "trunc",
                                                               "mod",
                                                               "power",
                                                               "sqrt",
                                                               "sign",
                                                               "greatest",
                                                               "least",
                                                               "lower",
                                                               "upper",
                                                               "initcap",
                                                               "length",
                                                               "char_length",
                                                               "octet_length",
                                                               "btrim",
                                                               "ltrim",
                                                               "rtrim",
                                                               "trim",
                                                               "substring",
                                                               "substr",
                                                               "position",
                                                               "strpos",
                                                               "replace",
                                                               "concat",
                                                               "concat_ws",
                                                               "left",
                                                               "right",
                                                               "lpad",
                                                               "rpad",
                                                               "md5",
                                                               "repeat",
                                                               "reverse",
                                                               "split_part",
                                                               "to_char",
                                                               "to_date",
                                                               "to_number",
                                                               "to_timestamp",
                                                               "now",
                                                               "statement_timestamp",
                                                               "transaction_timestamp",
                                                               "date_trunc",
                                                               "date_part",
                                                               "extract",
                                                               "age",
                                                               "make_date",
                                                               "make_interval",
                                                               "coalesce",
                                                               "nullif",
                                                               "row_number",
                                                               "rank",
                                                               "dense_rank",
                                                               "lag",
                                                               "lead",
                                                               "first_value",
                                                               "last_value",
                                                               "like_escape",
                                                               "json_build_object",
                                                               "jsonb_build_object",
                                                               "to_json",
                                                               "to_jsonb",
                                                               "row_to_json",
                                                               "array_length",
                                                               "cardinality",
                                                               "unnest",
                                                               "generate_series",
                                                               "version",
                                                               "current_database",
                                                               "current_schema",
                                                               "current_schemas",
                                                               "current_setting",
                                                               "timezone",
                                                               "format",
                                                               "any_value",
                                                               "pg_sleep",
                                                               "pg_is_in_recovery",
                                                               "pg_catalog",
                                                               "overlay"};

// The same of MySQL's. LAST_INSERT_ID(n) changes nothing but the session.
const std::set<std::string, std::less<>> kHarmlessMysqlFunctions = {"adddate",
                                                                    "addtime",
                                                                    "ascii",
                                                                    "bin",
                                                                    "bit_and",
                                                                    "bit_count",
                                                                    "bit_or",
                                                                    "bit_xor",
                                                                    "cast",
                                                                    "char",
                                                                    "character_length",
                                                                    "conv",
                                                                    "convert",
                                                                    "crc32",
                                                                    "curdate",
                                                                    "current_user",
                                                                    "curtime",
                                                                    "database",
                                                                    "date",
                                                                    "date_add",
                                                                    "date_format",
                                                                    "date_sub",
                                                                    "datediff",
                                                                    "day",
                                                                    "dayname",
                                                                    "dayofmonth",
                                                                    "dayofweek",
                                                                    "dayofyear",
                                                                    "elt",
                                                                    "exp",
                                                                    "field",
                                                                    "find_in_set",
                                                                    "found_rows",
                                                                    "from_days",
                                                                    "from_unixtime",
                                                                    "group_concat",
                                                                    "hex",
                                                                    "hour",
                                                                    "if",
                                                                    "ifnull",
                                                                    "insert",
                                                                    "instr",
                                                                    "isnull",
                                                                    "json_array",
                                                                    "json_arrayagg",
                                                                    "json_contains",
                                                                    "json_extract",
                                                                    "json_length",
                                                                    "json_object",
                                                                    "json_objectagg",
                                                                    "json_quote",
                                                                    "json_set",
                                                                    "json_unquote",
                                                                    "json_valid",
                                                                    "json_value",
                                                                    "last_day",
                                                                    "last_insert_id",
                                                                    "lcase",
                                                                    "ln",
                                                                    "locate",
                                                                    "log",
                                                                    "log10",
                                                                    "log2",
                                                                    "makedate",
                                                                    "maketime",
                                                                    "microsecond",
                                                                    "mid",
                                                                    "minute",
                                                                    "month",
                                                                    "monthname",
                                                                    "ord",
                                                                    "period_add",
                                                                    "pi",
                                                                    "pow",
                                                                    "quarter",
                                                                    "quote",
                                                                    "regexp_replace",
                                                                    "regexp_substr",
                                                                    "row_count",
                                                                    "schema",
                                                                    "sec_to_time",
                                                                    "second",
                                                                    "session_user",
                                                                    "sha",
                                                                    "sha1",
                                                                    "sha2",
                                                                    "sleep",
                                                                    "space",
                                                                    "std",
                                                                    "stddev",
                                                                    "str_to_date",
                                                                    "strcmp",
                                                                    "subdate",
                                                                    "substring_index",
                                                                    "system_user",
                                                                    "time",
                                                                    "time_format",
                                                                    "time_to_sec",
                                                                    "timediff",
                                                                    "timestamp",
                                                                    "timestampadd",
                                                                    "timestampdiff",
                                                                    "to_days",
                                                                    "truncate",
                                                                    "ucase",
                                                                    "unhex",
                                                                    "unix_timestamp",
                                                                    "user",
                                                                    "utc_date",
                                                                    "utc_time",
                                                                    "utc_timestamp",
                                                                    "values",
                                                                    "var_pop",
                                                                    "variance",
                                                                    "week",
                                                                    "weekday",
                                                                    "year"};

// Another run of the same statements returns something else. Other functions are as unknown, and
// some of them may be as unrepeatable; of these it is known.
const std::set<std::string, std::less<>> kUnrepeatable = {"clock_timestamp",
                                                          "gen_random_uuid",
                                                          "pg_current_snapshot",
                                                          "pg_current_xact_id",
                                                          "pg_current_xact_id_if_assigned",
                                                          "pg_postmaster_start_time",
                                                          "random",
                                                          "random_normal",
                                                          "timeofday",
                                                          "txid_current",
                                                          "txid_current_if_assigned",
                                                          "txid_current_snapshot",
                                                          "uuid_generate_v1",
                                                          "uuid_generate_v1mc",
                                                          "uuid_generate_v4"};
const std::set<std::string, std::less<>> kUnrepeatableInMysql = {
    "rand", "random_bytes", "sys_guid", "sysdate", "uuid", "uuid_short", "uuid_v4", "uuid_v7"};
// The number of the client's connection. A client that asks for it alone learns nothing of others.
const std::set<std::string, std::less<>> kOfConnection = {"connection_id", "pg_backend_pid"};

bool is_unrepeatable(const std::string& function, Dialect dialect) {
  return dialect == Dialect::kMysql ? kUnrepeatableInMysql.contains(function)
                                    : kUnrepeatable.contains(function);
}

bool is_harmless(const std::string& function, Dialect dialect) {
  return kHarmlessFunctions.contains(function) ||
         (dialect == Dialect::kMysql && kHarmlessMysqlFunctions.contains(function));
}

std::string last_name(const Tree& body, const char* field) {
  const auto names = sql::strings_of(body, field);
  return names.empty() ? "" : names.back();
}

// A constant or a parameter; none: something else.
std::optional<StatementText::Constant> constant_of(const Tree& node) {
  if (!node.is_object() || node.size() != 1) return std::nullopt;
  if (node.contains("ParamRef")) {
    return StatementText::Constant{
        .parameter = static_cast<int>(sql::number_of(node["ParamRef"], "number"))};
  }
  if (!node.contains("A_Const")) return std::nullopt;
  const auto& constant = node["A_Const"];
  if (constant.contains("ival")) {
    return StatementText::Constant{.text = std::to_string(sql::number_of(constant["ival"], "ival")),
                                   .number = true};
  }
  if (constant.contains("sval")) {
    return StatementText::Constant{.text = sql::text_of(constant["sval"], "sval")};
  }
  return std::nullopt;
}

// WHERE a = 1 AND b = 2.
void find_equalities(const Tree& node, std::map<std::string, StatementText::Constant>& found) {
  if (!node.is_object()) return;
  if (node.contains("BoolExpr") && sql::text_of(node["BoolExpr"], "boolop") == "AND_EXPR") {
    for (const auto& part : sql::list(node["BoolExpr"], "args")) find_equalities(part, found);
    return;
  }
  if (!node.contains("A_Expr")) return;
  const auto& body = node["A_Expr"];
  if (sql::text_of(body, "kind") != "AEXPR_OP" || last_name(body, "name") != "=") return;
  const auto& left = sql::field(body, "lexpr");
  const auto& right = sql::field(body, "rexpr");
  const auto* column = &left;
  auto value = constant_of(right);
  if (!value) {
    column = &right;
    value = constant_of(left);
  }
  if (!value || !column->is_object() || !column->contains("ColumnRef")) return;
  const auto& fields = sql::list((*column)["ColumnRef"], "fields");
  if (fields.empty() || !fields.back().contains("String")) return;
  found.emplace(sql::text_of(fields.back()["String"], "sval"), *value);
}

// Whether a value is made of columns, or of what a query finds.
bool reads_columns(const Tree& node) {
  if (!node.is_structured()) return false;
  if (node.is_object() && (node.contains("ColumnRef") || node.contains("SubLink") ||
                           node.contains("MultiAssignRef") || node.contains("SetToDefault")))
    return true;
  return std::any_of(node.begin(), node.end(), reads_columns);
}

class Walk {
 public:
  explicit Walk(StatementText& text) : text_(text) {}

  void node(const Tree& tree, Use use) {
    if (tree.is_array()) {
      for (const auto& child : tree) node(child, use);
      return;
    }
    if (!tree.is_object()) return;
    if (tree.contains("relname")) return table(tree, use);
    for (const auto& [name, child] : tree.items()) {
      if (std::isupper(static_cast<unsigned char>(name.front())) != 0) {
        if (!kHarmlessNodes.contains(name)) text_.unknown = true;
        kind(name, child, use);
      } else if (name == "selectStmt" || name == "larg" || name == "rarg") {
        select(child, use);
      } else {
        node(child, use);
      }
    }
  }

  void kind(const std::string& name, const Tree& body, Use use) {
    if (name == "FuncCall") {
      const auto names = sql::strings_of(body, "funcname");
      if (names.size() > 2 || (names.size() == 2 && names.front() != "pg_catalog"))
        text_.unknown = true;
      if (!names.empty()) text_.functions.insert(names.back());
      node(body, use);
    } else if (name == "A_Expr") {
      text_.operators.insert(last_name(body, "name"));
      node(body, use);
    } else if (name == "SortBy") {
      if (body.contains("useOp")) text_.unknown = true;
      node(body, use);
    } else if (name == "CommonTableExpr") {
      text_.common_tables.insert(sql::text_of(body, "ctename"));
      node(body, use);
    } else if (name == "ColumnRef") {
      if (sql::list(body, "fields").size() > 2) note_schema(body);
      node(body, use);
    } else if (name == "SelectStmt") {
      select(body, use);
    } else if (name == "InsertStmt" || name == "UpdateStmt" || name == "DeleteStmt") {
      write(name, body);
    } else {
      node(body, use);
    }
  }

 private:
  void note_schema(const Tree& body) {
    const auto at = body.value("location", std::int64_t{0});
    text_.schemas.insert(static_cast<std::size_t>(std::max(at, std::int64_t{0})));
  }

  void table(const Tree& body, Use use) {
    if (body.contains("catalogname")) text_.unknown = true;
    if (body.contains("schemaname")) note_schema(body);
    text_.tables.push_back({sql::text_of(body, "schemaname"), sql::text_of(body, "relname"), use});
  }

  void select(const Tree& body, Use use) {
    if (body.contains("SelectStmt")) return select(body["SelectStmt"], use);
    if (body.contains("intoClause")) text_.unknown = true;
    for (const auto& clause : sql::list(body, "lockingClause")) {
      text_.locks = true;
      const auto strength = sql::text_of(clause.value("LockingClause", Tree::object()), "strength");
      const bool shared = strength == "LCS_FORSHARE" || strength == "LCS_FORKEYSHARE";
      use = std::max(use, shared ? Use::kShare : Use::kWrite);
    }
    for (const auto& [name, child] : body.items()) {
      if (name == "lockingClause") continue;
      if (name == "larg" || name == "rarg") {
        select(child, use);
      } else {
        node(child, use);
      }
    }
  }

  void write(const std::string& name, const Tree& body) {
    text_.reads_only = false;
    (name == "InsertStmt" ? text_.inserts : text_.deletes) |= name != "UpdateStmt";
    if (name == "InsertStmt" && body.contains("onConflictClause")) text_.deletes = true;
    for (const auto& [field, child] : body.items()) {
      if (field == "relation") {
        node(child, Use::kWrite);
        continue;
      }
      node(child, Use::kRead);
      if (name == "UpdateStmt" && field == "targetList") {
        for (const auto& target : child) {
          const auto result = target.value("ResTarget", Tree::object());
          const auto column = sql::text_of(result, "name");
          text_.assigned.insert(column);
          if (!reads_columns(sql::field(result, "val"))) text_.overwritten.insert(column);
        }
      }
    }
  }

  StatementText& text_;
};

void take_level(const Tree& options, std::optional<Isolation>& level) {
  for (const auto& option : options) {
    if (!option.is_object() || !option.contains("DefElem")) continue;
    const auto& body = option["DefElem"];
    if (sql::text_of(body, "defname") != "transaction_isolation") continue;
    const auto& value = sql::field(body, "arg");
    const auto said = constant_of(value);
    level = isolation_of(said ? said->text : "").value_or(Isolation::kSerializable);
  }
}

void read_transaction(const Tree& body, StatementText& text) {
  const auto kind = sql::text_of(body, "kind");
  const std::pair<std::string_view, TransactionWord> words[] = {
      {"TRANS_STMT_BEGIN", TransactionWord::kBegin},
      {"TRANS_STMT_START", TransactionWord::kBegin},
      {"TRANS_STMT_COMMIT", TransactionWord::kCommit},
      {"TRANS_STMT_ROLLBACK", TransactionWord::kRollback},
      {"TRANS_STMT_SAVEPOINT", TransactionWord::kSavepoint},
      {"TRANS_STMT_RELEASE", TransactionWord::kRelease},
      {"TRANS_STMT_ROLLBACK_TO", TransactionWord::kRollbackTo}};
  text.word = TransactionWord::kOther;
  for (const auto& [name, word] : words) {
    if (name == kind) text.word = word;
  }
  text.savepoint = sql::text_of(body, "savepoint_name");
  text.unknown = text.word == TransactionWord::kOther;  // two-phase commit
  text.local = text.word == TransactionWord::kBegin || text.word == TransactionWord::kSavepoint ||
               text.word == TransactionWord::kRelease;
  take_level(sql::list(body, "options"), text.level_here);
}

void read_setting(const Tree& body, StatementText& text) {
  const auto name = sql::text_of(body, "name");
  const auto& values = sql::list(body, "args");
  text.local = true;
  if (name == "TRANSACTION") return take_level(values, text.level_here);
  if (name == "SESSION CHARACTERISTICS") return take_level(values, text.level_from_now);
  const bool reset = sql::text_of(body, "kind") != "VAR_SET_VALUE";
  if (reset && (name.empty() || name.ends_with("isolation"))) {
    text.level_from_now = Isolation::kSerializable;  // whatever it was at first
  } else if (name == "default_transaction_isolation" || name == "transaction_isolation") {
    const auto value = values.empty() ? std::nullopt : constant_of(values.front());
    const auto level = isolation_of(value ? value->text : "").value_or(Isolation::kSerializable);
    (name.starts_with("default") ? text.level_from_now : text.level_here) = level;
  }
}

void find_rows(const std::string& kind, const Tree& body, StatementText& text) {
  if (text.tables.size() != 1) return;
  if (kind != "InsertStmt") {
    text.rows.emplace_back();
    if (body.contains("whereClause")) find_equalities(body["whereClause"], text.rows.back());
    return;
  }
  std::vector<std::string> columns;
  for (const auto& column : sql::list(body, "cols"))
    columns.push_back(sql::text_of(column.value("ResTarget", Tree::object()), "name"));
  const auto& source = sql::field(body, "selectStmt");
  if (!source.is_object() || !source.contains("SelectStmt")) return;
  for (const auto& values : sql::list(source["SelectStmt"], "valuesLists")) {
    auto& row = text.rows.emplace_back();
    const auto cells = sql::list(sql::field(values, "List"), "items");
    for (std::size_t i = 0; i < columns.size() && i < cells.size(); ++i) {
      if (const auto value = constant_of(cells[i])) row.emplace(columns[i], *value);
    }
  }
}

StatementText read_statement(const Tree& tree, Dialect dialect) {
  StatementText text;
  const std::string kind(sql::kind_of(tree));
  const auto& body = sql::body_of(tree);
  if (kind == "TransactionStmt") {
    read_transaction(body, text);
  } else if (kind == "VariableSetStmt") {
    read_setting(body, text);
  } else if (kind == "VariableShowStmt") {
    text.local = true;
  } else if (kind == "SelectStmt" || kind == "InsertStmt" || kind == "UpdateStmt" ||
             kind == "DeleteStmt") {
    text.reads_only = kind == "SelectStmt";
    Walk(text).kind(kind, body, Use::kRead);
    for (const auto& name : text.functions) {
      if (is_unrepeatable(name, dialect) || (kOfConnection.contains(name) && !text.tables.empty()))
        text.unrepeatable.insert(name);
      if (!is_harmless(name, dialect) && !is_unrepeatable(name, dialect) &&
          !kOfConnection.contains(name))
        text.unknown = true;
    }
    find_rows(kind, body, text);
  } else {
    text.unknown = true;
  }
  return text;
}

// One of MySQL's.
StatementText read_mysql_statement(const MysqlTokens& tokens) {
  if (auto text = read_mysql_session_statement(tokens)) return *std::move(text);
  StatementText text{.unknown = true};
  const auto rewritten = as_postgres(tokens);
  try {
    const auto trees = sql::parse(rewritten.text);
    if (trees.size() != 1) return text;
    text = read_statement(trees.front(), Dialect::kMysql);
  } catch (const sql::SqlException&) {
    return text;  // the server may understand it
  }
  if (rewritten.replaces) text.deletes = true;
  if (text.reads_only) return text;
  for (auto& used : text.tables) used.use = std::max(used.use, Use::kShare);
  return text;
}

std::optional<std::int64_t> integer_of(std::string_view text) {
  std::int64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

// The same text for the same value of a key's column, and different ones for different values.
// None: not known.
std::optional<std::string> key_text(const TableFacts::KeyColumn& column,
                                    const StatementText::Constant& constant,
                                    const std::vector<Request::Parameter>& parameters) {
  using Kind = TableFacts::KeyColumn::Kind;
  auto text = constant.text;
  bool binary = false, number = constant.number;
  if (constant.parameter > 0) {
    const auto at = static_cast<std::size_t>(constant.parameter - 1);
    if (at >= parameters.size() || !parameters[at].value) return std::nullopt;
    text = *parameters[at].value;
    binary = parameters[at].format != 0;
    number = parameters[at].number;
  }
  if (column.kind == Kind::kText) return text;  // its binary form is the text
  if (column.kind == Kind::kFoldedText) {
    const bool plain = !number && std::all_of(text.begin(), text.end(), [](char letter) {
      const auto byte = static_cast<unsigned char>(letter);
      return byte < 0x80 && std::isalnum(byte) != 0;
    });
    return plain ? std::optional(base::to_lower(text)) : std::nullopt;
  }
  if (column.kind != Kind::kInteger) return std::nullopt;
  if (!binary) {
    const auto value = integer_of(text);
    return value ? std::optional(std::to_string(*value)) : std::nullopt;
  }
  wire::Reader reader(text);
  if (text.size() == 2) return std::to_string(reader.big<std::int16_t>());
  if (text.size() == 4) return std::to_string(reader.big<std::int32_t>());
  if (text.size() == 8) return std::to_string(reader.big<std::int64_t>());
  return std::nullopt;
}

// One touch for each row that the statement names by its whole primary key, or one of any rows.
Touches rows_touched(const StatementText& statement,
                     const std::vector<Request::Parameter>& parameters, const TableFacts& table,
                     bool writes, Dialect dialect) {
  Touches any{{table.oid, {}}};
  if (table.key.empty() || statement.rows.empty() || statement.tables.size() != 1) return any;
  if (writes && (table.unique_besides_key || (statement.inserts && statement.deletes))) return any;
  if (statement.inserts && (dialect == Dialect::kMysql || table.draws_numbers)) return any;
  Touches touches;
  for (const auto& row : statement.rows) {
    std::string key;
    for (const auto& column : table.key) {
      if (statement.assigned.contains(column.name)) return any;
      const auto found = row.find(column.name);
      if (found == row.end()) return any;
      const auto text = key_text(column, found->second, parameters);
      if (!text) return any;
      key += std::to_string(text->size()) + ":" + *text;
    }
    touches.insert({table.oid, key});
  }
  return touches;
}

// What the foreign keys of a written table touch.
void add_foreign_keys(const StatementText& statement, const TableFacts& table,
                      const Catalog& catalog, Footprint& footprint) {
  for (const auto oid : table.references) footprint.shares.insert({oid, {}});
  bool changes_key = statement.deletes || table.unique_besides_key;
  for (const auto& column : table.key) changes_key |= statement.assigned.contains(column.name);
  if (!changes_key) return;
  std::vector<const TableFacts*> waiting{&table};
  std::set<std::uint32_t> seen{table.oid};
  while (!waiting.empty()) {
    const auto& parent = *waiting.back();
    waiting.pop_back();
    for (const auto oid : parent.referenced_by) {
      if (!seen.insert(oid).second) continue;
      footprint.writes.insert({oid, {}});
      const auto child = catalog.tables.find(oid);
      if (child == catalog.tables.end() || child->second.write_runs_more) {
        footprint.unknown = true;
      } else {
        for (const auto other : child->second.references) footprint.shares.insert({other, {}});
        waiting.push_back(&child->second);
      }
    }
  }
}

bool overlap(const Touches& some, const Touches& others) {
  return std::any_of(some.begin(), some.end(), [&](const Touch& one) {
    return std::any_of(others.begin(), others.end(), [&](const Touch& other) {
      return one.table == other.table &&
             (one.key.empty() || other.key.empty() || one.key == other.key);
    });
  });
}

// Whether `one` must not change places with `other` because of what `one` writes, locks or ends.
bool hinders(const Footprint& one, const Footprint& other) {
  if (one.unknown || (one.ends && one.ended_unknown)) return true;
  if (one.waits && other.waits) return true;
  if (overlap(one.writes, other.writes) || overlap(one.writes, other.shares)) return true;
  if (other.serializable && overlap(one.writes, other.reads)) return true;
  if (!one.ends) return false;
  if (!one.ended_writes.empty() && other.takes_snapshot) return true;
  if (one.serializable && other.serializable) return true;
  return overlap(one.ended_writes, other.writes) || overlap(one.ended_writes, other.shares) ||
         overlap(one.ended_writes, other.reads) || overlap(one.ended_shares, other.writes);
}

}  // namespace

const TableFacts* Catalog::find(std::string_view schema, std::string_view name) const {
  const TableFacts* found = nullptr;
  const auto same = [&](std::string_view one, std::string_view other) {
    return dialect == Dialect::kMysql ? base::to_lower(one) == base::to_lower(other) : one == other;
  };
  for (const auto& [oid, table] : tables) {
    if (!same(table.name, name) || (!schema.empty() && !same(table.schema, schema))) continue;
    if (found != nullptr) return nullptr;
    found = &table;
  }
  return found;
}

std::optional<Isolation> isolation_of(std::string_view words, Dialect dialect) {
  const auto lower = base::to_lower(words, "-", ' ');
  if (lower == "read uncommitted" && dialect == Dialect::kMysql) return Isolation::kReadUncommitted;
  if (lower == "read committed" || lower == "read uncommitted") return Isolation::kReadCommitted;
  if (lower == "repeatable read") return Isolation::kRepeatableRead;
  if (lower == "serializable") return Isolation::kSerializable;
  return std::nullopt;
}

bool is_plain_select(const StatementText& statement) {
  return statement.reads_only && !statement.locks && !statement.tables.empty();
}

const StatementText::TableUse* changed_table(const StatementText& statement) {
  if (statement.reads_only || statement.inserts || statement.unknown) return nullptr;
  const StatementText::TableUse* found = nullptr;
  for (const auto& used : statement.tables) {
    if (used.use != Use::kWrite) continue;
    if (found != nullptr) return nullptr;
    found = &used;
  }
  return found;
}

std::string with_schema(const std::string& text, const std::set<std::size_t>& places,
                        std::string_view schema) {
  std::string made;
  std::size_t done = 0;
  for (const auto place : places) {
    if (place < done || place >= text.size()) continue;
    made += text.substr(done, place - done);
    made += schema;
    done = place;
    if (text[place] != '"') {
      done = std::min(text.find_first_of(". \t\r\n/", place), text.size());
      continue;
    }
    for (++done; done < text.size(); ++done) {
      if (text[done] != '"') continue;
      if (done + 1 == text.size() || text[done + 1] != '"') break;
      ++done;
    }
    done = std::min(done + 1, text.size());
  }
  return made + text.substr(done);
}

std::vector<StatementText> statements_of(std::string_view text, Dialect dialect) {
  std::vector<StatementText> statements;
  if (dialect == Dialect::kMysql) {
    const auto found = mysql_statements(text);
    if (!found) return {StatementText{.unknown = true}};  // the server says what is wrong
    for (const auto& tokens : *found) statements.push_back(read_mysql_statement(tokens));
    return statements;
  }
  try {
    for (const auto& tree : sql::parse(text)) statements.push_back(read_statement(tree, dialect));
    return statements;
  } catch (const sql::SqlException&) {
    // The server says what is wrong, or its parser is a newer one.
    return {StatementText{.unknown = true}};
  }
}

bool concern_only_the_client(const std::vector<Request>& requests, bool open, Dialect dialect) {
  return std::all_of(requests.begin(), requests.end(), [&](const Request& request) {
    const auto statements = statements_of(request.text, dialect);
    return std::all_of(statements.begin(), statements.end(), [&](const StatementText& one) {
      return !one.unknown && one.unrepeatable.empty() &&
             ((one.local && !(open && one.commits_first)) ||
              (!open && one.reads_only && one.tables.empty() && statements.size() == 1));
    });
  });
}

bool Footprint::nothing() const {
  return !unknown && reads.empty() && shares.empty() && writes.empty() && !takes_snapshot &&
         !serializable && !waits &&
         !(ends && (ended_unknown || !ended_shares.empty() || !ended_writes.empty()));
}

void Footprint::add(const Footprint& other) {
  unknown |= other.unknown;
  unrepeatable |= other.unrepeatable;
  takes_snapshot |= other.takes_snapshot;
  serializable |= other.serializable;
  waits |= other.waits;
  ends |= other.ends;
  ended_unknown |= other.ended_unknown;
  reads.insert(other.reads.begin(), other.reads.end());
  shares.insert(other.shares.begin(), other.shares.end());
  writes.insert(other.writes.begin(), other.writes.end());
  ended_shares.insert(other.ended_shares.begin(), other.ended_shares.end());
  ended_writes.insert(other.ended_writes.begin(), other.ended_writes.end());
}

Footprint footprint_of(const StatementText& statement,
                       const std::vector<Request::Parameter>& parameters, const Catalog& catalog) {
  Footprint footprint{.unknown = statement.unknown};
  footprint.unrepeatable = !statement.unrepeatable.empty();
  footprint.unknown |= footprint.unrepeatable;
  for (const auto& name : statement.functions)
    footprint.unknown |=
        catalog.own_functions.contains(name) || catalog.volatile_functions.contains(name);
  for (const auto& name : statement.operators)
    footprint.unknown |= catalog.own_operators.contains(name);
  for (const auto& used : statement.tables) {
    const auto* table = catalog.find(used.schema, used.name);
    if (table == nullptr) {
      const bool common = used.schema.empty() && statement.common_tables.contains(used.name);
      footprint.unknown |= !common;
      continue;
    }
    const bool writes = used.use == Use::kWrite && !statement.reads_only;
    footprint.unknown |= writes ? table->write_runs_more : table->read_runs_more;
    auto touches = rows_touched(statement, parameters, *table, writes, catalog.dialect);
    if (writes) add_foreign_keys(statement, *table, catalog, footprint);
    auto& kind = used.use == Use::kRead    ? footprint.reads
                 : used.use == Use::kShare ? footprint.shares
                                           : footprint.writes;
    // A lock on what a search finds depends on what is there.
    if (used.use != Use::kWrite || statement.reads_only || !statement.inserts)
      footprint.reads.insert(touches.begin(), touches.end());
    kind.merge(touches);
  }
  return footprint;
}

bool independent(const Footprint& one, const Footprint& other) {
  if (one.nothing() || other.nothing()) return true;
  return !hinders(one, other) && !hinders(other, one);
}

}  // namespace cupel::proxy
