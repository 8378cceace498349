// Knossos logs into the events of jepsen_events.hpp, values by the EDN reader.
// Strict: a line of any other form is an error, not noise.
#include "formats/knossos.hpp"

#include <simdjson.h>

#include <algorithm>

#include "formats/edn.hpp"
#include "formats/jepsen_events.hpp"

namespace cupel::formats {

namespace {

constexpr std::string_view kLogger = "jepsen.util - ";
constexpr std::string_view kBlank = " \t\r";

// "3 :invoke :cas [1 4]" at [at, end) of bytes.
bool line(std::string_view bytes, std::size_t at, std::size_t end, std::size_t begin,
          jepsen::Chunk& chunk) {
  EdnReader reader(bytes.substr(0, end), chunk);
  reader.advance(at);
  const auto bad = [&] {
    chunk.error.reset();
    auto text = std::string(bytes.substr(begin, std::min<std::size_t>(end - begin, 60)));
    if (!simdjson::validate_utf8(text)) text = "a line that is not UTF-8 or too long";
    return chunk.fail(
        begin, "found \"" + text + "\", expected INFO  jepsen.util - PROCESS :TYPE :F VALUE");
  };
  jepsen::Fields fields;
  fields.byte = begin;
  jepsen::Cell value;
  for (jepsen::Cell* cell : {&fields.process, &fields.type, &fields.f, &value}) {
    if (!reader.value(*cell, 1)) return reader.too_deep() ? false : bad();
  }
  reader.skip();
  if (!reader.at_end()) return bad();
  jepsen::Event event;
  if (fields.f.is_nothing()) return bad();
  return chunk.begin_event(fields, event) && chunk.finish_event(event, value, jepsen::Cell());
}

jepsen::Chunk parse(std::string_view bytes, Reading& reading) {
  jepsen::Chunk chunk;
  for (std::size_t begin = 0; begin < bytes.size();) {
    reading.step(bytes.data() + begin);
    const auto end = std::min(bytes.find('\n', begin), bytes.size());
    const auto text = bytes.substr(begin, end - begin);
    if (text.find_first_not_of(kBlank) != std::string_view::npos) {
      const auto logger = text.find(kLogger);
      if (!simdjson::validate_utf8(text.data(), text.size())) {
        chunk.fail(begin, "found bytes that are not UTF-8, expected text");
      } else if (logger == std::string_view::npos) {
        chunk.fail(begin, "found \"" + std::string(text.substr(0, text.size() > 60 ? 0 : 60)) +
                              "\", expected INFO  jepsen.util - PROCESS :TYPE :F VALUE");
      } else {
        line(bytes, begin + logger + kLogger.size(), end, begin, chunk);
      }
      if (chunk.error) return chunk;
    }
    begin = end + 1;
  }
  return chunk;
}

}  // namespace

base::Result<history::History> read_knossos(std::string_view bytes, const std::string& file,
                                            Reading reading, const Interpretation& as) {
  const jepsen::Source source{
      .bytes = bytes, .file = file, .format = "knossos", .as = as, .failed_cas_was_seen = true};
  std::vector<jepsen::Chunk> chunks;
  chunks.push_back(parse(bytes, reading));
  if (chunks[0].events.empty() && !chunks[0].error) {
    return base::Error{
        .message =
            "found no operations, expected lines such as INFO  jepsen.util - 3 :invoke :cas [1 4]",
        .file = file};
  }
  return jepsen::assemble(std::move(chunks), source, reading);
}

// A quotation mark or a comment before the logger's name: it is part of something else.
Match recognize_knossos(std::string_view bytes) {
  auto head = bytes.substr(0, kHeadBytes);
  const auto begin = head.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return Match::kNo;
  head = head.substr(begin);
  const auto first = head.substr(0, head.find('\n'));
  const auto logger = first.find(kLogger);
  if (logger == std::string_view::npos || first[0] == ';') return Match::kNo;
  if (first.substr(0, logger).find('"') != std::string_view::npos) return Match::kNo;
  return first.find(':', logger) != std::string_view::npos ? Match::kBegins : Match::kNo;
}

extern constinit const FormatSpec kKnossosFormat{
    .format = Format::kKnossos,
    .name = "knossos",
    .description = "jepsen.util logs",
    .page = "docs/formats/knossos.md",
    .of_op_maps = true,
    .recognize = recognize_knossos,
    .read = [](const Source& source, Reading reading) {
      return read_knossos(source.files[0].bytes, source.path, reading, source.as);
    }};

}  // namespace cupel::formats
