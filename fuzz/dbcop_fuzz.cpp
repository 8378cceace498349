// Fuzz target: the reader of dbcop files, and its writer on what the reader accepts.
#include "data/formats/dbcop.hpp"
#include "touch_history.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cupel;
  const auto read = [](std::string_view bytes) { return formats::read_dbcop(bytes, "input"); };
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  formats::recognize_dbcop(bytes);
  const auto history = read(bytes);
  if (!history.ok()) {
    fuzz::require(!history.error().message.empty(), "an error says something");
    return 0;
  }
  fuzz::touch(*history);
  fuzz::round_trip(*history, formats::write_dbcop, read);
  return 0;
}
