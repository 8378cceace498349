// A check that takes long says how to end it.
#include "apps/slow_note.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace {

using cupel::apps::SlowNote;

TEST(SlowNote, IsPrintedOnceTheTimeIsOver) {
  testing::internal::CaptureStderr();
  {
    const SlowNote note("h.jsonl: the check goes on", std::chrono::milliseconds(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "cupel: note: h.jsonl: the check goes on\n");
}

TEST(SlowNote, IsNotPrintedIfTheCheckEndsBefore) {
  testing::internal::CaptureStderr();
  { const SlowNote note("h.jsonl: the check goes on", std::chrono::hours(1)); }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
