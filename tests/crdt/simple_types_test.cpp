// Sets, registers and counters of few axioms: of each, a history with known deliveries that is
// satisfied, the same with one result changed, and the sentence about it.
#include <gtest/gtest.h>

#include "crdt/analysis/analyze.hpp"
#include "crdt/io/certificate.hpp"
#include "crdt/io/reader.hpp"
#include "crdt/verify/verify.hpp"

namespace cupel::crdt {
namespace {

// The explanation, empty if it is satisfied; the certificate is checked.
std::string explained(const std::string& type, const std::string& text) {
  const auto history = read(text, "h", *type_of(type));
  EXPECT_TRUE(history.ok()) << (history.ok() ? "" : history.error().to_string());
  const auto visibility = Visibility::of(*history).value();
  base::Budget budget;
  const auto found = analyze(*history, {.visibility = &visibility}, budget);
  EXPECT_NE(found.decision.verdict, Verdict::kUnknown);
  const auto verified = verify(*history, certificate_of(*history, found));
  EXPECT_EQ(verified.status, CertificateStatus::kValid) << verified.reason;
  return found.explanation ? found.explanation->name + ": " + found.explanation->summary : "";
}

std::string read_returns(const std::string& value) {
  return R"({"process":1,"f":"read","value":)" + value + "}\n";
}

const char* const kReceived = R"({"process":1,"f":"deliver","value":["0:0","0:1"]}
)";

TEST(SimpleTypes, ATwoPhaseSetDoesNotTakeAnElementBack) {
  const std::string lines = R"({"process":0,"f":"remove","value":"a"}
{"process":0,"f":"add","value":"a"}
)" + std::string(kReceived);
  EXPECT_EQ(explained("2p-set", lines + read_returns("[]")), "");
  EXPECT_EQ(explained("or-set", lines + read_returns(R"(["a"])")), "");
  EXPECT_EQ(
      explained("2p-set", lines + read_returns(R"(["a"])")),
      "lost-remove: line 4 (replica 1) shows \"a\"; it had received remove(\"a\") of replica 0 "
      "(line 1)");
}

// An add that had not seen the remove may come before or after it, but on all replicas alike.
TEST(SimpleTypes, ALastWriterWinsSetHasOneOrderOfTheUpdatesOfAnElement) {
  const std::string lines = R"({"process":0,"f":"add","value":"a"}
{"process":0,"f":"remove","value":"a"}
{"process":2,"f":"add","value":"a"}
)";
  const auto received = [](const char* process, const char* ids, const char* value) {
    return std::string(R"({"process":)") + process + R"(,"f":"deliver","value":)" + ids + "}\n" +
           R"({"process":)" + process + R"(,"f":"read","value":)" + value + "}\n";
  };
  const auto one = [&](const char* value) {
    return received("1", R"(["0:0","0:1","2:0"])", value);
  };
  const auto other = [&](const char* value) {
    return received("3", R"(["0:0","0:1","2:0"])", value);
  };
  for (const char* const value : {"[]", R"(["a"])"})
    EXPECT_EQ(explained("lww-set", lines + one(value) + other(value)), "");
  EXPECT_EQ(explained("lww-set", lines + one("[]") + other(R"(["a"])")),
            "order-disagreement: no order of the adds and removes of \"a\" fits the reads");
  EXPECT_EQ(explained("lww-set", lines + received("1", R"(["0:0","0:1"])", R"(["a"])")),
            "lost-remove: line 5 (replica 1) shows \"a\"; it had received remove(\"a\") of "
            "replica 0 (line 2), which had seen every add that it had received");
  EXPECT_EQ(explained("lww-set", lines + received("1", R"(["2:0"])", "[]")),
            "lost-add: line 5 (replica 1) does not show \"a\"; it had received add(\"a\") of "
            "replica 2 (line 3) and no remove");
  EXPECT_EQ(explained("lww-set", lines + received("1", R"([])", R"(["a"])")),
            "not-received: line 5 (replica 1) shows \"a\"; it had not received add(\"a\") of "
            "replica 0 (line 1)");
}

