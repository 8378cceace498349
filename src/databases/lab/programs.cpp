// Programs: see the header.
#include "databases/lab/programs.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/write_file.hpp"
#include "databases/lab/log.hpp"

namespace cupel::lab {

namespace {

namespace fs = std::filesystem;
using base::Error;
using base::Ok;
using base::Status;

constexpr base::Seconds kToEnd{120}, kToWrite{20};

}  // namespace

std::string find_program(const std::string& name, std::vector<std::string> folders) {
  const char* path = std::getenv("PATH");
  const std::string list = path != nullptr ? path : "";
  for (std::size_t start = 0; start < list.size();) {
    const auto end = std::min(list.find(':', start), list.size());
    folders.push_back(list.substr(start, end - start));
    start = end + 1;
  }
  for (const char* folder : {"/usr/local/sbin", "/usr/sbin", "/sbin"}) folders.emplace_back(folder);
  for (const auto& folder : folders) {
    auto program = folder + "/" + name;
    std::error_code ignored;
    if (fs::is_regular_file(program, ignored) && ::access(program.c_str(), X_OK) == 0) {
      return program;
    }
  }
  return {};
}

Status need(const std::string& found, std::string_view what, std::string_view package) {
  if (!found.empty()) return Ok{};
  return Error{.message = fmt::format("found no {}; install the Debian package {}", what, package)};
}

namespace {

Status run_to_end(const Site& site, base::ProcessOptions options, const std::string& log) {
  const auto program = fs::path(options.arguments.front()).filename().string();
  options.environment = environment_of(site);
  options.directory = site.directory;
  options.output = base::Stream::file(log);
  options.errors = base::Stream::output();
  options.user = site.user;
  auto process = base::Process::start(options);
  if (!process.ok()) return std::move(process).error();
  const auto status = process->wait(kToEnd);
  if (status && status->well()) return Ok{};
  return Error{.message = fmt::format("{} {}; the end of its log:\n{}", program,
                                      status ? status->to_string()
                                             : fmt::format("did not end in {} s", kToEnd.count()),
                                      last_lines(log, 20))};
}

}  // namespace

Status run_once(const Site& site, std::vector<std::string> arguments, const std::string& log,
                const std::string& input) {
  return run_to_end(site,
                    {.arguments = std::move(arguments),
                     .input = input.empty() ? base::Stream::nothing() : base::Stream::file(input)},
                    log);
}

Status write_as_user(const Site& site, const std::string& path, const std::string& text) {
  if (!site.user) return base::replace_file(path, text);
  auto process = base::Process::start(
      {.arguments = {"/bin/sh", "-c", R"(cat > "$1.new" && mv -fT "$1.new" "$1")", "sh", path},
       .directory = site.directory,
       .input = base::Stream::pipe(),
       .output = base::Stream::pipe(),
       .errors = base::Stream::output(),
       .user = site.user});
  if (!process.ok()) return std::move(process).error();
  if (!text.empty()) {
    auto written = process->write_line(text.substr(0, text.size() - 1), kToWrite);
    if (!written.ok()) return written;
  }
  process->close_input();
  const auto said = process->read_all(kToWrite);
  const auto status = said ? process->wait(kToWrite) : std::nullopt;
  if (status && status->well()) return Ok{};
  return Error{.message = "cannot write it: " + said.value_or("no end in sight"), .file = path};
}

Status run_once_on(const Site& site, const Node& node, std::vector<std::string> arguments,
                   const std::string& log) {
  return run_to_end(site, {.arguments = std::move(arguments), .network = node.network}, log);
}

}  // namespace cupel::lab
