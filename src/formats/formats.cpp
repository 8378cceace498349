// The common door: which format a path holds, and to the reader of it.
#include "formats/formats.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <new>
#include <vector>

#include "formats/awdit.hpp"
#include "formats/cobra.hpp"
#include "formats/cupel_binary.hpp"
#include "formats/dbcop.hpp"
#include "formats/input.hpp"
#include "formats/jepsen_reader.hpp"
#include "formats/jepsen_writer.hpp"
#include "formats/knossos.hpp"
#include "formats/plume.hpp"
#include "formats/viper.hpp"

namespace cupel::formats {

namespace fs = std::filesystem;
using history::History;

namespace {

constexpr std::array<std::pair<Format, std::string_view>, 8> kNames{{
    {Format::kJepsen, "jepsen"},
    {Format::kPlume, "plume"},
    {Format::kAwdit, "awdit"},
    {Format::kDbcop, "dbcop"},
    {Format::kCobra, "cobra"},
    {Format::kViper, "viper"},
    {Format::kCupel, "cupel"},
    {Format::kKnossos, "knossos"},
}};
constexpr const char* kKnownFormats =
    "jepsen (op maps, EDN or JSON), plume (`r(1,2,0,7)`), awdit (`r 1 2`), dbcop "
    "(history.bincode), "
    "cobra or viper (a directory of *.log), cupel or knossos (jepsen.util logs)";
constexpr const char* kDbcopFile = "history.bincode";
constexpr std::size_t kHeadBytes = 1 << 16;

bool is_directory(const std::string& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

base::Error unknown(const std::string& path, std::string_view found) {
  return {.message = fmt::format(
              "found {}, expected one of the formats {}; name it with -f if it is one of these",
              found, kKnownFormats),
          .file = path};
}

std::optional<Format> detect_bytes(std::string_view bytes) {
  const auto head = bytes.substr(0, kHeadBytes);
  if (looks_like_cupel(head)) return Format::kCupel;
  if (looks_like_plume(head)) return Format::kPlume;
  if (looks_like_awdit(head)) return Format::kAwdit;
  if (looks_like_viper(head)) return Format::kViper;
  if (looks_like_knossos(head)) return Format::kKnossos;
  if (looks_like_jepsen(head)) return Format::kJepsen;
  if (looks_like_cobra(head)) return Format::kCobra;
  if (looks_like_dbcop(head, bytes.size())) return Format::kDbcop;
  return std::nullopt;
}

base::Result<Format> detect_file(const std::string& path, std::string_view bytes) {
  if (bytes.empty()) return unknown(path, "an empty file");
  if (const auto format = detect_bytes(bytes)) return *format;
  return unknown(path, shown(bytes.substr(0, 40)));
}

// The logs of a directory that has them, mapped.
struct Logs {
  std::vector<MappedFile> files;
  std::vector<SessionLog> logs;
};
base::Result<Logs> open_logs(const std::string& directory, base::Budget* budget = nullptr) {
  auto paths = session_logs(directory);
  if (!paths.ok()) return std::move(paths).error();
  Logs opened;
  for (const auto& path : *paths) {
    auto file = MappedFile::open(path, budget);
    if (!file.ok()) return std::move(file).error();
    opened.files.push_back(std::move(*file));
  }
  for (std::size_t i = 0; i < paths->size(); ++i) {
    opened.logs.push_back({(*paths)[i], opened.files[i].bytes()});
  }
  return opened;
}

base::Result<Format> detect_logs(const std::string& directory, const Logs& logs) {
  for (const auto& log : logs.logs) {
    const auto head = log.bytes.substr(0, kHeadBytes);
    if (head.empty()) continue;
    if (looks_like_viper(head)) return Format::kViper;
    if (looks_like_cobra(head)) return Format::kCobra;
    return unknown(log.file, shown(head.substr(0, 40)));
  }
  return unknown(directory, "only empty *.log files");
}

base::Result<History> read_logs(Format format, const std::vector<SessionLog>& logs,
                                const std::string& path, Reading reading) {
  return format == Format::kViper ? read_viper(logs, path, reading)
                                  : read_cobra(logs, path, reading);
}

base::Result<History> read_directory(const std::string& path, std::optional<Format> asked,
                                     base::Budget* budget) {
  const bool holds_logs = !asked || *asked == Format::kCobra || *asked == Format::kViper;
  if (!holds_logs) {
    return base::Error{
        .message = fmt::format("is a directory without a {} file; {} is read from a file",
                               kDbcopFile, name(*asked)),
        .file = path};
  }
  auto logs = open_logs(path, budget);
  if (!logs.ok()) {
    if (asked) return std::move(logs).error();
    return unknown(path, fmt::format("a directory with neither {} nor *.log files", kDbcopFile));
  }
  if (!asked) {
    const auto format = detect_logs(path, *logs);
    if (!format.ok()) return format.error();
    asked = *format;
  }
  return read_logs(*asked, logs->logs, path, Reading(budget, nullptr));
}

// A directory stands for the dbcop file in it, if there is one.
std::string resolved(const std::string& path, std::optional<Format> asked) {
  if (asked && *asked != Format::kDbcop) return path;
  const auto inside = (fs::path(path) / kDbcopFile).string();
  std::error_code ignored;
  return is_directory(path) && fs::exists(inside, ignored) ? inside : path;
}

base::Result<History> read_file(const std::string& place, const ReadOptions& options) {
  const auto file = MappedFile::open(place, options.budget);
  if (!file.ok()) return file.error();
  const auto bytes = file->bytes();
  auto format = options.format;
  if (!format) {
    const auto detected = detect_file(place, bytes);
    if (!detected.ok()) return detected.error();
    format = *detected;
  }
  if (bytes.empty()) {
    return base::Error{.message = fmt::format(
                           "found an empty file, expected a history in {} format", name(*format)),
                       .file = place};
  }
  const Reading reading(options.budget, &*file);
  switch (*format) {
    case Format::kJepsen:
      return read_jepsen(bytes, place, options.threads, reading);
    case Format::kPlume:
      return read_plume(bytes, place, options.threads, reading);
    case Format::kAwdit:
      return read_awdit(bytes, place, reading);
    case Format::kDbcop:
      return read_dbcop(bytes, place, reading);
    case Format::kCupel:
      return read_cupel(bytes, place, reading);
    case Format::kKnossos:
      return read_knossos(bytes, place, reading);
    case Format::kCobra:
    case Format::kViper:
      break;
  }
  return read_logs(*format, {{place, bytes}}, place, reading);
}

base::Error stopped(const std::string& path, const base::Budget& budget) {
  return {.message = fmt::format("reading stopped: {} limit met before the end of the history",
                                 base::to_string(budget.limit())),
          .file = path,
          .limit_met = true};
}

base::Status write_to(const History& history, std::ostream& out, const WriteOptions& options) {
  switch (options.format) {
    case Format::kJepsen:
      return write_jepsen(history, out, options.edn);
    case Format::kPlume:
      return write_plume(history, out);
    case Format::kAwdit:
      return write_awdit(history, out);
    case Format::kDbcop:
      return write_dbcop(history, out);
    case Format::kCupel:
      return write_cupel(history, out);
    case Format::kCobra:
    case Format::kViper:
    case Format::kKnossos:
      break;
  }
  return base::Error{
      .message = fmt::format("{} is only read; write jepsen, plume, awdit, dbcop or cupel instead",
                             name(options.format))};
}

}  // namespace

std::string_view name(Format format) {
  for (const auto& [known, text] : kNames) {
    if (known == format) return text;
  }
  return "?";
}

std::span<const Format> all_formats() {
  static const auto all = [] {
    std::array<Format, kNames.size()> formats;
    for (std::size_t i = 0; i < formats.size(); ++i) formats[i] = kNames[i].first;
    return formats;
  }();
  return all;
}

bool is_written(Format format) {
  return format != Format::kCobra && format != Format::kViper && format != Format::kKnossos;
}

std::optional<Format> parse_format(std::string_view text) {
  for (const auto& [format, known] : kNames) {
    if (known == text) return format;
  }
  return std::nullopt;
}

base::Result<Format> detect(const std::string& path) {
  const auto place = resolved(path, std::nullopt);
  if (is_directory(place)) {
    const auto logs = open_logs(place);
    if (!logs.ok())
      return unknown(path, fmt::format("a directory with neither {} nor *.log files", kDbcopFile));
    return detect_logs(place, *logs);
  }
  const auto file = MappedFile::open(place);
  if (!file.ok()) return file.error();
  return detect_file(place, file->bytes());
}

bool stream(const std::string& path, const ReadOptions& options, std::size_t least_txns,
            history::SingleOpSink& sink) {
  if ((options.format && *options.format != Format::kCupel) || path == "-") return false;
  const base::AllocationWatch watch(options.budget);
  try {
    std::error_code unknown;
    if (!fs::is_regular_file(path, unknown)) return false;  // a pipe can be read once
    const auto file = MappedFile::open(path, options.budget);
    return file.ok() && looks_like_cupel(file->bytes()) &&
           stream_cupel(file->bytes(), Reading(options.budget, &*file), least_txns, sink);
  } catch (const Stopped&) {
  } catch (const std::bad_alloc&) {  // by a base::AllocationWatch, or the system's own limit
    if (options.budget == nullptr || options.budget->limit() == base::Limit::kNone) throw;
  }
  return false;
}

base::Result<History> read(const std::string& path, const ReadOptions& options) {
  const base::AllocationWatch watch(options.budget);
  try {
    const auto place = resolved(path, options.format);
    auto history = is_directory(place) ? read_directory(place, options.format, options.budget)
                                       : read_file(place, options);
    // Nothing was recorded, or it was lost: that every level is satisfied would mislead.
    if (history.ok() && history->txn_count() == 0) {
      return base::Error{.message = "found a history without transactions, expected one at least",
                         .file = path};
    }
    return history;
  } catch (const Stopped&) {
  } catch (const std::bad_alloc&) {  // by a base::AllocationWatch, or the system's own limit
    if (options.budget == nullptr || options.budget->limit() == base::Limit::kNone) throw;
  }
  return stopped(path, *options.budget);
}

namespace {

struct Destination {
  std::string target;   // the file
  std::string written;  // what is opened: the same, or what is then given its name
  bool whole = false;
};

Destination destination(const std::string& path, const WriteOptions& options) {
  Destination to{.target = path, .written = path};
  if (options.format == Format::kDbcop && is_directory(path)) {
    to.target = to.written = (fs::path(path) / kDbcopFile).string();
  }
  std::error_code ignored;
  const auto status = fs::status(to.target, ignored);
  // A file appears whole or not at all; a terminal or a pipe is written as it comes.
  // Nor is /dev/stdout, even where it leads to a file: the link must not be replaced.
  const bool device = to.target.starts_with("/dev/") || to.target.starts_with("/proc/");
  to.whole = !device && (!fs::exists(status) || fs::is_regular_file(status));
  if (to.whole) to.written += ".partial";
  return to;
}

base::Error cannot(const char* doing, const std::string& file) {
  return {.message =
              fmt::format("cannot {}: {}", doing, errno ? std::strerror(errno) : "unknown reason"),
          .file = file};
}

}  // namespace

base::Status can_write(const std::string& path, const WriteOptions& options) {
  if (path == "-") return base::Ok{};
  const auto to = destination(path, options);
  std::error_code ignored;
  if (!to.whole && !fs::is_directory(to.target, ignored)) return base::Ok{};
  errno = 0;
  std::ofstream out(to.written, std::ios::binary | std::ios::trunc);
  if (!out) return cannot("open for writing", to.target);
  out.close();
  fs::remove(to.written, ignored);
  return base::Ok{};
}

base::Status write(const History& history, const std::string& path, const WriteOptions& options) {
  if (path == "-") {
    auto done = write_to(history, std::cout, options);
    if (!done.ok()) return done;
    errno = 0;
    if (std::cout.flush()) return base::Ok{};
    return cannot("write", "standard output");
  }
  const auto to = destination(path, options);
  const std::string &target = to.target, &written = to.written;
  const bool whole = to.whole;
  std::error_code ignored;
  errno = 0;
  std::ofstream out(written, std::ios::binary | std::ios::trunc);
  const auto failed = [&](const char* doing) {
    auto error = cannot(doing, target);
    if (whole) fs::remove(written, ignored);
    return error;
  };
  if (!out) return failed("open for writing");
  auto done = write_to(history, out, options);
  if (!done.ok()) {
    out.close();
    if (whole) fs::remove(written, ignored);
    auto error = std::move(done).error();
    if (error.file.empty()) error.file = target;
    return error;
  }
  out.close();
  if (!out) return failed("write");
  if (whole) {
    std::error_code failure;
    fs::rename(written, target, failure);
    if (failure) {
      errno = failure.value();
      return failed("rename the finished file");
    }
  }
  return base::Ok{};
}

}  // namespace cupel::formats
