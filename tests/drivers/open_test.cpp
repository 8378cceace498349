// open(): which driver a URL names, and what it says of URLs, drivers and levels
// that are not there.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>

#include "databases/drivers/driver.hpp"
#include "source_dir.hpp"

namespace cupel::drivers {
namespace {

std::string error(const std::string& url, const std::string& isolation = {}) {
  const auto database = open(url, {.isolation = isolation});
  return database.ok() ? "nothing" : database.error().message;
}

TEST(Open, NamesTheFormsOfUrlsAndHidesThePassword) {
  const auto message = error("oracle://scott:tiger@h/d");
  EXPECT_NE(message.find("oracle://scott:***@h/d"), std::string::npos) << message;
  EXPECT_NE(message.find("postgres://"), std::string::npos) << message;
  EXPECT_EQ(message.find("tiger"), std::string::npos) << message;
  EXPECT_NE(error("just a name").find("Write one of"), std::string::npos);
}

TEST(Open, SaysHowToWriteTheUrlsOfOtherTools) {
  const std::map<std::string, std::string> expected{
      {"jdbc:postgresql://h/d?user=ann&password=secret",
       "`jdbc:postgresql://h/d?user=ann&password=***` is a JDBC URL. Leave out `jdbc:` and write "
       "postgres://[USER[:PASSWORD]@]HOST[:PORT][,HOST…]/DATABASE"},
      {"jdbc:oracle:thin:@h", "`jdbc:oracle:thin:@h` is a JDBC URL. Leave out `jdbc:`"},
      {"postgresql+psycopg2://ann:secret@h/d",
       "the scheme `postgresql+psycopg2` names a client library of another tool. Leave out "
       "`+psycopg2`, as in postgres://[USER[:PASSWORD]@]HOST[:PORT][,HOST…]/DATABASE"},
      {"mysql+pymysql://ann:secret@h/d",
       "the scheme `mysql+pymysql` names a client library of another tool. Leave out `+pymysql`, "
       "as in mysql://[USER[:PASSWORD]@]HOST[:PORT][,HOST…]/DATABASE"},
      {"rediss://:secret@h",
       "cupel's driver for Redis has no TLS. Write redis:// and a port on which the server takes "
       "connections without TLS"},
      {"host=db.example port=5433 dbname=shop user=ann password='secret word'",
       "the database is named by a libpq keyword string. Write a URL: "
       "postgres://ann:PASSWORD@db.example:5433/shop"},
      {"dbname=shop",
       "the database is named by a libpq keyword string. Write a URL: "
       "postgres://USER@HOST/shop"}};
  for (const auto& [url, message] : expected) EXPECT_EQ(error(url), message);
  const auto suggests = [](const std::string& url, const std::string& scheme) {
    const auto message = error(url);
    EXPECT_NE(message.find("Did you mean `" + scheme + "`?"), std::string::npos) << message;
    EXPECT_EQ(message.find("secret"), std::string::npos) << message;
  };
  suggests("postgress://ann:secret@h/d", "postgres");
  suggests("Postgres://ann:secret@h/d", "postgres");
  suggests("pgsql://ann:secret@h/d", "postgres");
  suggests("mysq://ann:secret@h/d", "mysql");
  suggests("sqlite3:x", "sqlite");
  suggests("labs:postgres", "lab");
  EXPECT_EQ(error("oracle://h/d").find("Did you mean"), std::string::npos);
}

TEST(Open, SuggestsTheLevelThatIsMeant) {
  const auto level = isolation_of("postgres://h/d", "repeatable-reads");
  ASSERT_FALSE(level.ok());
  EXPECT_EQ(level.error().message,
            "postgres has no isolation level `repeatable-reads`. Did you mean `repeatable-read`? "
            "Write serializable, repeatable-read, read-committed or read-uncommitted");
}

// Nothing is connected to.
TEST(Open, SaysWhatIsWrongWithTheUrlOfAServer) {
  const auto says = [](const std::string& url, const std::string& message) {
    for (const auto& driver : all_drivers()) {
      if (!driver.available || !url.starts_with(driver.name)) continue;
      EXPECT_EQ(error(url), message) << url;
    }
  };
  says("postgres://ann:se@cret@h/d",
       "`postgres://ann:***@h/d` has an `@` in its user or password. Write it as `%40`");
  says("postgres://ann:secret@h/d?sslmod=require",
       "the URL has the parameter `sslmod`, which libpq does not know. Did you mean `sslmode`? "
       "Write one of libpq's parameters, such as sslmode, or leave it out");
  says("mysql://ann:secret@h",
       "`mysql://ann:***@h` names no database. Write its name after the host: "
       "mysql://USER@HOST/DATABASE");
  says("mysql://ann:secret@h/d?ssl-mode=REQUIRED",
       "the URL has the option `ssl-mode`, which is of another client. Write `ssl=1`");
  says("mysql://ann:secret@h/d?sslmode=verify-full",
       "the URL has the option `sslmode`, which is of another client. Write `ssl-ca=FILE` and "
       "`ssl-verify-server-cert=1`");
  says("mysql://ann:secret@h/d?useSSL=false",
       "the URL has the option `useSSL`, which is of another client. Write `ssl=0`");
}

// What the registry says of a driver is what the documentation and the options need.
TEST(Open, EveryDriverHasAPageAndItsOwnSchemes) {
  std::set<std::string_view> schemes;
  for (const auto& driver : all_drivers()) {
    EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(CUPEL_SOURCE_DIR) / driver.page))
        << driver.page;
    EXPECT_TRUE(driver.url.starts_with(std::string(driver.name) + ":")) << driver.url;
    EXPECT_FALSE(driver.isolations.empty()) << driver.name;
    EXPECT_TRUE(schemes.insert(driver.name).second) << driver.name;
    if (!driver.alias.empty()) {
      EXPECT_TRUE(schemes.insert(driver.alias).second) << driver.alias;
    }
  }
}

