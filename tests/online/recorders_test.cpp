// Several recorders at one socket: their lines become one history with sessions of their own
// and times of one clock.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "base/descriptor.hpp"
#include "base/temp_dir.hpp"
#include "cupel/record.hpp"
#include "data/formats/formats.hpp"
#include "data/formats/input.hpp"
#include "data/formats/recording.hpp"
#include "engine/online/inbox.hpp"
#include "engine/online/merge.hpp"
#include "support/polling.hpp"

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

  // Spelled by others: with blanks, the members in any order.
  out.clear();
  ASSERT_TRUE(
      merge
          .take(2,
                "{\"index\": 3, \"time\": 50, \"value\": [[\"w\", \"\\\"time\\\": 7\", 1]], "
                "\"f\": \"txn\", \"type\": \"ok\", \"process\" : 0 }\n",
                2000, out)
          .ok());
  EXPECT_EQ(out,
            "{ \"time\": 250, \"value\": [[\"w\", \"\\\"time\\\": 7\", 1]], \"f\": \"txn\", "
            "\"type\": \"ok\", \"process\" : 2 }\n");
  out.clear();
  ASSERT_TRUE(merge.take(2, "{\"process\":9,\"time\":50,\"process\":0}\n", 2000, out).ok());
  EXPECT_EQ(out, "{\"process\":9,\"time\":250,\"process\":2}\n") << "the last one counts";
  EXPECT_FALSE(merge.take(2, "{\"process\":0,\"time\":1.5}\n", 2000, out).ok());
  EXPECT_FALSE(merge.take(2, "{\"process\":0,\"time\":9223372036854775807}\n", 2000, out).ok())
      << "no time of the first one's clock";
  EXPECT_FALSE(merge.take(2, "{\"process\":0,\"time\":1\n", 2000, out).ok()) << "cut";

  // Times in files stand as they are, where nothing says that they are of one clock.
  Merge files(/*files=*/true);
  out.clear();
  ASSERT_TRUE(files.take(0, line, 1000, out).ok());
  EXPECT_FALSE(files.guessed_clock());
  ASSERT_TRUE(files.take(1, header("b", 5) + line, 2000, out).ok());
  EXPECT_TRUE(files.guessed_clock());
  EXPECT_NE(out.find("\"time\":50,"), out.rfind("\"time\":50,")) << out;
}

// --- a recording of several files ---

class Rotating : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = base::TempDir::make("cupel-test-");
    ASSERT_TRUE(made.ok());
    folder_.emplace(*std::move(made));
    path_ = folder_->file("recording");
  }
  [[nodiscard]] std::unique_ptr<Recorder> open(std::uint64_t bytes) const {
    std::string error;
    auto recorder = Recorder::open(path_, {.flush_seconds = 0.002, .rotate_bytes = bytes}, error);
    EXPECT_NE(recorder, nullptr) << error;
    return recorder;
  }
  static void record(Recorder& recorder, std::int64_t transactions) {
    auto session = recorder.session();
    for (std::int64_t i = 0; i < transactions; ++i) {
      session.begin();
      session.write("x", i);
      session.committed();
      if (i % 50 == 0) test::back_off(std::chrono::milliseconds(1));
    }
    std::string error;
    EXPECT_TRUE(recorder.close(error)) << error;
  }
  // All lines from `byte` on.
  std::string read_from(std::uint64_t byte) const {
    Inbox inbox(/*follow=*/false);
    const auto opened = byte == 0 ? inbox.add(path_) : inbox.add_from(path_, byte);
    EXPECT_TRUE(opened.ok()) << opened.error().to_string();
    std::string all;
    while (opened.ok() && !inbox.ended()) {
      const auto read =
          inbox.poll(std::chrono::milliseconds(0), [&](std::size_t, std::string_view lines) {
            all += lines;
            return base::Status(base::Ok{});
          });
      EXPECT_TRUE(read.ok()) << read.error().to_string();
      if (!read.ok()) break;
    }
    return all;
  }
  [[nodiscard]] std::size_t count(std::string_view ending) const {
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      files += entry.path().string().ends_with(ending) ? 1 : 0;
    }
    return files;
  }

  std::optional<base::TempDir> folder_;
  std::string path_;
};

