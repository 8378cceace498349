// Decides between EDN and JSON and hands over; see jepsen_json.cpp,
// jepsen_edn.cpp and jepsen_assemble.cpp.
#include "data/formats/jepsen_reader.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

#include "data/formats/jepsen_events.hpp"
#include "data/formats/jepsen_writer.hpp"
#include "data/formats/json_members.hpp"

namespace cupel::formats {

namespace {

enum class Syntax { kEmpty, kJson, kEdn, kOther };

constexpr std::string_view kJsonWords[] = {"true", "false", "null", "NaN", "Infinity"};

std::string_view past(std::string_view text, std::string_view what) {
  const auto at = text.find_first_not_of(what);
  return at == std::string_view::npos ? std::string_view() : text.substr(at);
}

// Whether a value of JSON may begin here, rather than the name of an EDN keyword.
bool begins_json_value(std::string_view text) {
  text = past(text, " \t\r\n");
  if (text.empty() || std::string_view("\"{[-0123456789").find(text[0]) != std::string_view::npos)
    return true;
  return std::any_of(std::begin(kJsonWords), std::end(kJsonWords), [&](std::string_view word) {
    return text.starts_with(word) || word.starts_with(text);
  });
}

// The first brackets decide: JSON maps begin {", EDN ones {: — or "type" with no
// colon after it, or with a keyword.
Syntax syntax_of(std::string_view text) {
  bool comments = false;
  for (;;) {
    text = past(text, " \t\r\n,");
    if (text.empty() || text[0] != ';') break;
    comments = true;
    const auto line_end = text.find('\n');
    if (line_end == std::string_view::npos) return Syntax::kEmpty;
    text = text.substr(line_end);
  }
  if (text.empty()) return Syntax::kEmpty;
  if (comments || text[0] == '(' || text[0] == '#' || text[0] == '^') return Syntax::kEdn;
  const bool array = text[0] == '[';
  if (array) text = past(text.substr(1), " \t\r\n,");
  if (text.empty()) return Syntax::kJson;
  if (text[0] == ']') return Syntax::kJson;
  if (text[0] == ';' || text[0] == '#' || text[0] == '^') {
    return array ? Syntax::kEdn : Syntax::kOther;
  }
  if (text[0] != '{') return array ? Syntax::kJson : Syntax::kOther;
  text = past(text.substr(1), " \t\r\n,");
  if (text.empty() || text[0] == '}') return Syntax::kJson;
  if (text[0] != '"') return Syntax::kEdn;
  std::size_t at = 1;
  while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
  const auto after = past(text.substr(std::min(at + 1, text.size())), " \t\r\n");
  if (after.empty()) return Syntax::kJson;
  return after[0] == ':' && begins_json_value(after.substr(1)) ? Syntax::kJson : Syntax::kEdn;
}

// Where the map at the beginning of the text ends; npos: not in it.
std::size_t end_of_map(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted) {
      at += c == '\\' ? 1 : 0;
      quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && --depth == 0) {
      return at + 1;
    }
  }
  return std::string_view::npos;
}

// Where half a line begins at the end of lines of maps.
std::optional<std::uint64_t> cut_line(std::string_view bytes) {
  if (!past(bytes, " \t\r\n").starts_with('{')) return std::nullopt;  // an array
  const auto newline = bytes.rfind('\n');
  if (newline == std::string_view::npos) return std::nullopt;
  const auto rest = bytes.substr(newline + 1);
  if (!rest.starts_with('{') || end_of_map(rest) != std::string_view::npos) return std::nullopt;
  return newline + 1;
}

std::string_view without_mark(std::string_view bytes) {
  return bytes.substr(0, 3) == "\xef\xbb\xbf" ? bytes.substr(3) : bytes;
}

// [] or (), and blanks: a history in which nothing happened.
bool is_empty_vector(std::string_view bytes) {
  constexpr std::string_view kBlanks = " \t\r\n,";
  bytes = past(without_mark(bytes), kBlanks);
  const char open = bytes.empty() ? '\0' : bytes.front();
  if (open != '[' && open != '(') return false;
  bytes = past(bytes.substr(1), kBlanks);
  return !bytes.empty() && bytes.front() == (open == '[' ? ']' : ')') &&
         past(bytes.substr(1), kBlanks).empty();
}

}  // namespace

