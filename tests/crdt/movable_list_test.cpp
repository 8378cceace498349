// Movable lists: what concurrent moves and removes may make, beside what they may not; the planted
// bugs; certificates. That the decision is what the axioms say is in context_test.cpp.
#include <gtest/gtest.h>

#include "crdt/workload/generate.hpp"
#include "finding.hpp"
#include "oracle.hpp"
#include "random_deliveries.hpp"
#include "random_history.hpp"
#include "support/rounds.hpp"

namespace cupel::crdt {
namespace {

// Replica 0 makes the list abc; both others have it.
const std::string kThree = R"({"process":0,"f":"addAfter","value":[null,"a"]}
{"process":0,"f":"addAfter","value":["a","b"]}
{"process":0,"f":"addAfter","value":["b","c"]}
{"process":1,"f":"deliver","value":{"0":3}}
{"process":2,"f":"deliver","value":{"0":3}}
)";
const std::string kMoveAndRemove = kThree + R"({"process":1,"f":"move","value":["a","c"]}
{"process":2,"f":"remove","value":"a"}
{"process":0,"f":"deliver","value":["1:0","2:0"]}
)";

// As Loro does it: the remove takes away the place that its replica showed, and the move makes
// another.
TEST(MovableList, AConcurrentMoveOutlivesARemove) {
  EXPECT_EQ(finding(kMoveAndRemove + R"({"process":0,"f":"read","value":["b","c","a"]})",
                    Type::kMovableList),
            "satisfied");
  EXPECT_EQ(
      finding(kMoveAndRemove + R"({"process":0,"f":"read","value":["b","c"]})", Type::kMovableList),
      "lost-character: line 9 (replica 0) does not show \"a\"; it had received move(\"a\", "
      "\"c\") of replica 1 (line 6), and no remove that took it away from there");
}

TEST(MovableList, ARemoveOfWhatWasMovedIsForGood) {
  const auto text = kThree + R"({"process":1,"f":"move","value":["a","c"]}
{"process":2,"f":"deliver","value":["1:0"]}
{"process":2,"f":"remove","value":"a"}
{"process":0,"f":"deliver","value":["1:0","2:0"]}
)";
  EXPECT_EQ(finding(text + R"({"process":0,"f":"read","value":["b","c"]})", Type::kMovableList),
            "satisfied");
  EXPECT_EQ(finding(text + R"({"process":0,"f":"read","value":["b","c","a"]})", Type::kMovableList),
            "removed-character-shown: line 10 (replica 0) shows \"a\"; it had received "
            "remove(\"a\") of replica 2 (line 8), and no later move of it");
}

const std::string kTwoMoves = kThree + R"({"process":1,"f":"move","value":["a","b"]}
{"process":2,"f":"move","value":["a","c"]}
{"process":0,"f":"deliver","value":["1:0","2:0"]}
{"process":1,"f":"deliver","value":["2:0"]}
{"process":0,"f":"read","value":["b","c","a"]}
)";

TEST(MovableList, OneOfTwoMovesWinsForAll) {
  EXPECT_EQ(
      finding(kTwoMoves + R"({"process":1,"f":"read","value":["b","c","a"]})", Type::kMovableList),
      "satisfied");
  EXPECT_EQ(
      finding(kTwoMoves + R"({"process":1,"f":"read","value":["b","a","c"]})", Type::kMovableList),
      "order-disagreement: line 11 (replica 1) shows \"a\" where no order of its moves puts "
      "it, by what the other operations here say");
  EXPECT_EQ(finding(kTwoMoves + R"({"process":1,"f":"read","value":["b","a","c","a"]})",
                    Type::kMovableList),
            "character-twice: line 11 (replica 1) shows \"a\" twice");
}

// A remove decides the order of the moves, too: its replica showed the element at one of them.
TEST(MovableList, ARemoveTakesTheLastMoveAway) {
  const auto text = kThree + R"({"process":1,"f":"move","value":["a","b"]}
{"process":2,"f":"move","value":["a","c"]}
{"process":0,"f":"deliver","value":["1:0","2:0"]}
{"process":0,"f":"remove","value":"a"}
{"process":0,"f":"read","value":["b","c"]}
{"process":1,"f":"deliver","value":["2:0"]}
)";
  EXPECT_EQ(finding(text + R"({"process":1,"f":"read","value":["b","c","a"]})", Type::kMovableList),
            "satisfied");
  EXPECT_EQ(finding(text + R"({"process":1,"f":"read","value":["b","a","c"]})", Type::kMovableList),
            "satisfied");
}

