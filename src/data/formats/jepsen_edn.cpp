// Op maps in EDN: one a line, or in one vector or list; bare maps and
// #jepsen.history.Op{…} records. Serial: EDN files are small beside JSON ones.
#include <simdjson.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "data/formats/edn.hpp"
#include "data/formats/jepsen_events.hpp"

namespace cupel::formats::jepsen {

namespace {

// Of bytes: columns of this size grow without copying much.
constexpr std::size_t kChunkBytes = 4 << 20;

// The place of a field that has a meaning; none for any other.
Cell* field_of(std::string_view word, Fields& fields, Cell& value) {
  if (word == "type") return &fields.type;
  if (word == "f") return &fields.f;
  if (word == "process") return &fields.process;
  if (word == "time") return &fields.time;
  if (word == "index") return &fields.index;
  if (word == "key") return &fields.key;
  if (word == "value") return &value;
  return nullptr;
}

// The name of a field; none that has a meaning: it is passed over.
bool field_name(EdnReader& reader, Cell& name) {
  const char c = reader.peek();
  if (c == '"' || (c == ':' && !reader.follows("::"))) return reader.value(name, 2);
  const auto error = reader.pass_over();
  return !error || reader.fail(error->byte, error->message);
}

// The value of a nemesis' operation may be anything: `unread` says why it could not be read.
bool field_value(EdnReader& reader, Chunk& chunk, Cell* place, bool may_be_anything, Cell& field,
                 std::optional<ParseError>& unread) {
  const auto begin = reader.position();
  if (place != nullptr) {
    if (reader.value(field, 2)) return true;
    if (!may_be_anything || reader.too_deep()) return false;
    unread = std::exchange(chunk.error, std::nullopt);
    reader.rewind(begin);
  }
  const auto error = reader.pass_over();
  if (!error) return true;
  if (unread) return chunk.fail(unread->byte, unread->message);
  return reader.fail(error->byte, error->message);
}

bool op_map(EdnReader& reader, Chunk& chunk, int depth) {
  Fields fields;
  fields.byte = reader.position();
  const auto cells = chunk.cells.size();
  const auto integers = chunk.integers.size();
  reader.advance();  // {
  Cell value;
  std::optional<ParseError> unread;
  for (;;) {
    if (!reader.skip_discards(depth)) return false;
    if (reader.at_end()) {
      return reader.fail(fields.byte, "found a map without its closing }: truncated or corrupt");
    }
    if (reader.peek() == '}') break;
    Cell name;
    if (!field_name(reader, name)) return false;
    Cell* const place = name.is_name() ? field_of(name.view(), fields, value) : nullptr;
    if (place == nullptr) reader.skip();
    if (place != nullptr && !reader.skip_discards(depth)) return false;
    if (!reader.at_end() && reader.peek() == '}') {
      return reader.fail(fields.byte, "found a map with a key that has no value, expected pairs");
    }
    Cell field;
    if (!field_value(reader, chunk, place, place == &value, field, unread)) return false;
    if (place == nullptr) continue;
    if (place->tag != Tag::kAbsent) {
      return reader.fail(fields.byte, "found the field " + shown(chunk, name) +
                                          " twice in one map, expected it once");
    }
    *place = field;
  }
  reader.advance();
  Event event;
  if (!chunk.begin_event(fields, event)) return false;
  if (unread && (event.client || event.is_header()))
    return chunk.fail(unread->byte, unread->message);
  if (!chunk.finish_event(event, value, fields.key)) return false;
  // The vectors around micro-operations were needed only on the way.
  const auto& kept = chunk.events.back();
  if (!kept.is_txn) return true;
  const bool vectors =
      std::any_of(chunk.ops.begin() + kept.first, chunk.ops.end(),
                  [](const MicroOp& op) { return op.key.is_vector() || op.value.is_vector(); });
  if (!vectors) {
    chunk.cells.resize(cells);
    chunk.integers.resize(integers);
  }
  return true;
}

// A megabyte at a time, cut between characters, so that little of a large file
// is resident at once.
bool is_utf8(std::string_view bytes, const Reading& reading) {
  constexpr std::size_t kPiece = 1 << 20;
  while (!bytes.empty()) {
    if (reading.stopped()) throw Stopped{};
    std::size_t size = std::min(kPiece, bytes.size());
    while (size > 0 && size < bytes.size() && (bytes[size] & 0xc0) == 0x80) --size;
    if (size == 0 || !simdjson::validate_utf8(bytes.data(), size)) return false;
    reading.release(bytes.data(), bytes.data() + size);
    bytes.remove_prefix(size);
  }
  return true;
}

}  // namespace

std::vector<Chunk> parse_edn(std::string_view bytes, Reading reading) {
  std::vector<Chunk> chunks(1);
  if (!is_utf8(bytes, reading)) {
    std::size_t line = 0;
    while (line < bytes.size()) {
      const auto end = std::min(bytes.find('\n', line), bytes.size());
      if (!simdjson::validate_utf8(bytes.data() + line, end - line)) break;
      line = end + 1;
    }
    chunks.back().fail(line, "found bytes that are not UTF-8, expected text");
    return chunks;
  }
  EdnReader reader(bytes, chunks.back());
  std::size_t begun = 0;  // where the last chunk begins
  char close = 0;
  std::size_t open = 0;
  bool closed = false;
  for (;;) {
    if (!reader.skip_discards(1)) return chunks;
    if (reader.at_end()) break;
    reading.step(bytes.data() + reader.position());
    const char c = reader.peek();
    if (reader.position() - begun > reading.piece_bytes(kChunkBytes)) {
      begun = reader.position();
      chunks.emplace_back();  // what it holds stays where it is when the vector grows
      reader.builder().use(chunks.back());
    }
    Chunk& chunk = chunks.back();
    if (closed) {
      reader.fail(reader.position(), "found more after the end of the history, expected nothing");
      return chunks;
    }
    if (close == 0 && chunks.size() == 1 && chunk.events.empty() && (c == '[' || c == '(')) {
      open = reader.position();
      close = c == '[' ? ']' : ')';
      reader.advance();
    } else if (close != 0 && c == close) {
      closed = true;
      reader.advance();
    } else if (c == '{') {
      if (!op_map(reader, chunk, 2)) return chunks;
    } else if (c == '#') {
      const auto begin = reader.position();
      reader.advance();
      const auto tag = reader.token();
      if (!reader.skip_discards(1)) return chunks;
      // #:name{…} has other names of fields.
      if (reader.at_end() || reader.peek() != '{' || tag.empty() || tag.front() == ':') {
        reader.fail(begin,
                    "found a # value, expected an op map such as "
                    "{:type :ok, :process 0, :f :txn, :value [[:w :x 1]]}");
        return chunks;
      }
      if (!op_map(reader, chunk, 2)) return chunks;
    } else {
      const auto begin = reader.position();
      Cell found;
      if (reader.value(found, 2)) {
        reader.fail(begin, "found " + shown(chunk, found) +
                               ", expected an op map such as "
                               "{:type :ok, :process 0, :f :txn, :value [[:w :x 1]]}");
      }
      return chunks;
    }
  }
  if (close != 0 && !closed) {
    reader.fail(open, std::string("found the end of the file, expected the closing ") + close +
                          ": it is truncated");
  }
  return chunks;
}

}  // namespace cupel::formats::jepsen