base::Result<history::History> read_jepsen(std::string_view bytes, const std::string& file,
                                           unsigned threads, Reading reading,
                                           const Interpretation& as,
                                           history::ObjectHistory* objects) {
  bytes = without_mark(bytes);
  jepsen::Source source{
      .bytes = bytes, .file = file, .format = "jepsen", .as = as, .objects = objects};
  const Syntax syntax = syntax_of(bytes);
  if (syntax == Syntax::kEmpty) {
    return base::Error{.message =
                           "found no operations, expected op maps in EDN or JSON such as "
                           R"({"type":"ok","process":0,"f":"txn","value":[["w","x",1]]})",
                       .file = file};
  }
  std::vector<jepsen::Chunk> chunks;
  if (syntax == Syntax::kEdn) {
    chunks = jepsen::parse_edn(bytes, reading);
    const auto failed = std::find_if(chunks.begin(), chunks.end(),
                                     [](const jepsen::Chunk& chunk) { return chunk.error; });
    const auto cut = failed == chunks.end() ? std::nullopt : cut_line(bytes);
    if (cut && failed->error->byte >= *cut) {
      source.cut = cut;
      source.bytes = bytes.substr(0, *cut);
      chunks = jepsen::parse_edn(source.bytes, reading);
    }
  } else {
    source.cut = cut_line(bytes);
    source.bytes = bytes.substr(0, source.cut.value_or(bytes.size()));
    chunks = jepsen::parse_json(source.bytes, threads, reading);
  }
  return jepsen::assemble(std::move(chunks), source, reading);
}

bool is_whole_map(std::string_view text) {
  if (!text.starts_with('{')) return false;
  const auto end = end_of_map(text);
  return end != std::string_view::npos && past(text.substr(end), " \t\r\n").empty();
}

bool is_edn(std::string_view bytes) {
  return syntax_of(without_mark(bytes)) == Syntax::kEdn;
}

Match recognize_jepsen(std::string_view bytes) {
  if (is_empty_vector(bytes)) return Match::kBegins;
  const auto head = without_mark(bytes.substr(0, kHeadBytes));
  const auto has = [&](std::string_view text) { return head.find(text) != std::string_view::npos; };
  switch (syntax_of(head)) {
    case Syntax::kJson: {
      const auto members = first_object(head.substr(std::min(head.find('{'), head.size())));
      // Without a type it is an error, and not viper's.
      for (const auto* name : {"type", "process", "f"}) {
        if (members.contains(name)) return Match::kBegins;
      }
      // A bare value is viper's; anything else may be followed by an operation.
      return !members.contains("value") && has("\"type\"") ? Match::kBegins : Match::kNo;
    }
    case Syntax::kEdn:
      return has(":type") || has("\"type\"") || has("#jepsen.history.Op") ? Match::kBegins
                                                                          : Match::kNo;
    case Syntax::kEmpty:
    case Syntax::kOther:
      break;
  }
  return Match::kNo;
}

extern constinit const FormatSpec kJepsenFormat{
    .format = Format::kJepsen,
    .name = "jepsen",
    .description = "op maps, EDN or JSON",
    .page = "docs/reference/formats/jepsen.md",
    .example = "{:type :ok, :process 0, :f :txn, :value [[:w x 1] [:r y nil]]}\n",
    .of_op_maps = true,
    .extensions = {{{".jsonl"}, {".edn", true}, {".json"}}},
    .recognize = recognize_jepsen,
    .read =
        [](const Source& source, Reading reading) {
          return read_jepsen(source.files[0].bytes, source.path, source.threads, reading, source.as,
                             source.objects);
        },
    .write = [](const history::History& history, std::ostream& out,
                const WriteOptions& options) { return write_jepsen(history, out, options.edn); }};

}  // namespace cupel::formats
