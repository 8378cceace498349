// Stats: each number on a history small enough to count by hand.
#include "report/stats.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "data/history/builder.hpp"
#include "report/wording.hpp"

namespace cupel::report {
namespace {

using namespace history;

History counted() {
  HistoryBuilder b;
  const auto s = b.session("s"), u = b.session("u");
  const auto x = b.key(1), y = b.key(2), l = b.key(3);
  const auto v = [&](std::int64_t i) { return b.value(i); };
  b.begin(s, TxnStatus::kCommitted, {.invoke = 0, .complete = 100, .label = 0});
  b.write(x, v(1));
  b.read(y, b.null_value());
  b.append(l, v(1));
  b.end();
  b.begin(u, TxnStatus::kCommitted, {.invoke = 50, .complete = 150, .label = 1});
  b.write(x, v(1));
  b.write(x, v(2));
  b.read(x, v(2));
  b.list_read(l, {});
  b.end();
  b.begin(s, TxnStatus::kAborted, {.invoke = 150, .complete = 200, .label = 2});
  b.read(x, v(1));
  b.list_read(l, std::vector{v(1)});
  b.end();
  b.begin(u, TxnStatus::kIndeterminate, {.invoke = 160, .label = 3});
  b.compare_and_set(y, b.null_value(), v(9), true);
  b.end();
  b.set_metadata("format", "jepsen");
  return *std::move(b).finish();
}

TEST(Stats, CountsWhatIsThere) {
  const auto s = compute_stats(counted());
  EXPECT_EQ(s.sessions, 2u);
  EXPECT_EQ(s.transactions, 4u);
  EXPECT_EQ(s.committed, 2u);
  EXPECT_EQ(s.aborted, 1u);
  EXPECT_EQ(s.indeterminate, 1u);
  EXPECT_EQ(s.operations, 10u);
  EXPECT_EQ(s.operations_by_kind[static_cast<std::size_t>(OpKind::kWrite)], 3u);
  EXPECT_EQ(s.operations_by_kind[static_cast<std::size_t>(OpKind::kListRead)], 2u);
  EXPECT_EQ(s.keys, 3u);
  EXPECT_EQ(s.list_keys, 1u);
  EXPECT_EQ(s.writes, 5u);
  EXPECT_EQ(s.reads, 6u);
  EXPECT_EQ(s.initial_reads, 3u);
  EXPECT_EQ(s.distinct_values, 4u);
}

TEST(Stats, CountsValuesOfSeveralWriters) {
  const auto s = compute_stats(counted());
  EXPECT_EQ(s.duplicated_values, 1u);
  EXPECT_EQ(s.keys_with_duplicates, 1u);
  EXPECT_EQ(s.most_writers, 2u);
  EXPECT_EQ(s.ambiguous_reads, 1u);
}

TEST(Stats, AReadOfAnInitialValueThatIsAlsoWrittenIsAmbiguous) {
  HistoryBuilder b;
  b.set_default_initial(b.value(0));
  b.begin(b.session("s"), TxnStatus::kCommitted);
  b.write(b.key(1), b.value(0));
  b.read(b.key(1), b.value(0));
  b.read(b.key(2), b.value(0));
  b.end();
  const auto s = compute_stats(*std::move(b).finish());
  EXPECT_EQ(s.ambiguous_reads, 1u);
  EXPECT_EQ(s.initial_reads, 2u);
  EXPECT_EQ(s.duplicated_values, 0u);
}

TEST(Stats, MeasuresTimeOverTransactionsWithBothTimes) {
  const auto s = compute_stats(counted());
  EXPECT_EQ(s.timed_transactions, 3u);
  EXPECT_EQ(s.span_ns, 200);
  EXPECT_EQ(s.most_open, 2u);
  EXPECT_DOUBLE_EQ(s.mean_open, 250.0 / 200.0);
}

TEST(Stats, TextIsAligned) {
  const auto text = stats_text(compute_stats(counted()), "h.json");
  EXPECT_EQ(text.substr(0, text.find("  in memory")),
            "h.json\n"
            "  format                        jepsen\n"
            "  sessions                      2\n"
            "  transactions                  4\n"
            "    committed                   2\n"
            "    aborted                     1\n"
            "    indeterminate               1\n"
            "  operations                    10\n"
            "    read                        3\n"
            "    write                       3\n"
            "    append                      1\n"
            "    list-read                   2\n"
            "    compare-and-set             1\n"
            "  operations a transaction      2.5\n"
            "  keys                          3 (1 list)\n"
            "  reads a write                 1.20\n"
            "  reads of the initial value    3\n"
            "  distinct written values       4\n"
            "  values with several writers   1 (on 1 key; at most 2 writers)\n"
            "  reads with several writers    1\n"
            "  time span                     200 ns\n"
            "  open transactions             1.2 on average, at most 2\n"
            "  transactions with both times  3\n");
}

TEST(Stats, JsonIsOneLine) {
  const auto text = stats_json(compute_stats(counted()), "a \"b\"\n.json");
  EXPECT_EQ(text.find('\n'), std::string::npos);
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json.at("file"), "a \"b\"\n.json");
  EXPECT_EQ(json.at("format"), "jepsen");
  EXPECT_EQ(json.at("transactions"), 4);
  EXPECT_EQ(json.at("operations_by_kind").at("write"), 3);
  EXPECT_EQ(json.at("span_ns"), 200);
}

TEST(Stats, PlacesOfTheFileAreNoTimes) {
  HistoryBuilder b;
  b.set_metadata("times", "line order");
  b.begin(b.session("a"), TxnStatus::kCommitted, {.invoke = 3, .complete = 10});
  b.end();
  const auto s = compute_stats(std::move(b).finish().value());
  const auto text = stats_text(s, "f");
  EXPECT_NE(text.find("  time span                     not recorded; 7 places of the file\n"),
            std::string::npos)
      << text;
  EXPECT_TRUE(nlohmann::json::parse(stats_json(s, "f")).at("span_ns").is_null());
}

TEST(Stats, AnEmptyHistory) {
  const auto s = compute_stats(History{});
  EXPECT_EQ(s.transactions, 0u);
  EXPECT_NE(stats_text(s, "f").find("time span                     not recorded"),
            std::string::npos);
  EXPECT_TRUE(nlohmann::json::parse(stats_json(s, "f")).at("span_ns").is_null());
}

TEST(Wording, NumbersAndTitlesAreForPeople) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(1234567), "1,234,567");
  EXPECT_EQ(report::counted(1, "cause"), "1 cause");
  EXPECT_EQ(report::counted(12345, "cause"), "12,345 causes");
  explain::Anomaly anomaly;
  anomaly.name = "causality-violation";
  anomaly.adya = "G-single";
  EXPECT_EQ(title_of(anomaly), "causality-violation (G-single, TAP-m or TAP-n)");
  anomaly.name = anomaly.adya = "G2-item";
  EXPECT_EQ(title_of(anomaly), "G2-item");
  EXPECT_EQ(in_markup("a<b\n\x01", "\n"), "a&lt;b\n ");
}

}  // namespace
}  // namespace cupel::report
