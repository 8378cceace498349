// FormatSpec: all that cupel knows about one history format. Each format's own
// source file defines its entry; registry.cpp lists the entries. Recognition,
// reading, writing, the names that the command line takes and its help come
// from there.
//
// To add a format: its value in `Format` (formats.hpp), a source file with its
// FormatSpec, and its declaration and its line in registry.cpp. awdit.cpp is a small
// one to copy. Its header is there for other users; a new reader needs none: tests and
// the fuzz target call `spec_of(Format::k…).read`. A format that is only read leaves
// out `extensions`, `write` and `lost`. docs/internals/architecture.md#extension-points lists
// what else is to be written.
#pragma once

#include <array>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "data/formats/formats.hpp"
#include "data/formats/input.hpp"
#include "data/formats/interpretation.hpp"
#include "data/history/history.hpp"

namespace cupel::formats {

// How far the start of a file fits a format. The better match wins; two equal
// ones are an error that asks for -f.
enum class Match : std::uint8_t {
  kNo,
  kBegins,   // it begins like one
  kChecked,  // binary formats: every record of the first kHeadBytes is as it must be
};
// A recogniser looks at no more than this.
inline constexpr std::size_t kHeadBytes = 1 << 16;

// What a reader is given: one file, or the *.log files of a directory.
struct Source {
  std::string path;
  std::vector<SessionLog> files;
  unsigned threads = 0;
  Interpretation as = {};  // of op maps
  bool alone = false;      // the file is one of a format of session logs, and not in a directory
  history::ObjectHistory* objects = nullptr;  // as ReadOptions has it
};

// The ending of a file's name, and the syntax it asks for.
struct Extension {
  std::string_view ending;  // ".jsonl"; empty: no more
  bool edn = false;
};

struct FormatSpec {
  Format format;
  std::string_view name;                  // "plume"
  std::string_view description;           // "`r(1,2,0,7)`": follows the name in messages
  std::string_view page;                  // "docs/reference/formats/plume.md"
  std::string_view example{};             // a smallest file; empty: the format is binary
  bool of_op_maps = false;                // an Interpretation applies
  std::array<Extension, 3> extensions{};  // written by name; the usual one first
  bool in_logs = false;                   // a directory of *.log files, one a session
  std::string_view file_in_directory{};   // the file for which its directory stands
  Match (*recognize)(std::string_view bytes);
  base::Result<history::History> (*read)(const Source& source, Reading reading);
  // Null: the format is only read.
  base::Status (*write)(const history::History& history, std::ostream& out,
                        const WriteOptions& options) = nullptr;
  // What a file of it does not say, though the history does. Null: nothing.
  std::vector<std::string> (*lost)(const history::History& history) = nullptr;
};

// The advice of a log of one session that is read without the others.
inline constexpr const char* kNameTheFolder =
    "Name the folder with the logs of all sessions; a folder with this log alone says that there "
    "is no other session and no other initial value";

// In the order of `Format`.
std::span<const FormatSpec* const> all_specs();
const FormatSpec& spec_of(Format format);

// Which format the file at `path` holds, or the session logs of a directory.
base::Result<Format> recognize(const std::string& path, std::string_view bytes, bool in_logs);
// An error that says what was found where a history in one of the formats was expected.
base::Error unrecognized(const std::string& path, std::string_view found);
// What is wrong with a file that a known program compressed; empty if it is no such file.
std::string found_compressed(std::string_view bytes);

}  // namespace cupel::formats
