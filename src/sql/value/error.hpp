// An SQL error, and how it travels inside src/sql: thrown where it is found, however deep in
// an expression, and caught by the session, which returns it as a value. Results would
// have to be passed through every evaluation; PostgreSQL leaves a statement the same way.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace cupel::sql {

// What a violated constraint is of, as PostgreSQL's error fields name it; empty: of none.
struct Violated {
  std::string table;
  std::string column;
  std::string constraint;
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

[[noreturn]] inline void raise(std::string sqlstate, std::string message) {
  throw SqlException{{std::move(sqlstate), std::move(message)}};
}

// What is SQL, or looks like it, and is not understood here.
[[noreturn]] inline void not_supported(const std::string& what) {
  raise("0A000",
        what + " is not supported by cupel's own SQL; `--engine postgres` has all of PostgreSQL's");
}

}  // namespace cupel::sql
