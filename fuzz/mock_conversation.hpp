// What a fuzz target of a wire protocol of the mock store does: a client's bytes, sent in one
// piece and byte by byte, must be answered by the same number of bytes.
#pragma once

#include <string>
#include <string_view>

#include "mock/wire/conversation.hpp"
#include "touch_history.hpp"
#include "wire/fake_backend.hpp"

namespace cupel::fuzz {

// `make`: make_postgres.
template <typename Make>
std::string answers(Make make, std::string_view bytes, std::size_t piece) {
  wire::FakeBackend backend;
  backend.log.stopped = true;  // nobody waits
  std::string said;
  const auto conversation =
      make({.open = [&](const std::string& client) { return backend.open_sql(client); },
            .password = {},
            .number = 1,
            .secret = 2,
            .refusal = {}});
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    conversation->receive(bytes.substr(at, piece));
    while (conversation->advance()) said += conversation->take_output();
  }
  said += conversation->take_output();
  if (!conversation->over()) conversation->refuse("57P01", "stopping");
  require(conversation->over(), "who was refused is gone");
  return said;
}

template <typename Make>
void talk(Make make, const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto said = answers(make, bytes, bytes.size() + 1);
  // A statement is looked for in what has come so far, so a piece may show in transactions, but
  // not in how many bytes there are.
  require(said.size() == answers(make, bytes, 1).size(), "pieces do not matter");
}

}  // namespace cupel::fuzz
