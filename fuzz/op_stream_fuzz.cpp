// Fuzz target: the stream of operation maps, which gets its input one line at a time, held against
// the reader of whole files (tests/readers/stream_agreement.hpp).
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "data/formats/jepsen_events.hpp"
#include "data/formats/jepsen_reader.hpp"
#include "readers/stream_agreement.hpp"
#include "touch_history.hpp"

namespace {

using namespace cupel;

// Op maps, each from the beginning of a line to its end. The stream need not take another layout.
bool is_maps_one_a_line(std::string_view bytes) {
  std::optional<bool> edn;
  while (!bytes.empty()) {
    auto line = bytes.substr(0, bytes.find('\n'));
    bytes.remove_prefix(std::min(line.size() + 1, bytes.size()));
    while (line.ends_with('\r') || line.ends_with(' ')) line.remove_suffix(1);
    if (line.empty()) continue;
    if (!line.starts_with('{') || !line.ends_with('}')) return false;
    if (!edn) edn = formats::is_edn(line);
    const auto chunks =
        *edn ? formats::jepsen::parse_edn(line) : formats::jepsen::parse_json(line, 1);
    for (const auto& chunk : chunks) {
      if (chunk.error) return false;
    }
  }
  return edn.has_value();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (!is_maps_one_a_line(bytes)) return 0;
  const auto difference = test::compare_maps(bytes);
  fuzz::require(difference.empty(), difference.c_str());
  return 0;
}
