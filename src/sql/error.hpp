// How an SQL error travels inside this folder: thrown where it is found, however deep in
// an expression, and caught by the session, which returns it as a value. Results would
// have to be passed through every evaluation; PostgreSQL leaves a statement the same way.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "sql/session.hpp"

namespace cupel::sql {

struct Raised {
  Error error;
  // The transaction is over, whatever the dialect: the store ended it.
  bool ended = false;
};

[[noreturn]] inline void raise(std::string sqlstate, std::string message,
                               std::optional<std::uint32_t> position = {}) {
  throw Raised{{std::move(sqlstate), std::move(message), {}, position}};
}

// What is SQL, or looks like it, and is not understood here.
[[noreturn]] inline void not_supported(const std::string& what,
                                       std::optional<std::uint32_t> position = {}) {
  throw Raised{{"0A000", what + " is not supported by the mock", {}, position}};
}

}  // namespace cupel::sql
