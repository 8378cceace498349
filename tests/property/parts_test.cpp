// Accesses of long histories are collected in two parts: what comes of them against
// what is collected in one, which a compare-and-set on a key of its own makes of it.
#include <gtest/gtest.h>

#include <vector>

#include "base/random.hpp"
#include "history/builder.hpp"
#include "levels/accesses.hpp"

namespace cupel::levels {
namespace {

// Reads of the past, of values written twice, of aborted, intermediate, future and missing
// writes, own ones, and some repeated.
history::History random_history(std::uint64_t seed, bool whole) {
  base::Random random(seed);
  history::HistoryBuilder b;
  b.set_default_initial(b.value(std::int64_t{0}));
  constexpr std::int64_t kKeys = 500;
  std::int64_t last = 0;
  for (int t = 0; t < 20'000; ++t) {
    const auto session = b.session("s" + std::to_string(random.below(7)));
    b.begin(session, random.chance(0.05)   ? history::TxnStatus::kAborted
                     : random.chance(0.05) ? history::TxnStatus::kIndeterminate
                                           : history::TxnStatus::kCommitted);
    for (auto ops = 1 + random.below(6); ops > 0; --ops) {
      const auto key = b.key(static_cast<std::int64_t>(random.below(kKeys)));
      const auto any = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(last) + 2));
      if (random.chance(0.5)) {
        b.write(key, b.value(random.chance(0.05) ? any : ++last));
      } else if (random.chance(0.3)) {
        b.read(key, b.value(std::int64_t{0}));
      } else {
        b.read(key, b.value(any));
      }
    }
    b.end();
  }
  if (whole) {
    b.begin(b.session("last"), history::TxnStatus::kCommitted);
    b.compare_and_set(b.key(kKeys), b.value(std::int64_t{0}), b.value(last + 1), true);
    b.end();
  }
  return *std::move(b).finish();
}

TEST(Parts, SayWhatTheWholeSays) {
  for (const unsigned threads : {1u, 2u}) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      base::Budget budget;
      const auto h = random_history(seed, false), one = random_history(seed, true);
      const auto parts = collect_accesses(h, ListChoices(h), {}, budget, threads);
      const auto whole = collect_accesses(one, ListChoices(one), {}, budget, threads);
      ASSERT_TRUE(parts.complete && whole.complete);
      ASSERT_EQ(parts.internal.size(), whole.internal.size());
      EXPECT_GT(parts.internal.size(), 1000u);
      for (std::size_t i = 0; i < parts.internal.size(); ++i) {
        EXPECT_EQ(parts.internal[i].kind, whole.internal[i].kind);
        EXPECT_EQ(parts.internal[i].read, whole.internal[i].read);
        EXPECT_EQ(parts.internal[i].other, whole.internal[i].other);
      }
      ASSERT_EQ(parts.txns.size() + 1, whole.txns.size());
      ASSERT_EQ(parts.reads.size() + 1, whole.reads.size());
      const auto candidates = [](const Accesses& a, std::uint32_t first, std::uint32_t last) {
        return std::vector(a.candidates.begin() + first, a.candidates.begin() + last);
      };
      for (std::size_t r = 0; r < parts.reads.size(); ++r) {
        const auto &p = parts.reads[r], &w = whole.reads[r];
        ASSERT_EQ(p.op, w.op);
        ASSERT_EQ(p.owner, w.owner);
        ASSERT_EQ(p.repeated, w.repeated);
        ASSERT_EQ(candidates(parts, p.first_candidate, p.last_candidate),
                  candidates(whole, w.first_candidate, w.last_candidate));
        ASSERT_EQ(candidates(parts, p.joint_first, p.joint_last),
                  candidates(whole, w.joint_first, w.joint_last));
      }
    }
  }
}

}  // namespace
}  // namespace cupel::levels
