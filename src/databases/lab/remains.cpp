// Remains: the directories of servers, and networks with a name.
#include "databases/lab/remains.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/budget.hpp"
#include "base/folder.hpp"
#include "base/process.hpp"
#include "base/write_file.hpp"
#include "databases/lab/log.hpp"
#include "databases/lab/network.hpp"
#include "databases/lab/server.hpp"

namespace cupel::lab {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* kOwnerFile = "owner.json";
// What has no owner yet may have one soon.
constexpr auto kYoung = std::chrono::minutes(1);

// Process ids mean something there only.
std::string process_namespace() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/ns/pid", ignored).string();
}
std::string boot() {
  return text_of("/proc/sys/kernel/random/boot_id");
}

bool is_ours(const fs::path& file) {
  struct stat facts {};
  return ::lstat(file.c_str(), &facts) == 0 && facts.st_uid == ::geteuid();
}

// What is no JSON is discarded.
Json parsed(const fs::path& file) {
  return Json::parse(text_of(file.string()), nullptr, false);
}

// Empty, or 0, if it is not there or something else.
std::string text_in(const Json& object, const char* field) {
  const auto at = object.find(field);
  return at != object.end() && at->is_string() ? at->get<std::string>() : std::string();
}
std::uint64_t number_in(const Json& object, const char* field) {
  const auto at = object.find(field);
  return at != object.end() && at->is_number_unsigned() ? at->get<std::uint64_t>() : 0;
}

bool is_gone(const fs::path& path) {
  struct stat facts {};
  return ::lstat(path.c_str(), &facts) != 0 && errno == ENOENT;
}

// Whether no state file knows of this directory. One that cannot be read may: it is forgotten only
// if the file is gone and its folder is not, or if the file is about another directory.
bool is_forgotten(const std::string& state_file, const fs::path& directory) {
  if (state_file.empty() || is_gone(state_file)) {
    return state_file.empty() || !is_gone(fs::path(state_file).parent_path());
  }
  const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
  const auto state = parsed(state_file);
  if (!state.is_object()) return false;
  const auto other = text_in(state, "directory");
  return !other.empty() && other != directory.string();
}

// Whether a process has ended for certain; a zombie has.
bool has_ended(pid_t id, std::uint64_t start) {
  if (id <= 0) return false;
  if (const auto found = base::process_start(id)) return *found != start;
  if (!text_of(fmt::format("/proc/{}/stat", id)).empty()) return true;
  return ::kill(id, 0) != 0 && errno == ESRCH;
}

// Whether its owner has ended for certain.
bool is_abandoned(const fs::path& directory) {
  const auto file = directory / kOwnerFile;
  std::error_code failed;
  if (is_gone(file)) {
    // Made in the moment in which its program was killed, or by an earlier version of cupel.
    const bool empty = fs::is_empty(directory, failed);
    if (failed || !empty || !is_ours(directory)) return false;
    const auto age = fs::file_time_type::clock::now() - fs::last_write_time(directory, failed);
    return !failed && age > kYoung;
  }
  const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
  const auto owner = parsed(file);
  if (!is_ours(file) || !owner.is_object()) return false;
  if (!is_forgotten(text_in(owner, "state_file"), directory)) return false;
  const auto now = boot(), then = text_in(owner, "boot");
  if (now.empty() || then.empty()) return false;
  if (then != now) return true;
  const auto where = process_namespace();
  if (where.empty() || text_in(owner, "process_namespace") != where) return false;
  return has_ended(static_cast<pid_t>(number_in(owner, "pid")), number_in(owner, "start"));
}

void clear_directory(const fs::path& directory) {
  kill_all_in(directory.string());
  const auto owner = parsed(directory / kOwnerFile);
  const auto kind = find_kind(owner.is_object() ? text_in(owner, "kind") : "");
  std::error_code failed;
  if (kind.ok() && spec_of(*kind).clear_remains != nullptr) {
    for (const auto& name :
         base::names_in_folder(directory.string()).value_or(std::vector<std::string>())) {
      const auto path = directory / name;
      if (fs::is_directory(fs::symlink_status(path, failed))) {
        spec_of(*kind).clear_remains({.directory = path.string(), .log = {}});
      }
    }
  }
  // Its network before its directory, by which the network is known as ours.
  if (::geteuid() == 0) {
    const auto id = network_id_of(directory.string());
    for (const auto& [other, alias] : named_networks()) {
      const bool its = other == id && (alias.empty() || alias == directory.string());
      if (its && !is_inhabited(id)) remove_network(id);
    }
  }
  fs::remove_all(directory, failed);
}

