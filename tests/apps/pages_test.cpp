// Manual pages and completions: they have every option that the help has, roff has no complaint,
// and the shells complete what was begun.
#include "apps/pages.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>

#include "apps/all/all_commands.hpp"
#include "apps/command.hpp"
#include "apps/programs.hpp"
#include "support/scratch_folder.hpp"

namespace {

using cupel::apps::command_pages;
using cupel::apps::CommandPage;

std::string output_of(const std::string& command) {
  std::FILE* const pipe = popen(command.c_str(), "r");
  std::string text;
  for (int c; (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
  EXPECT_EQ(pclose(pipe), 0) << command;
  return text;
}

const CommandPage& page_of(const std::vector<CommandPage>& pages,
                           const std::vector<std::string>& path) {
  return *std::find_if(pages.begin(), pages.end(),
                       [&](const CommandPage& page) { return page.path == path; });
}

// A command of programs.hpp that its program lacks would start that program again and again.
TEST(Programs, HaveTheCommandsOfTheList) {
  using cupel::apps::Program;
  const auto check = [](Program program, std::span<const cupel::apps::NamedCommand> own,
                        const std::string& file) {
    for (const auto& spec : cupel::apps::kCommandSpecs) {
      const auto is_spec = [&](const auto& one) { return one.name == spec.name; };
      EXPECT_EQ(std::any_of(own.begin(), own.end(), is_spec), spec.program == program)
          << spec.name << ": programs.hpp and " << file << " differ";
    }
    for (const auto& command : own) {
      const auto is_command = [&](const auto& one) { return one.name == command.name; };
      EXPECT_TRUE(std::any_of(cupel::apps::kCommandSpecs.begin(), cupel::apps::kCommandSpecs.end(),
                              is_command))
          << command.name << ": programs.hpp lacks it, and " << file << " has it";
    }
  };
  check(Program::kEngine, cupel::apps::engine_commands(), "engine_commands.cpp");
  check(Program::kRun, cupel::apps::run_commands(), "run_commands.cpp");
  check(Program::kCrdt, cupel::apps::crdt_commands(), "crdt_commands.cpp");
}

TEST(Pages, HaveEveryCommandAndOption) {
  const auto pages = command_pages(cupel::apps::all_commands());
  const auto& check = page_of(pages, {"cupel", "check"});
  const auto level = std::find_if(check.options.begin(), check.options.end(), [](const auto& one) {
    return one.names == std::vector<std::string>{"-l", "--level"};
  });
  ASSERT_NE(level, check.options.end());
  EXPECT_TRUE(level->takes_value);
  EXPECT_EQ(check.arguments.front().names.front(), "HISTORY");
  EXPECT_NE(page_of(pages, {"cupel", "lab"}).commands.size(), 0u);
  // The help of a command is made of the same.
  for (const auto& page : pages) {
    std::string command = CUPEL_BINARY;
    for (std::size_t i = 1; i < page.path.size(); ++i) command += " " + page.path[i];
    const auto help = output_of(command + " --help");
    for (const auto& option : page.options) {
      for (const auto& name : option.names) {
        EXPECT_NE(help.find(name), help.npos) << command << " " << name;
      }
    }
  }
}

TEST(Pages, EscapeWhatRoffWouldTakeForItself) {
  const CommandPage page{.path = {"cupel", "x"},
                         .description = "Does \\ -- things.\n.TH begins a line",
                         .footer = "Examples:\n  cupel x 'y'\nand 'more'"};
  const auto text = man_page(page, "1.2");
  EXPECT_NE(text.find("Does \\e \\-\\- things.\n\\&.TH begins a line"), text.npos) << text;
  EXPECT_NE(text.find(".SH EXAMPLES\n.nf\ncupel x 'y'\n.fi\nand 'more'\n"), text.npos) << text;
  EXPECT_EQ(man_file(page), "cupel-x.1");
}

TEST(Pages, AreCleanForRoff) {
  const cupel::test::ScratchFolder folder;
  for (const auto& page : command_pages(cupel::apps::all_commands())) {
    const auto file = folder.file(man_file(page), man_page(page, "0.0"));
    EXPECT_EQ(output_of("groff -man -Tutf8 -ww -Kutf8 -rLL=100n " + file + " 2>&1 >/dev/null"), "")
        << file;
  }
}

class Completion : public testing::Test {
 protected:
  // What bash offers for a line whose last word is begun.
  std::string offered(const std::string& words) const {
    const auto file = folder_.file(
        "cupel", cupel::apps::bash_completion(command_pages(cupel::apps::all_commands()),
                                              {{"LEVEL", {"causal", "prefix"}}}));
    return output_of("bash -c 'source " + file + "; COMP_WORDS=(" + words +
                     "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _cupel; echo ${COMPREPLY[@]}'");
  }
  cupel::test::ScratchFolder folder_;
};

TEST_F(Completion, OfCommandsOptionsAndValuesInBash) {
  EXPECT_EQ(offered("cupel che"), "check\n");
  EXPECT_EQ(offered("cupel mock te"), "test\n");
  EXPECT_EQ(offered("cupel lab st"), "start stop\n");
  EXPECT_EQ(offered("cupel check --lev"), "--level\n");
  EXPECT_EQ(offered("cupel check --level c"), "causal\n");
  EXPECT_EQ(offered("cupel check -l \"\""), "causal prefix\n");
  EXPECT_EQ(offered("cupel check -l causal,"), "causal,causal causal,prefix\n");
  EXPECT_EQ(offered("cupel check -l prefix,causal,p"), "prefix,causal,prefix\n");
  EXPECT_EQ(offered("cupel check --json --timeo"), "--timeout\n");
}

TEST_F(Completion, OfFilesInBash) {
  const auto file = folder_.file("history.jsonl", "");
  EXPECT_EQ(offered("cupel check " + folder_.path("hist")), file + "\n");
}

TEST_F(Completion, IsReadByTheOtherShells) {
  const auto pages = command_pages(cupel::apps::all_commands());
  const auto zsh = folder_.file("_cupel", cupel::apps::zsh_completion(pages, {}));
  const auto fish = folder_.file("cupel.fish", cupel::apps::fish_completion(pages, {}));
  if (std::system("command -v zsh >/dev/null && command -v fish >/dev/null") != 0) {
    GTEST_SKIP() << "zsh and fish are not installed";
  }
  output_of("zsh -n " + zsh);
  output_of("fish --no-execute " + fish);
  const auto lists = folder_.file(
      "lists.fish", cupel::apps::fish_completion(pages, {{"LEVEL", {"causal", "prefix"}}}));
  for (const std::string option : {"--level=", "-l "}) {
    EXPECT_EQ(output_of("fish --private -c 'source " + lists + "; complete -C \"cupel check " +
                        option + "causal,p\"' | cut -f 1"),
              (option.ends_with("=") ? option : "") + "causal,prefix\n");
  }
}

}  // namespace
