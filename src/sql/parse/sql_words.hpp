// The parser's names of statements, expressions and clauses in the words of SQL, for the
// message that one is not supported.
#pragma once

#include <string>
#include <string_view>

namespace cupel::sql {

// "withClause" is WITH, "over" OVER (window functions), "GroupingSet" GROUPING SETS, ROLLUP
// or CUBE. Of a name that is not in the table the words: "XmlExpr" is XML.
std::string in_sql(std::string_view parser_name);

}  // namespace cupel::sql
