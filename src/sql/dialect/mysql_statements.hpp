// Statements of MySQL that PostgreSQL's parser has no words for: SET, SHOW, DESCRIBE, USE, START
// TRANSACTION, KILL. They are read token by token and act on the session at once, as MySQL's do.
#pragma once

#include <memory>

#include "sql/dialect/dialect.hpp"
#include "sql/dialect/mysql_text.hpp"

namespace cupel::sql {

bool is_own_statement(const MysqlTokens& tokens);

// Its run() raises 0A000 for those that the mock does not do.
std::shared_ptr<const OwnStatement> own_statement(MysqlTokens tokens);

}  // namespace cupel::sql
