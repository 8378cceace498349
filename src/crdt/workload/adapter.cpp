// Adapter: see the header. The adapters are copied beside the installed libraries, because Node.js
// looks for a library in the folders above the file that imports it.
#include "crdt/workload/adapter.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/file.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>

#include "base/budget.hpp"
#include "base/descriptor.hpp"
#include "base/folder.hpp"
#include "base/read_file.hpp"
#include "base/text/excerpt.hpp"
#include "base/write_file.hpp"

namespace cupel::crdt {

namespace fs = std::filesystem;

namespace {

using base::Error;
using base::Result;
using Json = nlohmann::json;

constexpr const char* kModule = ".mjs";
constexpr const char* kHarness = "harness.mjs";
// What is no adapter.
constexpr std::string_view kOthers[] = {kHarness, "template.mjs", "script.mjs"};
constexpr const char* kLock = "package-lock.json";
constexpr const char* kInstalled = "installed-lock.json";

// The error of a program that cannot be started.
std::optional<Error> missing_program(const char* program, const char* what) {
  auto process = base::Process::start({.arguments = {program, "--version"}});
  if (!process.ok())
    return Error{.message =
                     fmt::format("found no {}, which {}; install {}", program, what, program)};
  process->wait(base::Seconds(30));
  return std::nullopt;
}

base::Status copy_changed(const fs::path& from, const fs::path& to) {
  const auto wanted = base::read_file(from.string());
  if (!wanted.ok()) return wanted.error();
  std::error_code none;
  if (fs::exists(to, none)) {
    const auto there = base::read_file(to.string());
    if (there.ok() && *there == *wanted) return base::Ok{};
  }
  return base::replace_file(to.string(), *wanted);
}

bool same_content(const fs::path& a, const fs::path& b) {
  std::error_code none;
  if (!fs::exists(b, none)) return false;
  const auto one = base::read_file(a.string()), other = base::read_file(b.string());
  return one.ok() && other.ok() && *one == *other;
}

Result<std::string> run_npm(const fs::path& cache) {
  const auto log = (cache / "npm.log").string();
  std::error_code none;
  fs::remove(log, none);
  auto npm = base::Process::start(
      {.arguments = {"npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts",
                     "--fetch-timeout=60000", "--fetch-retries=1"},  // else three tries of 5 min
       .directory = cache.string(),
       .output = base::Stream::file(log),
       .errors = base::Stream::output()});
  if (!npm.ok()) return std::move(npm).error();
  constexpr base::Seconds kLongestInstall{600};
  const auto status = npm->wait(kLongestInstall);
  if (status && status->well()) return log;
  const auto said = base::read_file(log);
  return Error{.message = fmt::format(
                   "`npm ci` in {} {}, so the libraries of the adapters are not there; does this "
                   "machine reach npm's registry? It said: {}",
                   cache.string(), status ? status->to_string() : "did not end in 600 s",
                   text::excerpt(said.ok() ? *said : "", text::kLongExcerpt))};
}

// One process at a time, so that nobody starts a half of an installation.
base::Status install(const AdapterPlaces& places, void (*installing)(const std::string& folder)) {
  const fs::path from = places.adapters, cache = places.cache;
  std::error_code failure;
  fs::create_directories(cache, failure);
  if (failure) {
    return Error{
        .message = fmt::format("cannot make the folder of the adapters' libraries: {}; set "
                               "CUPEL_ADAPTER_CACHE to one that you may write to",
                               failure.message()),
        .file = cache.string()};
  }
  const base::Descriptor lock(::open((cache / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (lock) ::flock(lock.get(), LOCK_EX);
  for (const auto& name :
       base::names_in_folder(from.string()).value_or(std::vector<std::string>{})) {
    if (!name.ends_with(kModule) && !name.ends_with(".json")) continue;
    if (const auto copied = copy_changed(from / name, cache / name); !copied.ok())
      return copied.error();
  }
  if (same_content(from / kLock, cache / kInstalled)) return base::Ok{};
  if (const auto missing = missing_program("npm", "installs the libraries of the adapters"))
    return *missing;
  if (installing != nullptr) installing(cache.string());
  if (const auto log = run_npm(cache); !log.ok()) return log.error();
  return copy_changed(from / kLock, cache / kInstalled);
}

Result<AdapterCommand> command_of_file(const std::string& name, const AdapterPlaces& places) {
  std::error_code none;
  if (!fs::is_regular_file(name, none))
    return Error{.message = "found no such file, expected an adapter", .file = name};
  const auto extension = fs::path(name).extension();
  if (extension == kModule || extension == ".js") {
    if (const auto missing = missing_program("node", "runs the adapter")) return *missing;
    return AdapterCommand{
        name, {.arguments = {"node", (fs::path(places.adapters) / kHarness).string(), name}}};
  }
  if (extension == ".py") {
    if (const auto missing = missing_program("python3", "runs the adapter")) return *missing;
    return AdapterCommand{
        name, {.arguments = {"python3", name}, .environment = {{"PYTHONPATH", places.adapters}}}};
  }
  return AdapterCommand{name, {.arguments = {name}}};
}

// The object's field as text, or nothing.
std::optional<std::string> text_of(const Json& json) {
  if (!json.is_string()) return std::nullopt;
  return json.get<std::string>();
}

std::optional<std::vector<Hazard>> hazards_in(const Json& names) {
  if (!names.is_array()) return std::nullopt;
  std::vector<Hazard> hazards;
  for (const auto& name : names) {
    const auto* const known =
        std::find(std::begin(kHazardNames), std::end(kHazardNames), text_of(name).value_or(""));
    if (known == std::end(kHazardNames)) return std::nullopt;
    hazards.push_back(static_cast<Hazard>(known - std::begin(kHazardNames)));
  }
  return hazards;
}

// Nothing: it says something else than docs/reference/crdt-adapters.md#protocol has.
std::optional<Library> library_of(const Json& hello) {
  Library library;
  const auto name = text_of(hello.value("library", Json()));
  const auto objects = hello.value("objects", Json()), survives = hello.value("survives", Json());
  const auto messages = hello.value("messages", Json("updates"));
  if (!name || !objects.is_array() || objects.empty()) return std::nullopt;
  if (messages != "updates" && messages != "states") return std::nullopt;
  library.name = *name;
  library.sends_states = messages == "states";
  library.has_several = hello.value("several", Json()) == true;
  for (const auto& object : objects) {
    if (!object.is_array() || object.size() < 2 || object.size() > 3) return std::nullopt;
    const auto its = text_of(object[0]), type = text_of(object[1]);
    if (!its || !type) return std::nullopt;
    library.objects.emplace_back(*its, *type);
    if (object.size() == 2) continue;
    auto own = hazards_in(object[2]);
    if (!own) return std::nullopt;
    library.objects_survive[*its] = std::move(*own);
  }
  auto all = hazards_in(survives);
  if (!all) return std::nullopt;
  library.survives = std::move(*all);
  return library;
}

}  // namespace

std::vector<std::string> adapter_names(const AdapterPlaces& places) {
  std::vector<std::string> names;
  for (auto& file : base::names_in_folder(places.adapters).value_or(std::vector<std::string>{})) {
    const bool is_other =
        std::find(std::begin(kOthers), std::end(kOthers), file) != std::end(kOthers);
    if (!file.ends_with(kModule) || is_other) continue;
    names.push_back(file.substr(0, file.size() - std::string_view(kModule).size()));
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<AdapterCommand> adapter_command(const std::string& name, const AdapterPlaces& places,
                                       void (*installing)(const std::string& folder)) {
  if (name.find('/') != std::string::npos) return command_of_file(name, places);
  const auto known = adapter_names(places);
  if (std::find(known.begin(), known.end(), name) == known.end()) {
    if (known.empty()) {
      return Error{
          .message = places.adapters.empty()
                         ? "found no folder with adapters; set CUPEL_ADAPTERS to adapters/ of "
                           "cupel's sources"
                         : "found no adapters there; set CUPEL_ADAPTERS to adapters/ of "
                           "cupel's sources",
          .file = places.adapters};
    }
    return Error{.message =
                     fmt::format("found the adapter `{}`, expected {}, or the path of a file "
                                 "with a slash in it",
                                 name, fmt::join(known, ", "))};
  }
  if (places.cache.empty()) {
    return Error{.message =
                     "found no HOME, below which the libraries of the adapters are installed; set "
                     "CUPEL_ADAPTER_CACHE to a folder for them"};
  }
  if (const auto missing = missing_program("node", "runs the adapters")) return *missing;
  if (const auto installed = install(places, installing); !installed.ok()) return installed.error();
  const fs::path cache = places.cache;
  return AdapterCommand{
      name,
      {.arguments = {"node", (cache / kHarness).string(), (cache / (name + kModule)).string()}}};
}

Result<ChosenObject> choose_object(const Library& library, const std::string& object,
                                   const std::string& type) {
  const auto same_type = [&](const std::string& its) {
    const auto one = type_of(its), other = type_of(type);
    return its == type || (one && other && *one == *other);
  };
  std::vector<std::string> offers;
  for (const auto& [name, its] : library.objects)
    offers.push_back(fmt::format("{} ({})", name, its));
  const auto chosen =
      std::find_if(library.objects.begin(), library.objects.end(), [&](const auto& offered) {
        return (object.empty() || offered.first == object) &&
               (type.empty() || same_type(offered.second));
      });
  if (chosen == library.objects.end()) {
    const auto named = std::find_if(library.objects.begin(), library.objects.end(),
                                    [&](const auto& offered) { return offered.first == object; });
    if (named != library.objects.end()) {
      return Error{.message = fmt::format(
                       "found the type `{}` for the object `{}`, whose type is {}; leave out the "
                       "type, or name another object: {} offers {}",
                       type, object, named->second, library.name, fmt::join(offers, ", "))};
    }
    return Error{.message = fmt::format(
                     "found the {} `{}`, but {} offers {}", object.empty() ? "type" : "object",
                     object.empty() ? type : object, library.name, fmt::join(offers, ", "))};
  }
  const auto known = type_of(chosen->second);
  if (!known) {
    return Error{.message = fmt::format("cupel does not decide the type {} yet, which {} of {} is; "
                                        "it decides {}",
                                        chosen->second, chosen->first, library.name,
                                        fmt::join(type_names(), ", "))};
  }
  const auto own = library.objects_survive.find(chosen->first);
  return ChosenObject{chosen->first, *known,
                      own == library.objects_survive.end() ? library.survives : own->second};
}

Result<Adapter> Adapter::start(const AdapterCommand& command, double timeout_seconds) {
  auto program =
      Program::start(fmt::format("the adapter {}", command.name), command.process, timeout_seconds);
  if (!program.ok()) return std::move(program).error();
  const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
  const Json hello = {{"f", "hello"}};
  const auto answer = program->ask(hello);
  if (!answer.ok()) return answer.error();
  auto library = library_of(*answer);
  if (!library) {
    return program->refused(hello, *answer,
                            "; expected the fields `library`, `objects`, `survives` of "
                            "docs/reference/crdt-adapters.md#protocol");
  }
  return Adapter(std::move(*program), std::move(*library));
}

}  // namespace cupel::crdt
