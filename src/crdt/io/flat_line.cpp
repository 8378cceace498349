// Flat line: see the header.
#include "crdt/io/flat_line.hpp"

#include "base/text/flat_json.hpp"

namespace cupel::crdt {

namespace {

std::string_view* field_of(FlatLine& line, std::string_view name) {
  if (name == "process") return &line.process;
  if (name == "f") return &line.f;
  if (name == "object") return &line.object;
  if (name == "key") return &line.key;
  if (name == "value") return &line.value;
  if (name == "time") return &line.time;
  return nullptr;
}

}  // namespace

std::optional<FlatLine> flat_line(std::string_view text) {
  text::FlatScanner scanner(text);
  FlatLine line;
  if (!scanner.take('{')) return std::nullopt;
  do {
    const auto name = scanner.scalar();
    if (!text::is_flat_text(name) || !scanner.take(':')) return std::nullopt;
    auto* const field = field_of(line, text::flat_text(name));
    if (field == nullptr || !field->empty()) return std::nullopt;
    *field = scanner.value();
    if (field->empty()) return std::nullopt;
  } while (scanner.take(','));
  if (!scanner.take('}') || !scanner.is_at_end()) return std::nullopt;
  return line;
}

}  // namespace cupel::crdt
