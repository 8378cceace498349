// Fuzz target: the reader of plume files, and its writer on what the reader accepts.
#include "data/formats/plume.hpp"
#include "touch_history.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cupel;
  const auto read = [](std::string_view bytes) { return formats::read_plume(bytes, "input"); };
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  formats::recognize_plume(bytes);
  const auto history = read(bytes);
  if (!history.ok()) {
    fuzz::require(!history.error().message.empty(), "an error says something");
    return 0;
  }
  fuzz::touch(*history);
  fuzz::round_trip(*history, formats::write_plume, read);
  return 0;
}
