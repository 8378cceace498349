// A certificate as terms of Coq. That Coq accepts such files is for `make proofs`
// (proofs/Examples.v and proofs/findings/ are written by this code).
#include "apps/coq_file.hpp"

#include <gtest/gtest.h>

namespace cupel::apps {
namespace {

std::string terms(const std::string& certificate) {
  const auto file = coq_file("H 0 0\n", certificate, 5);
  if (!file.ok()) return file.error().message;
  const auto begin = file->find("Definition proofs"), end = file->find("\nLemma decided");
  return file->substr(begin, end - begin);
}

TEST(CoqFile, OrdersAndWritersOfReads) {
  EXPECT_EQ(terms("P 8 order\nX 1 0\nX 2\nP 11 orders\nK 0\nX 4\nK 7\nP 2 weak\nW 3\nW 5 - 3\n"
                  "N 8 1 0\nN 2 1 2\n"),
            R"(Definition proofs : list proof := [
  Proof Serializable true (ByOrder [1; 0; 2]);
  Proof Linearizable true (ByOrders [
    (0, [4]);
    (7, [])]);
  Proof Causal true (ByWeak [
    (3, []);
    (5, [None; (Some 3)])])
].
Definition answers : list answer := [
  Answer Serializable true 0%nat;
  Answer Causal true 2%nat
].
)");
}

TEST(CoqFile, StepsOfARefutation) {
  EXPECT_EQ(
      terms("P 11 steps\nK 4\nA 0 cycle 1 3 0 4\nA 1 rw 3 0 - 4\nA 2 visible 5 1 2 3 so 4 wr 5 0\n"
            "R 3 0 < 1 3 0 4 1 s 3 0 - 0 l 7 / 0 1\nN 11 0 0\n"),
      R"(Definition proofs : list proof := [
  Proof Linearizable false (ByStepsOn 4 [
    Given 0 (Cycle [(true, 3); (false, 4)]);
    Given 1 (Overwritten 3 0 None 4);
    Given 2 (Visible 5 1 (Some 2) 3 [BySession 4; ByRead 5 0]);
    Derived 3 [(false, Lt true 3 false 4); (true, Saw 3 0 None); (false, Lives 7)] [0; 1]])
].
Definition answers : list answer := [
  Answer Linearizable false 0%nat
].
)");
}

TEST(CoqFile, TheoremsNameDriftAndVerdict) {
  const auto file = coq_file("# key 0 is \"x\"\nH 0 0\n", "P 0 weak\nN 0 1 0\n", 5);
  ASSERT_TRUE(file.ok());
  EXPECT_NE(file->find("  \"# key 0 is \"\"x\"\"\";\n  \"H 0 0\"\n]%string."), std::string::npos);
  EXPECT_NE(file->find("Lemma decided : decides text 5 proofs answers = true."), std::string::npos);
  EXPECT_NE(file->find("Theorem answer_0 : exists h, read text = Some h /\\ satisfies h 5 "
                       "ReadCommitted."),
            std::string::npos);
}

TEST(CoqFile, NothingToProveIsAnError) {
  EXPECT_EQ(terms(""), "--coq: no answer of the certificate has a proof for Coq");
}

}  // namespace
}  // namespace cupel::apps
