// MySQL's SQL as PostgreSQL's: quotes, comments, types, LIMIT a,b, ON DUPLICATE KEY and
// the rest of the differences that a rewriting of tokens can take away. Names are folded
// to lower case, as with lower_case_table_names=1. docs/mock-sql.md lists what is done.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sql/dialect/parser_marks.hpp"
#include "sql/value/error.hpp"

namespace cupel::sql {

struct MysqlToken {
  enum class Kind : std::uint8_t {
    kWord,
    kQuoted,
    kString,
    kNumber,
    kSymbol,
    kParameter,
    kVariable
  };
  Kind kind = Kind::kSymbol;
  std::string text;  // words in lower case; strings and quoted names without their quotes
  std::string written = {}, gap = {};  // as it stands in the statement, and what is before it
};
using MysqlTokens = std::vector<MysqlToken>;

// Cut at semicolons; empty statements are left out. Raises 42601.
std::vector<MysqlTokens> mysql_statements(std::string_view text);
// One statement in PostgreSQL's words, or two: ORDER BY and LIMIT of UPDATE and DELETE stand in a
// SELECT after it. What PostgreSQL's grammar has no place for is a mark. Raises 0A000 for what has
// no equal there, 42602 for names that only marks have.
std::string as_postgres(const MysqlTokens& statement, ParserMarks& marks);

}  // namespace cupel::sql
