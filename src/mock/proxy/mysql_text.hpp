// MySQL's SQL: its tokens, and statements in words that PostgreSQL's parser knows, so that
// footprints are found in one way for both (footprint.hpp). The default quotes are supposed: '…'
// and "…" are strings, in which a backslash escapes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cupel::proxy {

struct MysqlToken {
  enum class Kind : std::uint8_t {
    kWord,       // in lower case
    kQuoted,     // a name between backticks, as it is
    kString,     // without its quotes and escapes
    kNumber,     // in decimal digits
    kOther,      // a hexadecimal literal …
    kSymbol,     //
    kParameter,  // ?
    kVariable    // @a, @@b, in lower case
  };
  Kind kind = Kind::kSymbol;
  std::string text;
  bool plain = true;               // kString: in single quotes, without a backslash
  std::size_t begin = 0, end = 0;  // in the text
};
using MysqlTokens = std::vector<MysqlToken>;

// The tokens of a text, cut at semicolons; empty statements are left out. None: it is no SQL.
std::optional<std::vector<MysqlTokens>> mysql_statements(std::string_view text);

[[nodiscard]] bool is_word(const MysqlTokens& tokens, std::size_t at, std::string_view word);
[[nodiscard]] bool is_symbol(const MysqlTokens& tokens, std::size_t at, std::string_view symbol);

// SELECT, INSERT, REPLACE, UPDATE or DELETE as PostgreSQL would say it, as far as tables, rows and
// columns go: an ORDER BY or LIMIT of an UPDATE is left out. All names are in lower case.
struct RewrittenText {
  std::string text;
  bool replaces = false;  // REPLACE: it deletes, too
};
RewrittenText as_postgres(const MysqlTokens& statement);

// Whether the text is USE with this database.
bool uses_database(std::string_view text, std::string_view database);
// Whether the text names a table by this database.
bool names_tables_of(std::string_view text, std::string_view database);

// The text with its parameters in it. None: not as many as there are places for them.
struct MysqlValue {
  std::optional<std::string> text;
  bool number = false;
};
std::optional<std::string> with_values(std::string_view text,
                                       const std::vector<MysqlValue>& values);

// As a name, and as a literal, whatever the SQL mode is.
std::string mysql_identifier(std::string_view name);
std::string mysql_literal(std::string_view text);

// What COM_RESET_CONNECTION is called among the statements. MySQL has no such one.
inline constexpr std::string_view kResetConnectionText = "RESET CONNECTION";

}  // namespace cupel::proxy
