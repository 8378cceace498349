// Rows as keys of the store, and histories in words.
#include "engines/rows.hpp"

#include <gtest/gtest.h>

#include <string>

#include "history/builder.hpp"

namespace cupel::engines {
namespace {

constexpr std::uint32_t kDatabase = 5, kTable = 16384;

Write insertion(Position at, const std::string& key, const std::string& value) {
  return {.table = kTable,
          .row = at,
          .version = at,
          .insert = true,
          .table_name = "accounts",
          .key = key,
          .value = value};
}

TEST(EngineRows, WithOnePrimaryKeyAreOneRow) {
  Rows rows;
  const auto first = rows.add(kDatabase, insertion({0, 1}, "5", "(5, 1)"));
  const auto other = rows.add(kDatabase, insertion({0, 2}, "6", "(6, 1)"));
  const auto again = rows.add(kDatabase, insertion({0, 3}, "5", "(5, 2)"));
  EXPECT_EQ(first, again);
  EXPECT_NE(first, other);
  EXPECT_EQ(rows.find({kDatabase, kTable}, {0, 3}), first);
  EXPECT_FALSE(rows.find({kDatabase, kTable}, {0, 4}));
  EXPECT_FALSE(rows.find({kDatabase + 1, kTable}, {0, 1}));
  rows.name_database(kDatabase, kMainDatabase);
  EXPECT_EQ(rows.name(first), "accounts(5)");
  rows.name_database(kDatabase, "shop");
  EXPECT_EQ(rows.name(first), "shop.accounts(5)");
}

TEST(EngineRows, WithoutPrimaryKeyAreDifferent) {
  Rows rows;
  const auto first = rows.add(kDatabase, insertion({0, 1}, "", "(1)"));
  EXPECT_NE(first, rows.add(kDatabase, insertion({0, 2}, "", "(1)")));
}

TEST(EngineRows, HaveVersions) {
  Rows rows;
  const auto row = rows.add(kDatabase, insertion({0, 1}, "5", ""));
  EXPECT_FALSE(rows.version(row, {}).valid());  // null: nobody wrote it
  const auto one = rows.add_version({0, 1}, "(5, 1)");
  const auto two = rows.add_version({0, 2}, "(5, 2)");
  EXPECT_EQ(rows.version(row, one), (Position{0, 1}));
  EXPECT_FALSE(rows.latest(row).valid());
  rows.set_latest(row, two);
  EXPECT_EQ(rows.latest(row), (Position{0, 2}));
  rows.set_latest(row, rows.add_version({}, ""));
  EXPECT_FALSE(rows.latest(row).valid());
}

TEST(EngineRows, AreCopiedWithTheirDatabase) {
  Rows rows;
  const auto row = rows.add(kDatabase, insertion({0, 1}, "5", ""));
  rows.set_latest(row, rows.add_version({0, 2}, "(5, 2)"));
  rows.start_over(kDatabase);
  rows.copy_database(kDatabase, 6);
  const auto copy = rows.find({6, kTable}, {0, 1});
  ASSERT_TRUE(copy);
  EXPECT_EQ(rows.version(*copy, {}), (Position{0, 2}));
  EXPECT_EQ(rows.latest(*copy), (Position{0, 2}));
  EXPECT_EQ(rows.add(6, insertion({0, 7}, "5", "")), *copy);
  rows.start_over(kDatabase);
  EXPECT_FALSE(rows.find({6, kTable}, {0, 1}));
  EXPECT_TRUE(rows.find({kDatabase, kTable}, {0, 1}));
}

TEST(EngineRows, OfTheFutureHaveKeysAfterThePresentOnes) {
  Rows rows;
  const auto row = rows.add(kDatabase, insertion({0, 1}, "5", ""));
  const auto [low, high] = rows.unused_keys({kDatabase, kTable});
  EXPECT_LT(Rows::store_key(row), low);
  const auto next = rows.add(kDatabase, insertion({0, 2}, "6", ""));
  EXPECT_GE(Rows::store_key(next), low);
  EXPECT_LT(Rows::store_key(next), high);
}

TEST(EngineRows, ReplaceKeysInMessages) {
  Rows rows;
  rows.name_database(kDatabase, kMainDatabase);
  const auto row = rows.add(kDatabase, insertion({0, 1}, "5", ""));
  EXPECT_EQ(rows.with_names("the write of " + Rows::store_key(row) + " contradicts"),
            "the write of accounts(5) contradicts");
  EXPECT_EQ(rows.with_names("0000000f/0000000f"), "0000000f/0000000f");
}

TEST(EngineRows, AreWordsInAHistory) {
  Rows rows;
  rows.name_database(kDatabase, kMainDatabase);
  const auto row = rows.add(kDatabase, insertion({0, 1}, "5", ""));
  rows.set_base(row, {0, 1}, "(5, 1)");
  const auto fresh = rows.add(kDatabase, insertion({0, 2}, "6", ""));
  const auto same = rows.add_version({0, 3}, "(5, 1)"), gone = rows.add_version({}, "");

  history::HistoryBuilder builder;
  const auto key = builder.key(history::ScalarView::of(std::string_view(Rows::store_key(row))));
  const auto other = builder.key(history::ScalarView::of(std::string_view(Rows::store_key(fresh))));
  builder.begin(builder.session("a"), history::TxnStatus::kCommitted, {.label = 0});
  builder.read(key, builder.null_value());
  builder.read(other, builder.null_value());
  builder.write(key, builder.value(same.integer));
  builder.write(key, builder.value(gone.integer));
  builder.end();
  const auto words = rows.in_words(*std::move(builder).finish());
  ASSERT_TRUE(words.ok());
  std::string text;
  for (std::uint32_t i = 0; i < words->op_count(); ++i) {
    const auto op = words->op(history::OpId(i));
    text += words->key(op.key).to_string() + "=" + words->value(op.value).to_string() + ";";
  }
  EXPECT_EQ(text, "accounts(5)=(5, 1);accounts(6)=null;accounts(5)=(5, 1) #2;accounts(5)=deleted;");
  EXPECT_EQ(words->value(words->initial_value(words->op(history::OpId(0)).key)).to_string(),
            "(5, 1)");
}

}  // namespace
}  // namespace cupel::engines
