// Source: whether a file is still the one that was read.
#include "engine/analysis/source.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "support/scratch_folder.hpp"

namespace cupel::analysis {
namespace {

namespace fs = std::filesystem;

TEST(Source, SeesEveryChangeOfAFile) {
  const test::ScratchFolder folder;
  const auto path = folder.file("a", "one");
  const auto time = fs::last_write_time(path);

  const Source before(path);
  EXPECT_EQ(before.path(), path);
  std::ifstream(path).get();
  EXPECT_TRUE(before.is_unchanged()) << "reading changes nothing";

  folder.file("a", "longer");
  EXPECT_FALSE(before.is_unchanged());

  const Source longer(path);
  folder.file("a", "LONGER");
  fs::last_write_time(path, time);
  EXPECT_FALSE(longer.is_unchanged()) << "as many bytes, and an older time";

  const Source again(path);
  fs::rename(folder.file("b", "LONGER"), path);
  EXPECT_FALSE(again.is_unchanged()) << "replaced";

  const Source removed(path);
  fs::remove(path);
  EXPECT_FALSE(removed.is_unchanged());
}

TEST(Source, NothingIsKnownOfWhatIsNoRegularFile) {
  const test::ScratchFolder folder;
  const Source directory(folder.path()), none(folder.path("none"));
  folder.file("none", "now it is there");
  EXPECT_TRUE(directory.is_unchanged());
  EXPECT_TRUE(none.is_unchanged());
}

}  // namespace
}  // namespace cupel::analysis
