// Levels without session order, on histories too large to search blindly whose
// sessions the order contradicts in thousands of places. A quarter as large in `make test` as in
// `make long` (support/rounds.hpp).
//
// A store that gives snapshot isolation (or serializability) makes a history;
// then transactions change places within their sessions. That changes nothing for
// these levels, so the verdict is known, whatever is injected besides.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <ostream>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "data/history/builder.hpp"
#include "data/workload/generate.hpp"
#include "engine/check/check.hpp"
#include "support/rounds.hpp"

namespace cupel {
namespace {

using check::Verdict;
using history::History;
using history::OpId;
using history::SessionId;
using history::TxnId;
using levels::Level;

// Each transaction, with probability `share`, changes places with one up to
// `reach` later in its session. Times stay with the transactions.
History with_sessions_disturbed(const History& h, double share, std::uint64_t reach,
                                std::uint64_t seed) {
  base::Random random(seed);
  history::HistoryBuilder b;
  b.set_default_initial(b.null_value());
  for (std::uint32_t s = 0; s < h.session_count(); ++s) {
    std::vector<TxnId> txns;
    for (auto t = h.session_begin(SessionId(s)).raw; t < h.session_end(SessionId(s)).raw; ++t) {
      txns.push_back(TxnId(t));
    }
    for (std::size_t i = 0; i + 1 < txns.size(); ++i) {
      if (!random.chance(share)) continue;
      std::swap(txns[i], txns[std::min(txns.size() - 1, i + 1 + random.below(reach))]);
    }
    const auto session = b.session(h.session_name(SessionId(s)));
    for (const TxnId t : txns) {
      b.begin(session, h.status(t), {h.invoke(t), h.complete(t), h.label(t)});
      for (auto i = h.first_op(t); i < h.last_op(t); ++i) b.copy(h, OpId(i));
      b.end();
    }
  }
  auto built = std::move(b).finish();
  EXPECT_TRUE(built.ok());
  return *std::move(built);
}

struct Case {
  const char* name;
  workload::Store store = workload::Store::kSnapshotIsolation;
  workload::Shape shape = workload::Shape::kRegister;
  std::uint32_t txns = 50'000;
  std::uint64_t keys = 20'000;
  double duplicates = 0;
  bool times = true;
  double share = 0.01;  // of transactions that change places
  std::uint64_t reach = 3;
  const char* inject = nullptr;
  // kUnknown: nobody knows, and the engine must (a witness is replayed, a proof
  // has no session in it).
  Verdict serializable = Verdict::kUnknown, snapshot_isolation = Verdict::kSatisfied;
  Verdict strong_session = Verdict::kViolated;  // the disturbance shows
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

class WithoutSessionOrder : public testing::TestWithParam<Case> {};

TEST_P(WithoutSessionOrder, IsDecided) {
  const Case& c = GetParam();
  workload::GenerateOptions o;
  o.store = c.store;
  o.shape = c.shape;
  o.sessions = 20;
  o.txns_per_session = test::rounds(c.txns) / o.sessions;
  o.keys = test::rounds(c.keys);
  o.duplicates = c.duplicates;
  o.times = c.times;
  if (c.inject != nullptr) o.inject = {c.inject};
  auto generated = workload::generate(o);
  ASSERT_TRUE(generated.ok());
  const History h = with_sessions_disturbed(*generated, c.share, c.reach, 7);
  const Verdict generalized = c.snapshot_isolation;
  std::vector<std::pair<Level, Verdict>> wanted = {
      {Level::kSerializable, c.serializable},
      {Level::kSnapshotIsolation, c.snapshot_isolation},
      {Level::kStrongSessionSnapshotIsolation, c.strong_session}};
  if (c.times) wanted.emplace_back(Level::kGeneralizedSnapshotIsolation, generalized);
  for (const auto& [level, verdict] : wanted) {
    check::Options options;
    options.asked = {level};
    options.timeout_seconds = 200;
    const auto result = check::check(h, options);
    const Verdict answer = result.levels[0].verdict;
    EXPECT_NE(answer, Verdict::kUnknown) << levels::name(level) << ": " << result.levels[0].detail;
    if (verdict != Verdict::kUnknown) {
      EXPECT_EQ(check::to_string(answer), check::to_string(verdict)) << levels::name(level);
    }
    std::printf("  %s: %s by %s, %.2f s\n", std::string(levels::name(level)).c_str(),
                std::string(check::to_string(answer)).c_str(), result.levels[0].decided_by.c_str(),
                result.levels[0].seconds);
  }
}

using workload::Shape;
using workload::Store;
constexpr auto kYes = Verdict::kSatisfied;
constexpr auto kNo = Verdict::kViolated;
constexpr auto kAny = Verdict::kUnknown;

INSTANTIATE_TEST_SUITE_P(
    Histories, WithoutSessionOrder,
    testing::Values(
        Case{.name = "few_places", .share = 0.0005, .strong_session = kAny},
        Case{.name = "many_places", .share = 0.05},
        Case{.name = "every_place", .share = 1, .reach = 2},
        Case{.name = "far_apart", .share = 0.001, .reach = 200},
        // Too few transactions change places in a quarter of it for anybody to see it.
        Case{.name = "without_times",
             .times = false,
             .share = 0.01,
             .strong_session = test::all_rounds() ? kNo : kAny},
        Case{.name = "far_apart_without_times", .times = false, .share = 0.001, .reach = 200},
        Case{.name = "mini_without_times",
             .shape = Shape::kMini,
             .keys = 2'000,
             .times = false,
             .share = 0.02},
        Case{.name = "few_keys_without_times", .keys = 500, .times = false, .share = 0.01},
        Case{.name = "few_keys", .keys = 500, .share = 0.01},
        Case{.name = "mini_transactions", .shape = Shape::kMini, .keys = 2'000, .share = 0.02},
        Case{.name = "lists",
             .shape = Shape::kListAppend,
             .txns = 20'000,
             .keys = 2'000,
             .share = 0.01},
        Case{.name = "duplicates", .duplicates = 0.05, .share = 0.005, .strong_session = kAny},
        Case{.name = "serializable",
             .store = Store::kSerializable,
             .share = 0.01,
             .serializable = kYes},
        Case{.name = "write_skew",
             .store = Store::kSerializable,
             .share = 0.01,
             .inject = "write-skew",
             .serializable = kNo},
        Case{.name = "lost_update",
             .share = 0.01,
             .inject = "lost-update",
             .serializable = kNo,
             .snapshot_isolation = kNo},
        Case{.name = "long_fork",
             .share = 0.01,
             .inject = "long-fork",
             .serializable = kNo,
             .snapshot_isolation = kNo},
        Case{.name = "session_guarantee",
             .store = Store::kSerializable,
             .share = 0,
             .inject = "session-guarantee-violation",
             .serializable = kYes},
        Case{.name = "large", .txns = 200'000, .keys = 40'000, .share = 0.01},
        Case{.name = "large_long_fork",
             .txns = 200'000,
             .keys = 40'000,
             .share = 0.01,
             .inject = "long-fork",
             .serializable = kNo,
             .snapshot_isolation = kNo},
        Case{.name = "large_serializable",
             .store = Store::kSerializable,
             .txns = 200'000,
             .keys = 40'000,
             .share = 0.01,
             .serializable = kYes,
             .strong_session = kAny}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace cupel
