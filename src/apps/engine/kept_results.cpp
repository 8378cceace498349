// See the header.
#include "apps/engine/kept_results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>
#include <vector>

#include "apps/command.hpp"
#include "base/budget.hpp"
#include "base/fnv.hpp"
#include "base/read_file.hpp"
#include "base/write_file.hpp"

namespace cupel::apps {

namespace {

namespace fs = std::filesystem;

struct End {
  int code;
  bool brief;
  const char* text;
};
constexpr std::array<End, 4> kEnds = {{{kSatisfied, false, "-passed.json"},
                                       {kViolated, false, "-violated.json"},
                                       {kSatisfied, true, "-passed-brief.json"},
                                       {kViolated, true, "-violated-brief.json"}}};

// Adds the bytes of a file; false if they cannot be read.
bool add_file(const fs::path& file, std::uint64_t& hash) {
  std::ifstream in(file, std::ios::binary);
  std::string block(1 << 16, '\0');
  while (in) {
    in.read(block.data(), static_cast<std::streamsize>(block.size()));
    hash =
        base::fnv(std::string_view(block).substr(0, static_cast<std::size_t>(in.gcount())), hash);
  }
  return in.eof();
}

// The files of a history, which may be a folder, in the order of their names.
std::vector<fs::path> files_of(const std::string& history) {
  std::error_code problem;
  if (!fs::is_directory(history, problem)) return {history};
  std::vector<fs::path> files;
  const base::AllocationWatch::Deferral going_on_ends_the_program_without_memory;
  for (const auto& entry : fs::recursive_directory_iterator(history, problem)) {
    std::error_code ignored;
    if (entry.is_regular_file(ignored)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

KeptResults::KeptResults(std::string folder, std::string_view question, bool brief)
    : folder_(std::move(folder)), question_(base::fnv(question)), brief_(brief) {}

base::Result<base::Ok> KeptResults::prepare() const {
  std::error_code problem;
  fs::create_directories(folder_, problem);
  if (!problem && fs::is_directory(folder_, problem)) return base::Ok{};
  return base::Error{.message = fmt::format(
                         "could not make the folder for results: {}; give --results a folder that "
                         "you may write to",
                         problem ? problem.message() : "it is a file"),
                     .file = folder_};
}

std::optional<std::string> KeptResults::stem_of(const std::string& history) const {
  auto hash = base::fnv(history, question_);
  for (const auto& file : files_of(history)) {
    hash = base::fnv(std::string_view("\0", 1), hash);
    if (file != history) hash = base::fnv(file.string(), hash);
    if (!add_file(file, hash)) return std::nullopt;
  }
  return fmt::format("{}/{:016x}", folder_, hash);
}

std::optional<KeptResults::Result> KeptResults::find(const std::string& history) {
  const auto stem = stem_of(history);
  if (!stem) return std::nullopt;
  sought_[history] = *stem;
  for (const auto& end : kEnds) {
    std::error_code none;
    if ((end.brief && !brief_) || !fs::exists(*stem + end.text, none)) continue;
    auto line = base::read_file(*stem + end.text);
    if (line.ok() && line->ends_with('\n')) return Result{*std::move(line), end.code, end.brief};
  }
  return std::nullopt;
}

base::Result<base::Ok> KeptResults::keep(const std::string& history, const Result& result) const {
  const auto* end = std::find_if(kEnds.begin(), kEnds.end(), [&](const End& one) {
    return one.code == result.code && one.brief == result.brief;
  });
  if (end == kEnds.end()) return base::Ok{};
  const auto sought = sought_.find(history);
  const auto stem = stem_of(history);
  if (!stem || sought == sought_.end() || *stem != sought->second) return base::Ok{};
  return base::replace_file(*stem + end->text, result.line);
}

}  // namespace cupel::apps
