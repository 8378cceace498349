// Two runs at the same time on one database: each has tables of its own, so neither sees a value
// that nobody of its own wrote.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <optional>
#include <string>
#include <thread>

#include "run/run_and_check.hpp"
#include "support/scratch_folder.hpp"

namespace cupel::test {

// Both must keep what the database promises, or read committed where it promises no level.
inline void two_runs_keep_the_promise(const run::RunAndCheckOptions& options) {
  const ScratchFolder folder;
  std::array<std::optional<run::CheckedRun>, 2> checked;
  std::array<std::string, 2> errors;
  {
    std::array<std::jthread, 2> runs;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      runs[i] = std::jthread([&, i] {
        auto own = options;
        own.run.seed = i + 1;
        own.history = folder.path("history-" + std::to_string(i) + ".jsonl");
        const std::atomic<bool> stop = false;
        run::Progress progress;
        auto ran = run::run_and_check(own, stop, progress, [](run::Stage) {});
        if (ran.ok()) {
          checked[i] = std::move(ran).value();
        } else {
          errors[i] = ran.error().message;
        }
      });
    }
  }
  for (std::size_t i = 0; i < checked.size(); ++i) {
    ASSERT_TRUE(checked[i]) << errors[i];
    EXPECT_GT(checked[i]->run.committed, 0U);
    EXPECT_EQ(checked[i]->verdict(), check::Verdict::kSatisfied)
        << options.url << ' ' << options.workload;
  }
}

}  // namespace cupel::test
