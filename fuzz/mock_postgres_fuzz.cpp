// Fuzz target: what a client of the mock store's PostgreSQL protocol sends, in one piece and
// byte by byte, which must be answered by the same bytes.
#include "mock_conversation.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  cupel::fuzz::talk(cupel::wire::make_postgres, data, size);
  return 0;
}
