// What a power loss takes from files, and what corruption does to them.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/descriptor.hpp"
#include "base/random.hpp"
#include "databases/lab/disk/corrupt.hpp"
#include "databases/lab/disk/unsynced.hpp"
#include "support/scratch_folder.hpp"

namespace cupel::lab {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class UnsyncedFile : public testing::Test {
 protected:
  void write(const std::string& text, std::uint64_t at) {
    ASSERT_TRUE(unsynced_.keep(file_.get(), at, at + text.size()).ok());
    ASSERT_EQ(::pwrite(file_.get(), text.data(), text.size(), static_cast<off_t>(at)),
              static_cast<ssize_t>(text.size()));
  }
  void cut(std::uint64_t length) {
    ASSERT_TRUE(unsynced_.keep(file_.get(), length, UINT64_MAX).ok());
    ASSERT_EQ(::ftruncate(file_.get(), static_cast<off_t>(length)), 0);
  }
  LostBytes lose() {
    LostBytes lost;
    const auto undone = unsynced_.undo(file_.get(), lost);
    EXPECT_TRUE(undone.ok()) << undone.error().to_string();
    return lost;
  }
  std::string text() const { return text_of(path_); }

  const test::ScratchFolder scratch_;
  const std::string path_ = scratch_.path() + "/file";
  const base::Descriptor file_{::open(path_.c_str(), O_RDWR | O_CREAT, 0600)};
  Unsynced unsynced_;
};

TEST_F(UnsyncedFile, LosesWhatWasWrittenSinceTheLastSync) {
  write("first", 0);
  unsynced_.sync();
  write("F", 0);
  write(" second", 5);
  EXPECT_EQ(text(), "First second");
  const auto lost = lose();
  EXPECT_EQ(text(), "first");
  EXPECT_EQ(lost.files, 1);
  EXPECT_EQ(lost.overwritten, 5);
  EXPECT_EQ(lost.cut_off, 7);
  EXPECT_FALSE(unsynced_.any());
}

TEST_F(UnsyncedFile, NeverSyncedItIsEmpty) {
  write("text", 10000);
  lose();
  EXPECT_EQ(text(), "");
}

TEST_F(UnsyncedFile, WhatWasCutOffIsBack) {
  write("some text", 0);
  unsynced_.sync();
  cut(4);
  write(" words", 4);
  cut(0);
  lose();
  EXPECT_EQ(text(), "some text");
}

TEST_F(UnsyncedFile, WhateverIsDoneToIt) {
  base::Random random(7);
  std::string expected;
  for (int step = 0; step < 3000; ++step) {
    const auto at = random.below(20000);
    switch (random.below(20)) {
      case 0:
        unsynced_.sync();
        expected = text();
        break;
      case 1:
        lose();
        ASSERT_EQ(text(), expected) << step;
        break;
      case 2:
        cut(at);
        break;
      default:
        write(std::string(1 + random.below(6000), static_cast<char>('a' + random.below(26))), at);
    }
  }
}

TEST(Corruption, FlipsBitsOfWhatWasWrittenLast) {
  const test::ScratchFolder scratch;
  const std::string data(100'000, 'x');
  std::filesystem::create_directory(scratch.path() + "/below");
  const auto old = scratch.path() + "/old", recent = scratch.path() + "/below/recent";
  std::ofstream(scratch.path() + "/settings") << "small";
  for (const auto& path : {old, recent}) std::ofstream(path) << data;
  std::filesystem::last_write_time(
      old, std::filesystem::last_write_time(recent) - std::chrono::hours(1));
  const auto flipped = flip_bits(scratch.path(), 3, 42);
  ASSERT_TRUE(flipped.ok()) << flipped.error().to_string();
  EXPECT_EQ(flipped->substr(0, 27), "below/recent: 3 bits from b");
  EXPECT_EQ(text_of(old), data);
  const auto now = text_of(recent);
  ASSERT_EQ(now.size(), data.size());
  int bits = 0;
  std::size_t first = data.size(), last = 0;
  for (std::size_t i = 0; i < data.size(); ++i) {
    bits += std::popcount(static_cast<unsigned>(static_cast<unsigned char>(now[i] ^ data[i])));
    if (now[i] == data[i]) continue;
    first = std::min(first, i);
    last = i;
  }
  EXPECT_EQ(bits, 3);
  EXPECT_LT(last - first, 4096U);
  // The same seed does the same, so the same bits are right again.
  ASSERT_TRUE(flip_bits(scratch.path(), 3, 42).ok());
  EXPECT_EQ(text_of(recent), data);
}

TEST(Corruption, NeedsAFile) {
  const test::ScratchFolder scratch;
  const auto flipped = flip_bits(scratch.path(), 1, 1);
  ASSERT_FALSE(flipped.ok());
  EXPECT_NE(flipped.error().message.find("found no file"), std::string::npos);
}

}  // namespace
}  // namespace cupel::lab
