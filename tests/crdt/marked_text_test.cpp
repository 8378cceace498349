// Text with marks: which characters a mark covers, which mark wins, and what is left open; the
// words of what is wrong; bad input; certificates. That the decision is what the axioms say is in
// context_test.cpp.
#include <gtest/gtest.h>

#include "crdt/io/reader.hpp"
#include "crdt/workload/generate.hpp"
#include "finding.hpp"

namespace cupel::crdt {
namespace {

std::string found(const std::string& text) {
  return finding(text, Type::kMarkedText);
}

// Replica 0 makes the text abcd; the others have it.
const std::string kText = R"({"process":0,"f":"insert","value":[null,"abcd"]}
{"process":1,"f":"deliver","value":["0:0"]}
{"process":2,"f":"deliver","value":["0:0"]}
)";
const std::string kBold = kText + R"({"process":0,"f":"mark","value":["bc","bold",true]}
)";
std::string read0(const std::string& runs) {
  return R"({"process":0,"f":"read","value":)" + runs + "}\n";
}

TEST(MarkedText, AMarkCoversItsRange) {
  EXPECT_EQ(found(kBold + read0(R"([["a"],["bc",{"bold":true}],["d"]])")), "satisfied");
  EXPECT_EQ(found(kBold + read0(R"([["a",{}],["b",{"bold":true}],["c",{"bold":true}],["d"]])")),
            "satisfied");
  EXPECT_EQ(found(kBold + read0(R"([["ab"],["c",{"bold":true}],["d"]])")),
            "lost-mark: line 5 (replica 0) shows \"b\" without \"bold\"; it had received "
            "mark(\"bc\", \"bold\", true) of replica 0 (line 4), and no later mark that covers it");
  EXPECT_EQ(found(kBold + read0(R"([["a"],["bcd",{"bold":true}]])")),
            "mark-outside-range: line 5 (replica 0) shows \"d\" with \"bold\" = true; "
            "mark(\"bc\", \"bold\", true) of replica 0 (line 4), which it had received, does not "
            "cover it");
  EXPECT_EQ(found(kBold + read0(R"([["a"],["bc",{"bold":true,"color":"red"}],["d"]])")),
            "thin-air: line 5 (replica 0) shows \"b\" with \"color\" = \"red\", which nobody gave "
            "it");
}

TEST(MarkedText, AnotherReplicaShowsAMarkOnceItHasIt) {
  EXPECT_EQ(found(kBold + R"({"process":1,"f":"read","value":[["abcd"]]}
{"process":1,"f":"deliver","value":["0:1"]}
{"process":1,"f":"read","value":[["a"],["bc",{"bold":true}],["d"]]})"),
            "satisfied");
  EXPECT_EQ(
      found(kBold + R"({"process":1,"f":"read","value":[["a"],["bc",{"bold":true}],["d"]]})"),
      "not-received: line 5 (replica 1) shows \"b\" with \"bold\" = true; it had not received "
      "mark(\"bc\", \"bold\", true) of replica 0 (line 4)");
}

// Concurrently inserted into the range: covered. At its edges: as the library likes.
TEST(MarkedText, WhatIsInsertedIntoARangeIsCovered) {
  const auto inside = kBold + R"({"process":1,"f":"insert","value":["b","x"]}
{"process":0,"f":"deliver","value":["1:0"]}
)";
  EXPECT_EQ(found(inside + read0(R"([["a"],["bxc",{"bold":true}],["d"]])")), "satisfied");
  EXPECT_EQ(found(inside + read0(R"([["a"],["b",{"bold":true}],["x"],["c",{"bold":true}],["d"]])")),
            "lost-mark: line 7 (replica 0) shows \"x\" without \"bold\"; it had received "
            "mark(\"bc\", \"bold\", true) of replica 0 (line 4), and no later mark that covers it");
  for (const std::string before : {"c", "a"}) {
    const auto edge = kBold + R"({"process":1,"f":"insert","value":[")" + before + R"(","x"]}
{"process":0,"f":"deliver","value":["1:0"]}
)";
    const bool left = before == "a";
    EXPECT_EQ(found(edge + read0(left ? R"([["a"],["xbc",{"bold":true}],["d"]])"
                                      : R"([["a"],["bcx",{"bold":true}],["d"]])")),
              "satisfied");
    EXPECT_EQ(found(edge + read0(left ? R"([["ax"],["bc",{"bold":true}],["d"]])"
                                      : R"([["a"],["bc",{"bold":true}],["xd"]])")),
              "satisfied");
  }
  const auto away = kBold + R"({"process":1,"f":"insert","value":["d","x"]}
{"process":0,"f":"deliver","value":["1:0"]}
)";
  EXPECT_EQ(found(away + read0(R"([["a"],["bc",{"bold":true}],["d"],["x",{"bold":true}]])")),
            "mark-outside-range: line 7 (replica 0) shows \"x\" with \"bold\" = true; "
            "mark(\"bc\", \"bold\", true) of replica 0 (line 4), which it had received, does not "
            "cover it");
}

// What is shown between two characters that are shown, whatever of the range was deleted.
TEST(MarkedText, OfADeletedRangeNothingIsSaid) {
  const auto text = kBold + R"({"process":1,"f":"insert","value":["b","x"]}
{"process":0,"f":"deliver","value":["1:0"]}
{"process":0,"f":"delete","value":"bc"}
)";
  EXPECT_EQ(found(text + read0(R"([["axd"]])")), "satisfied");
  EXPECT_EQ(found(text + read0(R"([["a"],["x",{"bold":true}],["d"]])")), "satisfied");
}

const std::string kTwoColors = kText + R"({"process":1,"f":"mark","value":["abc","color","red"]}
{"process":2,"f":"mark","value":["bcd","color","blue"]}
{"process":0,"f":"deliver","value":["1:0","2:0"]}
)";

