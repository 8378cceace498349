// Fuzz target: the reader of Jepsen op maps, and its writer on what the reader
// accepts, in both syntaxes.
#include "formats/jepsen_reader.hpp"
#include "formats/jepsen_writer.hpp"
#include "touch_history.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cupel;
  const auto read = [](std::string_view bytes) { return formats::read_jepsen(bytes, "input", 1); };
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  formats::recognize_jepsen(bytes);
  const auto history = read(bytes);
  if (!history.ok()) {
    fuzz::require(!history.error().message.empty(), "an error says something");
    return 0;
  }
  fuzz::touch(*history);
  for (const bool edn : {false, true}) {
    fuzz::round_trip(
        *history, [&](const auto& h, auto& out) { return formats::write_jepsen(h, out, edn); },
        read);
  }
  return 0;
}
