// Durations and sizes, as written and as refused.
#include "apps/units.hpp"

#include <gtest/gtest.h>

namespace cupel::apps {
namespace {

TEST(Units, Durations) {
  EXPECT_DOUBLE_EQ(parse_duration("90", 1).value(), 90);
  EXPECT_DOUBLE_EQ(parse_duration("90s", 1).value(), 90);
  EXPECT_DOUBLE_EQ(parse_duration("1.5m", 1).value(), 90);
  EXPECT_DOUBLE_EQ(parse_duration("2h", 1).value(), 7200);
  EXPECT_DOUBLE_EQ(parse_duration("250ms", 1).value(), 0.25);
  for (const char* bad : {"", "s", "-1", "1 s", "1d", "inf", "nan", "1e400"}) {
    EXPECT_FALSE(parse_duration(bad, 1).ok()) << bad;
  }
}

TEST(Units, Nanoseconds) {
  EXPECT_EQ(parse_nanoseconds("10").value(), 10);
  EXPECT_EQ(parse_nanoseconds("500us").value(), 500'000);
  EXPECT_EQ(parse_nanoseconds("1ms").value(), 1'000'000);
  EXPECT_EQ(parse_nanoseconds("2s").value(), 2'000'000'000);
  for (const char* bad : {"1e10s", "1m", "1min", "1h", "-1", "ms", ""}) {
    EXPECT_FALSE(parse_nanoseconds(bad).ok()) << bad;
  }
}

TEST(Units, Sizes) {
  EXPECT_EQ(parse_size("65536").value(), 65536u);
  EXPECT_EQ(parse_size("512M").value(), 512u << 20);
  EXPECT_EQ(parse_size("4G").value(), 4ull << 30);
  EXPECT_EQ(parse_size("1.5GiB").value(), 3ull << 29);
  EXPECT_EQ(parse_size("10kB").value(), 10240u);
  for (const char* bad : {"", "G", "-1G", "4X", "1e30"}) EXPECT_FALSE(parse_size(bad).ok()) << bad;
}

}  // namespace
}  // namespace cupel::apps