TEST(MarkedText, OfConcurrentMarksOneWinsForAllCharacters) {
  EXPECT_EQ(found(kTwoColors + read0(R"([["abc",{"color":"red"}],["d",{"color":"blue"}]])")),
            "satisfied");
  EXPECT_EQ(found(kTwoColors + read0(R"([["a",{"color":"red"}],["bcd",{"color":"blue"}]])")),
            "satisfied");
  EXPECT_EQ(found(kTwoColors + read0(R"([["ab",{"color":"red"}],["cd",{"color":"blue"}]])")),
            "order-disagreement: no order of the marks gives the characters what these reads show, "
            "the last mark of each name");
}

TEST(MarkedText, AMarkThatHadSeenAnotherWins) {
  const auto text = kBold + R"({"process":0,"f":"mark","value":["cd","bold",null]}
)";
  EXPECT_EQ(found(text + read0(R"([["a"],["b",{"bold":true}],["cd"]])")), "satisfied");
  EXPECT_EQ(found(text + read0(R"([["a"],["bc",{"bold":true}],["d"]])")),
            "stale-mark: line 6 (replica 0) shows \"c\" with \"bold\" = true; it had received "
            "mark(\"cd\", \"bold\", null) of replica 0 (line 5), which had seen that mark");
}

// The names have nothing to do with each other, and all marks have one order.
TEST(MarkedText, AllMarksHaveOneOrder) {
  const auto text = kText + R"({"process":1,"f":"mark","value":["a","x",1]}
{"process":1,"f":"mark","value":["a","y",1]}
{"process":2,"f":"mark","value":["a","y",2]}
{"process":2,"f":"mark","value":["a","x",2]}
{"process":0,"f":"deliver","value":{"1":2,"2":2}}
)";
  EXPECT_EQ(found(text + read0(R"([["a",{"x":2,"y":1}],["bcd"]])")), "satisfied");
  EXPECT_NE(found(text + read0(R"([["a",{"x":1,"y":2}],["bcd"]])")).find("order-disagreement"),
            std::string::npos);
}

TEST(MarkedText, TheTextIsAText) {
  EXPECT_EQ(found(kBold + read0(R"([["a"],["cb",{"bold":true}],["d"]])")).substr(0, 19),
            "order-disagreement:");
  EXPECT_EQ(found(kBold + read0(R"([["a"],["b",{"bold":true}],["d"]])")),
            "lost-character: line 5 (replica 0) does not show \"c\"; it had received insert(null, "
            "\"abcd\") of replica 0 (line 1), and no remove of it");
  EXPECT_EQ(found(R"({"process":0,"f":"insert","value":[null,"a"]}
{"process":1,"f":"version","value":[]}
{"process":1,"f":"mark","value":["a","bold",true]})"),
            "used-unseen-character: line 3 (replica 1) names \"a\", which it had not received");
}

TEST(MarkedText, IsWrittenAsItIsRead) {
  const auto text = kBold + read0(R"([["a"],["bc",{"bold":true,"link":{"to":"x"}}],["d"]])");
  const auto history = read(text, "h", {Type::kMarkedText}).value();
  const auto again = write(history);
  EXPECT_NE(again.find(R"("value":[["a"],["bc",{"bold":true,"link":{"to":"x"}}],["d"]])"),
            std::string::npos)
      << again;
  EXPECT_NE(again.find(R"("value":["bc","bold",true])"), std::string::npos) << again;
  EXPECT_EQ(write(read(again, "h", {Type::kMarkedText}).value()), again);
}

TEST(MarkedText, BadValuesAreErrors) {
  for (const auto* const line : {R"({"process":0,"f":"mark","value":["a","bold"]})",
                                 R"({"process":0,"f":"mark","value":["","b",1]})",
                                 R"({"process":0,"f":"mark","value":["a",7,true]})",
                                 R"({"process":0,"f":"read","value":"ab"})",
                                 R"({"process":0,"f":"read","value":[["a",true]]})",
                                 R"({"process":0,"f":"read","value":[["a",{},1]]})"}) {
    const auto history = read(line, "h", {Type::kMarkedText});
    ASSERT_FALSE(history.ok()) << line;
    EXPECT_NE(history.error().message.find("as in [["),
              history.error().message.find("as in [\"abc\",\"bold\",true]"))
        << history.error().message;
  }
}

TEST(MarkedText, NeedsDeliveries) {
  const auto history =
      read(R"({"process":0,"f":"insert","value":[null,"a"]})", "h", {Type::kMarkedText}).value();
  base::Budget budget;
  EXPECT_EQ(decide(history, {}, budget).verdict, Verdict::kUnknown);
}

// An order of the updates that shows another winner is not valid.
TEST(MarkedText, ACertificateOfTheOrderIsChecked) {
  const auto text = kTwoColors + read0(R"([["abc",{"color":"red"}],["d",{"color":"blue"}]])");
  const auto history = read(text, "h", {Type::kMarkedText}).value();
  const auto analysis = by_deliveries(history);
  ASSERT_EQ(analysis.decision.verdict, Verdict::kSatisfied);
  const auto proof = certificate_of(history, analysis);
  const auto at = proof.find("\"writes\":[") + 10;
  const auto end = proof.find(']', at);
  ASSERT_NE(at, end);
  auto wrong = proof;
  wrong.replace(at, end - at, "0,1,2");
  const auto other = verify(history, wrong);
  EXPECT_EQ(other.status, CertificateStatus::kNotValid);
  EXPECT_NE(other.reason.find("does not show the last \"color\""), std::string::npos)
      << other.reason;
}

}  // namespace
}  // namespace cupel::crdt
