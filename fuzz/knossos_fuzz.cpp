// Fuzz target: the reader of Knossos logs, and writing what it accepts as op maps.
#include "data/formats/jepsen_reader.hpp"
#include "data/formats/jepsen_writer.hpp"
#include "data/formats/knossos.hpp"
#include "touch_history.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cupel;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  formats::recognize_knossos(bytes);
  const auto history = formats::read_knossos(bytes, "input");
  if (!history.ok()) {
    fuzz::require(!history.error().message.empty(), "an error says something");
    return 0;
  }
  fuzz::touch(*history);
  fuzz::round_trip(
      *history, [](const auto& h, auto& out) { return formats::write_jepsen(h, out, true); },
      [](std::string_view text) { return formats::read_jepsen(text, "input", 1); });
  return 0;
}
