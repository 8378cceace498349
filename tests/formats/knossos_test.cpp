// Jepsen's text: history.txt, and logs of every layout since 2014, where a failed compare-and-set
// of 2014 was seen to fail.
#include "data/formats/knossos.hpp"

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
      {first + "INFO  jepsen.util - 0 :ok",
       "log:2: found \"INFO  jepsen.util - 0 :ok\", expected INFO"},
      {first + "INFO  jepsen.util - 0 :ok :read 1 2", "log:2: found \"INFO"},
      {first + "INFO  jepsen.util - 0 :maybe :read 1", "log:2: found type :maybe"},
      {first + first, "log:2: found a second invocation of process 0"},
      {first + "INFO  jepsen.util - 0 :ok :read [1", "log:2: found \"INFO"},
      {first + "INFO  jepsen.util - 0 :ok :read \\", "log:2: found \"INFO"},
      {first + "INFO  jepsen.util - 0 :ok :read \xff", "log:2: found bytes that are not UTF-8"},
      {first + "INFO  jepsen.util - 0 :ok :read [1 2 ...]", "log:2: found \"INFO"},
      {first + "INFO  jepsen.util - 0 :invoke :read nil :timeout", "log:2: found \"INFO"},
      {first + "INFO  jepsen.util - 0 :info :read nil :xINFO  jepsen.util - 1 :ok :read 3",
       "log:2: found \"INFO"},
      {first + "garbage INFO  jepsen.util - 0 :ok :read 3", "log:2: found \"garbage"},
      {first + "INFO  jepsen.core - 0 INFO  jepsen.util - 0 :ok :read 3", "log:2: found \"INFO"},
      {first + "INFO  jepsen.util - [1] :ok :read 3", "log:2: found process [1]"},
      {first + "INFO  jepsen.core - Relative time begins now",
       "log:2: found the begin of a second"},
      {"0\t:invoke\t:read\tnil\nhello\n", "log:2: found \"hello\", expected PROCESS :TYPE"},
      {"0\t:invoke\t:read\tnil\n0\t:ok\t:read\t[1 2\n",
       "log:2: found \"0\t:ok\t:read\t[1 2\", expected PROCESS"},
      {"0\t:invoke\t:read\tnil\n0\t:ok\t:read\t[1 ...]\n", "log:2: found \"0\t:ok\t:read\t[1 ...]"},
      {"INFO  jepsen.util - 0 :ok :cas 7\n", "log:1: found a cas of 7, expected [old new]"},
      {"INFO  jepsen.util - 0 :ok :add 7\n",
       "log:1: found f=add, which looks like a counter or set"},
  };
  for (const auto& [text, expected] : cases) {
    const auto h = read_knossos(text, "log");
    ASSERT_FALSE(h) << text;
    EXPECT_EQ(h.error().to_string().substr(0, expected.size()), expected);
  }
}

// The console of 2014, the one since 2016, jepsen.log, the console without dates, and the logger's
// name since 2026: the same history. Between the operations stand other lines.
// 1 may have been 12.
TEST(Knossos, ALastLineWithoutItsEndIsLeftOut) {
  const std::string text = "0\t:invoke\t:write\t12\n0\t:ok\t:write\t12\n1\t:invoke\t:read\tnil\n";
  for (const std::string last : {"1\t:ok\t:read\t1", "1\t:ok\t:read\t12", "1\t:ok\t:read\tni"}) {
    const auto h = read_knossos(text + last, "h");
    ASSERT_TRUE(h.ok()) << h.error().to_string();
    EXPECT_NE(h->fact("cut"), "") << last;
    EXPECT_EQ(h->status(history::TxnId(1)), history::TxnStatus::kIndeterminate) << last;
    const auto whole = read_knossos(text + last + "\n", "h");
    ASSERT_TRUE(whole.ok()) << whole.error().to_string();
    EXPECT_EQ(whole->fact("cut"), "");
    EXPECT_EQ(whole->status(history::TxnId(1)), history::TxnStatus::kCommitted);
  }
  // Without invocations, what was read may have been written in the lost part.
  const auto h = read_knossos("0\t:ok\t:write\t12\n1\t:ok\t:read\t1", "h");
  ASSERT_FALSE(h.ok());
  EXPECT_NE(h.error().message.find("a last line without its end"), std::string::npos);
  // The value of a line with an error has its end, wherever the error ends.
  const auto failed = read_knossos("0\t:invoke\t:write\t1\n0\t:fail\t:write\t1\t:abort", "h");
  ASSERT_TRUE(failed) << failed.error().to_string();
  EXPECT_EQ(failed->fact("cut"), "");
  EXPECT_EQ(failed->status(history::TxnId(0)), history::TxnStatus::kAborted);
}

