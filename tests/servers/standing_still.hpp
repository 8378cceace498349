// Stopping a process so that it answers nothing, and knowing that it does.
#pragma once

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include "support/polling.hpp"

namespace cupel::test {

// SIGSTOP, and waits until every thread stands still: on a busy machine some of
// them still answer after kill() returned.
inline void stand_still(int process) {
  ASSERT_EQ(::kill(process, SIGSTOP), 0);
  const auto moving = [&] {
    std::error_code gone;
    for (const auto& task :
         std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/task", gone)) {
      std::ifstream in(task.path() / "stat");
      std::string line;
      std::getline(in, line);
      const auto state = line.find_first_not_of(' ', line.rfind(')') + 1);  // ID (NAME) STATE …
      if (state < line.size() && line[state] != 'T' && line[state] != 'Z') return true;
    }
    return false;
  };
  // waitid() reports children only, and these may be the children of a server.
  ASSERT_TRUE(poll_until([&] { return !moving(); }))
      << "process " << process << " goes on after SIGSTOP";
}

}  // namespace cupel::test
