// Rows as keys of the store, and histories in words.
#include "mock/engines/rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "data/history/builder.hpp"

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

// A row of two columns, as an engine sends it.
std::string row_text(const std::string& id, const std::string& n) {
  return std::string("id") + kValue + id + kNextColumn + "n" + kValue + n;
}

TEST(EngineRows, WithOnePrimaryKeyAreOneRow) {
  Rows rows;
  const auto first = rows.add(kDatabase, insertion({0, 1}, "5", row_text("5", "1")));
  const auto other = rows.add(kDatabase, insertion({0, 2}, "6", row_text("6", "1")));
  const auto again = rows.add(kDatabase, insertion({0, 3}, "5", row_text("5", "2")));
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
  const auto first = rows.add(kDatabase, insertion({0, 1}, "", ""));
  EXPECT_NE(first, rows.add(kDatabase, insertion({0, 2}, "", "")));
}

TEST(EngineRows, HaveVersions) {
  Rows rows;
  const auto row = rows.add(kDatabase, insertion({0, 1}, "5", ""));
  EXPECT_FALSE(rows.version(row, {}).valid());  // null: nobody wrote it
  const auto one = rows.add_version({0, 1}, row_text("5", "1"));
  const auto two = rows.add_version({0, 2}, row_text("5", "2"));
  EXPECT_EQ(rows.version(row, one), (Position{0, 1}));
  EXPECT_EQ(rows.version(row, two), (Position{0, 2}));
  EXPECT_FALSE(rows.version(row, rows.add_version({}, "")).valid());
}

TEST(EngineRows, AreCopiedWithTheirDatabase) {
  Rows rows;
  const auto row = rows.add(kDatabase, insertion({0, 1}, "5", ""));
  rows.set_latest(row, rows.add_version({0, 2}, row_text("5", "2")));
  rows.start_over(kDatabase);
  rows.copy_database(kDatabase, 6);
  const auto copy = rows.find({6, kTable}, {0, 1});
  ASSERT_TRUE(copy);
  EXPECT_EQ(rows.version(*copy, {}), (Position{0, 2}));
  EXPECT_EQ(rows.add(6, insertion({0, 7}, "5", "")), *copy);
  rows.start_over(kDatabase);
  EXPECT_FALSE(rows.find({6, kTable}, {0, 1}));
  EXPECT_TRUE(rows.find({kDatabase, kTable}, {0, 1}));
}

TEST(EngineRows, WithoutABaseHaveKeysInTheRanges) {
  Rows rows;
  std::vector<std::string> keys;
  const auto add = [&](std::uint16_t at, bool kept) {
    const auto row = rows.add(kDatabase, insertion({0, at}, std::to_string(at), ""));
    if (kept) rows.set_base(row, {0, at}, row_text("5", "2"));
    keys.push_back(Rows::store_key(row));
  };
  const auto covered = [&] {
    const auto ranges = rows.keys_without_base({kDatabase, kTable});
    std::string found;
    for (const auto& key : keys) {
      found += std::any_of(ranges.begin(), ranges.end(), [&](const Rows::Range& range) {
        return range.first <= key && key < range.second;
      });
    }
    std::replace(found.begin(), found.end(), '\0', '-');
    std::replace(found.begin(), found.end(), '\1', 'x');
    return found;
  };
  EXPECT_EQ(covered(), "");
  add(1, false);
  EXPECT_EQ(covered(), "x");
  add(2, true);
  add(3, true);
  add(4, false);
  EXPECT_EQ(covered(), "x--x");
  add(5, false);
  EXPECT_EQ(covered(), "x--xx");
  add(6, true);
  EXPECT_EQ(covered(), "x--xx-");
  rows.copy_database(kDatabase, 6);
  EXPECT_EQ(covered(), "x--xx-");
  rows.start_over(kDatabase);
  EXPECT_EQ(covered(), "x--xx-");
  for (std::uint16_t at = 7; at < 207; ++at) add(at, at % 2 == 0);
  EXPECT_EQ(rows.keys_without_base({kDatabase, kTable}).size(), 64u);
  EXPECT_EQ(covered().substr(206 - 4), "x-x-");
}