TEST(Knossos, LogsOfEveryLayoutAreTheSame) {
  const std::pair<std::string, std::string> layouts[] = {
      {"INFO  jepsen.util - ", "INFO  jepsen.core - "},
      {"INFO [2017-08-19 06:23:31,518] jepsen worker 0 - jepsen.util ",
       "WARN [2017-08-19 06:23:31,518] jepsen worker 0 - jepsen.core "},
      {"2021-02-26 11:42:48,806{GMT}\tINFO\t[jepsen worker 1] jepsen.util: ",
       "2021-02-26 11:42:48,806{GMT}\tERROR\t[main] jepsen.cli: "},
      {"2026-09-27 10:00:02,000{GMT}\tINFO\t[jepsen worker 1] jepsen.print: ",
       "2026-09-27 10:00:02,000{GMT}\tINFO\t[clojure-agent-send-off-pool-0] jepsen.db: "},
      {"INFO\t[jepsen worker 0] jepsen.util: ", "INFO\t[jepsen test runner] jepsen.core: "},
  };
  for (const auto& [op, other] : layouts) {
    const auto text = other + "Running test:\n {:concurrency 10,\n  :name \"etcd\"}\n" +  //
                      op + "Relative time begins now\n" +                                 //
                      op + "0\t:invoke\t:write\t3\n" +                                    //
                      op + ":nemesis\t:info\t:start\tnil\n" +                             //
                      other + "Process 0 indeterminate\njava.lang.Exception: :ok\n\tat a.b(c)\n" +
                      op + "1\t:invoke\t:read\tnil\n" +                         //
                      op + "0\t:info\t:write\t3\t:timed-out; and [ more\n" +    //
                      op + "1\t:ok\t:read\t3\n" +                               //
                      op + "1\t:invoke\t:cas\t[3 4]\n" +                        //
                      op + "1\t:fail\t:cas\t[3 4]\t[:refused \"no node\"]\n" +  //
                      other + "Everything looks good!\n";
    EXPECT_NE(recognize_knossos(text), Match::kNo) << op;
    const auto h = read_knossos(text, "log");
    ASSERT_TRUE(h) << op << h.error().to_string();
    EXPECT_EQ(text_of(*h, {.labels = false}),
              "0: indeterminate w(register,3)\n1: r(register,3) | aborted cas(register,3->4)\n")
        << op;
    EXPECT_TRUE(h->has_all_times());
  }
}

// Only in a log of 2014, and without an error, a failed cas is known to have compared.
TEST(Knossos, AFailedCasOfALaterLogIsAborted) {
  for (const std::string op :
       {"", "INFO [2017-08-19 06:23:31,518] jepsen worker 0 - jepsen.util "}) {
    const auto h =
        read_knossos(op + "0\t:invoke\t:cas\t[1 4]\n" + op + "0\t:fail\t:cas\t[1 4]\n", "log");
    ASSERT_TRUE(h) << h.error().to_string();
    EXPECT_EQ(text_of(*h, {.labels = false}), "0: aborted cas(register,1->4)\n");
  }
}

