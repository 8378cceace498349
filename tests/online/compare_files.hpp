// Random histories as files, of JSON lines or cupel's, decided in the smallest windows and as a
// whole: shared by the quick and the long test.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/budget.hpp"
#include "base/random.hpp"
#include "base/temp_dir.hpp"
#include "base/verdict.hpp"
#include "data/formats/formats.hpp"
#include "data/formats/transaction_stream.hpp"
#include "engine/levels/decide.hpp"
#include "engine/online/file_check.hpp"
#include "online/compare_all.hpp"

namespace cupel::test {

using base::Random;
using base::Verdict;
using history::kNoTime;
using history::Time;
using history::TxnStatus;
using online::Finding;

inline constexpr Level kSliding[] = {Level::kReadCommitted, Level::kReadAtomic,
                                     Level::kSnapshotIsolation,
                                     Level::kGeneralizedSnapshotIsolation, Level::kSerializable};

using Version = std::pair<Atom, Atom>;

inline std::vector<Version> versions(const SketchTxn& txn, bool written) {
  std::vector<Version> all;
  for (const auto& op : txn.ops) {
    if (op.kind == history::OpKind::kCompareAndSet) {
      all.emplace_back(op.key, written ? op.desired : op.value);
    } else if (op.kind == history::OpKind::kRead || op.kind == history::OpKind::kListRead ||
               op.kind == history::OpKind::kRangeRead) {
      if (written) continue;
      if (op.kind == history::OpKind::kRead) all.emplace_back(op.key, op.value);
      for (const auto& element : op.list) all.emplace_back(op.key, element);
      all.insert(all.end(), op.entries.begin(), op.entries.end());
    } else if (written) {
      all.emplace_back(op.key, op.value);
    }
  }
  return all;
}

// Times for a sketch that does not have all: one session after the other goes on, at random, where
// possible after what it reads has begun. `by_nobody`: at random, as of clocks that differ.
inline void add_times(Sketch& sketch, Random& random, bool by_nobody) {
  std::multiset<Version> to_come;
  bool timed = true;
  for (const auto& session : sketch.sessions) {
    for (const auto& txn : session.txns) {
      const bool committed = txn.status == TxnStatus::kCommitted;
      timed = timed && txn.invoke != kNoTime && (!committed || txn.complete != kNoTime);
      for (auto& version : versions(txn, true)) to_come.insert(std::move(version));
    }
  }
  if (timed) return;
  std::vector<std::size_t> next(sketch.sessions.size(), 0);
  std::vector<Time> free(sketch.sessions.size(), 0);
  std::set<Version> begun;
  const auto waits = [&](const SketchTxn& txn) {
    const auto reads = versions(txn, false);
    return std::any_of(reads.begin(), reads.end(), [&](const Version& version) {
      return to_come.contains(version) && !begun.contains(version);
    });
  };
  for (Time now = 1;; now += random.between(1, 20)) {
    std::vector<std::size_t> possible, fit;
    for (std::size_t s = 0; s < next.size(); ++s) {
      if (next[s] == sketch.sessions[s].txns.size()) continue;
      possible.push_back(s);
      if (by_nobody || !waits(sketch.sessions[s].txns[next[s]])) fit.push_back(s);
    }
    if (possible.empty()) return;
    const auto& from = fit.empty() ? possible : fit;
    const auto s = from[random.below(from.size())];
    auto& txn = sketch.sessions[s].txns[next[s]++];
    for (auto& version : versions(txn, true)) begun.insert(std::move(version));
    now = std::max(now, free[s] + 1);
    txn.invoke = now;
    const bool committed = txn.status == TxnStatus::kCommitted;
    txn.complete = committed ? now + random.between(1, 40) : kNoTime;
    free[s] = std::max(txn.invoke, txn.complete);
  }
}

// Whose times are at random.
inline bool of_nobody(std::uint64_t seed) {
  return seed % 5 == 4;
}

struct FileTotals {
  std::size_t compared = 0, violated = 0, unknown = 0, forgotten = 0;
};

inline base::Result<online::FileAnswer> in_windows(const std::string& file, Level level, Time drift,
                                                   std::uint64_t seed, std::size_t slide,
                                                   online::Chain* chain = nullptr) {
  const online::OpenHistory open = [&] { return formats::stream_history(file); };
  auto source = open();
  if (!source.ok()) return std::move(source).error();
  const auto plan = online::plan_of(**source, [] { return false; },
                                    {.block = 1 + seed % 3, .late_blocks = 1 + seed % 5});
  if (!plan.ok()) return plan.error();
  EXPECT_EQ(plan->unfit, "");
  return online::check_file(open, *plan,
                            {.level = level,
                             .drift = drift,
                             .slide = slide,
                             .chain = chain,
                             .least_batch = 1 + seed % 4,
                             .forget_outcome_after = seed % 2 == 0 ? 3u : 200'000u});
}

inline void compare_one(const std::string& file, const history::History& h, Level level,
                        std::uint64_t seed, bool slides, FileTotals& totals) {
  const Time drift = seed % 4 == 3 ? 4 : 0;
  base::Budget budget;
  const auto whole = levels::Decider(h, drift, 1, false).decide(level, budget).status;
  const auto answer = in_windows(file, level, drift, seed, slides ? 3 + seed % 9 : 0);
  ASSERT_TRUE(answer.ok()) << answer.error().to_string();
  const auto where =
      fmt::format("{}, seed {}, {}\n{}", levels::name(level), seed, file, to_text(h)) +
      (answer->window ? "\nheld: " + to_text(*answer->window) : "");
  ++totals.compared;
  totals.violated += answer->finding == Finding::kViolated;
  // Where the times contradict what was read, windows of levels without real time cannot decide.
  totals.unknown += answer->finding == Finding::kUnknown && !of_nobody(seed);
  totals.forgotten += answer->forgotten;
  switch (answer->finding) {
    case Finding::kSatisfied:
      ASSERT_EQ(whole, Verdict::kSatisfied) << where;
      break;
    case Finding::kViolated:
      ASSERT_EQ(whole, Verdict::kViolated) << where;
      ASSERT_TRUE(answer->window) << where;
      EXPECT_EQ(levels::Decider(*answer->window, drift, 1, false).decide(level, budget).status,
                Verdict::kViolated)
          << where;
      break;
    case Finding::kRefused:
      ASSERT_EQ(whole, Verdict::kRefused) << where;
      break;
    case Finding::kUnknown:
      ASSERT_NE(answer->why, "") << where;
      break;
    case Finding::kGivenUp:
    case Finding::kAsk:
      FAIL() << where;
  }
}

// `most_unknown`: this share at most of the exact levels; of reads that were made up at random,
// many are of writes that come only later.
template <typename Make>
void compare_files(std::uint64_t first, std::uint64_t count, Make make, double most_unknown) {
  const auto folder = base::TempDir::make("cupel-test-");
  ASSERT_TRUE(folder.ok());
  const auto lines = folder->file("history.jsonl"), columns = folder->file("history.cupel");
  std::map<Level, FileTotals> totals;
  for (auto seed = first; seed < first + count; ++seed) {
    Random random(seed);
    Sketch sketch = make(seed);
    add_times(sketch, random, of_nobody(seed));
    const auto built = build(sketch);
    if (built.txn_count() == 0) continue;
    ASSERT_TRUE(formats::write(built, lines, {.format = formats::Format::kJepsen}).ok());
    // In the order of the completions, or session by session.
    const auto h = *formats::read(lines, {});
    ASSERT_TRUE(
        formats::write(seed % 3 == 0 ? built : h, columns, {.format = formats::Format::kCupel})
            .ok());
    const auto& file = seed % 2 == 0 ? lines : columns;
    for (const Level level : kExact) {
      ASSERT_NO_FATAL_FAILURE(compare_one(file, h, level, seed, false, totals[level]));
    }
    for (const Level level : kSliding) {
      ASSERT_NO_FATAL_FAILURE(compare_one(file, h, level, seed, true, totals[level]));
    }
  }
  for (const auto& [level, of] : totals) {
    fmt::print("{:34} {} files, {} violated, {} unknown, {} transactions forgotten\n",
               levels::name(level), of.compared, of.violated, of.unknown, of.forgotten);
    EXPECT_GT(of.violated, 0u) << levels::name(level);
    EXPECT_GT(of.forgotten, 0u) << levels::name(level);
    const bool exact = std::find(std::begin(kExact), std::end(kExact), level) != std::end(kExact);
    if (exact) {
      EXPECT_LE(static_cast<double>(of.unknown), most_unknown * static_cast<double>(of.compared))
          << levels::name(level);
    }
  }
}

}  // namespace cupel::test