// Which of several adds came last is open, until no choice is left: the elements of reads that
// contradict each other only together.
TEST(SimpleTypes, ALastWriterWinsSetTriesEachAddAsTheLast) {
  const std::string lines = R"({"process":0,"f":"add","value":"a"}
{"process":1,"f":"add","value":"a"}
{"process":2,"f":"remove","value":"a"}
{"process":3,"f":"version","value":["0:0","1:0","2:0"]}
{"process":3,"f":"read","value":["a"]}
{"process":4,"f":"version","value":["0:0","2:0"]}
{"process":4,"f":"read","value":[]}
)";
  EXPECT_EQ(explained("lww-set", lines), "");
  EXPECT_EQ(explained("lww-set", lines + R"({"process":5,"f":"version","value":["1:0","2:0"]}
{"process":5,"f":"contains","value":["a",false]}
)"),
            "order-disagreement: no order of the updates of one element fits all reads: \"a\"");
}

TEST(SimpleTypes, AGrowOnlySetHasWhatArrived) {
  const std::string lines = R"({"process":0,"f":"add","value":"a"}
{"process":0,"f":"add","value":"b"}
)" + std::string(kReceived);
  EXPECT_EQ(explained("g-set", lines + read_returns(R"(["a","b"])")), "");
  EXPECT_EQ(
      explained("g-set", lines + read_returns(R"(["a"])")),
      "lost-add: line 4 (replica 1) does not show \"b\"; it had received add(\"b\") of replica "
      "0 (line 2)");
  EXPECT_FALSE(read(R"({"process":0,"f":"remove","value":"a"})", "h", {Type::kGrowOnlySet}).ok());
}

// Of two concurrent writes either may be returned, by two reads in a row, too.
TEST(SimpleTypes, AnAnyMaximalRegisterReturnsWhatNothingOverwrote) {
  const std::string lines = R"({"process":0,"f":"write","value":1}
{"process":0,"f":"write","value":2}
{"process":2,"f":"write","value":3}
{"process":1,"f":"deliver","value":["0:0","0:1","2:0"]}
)";
  EXPECT_EQ(explained("any-maximal-register", lines + read_returns("2") + read_returns("3")), "");
  EXPECT_EQ(
      explained("any-maximal-register", lines + read_returns("2") + read_returns("1")),
      "stale-read: line 6 (replica 1) returned 1; it had received write(2) of replica 0 (line "
      "2), which had overwritten it");
  EXPECT_EQ(
      explained("any-maximal-register", lines + read_returns("null")),
      "lost-write: line 5 (replica 1) does not return 2; it had received write(2) of replica 0 "
      "(line 2), and nothing that had overwritten it");
}

TEST(SimpleTypes, AMaxRegisterReturnsTheGreatestNumber) {
  const std::string lines = R"({"process":0,"f":"write","value":10}
{"process":0,"f":"write","value":9}
)" + std::string(kReceived);
  EXPECT_EQ(explained("max-register", lines + read_returns("10")), "");
  EXPECT_EQ(
      explained("max-register", lines + read_returns("9")),
      "stale-read: line 4 (replica 1) returned 9; it had received write(10) of replica 0 (line "
      "1), which is greater");
  EXPECT_EQ(explained("max-register", lines + read_returns("11")),
            "thin-air: line 4 (replica 1) returned 11, which nobody wrote");
  for (const char* f : {"write", "read"}) {
    for (const char* value : {"\"a\"", "1.5", "[1]", "9223372036854775808"}) {
      const auto history =
          read(std::string("{\"process\":0,\"f\":\"") + f + "\",\"value\":" + value + "}", "h",
               {Type::kMaxRegister});
      ASSERT_FALSE(history.ok()) << f << value;
      EXPECT_NE(history.error().message.find("a whole number below 2^63"), std::string::npos);
    }
  }
  EXPECT_TRUE(read(R"({"process":0,"f":"read","value":null})", "h", {Type::kMaxRegister}).ok());
}

