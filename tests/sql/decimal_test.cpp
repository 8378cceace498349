// Decimals: digits and scales as PostgreSQL's numeric has them.
#include "mock/sql/value/decimal.hpp"

#include <gtest/gtest.h>

namespace cupel::sql {
namespace {

std::string divided(const char* left, const char* right) {
  return Decimal::parse(left)->divided_by(*Decimal::parse(right)).to_string();
}

TEST(MockSqlDecimal, DivisionHasPostgresScale) {  // as `select 1/3.0` answers
  EXPECT_EQ(divided("1", "3"), "0.33333333333333333333");
  EXPECT_EQ(divided("10", "4"), "2.5000000000000000");
  EXPECT_EQ(divided("100000", "3"), "33333.333333333333");
  EXPECT_EQ(divided("2", "0.003"), "666.6666666666666667");
  EXPECT_EQ(divided("-7", "2.00"), "-3.5000000000000000");
}

TEST(MockSqlDecimal, RoundsHalfAway) {
  EXPECT_EQ(Decimal::parse("2.5")->rounded(0).to_string(), "3");
  EXPECT_EQ(Decimal::parse("-0.005")->rounded(2).to_string(), "-0.01");
  EXPECT_EQ(Decimal::parse("1.50")->canonical(), "1.5");
}

TEST(MockSqlDecimal, ReadsNumbersOnly) {
  EXPECT_EQ(Decimal::parse("1.5e2")->to_string(), "150");
  EXPECT_EQ(Decimal::parse("15e-1")->to_string(), "1.5");
  for (const char* text : {"", ".", "1.2.3", "e5", "1e", "1 ", "0x1", "NaN"}) {
    EXPECT_FALSE(Decimal::parse(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace cupel::sql
