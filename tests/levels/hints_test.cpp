// Where transactions should stand by their clocks, labels or places, and what the labels are for.
#include "engine/levels/hints.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <span>
#include <vector>

#include "base/budget.hpp"
#include "data/history/builder.hpp"
#include "engine/levels/decide.hpp"

namespace cupel::levels {
namespace {

using history::HistoryBuilder;
using history::TxnStatus;

struct Line {
  const char* session;
  std::uint32_t label;
};

history::History of(std::span<const Line> lines) {
  HistoryBuilder b;
  for (const auto& line : lines) {
    b.begin(b.session(line.session), TxnStatus::kCommitted, {.label = line.label});
    b.end();
  }
  return std::move(b).finish().value();
}

bool mixes(std::vector<Line> lines) {
  return labels_mix_sessions(of(lines));
}

TEST(Hints, LabelsMixSessionsOrSayNothing) {
  EXPECT_TRUE(mixes({{"a", 0}, {"b", 1}, {"a", 2}, {"b", 3}}));
  EXPECT_TRUE(mixes({{"a", 7}, {"b", 4'000'000'000}, {"a", 4'000'000'001}})) << "far apart";
  EXPECT_TRUE(mixes({{"a", 2}, {"b", 0}, {"c", 1}})) << "each on its own";
  EXPECT_FALSE(mixes({{"a", 0}, {"a", 1}, {"b", 2}, {"b", 3}})) << "one session after the other";
  EXPECT_FALSE(mixes({{"a", 3}, {"b", 1}, {"a", 2}})) << "not in order within a";
  EXPECT_FALSE(mixes({{"a", 0}, {"b", 0}, {"a", 0}})) << "all the same";
}

TEST(Hints, ComeFromLabelsOrPlaces) {
  const auto mixed = of(std::vector<Line>{{"a", 0}, {"b", 1}, {"b", 2}, {"a", 3}});
  const Hints by_label(mixed, labels_mix_sessions(mixed));
  EXPECT_TRUE(by_label.across_sessions());
  EXPECT_LT(by_label.begin(history::TxnId(0)), by_label.begin(history::TxnId(2)));
  EXPECT_LT(by_label.begin(history::TxnId(3)), by_label.begin(history::TxnId(1)));
  const Hints by_place(mixed, false);
  EXPECT_FALSE(by_place.across_sessions());
  EXPECT_EQ(by_place.begin(history::TxnId(1)), by_place.begin(history::TxnId(3)));
}

TEST(Hints, ClocksAreComparedToTheNanosecond) {
  constexpr history::Time kEarly = history::kNoTime + 1;
  constexpr history::Time kLate = std::numeric_limits<history::Time>::max();
  HistoryBuilder b;
  const auto add = [&](const char* session, history::Time invoke, history::Time complete) {
    b.begin(b.session(session), TxnStatus::kCommitted, {.invoke = invoke, .complete = complete});
    b.end();
  };
  add("a", kEarly, kEarly + 3);
  add("b", kEarly + 1, kEarly + 2);
  add("c", kLate - 1, kLate);
  const auto h = std::move(b).finish().value();
  const Hints hints(h, false);
  EXPECT_LT(hints.begin(history::TxnId(0)), hints.begin(history::TxnId(1)));
  EXPECT_LT(hints.commit(history::TxnId(1)), hints.commit(history::TxnId(0)));
  EXPECT_LT(hints.commit(history::TxnId(0)), hints.commit(history::TxnId(2)));
  EXPECT_LT(hints.commit(history::TxnId(2)), 1ull << 62);
}

// Without the labels these take longer than anyone waits.
TEST(Hints, AHistoryInTheOrderOfItsLinesIsDecided) {
  std::mt19937 random(5);
  HistoryBuilder b;
  std::vector<int> now(5, 0);
  for (std::uint32_t i = 0; i < 400; ++i) {
    b.begin(b.session("s" + std::to_string(random() % 20)), TxnStatus::kCommitted, {.label = i});
    for (int k = 0; k < 2; ++k) {
      const auto key = random() % now.size();
      b.read(b.key(static_cast<std::int64_t>(key)), b.value(static_cast<std::int64_t>(now[key])));
      now[key] = static_cast<int>(random() % 10);
      b.write(b.key(static_cast<std::int64_t>(key)), b.value(static_cast<std::int64_t>(now[key])));
    }
    b.end();
  }
  b.set_default_initial(b.value(std::int64_t{0}));
  const auto h = std::move(b).finish().value();
  Decider decider(h, 0, 1, false);
  for (const Level level : {Level::kReadCommitted, Level::kCausal, Level::kSnapshotIsolation,
                            Level::kStrongSessionSerializable}) {
    base::Budget budget;
    EXPECT_EQ(decider.decide(level, budget).status, Verdict::kSatisfied) << name(level);
  }
}

}  // namespace
}  // namespace cupel::levels
