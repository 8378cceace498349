// Jepsen's text into the events of jepsen_events.hpp, values by the EDN reader.
//
// A line of an operation has the process, the type, the function, the value and perhaps an error,
// with tabs between them. The error is printed as it is: it may be no EDN, and several lines long.
// In a log, a header comes before, and lines of other loggers and stack traces stand between the
// operations. A line of an operation that cannot be read exactly is an error.
#include "data/formats/knossos.hpp"

#include <absl/strings/ascii.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "data/formats/edn.hpp"
#include "data/formats/jepsen_events.hpp"

namespace cupel::formats {

namespace {

constexpr std::string_view kBlank = " \t\r";
// Time servers set a clock by less, and summer time ends by as much.
constexpr std::int64_t kClockIsSet = 2 * 60 * 60;

bool is_number(std::string_view word) {
  if (word.starts_with('-')) word.remove_prefix(1);
  return !word.empty() && std::all_of(word.begin(), word.end(),
                                      [](unsigned char c) { return c >= '0' && c <= '9'; });
}

bool is_type(std::string_view word) {
  return word == ":invoke" || word == ":ok" || word == ":fail" || word == ":info";
}

bool is_severity(std::string_view word) {
  constexpr std::array<std::string_view, 6> kWords = {"TRACE", "DEBUG", "INFO",
                                                      "WARN",  "ERROR", "FATAL"};
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

// Words of a line, one after another.
struct Words {
  std::string_view text;
  std::size_t at = 0;

  void skip() { at = std::min(text.find_first_not_of(kBlank, at), text.size()); }
  std::string_view next() {
    skip();
    const auto begin = at;
    at = std::min(text.find_first_of(kBlank, at), text.size());
    return text.substr(begin, at - begin);
  }
};

// The header of a line in a log.
//
//   INFO  jepsen.util - 0 :invoke …                                   2014, the console
//   INFO [2017-08-19 06:23:31,518] jepsen worker 0 - jepsen.util 0 …  since 2016, the console
//   2021-02-26 11:42:48,806{GMT}  INFO  [jepsen worker 1] jepsen.util: 1 …     jepsen.log
//   INFO  [jepsen worker 1] jepsen.util: 1 …                          the console without dates
struct Header {
  std::string_view logger;
  std::size_t message = 0;  // where it begins
  bool of_2014 = false;
};

std::optional<Header> header_of(std::string_view text) {
  Words words{text};
  auto severity = words.next();
  if (!severity.empty() && severity[0] >= '0' && severity[0] <= '9' &&
      severity.find_first_of("-:/") != std::string_view::npos) {  // a date, perhaps with a time
    severity = words.next();
    if (!is_severity(severity)) severity = words.next();
  }
  if (!is_severity(severity)) return std::nullopt;
  words.skip();
  Header header;
  if (words.at == text.size() || text[words.at] != '[') {
    header.logger = words.next();
    if (words.next() != "-") return std::nullopt;
    header.of_2014 = true;
  } else {
    const auto close = text.find(']', words.at);
    if (close == std::string_view::npos) return std::nullopt;
    words.at = close + 1;
    header.logger = words.next();
    if (header.logger.ends_with(':')) {
      header.logger.remove_suffix(1);
    } else {  // the words before the dash are the thread
      const auto dash = text.find(" - ", close);
      if (dash == std::string_view::npos) return std::nullopt;
      words.at = dash + 3;
      header.logger = words.next();
    }
  }
  words.skip();
  header.message = words.at;
  return header;
}

// Does a line without header begin as that of an operation does?
bool begins_operation(std::string_view text) {
  Words words{text};
  const auto process = words.next();
  const bool named = process.size() > 1 && (process[0] == ':' || process[0] == '"');
  return (is_number(process) || named) && is_type(words.next());
}

// Does it name a logger of operations, and the type of one?
bool contains_operation(std::string_view text) {
  if (text.find("jepsen.util") == std::string_view::npos &&
      text.find("jepsen.print") == std::string_view::npos) {
    return false;
  }
  Words words{text};
  for (auto word = words.next(); !word.empty(); word = words.next()) {
    if (is_type(word)) return true;
  }
  return false;
}

// The date of a line of a log, in seconds since any day: 2021-02-26 11:42:48.
std::optional<std::int64_t> seconds_of(std::string_view text) {
  const auto at = text.find_first_of("0123456789");
  if (at > 16 || text.size() < at + 19) return std::nullopt;
  text = text.substr(at, 19);
  constexpr std::string_view kForm = "dddd-dd-dd dd:dd:dd";
  std::array<std::int64_t, 6> fields{};
  std::size_t field = 0;
  for (std::size_t i = 0; i < kForm.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (digit != (kForm[i] == 'd') || (!digit && text[i] != kForm[i])) return std::nullopt;
    if (digit)
      fields[field] = fields[field] * 10 + (text[i] - '0');
    else
      ++field;
  }
  const auto [year, month, day, hour, minute, second] = fields;
  if (month < 1 || month > 12) return std::nullopt;
  // Days of a calendar whose years begin in March.
  const auto y = month > 2 ? year : year - 1, m = (month + 9) % 12;
  const auto days = 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day;
  return ((days * 24 + hour) * 60 + minute) * 60 + second;
}

class Parser {
 public:
  Parser(std::string_view bytes, Reading& reading) : bytes_(bytes), reading_(reading) {}

  jepsen::Chunk run() {
    for (std::size_t begin = 0; begin < bytes_.size() && !chunk_.error;) {
      reading_.step(bytes_.data() + begin);
      const auto end = std::min(bytes_.find('\n', begin), bytes_.size());
      if (bytes_.substr(begin, end - begin).find_first_not_of(kBlank) != std::string_view::npos) {
        const auto events = chunk_.events.size();
        line(begin, end);
        if (chunk_.events.size() > events && may_go_on(end) && !in_error_) {
          chunk_.events.pop_back();
          cut_ = begin;
        }
      }
      begin = end + 1;
    }
    if (kind_ == Kind::kUnknown && leading_ && !chunk_.error)
      bad(leading_->first, leading_->second);
    return std::move(chunk_);
  }
  // Where a last line begins that has no end: it is left out, since 1 may have been 12. Of a line
  // with an error, the value has its end.
  [[nodiscard]] std::optional<std::uint64_t> cut() const { return cut_; }
  // All operations are of a log of 2014, where a failed cas compared.
  [[nodiscard]] bool of_2014() const { return of_2014_; }

 private:
  enum class Kind { kUnknown, kLog, kHistory };

  // The word at the end of a file that does not end with a newline.
  [[nodiscard]] bool may_go_on(std::size_t end) const {
    return end == bytes_.size() && absl::ascii_isalnum(static_cast<unsigned char>(bytes_.back()));
  }

  void line(std::size_t begin, std::size_t end) {
    const auto text = bytes_.substr(begin, end - begin);
    const auto header = kind_ == Kind::kHistory ? std::nullopt : header_of(text);
    if (kind_ == Kind::kUnknown) {
      if (!header && !begins_operation(text)) return leading_text(begin, end);
      kind_ = header ? Kind::kLog : Kind::kHistory;
      if (!header && leading_) {
        bad(leading_->first, leading_->second);
        return;
      }
    }
    if (kind_ == Kind::kHistory) {
      of_2014_ = false;
      if (begins_operation(text)) {
        operation(begin, begin, end);
      } else if (!in_error_) {
        bad(begin, end);
      }
      return;
    }
    if (header) note_date(begin, text);
    if (!header) {
      // A stack trace, or more of a message.
      if (contains_operation(text)) bad(begin, end);
      return;
    }
    const auto message = text.substr(header->message);
    if (header->logger != "jepsen.util" && header->logger != "jepsen.print") {
      if (contains_operation(message)) bad(begin, end);
      begin_run(begin, message);
      return;
    }
    Words words{message};
    const auto process = words.next();
    const auto type = words.next();
    if (is_number(process) || process == ":nemesis" || is_type(type)) {
      of_2014_ = of_2014_ && header->of_2014;
      operation(begin, begin + header->message, end, header->of_2014);
    } else {
      begin_run(begin, message);
    }
  }

  // What a console shows before the first line of a log; only a log may begin so.
  void leading_text(std::size_t begin, std::size_t end) {
    Words words{bytes_.substr(begin, end - begin)};
    for (auto word = words.next(); !word.empty(); word = words.next()) {
      if (is_type(word)) return bad(begin, end);
    }
    if (!leading_) leading_ = {begin, end};
  }

  // The lines of a log are in the order of time, up to a clock that is set.
  void note_date(std::size_t begin, std::string_view text) {
    const auto seconds = seconds_of(text);
    if (!seconds) return;
    if (latest_ && *seconds + kClockIsSet < *latest_) {
      chunk_.fail(begin,
                  "found a time that is before those of the lines above: another run begins "
                  "here. Cut the log into its runs");
    }
    latest_ = std::max(latest_.value_or(*seconds), *seconds);
  }

  // A second run would have the processes of the first.
  void begin_run(std::size_t begin, std::string_view message) {
    const bool begins =
        message.starts_with("Running test:") || message.starts_with("Relative time begins now");
    if (begins && !chunk_.events.empty()) {
      chunk_.fail(begin, "found the begin of a second run in one log. Cut the log into its runs");
    }
  }

  // "3 :invoke :cas [1 4]" at [at, end).
  void operation(std::size_t begin, std::size_t at, std::size_t end, bool of_2014 = false) {
    if (!simdjson::validate_utf8(bytes_.data() + begin, end - begin)) {
      chunk_.fail(begin, "found bytes that are not UTF-8, expected text");
      return;
    }
    EdnReader reader(bytes_.substr(0, end), chunk_);
    reader.advance(at);
    jepsen::Fields fields;
    fields.byte = begin;
    jepsen::Cell value;
    for (jepsen::Cell* cell : {&fields.process, &fields.type, &fields.f, &value}) {
      if (reader.value(*cell, 1)) continue;
      if (!reader.too_deep()) bad(begin, end);
      return;
    }
    const auto rest = bytes_.substr(reader.position(), end - reader.position());
    in_error_ = rest.find_first_not_of(kBlank) != std::string_view::npos;
    if (fields.f.is_nothing() || (in_error_ && !may_have_error(fields.type, rest))) {
      bad(begin, end);
      return;
    }
    jepsen::Event event;
    if (!chunk_.begin_event(fields, event)) return;
    // With an error it is not known to have compared.
    if (of_2014 && in_error_ && event.type == jepsen::Type::kFail) value = jepsen::Cell::null();
    chunk_.finish_event(event, value, jepsen::Cell());
  }

  // May `rest`, which follows the value, be an error?
  static bool may_have_error(const jepsen::Cell& type, std::string_view rest) {
    if (!type.is_name() || type.view() == "invoke" || contains_operation(rest)) return false;
    return rest[0] == '\t' || (rest[0] == ' ' && type.view() != "ok");
  }

  // The line cannot be read; why, if the reader of values has said so.
  void bad(std::size_t begin, std::size_t end) {
    std::string why;
    if (chunk_.error && chunk_.error->message.find("truncated") == std::string::npos) {
      why = "; " + chunk_.error->message;
    }
    chunk_.error.reset();
    auto text = std::string(bytes_.substr(begin, std::min<std::size_t>(end - begin, 60)));
    if (!simdjson::validate_utf8(text)) text = "a line that is not UTF-8 or too long";
    chunk_.fail(begin, "found \"" + text + "\", expected " +
                           (kind_ == Kind::kHistory ? "" : "INFO  jepsen.util - ") +
                           "PROCESS :TYPE :F VALUE" + why);
  }

  std::string_view bytes_;
  Reading& reading_;
  jepsen::Chunk chunk_;
  Kind kind_ = Kind::kUnknown;
  std::optional<std::pair<std::size_t, std::size_t>> leading_;  // the first line before the log
  std::optional<std::int64_t> latest_;                          // of the dates of lines, in seconds
  bool in_error_ = false;  // the line before ended with an error, which may have further lines
  bool of_2014_ = true;
  std::optional<std::uint64_t> cut_;
};

}  // namespace

base::Result<history::History> read_knossos(std::string_view bytes, const std::string& file,
                                            Reading reading, const Interpretation& as,
                                            history::ObjectHistory* objects) {
  Parser parser(bytes, reading);
  std::vector<jepsen::Chunk> chunks;
  chunks.push_back(parser.run());
  const jepsen::Source source{.bytes = bytes,
                              .file = file,
                              .format = "knossos",
                              .as = as,
                              .failed_cas_was_seen = parser.of_2014(),
                              .cut = parser.cut(),
                              .objects = objects};
  if (chunks[0].events.empty() && !chunks[0].error && !source.cut) {
    return base::Error{
        .message =
            "found no operations, expected lines such as INFO  jepsen.util - 3 :invoke :cas [1 4]",
        .file = file};
  }
  return jepsen::assemble(std::move(chunks), source, reading);
}

Match recognize_knossos(std::string_view bytes) {
  auto head = bytes.substr(0, kHeadBytes);
  const auto begin = head.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return Match::kNo;
  head = head.substr(begin);
  if (begins_operation(head.substr(0, head.find('\n')))) return Match::kBegins;
  auto header = header_of(head.substr(0, head.find('\n')));
  // A console may show something else before the log.
  while (!header && head.find('\n') != std::string_view::npos) {
    head = head.substr(head.find('\n') + 1);
    const auto line = header_of(head.substr(0, head.find('\n')));
    if (line && line->logger.starts_with("jepsen.")) header = line;
  }
  if (!header) return Match::kNo;
  return header->logger.starts_with("jepsen.") || head.find(" jepsen.") != std::string_view::npos
             ? Match::kBegins
             : Match::kNo;
}

extern constinit const FormatSpec kKnossosFormat{
    .format = Format::kKnossos,
    .name = "knossos",
    .description = "jepsen.log, history.txt",
    .page = "docs/reference/formats/knossos.md",
    .example =
        "INFO  jepsen.util - 0\t:invoke\t:write\t4\n"
        "INFO  jepsen.util - 0\t:ok\t:write\t4\n",
    .of_op_maps = true,
    .recognize = recognize_knossos,
    .read = [](const Source& source, Reading reading) {
      return read_knossos(source.files[0].bytes, source.path, reading, source.as, source.objects);
    }};

}  // namespace cupel::formats
