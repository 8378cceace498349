// PostgreSQL's own parser (libpg_query), and its parse tree as JSON.
//
// The tree leaves out every field that has its default value, so what a statement says is
// what is there.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "mock/sql/value/error.hpp"

namespace cupel::sql {

using Tree = nlohmann::json;

// The statements of a text, {"SelectStmt": {…}} each; empty ones are left out. Raises 42601 for
// what is no SQL, 22021 for what is no UTF-8.
std::vector<Tree> parse(std::string_view text);

// Raises 54001 for what the parser would take too long to read, or would not survive; parse() asks.
void check_parser_limits(std::string_view text);

// Raises 0A000 if the statement has a part that src/mock/sql does not read (known_fields.cpp).
void check_known(const Tree& statement);

// {"Kind": {…}}: the kind and the body.
std::string_view kind_of(const Tree& node);
const Tree& body_of(const Tree& node);

bool has(const Tree& body, const char* field);
const Tree& field(const Tree& body, const char* field);  // null if it is not there
const Tree& list(const Tree& body, const char* field);   // [] if it is not there
std::string text_of(const Tree& body, const char* field);
std::int64_t number_of(const Tree& body, const char* field);
bool flag_of(const Tree& body, const char* field);
// [{"String": {"sval": "a"}}, …]: "a" …
std::vector<std::string> strings_of(const Tree& body, const char* field);

// A name without its schema. Raises 0A000 if that is another than this one, and for further parts.
std::string name_in(std::string_view schema, const std::vector<std::string>& names);
// The name of a table, which is in no other schema than public: of a RangeVar, or a list of names.
std::string table_name(const Tree& body);

// The parser's name of a statement, an expression or a clause in the words of SQL, for the message
// that it is not supported: "withClause" is WITH, "GroupingSet" GROUPING SETS, ROLLUP or CUBE.
std::string in_sql(std::string_view parser_name);

}  // namespace cupel::sql
