// URLs of test servers: what they say, and what is wrong with others.
#include "run/lab_url.hpp"

#include <gtest/gtest.h>

namespace cupel::run {
namespace {

std::string error_of(const std::string& url) {
  const auto parsed = parse_lab_url(url);
  return parsed.ok() ? "" : parsed.error().message;
}

TEST(LabUrl, NamesAKindAndItsOptions) {
  EXPECT_TRUE(is_lab_url("lab:redis"));
  EXPECT_FALSE(is_lab_url("redis://127.0.0.1"));
  const auto plain = parse_lab_url("lab:redis");
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(plain->kind, lab::Kind::kRedis);
  EXPECT_TRUE(plain->options.durable);
  EXPECT_EQ(plain->options.nodes, 0U);
  const auto full = parse_lab_url(
      "lab:postgres-standby?nodes=3&sync=1&fast=1&option=work_mem=16MB&option=a=1%262");
  ASSERT_TRUE(full.ok()) << full.error().message;
  EXPECT_EQ(full->kind, lab::Kind::kPostgresStandby);
  EXPECT_EQ(full->options.nodes, 3U);
  EXPECT_TRUE(full->options.synchronous);
  EXPECT_FALSE(full->options.durable);
  EXPECT_EQ(full->options.server_options, (std::vector<std::string>{"work_mem=16MB", "a=1&2"}));
}

TEST(LabUrl, SaysWhatIsWrong) {
  EXPECT_NE(error_of("lab:oracle").find("`oracle`. Write one of postgres, postgres-standby"),
            std::string::npos)
      << error_of("lab:oracle");
  EXPECT_EQ(error_of("lab:redis?nodes=2"),
            "found the option nodes=2 in the URL, expected 1, since redis is one server");
  EXPECT_EQ(error_of("lab:galera?nodes=99"),
            "found the option nodes=99 in the URL, expected 1 to 9 for galera");
  EXPECT_EQ(error_of("lab:redis?sync=1"),
            "found the option sync=1 in the URL, expected 0, since redis has no standby");
  EXPECT_EQ(error_of("lab:redis?fast=yes"),
            "found the option fast=yes in the URL, expected 1 or 0");
  EXPECT_EQ(error_of("lab:redis?speed=9"),
            "found the option speed=9 in the URL, expected one of nodes=N, sync=1, fast=1, "
            "option=NAME=VALUE and url=NAME=VALUE");
}

TEST(LabUrl, HasOptionsForTheDriver) {
  const auto parsed = parse_lab_url("lab:redis-cluster?url=slot=one&nodes=6&url=a=b");
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_EQ(url_for_driver("redis://H1,H2", *parsed), "redis://H1,H2?slot=one&a=b");
  EXPECT_EQ(url_for_driver("redis://H1?x=y", *parsed), "redis://H1?x=y&slot=one&a=b");
  EXPECT_EQ(url_for_driver("redis://H1", *parse_lab_url("lab:redis")), "redis://H1");
}

TEST(LabUrl, HasTheLevelsOfItsDriver) {
  if (!isolation_of("etcd://127.0.0.1", "").ok()) GTEST_SKIP() << "no driver for etcd is built";
  for (const std::string isolation : {"", "linearizable", "serializable", "chaos"}) {
    const auto of_lab = isolation_of("lab:etcd?nodes=3", isolation);
    const auto of_driver = isolation_of("etcd://127.0.0.1", isolation);
    ASSERT_EQ(of_lab.ok(), of_driver.ok()) << isolation;
    if (!of_lab.ok()) {
      EXPECT_EQ(of_lab.error().message, of_driver.error().message);
      continue;
    }
    EXPECT_EQ(*of_lab, *of_driver);
    EXPECT_EQ(can_at("lab:etcd", isolation)->multiple,
              can_at("etcd://127.0.0.1", isolation)->multiple);
  }
  EXPECT_FALSE(isolation_of("lab:oracle", "").ok());
  EXPECT_FALSE(can_at("lab:oracle", "").ok());
}

}  // namespace
}  // namespace cupel::run
