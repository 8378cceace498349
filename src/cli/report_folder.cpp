// See the header.
#include "cli/report_folder.hpp"

#include <fmt/format.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace cupel::cli {

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

base::Result<base::Ok> write(const fs::path& path, const std::string& bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) {
    return base::Error{.message = fmt::format("could not write the report: {}",
                                              std::generic_category().message(errno)),
                       .file = path.string()};
  }
  return base::Ok{};
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

}  // namespace

base::Result<base::Ok> ReportFolder::prepare() const {
  return make_folder(folder_);
}

base::Result<base::Ok> ReportFolder::add(const report::Checked& checked,
                                         const report::PageOptions& options) {
  std::string inside;
  if (histories_ > 1) inside = fmt::format("{}-{}", added_.size() + 1, plain_name(checked.file));
  const auto folder = inside.empty() ? folder_ : folder_ + "/" + inside;
  if (auto made = make_folder(folder); !made.ok()) return made;
  const auto files = report::report_files(checked, options);
  if (!files.ok()) return files.error();
  for (const auto& file : *files) {
    if (auto written = write(fs::path(folder) / file.name, file.bytes); !written.ok())
      return written;
  }
  Added added{inside, checked.file, checked.result};
  for (auto& level : added.result.levels) level.violation.reset();
  added_.push_back(std::move(added));
  return base::Ok{};
}

base::Result<base::Ok> ReportFolder::finish() const {
  if (histories_ < 2) return base::Ok{};
  std::vector<report::ReportLink> links;
  for (const auto& added : added_) links.push_back({added.folder, added.file, &added.result});
  return write(fs::path(folder_) / "index.html", report::contents_page(links));
}

}  // namespace cupel::cli
