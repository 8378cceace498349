// Fuzz target: the reader of Jepsen op maps, and its writer on what the reader accepts, in both
// syntaxes. Input in JSON is written as EDN, too: the same history, or an error in both. The second
// reader, of `cupel verify`, reads the same history.
#include <set>

#include "data/formats/jepsen_reader.hpp"
#include "data/formats/jepsen_writer.hpp"
#include "engine/certify/plain_reader.hpp"
#include "readers/document.hpp"
#include "readers/same_history.hpp"
#include "touch_history.hpp"

namespace {

using namespace cupel;

base::Result<history::History> read_in_pieces(std::string_view bytes, std::size_t piece) {
  formats::Reading reading;
  reading.set_piece_bytes(piece);
  return formats::read_jepsen(bytes, "input", 1, reading);
}

// JSON lines, each an object: the same as EDN. None: it is something else, or names a member twice,
// of which JSON takes the last and EDN none.
std::optional<std::string> as_edn(std::string_view bytes) {
  std::string edn;
  while (!bytes.empty()) {
    const auto line = bytes.substr(0, bytes.find('\n'));
    bytes.remove_prefix(std::min(line.size() + 1, bytes.size()));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const auto map = test::document_of(line);
    if (!map || map->kind != test::Document::Kind::kMap) return std::nullopt;
    std::set<std::string> names;
    for (const auto& [name, member] : map->members) {
      if (!names.insert(name).second) return std::nullopt;
    }
    edn += test::op_map_to_edn(*map) + "\n";
  }
  return edn;
}

void require_same(const history::History& a, const history::History& b, test::Compared what) {
  const auto difference = test::difference(a, b, what);
  fuzz::require(difference.empty(), difference.c_str());
}

void compare_with_edn(std::string_view bytes, const base::Result<history::History>& history) {
  const auto edn = as_edn(bytes);
  if (!edn || edn->empty()) return;
  const auto other = read_in_pieces(*edn, 0);
  if (other.ok() != history.ok()) {
    const auto message = (other.ok() ? history.error() : other.error()).to_string();
    fuzz::require(false, ("only one syntax is an error: " + message + "\n" + *edn).c_str());
  }
  if (other.ok()) require_same(*history, *other, {});
}

void compare_plainly(std::string_view bytes, const history::History& history) {
  const auto plain = certify::read_plainly(bytes, "input");
  if (!plain.ok()) fuzz::require(false, plain.error().to_string().c_str());
  if (!plain->unread.empty()) return;
  const auto difference = certify::compare(history, *plain);
  fuzz::require(difference.empty(), difference.c_str());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto read = [](std::string_view bytes) { return read_in_pieces(bytes, 0); };
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  formats::recognize_jepsen(bytes);
  const auto history = read(bytes);
  compare_with_edn(bytes, history);
  const auto in_pieces = read_in_pieces(bytes, 1 + size % 97);
  fuzz::require(in_pieces.ok() == history.ok(), "the size of the pieces does not matter");
  if (!history.ok()) {
    fuzz::require(!history.error().message.empty(), "an error says something");
    return 0;
  }
  require_same(*history, *in_pieces, {});
  fuzz::touch(*history);
  compare_plainly(bytes, *history);
  for (const bool edn : {false, true}) {
    fuzz::round_trip(
        *history, [&](const auto& h, auto& out) { return formats::write_jepsen(h, out, edn); },
        read);
  }
  return 0;
}
