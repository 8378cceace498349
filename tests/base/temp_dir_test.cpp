// A directory that goes with its owner.
#include "base/temp_dir.hpp"

#include <gtest/gtest.h>

#include <fstream>

namespace cupel::base {
namespace {

namespace fs = std::filesystem;

TEST(TempDir, IsThereAsLongAsItsOwner) {
  fs::path path;
  {
    auto made = TempDir::make("cupel-temp-dir-test-");
    ASSERT_TRUE(made.ok()) << made.error().to_string();
    TempDir directory = *std::move(made);
    path = directory.path();
    EXPECT_TRUE(path.filename().string().starts_with("cupel-temp-dir-test-"));
    std::ofstream(directory.file("inside")) << "x";
    EXPECT_TRUE(fs::exists(path / "inside"));
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(TempDir, SaysWhereItCannotBeMade) {
  const auto made = make_temp_dir("no-such-folder/x");
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.error().to_string().find("no-such-folder/x"), std::string::npos);
  EXPECT_NE(made.error().message.find("No such file or directory"), std::string::npos);
}

}  // namespace
}  // namespace cupel::base