TEST(SimpleTypes, AResetUndoesOnlyWhatItHadSeen) {
  const std::string lines = R"({"process":0,"f":"inc","value":4}
{"process":0,"f":"reset"}
{"process":2,"f":"inc","value":2}
{"process":1,"f":"deliver","value":["0:0","0:1","2:0"]}
)";
  EXPECT_EQ(explained("resettable-counter", lines + read_returns("2")), "");
  EXPECT_EQ(
      explained("resettable-counter", lines + read_returns("0")),
      "lost-increment: line 5 (replica 1) returned 0; what it had received and no reset undoes "
      "adds up to 2; it would be right without inc(2) of replica 2 (line 3)");
  EXPECT_EQ(explained("resettable-counter", lines + read_returns("6")),
            "lost-reset: line 5 (replica 1) returned 6; what it had received and no reset undoes "
            "adds up to 2; it would be right if inc(4) of replica 0 (line 1) were not undone");
  EXPECT_FALSE(read(R"({"process":0,"f":"reset"})", "h", {Type::kCounter}).ok());
}

History resettable_counters(int keys, int updates, const std::string& last) {
  std::string text;
  for (int key = 0; key < keys; ++key) {
    const auto at = R"(,"key":)" + std::to_string(key) + R"(,"f":)";
    for (int u = 0; u < updates; ++u) {
      const auto line = R"({"process":)" + std::to_string(u % 3) + at;
      text += line + (u % 7 == 6   ? "\"reset\"}\n"
                      : u % 5 == 4 ? "\"dec\"}\n"
                                   : "\"inc\",\"value\":2}\n");
    }
    for (int r = 0; r < 3; ++r)
      text += R"({"process":)" + std::to_string(r) + at + R"("read","value":2})" + "\n";
  }
  return read(text + last, "h", {Type::kResettableCounter}).value();
}

TEST(SimpleTypes, AResettableCounterIsWithinItsSumsWhateverIsReset) {
  const auto verdict = [](int value) {
    const auto history = resettable_counters(
        1, 210, R"({"process":1,"key":0,"f":"read","value":)" + std::to_string(value) + "}\n");
    base::Budget budget;
    const auto found = analyze(history, {}, budget);
    if (found.decision.verdict == Verdict::kViolated) {
      EXPECT_EQ(verify(history, certificate_of(history, found)).status, CertificateStatus::kValid);
    }
    return found.decision.verdict;
  };
  // 144 increments by 2, 36 decrements by 1, 30 resets.
  EXPECT_EQ(verdict(288), Verdict::kUnknown);
  EXPECT_EQ(verdict(289), Verdict::kViolated);
  EXPECT_EQ(verdict(-36), Verdict::kUnknown);
  EXPECT_EQ(verdict(-37), Verdict::kViolated);
}

// What one counter takes is not missing from another.
TEST(SimpleTypes, ResettableCountersAreDecidedEachForItself) {
  base::Budget budget;
  EXPECT_EQ(decide(resettable_counters(40, 12, ""), {}, budget).verdict, Verdict::kSatisfied);
}

// Of a counter that lost much, two reads with little between them show it.
TEST(SimpleTypes, ALostIncrementIsShownByTheReadsAroundIt) {
  std::string lines;
  for (int i = 0; i < 20; ++i)
    lines += R"({"process":0,"f":"inc","value":)" + std::to_string(i + 1) + "}\n";
  lines += R"({"process":1,"f":"deliver","value":{"0":12}}
{"process":1,"f":"read","value":70}
{"process":1,"f":"deliver","value":{"0":13}}
{"process":1,"f":"read","value":70}
)";
  EXPECT_EQ(explained("counter", lines),
            "lost-increment: line 24 (replica 1) returned 70; line 22 (replica 1) returned 70, and "
            "what it had received since changes it by 13; it would be right without inc(13) of "
            "replica 0 (line 13)");
}

TEST(SimpleTypes, ABoundedCounterIsNeverBelowZero) {
  const std::string lines = R"({"process":0,"f":"inc","value":2}
{"process":0,"f":"dec","value":VALUE}
)" + std::string(kReceived);
  const auto taking = [&](const std::string& amount) {
    auto text = lines;
    return text.replace(text.find("VALUE"), 5, amount);
  };
  EXPECT_EQ(explained("bounded-counter", taking("2") + read_returns("0")), "");
  EXPECT_EQ(explained("counter", taking("3") + read_returns("-1")), "");
  EXPECT_EQ(explained("bounded-counter", taking("3") + read_returns("-1")),
            "below-zero: line 4 (replica 1) returned -1; what it had received adds up to -1");
}

}  // namespace
}  // namespace cupel::crdt
