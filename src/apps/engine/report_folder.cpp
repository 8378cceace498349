// See the header.
#include "apps/engine/report_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "apps/many_histories.hpp"
#include "base/budget.hpp"
#include "base/write_file.hpp"
#include "data/formats/extra_fields.hpp"
#include "report/final_reads.hpp"

namespace cupel::apps {

namespace {

namespace fs = std::filesystem;

base::Result<base::Ok> make_folder(const std::string& folder) {
  std::error_code problem;
  fs::create_directories(folder, problem);
  if (problem || !fs::is_directory(folder)) {
    return base::Error{.message = fmt::format("could not make the folder for the report: {}; give "
                                              "--report a folder that you may write to",
                                              problem ? problem.message() : "it is a file"),
                       .file = folder};
  }
  return base::Ok{};
}

base::Result<base::Ok> write_file(const fs::path& path, const std::string& bytes) {
  auto written = base::replace_file(path.string(), bytes);
  if (written.ok()) return written;
  auto error = std::move(written).error();
  error.message = "the report: " + error.message;
  return error;
}

// A name for a folder and a link: letters, digits, dots, dashes and underscores of
// the file's name (its folder's, where the file is always called the same).
std::string plain_name(const std::string& file) {
  fs::path path(file);
  if (!path.has_filename()) path = path.parent_path();
  auto stem = path.stem().string();
  if (stem == "history" && path.has_parent_path() && path.parent_path().has_filename()) {
    stem = path.parent_path().filename().string();
  }
  std::string name;
  for (const char c : stem) {
    const auto byte = static_cast<unsigned char>(c);
    name += std::isalnum(byte) || c == '.' || c == '_' ? c : '-';
  }
  name.resize(std::min<std::size_t>(name.size(), 60));
  return name.empty() ? "history" : name;
}

// The pictures of an earlier report that the new one has no successors of. Only files that
// are called as ours are and begin as ours do.
void remove_stale(const fs::path& folder, const std::vector<report::ReportFile>& now) {
  constexpr std::string_view kStem = "counterexample-";
  std::vector<fs::path> stale;
  std::error_code problem;
  const base::AllocationWatch::Deferral going_on_ends_the_program_without_memory;
  for (const auto& entry : fs::directory_iterator(folder, problem)) {
    const auto name = entry.path().filename().string();
    const auto stem = entry.path().stem().string(), extension = entry.path().extension().string();
    const bool ours =
        stem.starts_with(kStem) && stem.size() > kStem.size() &&
        stem.find_first_not_of("0123456789", kStem.size()) == std::string::npos &&
        (extension == ".dot" || extension == ".svg") &&
        std::none_of(now.begin(), now.end(), [&](const auto& file) { return file.name == name; });
    if (!ours || !entry.is_regular_file(problem)) continue;
    std::string begin;  // the first tag of an .svg
    std::ifstream in(entry.path(), std::ios::binary);
    std::getline(in, begin, extension == ".dot" ? '\n' : '>');
    if (extension == ".dot" ? begin.starts_with("digraph counterexample {")
                            : begin.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\"") &&
                                  begin.find(" class=\"figure\"") != begin.npos) {
      stale.push_back(entry.path());
    }
  }
  for (const auto& path : stale) fs::remove(path, problem);
}

// Without what is as large as the history: there may be thousands.
check::CheckResult verdicts_of(const check::CheckResult& result) {
  check::CheckResult verdicts;
  verdicts.strongest_satisfied = result.strongest_satisfied;
  verdicts.weakest_violated = result.weakest_violated;
  for (const auto& level : result.levels) {
    auto& one = verdicts.levels.emplace_back();
    one.level = level.level;
    one.verdict = level.verdict;
  }
  return verdicts;
}

bool passed(const check::CheckResult& result) {
  return std::none_of(result.levels.begin(), result.levels.end(), [](const auto& level) {
    return level.verdict == check::Verdict::kViolated || level.verdict == check::Verdict::kUnknown;
  });
}

}  // namespace

base::Result<base::Ok> ReportFolder::prepare() {
  std::error_code ignored;
  made_ = !fs::exists(folder_, ignored);
  if (auto made = make_folder(folder_); !made.ok()) return made;
  const fs::path page = this->page();
  const bool existed = fs::exists(page, ignored);
  errno = 0;
  const bool opened = std::ofstream(page, std::ios::binary | std::ios::app).is_open();
  const int reason = errno;
  if (opened && !existed) fs::remove(page, ignored);
  if (!opened) {
    return base::Error{.message = fmt::format("the report cannot be written: {}; give --report a "
                                              "folder that you may write to",
                                              std::generic_category().message(reason)),
                       .file = page.string()};
  }
  return base::Ok{};
}

base::Result<ReportFolder::Written> ReportFolder::write(std::size_t number,
                                                        const report::Checked& checked,
                                                        const report::PageOptions& options) const {
  Written written{"", checked.file, verdicts_of(checked.analysis.check)};
  written.lost = report::final_reads_verdict(checked);
  if (histories_ >= kManyHistories && passed(written.result) && written.lost.empty())
    return written;
  if (histories_ > 1) written.folder = fmt::format("{}-{}", number + 1, plain_name(checked.file));
  const auto folder = written.folder.empty() ? folder_ : folder_ + "/" + written.folder;
  if (auto made = make_folder(folder); !made.ok()) return made.error();
  auto with_nodes = options;
  // Another content since it was read would have other labels.
  if (!checked.analysis.fields_error && !checked.file.empty() && checked.analysis.whole) {
    auto nodes = formats::nodes_of_file(checked.file, checked.history.fact("format"));
    with_nodes.nodes = {std::move(nodes.names), std::move(nodes.of_label)};
  }
  const auto files = report::report_files(checked, with_nodes);
  for (const auto& file : files) {
    if (auto done = write_file(fs::path(folder) / file.name, file.bytes); !done.ok())
      return done.error();
  }
  remove_stale(folder, files);
  return written;
}

base::Result<base::Ok> ReportFolder::add(const report::Checked& checked,
                                         const report::PageOptions& options) {
  auto written = write(added_.size(), checked, options);
  if (!written.ok()) return written.error();
  add(*std::move(written));
  return base::Ok{};
}

void ReportFolder::add(const std::string& file, const base::Error& error) {
  added_.push_back({"", file, {}, error.to_string()});
}

std::string ReportFolder::page() const {
  return (fs::path(folder_) / "index.html").string();
}

base::Result<base::Ok> ReportFolder::finish() const {
  if (histories_ < 2) {
    std::error_code ignored;
    if (made_ && fs::is_empty(folder_, ignored)) fs::remove(folder_, ignored);
    return base::Ok{};
  }
  std::vector<report::ReportLink> links;
  for (const auto& added : added_) {
    links.push_back({added.folder, added.file, added.error.empty() ? &added.result : nullptr,
                     added.error, added.lost});
  }
  return write_file(fs::path(folder_) / "index.html", report::contents_page(links));
}

}  // namespace cupel::apps
