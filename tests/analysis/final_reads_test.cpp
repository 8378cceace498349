// Final reads: what is lost is named, and where it can be doubted nothing is.
#include "engine/analysis/final_reads.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "data/formats/formats.hpp"
#include "support/scratch_folder.hpp"

namespace cupel::analysis {
namespace {

// A transaction of Jepsen lines: what process P did from FROM to TO.
std::string txn(int process, const std::string& ops, int from, int to,
                const std::string& type = "ok") {
  return fmt::format(R"({{"type":"invoke","process":{0},"f":"txn","value":{1},"time":{2}}})"
                     "\n"
                     R"({{"type":"{4}","process":{0},"f":"txn","value":{1},"time":{3}}})"
                     "\n",
                     process, ops, from, to, type);
}

// Processes 8 and 9 read at the end, from nodes a and b.
std::string found_in(const std::string& lines) {
  const test::ScratchFolder folder;
  const auto history = formats::read(
      folder.file("h.jsonl", R"({"type":"info","process":"nemesis","f":"cupel.metadata","value":)"
                             R"([["final readers","8 a\n9 b"]]})"
                             "\n" +
                                 lines),
      {});
  EXPECT_TRUE(history.ok()) << history.error().to_string();
  const auto reads = final_reads(*history);
  if (!reads) return "none";
  std::string text;
  for (const auto& lost : reads->lost) {
    text += fmt::format("lost {} of {}; ", lost.writes, history->key(lost.key).to_string());
  }
  for (const auto& one : reads->divergent) {
    text += fmt::format("divergent {}; ", history->key(one.key).to_string());
  }
  return text;
}

TEST(FinalReads, AWriteThatNothingCouldReplaceIsLost) {
  const auto first = txn(0, R"([["w",1,5]])", 0, 10);
  const auto second = txn(1, R"([["w",1,6]])", 20, 30);
  EXPECT_EQ(found_in(first + second + txn(8, R"([["r",1,6]])", 90, 91)), "");
  EXPECT_EQ(found_in(first + second + txn(8, R"([["r",1,5]])", 90, 91)), "lost 1 of 1; ");
  EXPECT_EQ(found_in(first + second + txn(8, R"([["r",1,null]])", 90, 91)), "lost 2 of 1; ");
  EXPECT_EQ(found_in(first + txn(1, R"([["w",1,6]])", 5, 30) + txn(8, R"([["r",1,5]])", 90, 91)),
            "")
      << "they overlapped";
}

TEST(FinalReads, OnlyWhatWasAcknowledgedCanBeLost) {
  const auto first = txn(0, R"([["w",1,5]])", 0, 10);
  const auto read = txn(8, R"([["r",1,5]])", 90, 91);
  EXPECT_EQ(found_in(first + txn(1, R"([["w",1,6]])", 20, 30, "info") + read), "");
  EXPECT_EQ(found_in(first + txn(1, R"([["w",1,6]])", 20, 30, "fail") + read), "");
}

TEST(FinalReads, AWriterOfUnknownOutcomeMayHaveComeLate) {
  EXPECT_EQ(found_in(txn(0, R"([["w",1,5]])", 0, 10, "info") + txn(1, R"([["w",1,6]])", 20, 30) +
                     txn(8, R"([["r",1,5]])", 90, 91)),
            "");
}

TEST(FinalReads, AValueWrittenTwiceCountsForTheLast) {
  EXPECT_EQ(found_in(txn(0, R"([["w",1,5]])", 0, 10) + txn(1, R"([["w",1,6]])", 20, 30) +
                     txn(0, R"([["w",1,5]])", 40, 50) + txn(8, R"([["r",1,5]])", 90, 91)),
            "");
}

TEST(FinalReads, AValueFromNowhereIsAnothersMatter) {
  EXPECT_EQ(found_in(txn(1, R"([["w",1,6]])", 20, 30) + txn(8, R"([["r",1,77]])", 90, 91)), "");
}

TEST(FinalReads, ARowThatNobodyDeletedAndIsGoneLostItsWrites) {
  const auto initial =
      std::string(R"({"type":"info","process":"nemesis","f":"cupel.initial","value":[0,[]]})") +
      "\n";
  const auto write = txn(0, R"([["w",1,5]])", 0, 10);
  const auto gone = txn(8, R"([["r",1,null]])", 90, 91);
  EXPECT_EQ(found_in(initial + write + gone), "lost 1 of 1; ");
  EXPECT_EQ(found_in(initial + write + txn(1, R"([["w",1,null]])", 20, 30) + gone), "");
}

TEST(FinalReads, AListThatLacksAnElementLostIt) {
  const auto appends = txn(0, R"([["append",1,5]])", 0, 10) + txn(1, R"([["append",1,6]])", 5, 10);
  EXPECT_EQ(found_in(appends + txn(8, R"([["r",1,[6,5]]])", 90, 91)), "");
  EXPECT_EQ(found_in(appends + txn(8, R"([["r",1,[6]]])", 90, 91)), "lost 1 of 1; ");
}

TEST(FinalReads, NodesThatDifferAreDivergent) {
  const auto writes = txn(0, R"([["w",1,5]])", 0, 10) + txn(1, R"([["w",1,6]])", 20, 30);
  EXPECT_EQ(found_in(writes + txn(8, R"([["r",1,6]])", 90, 91) + txn(9, R"([["r",1,5]])", 90, 91)),
            "divergent 1; ")
      << "one node has the write, so that it is not lost";
  EXPECT_EQ(found_in(writes + txn(8, R"([["r",1,5]])", 90, 91) + txn(8, R"([["r",1,6]])", 92, 93)),
            "")
      << "the last read of a node counts";
}

TEST(FinalReads, ANodeThatWasNotReadMayHoldEveryWrite) {
  const auto writes = txn(0, R"([["w",1,5]])", 0, 10) + txn(1, R"([["w",1,6]])", 20, 30);
  const auto stale = txn(8, R"([["r",1,5]])", 90, 91);
  EXPECT_EQ(found_in(writes + stale + txn(9, R"([["r",1,null]])", 90, 91, "fail")), "");
  EXPECT_EQ(found_in(writes + stale + txn(9, R"([["r",1,5]])", 90, 91)), "lost 1 of 1; ");
}

TEST(FinalReads, AWriteOfUnknownOutcomeMayComeBetweenTheReadsOfTwoNodes) {
  const auto reads = txn(8, R"([["r",1,5]])", 90, 91) + txn(9, R"([["r",1,6]])", 92, 93);
  const auto first = txn(0, R"([["w",1,5]])", 0, 10);
  EXPECT_EQ(found_in(first + txn(1, R"([["w",1,6]])", 20, 30, "info") + reads), "");
  EXPECT_EQ(found_in(first + txn(1, R"([["w",1,6]])", 20, 30) + reads), "divergent 1; ");
}

TEST(FinalReads, OfAHistoryThatHasNone) {
  EXPECT_EQ(found_in(txn(0, R"([["w",1,5]])", 0, 10)), "none");
}

// The one rule of every command and library.
TEST(Losses, AreAViolationIfShownAndElseUnknownIfReadsFailedOrDataAreGone) {
  using check::Verdict;
  for (const bool by_name : {false, true}) {
    const auto of = [&](bool shown, const char* gone, const char* failed) {
      return Losses{.shown = shown, .gone = gone, .failed = failed, .by_name = by_name};
    };
    const auto beside_levels = by_name ? Verdict::kSatisfied : Verdict::kViolated;
    EXPECT_EQ(of(false, "", "").verdict(), Verdict::kSatisfied);
    EXPECT_EQ(of(false, "", "").why_unknown(), "");
    EXPECT_EQ(of(true, "", "").verdict(), beside_levels);
    EXPECT_EQ(of(true, "kv", "").verdict(), Verdict::kViolated);
    EXPECT_EQ(of(true, "kv", "").why_unknown(), "");
    EXPECT_EQ(of(false, "kv", "").verdict(), Verdict::kUnknown);
    EXPECT_EQ(of(false, "kv", "").why_unknown(), "kv; no acknowledged write is known to be lost");
    EXPECT_EQ(of(false, "", "no answer").verdict(), Verdict::kUnknown);
    EXPECT_EQ(of(false, "", "no answer").why_unknown(), "no answer");
    EXPECT_EQ(of(false, "kv", "no answer").verdict(), Verdict::kUnknown);
    EXPECT_EQ(of(false, "kv", "no answer").why_unknown(), "kv; no answer");
    EXPECT_EQ(of(true, "kv", "no answer").verdict(), Verdict::kViolated);
    EXPECT_EQ(of(true, "", "no answer").verdict(),
              by_name ? Verdict::kUnknown : Verdict::kViolated);
  }
}

}  // namespace
}  // namespace cupel::analysis
