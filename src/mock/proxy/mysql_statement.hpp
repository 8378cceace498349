// MySQL's statements about transactions and the session, read from their tokens: PostgreSQL's
// parser has other words for most.
#pragma once

#include <optional>

#include "mock/proxy/footprint.hpp"
#include "mock/proxy/mysql_text.hpp"

namespace cupel::proxy {

// None: SELECT, INSERT, REPLACE, UPDATE or DELETE.
std::optional<StatementText> read_mysql_session_statement(const MysqlTokens& tokens);

}  // namespace cupel::proxy