// Whether a process has the mark in its environment. Some servers write their title over theirs.
bool is_marked(const fs::path& process, const std::string& mark) {
  const auto environment = text_of((process / "environ").string());
  const auto place = environment.find(mark);
  return place == 0 || (place != std::string::npos && environment[place - 1] == '\0');
}

// Whether it works in the directory and writes its errors to a log there, as our servers do and
// who only looks around there does not.
bool serves_in(const fs::path& process, const fs::path& directory) {
  std::error_code failed;
  const auto where = fs::read_symlink(process / "cwd", failed).string();
  if (failed || (where != directory && !where.starts_with(directory.string() + "/"))) return false;
  const auto errors = fs::read_symlink(process / "fd/2", failed);
  return !failed && errors.parent_path() == directory && errors.extension() == ".log";
}

// 0: not known.
pid_t parent_of(pid_t id) {
  const auto text = text_of(fmt::format("/proc/{}/stat", id));
  const auto name_end = text.rfind(')');
  char state = 0;
  int parent = 0;
  return name_end != std::string::npos &&
                 std::sscanf(text.c_str() + name_end + 1, " %c %d", &state, &parent) == 2
             ? parent
             : 0;
}

// This process, its parent, and so on.
std::vector<pid_t> lineage() {
  std::vector<pid_t> found;
  for (pid_t id = ::getpid(); id > 0; id = parent_of(id)) found.push_back(id);
  return found;
}

base::Status write_owner(const std::string& directory, const std::string& state_file,
                         std::string_view kind) {
  const Json owner{{"state_file", state_file},
                   {"kind", std::string(kind)},
                   {"pid", ::getpid()},
                   {"start", base::process_start(::getpid()).value_or(0)},
                   {"process_namespace", process_namespace()},
                   {"boot", boot()}};
  return base::write_file(directory + "/" + kOwnerFile, owner.dump(2) + "\n");
}

}  // namespace

base::Status note_owner(const Site& site) {
  return write_owner(site.directory, site.options.state_file, name(site.kind));
}

base::Result<base::TempDir> make_engine_directory() {
  // clear_remains() ends the processes of others before it removes what they left.
  auto made = base::TempDir::make(kEngineDirectory, base::TempDir::Abandoned::kKeep);
  if (!made.ok()) return made;
  if (auto noted = write_owner(made->path().string(), "", ""); !noted.ok())
    return std::move(noted).error();
  return made;
}

std::vector<pid_t> processes_in(const std::string& directory) {
  const auto mark = fmt::format("{}={}", kMark, directory) + '\0';
  const auto ours = lineage();
  std::vector<pid_t> found;
  for (const auto& name : base::names_in_folder("/proc").value_or(std::vector<std::string>())) {
    const auto id = static_cast<pid_t>(std::atoi(name.c_str()));
    if (id <= 0 || std::find(ours.begin(), ours.end(), id) != ours.end()) continue;
    const auto process = fs::path("/proc") / name;
    if (is_marked(process, mark) || serves_in(process, directory)) found.push_back(id);
  }
  return found;
}

void kill_all_in(const std::string& directory) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  for (auto ids = processes_in(directory); !ids.empty(); ids = processes_in(directory)) {
    for (const auto id : ids) {
      const auto start = base::process_start(id);
      if (start) base::signal_process(id, *start, SIGKILL);
    }
    if (std::chrono::steady_clock::now() > deadline) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

void clear_remains() {
  std::error_code failed;
  const auto folder = fs::temp_directory_path(failed);
  std::vector<fs::path> directories;
  for (const auto& name :
       base::names_in_folder(folder.string()).value_or(std::vector<std::string>())) {
    if (name.starts_with(kDirectory) || name.starts_with(kEngineDirectory))
      directories.push_back(folder / name);
  }
  for (const auto& directory : directories) {
    if (is_abandoned(directory)) clear_directory(directory);
  }
  if (::geteuid() != 0) return;
  for (const auto& [id, directory] : named_networks()) {
    // Its directory may be where only its processes see it.
    const bool ours = network_id_of(directory) == id;
    if (ours && is_gone(directory) && !is_inhabited(id)) remove_network(id);
  }
}

}  // namespace cupel::lab