TEST(MovableList, AMovedElementStandsBehindItsNewNeighbour) {
  EXPECT_EQ(finding(kThree + R"({"process":1,"f":"move","value":["c",null]}
{"process":1,"f":"read","value":["c","a","b"]})",
                    Type::kMovableList),
            "satisfied");
  EXPECT_EQ(finding(kThree + R"({"process":1,"f":"move","value":["c",null]}
{"process":1,"f":"read","value":["a","c","b"]})",
                    Type::kMovableList),
            "order-disagreement: line 7 (replica 1) shows \"a\" where no order of its moves puts "
            "it, by what the other operations here say");
}

TEST(MovableList, NamesWhatWasNotReceived) {
  EXPECT_EQ(finding(R"({"process":0,"f":"addAfter","value":[null,"a"]}
{"process":1,"f":"version","value":[]}
{"process":1,"f":"move","value":["a",null]})",
                    Type::kMovableList),
            "used-unseen-character: line 3 (replica 1) names \"a\", which it had not received");
}

TEST(MovableList, NeedsDeliveries) {
  const auto history =
      read(R"({"process":0,"f":"addAfter","value":[null,"a"]})", "h", {Type::kMovableList}).value();
  base::Budget budget;
  EXPECT_EQ(decide(history, {}, budget).verdict, Verdict::kUnknown);
}

// Two moves of an element that did not see each other are ordered by a third one between them,
// which only the rules fifo and applied allow.
TEST(MovableList, DecidesAsTheAxiomsWhereHappensBeforeIsNotTransitive) {
  base::Random random(18);
  int satisfied = 0, violated = 0;
  for (int i = 0; i < 20 * test::rounds(CUPEL_CRDT_HISTORIES); ++i) {
    const auto ops = 5 + static_cast<std::uint32_t>(random.below(4));
    History h = random_history(Type::kMovableList, {ops, 3, 1, 2}, random);
    const auto rule = random.chance(0.5) ? DeliveryRule::kFifo : DeliveryRule::kApplied;
    const RandomDeliveries deliveries(h, rule, random);
    if (!h.context.is_known()) continue;
    const auto analysis = by_deliveries(h);
    const bool well = analysis.decision.verdict == Verdict::kSatisfied;
    ASSERT_NE(analysis.decision.verdict, Verdict::kUnknown) << write(h);
    ASSERT_EQ(well, admitted_as_seen(h, deliveries.seen_and_own(), false)) << write(h);
    const auto verified = verify(h, certificate_of(h, analysis));
    ASSERT_EQ(verified.status, CertificateStatus::kValid) << verified.reason << "\n" << write(h);
    ++(well ? satisfied : violated);
  }
  EXPECT_GT(satisfied, test::rounds(CUPEL_CRDT_HISTORIES) / 10);
  EXPECT_GT(violated, test::rounds(CUPEL_CRDT_HISTORIES) / 10);
}

TEST(MovableList, BadMovesAreErrors) {
  for (const auto* const value : {R"(["a","a"])", R"([null,"a"])", R"("a")", R"(["a"])"}) {
    const auto history = read(R"({"process":0,"f":"move","value":)" + std::string(value) + "}", "h",
                              {Type::kMovableList});
    ASSERT_FALSE(history.ok()) << value;
    EXPECT_NE(history.error().message.find("as in [\"a\",null]"), std::string::npos);
  }
}

// Another order of the places, or of the moves, is not valid.
TEST(MovableList, ACertificateOfOrdersIsChecked) {
  const auto text = kTwoMoves + R"({"process":1,"f":"read","value":["b","c","a"]})";
  const auto history = read(text, "h", {Type::kMovableList}).value();
  const auto analysis = by_deliveries(history);
  ASSERT_EQ(analysis.decision.verdict, Verdict::kSatisfied);
  const auto proof = certificate_of(history, analysis);
  for (const std::string field : {"writes", "positions"}) {
    const auto& numbers = field == "writes" ? analysis.decision.witness->writes
                                            : analysis.decision.witness->positions;
    ASSERT_EQ(numbers.size(), 5U);
    auto wrong = proof;
    const auto at = wrong.find("\"" + field + "\":[") + field.size() + 4;
    std::string reversed;
    for (auto n = numbers.rbegin(); n != numbers.rend(); ++n)
      reversed += (reversed.empty() ? "" : ",") + std::to_string(*n);
    wrong.replace(at, wrong.find(']', at) - at, reversed);
    EXPECT_EQ(verify(history, wrong).status, CertificateStatus::kNotValid) << field;
  }
}

}  // namespace
}  // namespace cupel::crdt
