// A directory that goes with its owner.
#include "base/temp_dir.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <fstream>
#include <string>

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

// A child makes one and is killed, which leaves it.
fs::path left_by_a_killed_owner(const std::string& prefix) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe(ends.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto made = TempDir::make(prefix);
    if (!made.ok()) ::_exit(1);
    const auto path = made->path().string();
    if (::write(ends[1], path.data(), path.size()) < 0) ::_exit(1);
    ::raise(SIGKILL);
  }
  ::close(ends[1]);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  std::array<char, 4096> path{};
  const auto size = ::read(ends[0], path.data(), path.size());
  ::close(ends[0]);
  return size > 0 ? fs::path(std::string(path.data(), static_cast<std::size_t>(size))) : fs::path();
}

TEST(TempDir, OfAKilledOwnerIsRemovedByTheNext) {
  const std::string prefix = "cupel-temp-dir-killed-";
  const auto left = left_by_a_killed_owner(prefix);
  ASSERT_TRUE(fs::exists(left));
  std::ofstream(left / "inside") << "x";
  auto alive = TempDir::make(prefix, TempDir::Abandoned::kKeep);
  ASSERT_TRUE(alive.ok());
  EXPECT_TRUE(fs::exists(left)) << "was to be kept";
  // Neither one in use, nor one of another prefix, nor one that has no lock.
  const auto longer = TempDir::make(prefix + "longer-", TempDir::Abandoned::kKeep);
  const auto plain = make_temp_dir(prefix);
  ASSERT_TRUE(longer.ok() && plain.ok());
  const auto next = TempDir::make(prefix);
  ASSERT_TRUE(next.ok());
  EXPECT_FALSE(fs::exists(left));
  EXPECT_TRUE(fs::exists(alive->path()));
  EXPECT_TRUE(fs::exists(longer->path()));
  EXPECT_TRUE(fs::exists(*plain));
  EXPECT_TRUE(fs::exists(next->path()));
  fs::remove(*plain);
  const TempDir moved = *std::move(alive);
  const auto last = TempDir::make(prefix);
  EXPECT_TRUE(fs::exists(moved.path())) << "a lock goes with its directory";
}

}  // namespace
}  // namespace cupel::base
