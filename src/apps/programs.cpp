// See the header.
#include "apps/programs.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace cupel::apps {

std::string_view name(Program program) {
  constexpr std::string_view kNames[] = {"cupel", "cupel-run", "cupel-mock", "cupel-crdt"};
  return kNames[static_cast<std::size_t>(program)];
}

base::Result<std::string> find_program(Program program) {
  namespace fs = std::filesystem;
  std::error_code none;
  const auto folder = fs::read_symlink("/proc/self/exe", none).parent_path();
  const auto beside = folder / name(program),
             installed = folder.parent_path() / "libexec/cupel" / name(program);
  for (const auto& at : {beside, installed}) {
    if (fs::exists(at, none)) return at.string();
  }
  return base::Error{.message = fmt::format("found the program {0} neither in {1} nor in {2}. "
                                            "Build it (cmake --build --preset release --target "
                                            "{0}), or install the package {0}",
                                            name(program), folder.string(),
                                            installed.parent_path().string())};
}

std::optional<Program> program_elsewhere(std::string_view command,
                                         std::span<const NamedCommand> own) {
  if (std::any_of(own.begin(), own.end(), [&](const auto& one) { return one.name == command; }))
    return std::nullopt;
  const auto* const found = std::find_if(kCommandSpecs.begin(), kCommandSpecs.end(),
                                         [&](const auto& one) { return one.name == command; });
  return found == kCommandSpecs.end() ? std::nullopt : std::optional(found->program);
}

base::Error become(Program program, char** argv) {
  const auto file = find_program(program);
  if (!file.ok()) return file.error();
  execv(file->c_str(), argv);
  return base::Error{.message = fmt::format("cannot start it: {}", std::strerror(errno)),
                     .file = *file};
}

}  // namespace cupel::apps