TEST(EngineRows, ReplaceKeysInMessages) {
  Rows rows;
  rows.name_database(kDatabase, kMainDatabase);
  const auto row = rows.add(kDatabase, insertion({0, 1}, "5", ""));
  EXPECT_EQ(rows.with_names("the write of " + Rows::store_key(row) + " contradicts"),
            "the write of accounts(5) contradicts");
  EXPECT_EQ(rows.with_names("0000000f/0000000f"), "0000000f/0000000f");
  const auto value = rows.value_key({kDatabase, kTable}, "1:8180600362967416148");
  for (const auto& [low, high] : rows.keys_without_base({kDatabase, kTable}))
    EXPECT_FALSE(low <= value && value < high) << low << " to " << high;
  EXPECT_EQ(rows.with_names("concurrent update of " + value),
            "concurrent update of a unique key of accounts");
  EXPECT_EQ(rows.with_names("update of 000000000/=1:8, by x"),
            "update of a unique key of accounts, by x");
  EXPECT_EQ(rows.with_names("update of 0000000f0/=1:8"), "update of 0000000f0/=1:8");
}

TEST(EngineRows, AreWordsInAHistory) {
  Rows rows;
  rows.name_database(kDatabase, kMainDatabase);
  const auto row = rows.add(kDatabase, insertion({0, 1}, "5", ""));
  rows.set_base(row, {0, 1}, row_text("5", "1"));
  const auto fresh = rows.add(kDatabase, insertion({0, 2}, "6", ""));
  const auto same = rows.add_version({0, 3}, row_text("5", "1")), gone = rows.add_version({}, "");

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

TEST(EngineRows, ThatChangeAreNamedByTheColumnsThatDiffer) {
  RowTexts texts;
  const auto of = [&](const std::vector<std::pair<std::string, std::string>>& columns) {
    std::string text;
    for (const auto& [name, value] : columns) {
      if (!text.empty()) text += kNextColumn;
      text += name + kValue + value;
    }
    return texts.of(text);
  };
  const auto chair = of({{"id", "7"}, {"name", "chair"}, {"stock", "10"}, {"note", ""}});
  const auto sold = of({{"id", "7"}, {"name", "chair"}, {"stock", "9"}, {"note", ""}});
  const auto noted = of({{"id", "7"}, {"name", "chair"}, {"stock", "10"}, {"note", "new"}});
  const auto words = [&](const std::vector<const RowTexts::Text*>& versions) {
    std::string all;
    for (const auto* version : versions)
      all += texts.words(*version, texts.differing(versions)) + ";";
    return all;
  };
  EXPECT_EQ(words({&chair}), "(7, chair, 10, );");
  EXPECT_EQ(words({&chair, &chair}), "(7, chair, 10, );(7, chair, 10, );");
  EXPECT_EQ(words({&chair, &sold}), "stock=10;stock=9;");
  EXPECT_EQ(words({&chair, &sold, &noted}), "stock=10, note=;stock=9, note=;stock=10, note=new;");
  // The table was altered: what was not there cannot be compared.
  const auto wider = of({{"id", "7"}, {"name", "chair"}, {"stock", "9"}});
  EXPECT_EQ(words({&chair, &wider}), "(7, chair, 10, );(7, chair, 9);");
  const auto renamed = of({{"id", "7"}, {"name", "chair"}, {"number", "9"}, {"note", ""}});
  EXPECT_EQ(words({&chair, &renamed}), "(7, chair, 10, );(7, chair, 9, );");
  // What is no row of columns is shown, too.
  const auto none = texts.of("");
  EXPECT_EQ(words({&none}), "();");
}

}  // namespace
}  // namespace cupel::engines
