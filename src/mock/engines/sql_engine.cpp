// The server runs as another user than we do, if we are root.
#include "mock/engines/sql_engine.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "base/process.hpp"
#include "base/write_file.hpp"
#include "databases/lab/remains.hpp"

namespace cupel::engines {

namespace {

using base::Error;
using base::Ok;
using base::Status;

constexpr base::Seconds kToEnd(60);

Status open_to_all(const std::string& path, mode_t mode) {
  if (::chmod(path.c_str(), mode) == 0) return Ok{};
  return Error{.message = std::strerror(errno), .file = path};
}

}  // namespace

base::Result<base::TempDir> SqlEngine::prepare_folder(const Library& library) {
  if (library.bytes.empty()) {
    return Error{.message =
                     fmt::format("this cupel was built without the headers of {}'s server; {}",
                                 library.server, library.instructions)};
  }
  lab::clear_remains();  // of programs that were killed
  auto folder = lab::make_engine_directory();
  if (!folder.ok()) return std::move(folder).error();
  auto done = open_to_all(folder->path().string(), 0755);
  if (!done.ok()) return std::move(done).error();
  const auto file = folder->file(library.name);
  done = base::write_file(file, std::string(library.bytes));
  if (done.ok()) done = open_to_all(file, 0644);
  if (!done.ok()) return std::move(done).error();
  return folder;
}

Status SqlEngine::run_client(std::vector<std::string> command, const char* cleared_variable,
                             std::string_view server) {
  auto process = base::Process::start({.arguments = std::move(command),
                                       .environment = {{cleared_variable, ""}},
                                       .output = base::Stream::pipe(),
                                       .errors = base::Stream::output()});
  if (!process.ok()) return std::move(process).error();
  const auto said = process->read_all(kToEnd);
  const auto status = process->wait(kToEnd);
  if (said && status && status->well()) return Ok{};
  return Error{.message = fmt::format("{} did not accept a statement: {}", server,
                                      said.value_or("no end in sight"))};
}

}  // namespace cupel::engines
