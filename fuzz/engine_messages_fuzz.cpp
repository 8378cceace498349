// The messages that backends of SQL engines send to the mock store.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "mock/engines/messages.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto request = cupel::engines::decode(bytes);
  if (!request) return 0;
  // What was read can be written and read again.
  if (!cupel::engines::decode(cupel::engines::encode(*request))) std::abort();
  return 0;
}