TEST(Knossos, HistoryTextHasErrorsOfSeveralLines) {
  const auto h = read_knossos(
      "0\t:invoke\t:txn\t[[:r 9 nil]]\n"
      "0\t:ok\t:txn\t[[:r 9 nil]]\n"
      "0\t:invoke\t:txn\t[[:append 7 1]]\n"
      "0\t:info\t:txn\t[[:append 7 1]]\t:connection-closed\n"
      ":nemesis\t:info\t:kill\t{\"node0\" nil}\n"
      "1\t:invoke\t:txn\t[[:r 7 nil]]\n"
      "1\t:ok\t:txn\t[[:r 7 [1]]]\n"
      "1\t:invoke\t:txn\t[[:append 9 2]]\n"
      "1\t:fail\t:txn\t[[:append 9 2]]\tERROR: could not serialize\n"
      "  Detail: {unbalanced\n\n  Hint: try again\n"
      "2\t:invoke\t:txn\t[[:r 9 nil]]\n",
      "history.txt");
  ASSERT_TRUE(h) << h.error().to_string();
  EXPECT_EQ(text_of(*h, {.labels = false}),
            "0: list(9,[]) | indeterminate append(7,1)\n1: list(7,[1]) | aborted append(9,2)\n"
            "2: indeterminate list(9,?)\n");
  EXPECT_EQ(h->metadata().at("times"), "line order");
}

TEST(Knossos, MicroOperationsMayHaveLongNames) {
  const auto h = read_knossos(
      "0\t:invoke\t:txn\t[[:write :x 1] [:read :y nil]]\n"
      "0\t:ok\t:txn\t[[:write :x 1] [:read :y nil]]\n",
      "history.txt");
  ASSERT_TRUE(h) << h.error().to_string();
  EXPECT_EQ(text_of(*h, {.labels = false}), "0: w(:x,1) r(:y,null)\n");
}

TEST(Knossos, AConsoleMayShowTextBeforeTheLog) {
  const std::string text =
      "Reflection warning, foo.clj:1\n"
      "Could not find artifact {:x 1}\n"
      "2024-03-01 10:00:00,000{GMT}\tINFO\t[main] jepsen.core: Test version abc\n"
      "2024-03-01 10:00:01,000{GMT}\tINFO\t[jepsen worker 0] jepsen.util: 0\t:invoke\t:write\t3\n"
      "2024-03-01 10:00:01,500{GMT}\tINFO\t[jepsen worker 0] jepsen.util: 0\t:ok\t:write\t3\n";
  EXPECT_NE(recognize_knossos(text), Match::kNo);
  const auto h = read_knossos(text, "log");
  ASSERT_TRUE(h) << h.error().to_string();
  EXPECT_EQ(text_of(*h, {.times = false, .labels = false}), "0: w(register,3)\n");
  // But a line of an operation is not passed over, nor a history without a log.
  for (const char* other : {"x 0 :invoke :write 3\n", "some words\n0\t:ok\t:write\t3\n"}) {
    const auto refused = read_knossos(other + text, "log");
    ASSERT_FALSE(refused) << other;
    EXPECT_EQ(refused.error().to_string().find("log:1: found \""), 0U)
        << refused.error().to_string();
  }
  EXPECT_EQ(recognize_knossos("some words\nand more\n"), Match::kNo);
}

TEST(Knossos, ASecondRunInALogIsRefused) {
  const auto line = [](const char* date, const char* type) {
    return std::string(date) + "{GMT}\tINFO\t[jepsen worker 0] jepsen.util: 0\t:" + type +
           "\t:write\t3\n";
  };
  const auto run = [&](const char* from, const char* to) {
    return line(from, "invoke") + line(to, "ok");
  };
  const auto first = run("2024-03-01 10:00:00,000", "2024-03-01 10:00:01,000");
  const auto before = run("2024-02-29 23:00:00,000", "2024-02-29 23:00:01,000");
  EXPECT_TRUE(read_knossos(before + first, "log"));
  const auto refused = read_knossos(first + before, "log");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().to_string(),
            "log:3: found a time that is before those of the lines above: another run begins "
            "here. Cut the log into its runs");
  // Summer time ends.
  EXPECT_TRUE(read_knossos(run("2024-10-27 02:59:59,000", "2024-10-27 02:00:01,000"), "log"));
}

TEST(Knossos, LooksLikeOnlyItself) {
  EXPECT_NE(recognize_knossos(":nemesis\t:info\t:start\tnil\n"), Match::kNo);
  EXPECT_EQ(recognize_knossos("INFO  org.postgresql - 0 :invoke :read nil\n"), Match::kNo);
  EXPECT_EQ(recognize_knossos("0 INFO something\n"), Match::kNo);
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
