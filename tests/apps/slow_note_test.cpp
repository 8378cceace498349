// A check that takes long says how to end it.
#include "apps/slow_note.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

namespace {

using cupel::apps::SlowNote;

TEST(SlowNote, IsPrintedOnceTheTimeIsOver) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const int before = ::dup(STDERR_FILENO);
  ::dup2(ends[1], STDERR_FILENO);
  char printed[200];
  ssize_t size = 0;
  {
    const SlowNote note("h.jsonl: the check goes on", std::chrono::milliseconds(1));
    size = ::read(ends[0], printed, sizeof printed);
  }
  ::dup2(before, STDERR_FILENO);
  for (const int end : {ends[0], ends[1], before}) ::close(end);
  ASSERT_GT(size, 0);
  EXPECT_EQ(std::string(printed, static_cast<std::size_t>(size)),
            "cupel: note: h.jsonl: the check goes on\n");
}

TEST(SlowNote, IsNotPrintedIfTheCheckEndsBefore) {
  testing::internal::CaptureStderr();
  { const SlowNote note("h.jsonl: the check goes on", std::chrono::hours(1)); }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
