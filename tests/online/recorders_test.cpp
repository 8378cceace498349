// Several recorders at one socket: their lines become one history with sessions of their own
// and times of one clock.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "base/descriptor.hpp"
#include "base/temp_dir.hpp"
#include "cupel/record.hpp"
#include "formats/formats.hpp"
#include "online/inbox.hpp"
#include "online/merge.hpp"

namespace cupel::online {
namespace {

std::int64_t now() {
  timespec at{};
  clock_gettime(CLOCK_MONOTONIC, &at);
  return static_cast<std::int64_t>(at.tv_sec) * 1'000'000'000 + at.tv_nsec;
}

TEST(OnlineRecorders, TwoAtOneSocketAreOneHistory) {
  auto folder = base::TempDir::make("cupel-test-");
  ASSERT_TRUE(folder.ok());
  const auto address = "unix:" + folder->file("s");
  Inbox inbox(/*follow=*/true);
  ASSERT_TRUE(inbox.add(address).ok());
  const auto record = [&](int first, int count) {
    std::string error;
    auto recorder = Recorder::open(address, {.flush_seconds = 0.01}, error);
    ASSERT_NE(recorder, nullptr) << error;
    auto session = recorder->session();
    for (int i = 0; i < count; ++i) {
      session.begin();
      session.write("x", std::int64_t{first + i});
      session.committed();
    }
    EXPECT_TRUE(recorder->close(error)) << error;
  };
  std::jthread one(record, 100, 50), two(record, 200, 50);
  Merge merge;
  std::string all;
  while (inbox.gone() < 2) {
    const auto read = inbox.poll(std::chrono::milliseconds(20),
                                 [&](std::size_t recorder, std::string_view lines) {
                                   return merge.take(recorder, lines, now(), all);
                                 });
    ASSERT_TRUE(read.ok()) << read.error().to_string();
  }
  EXPECT_FALSE(merge.guessed_clock());
  const auto file = folder->file("history.jsonl");
  std::ofstream(file) << all;
  const auto history = formats::read(file);
  ASSERT_TRUE(history.ok()) << history.error().to_string();
  EXPECT_EQ(history->session_count(), 2u);
  EXPECT_EQ(history->txn_count(), 100u);
  EXPECT_TRUE(history->has_all_times());
}

TEST(OnlineRecorders, AnotherMachinesClockIsSetByItsFirstLine) {
  Merge merge;
  std::string out;
  const auto header = [](const char* machine, int start) {
    return R"({"type":"info","process":"nemesis","f":"cupel.metadata","value":[["clock",")" +
           std::string(machine) + " " + std::to_string(start) + "\"]],\"index\":0}\n";
  };
  const std::string line =
      R"({"type":"ok","process":0,"f":"txn","value":[["w",",\"time\":7",1]],"time":50,"index":1,"error":"e"}
)";
  ASSERT_TRUE(merge.take(0, header("a", 1000), 1100, out).ok());
  ASSERT_TRUE(merge.take(1, header("b", 5), 1300, out).ok());
  ASSERT_TRUE(merge.take(2, header("a", 1200), 1400, out).ok());
  out.clear();
  for (std::size_t recorder = 0; recorder < 3; ++recorder) {
    ASSERT_TRUE(merge.take(recorder, line, 2000, out).ok());
  }
  EXPECT_TRUE(merge.guessed_clock());
  EXPECT_EQ(
      out,
      R"({"type":"ok","process":0,"f":"txn","value":[["w",",\"time\":7",1]],"time":50,"error":"e"}
{"type":"ok","process":1,"f":"txn","value":[["w",",\"time\":7",1]],"time":350,"error":"e"}
{"type":"ok","process":2,"f":"txn","value":[["w",",\"time\":7",1]],"time":250,"error":"e"}
)");
  EXPECT_FALSE(merge.take(0, "{\"type\":\"ok\"}\n", 2000, out).ok());
}

TEST(OnlineInbox, SaysWhatItCannotOpen) {
  Inbox inbox(/*follow=*/false);
  EXPECT_FALSE(inbox.add("/nowhere/at/all").ok());
  EXPECT_FALSE(inbox.add("/tmp").ok());
  EXPECT_FALSE(inbox.add("tcp:8.8.8.8:80").ok());
  EXPECT_FALSE(inbox.add("tcp:x").ok());
  EXPECT_FALSE(inbox.add("unix:").ok());
}

// A watch that was killed leaves the name of its socket, which is no lock; one that runs has it.
TEST(OnlineInbox, TakesTheNameOfASocketWhereNobodyListens) {
  auto folder = base::TempDir::make("cupel-test-");
  ASSERT_TRUE(folder.ok());
  const auto path = folder->file("s");
  {
    sockaddr_un place{};
    place.sun_family = AF_UNIX;
    std::copy(path.begin(), path.end(), std::begin(place.sun_path));
    const base::Descriptor killed(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::bind(killed.get(), reinterpret_cast<const sockaddr*>(&place), sizeof place), 0);
  }
  ASSERT_TRUE(std::filesystem::exists(path));
  Inbox inbox(/*follow=*/true);
  const auto taken = inbox.add("unix:" + path);
  EXPECT_TRUE(taken.ok()) << taken.error().to_string();
  Inbox second(/*follow=*/true);
  EXPECT_FALSE(second.add("unix:" + path).ok());
  EXPECT_TRUE(std::filesystem::exists(path));

  const auto file = folder->file("file");
  std::ofstream(file) << "of somebody\n";
  EXPECT_FALSE(second.add("unix:" + file).ok());
  EXPECT_TRUE(std::filesystem::is_regular_file(file));
}

}  // namespace
}  // namespace cupel::online
