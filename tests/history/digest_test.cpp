// digest: every fact that decides a verdict changes it; names of sessions do not.
#include "data/history/digest.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "data/history/builder.hpp"

namespace cupel::history {
namespace {

struct Facts {
  std::int64_t value = 1;
  Time complete = 9;
  TxnStatus status = TxnStatus::kCommitted;
  bool delete_last = false;
  std::string session = "a";
};

std::uint64_t digest_of(const Facts& facts) {
  HistoryBuilder b;
  const auto x = b.key(ScalarView::of("x"));
  b.begin(b.session(facts.session), facts.status,
          {.invoke = 5, .complete = facts.complete, .label = 1});
  b.write(x, b.value(facts.value));
  if (facts.delete_last) b.erase(x, ValueId::none());
  b.end();
  const auto h = std::move(b).finish();
  EXPECT_TRUE(h.ok());
  return digest(*h);
}

std::uint64_t digest_of_range(std::vector<std::int64_t> rows) {
  HistoryBuilder b;
  b.begin(b.session("a"), TxnStatus::kCommitted);
  std::vector<RangeEntry> entries;
  for (const std::int64_t row : rows) entries.push_back({b.key(ScalarView::of("x")), b.value(row)});
  b.range_read(b.value(ScalarView::of("a")), b.value(ScalarView::of("z")), entries);
  b.end();
  const auto h = std::move(b).finish();
  EXPECT_TRUE(h.ok());
  return digest(*h);
}

TEST(Digest, EveryRowOfARangeReadCounts) {
  const std::set<std::uint64_t> all = {digest_of_range({1}), digest_of_range({1, 1}),
                                       digest_of_range({1, 2}), digest_of_range({2, 1})};
  EXPECT_EQ(all.size(), 4u);
}

TEST(Digest, DistinguishesHistories) {
  const std::set<std::uint64_t> all = {
      digest_of({}), digest_of({.value = 2}), digest_of({.complete = 10}),
      digest_of({.status = TxnStatus::kAborted}), digest_of({.delete_last = true})};
  EXPECT_EQ(all.size(), 5u);
  EXPECT_EQ(digest_of({}), digest_of({.session = "b"}));
}

}  // namespace
}  // namespace cupel::history
