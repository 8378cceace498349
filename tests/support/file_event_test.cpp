// A file that another thread makes, folder and all, and adds to.
#include "support/file_event.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "support/scratch_folder.hpp"

namespace cupel::test {
namespace {

TEST(WaitForFile, IsWokenByWhatIsAdded) {
  const ScratchFolder scratch;
  const std::filesystem::path path = scratch.path("out/more/results");
  std::thread writer([&] {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream out(path);
    for (int i = 0; i < 10; ++i) out << i << std::flush;
  });
  EXPECT_TRUE(wait_for_file(path, [](const std::string& text) { return text == "0123456789"; }));
  writer.join();
}

TEST(WaitForFile, GivesUp) {
  const ScratchFolder scratch;
  EXPECT_FALSE(wait_for_file(
      scratch.path("none"), [](const std::string& text) { return !text.empty(); },
      std::chrono::seconds(0)));
}

}  // namespace
}  // namespace cupel::test
