// analyze: the steps from a history of a replicated data type to its one result.
#include <gtest/gtest.h>

#include <chrono>
#include <new>

#include "crdt/analysis/analyze.hpp"
#include "crdt/io/certificate.hpp"
#include "crdt/io/reader.hpp"
#include "crdt/verify/verify.hpp"

namespace cupel::crdt {
namespace {

History history_of(const std::string& text) {
  auto history = read(text, "test", *type_of("counter"));
  EXPECT_TRUE(history.ok()) << (history.ok() ? "" : history.error().to_string());
  return std::move(history).value();
}

// Two replicas add one each; the last read of each returns `first` and `second`.
std::string last_reads(int first, int second) {
  const auto read = [](int replica, int value) {
    return "{\"process\":" + std::to_string(replica) +
           ",\"f\":\"read\",\"value\":" + std::to_string(value) + "}\n";
  };
  return "{\"process\":1,\"f\":\"inc\"}\n{\"process\":2,\"f\":\"inc\"}\n" + read(1, first) +
         read(2, second);
}

TEST(Analyze, ExplainsAViolationWithWhatACertificateNeeds) {
  const auto history = history_of(last_reads(0, 2));  // replica 1 has incremented
  base::Budget budget;
  const auto found = analyze(history, {}, budget);
  EXPECT_EQ(found.decision.verdict, Verdict::kViolated);
  EXPECT_EQ(verdict_of(found), Verdict::kViolated);
  EXPECT_TRUE(found.limit.empty());
  EXPECT_FALSE(found.convergence);
  ASSERT_TRUE(found.explanation);
  EXPECT_FALSE(found.explanation->name.empty());
  EXPECT_EQ(verify(history, certificate_of(history, found)).status, CertificateStatus::kValid);
}

TEST(Analyze, SatisfiedHasAWitnessAndNoExplanation) {
  const auto history = history_of(last_reads(2, 2));
  base::Budget budget;
  const auto found = analyze(history, {}, budget);
  EXPECT_EQ(found.decision.verdict, Verdict::kSatisfied);
  EXPECT_TRUE(found.decision.witness);
  EXPECT_FALSE(found.explanation);
  EXPECT_EQ(verify(history, certificate_of(history, found)).status, CertificateStatus::kValid);
}

// Causal consistency allows replicas that differ; convergence does not.
TEST(Analyze, ConvergenceIsPartOfTheVerdictIfRequested) {
  const auto verdict = [](const std::string& text, bool converge) {
    base::Budget budget;
    const auto found = analyze(history_of(text), {.converge = converge}, budget);
    EXPECT_EQ(found.decision.verdict, Verdict::kSatisfied);
    EXPECT_EQ(found.convergence.has_value(), converge);
    return verdict_of(found);
  };
  EXPECT_EQ(verdict(last_reads(1, 2), false), Verdict::kSatisfied);
  EXPECT_EQ(verdict(last_reads(1, 2), true), Verdict::kViolated);
  EXPECT_EQ(verdict(last_reads(2, 2), true), Verdict::kSatisfied);
  const std::string one_replica = "{\"process\":1,\"f\":\"read\",\"value\":0}\n";
  EXPECT_EQ(verdict(one_replica, true), Verdict::kUnknown);
}

// A read of a multi-value register may return concurrent writes of one value as one or as several.
TEST(Analyze, SiblingsOfOneValueConvergeHoweverOftenTheyAreReturned) {
  const auto verdict = [](const std::string& one, const std::string& other) {
    const auto history = read(R"({"process":0,"f":"write","value":1}
{"process":1,"f":"write","value":1}
{"process":1,"f":"write","value":2,"key":"y"}
{"process":0,"f":"read","value":)" +
                                  one + R"(}
{"process":1,"f":"read","value":)" +
                                  other + "}\n",
                              "h", *type_of("mvr"));
    base::Budget budget;
    const auto found = analyze(history.value(), {.converge = true}, budget);
    EXPECT_EQ(found.decision.verdict, Verdict::kSatisfied);
    return verdict_of(found);
  };
  EXPECT_EQ(verdict("[1]", "[1,1]"), Verdict::kSatisfied);
  EXPECT_EQ(verdict("[1,1]", "[1,1]"), Verdict::kSatisfied);
}

// Reads that had seen the same, as above; of other values they differ.
TEST(Analyze, SiblingsOfOneValueAreTheSameAnswerToReadsThatHadSeenTheSame) {
  const auto verdict = [](const std::string& other) {
    const auto history = read(R"({"process":0,"f":"write","value":1}
{"process":1,"f":"write","value":1}
{"process":2,"f":"write","value":2}
{"process":0,"f":"deliver","value":["1:0","2:0"]}
{"process":1,"f":"deliver","value":["0:0","2:0"]}
{"process":0,"f":"read","value":[2,1]}
{"process":1,"f":"read","value":)" +
                                  other + "}\n",
                              "h", *type_of("mvr"))
                             .value();
    const auto visibility = Visibility::of(history).value();
    base::Budget budget;
    const auto found =
        analyze(history, {.visibility = &visibility, .converged_only = true}, budget);
    EXPECT_EQ(verify(history, certificate_of(history, found)).status, CertificateStatus::kValid);
    return found.decision.verdict;
  };
  EXPECT_EQ(verdict("[1,2,1]"), Verdict::kSatisfied);
  EXPECT_EQ(verdict("[1]"), Verdict::kViolated);
  EXPECT_EQ(verdict("[2,2]"), Verdict::kViolated);
}

TEST(Analyze, ALimitMakesTheVerdictUnknownAndIsNamed) {
  base::Budget over(std::chrono::duration<double>(-1.0), 0);
  const auto found = analyze(history_of(last_reads(0, 2)), {.converge = true}, over);
  EXPECT_EQ(verdict_of(found), Verdict::kUnknown);
  EXPECT_EQ(found.limit, "time");
  EXPECT_FALSE(found.explanation);
}

}  // namespace
}  // namespace cupel::crdt
