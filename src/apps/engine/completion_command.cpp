// cupel completion: the completion of a shell, which the build makes from the help of all commands
// (apps/pages.hpp) and installs where shells look for it. This prints it for every other place.
#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "apps/command.hpp"
#include "apps/command_line.hpp"
#include "base/read_file.hpp"

namespace cupel::apps {

namespace {

struct Shell {
  std::string_view name, file, installed;  // below share/
};
constexpr std::array<Shell, 3> kShells{{{"bash", "cupel", "bash-completion/completions"},
                                        {"zsh", "_cupel", "zsh/vendor-completions"},
                                        {"fish", "cupel.fish", "fish/vendor_completions.d"}}};

int print_completion(const Shell& shell) {
  namespace fs = std::filesystem;
  std::error_code none;
  const auto folder = fs::read_symlink("/proc/self/exe", none).parent_path();
  const auto built = folder / "pages/completions" / shell.file,
             installed = folder.parent_path() / "share" / shell.installed / shell.file;
  for (const auto& file : {built, installed}) {
    if (!fs::exists(file, none)) continue;
    const auto text = base::read_file(file.string());
    if (!text.ok()) return bad(text.error());
    print(*text);
    return kSatisfied;
  }
  print_error(
      fmt::format("the completion is neither in {} nor in {}. Build it (cmake --build "
                  "--preset release), or install the package cupel",
                  built.string(), installed.string()));
  return kBad;
}

}  // namespace

void add_completion(Command& app, Run& run) {
  auto* command = add_command(app, "completion");
  auto name = std::make_shared<std::string>();
  command->add_option("SHELL", *name, "bash, zsh or fish")->required()->type_name("");
  command->footer(
      "Examples:\n"
      "  source <(cupel completion bash)\n"
      "  cupel completion zsh > ~/.zfunc/_cupel\n"
      "  cupel completion fish > ~/.config/fish/completions/cupel.fish");
  command->callback([name, &run] {
    for (const Shell& shell : kShells) {
      if (shell.name != *name) continue;
      run = [&shell] { return print_completion(shell); };
      return;
    }
    throw UsageError("SHELL", fmt::format("found `{}`, expected bash, zsh or fish", *name));
  });
}

}  // namespace cupel::apps
