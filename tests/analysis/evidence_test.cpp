// Evidence: each reason for which a satisfied history shows little, beside a history that differs
// by one edit and shows more.
#include "engine/analysis/evidence.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "data/formats/formats.hpp"
#include "engine/analysis/analyze.hpp"
#include "support/scratch_folder.hpp"

namespace cupel::analysis {
namespace {

std::string one_txn(int process, const std::string& ops, int from, int to,
                    const std::string& type = "ok") {
  return fmt::format(R"({{"type":"invoke","process":{0},"f":"txn","value":{1},"time":{2}}})"
                     "\n"
                     R"({{"type":"{4}","process":{0},"f":"txn","value":{1},"time":{3}}})"
                     "\n",
                     process, ops, from, to, type);
}

history::History read_lines(const std::string& lines) {
  const test::ScratchFolder folder;
  auto history = formats::read(folder.file("h.jsonl", lines), {});
  EXPECT_TRUE(history.ok()) << history.error().to_string();
  return std::move(history).value();
}

Evidence evidence_in(const std::string& lines) {
  return evidence_of(read_lines(lines));
}

const std::string kWrite = R"([["w",1,5]])", kRead = R"([["r",1,5]])";

TEST(Evidence, NothingCommitted) {
  const auto found =
      evidence_in(one_txn(0, kWrite, 0, 10, "fail") + one_txn(1, R"([["w",1,6]])", 0, 10, "info"));
  EXPECT_EQ(found.committed, 0U);
  EXPECT_EQ(found.transactions, 2U);
  EXPECT_TRUE(found.few());
}

TEST(Evidence, FewAreFewerThanTenOrThanOneInTwenty) {
  std::string lines;
  const auto add = [&](int count, const char* type) {
    for (int i = 0; i < count; ++i) lines += one_txn(0, "[]", 0, 1, type);
  };
  add(9, "ok");
  EXPECT_TRUE(evidence_in(lines).few());
  add(1, "ok");
  EXPECT_FALSE(evidence_in(lines).few());
  add(190, "fail");
  EXPECT_FALSE(evidence_in(lines).few()) << "10 of 200";
  add(1, "fail");
  EXPECT_TRUE(evidence_in(lines).few()) << "10 of 201";
}

TEST(Evidence, TransactionsThatTouchInTimeDoNotOverlap) {
  EXPECT_TRUE(evidence_in(one_txn(0, kWrite, 0, 10) + one_txn(1, kRead, 10, 20)).never_overlaps);
  EXPECT_FALSE(evidence_in(one_txn(0, kWrite, 0, 11) + one_txn(1, kRead, 10, 20)).never_overlaps);
}

TEST(Evidence, AbortedTransactionsDoNotOverlap) {
  EXPECT_TRUE(evidence_in(one_txn(0, kWrite, 0, 10) + one_txn(1, R"([["w",1,6]])", 5, 8, "fail") +
                          one_txn(2, kRead, 10, 20))
                  .never_overlaps);
}

TEST(Evidence, CompletionsAloneDoNotSayWhatOverlaps) {
  const auto ok = [](int process, int time) {
    return fmt::format(R"({{"type":"ok","process":{},"f":"txn","value":[["r",1,null]],"time":{}}})"
                       "\n",
                       process, time);
  };
  EXPECT_FALSE(evidence_in(ok(0, 1) + ok(1, 2)).never_overlaps);
}

TEST(Evidence, AReadOfAnotherSessionsValueIsEvidence) {
  const auto write = one_txn(0, kWrite, 0, 10);
  EXPECT_FALSE(evidence_in(write + one_txn(1, kRead, 5, 20)).never_reads_others);
  EXPECT_TRUE(evidence_in(write + one_txn(0, kRead, 11, 20)).never_reads_others) << "its own";
  EXPECT_TRUE(evidence_in(write + one_txn(1, R"([["r",1,null]])", 5, 20)).never_reads_others)
      << "the initial value";
  EXPECT_FALSE(evidence_in(write).reads);
  EXPECT_TRUE(evidence_in(write + one_txn(1, kRead, 5, 20)).reads);
}

TEST(Evidence, ElementsAndRangesAreReadsToo) {
  const auto append = one_txn(0, R"([["append",1,5]])", 0, 10);
  EXPECT_FALSE(evidence_in(append + one_txn(1, R"([["r",1,[5]]])", 5, 20)).never_reads_others);
  EXPECT_TRUE(evidence_in(append + one_txn(1, R"([["r",1,[]]])", 5, 20)).never_reads_others);
  const auto write = one_txn(0, kWrite, 0, 10);
  EXPECT_FALSE(
      evidence_in(write + one_txn(1, R"([["range",[0,3],[[1,5]]]])", 5, 20)).never_reads_others);
  EXPECT_TRUE(evidence_in(write + one_txn(1, R"([["range",[0,3],[]]])", 5, 20)).never_reads_others);
}

// They read everything that was written, whatever the sessions did.
TEST(Evidence, FinalReadsDoNotCount) {
  const auto found = evidence_in(
      R"({"type":"info","process":"nemesis","f":"cupel.metadata","value":[["final readers","8 a"]]})"
      "\n" +
      one_txn(0, kWrite, 0, 10) + one_txn(8, kRead, 90, 91));
  EXPECT_EQ(found.sessions, 1U);
  EXPECT_EQ(found.committed, 1U);
  EXPECT_TRUE(found.never_reads_others);
}

// The second sample finds it: more than a thousand reads of own values come before.
TEST(Evidence, ALateReadIsFound) {
  std::string lines;
  for (int i = 0; i < 1500; ++i) {
    lines += one_txn(0, fmt::format(R"([["w",{0},{0}],["r",{0},{0}]])", i), 2 * i, 2 * i + 1);
  }
  EXPECT_TRUE(evidence_in(lines).never_reads_others);
  EXPECT_FALSE(evidence_in(lines + one_txn(1, R"([["r",7,7]])", 9000, 9001)).never_reads_others);
}

TEST(Evidence, IsWeighedOnlyIfNothingIsViolated) {
  const auto good = read_lines(one_txn(0, kWrite, 0, 10) + one_txn(1, kRead, 20, 30));
  EXPECT_TRUE(analyze(good, {}).evidence);
  const auto bad = read_lines(one_txn(0, kWrite, 0, 10) + one_txn(1, R"([["r",1,7]])", 20, 30));
  EXPECT_FALSE(analyze(bad, {}).evidence);
}

}  // namespace
}  // namespace cupel::analysis
