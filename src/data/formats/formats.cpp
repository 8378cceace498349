// The common entry point: from a path to the format it holds, and to the reader or the
// writer in that format's FormatSpec.
#include "data/formats/formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <new>
#include <vector>

#include "base/interrupt.hpp"
#include "base/write_file.hpp"
#include "base/write_in_place.hpp"
#include "data/formats/cupel_binary.hpp"
#include "data/formats/format_spec.hpp"
#include "data/formats/input.hpp"
#include "data/formats/inspect.hpp"
#include "data/formats/op_kinds.hpp"
#include "data/formats/recording.hpp"
#include "data/formats/store_directory.hpp"
#include "data/history/builder.hpp"
#include "data/history/object_history.hpp"

namespace cupel::formats {

namespace fs = std::filesystem;
using history::History;

namespace {

// A recording is read as one file.
bool is_directory(const std::string& path) {
  std::error_code ignored;
  return path != "-" && fs::is_directory(path, ignored) && !is_recording(path);
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

// Of the first log that is not empty.
base::Result<Format> recognize_logs(const std::string& directory, const Logs& logs) {
  for (const auto& log : logs.logs) {
    if (!log.bytes.empty()) return recognize(log.file, log.bytes, /*in_logs=*/true);
  }
  return unrecognized(directory, "only empty *.log files");
}

// The files that a directory may stand for: "history.bincode".
std::string files_in_directories() {
  std::string names;
  for (const auto* spec : all_specs()) {
    if (spec->file_in_directory.empty()) continue;
    names += (names.empty() ? "" : ", ") + std::string(spec->file_in_directory);
  }
  return names;
}

// Why the log of a session is no history: another one is beside it.
std::optional<base::Error> one_of_logs(const std::string& place, const FormatSpec& spec) {
  const fs::path path(place);
  if (!spec.in_logs || place == "-" || path.extension() != ".log") return std::nullopt;
  const auto folder = path.parent_path().empty() ? fs::path(".") : path.parent_path();
  const auto logs = session_logs(folder.string());
  if (!logs.ok()) return std::nullopt;
  for (const auto& other : *logs) {
    std::error_code ignored;
    if (fs::path(other).filename() == path.filename() || !fs::is_regular_file(other, ignored))
      continue;
    const auto file = MappedFile::open(other);
    if (!file.ok() || spec.recognize(file->bytes()) == Match::kNo) continue;
    return base::Error{
        .message = fmt::format("found the log of one session, and {} is beside it: a history has "
                               "the logs of all sessions. Name the folder, {}",
                               fs::path(other).filename().string(), folder.string()),
        .file = place};
  }
  return std::nullopt;
}

// Of a format without op maps; none: it has them, or nothing is said of them.
std::optional<base::Error> without_op_maps(const std::string& path, Format format,
                                           const Interpretation& as) {
  if (as.empty() || spec_of(format).of_op_maps) return std::nullopt;
  return base::Error{
      .message = fmt::format("{} applies to op maps (jepsen, knossos), and this history is in {} "
                             "format. Leave it out",
                             as.kind ? "--kind" : "--ignore", name(format)),
      .file = path};
}

// A file in the directory whose name says that it is a history; empty: there is none.
std::string history_by_name(const std::string& directory) {
  const auto endings = written_extensions();
  std::string first;
  std::error_code failure;
  for (fs::directory_iterator it(directory, failure), end; !failure && it != end;
       it.increment(failure)) {
    const auto ending = it->path().extension().string();
    std::error_code ignored;
    if (std::find(endings.begin(), endings.end(), ending) == endings.end() ||
        !it->is_regular_file(ignored)) {
      continue;
    }
    if (first.empty() || it->path().string() < first) first = it->path().string();
  }
  return first;
}

base::Error no_history_in(const std::string& directory) {
  const auto file = history_by_name(directory);
  return {.message = fmt::format(
              "found a folder without a history. A folder stands for the history.edn, history.txt "
              "or jepsen.log of a run of Jepsen, also two folders below, for {} or for *.log files "
              "(cobra, viper). Name {}",
              files_in_directories(),
              file.empty() ? "a file, if the history is in one"
                           : fmt::format("the file, if it is {}", file)),
          .file = directory};
}

// Why the logs could not be opened; of a directory that has none, what it could have instead.
base::Error without_logs(const std::string& path, const base::Error& error) {
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(path, failure)) {
    if (entry.path().extension() == ".log") return error;
  }
  if (failure) return error;
  if (const auto runs = histories_at({path}, std::nullopt); runs.front() != path) {
    return base::Error{.message = fmt::format(
                           "found a folder of {} runs of Jepsen, expected one history. Name one "
                           "of them, such as {}",
                           runs.size(), runs.back()),
                       .file = path};
  }
  return no_history_in(path);
}

base::Result<History> read_directory(const std::string& path, const ReadOptions& options) {
  if (auto binary = without_text(path)) return *std::move(binary);
  auto format = options.format;
  if (format && !spec_of(*format).in_logs) {
    const auto wanted = spec_of(*format).file_in_directory;
    return base::Error{
        .message = wanted.empty()
                       ? fmt::format("is a directory; {} is read from a file", name(*format))
                       : fmt::format("is a directory without a {} file; {} is read from that file",
                                     wanted, name(*format)),
        .file = path};
  }
  auto logs = open_logs(path, options.budget);
  if (!logs.ok()) return format ? logs.error() : without_logs(path, logs.error());
  if (!format) {
    const auto recognized = recognize_logs(path, *logs);
    if (!recognized.ok()) return recognized.error();
    format = *recognized;
  }
  if (auto misplaced = without_op_maps(path, *format, options.as)) return *std::move(misplaced);
  return spec_of(*format).read({path, std::move(logs->logs), options.threads},
                               Reading(options.budget, nullptr));
}

// A directory stands for the file of a format in it, if there is one.
std::string resolved(const std::string& path, std::optional<Format> asked) {
  if (!is_directory(path)) return path;
  for (const auto* spec : all_specs()) {
    if (spec->file_in_directory.empty() || (asked && *asked != spec->format)) continue;
    auto inside = (fs::path(path) / spec->file_in_directory).string();
    std::error_code ignored;
    if (fs::exists(inside, ignored)) return inside;
  }
  if (auto history = history_of_run(path, asked)) return *std::move(history);
  // A store with a single run; of a folder that holds no run, the path itself.
  const auto runs = histories_at({path}, asked);
  return runs.size() == 1 ? runs.front() : path;
}

// The history of a run in which no operation was made.
base::Result<History> empty_history() {
  history::HistoryBuilder builder;
  builder.set_metadata("format", name(Format::kJepsen));
  builder.set_metadata(kNothingHappened, "yes");
  return std::move(builder).finish();
}

base::Result<History> read_file(const std::string& place, const ReadOptions& options,
                                const Inspect& inspect) {
  const auto file = MappedFile::open(place, options.budget);
  if (!file.ok()) return file.error();
  auto bytes = file->bytes();
  if (options.content_bytes != nullptr) *options.content_bytes = bytes.size();
  if (options.first_bytes && *options.first_bytes < bytes.size()) {
    bytes = bytes.substr(0, static_cast<std::size_t>(*options.first_bytes));
  }
  auto format = options.format;
  if (bytes.empty() && may_be_empty(place) && !options.first_bytes) return empty_history();
  if (!format) {
    const auto recognized = recognize(place, bytes, /*in_logs=*/false);
    if (!recognized.ok()) return recognized.error();
    format = *recognized;
  }
  if (bytes.empty()) {
    return base::Error{.message = fmt::format(
                           "found an empty file, expected a history in {} format", name(*format)),
                       .file = place};
  }
  auto misplaced = without_op_maps(place, *format, options.as);
  // A file that cupel converted may say its kind.
  const bool may_fit = options.as.kind && options.as.ignore.empty() && *format == Format::kCupel;
  if (misplaced && !may_fit) return *std::move(misplaced);
  const auto& spec = spec_of(*format);
  if (auto part = one_of_logs(place, spec)) return *std::move(part);
  if (inspect) inspect(*format, bytes);
  auto as = options.as;
  as.initial_later = !options.initial.empty();
  auto history =
      spec.read({place, {{place, bytes}}, options.threads, as, spec.in_logs, options.objects},
                Reading(options.budget, &*file));
  if (history.ok() && misplaced && !jepsen::is_of_kind(history->fact("kind"), *options.as.kind)) {
    return *std::move(misplaced);
  }
  if (history.ok()) return history;
  if (auto packed = found_compressed(bytes); !packed.empty()) {
    return base::Error{.message = std::move(packed), .file = place};
  }
  return history;
}

base::Error stopped(const std::string& path, const base::Budget& budget) {
  return {.message = fmt::format("reading stopped: {} before the end of the history",
                                 base::event_of(budget.limit())),
          .file = path,
          .limit_met = true};
}

base::Status write_to(const History& history, std::ostream& out, const WriteOptions& options) {
  const auto& spec = spec_of(options.format);
  if (spec.write != nullptr) return spec.write(history, out, options);
  return base::Error{.message = fmt::format("{} is only read; write {} instead", spec.name,
                                            format_names(/*written_only=*/true))};
}

}  // namespace

base::Result<Format> detect(const std::string& path) {
  const auto place = resolved(path, std::nullopt);
  if (is_directory(place)) {
    if (auto binary = without_text(path)) return *std::move(binary);
    const auto logs = open_logs(place);
    return logs.ok() ? recognize_logs(place, *logs) : without_logs(path, logs.error());
  }
  const auto file = MappedFile::open(place);
  if (!file.ok()) return file.error();
  return recognize(place, file->bytes(), /*in_logs=*/false);
}

bool stream(const std::string& path, const ReadOptions& options, std::size_t least_txns,
            history::SingleOpSink& sink) {
  if ((options.format && *options.format != Format::kCupel) || path == "-") return false;
  if (!options.initial.empty() || !options.as.empty() || options.first_bytes) return false;
  const base::AllocationWatch watch(options.budget);
  try {
    std::error_code unknown;
    if (!fs::is_regular_file(path, unknown)) return false;  // a pipe can be read once
    const auto file = MappedFile::open(path, options.budget);
    return file.ok() && recognize_cupel(file->bytes()) != Match::kNo &&
           stream_cupel(file->bytes(), Reading(options.budget, &*file), least_txns, sink);
  } catch (const Stopped&) {
  } catch (const std::bad_alloc&) {  // by a base::AllocationWatch, or the system's own limit
    if (options.budget == nullptr || options.budget->limit() == base::Limit::kNone) throw;
  }
  return false;
}

base::Result<History> read(const std::string& path, const ReadOptions& options) {
  return read_and_inspect(path, options, {});
}

base::Result<History> read_and_inspect(const std::string& path, const ReadOptions& options,
                                       const Inspect& inspect) {
  if (path.empty()) {
    return base::Error{.message = "found an empty name, expected a file or a folder"};
  }
  const base::AllocationWatch watch(options.budget);
  try {
    const auto place = resolved(path, options.format);
    auto history =
        is_directory(place) ? read_directory(place, options) : read_file(place, options, inspect);
    // Nothing was recorded, or it was lost: that every level is satisfied would mislead. A run of
    // Jepsen says itself that nothing happened.
    if (history.ok() && options.objects != nullptr && !options.objects->metadata.empty()) {
      if (options.initial.empty()) return history;
      return base::Error{
          .message =
              "--initial is for registers and lists, and this file is about another kind of "
              "object. Leave it out",
          .file = path};
    }
    if (history.ok() && history->txn_count() == 0 && history->fact(kNothingHappened).empty()) {
      return base::Error{.message = "found a history without transactions, expected one at least",
                         .file = path};
    }
    if (!history.ok() || options.initial.empty()) return history;
    auto started = with_initial_values(std::move(history).value(), options.initial);
    if (started.ok()) return started;
    auto error = std::move(started).error();
    error.file = path;
    return error;
  } catch (const Stopped&) {
  } catch (const std::bad_alloc&) {  // by a base::AllocationWatch, or the system's own limit
    if (options.budget == nullptr || options.budget->limit() == base::Limit::kNone) throw;
  }
  return stopped(path, *options.budget);
}

namespace {

struct Destination {
  std::string target;  // the file
  bool whole = false;  // it is written under another name and then given its own
};

Destination destination(const std::string& path, const WriteOptions& options) {
  Destination to{.target = path};
  const auto inside = spec_of(options.format).file_in_directory;
  if (!inside.empty() && is_directory(path)) {
    to.target = (fs::path(path) / inside).string();
  }
  std::error_code ignored;
  const auto status = fs::status(to.target, ignored);
  // A file appears whole or not at all; a terminal or a pipe is written as it comes.
  // Nor is /dev/stdout, even where it leads to a file: the link must not be replaced.
  const bool device = to.target.starts_with("/dev/") || to.target.starts_with("/proc/");
  to.whole = !device && (!fs::exists(status) || fs::is_regular_file(status));
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
  const auto made = base::make_fresh_file(to.target);
  if (!made.ok()) return made.error();
  fs::remove(*made, ignored);
  return base::Ok{};
}

base::Status write(const History& history, const std::string& path, const WriteOptions& options) {
  if (path == "-") {
    return base::write_in_place(std::cout, "standard output",
                                [&] { return write_to(history, std::cout, options); });
  }
  const auto to = destination(path, options);
  const std::string& target = to.target;
  const bool whole = to.whole;
  auto written = target;
  if (whole) {
    auto made = base::make_fresh_file(target);
    if (!made.ok()) return std::move(made).error();
    written = *std::move(made);
  }
  std::error_code ignored;
  errno = 0;
  std::ofstream out(written, std::ios::binary | std::ios::trunc);
  const auto failed = [&](const char* doing) {
    auto error = cannot(doing, target);
    if (whole) fs::remove(written, ignored);
    return error;
  };
  if (!out) return failed("open for writing");
  if (!whole) {
    return base::write_in_place(out, target, [&] { return write_to(history, out, options); });
  }
  auto done = base::write_in_place(out, target, [&] { return write_to(history, out, options); });
  if (!done.ok()) {
    out.close();
    fs::remove(written, ignored);
    return done;
  }
  out.close();
  if (!out) return failed("write");
  std::error_code failure;
  fs::rename(written, target, failure);
  if (failure) {
    errno = failure.value();
    return failed("rename the finished file");
  }
  return base::Ok{};
}

}  // namespace cupel::formats