TEST_F(Rotating, IsFollowedAcrossItsFilesWhileItGrows) {
  auto recorder = open(8192);
  Inbox inbox(/*follow=*/true);
  ASSERT_TRUE(inbox.add(path_).ok());
  std::jthread writer([&] { record(*recorder, 4000); });
  std::string followed;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (std::count(followed.begin(), followed.end(), '\n') < 8000 &&
         std::chrono::steady_clock::now() < end) {
    const auto read =
        inbox.poll(std::chrono::milliseconds(1), [&](std::size_t, std::string_view lines) {
          followed += lines;
          return base::Status(base::Ok{});
        });
    ASSERT_TRUE(read.ok()) << read.error().to_string();
  }
  writer.join();
  EXPECT_EQ(count(".jsonl"), 1u) << "the index alone is not compressed at the end";
  EXPECT_GT(count(".jsonl.zst"), 2u);
  EXPECT_EQ(read_from(0), followed);
  const auto history = formats::read(path_);
  ASSERT_TRUE(history.ok()) << history.error().to_string();
  EXPECT_EQ(history->txn_count(), 4000u);
}

TEST_F(Rotating, IsReadFromAnyLine) {
  record(*open(8192), 500);
  const auto all = read_from(0);
  std::size_t line = 0;
  for (std::size_t at = 0; at < all.size(); at = all.find('\n', at) + 1) {
    if (line++ % 7 != 0) continue;
    ASSERT_EQ(read_from(at), all.substr(at)) << "byte " << at;
  }
  EXPECT_EQ(read_from(all.size()), "");
  // Without the index it is only slower.
  std::filesystem::remove(std::filesystem::path(path_) / "history.index.jsonl");
  EXPECT_EQ(read_from(all.size() / 2), all.substr(all.size() / 2));
}

// A recorder that was killed leaves its last files as they were written.
TEST_F(Rotating, SomeFilesMayNotBeCompressed) {
  record(*open(8192), 3000);
  const auto all = read_from(0);
  const auto folder = std::filesystem::path(path_);
  const auto last = count(".jsonl.zst");
  ASSERT_GE(last, 3u);
  const auto name = [&](std::size_t number, const char* ending) {
    char text[64];
    std::snprintf(text, sizeof text, "history.%05zu.jsonl%s", number, ending);
    return folder / text;
  };
  const auto head = formats::recorded_head(path_, 100);
  ASSERT_TRUE(head.ok());
  EXPECT_EQ(*head, all.substr(0, 100));
  for (const auto number : {std::size_t{1}, last - 1, last}) {
    const auto file = formats::MappedFile::open(name(number, ".zst").string());
    ASSERT_TRUE(file.ok());
    std::ofstream(name(number, "")) << file->bytes();
    if (number != last) std::filesystem::remove(name(number, ".zst"));
  }
  EXPECT_EQ(read_from(0), all);
  EXPECT_EQ(read_from(all.size() - 40), all.substr(all.size() - 40));
  EXPECT_EQ(*formats::recorded_head(path_, 100), all.substr(0, 100));
  std::filesystem::remove(name(2, ".zst"));
  std::filesystem::remove(name(2, ""));
  const auto gap = formats::read(path_);
  ASSERT_FALSE(gap.ok());
  EXPECT_NE(gap.error().message.find("without number 2"), std::string::npos) << gap.error().message;
}

TEST_F(Rotating, TakesNoOthersPlace) {
  record(*open(8192), 10);
  std::string error;
  EXPECT_EQ(Recorder::open(path_, {.rotate_bytes = 8192}, error), nullptr);
  EXPECT_NE(error.find("is there already"), std::string::npos) << error;
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
// A writer at standard input that pauses does not keep the watch from looking.
TEST(OnlineInbox, DoesNotWaitForStandardInput) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const base::Descriptor before(::dup(STDIN_FILENO)), from(ends[0]);
  base::Descriptor to(ends[1]);
  ASSERT_GE(::dup2(from.get(), STDIN_FILENO), 0);
  Inbox inbox(/*follow=*/true);
  const auto opened = inbox.add("-");
  ::dup2(before.get(), STDIN_FILENO);
  ASSERT_TRUE(opened.ok());
  std::string lines;
  const auto poll = [&] {
    return *inbox.poll(std::chrono::milliseconds(0), [&](std::size_t, std::string_view taken) {
      lines += taken;
      return base::Status(base::Ok{});
    });
  };
  EXPECT_EQ(poll(), 0u);
  ASSERT_EQ(::write(to.get(), "one\nt", 5), 5);
  EXPECT_EQ(poll(), 5u);
  EXPECT_EQ(lines, "one\n");
  EXPECT_EQ(poll(), 0u);  // this waited until the next byte
  EXPECT_FALSE(inbox.ended());
  ASSERT_EQ(::write(to.get(), "wo\n", 3), 3);
  to.reset();
  EXPECT_EQ(poll(), 3u);
  EXPECT_EQ(poll(), 0u);
  EXPECT_TRUE(inbox.ended());
  EXPECT_EQ(lines, "one\ntwo\n");
}

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