TEST(Open, NamesTheLevelsThereAre) {
  for (const auto& driver : all_drivers()) {
    if (!driver.available || driver.name == "exec") continue;
    const auto message = error(std::string(driver.name) + ":x", "chaos");
    EXPECT_NE(message.find("chaos"), std::string::npos) << message;
    for (const auto level : driver.isolations) {
      EXPECT_NE(message.find(level), std::string::npos) << message;
    }
  }
}

TEST(Open, BadUrlsOfServersSayWhatIsExpected) {
  for (const auto& driver : all_drivers()) {
    if (!driver.available || (driver.name != "postgres" && driver.name != "mysql")) continue;
    const auto name = std::string(driver.name);
    for (const auto* rest : {"://ann:secret@[::1/d", "://ann:se/secret@h/d", "://ann:secret@h:0x/d",
                             "://ann:%zzsecret@h/d", "://ann:secret@h:1/d?nonsense=1",
                             "://ann:secret@h:1/d?list=xml"}) {
      const auto message = error(name + rest);
      EXPECT_NE(message, "nothing") << rest;
      EXPECT_EQ(message.find("cannot connect"), std::string::npos) << rest << ": " << message;
      EXPECT_EQ(message.find("secret"), std::string::npos) << rest << ": " << message;
    }
  }
}

TEST(Open, LevelsAreKnownHoweverTheyAreSpelled) {
  for (const auto* spelled : {"repeatable-read", "REPEATABLE READ", "Repeatable_Read"}) {
    const auto level = isolation_of("postgres://h/d", spelled);
    ASSERT_TRUE(level.ok()) << level.error().message;
    EXPECT_EQ(*level, "repeatable-read");
  }
  EXPECT_EQ(*isolation_of("mariadb://h/d", ""), "repeatable-read");
  EXPECT_EQ(*isolation_of("exec:cat", "As You Like"), "As-You-Like");
  EXPECT_FALSE(isolation_of("sqlite:x", "repeatable-read").ok());
  EXPECT_FALSE(isolation_of("oracle://h/d", "").ok());
}

// The table of drivers and the drivers themselves must not drift apart; those of
// servers are compared in tests/servers.
TEST(Open, TheTableSaysWhatTheDriverCanDo) {
  const std::string folder = testing::TempDir() + "/cupel-open-test";
  for (const auto& driver : all_drivers()) {
    std::string url;
    if (driver.name == "sqlite" || driver.name == "rocksdb") {
      url = fmt::format("{}:{}.{}", driver.name, folder, driver.name);
    } else if (driver.name == "exec") {
      url = R"(exec:sed -u 's/^{/{"type":"ok",/')";
    } else if (driver.name == "mock") {
      url = "mock:";
    }
    if (!driver.available || url.empty()) continue;
    {
      const auto database = open(url, {});
      ASSERT_TRUE(database.ok()) << database.error().message;
      EXPECT_EQ((*database)->can(), driver.can) << driver.name;
    }
    for (const auto level : driver.isolations) {
      const auto database = open(url, {.isolation = std::string(level)});
      ASSERT_TRUE(database.ok()) << database.error().message;
      const auto can = can_at(url, std::string(level));
      ASSERT_TRUE(can.ok()) << can.error().message;
      EXPECT_EQ((*database)->can(), *can) << driver.name << " at " << level;
    }
    std::filesystem::remove_all(folder + "." + std::string(driver.name));
  }
}

TEST(Open, WhatADriverCanDoDependsOnTheLevel) {
  for (const auto* url : {"redis://h", "etcd://h"}) {
    const auto one = can_at(url, ""), several = can_at(url, "serializable");
    if (!one.ok()) continue;  // not in this build
    EXPECT_FALSE(one->multiple) << url;
    EXPECT_TRUE(several->multiple) << url;
  }
  EXPECT_FALSE(can_at("oracle://h/d", "").ok());
  EXPECT_FALSE(can_at("sqlite:x", "chaos").ok());
}

}  // namespace
}  // namespace cupel::drivers
