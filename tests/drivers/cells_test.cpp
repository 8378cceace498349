// Keys and rows as bytes: the order of keys, and that all comes back.
#include "databases/drivers/cells.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace cupel::drivers {
namespace {

using workload::ColumnType;
using workload::Datum;
using workload::Table;
using Key = std::vector<Datum>;

constexpr auto kLowest = std::numeric_limits<std::int64_t>::min();
constexpr auto kHighest = std::numeric_limits<std::int64_t>::max();
using namespace std::string_literals;

const Table kNumbers{.name = "n", .key = {{"k", ColumnType::kInteger}}, .columns = {}};
const Table kPairs{
    .name = "p", .key = {{"a", ColumnType::kText}, {"b", ColumnType::kInteger}}, .columns = {}};

TEST(Cells, OrderedKeysAreOrderedAsTheirValues) {
  const std::vector<Key> numbers{{kLowest}, {-256}, {-255}, {-1},       {0},
                                 {1},       {255},  {256},  {kHighest}, {"7"}};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto bytes = ordered_key(kNumbers, numbers[i]);
    if (i > 0) {
      EXPECT_LT(ordered_key(kNumbers, numbers[i - 1]), bytes) << i;
    }
    EXPECT_EQ(parse_ordered_key(kNumbers, bytes), numbers[i]) << i;
  }
  // A text that starts another one comes first, whatever follows it.
  const std::vector<Key> pairs{{""s, 9},       {"\0"s, 1},       {"\0\0"s, 0},
                               {"\0\xff"s, 0}, {"a"s, kHighest}, {"a\0"s, 0},
                               {"a\0b"s, 0},   {"aa"s, kLowest}, {"\xff"s, 0}};
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const auto bytes = ordered_key(kPairs, pairs[i]);
    if (i > 0) {
      EXPECT_LT(ordered_key(kPairs, pairs[i - 1]), bytes) << i;
    }
    EXPECT_EQ(parse_ordered_key(kPairs, bytes), pairs[i]) << i;
  }
}

TEST(Cells, ForeignKeysAreNone) {
  const auto key = ordered_key(kPairs, Key{"ab", 5});
  for (std::size_t size = 0; size < key.size(); ++size) {
    EXPECT_FALSE(parse_ordered_key(kPairs, key.substr(0, size))) << size;
  }
  EXPECT_FALSE(parse_ordered_key(kPairs, key + "x"));
  EXPECT_FALSE(parse_ordered_key(kNumbers, key));
}

TEST(Cells, RowsComeBack) {
  const std::vector<Datum> row{kLowest, {}, "", "text", "\0\xff"s, 0, kHighest, -1};
  const auto bytes = row_bytes(row);
  EXPECT_EQ(parse_row(bytes, row.size()), row);
  EXPECT_FALSE(parse_row(bytes, row.size() - 1));
  EXPECT_FALSE(parse_row(bytes, row.size() + 1));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(parse_row(bytes.substr(0, size), row.size())) << size;
  }
  EXPECT_FALSE(parse_row("17", 1));
}

TEST(Cells, OnlyWhatIsWrittenAsAnIntegerIsOne) {
  EXPECT_EQ(from_text(ColumnType::kInteger, "-7"), Datum(-7));
  EXPECT_EQ(from_text(ColumnType::kText, "-7"), Datum("-7"));
  for (const auto* text : {"007", "-0", "+7", "7 ", "", "9223372036854775808", "x"}) {
    EXPECT_EQ(from_text(ColumnType::kInteger, text), Datum(text));
  }
  EXPECT_EQ(normal(ColumnType::kText, 7), Datum("7"));
  EXPECT_EQ(normal(ColumnType::kInteger, "7"), Datum("7"));
}

TEST(Cells, ListsGrowAtTheirEnd) {
  EXPECT_EQ(appended("", 3), "3");
  EXPECT_EQ(appended("3", -4), "3,-4");
}

TEST(Cells, StoresOfOneValueAKeyRefuseOtherTables) {
  EXPECT_TRUE(one_cell_a_row(workload::kv_schema(), "Redis").ok());
  const auto wide = one_cell_a_row({{kPairs}}, "Redis");
  ASSERT_FALSE(wide.ok());
  EXPECT_NE(wide.error().message.find("table p"), std::string::npos) << wide.error().message;
}

}  // namespace
}  // namespace cupel::drivers
