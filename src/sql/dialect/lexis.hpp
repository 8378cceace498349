// What the text of a statement is made of, as far as it takes to find its end: for protocols, which
// know no more of SQL.
#pragma once

namespace cupel::sql {

struct Lexis {
  bool backquotes = false;            // `name`
  bool backslash_escapes = false;     // in every quoted piece, not in E'…' alone
  bool dollar_quotes = false;         // $tag$ … $tag$
  bool hash_comments = false;         // # …; and -- needs a blank after it
  bool conditional_comments = false;  // /*! … */, whose content is run
  bool nested_comments = false;
};

inline constexpr Lexis kPostgresLexis = {.dollar_quotes = true, .nested_comments = true};
inline constexpr Lexis kMysqlLexis = {.backquotes = true,
                                      .backslash_escapes = true,
                                      .hash_comments = true,
                                      .conditional_comments = true};

}  // namespace cupel::sql
