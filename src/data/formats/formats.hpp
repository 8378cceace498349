// formats: history files in, history files out. One file a format (its FormatSpec,
// format_spec.hpp); this is their common entry point, and recognition by content.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/budget.hpp"
#include "base/result.hpp"
#include "data/formats/initial_values.hpp"
#include "data/formats/interpretation.hpp"
#include "data/history/history.hpp"
#include "data/history/single_op.hpp"

namespace cupel::history {
struct ObjectHistory;
}

namespace cupel::formats {

enum class Format : std::uint8_t {
  kJepsen,   // op maps, EDN or JSON: transactions, registers, mutexes
  kPlume,    // r(k,v,s,t)
  kAwdit,    // w 0 1, -----, =====
  kDbcop,    // history.bincode, or a directory that holds one
  kCobra,    // directory of binary *.log
  kViper,    // directory of J*.log
  kCupel,    // the project's own, columnar and compressed
  kKnossos,  // Jepsen's text: jepsen.log and history.txt; read only
};

std::string_view name(Format format);  // "jepsen" …
std::span<const Format> all_formats();
bool is_written(Format format);  // else it is only read
std::optional<Format> parse_format(std::string_view text);
// The names of all formats, or of those that are written: "plume, awdit or cupel".
std::string format_names(bool written_only);

// Metadata of a history without transactions whose file says that no client made an operation: it
// satisfies every level.
inline constexpr const char* kNothingHappened = "nothing happened";

// Do they begin as a certificate does, by windows or not, that of `check` or `crdt check`? Written
// with the field first that says so.
bool is_certificate(std::string_view bytes);

struct ReadOptions {
  std::optional<Format> format;  // absent: detected from the content
  unsigned threads = 0;          // 0: as many as the machine has
  // Borrowed. A limit met while reading is an error with `limit_met`. None: no limits.
  base::Budget* budget = nullptr;
  InitialValues initial = {};  // beside what the file says
  Interpretation as = {};      // of op maps; an error for other formats
  // Of a file that may still grow: only so many bytes of it, whole lines. Of a compressed file or
  // a recording, of its content.
  std::optional<std::uint64_t> first_bytes = {};
  std::uint64_t* content_bytes = nullptr;  // borrowed; told how many bytes the whole has
  // Borrowed. Filled if the file is about objects that are no registers or lists: it then has a
  // kind in its metadata, and the history that is returned is empty. None: such a file is an error.
  history::ObjectHistory* objects = nullptr;
};

// The file or directory at `path` as a history, "-" being standard input; metadata "format" says
// which. A folder may be a run of Jepsen (store_directory.hpp). Errors name file, line or byte.
base::Result<history::History> read(const std::string& path, const ReadOptions& options = {});
base::Result<Format> detect(const std::string& path);

// The same file, reported to `sink` while it is decoded, without a History being held: true
// if all of it was. False, after nothing or after some of it: it is in another format than
// cupel, has fewer transactions, not each is one operation on a register, it is broken, a limit
// was met, initial values are given, or the sink wants no more. Then read() it.
bool stream(const std::string& path, const ReadOptions& options, std::size_t least_txns,
            history::SingleOpSink& sink);

struct Nodes;  // extra_fields.hpp

// Which variant of a format to write.
struct WriteOptions {
  Format format = Format::kJepsen;
  bool edn = false;              // jepsen only: EDN instead of JSON lines
  const Nodes* nodes = nullptr;  // cupel only: of the transactions, by label; borrowed
};
// Which variant a file name's ending asks for (".jsonl"); none if it says nothing.
std::optional<WriteOptions> options_of_extension(std::string_view ending);
// The endings that say a format that can be written: ".jsonl", ".edn" …
std::vector<std::string> written_extensions();
// Could write() open the file at `path`? Leaves it as it is. Errors: why not.
base::Status can_write(const std::string& path, const WriteOptions& options);
// To the file at `path`, "-" being standard output. Refuses, with a sentence, a
// history of which the format cannot hold the operations or outcomes. A pipe whose
// reader went away is no error.
base::Status write(const history::History& history, const std::string& path,
                   const WriteOptions& options);

// What else the history has that the format has no place for, and that a file
// written in it does not say: "times", "session names", "transaction numbers" …
// No verdict but that of levels with real time rests on any of it.
std::vector<std::string> lost_facts(const history::History& history, Format format);

}  // namespace cupel::formats
