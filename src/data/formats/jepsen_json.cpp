// Op maps in JSON. JSON lines, what databases' recorders write and the largest
// files there are, are cut at newlines into chunks of 1 MiB that simdjson
// parses in parallel, a batch a chunk. Everything else (one array, maps that
// span lines, anything a chunk stumbles over) goes a map at a time, which
// also finds the line of an error.
#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <atomic>
#include <new>
#include <vector>

#include "base/json_fault.hpp"
#include "base/parallel.hpp"
#include "base/simdjson_first_use.hpp"
#include "base/text/depth.hpp"
#include "base/text/json.hpp"
#include "data/formats/jepsen_events.hpp"
#include "data/formats/json_members.hpp"

namespace cupel::formats::jepsen {

namespace {

namespace dom = simdjson::dom;
using dom::element_type;

constexpr std::size_t kChunkBytes = 1 << 20;
constexpr std::size_t kMaxMapBytes = 0xfffff000;

// JSON's own, or {"keyword": "x"} and {"literal": "#inst …"}, which carry what
// JSON has no words for.
Cell cell_of(dom::element element, Chunk& chunk) {
  switch (element.type()) {
    case element_type::NULL_VALUE:
      return Cell::null();
    case element_type::INT64:
      return Cell::of(std::int64_t(element));
    case element_type::UINT64:
      return Cell::of(Tag::kLiteral, chunk.keep(std::to_string(std::uint64_t(element)) + "N"));
    case element_type::DOUBLE:
      return Cell::of(Tag::kLiteral, chunk.keep(canonical_double(double(element))));
    case element_type::BOOL:
      return Cell::of(Tag::kLiteral, bool(element) ? "true" : "false");
    case element_type::STRING:
      return Cell::of(Tag::kString, chunk.keep(std::string_view(element)));
    case element_type::ARRAY: {
      std::vector<Cell> children;
      for (const dom::element child : dom::array(element))
        children.push_back(cell_of(child, chunk));
      return chunk.make_vector(children.data(), children.size());
    }
    case element_type::OBJECT: {
      const dom::object object(element);
      if (object.size() == 1) {
        const auto field = *object.begin();
        if (field.value.is_string() && (field.key == "keyword" || field.key == "literal")) {
          return Cell::of(field.key == "keyword" ? Tag::kKeyword : Tag::kLiteral,
                          chunk.keep(std::string_view(field.value)));
        }
      }
      std::vector<std::string> entries;
      for (const auto field : object) {
        std::string text;
        text::append_quoted(field.key, text);
        text += ' ';
        canonical(chunk, cell_of(field.value, chunk), text);
        entries.push_back(std::move(text));
      }
      std::sort(entries.begin(), entries.end());
      std::string text = "{";
      for (std::size_t i = 0; i < entries.size(); ++i) text += (i == 0 ? "" : " ") + entries[i];
      return Cell::of(Tag::kMap, chunk.keep(text + "}"));
    }
  }
  return Cell::null();
}

// A list of integers straight into its column; any other array by cell_of.
Cell array_cell(dom::element element, Chunk& chunk) {
  const auto first = chunk.integers.size();
  for (const dom::element child : dom::array(element)) {
    if (child.type() != element_type::INT64) {
      chunk.integers.resize(first);
      return cell_of(element, chunk);
    }
    chunk.integers.push_back(std::int64_t(child));
  }
  return Cell::vector(Tag::kIntegers, first, chunk.integers.size() - first);
}

Cell plain_cell(dom::element element, Chunk& chunk) {
  switch (element.type()) {
    case element_type::INT64:
      return Cell::of(std::int64_t(element));
    case element_type::NULL_VALUE:
      return Cell::null();
    case element_type::ARRAY:
      return array_cell(element, chunk);
    default:
      return cell_of(element, chunk);
  }
}

bool micro_op(dom::element element, Chunk& chunk, std::uint64_t byte) {
  if (element.type() == element_type::ARRAY) {
    const dom::array array(element);
    auto it = array.begin();
    if (array.size() == 3 && (*it).is_string()) {
      const std::string_view word(*it);
      const bool read = word == "r";
      if (read || word == "w" || word == "append") {
        MicroOp op;
        op.key = plain_cell(*++it, chunk);
        op.value = plain_cell(*++it, chunk);
        const auto kind = read ? Micro::kRead : word == "w" ? Micro::kWrite : Micro::kAppend;
        op.key.note = static_cast<std::uint8_t>(kind);
        chunk.ops.push_back(op);
        return true;
      }
    }
  }
  const Cell whole = cell_of(element, chunk);
  if (!chunk.add_micro_op(whole, byte)) return false;
  // The operation has its parts, and those of the parts come before.
  if (whole.tag == Tag::kVector) chunk.cells.resize(whole.first);
  return true;
}

// Whether a completion without success repeats the operations, and not an error message.
bool all_arrays(const dom::array& values) {
  return std::all_of(values.begin(), values.end(),
                     [](const dom::element& value) { return value.type() == element_type::ARRAY; });
}

// The place of a field that has a meaning, but for the value.
Cell* field_of(std::string_view key, Fields& fields) {
  switch (key.size()) {
    case 1:
      return key == "f" ? &fields.f : nullptr;
    case 3:
      return key == "key" ? &fields.key : nullptr;
    case 4:
      return key == "type" ? &fields.type : key == "time" ? &fields.time : nullptr;
    case 5:
      return key == "index" ? &fields.index : nullptr;
    case 7:
      return key == "process" ? &fields.process : nullptr;
    default:
      return nullptr;
  }
}

bool is_field(std::string_view key) {
  Fields fields;
  return key == "value" || field_of(key, fields) != nullptr;
}

bool op_map(dom::element element, Chunk& chunk, std::uint64_t byte) {
  if (!element.is_object()) {
    return chunk.fail(byte, "found " + shown(chunk, cell_of(element, chunk)) +
                                ", expected an op map such as "
                                R"({"type":"ok","process":0,"f":"txn","value":[["w","x",1]]})");
  }
  Fields fields;
  fields.byte = byte;
  dom::element value;
  bool has_value = false;
  const auto scalar = [&](dom::element e) {  // names are looked at only until the next map
    std::string_view text;
    return e.get(text) == simdjson::SUCCESS ? Cell::of(Tag::kString, text) : plain_cell(e, chunk);
  };
  for (const auto field : dom::object(element)) {
    const std::string_view key = field.key;
    Cell* const place = field_of(key, fields);
    if (place == nullptr && key != "value") continue;
    if (place != nullptr ? place->tag != Tag::kAbsent : has_value) {
      return chunk.fail(
          byte, fmt::format("found the field \"{}\" twice in one map, expected it once", key));
    }
    if (place == nullptr) {
      value = field.value;
      has_value = true;
    } else if (place == &fields.process || place == &fields.key) {
      *place = plain_cell(field.value, chunk);
    } else {
      *place = scalar(field.value);
    }
  }
  Event event;
  if (!chunk.begin_event(fields, event)) return false;
  const bool said = event.type == Type::kInvoke || event.type == Type::kOk;
  const bool direct = event.is_txn && has_value && value.type() == element_type::ARRAY &&
                      (said || all_arrays(dom::array(value)));
  if (direct) {
    event.first = static_cast<std::uint32_t>(chunk.ops.size());
    for (const dom::element op : dom::array(value)) {
      if (!micro_op(op, chunk, byte)) return false;
    }
    event.count = static_cast<std::uint32_t>(chunk.ops.size() - event.first);
    chunk.events.push_back(event);
    return true;
  }
  return chunk.finish_event(event, has_value ? cell_of(value, chunk) : Cell(), fields.key);
}

// What a thread needs for its chunks, one after the other.
struct Workshop {
  dom::parser parser;
  // The operations grow here. In each chunk's own memory, a thousand chunks would leave holes as
  // large as all that they keep.
  std::vector<MicroOp> ops;
};

// A chunk [begin, end) of JSON lines. Any irregularity: chunk.irregular.
Chunk parse_lines(std::string_view bytes, std::size_t begin, std::size_t end, Workshop& workshop) {
  Chunk chunk;
  const std::string_view lines = bytes.substr(begin, end - begin);
  std::size_t expected = 0;
  for (std::size_t at = 0; at < lines.size();) {
    auto stop = lines.find('\n', at);
    if (stop == std::string_view::npos) stop = lines.size();
    if (lines.substr(at, stop - at).find_first_not_of(" \t\r") != std::string_view::npos)
      ++expected;
    at = stop + 1;
  }
  if (expected == 0) return chunk;
  chunk.events.reserve(expected);
  workshop.ops.clear();
  chunk.ops.swap(workshop.ops);
  // simdjson reads a little past the end: the tail of the file is copied. Not to a padded_string,
  // which keeps its length without any bytes if memory is short.
  std::string tail;
  const char* data = lines.data();
  if (end + simdjson::SIMDJSON_PADDING > bytes.size()) {
    tail.reserve(lines.size() + simdjson::SIMDJSON_PADDING);
    tail = lines;
    data = tail.data();
  }
  dom::document_stream stream;
  if (workshop.parser.parse_many(data, lines.size(), lines.size() + 1).get(stream)) {
    chunk.irregular = true;
    return chunk;
  }
  for (auto it = stream.begin(); it != stream.end(); ++it) {
    dom::element element;
    if ((*it).get(element)) {
      chunk.irregular = true;
      return chunk;
    }
    // The line cannot be wrong: were the maps not one a line, the count would be.
    if (!op_map(element, chunk, begin + it.current_index())) return chunk;
  }
  chunk.irregular = stream.truncated_bytes() != 0 || chunk.events.size() != expected;
  if (!chunk.irregular) chunk.drop_unused_operations();
  workshop.ops.swap(chunk.ops);
  chunk.ops = workshop.ops;  // a copy is as large as it must be
  return chunk;
}

std::size_t first_text(std::string_view bytes, std::size_t at) {
  at = bytes.find_first_not_of(" \t\r\n", at);
  return at == std::string_view::npos ? bytes.size() : at;
}

// Op maps one after the other, bare or in one array.
Chunk parse_maps(std::string_view bytes, Reading& reading) {
  Chunk chunk;
  dom::parser parser;
  if (parser.allocate(kChunkBytes, text::kMaxDepth)) {
    chunk.fail(0, "found no memory for a JSON parser");
    return chunk;
  }
  std::size_t at = first_text(bytes, 0);
  const auto open = at;
  const bool array = at < bytes.size() && bytes[at] == '[';
  if (array) at = first_text(bytes, at + 1);
  bool first = true;
  for (;; first = false) {
    reading.step(bytes.data() + at);
    if (at >= bytes.size()) {
      if (array) {
        chunk.fail(open,
                   "found the end of the file, expected the closing ] of this array: it is "
                   "truncated");
      }
      return chunk;
    }
    if (array && bytes[at] == ']') {
      at = first_text(bytes, at + 1);
      if (at < bytes.size())
        chunk.fail(at, "found more after the end of the array, expected nothing");
      return chunk;
    }
    if (array && !first) {
      if (bytes[at] != ',') {
        chunk.fail(at, "found op maps without a comma between them, expected , or ]");
        return chunk;
      }
      at = first_text(bytes, at + 1);
    }
    if (at >= bytes.size() || bytes[at] != '{') {
      const auto line_end = std::min({bytes.find('\n', at), at + 40, bytes.size()});
      auto text = std::string(bytes.substr(std::min(at, bytes.size()), line_end - at));
      if (!simdjson::validate_utf8(text)) text = "bytes that are not UTF-8";
      chunk.fail(
          at,
          "found " + (text.empty() ? "the end of the file" : text) +
              R"(, expected an op map such as {"type":"ok","process":0,"f":"txn","value":[["w","x",1]]})");
      return chunk;
    }
    const auto end = end_of_map(bytes, at);
    if (end == std::string_view::npos) {
      chunk.fail(at, "found a map without its closing }: truncated or corrupt");
      return chunk;
    }
    dom::element element;
    const auto map = bytes.substr(at, end - at);
    auto error = map.size() > kMaxMapBytes
                     ? simdjson::CAPACITY
                     : parser.parse(map.data(), map.size(), true).get(element);
    if (error && error != simdjson::CAPACITY && error != simdjson::UTF8_ERROR) {
      // Perhaps it is in a field without a meaning.
      const auto rest = with_members(map, is_field);
      if (rest && rest->size() < map.size() && !parser.parse(*rest).get(element))
        error = simdjson::SUCCESS;
    }
    if (error) {
      const auto too_large = error == simdjson::NUMBER_ERROR
                                 ? text::beyond_bounds(bytes.substr(at, end - at))
                                 : std::nullopt;
      chunk.fail(at, error == simdjson::DEPTH_ERROR ? text::too_deep_message(text::kMaxDepth)
                     : too_large                    ? *too_large
                                 : "found malformed JSON, expected an op map on its own (" +
                                       std::string(base::json_fault(error)) + ")");
      return chunk;
    }
    if (!op_map(element, chunk, at)) return chunk;
    at = first_text(bytes, end);
  }
}

}  // namespace

std::vector<Chunk> parse_json(std::string_view bytes, unsigned threads, Reading reading) {
  base::prepare_simdjson();
  std::vector<Chunk> chunks;
  const auto start = first_text(bytes, 0);
  if (start < bytes.size() && bytes[start] == '{') {
    std::vector<std::size_t> cuts = {0};
    while (cuts.back() < bytes.size()) {
      const auto least = std::min(cuts.back() + reading.piece_bytes(kChunkBytes), bytes.size());
      const auto newline = bytes.find('\n', least);
      cuts.push_back(newline == std::string_view::npos ? bytes.size() : newline + 1);
    }
    reading.release(bytes.data(), bytes.data() + bytes.size());  // the system reads around each cut
    chunks.resize(cuts.size() - 1);
    // Plain threads that take the next chunk: the chunks are many and alike, and
    // ThreadSanitizer sees through it, which it does not through Debian's libtbb.
    std::atomic<std::size_t> next{0};
    std::atomic<bool> no_memory{false};
    const auto parse = [&] {
      Workshop workshop;
      // A failure to allocate shows again, as an error, when the parser is used.
      [[maybe_unused]] const auto error = workshop.parser.allocate(kChunkBytes, text::kMaxDepth);
      for (std::size_t i = next++; i < chunks.size() && !reading.stopped(); i = next++) {
        if (cuts[i + 1] - cuts[i] > kMaxMapBytes) {
          chunks[i].irregular = true;
        } else {
          chunks[i] = parse_lines(bytes, cuts[i], cuts[i + 1], workshop);
        }
        reading.release(bytes.data() + cuts[i], bytes.data() + cuts[i + 1]);
      }
    };
    const auto work = [&] {
      const base::AllocationWatch watch(reading.budget());
      try {
        parse();
      } catch (const std::bad_alloc&) {  // must not leave a thread
        no_memory = true;
        next = chunks.size();
      }
    };
    const auto workers = std::min<std::size_t>(base::thread_count(threads), chunks.size());
    base::for_each_index(workers, threads, [&](std::size_t) { work(); });
    if (no_memory) throw std::bad_alloc();
    if (reading.stopped()) throw Stopped{};
    if (std::none_of(chunks.begin(), chunks.end(), [](const Chunk& c) { return c.irregular; })) {
      return chunks;
    }
    chunks.clear();
  }
  chunks.push_back(parse_maps(bytes, reading));
  return chunks;
}

}  // namespace cupel::formats::jepsen
