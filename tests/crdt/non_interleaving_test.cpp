// Non-interleaving lists: runs that are kept together, beside those that are mixed; replicated
// growable arrays mix what is inserted backwards; the planted bugs; certificates. That the decision
// is what the axioms say is in context_test.cpp.
#include <gtest/gtest.h>

#include "crdt/workload/generate.hpp"
#include "finding.hpp"

namespace cupel::crdt {
namespace {

// Two replicas insert two characters each after "a"; `before`: what the second ones are added
// after.
std::string two_runs(const std::string& x, const std::string& y, const std::string& read) {
  return R"({"process":0,"f":"addAfter","value":[null,"a"]}
{"process":1,"f":"deliver","value":["0:0"]}
{"process":2,"f":"deliver","value":["0:0"]}
{"process":1,"f":"addAfter","value":["a","x1"]}
{"process":1,"f":"addAfter","value":[")" +
         x + R"(","x2"]}
{"process":2,"f":"addAfter","value":["a","y1"]}
{"process":2,"f":"addAfter","value":[")" +
         y + R"(","y2"]}
{"process":0,"f":"deliver","value":{"1":2,"2":2}}
{"process":0,"f":"read","value":)" +
         read + "}\n";
}

TEST(NonInterleaving, ForwardRunsAreNotMixed) {
  EXPECT_EQ(
      finding(two_runs("x1", "y1", R"(["a","y1","y2","x1","x2"])"), Type::kNonInterleavingList),
      "satisfied");
  const auto mixed = two_runs("x1", "y1", R"(["a","x1","y1","y2","x2"])");
  EXPECT_EQ(finding(mixed, Type::kStrongList), "satisfied");
  EXPECT_EQ(finding(mixed, Type::kNonInterleavingList),
            "interleaved-insertions: line 9 (replica 0) shows \"y1\" between \"x1\" and \"x2\", "
            "which were inserted one after the other at one place, and \"y1\" had not seen both");
}

TEST(NonInterleaving, BackwardRunsAreNotMixed) {
  EXPECT_EQ(finding(two_runs("a", "a", R"(["a","y2","y1","x2","x1"])"), Type::kNonInterleavingList),
            "satisfied");
  const auto mixed = two_runs("a", "a", R"(["a","x2","y2","x1","y1"])");
  EXPECT_EQ(finding(mixed, Type::kStrongList), "satisfied");
  EXPECT_EQ(finding(mixed, Type::kNonInterleavingList),
            "interleaved-insertions: line 9 (replica 0) shows \"y2\" between \"x2\" and \"x1\", "
            "which were inserted one after the other at one place, and \"y2\" had not seen both");
}

// Reads that disagree mix nothing.
TEST(NonInterleaving, ADisagreementIsNotCalledInterleaved) {
  const auto said = finding(two_runs("x1", "y1", R"(["a","x1","x2","y1","y2"])") +
                                R"({"process":1,"f":"deliver","value":{"2":2}}
{"process":1,"f":"read","value":["a","y1","y2","x1","x2"]}
)",
                            Type::kNonInterleavingList);
  EXPECT_EQ(said.substr(0, said.find(':')), "order-disagreement");
}

// Who has seen a run may insert into it.
TEST(NonInterleaving, ACharacterThatSawTheRunStandsInsideOfIt) {
  EXPECT_EQ(finding(R"({"process":1,"f":"addAfter","value":[null,"f"]}
{"process":2,"f":"deliver","value":["1:0"]}
{"process":2,"f":"addAfter","value":[null,"s"]}
{"process":1,"f":"addAfter","value":[null,"e"]}
{"process":1,"f":"deliver","value":["2:0"]}
{"process":1,"f":"read","value":["e","s","f"]}
)",
                    Type::kNonInterleavingList),
            "satisfied");
}

TEST(NonInterleaving, ReplicatedGrowableArraysMixBackwardRuns) {
  int mixed = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    GenerateOptions options;
    options.type = {Type::kStrongList};
    options.seed = seed;
    options.ops = 300;
    options.context = true;
    auto history = generate(options).value();
    EXPECT_EQ(by_deliveries(history).decision.verdict, Verdict::kSatisfied) << seed;
    history.type = Type::kNonInterleavingList;
    mixed += by_deliveries(history).decision.verdict == Verdict::kViolated;
  }
  EXPECT_GT(mixed, 2);
}

TEST(NonInterleaving, ACertificateWithMixedRunsIsNotValid) {
  const auto history =
      read(two_runs("x1", "y1", R"(["a"])"), "h", {Type::kNonInterleavingList}).value();
  ASSERT_EQ(by_deliveries(history).decision.verdict, Verdict::kViolated);  // it had received them
  const auto well =
      read(two_runs("x1", "y1", R"(["a","y1","y2","x1","x2"])"), "h", {Type::kNonInterleavingList})
          .value();
  const auto analysis = by_deliveries(well);
  auto proof = certificate_of(well, analysis);
  ASSERT_EQ(verify(well, proof).status, CertificateStatus::kValid);
  const auto at = proof.find("\"characters\":[") + 14;
  const auto characters = analysis.decision.witness->characters;
  ASSERT_EQ(characters.size(), 5U);
  std::string swapped;
  for (const auto i : {0, 1, 3, 2, 4}) {
    swapped +=
        (swapped.empty() ? "" : ",") + std::to_string(characters[static_cast<std::size_t>(i)]);
  }
  proof.replace(at, proof.find(']', at) - at, swapped);
  const auto verified = verify(well, proof);
  EXPECT_EQ(verified.status, CertificateStatus::kNotValid);
  EXPECT_NE(verified.reason.find("inside of a run"), std::string::npos) << verified.reason;
}

TEST(NonInterleaving, MixedRunsAreNamedAndAreAList) {
  int interleaved = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    GenerateOptions options;
    options.type = {Type::kNonInterleavingList};
    options.bug = "interleaves";
    options.seed = seed;
    options.ops = 1000;
    options.context = true;
    auto history = generate(options).value();
    interleaved += by_deliveries(history).explanation->name == "interleaved-insertions";
    history.type = Type::kStrongList;
    EXPECT_EQ(by_deliveries(history).decision.verdict, Verdict::kSatisfied) << seed;
  }
  EXPECT_GE(interleaved, 8);
}

}  // namespace
}  // namespace cupel::crdt
