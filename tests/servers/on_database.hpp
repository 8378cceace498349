// What the tests of `cupel mock test --on` have in common: the command, and what it explored.
#pragma once

#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "base/process.hpp"
#include "support/scratch_folder.hpp"

namespace cupel::test {

struct Ran {
  int code = -1;
  std::string output;
  [[nodiscard]] bool says(const std::string& text) const {
    return output.find(text) != std::string::npos;
  }
};

inline Ran run_in(const ScratchFolder& folder, const std::vector<std::string>& arguments) {
  const base::Seconds patience(120);
  auto process = base::Process::start({.arguments = arguments,
                                       .directory = folder.path("."),
                                       .output = base::Stream::pipe(),
                                       .errors = base::Stream::output()});
  if (!process.ok()) return {-1, process.error().to_string()};
  auto output = process->read_all(patience).value_or("timeout");
  const auto ended = process->wait(patience);
  return {ended ? ended->code : -1, output};
}

class OnDatabaseTest : public ::testing::Test {
 protected:
  explicit OnDatabaseTest(std::string url) : url_(std::move(url)) {}

  Ran run(const std::vector<std::string>& arguments) { return run_in(folder_, arguments); }
  Ran test(const std::vector<std::string>& options, const std::vector<std::string>& program) {
    std::vector<std::string> arguments{CUPEL_BINARY, "mock", "test", "--on", url_};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.insert(arguments.end(), {"--", TEXTBOOK_CLIENT});
    arguments.insert(arguments.end(), program.begin(), program.end());
    return run(arguments);
  }
  Ran explore(const std::vector<std::string>& program) { return test({"--explore"}, program); }

  // "explored: 6 different interleavings in 7 runs … 4 failed"; and the exploration is complete.
  static void expect_explored(const Ran& ran, int interleavings, int failed) {
    std::smatch found;
    ASSERT_TRUE(std::regex_search(
        ran.output, found,
        std::regex("explored: (\\d+) different interleavings? in (\\d+) runs? .*; (\\w+) failed")))
        << ran.output;
    EXPECT_EQ(found[1], std::to_string(interleavings)) << ran.output;
    EXPECT_EQ(found[3], failed == 0 ? "none" : std::to_string(failed)) << ran.output;
    EXPECT_FALSE(ran.says("warning: this")) << ran.output;
    EXPECT_EQ(ran.code, failed == 0 ? 0 : 1) << ran.output;
  }

 private:
  const std::string url_;
  const ScratchFolder folder_;
};

}  // namespace cupel::test
