// Whether a command sleeps.
#include "mock/proxy/activity.hpp"

#include <gtest/gtest.h>

#include <string>

#include "base/process.hpp"
#include "support/polling.hpp"

namespace cupel::proxy {
namespace {

TEST(Activity, OfAShellAndItsChild) {
  // The shell waits for cat, which waits for its input; then both are gone.
  auto shell = base::Process::start({.arguments = {"sh", "-c", "cat; exit 0"},
                                     .input = base::Stream::pipe(),
                                     .output = base::Stream::pipe()});
  ASSERT_TRUE(shell.ok());
  const auto asleep = [&] {
    const auto once = threads_of(shell->id()), again = threads_of(shell->id());
    return once.switches.size() == 2 && !once.running && once == again;
  };
  EXPECT_TRUE(test::poll_until(asleep));
  shell->close_input();
  EXPECT_TRUE(test::poll_until([&] { return !shell->running(); }));
  EXPECT_TRUE(threads_of(shell->id()).switches.empty());
}

TEST(Activity, OfABusyLoop) {
  auto shell = base::Process::start({.arguments = {"sh", "-c", "while :; do :; done"}});
  ASSERT_TRUE(shell.ok());
  EXPECT_TRUE(test::poll_until([&] { return threads_of(shell->id()).running; }));
  const auto worked = threads_of(shell->id()).worked;
  EXPECT_TRUE(test::poll_until(
      [&] { return threads_of(shell->id()).worked > worked + std::chrono::milliseconds(50); }));
}

TEST(Activity, OfThreadsThatSleep) {
  auto sleeper = base::Process::start({.arguments = {"sleep", "60"}});
  ASSERT_TRUE(sleeper.ok());
  EXPECT_TRUE(test::poll_until([&] { return !threads_of(sleeper->id()).running; }));
  EXPECT_LT(threads_of(sleeper->id()).worked, std::chrono::seconds(1));
}

}  // namespace
}  // namespace cupel::proxy
