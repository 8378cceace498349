// formats: history files in, history files out. One file a format; this is
// their common door, and detection.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "history/history.hpp"

namespace cupel::formats {

enum class Format : std::uint8_t {
  kJepsen,   // op maps, EDN or JSON: transactions, registers, mutexes
  kPlume,    // r(k,v,s,t)
  kAwdit,    // w 0 1, -----, =====
  kDbcop,    // history.bincode, or a directory that holds one
  kCobra,    // directory of binary *.log
  kViper,    // directory of J*.log
  kCupel,    // the project's own, columnar and compressed
  kKnossos,  // "INFO jepsen.util - 0 :invoke :read nil" logs; read only
};

std::string_view name(Format format);  // "jepsen" …
std::optional<Format> parse_format(std::string_view text);

struct ReadOptions {
  std::optional<Format> format;  // absent: detected from the content
  unsigned threads = 0;          // 0: as many as the machine has
};

// The file or directory at `path` as a history; metadata "format" says which.
// Errors name file, line or byte, found and expected.
base::Result<history::History> read(const std::string& path, const ReadOptions& options = {});
base::Result<Format> detect(const std::string& path);

// Which variant of a format to write.
struct WriteOptions {
  Format format = Format::kJepsen;
  bool edn = false;  // jepsen only: EDN instead of JSON lines
};
// Refuses, with a sentence, a history that the format cannot hold (no silent loss).
base::Status write(const history::History& history, const std::string& path,
                   const WriteOptions& options);

}  // namespace cupel::formats
