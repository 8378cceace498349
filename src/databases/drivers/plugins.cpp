// Finding and loading plug-ins: see plugin.hpp.
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <system_error>

#include "base/budget.hpp"
#include "base/folder.hpp"
#include "databases/drivers/plugin.hpp"

namespace cupel::drivers {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "libcupel-driver-", kSuffix = ".so";

std::vector<fs::path> plugin_folders() {
  std::vector<fs::path> folders;
  const char* variable = std::getenv("CUPEL_PLUGINS");
  const std::string named = variable == nullptr ? "" : variable;
  for (std::size_t from = 0; from < named.size();) {
    const auto colon = std::min(named.find(':', from), named.size());
    if (colon > from) folders.emplace_back(named.substr(from, colon - from));
    from = colon + 1;
  }
  std::error_code none;
  const auto program = fs::read_symlink("/proc/self/exe", none);
  if (!none) folders.push_back(program.parent_path());
  return folders;
}

std::string file_of(std::string_view driver) {
  return fmt::format("{}{}{}", kPrefix, driver, kSuffix);
}

base::Result<const Plugin*> load(std::string_view driver) {
  const auto file = find_plugin(driver);
  if (file.empty()) {
    return base::Error{
        .message = fmt::format(
            "found no driver for {0}: {1} is neither in a folder of CUPEL_PLUGINS nor beside the "
            "program. Install the package cupel-{0}, or build it (cmake --build --preset release "
            "--target cupel-driver-{0}; tools/install-packages.sh installs its client library)",
            driver, file_of(driver))};
  }
  // A library's own constructors may allocate, and an exception of theirs would end the process.
  const base::AllocationWatch::Deferral deferral;
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = dlerror();
    return base::Error{.message = fmt::format("cannot load the driver for {0} ({1}). Install the "
                                              "package cupel-{0}, or the library that is missing",
                                              driver, why == nullptr ? "no reason given" : why)};
  }
  auto* const entry = reinterpret_cast<PluginEntry*>(dlsym(library, kPluginEntry));
  const auto* const plugin = entry == nullptr ? nullptr : entry();
  if (plugin == nullptr || std::string_view(plugin->version) != CUPEL_VERSION) {
    return base::Error{
        .message = fmt::format(
            "this driver is of {}, and the program of cupel {}. Install both of one version",
            plugin == nullptr ? "another generation of cupel"
                              : fmt::format("cupel {}", plugin->version),
            CUPEL_VERSION),
        .file = file};
  }
  return plugin;
}

}  // namespace

std::string find_plugin(std::string_view driver) {
  std::error_code none;
  for (const auto& folder : plugin_folders()) {
    const auto file = folder / file_of(driver);
    if (fs::exists(file, none)) return file.string();
  }
  return "";
}

std::vector<std::string> found_plugins() {
  std::set<std::string> names;
  for (const auto& folder : plugin_folders()) {
    for (const auto& file :
         base::names_in_folder(folder.string()).value_or(std::vector<std::string>())) {
      if (!file.starts_with(kPrefix) || !file.ends_with(kSuffix)) continue;
      names.insert(file.substr(kPrefix.size(), file.size() - kPrefix.size() - kSuffix.size()));
    }
  }
  return {names.begin(), names.end()};
}

base::Result<const Plugin*> load_plugin(std::string_view driver) {
  static std::mutex one_at_a_time;
  static std::map<std::string, const Plugin*, std::less<>> loaded;
  const std::lock_guard lock(one_at_a_time);
  if (const auto found = loaded.find(driver); found != loaded.end()) return found->second;
  auto plugin = load(driver);
  if (plugin.ok()) loaded.emplace(driver, *plugin);
  return plugin;
}

}  // namespace cupel::drivers
