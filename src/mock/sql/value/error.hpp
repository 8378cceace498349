// An SQL error, and how it travels inside src/mock/sql: thrown where it is found, however deep in
// an expression, and caught by the session, which returns it as a value. Results would
// have to be passed through every evaluation; PostgreSQL leaves a statement the same way.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace cupel::sql {

// What a violated constraint is of, as PostgreSQL's error fields name it; empty: of none.
struct Violated {
  std::string table, column, constraint;
};

struct Error {
  std::string sqlstate;  // "42601", "40001", "0A000" …
  std::string message;   // a sentence without its full stop
  std::string detail = {};
  std::optional<std::uint32_t> position = {};  // of a syntax error: a character, from 1
  Violated violated = {};
};

struct SqlException {
  Error error;
  // The transaction is over: the store ended it.
  bool ended = false;
};

template <typename... Parts>
[[noreturn]] void raise(std::string sqlstate, fmt::format_string<Parts...> message,
                        Parts&&... parts) {
  throw SqlException{{std::move(sqlstate), fmt::format(message, std::forward<Parts>(parts)...)}};
}

// What is SQL, or looks like it, and is not understood here.
template <typename... Parts>
[[noreturn]] void not_supported(fmt::format_string<Parts...> what, Parts&&... parts) {
  raise("0A000",
        "{} is not supported by cupel's own SQL; `--engine postgres` has all of PostgreSQL's",
        fmt::format(what, std::forward<Parts>(parts)...));
}

}  // namespace cupel::sql
