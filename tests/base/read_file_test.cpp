// read_file: what is there, and why something is not.
#include "base/read_file.hpp"

#include <gtest/gtest.h>

#include "base/temp_dir.hpp"
#include "base/write_file.hpp"

namespace cupel::base {
namespace {

TEST(ReadFile, ReadsAllOrSaysWhyNot) {
  auto folder = TempDir::make("cupel-read-file-test-");
  ASSERT_TRUE(folder.ok());
  const auto path = folder->file("file");
  const std::string bytes = std::string(100'000, 'x') + std::string("\0\n", 2);
  ASSERT_TRUE(write_file(path, bytes).ok());
  const auto text = read_file(path);
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(*text, bytes);
  const auto missing = read_file(path + "s");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().to_string(), path + "s: cannot open: No such file or directory");
  const auto directory = read_file(folder->path().string());
  ASSERT_FALSE(directory.ok());
  EXPECT_EQ(directory.error().to_string(),
            folder->path().string() + ": cannot read: Is a directory");
}

}  // namespace
}  // namespace cupel::base
