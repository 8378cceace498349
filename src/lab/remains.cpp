// Remains: the directories of servers, and networks with a name.
#include "lab/remains.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "base/process.hpp"
#include "base/write_file.hpp"
#include "lab/log.hpp"
#include "lab/network.hpp"
#include "lab/server.hpp"

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

Json parsed(const fs::path& file) {
  return Json::parse(text_of(file.string()), nullptr, false);
}

// Whether a state file is about the server in this directory.
bool remembers(const std::string& state_file, const fs::path& directory) {
  if (state_file.empty()) return false;
  const auto state = parsed(state_file);
  return state.is_object() && state.value("directory", "") == directory.string();
}

enum class Owner : std::uint8_t { kSomebody, kNobody };
Owner owner_of(const fs::path& directory) {
  const auto file = directory / kOwnerFile;
  std::error_code failed;
  if (!fs::exists(file, failed)) {
    // Made in the moment in which its program was killed, or by an earlier version of cupel.
    const bool empty = fs::is_empty(directory, failed);
    const auto age = fs::file_time_type::clock::now() - fs::last_write_time(directory, failed);
    return !failed && empty && is_ours(directory) && age > kYoung ? Owner::kNobody
                                                                  : Owner::kSomebody;
  }
  const auto owner = parsed(file);
  if (!is_ours(file) || !owner.is_object()) return Owner::kSomebody;
  if (remembers(owner.value("state_file", ""), directory)) return Owner::kSomebody;
  if (owner.value("boot", "") != boot()) return Owner::kNobody;
  if (owner.value("process_namespace", "") != process_namespace()) return Owner::kSomebody;
  return base::process_start(owner.value("pid", 0)) == owner.value("start", std::uint64_t{0})
             ? Owner::kSomebody
             : Owner::kNobody;
}

void clear_directory(const fs::path& directory) {
  kill_all_in(directory.string());
  const auto owner = parsed(directory / kOwnerFile);
  const auto kind = find_kind(owner.is_object() ? owner.value("kind", "") : "");
  std::error_code ignored;
  if (kind.ok() && spec_of(*kind).clear_remains != nullptr) {
    for (const auto& entry : fs::directory_iterator(directory, ignored)) {
      if (entry.is_directory(ignored)) {
        spec_of(*kind).clear_remains({.directory = entry.path().string(), .log = {}});
      }
    }
  }
  fs::remove_all(directory, ignored);
}

// Whether a process has the mark in its environment. Some servers write their title over theirs.
bool is_marked(const fs::path& process, const std::string& mark) {
  const auto environment = text_of((process / "environ").string());
  const auto place = environment.find(mark);
  return place == 0 || (place != std::string::npos && environment[place - 1] == '\0');
}

// Whether it works in the directory, as our servers do, and has no terminal, as a shell has.
bool serves_in(const fs::path& process, const std::string& directory) {
  std::error_code failed;
  const auto where = fs::read_symlink(process / "cwd", failed).string();
  if (failed || (where != directory && !where.starts_with(directory + "/"))) return false;
  const auto text = text_of((process / "stat").string());
  const auto name_end = text.rfind(')');
  char state = 0;
  int parent = 0, group = 0, session = 0, terminal = -1;
  return name_end != std::string::npos &&
         std::sscanf(text.c_str() + name_end + 1, " %c %d %d %d %d", &state, &parent, &group,
                     &session, &terminal) == 5 &&
         state != 'Z' && terminal == 0;
}

}  // namespace

base::Status note_owner(const Site& site) {
  const Json owner{{"state_file", site.options.state_file},
                   {"kind", std::string(name(site.kind))},
                   {"pid", ::getpid()},
                   {"start", base::process_start(::getpid()).value_or(0)},
                   {"process_namespace", process_namespace()},
                   {"boot", boot()}};
  return base::write_file(site.directory + "/" + kOwnerFile, owner.dump(2) + "\n");
}

std::vector<pid_t> processes_in(const std::string& directory) {
  const auto mark = fmt::format("{}={}", kMark, directory) + '\0';
  std::vector<pid_t> found;
  std::error_code failed;
  for (fs::directory_iterator at("/proc", failed), end; !failed && at != end;
       at.increment(failed)) {
    const auto id = static_cast<pid_t>(std::atoi(at->path().filename().c_str()));
    if (id <= 0 || id == ::getpid()) continue;
    if (is_marked(at->path(), mark) || serves_in(at->path(), directory)) found.push_back(id);
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
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    if (at->path().filename().string().starts_with(kDirectory)) directories.push_back(at->path());
  }
  for (const auto& directory : directories) {
    if (owner_of(directory) == Owner::kNobody) clear_directory(directory);
  }
  if (::geteuid() != 0) return;
  for (const auto& [id, directory] : named_networks()) {
    const bool there = !directory.empty() && fs::exists(directory, failed);
    // Its directory may be where only its processes see it.
    if (!there && !is_inhabited(id)) remove_network(id);
  }
}

}  // namespace cupel::lab
