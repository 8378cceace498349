// cupel_pages FOLDER: writes the manual pages and the completions of shells that are installed.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "cli/command.hpp"
#include "cli/pages.hpp"
#include "cli/spelling.hpp"
#include "cli/version.hpp"

namespace {

bool write(const std::filesystem::path& path, const std::string& text) {
  std::error_code failed;
  std::filesystem::create_directories(path.parent_path(), failed);
  std::ofstream out(path);
  out << text;
  out.close();
  if (!out) std::fprintf(stderr, "cupel_pages: %s cannot be written\n", path.c_str());
  return static_cast<bool>(out);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace cupel::cli;
  if (argc != 2) {
    std::fputs("usage: cupel_pages FOLDER\n", stderr);
    return 3;
  }
  const std::filesystem::path folder = argv[1];
  const auto pages = command_pages();
  const std::vector<ValueWords> values = {{"LEVEL", level_names()}, {"FORMAT", format_names()}};
  bool well = true;
  for (const auto& page : pages) {
    well &= write(folder / "man1" / man_file(page), man_page(page, version()));
  }
  well &= write(folder / "completions" / "cupel", bash_completion(pages, values));
  well &= write(folder / "completions" / "_cupel", zsh_completion(pages, values));
  well &= write(folder / "completions" / "cupel.fish", fish_completion(pages, values));
  return well ? 0 : 3;
}
