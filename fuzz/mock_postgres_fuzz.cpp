// Fuzz target: what a client of the mock store's PostgreSQL protocol sends, in one piece and
// byte by byte, which must be answered by the same bytes.
#include "mock/wire/fake_backend.hpp"
#include "mock/wire/conversation.hpp"
#include "touch_history.hpp"

namespace {

using namespace cupel::mock::wire;

std::string answers(std::string_view bytes, std::size_t piece) {
  FakeBackend backend;
  backend.log.stopped = true;  // nobody waits
  std::string said;
  const auto conversation = make_postgres({.open = [&](const std::string& client) {
                                             return backend.open_sql(cupel::mock::sql::Dialect::kPostgres, client);
                                           },
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
  cupel::fuzz::require(conversation->over(), "who was refused is gone");
  return said;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto said = answers(bytes, bytes.size() + 1);
  // A statement is looked for in what has come so far, so a piece may show in transactions, but
  // not in how many bytes there are.
  cupel::fuzz::require(said.size() == answers(bytes, 1).size(), "pieces do not matter");
  return 0;
}
