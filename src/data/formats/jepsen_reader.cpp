// Decides between EDN and JSON and hands over; see jepsen_json.cpp,
// jepsen_edn.cpp and jepsen_assemble.cpp.
#include "data/formats/jepsen_reader.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

#include "base/text/edn.hpp"
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

// The begin of the map inside of which JSON maps end.
std::optional<std::size_t> open_in_json(std::string_view text) {
  std::size_t begin = 0;
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
      if (depth++ == 0) begin = at;
    } else if (c == '}' && --depth < 0) {
      return std::nullopt;
    }
  }
  return depth > 0 ? std::optional(begin) : std::nullopt;
}

// The same of a form of EDN.
std::optional<std::size_t> open_in_edn(std::string_view text) {
  text::EdnCursor cursor(text);
  for (;;) {
    cursor.skip();
    if (cursor.at_end()) return std::nullopt;
    const auto begin = cursor.position();
    if (cursor.follows("#_")) cursor.advance(2);
    const auto error = cursor.pass_over();
    if (!error) continue;
    const bool open = error->message.find("truncated") != std::string::npos ||
                      error->message.ends_with("without its end");
    return open ? std::optional(begin) : std::nullopt;
  }
}

// The begin of the map that has no end, because the writer of the line was interrupted.
std::optional<std::size_t> cut_in(std::string_view line) {
  return syntax_of(line) == Syntax::kEdn ? open_in_edn(line) : open_in_json(line);
}

// The same of the last line of a file; none for a file that is one vector.
std::optional<std::uint64_t> cut_map(std::string_view bytes) {
  const auto text = past(bytes, " \t\r\n");
  const auto newline = bytes.rfind('\n');
  if (text.starts_with('[') || text.starts_with('(') || newline == std::string_view::npos)
    return std::nullopt;
  const auto cut = cut_in(bytes.substr(newline + 1));
  return cut ? std::optional(newline + 1 + *cut) : std::nullopt;
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
  source.cut = cut_map(bytes);
  source.bytes = bytes.substr(0, source.cut.value_or(bytes.size()));
  chunks = syntax == Syntax::kEdn ? jepsen::parse_edn(source.bytes, reading)
                                  : jepsen::parse_json(source.bytes, threads, reading);
  return jepsen::assemble(std::move(chunks), source, reading);
}

bool is_whole_line(std::string_view text) {
  const auto syntax = syntax_of(text);
  return (syntax == Syntax::kJson || syntax == Syntax::kEdn) && !cut_in(text);
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
