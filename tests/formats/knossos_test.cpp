// Knossos logs: one register, a failed compare-and-set seen to fail.
#include "formats/knossos.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "formats/files.hpp"
#include "formats/history_text.hpp"

namespace cupel::formats {
namespace {

namespace fs = std::filesystem;

TEST(Knossos, ReadsTabsAndSpacesAndTakesLinesForTimes) {
  const auto h = read_knossos(
      "INFO  jepsen.util - 0\t:invoke\t:read\tnil\n"
      "INFO  jepsen.util - 1   :invoke :write  4\n"
      "INFO  jepsen.util - 0   :ok :read nil\r\n\n"
      "INFO  jepsen.util - 1   :info   :write  :timed-out\n"
      "INFO  jepsen.util - 0   :invoke :cas [4 1]\n"
      "INFO  jepsen.util - 0   :ok :cas [4 1]\n"
      "INFO  jepsen.util - 0   :invoke :read nil\n"
      "INFO  jepsen.util - 0   :fail :read :timed-out\n",
      "log");
  ASSERT_TRUE(h) << h.error().to_string();
  EXPECT_EQ(
      text_of(*h, {.times = true}),
      "0: #2 0..2 r(register,null) | #5 4..5 cas(register,4->1) | aborted #7 6..7 r(register,?)\n"
      "1: indeterminate #3 1..3 w(register,4)\n");
  EXPECT_EQ(h->metadata().at("format"), "knossos");
  EXPECT_EQ(h->metadata().at("times"), "line order");
  EXPECT_TRUE(h->has_all_times());
}

TEST(Knossos, AFailedCasIsAnObservationButATimeoutIsNot) {
  const auto h = read_knossos(
      "INFO  jepsen.util - 0 :invoke :cas [1 4]\n"
      "INFO  jepsen.util - 0 :fail :cas [1 4]\n"
      "INFO  jepsen.util - 0 :invoke :cas [1 5]\n"
      "INFO  jepsen.util - 0 :info :cas :timed-out\n",
      "log");
  ASSERT_TRUE(h) << h.error().to_string();
  EXPECT_EQ(text_of(*h, {.labels = false}),
            "0: cas(register,1->4,failed) | indeterminate cas(register,1->5)\n");
}

TEST(Knossos, ErrorsNameTheLine) {
  const std::string first = "INFO  jepsen.util - 0 :invoke :read nil\n";
  const std::pair<std::string, std::string> cases[] = {
      {"", "log: found no operations"},
      {first + "WARN something else", "log:2: found \"WARN something else\", expected INFO"},
      {first + "INFO  jepsen.util - 0 :ok",
       "log:2: found \"INFO  jepsen.util - 0 :ok\", expected INFO"},
      {first + "INFO  jepsen.util - 0 :ok :read 1 2", "log:2: found \"INFO"},
      {first + "INFO  jepsen.util - 0 :maybe :read 1", "log:2: found type :maybe"},
      {first + first, "log:2: found a second invocation of process 0"},
      {first + "INFO  jepsen.util - 0 :ok :read [1", "log:2: found \"INFO"},
      {first + "INFO  jepsen.util - 0 :ok :read \\", "log:2: found \"INFO"},
      {first + "INFO  jepsen.util - 0 :ok :read \xff", "log:2: found bytes that are not UTF-8"},
      {"INFO  jepsen.util - 0 :ok :cas 7", "log:1: found a cas of 7, expected [old new]"},
      {"INFO  jepsen.util - 0 :ok :add 7", "log:1: found f=add, which looks like a counter or set"},
  };
  for (const auto& [text, expected] : cases) {
    const auto h = read_knossos(text, "log");
    ASSERT_FALSE(h) << text;
    EXPECT_EQ(h.error().to_string().substr(0, expected.size()), expected);
  }
}

TEST(Knossos, LooksLikeOnlyItself) {
  EXPECT_NE(recognize_knossos("\nINFO  jepsen.util - 0\t:invoke\t:read\tnil\n"), Match::kNo);
  EXPECT_EQ(recognize_knossos("{:type :ok}"), Match::kNo);
  EXPECT_EQ(recognize_knossos(""), Match::kNo);
}

TEST(Knossos, EverySharedLogIsRead) {
  const fs::path shared = recorded("etcd-registers");
  if (!fs::exists(shared)) GTEST_SKIP() << "no shared histories here";
  for (const auto& entry : fs::directory_iterator(shared)) {
    std::ifstream in(entry.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    const auto h = read_knossos(bytes, entry.path());
    if (bytes.empty()) {
      EXPECT_FALSE(h);
      continue;
    }
    EXPECT_NE(recognize_knossos(std::string_view(bytes).substr(0, 4096)), Match::kNo);
    ASSERT_TRUE(h) << h.error().to_string();
    EXPECT_TRUE(h->has_all_times());
  }
}

}  // namespace
}  // namespace cupel::formats
