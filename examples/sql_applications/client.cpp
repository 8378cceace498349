// What is common to all clients: answers and errors.
#include "client.hpp"

namespace cupel::applications {

void fail(const std::string& sqlstate, const std::string& message, std::string_view statement) {
  if (sqlstate == "40001") throw Conflict{};
  throw Refused{sqlstate, message + " (" + std::string(statement) + ")"};
}

const std::string& Client::Answer::text(std::size_t column) const {
  if (rows.empty()) throw Refused{"02000", "no row"};
  const auto& cell = rows[0].at(column);
  if (!cell) throw Refused{"02000", "null"};
  return *cell;
}

std::int64_t Client::Answer::integer(std::size_t column) const {
  return std::stoll(text(column));
}

}  // namespace cupel::applications
