// Jepsen's store: see the header.
#include "data/formats/store_directory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "data/formats/recording.hpp"

namespace cupel::formats {

namespace fs = std::filesystem;

namespace {

struct Form {
  std::string_view name;
  Format format;
};
constexpr std::array<Form, 3> kForms = {{{"history.edn", Format::kJepsen},
                                         {"history.txt", Format::kKnossos},
                                         {"jepsen.log", Format::kKnossos}}};
constexpr std::array<std::string_view, 3> kBinary = {"test.jepsen", "test.fressian",
                                                     "history.fressian"};
constexpr int kDeepest = 3;  // store/NAME/TIMESTAMP

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

// The file itself, or a compressed one beside it.
fs::path with_ending(const fs::path& path) {
  if (is_file(path)) return path;
  for (const char* ending : {".zst", ".gz", ".xz"}) {
    if (auto packed = path.string() + ending; is_file(packed)) return packed;
  }
  return path;
}

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

bool is_run(const fs::path& folder) {
  return history_of_run(folder.string(), std::nullopt) ||
         std::any_of(kBinary.begin(), kBinary.end(),
                     [&](std::string_view name) { return is_file(folder / name); });
}

// A folder that holds a history in another format.
bool is_other(const fs::path& folder) {
  if (is_file(folder / "history.bincode") || is_recording(folder.string())) return true;
  std::error_code failure;
  for (fs::directory_iterator it(folder, failure), end; !failure && it != end;
       it.increment(failure)) {
    if (it->path().extension() == ".log") return true;
  }
  return false;
}

void add_runs(const fs::path& folder, std::optional<Format> format, int depth,
              std::vector<std::string>& found) {
  std::error_code failure;
  std::vector<fs::path> inside;
  for (fs::directory_iterator it(folder, failure), end; !failure && it != end;
       it.increment(failure)) {
    std::error_code ignored;
    if (!it->is_symlink(ignored) && it->is_directory(ignored)) inside.push_back(it->path());
  }
  std::sort(inside.begin(), inside.end());
  for (const auto& path : inside) {
    if (is_run(path)) {
      found.push_back(history_of_run(path.string(), format).value_or(path.string()));
    } else if (depth > 1) {
      add_runs(path, format, depth - 1, found);
    }
  }
}

}  // namespace

std::optional<std::string> history_of_run(const std::string& folder, std::optional<Format> format) {
  std::optional<std::string> empty;
  for (const auto& form : kForms) {
    if (format && *format != form.format) continue;
    const auto file = with_ending(fs::path(folder) / form.name);
    if (!is_file(file)) continue;
    // A full disk leaves history.edn empty beside a history.txt. The log says nothing of this: it
    // has lines in every run.
    std::error_code unknown;
    const bool is_empty = may_be_empty(file.string()) && fs::file_size(file, unknown) == 0;
    if (!is_empty) return form.name == "jepsen.log" && empty ? empty : file.string();
    if (!empty) empty = file.string();
  }
  return empty;
}

std::optional<base::Error> without_text(const std::string& path, std::string_view bytes) {
  const fs::path place(path);
  constexpr std::string_view kInstead = "history.edn, history.txt or jepsen.log";
  if (is_folder(place)) {
    for (const auto name : kBinary) {
      if (!is_file(place / name)) continue;
      return base::Error{.message = fmt::format(
                             "found {}, which is Jepsen's binary form, but none of {}. Analyze "
                             "the run again with Jepsen (`lein run analyze`), which writes them",
                             name, kInstead),
                         .file = path};
    }
    return std::nullopt;
  }
  const bool binary = bytes.starts_with("JEPSEN") || place.extension() == ".fressian";
  if (!binary) return std::nullopt;
  const auto text = history_of_run(place.parent_path().empty() ? "." : place.parent_path().string(),
                                   std::nullopt);
  return base::Error{.message = fmt::format(
                         "found Jepsen's binary form of a run, expected its text. Use {} instead",
                         text ? *text : fmt::format("{} of the same run", kInstead)),
                     .file = path};
}

bool may_be_empty(const std::string& file) {
  const auto name = fs::path(file).filename().string();
  return name == "history.edn" || name == "history.txt";
}

std::vector<std::string> histories_at(const std::vector<std::string>& paths,
                                      std::optional<Format> format) {
  std::vector<std::string> found;
  for (const auto& path : paths) {
    const auto before = found.size();
    if (path != "-" && is_folder(path)) {
      if (is_run(path)) {
        found.push_back(history_of_run(path, format).value_or(path));
      } else if (!is_other(path)) {
        add_runs(path, format, kDeepest - 1, found);
      }
    }
    if (found.size() == before) found.push_back(path);
  }
  return found;
}

}  // namespace cupel::formats
