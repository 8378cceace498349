// History and its builder: numbering, payloads, validation, memory.
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "data/history/builder.hpp"

namespace cupel::history {
namespace {

TEST(Builder, NumbersTransactionsSessionBySession) {
  HistoryBuilder b;
  const auto s = b.session("s"), t = b.session("t");
  const auto x = b.key(std::int64_t{1});
  for (std::uint32_t i = 0; i < 4; ++i) {
    b.begin(i % 2 == 0 ? t : s, TxnStatus::kCommitted, {.label = i});
    b.write(x, b.value(static_cast<std::int64_t>(i)));
    b.end();
  }
  const auto h = std::move(b).finish();
  ASSERT_TRUE(h.ok());
  EXPECT_EQ(h->label(TxnId(0)), 1u);
  EXPECT_EQ(h->label(TxnId(1)), 3u);
  EXPECT_EQ(h->label(TxnId(2)), 0u);
  EXPECT_EQ(h->session_begin(t), TxnId(2));
  EXPECT_EQ(h->op(OpId(h->first_op(TxnId(1)))).value, h->op(OpId(3)).value);
  EXPECT_EQ(h->txn_of(OpId(3)), TxnId(1));
  EXPECT_FALSE(h->has_times());
}

TEST(Builder, KeepsEveryKindOfOperation) {
  HistoryBuilder b;
  const auto x = b.key(ScalarView::of("x")), list = b.key(ScalarView::keyword("l"));
  const auto one = b.value(std::int64_t{1}), two = b.value(std::int64_t{2});
  b.begin(b.session("0"), TxnStatus::kCommitted, {.invoke = 5, .complete = 9, .label = 7});
  b.read(x, ValueId::none());
  b.insert(x, one);
  b.erase(x, ValueId::none());
  b.compare_and_set(x, one, two, false);
  const ValueId elements[] = {one, two};
  b.list_read(list, elements);
  b.list_read_unknown(list);
  b.append(list, two);
  const RangeEntry entries[] = {{x, two}};
  b.range_read(one, two, entries);
  b.end();
  const auto h = std::move(b).finish();
  ASSERT_TRUE(h.ok());
  EXPECT_FALSE(h->op(OpId(0)).value.valid());
  EXPECT_EQ(h->op(OpId(2)).value, h->null_value());
  EXPECT_FALSE(h->compare_and_set(h->op(OpId(3))).succeeded);
  EXPECT_EQ(h->list(h->op(OpId(4))).size(), 2u);
  EXPECT_FALSE(h->list_known(h->op(OpId(5))));
  EXPECT_EQ(h->range(h->op(OpId(7))).entries.front().value, two);
  EXPECT_TRUE(h->is_list(list));
  EXPECT_FALSE(h->is_list(x));
  EXPECT_EQ(h->invoke(TxnId(0)), 5);
  EXPECT_EQ(h->complete(TxnId(0)), 9);
  EXPECT_TRUE(h->has_all_times());
}

TEST(Builder, RefusesAKeyThatIsListAndRegister) {
  HistoryBuilder b;
  const auto x = b.key(ScalarView::of("x"));
  b.begin(b.session("0"), TxnStatus::kCommitted);
  b.append(x, b.value(std::int64_t{1}));
  b.write(x, b.value(std::int64_t{2}));
  b.end();
  const auto h = std::move(b).finish();
  ASSERT_FALSE(h.ok());
  EXPECT_NE(h.error().message.find("key x"), std::string::npos);
}

// The real limit is 2^32 - 2 of each; here it is small.
TEST(Builder, RefusesMoreThanItsNumbersHold) {
  const auto built = [](std::size_t most, auto fill) {
    HistoryBuilder b(most);
    b.begin(b.session("0"), TxnStatus::kCommitted, {});
    fill(b);
    b.end();
    const auto h = std::move(b).finish();
    return h.ok() ? std::string("ok") : h.error().message;
  };
  const auto list = [](HistoryBuilder& b) {
    const ValueId elements[] = {b.value(1), b.value(2)};
    b.list_read(b.key(1), elements);
    b.list_read(b.key(1), elements);
  };
  EXPECT_EQ(built(4, list), "ok");
  EXPECT_EQ(built(3, list),
            "the history has 4 elements of list reads; at most 3 can be held. Check parts of it");
  const auto range = [](HistoryBuilder& b) {
    const RangeEntry rows[] = {{b.key(1), b.value(1)}, {b.key(2), b.value(2)}};
    b.range_read(b.value(1), b.value(2), rows);
    b.range_read(b.value(1), b.value(2), rows);
  };
  EXPECT_EQ(built(4, range), "ok");
  EXPECT_EQ(built(3, range),
            "the history has 4 rows of range reads; at most 3 can be held. Check parts of it");
  const auto writes = [](HistoryBuilder& b) {
    for (int i = 0; i < 3; ++i) b.write(b.key(0), b.value(0));
  };
  EXPECT_EQ(built(3, writes), "ok");
  EXPECT_EQ(built(2, writes),
            "the history has 3 operations; at most 2 can be held. Check parts of it");
  const auto values = [](HistoryBuilder& b) {
    for (int i = 0; i < 3; ++i) b.value(i);
  };
  EXPECT_EQ(built(3, values), "the history has 4 values; at most 3 can be held. Check parts of it");
  const auto keys = [](HistoryBuilder& b) {
    for (int i = 0; i < 3; ++i) b.key(i);
  };
  EXPECT_EQ(built(2, keys), "the history has 3 keys; at most 2 can be held. Check parts of it");
}

TEST(Builder, RefusesTimeThatRunsBackward) {
  HistoryBuilder b;
  b.begin(b.session("0"), TxnStatus::kCommitted, {.invoke = 9, .complete = 5, .label = 3});
  b.end();
  const auto h = std::move(b).finish();
  ASSERT_FALSE(h.ok());
  EXPECT_NE(h.error().message.find("transaction 3"), std::string::npos);
}

TEST(Builder, CancelForgetsATransaction) {
  HistoryBuilder b;
  b.begin(b.session("0"), TxnStatus::kCommitted);
  b.write(b.key(std::int64_t{1}), b.value(std::int64_t{1}));
  b.cancel();
  EXPECT_EQ(b.txn_count(), 0u);
  EXPECT_EQ(b.op_count(), 0u);
}

TEST(Builder, TheDefaultInitialValueGivesWayWhereItIsWritten) {
  HistoryBuilder b;
  const auto x = b.key(std::int64_t{1}), y = b.key(std::int64_t{2}), z = b.key(std::int64_t{3});
  const auto zero = b.value(std::int64_t{0});
  b.set_default_initial(zero, /*unless_written=*/true);
  b.begin(b.session("0"), TxnStatus::kCommitted);
  b.write(x, zero);
  b.read(y, zero);
  b.end();
  b.begin(b.session("0"), TxnStatus::kAborted);
  b.write(z, zero);
  b.end();
  const auto h = std::move(b).finish();
  ASSERT_TRUE(h.ok());
  EXPECT_EQ(h->initial_value(x), h->null_value());
  EXPECT_EQ(h->initial_value(y), zero);
  EXPECT_EQ(h->initial_value(z), zero);
}

TEST(Scalars, AreEqualOnlyIfTheirKindsAre) {
  ScalarTable table;
  EXPECT_NE(table.intern(ScalarView::of(1)), table.intern(ScalarView::of("1")));
  EXPECT_NE(table.intern(ScalarView::of("a")), table.intern(ScalarView::keyword("a")));
  EXPECT_EQ(table.intern(ScalarView::of("a")), table.find(ScalarView::of("a")));
  EXPECT_EQ(table.at(table.intern(ScalarView::of("long text"))).text, "long text");
}

TEST(Scalars, CountersAndOtherIntegersKeepOneIdEach) {
  ScalarTable table;
  // Large first, so that growth of the counters' array meets ids it did not make.
  std::vector<std::int64_t> integers = {5000,
                                        -1,
                                        3,
                                        100000,
                                        std::numeric_limits<std::int64_t>::max(),
                                        std::numeric_limits<std::int64_t>::min()};
  for (std::int64_t i = 0; i < 20000; ++i) integers.push_back(i * 7 % 20001);
  std::vector<std::uint32_t> ids;
  for (const auto i : integers) ids.push_back(table.intern(i));
  for (std::size_t at = 0; at < integers.size(); ++at) {
    EXPECT_EQ(table.intern(integers[at]), ids[at]);
    EXPECT_EQ(table.find(ScalarView::of(integers[at])), ids[at]);
    EXPECT_EQ(table.at(ids[at]), ScalarView::of(integers[at]));
  }
  EXPECT_EQ(table.find(ScalarView::of(20001)), std::nullopt);
  EXPECT_EQ(table.find(ScalarView::of(-2)), std::nullopt);
}

TEST(History, RangesOfKeysFollowTheirOrder) {
  HistoryBuilder b;
  const auto five = b.key(std::int64_t{5}), minus = b.key(std::int64_t{-3}),
             twelve = b.key(std::int64_t{12});
  b.begin(b.session("0"), TxnStatus::kCommitted);
  b.write(five, b.value(std::int64_t{1}));
  b.write(minus, b.value(std::int64_t{2}));
  b.write(twelve, b.value(std::int64_t{3}));
  b.range_read(b.value(std::int64_t{-3}), b.value(std::int64_t{11}), {});
  b.end();
  const auto h = std::move(b).finish();
  ASSERT_TRUE(h.ok());
  const auto keys = h->keys_between(ScalarView::of(-3), ScalarView::of(11));
  ASSERT_EQ(keys.size(), 2u);
  EXPECT_EQ(keys[0], minus);
  EXPECT_EQ(keys[1], five);
}

// The promise of history.hpp: 24 bytes an operation, 32 a transaction.
TEST(History, IsAsCompactAsItSays) {
  HistoryBuilder b;
  constexpr std::uint32_t kTxns = 20000, kOps = 8;
  std::int64_t value = 0;
  for (std::uint32_t t = 0; t < kTxns; ++t) {
    b.begin(b.session(std::to_string(t % 20)), TxnStatus::kCommitted,
            {.invoke = t, .complete = t + 1, .label = t});
    for (std::uint32_t i = 0; i < kOps; ++i) {
      const auto key = b.key(static_cast<std::int64_t>((t * 31 + i * 7) % 5000));
      if (i % 2 == 0) {
        b.write(key, b.value(++value));
      } else {
        b.read(key, b.value(value));
      }
    }
    b.end();
  }
  const auto h = std::move(b).finish();
  ASSERT_TRUE(h.ok());
  EXPECT_LE(h->resident_bytes(), kTxns * 32ull + kTxns * kOps * 24ull);
}

}  // namespace
}  // namespace cupel::history
