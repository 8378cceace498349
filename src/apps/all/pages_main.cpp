// cupel_pages FOLDER: writes the manual pages and the completions of shells that are installed.
// FOLDER/mpi has the pages of cupel-mpi, which is a package of its own.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include "apps/all/all_commands.hpp"
#include "apps/command.hpp"
#include "apps/pages.hpp"
#include "apps/spelling.hpp"
#include "apps/version.hpp"

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

// cupel-mpi takes the commands of cupel; `check` is the one that it is for.
std::vector<cupel::apps::CommandPage> mpi_pages(
    const std::vector<cupel::apps::CommandPage>& pages) {
  using cupel::apps::CommandPage;
  const std::vector<std::string> path = {"cupel", "check"};
  auto check = *std::find_if(pages.begin(), pages.end(),
                             [&](const CommandPage& page) { return page.path == path; });
  check.path.front() = "cupel-mpi";
  check.footer =
      "Exit codes and output are those of cupel-check(1).\n\nExamples:\n"
      "  mpirun -n 8 cupel-mpi check -l causal --certificate c.json history.cupel";
  CommandPage program{.path = {"cupel-mpi"},
                      .description = "Check one history by several processes of MPI",
                      .commands = {{"check", check.description}},
                      .needs_command = true};
  program.footer =
      "mpirun starts the processes, and each reads the file. The first does what cupel(1) does,\n"
      "and asks the others for parts of what a level needs. Verdict, explanation and certificate\n"
      "are the same for any number of processes.\n\nExamples:\n"
      "  mpirun -n 8 cupel-mpi check -l linearizable history.cupel";
  return {program, check};
}

}  // namespace

int main(int argc, char** argv) {
  using namespace cupel::apps;
  if (argc != 2) {
    std::fputs("usage: cupel_pages FOLDER\n", stderr);
    return 3;
  }
  const std::filesystem::path folder = argv[1];
  const auto pages = command_pages(all_commands());
  const std::vector<ValueWords> values = {{"LEVEL", level_names()}, {"FORMAT", format_names()}};
  bool well = true;
  for (const auto& page : pages) {
    well &= write(folder / "man1" / man_file(page), man_page(page, version()));
  }
  for (const auto& page : mpi_pages(pages)) {
    well &= write(folder / "mpi" / "man1" / man_file(page), man_page(page, version()));
  }
  well &= write(folder / "completions" / "cupel", bash_completion(pages, values));
  well &= write(folder / "completions" / "_cupel", zsh_completion(pages, values));
  well &= write(folder / "completions" / "cupel.fish", fish_completion(pages, values));
  return well ? 0 : 3;
}
