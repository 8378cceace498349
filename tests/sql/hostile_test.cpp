// Statements that are made to take long: each is answered, or refused with a reason, at once.
#include <ctime>

#include "sql/bench.hpp"

namespace cupel::sql {
namespace {

std::string repeated(std::string_view piece, std::size_t times) {
  std::string text;
  text.reserve(piece.size() * times);
  for (std::size_t count = 0; count < times; ++count) text += piece;
  return text;
}

// The answer, in a time that no quadratic algorithm keeps to.
std::string at_once(const std::string& text) {
  Bench sql;
  sql("CREATE TABLE t (id int PRIMARY KEY, a int, w text)");
  sql("INSERT INTO t VALUES (1, 2, 'x')");
  const auto start = std::clock();
  auto answer = sql(text);
  const auto seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  EXPECT_LT(seconds, 20) << text.substr(0, 60) << " … " << answer.substr(0, 60);
  return answer;
}
TEST(HostileSql, CommentsInComments) {
  EXPECT_EQ(at_once("SELECT 1 " + repeated("/*", 200'000)), "error 54001");
  EXPECT_EQ(at_once("SELECT 1 " + repeated("/**/", 200'000)), "error 54001");
  EXPECT_EQ(at_once("SELECT 1 " + repeated("/*x ", 200'000) + repeated("*/", 200'000)), "1");
  EXPECT_EQ(at_once("SELECT 1 " + repeated("/* ** */ ", 200'000)), "1");
  EXPECT_EQ(at_once("/*" + repeated("*", 100'000) + "*/ SELECT 1"), "1");
  EXPECT_EQ(at_once(repeated("-", 100'000) + "\nSELECT 1"), "1");
}

TEST(HostileSql, OperatorsSideBySide) {
  EXPECT_EQ(at_once("SELECT " + repeated("+", 200'000) + "1"), "error 54001");
  EXPECT_EQ(at_once("SELECT 1 " + repeated("<>", 200'000) + " 1").substr(0, 5), "error");
  EXPECT_EQ(at_once("SELECT '" + repeated("+/*", 200'000) + "' IS NULL"), "f");
  EXPECT_EQ(at_once("SELECT $x$" + repeated("+/*", 200'000) + "$x$ IS NULL"), "f");
  EXPECT_EQ(at_once("SELECT E'\\'" + repeated("+/*", 200'000) + "' IS NULL"), "f");
}

TEST(HostileSql, WhatDoesNotEnd) {
  for (const std::string opening : {"'", "\"", "E'", "$$", "$a$", "U&'", "/*"}) {
    const auto text = "SELECT " + opening + repeated("x $b$ ", 50'000);
    EXPECT_EQ(at_once(text), "error 42601") << opening;
  }
}

TEST(HostileSql, DeepNesting) {
  for (const std::string piece : {"(", "- ", "NOT ", "+ ", "(SELECT ", "upper(", "CASE WHEN ",
                                  "1 + (", "1 IN (", "SELECT "}) {
    for (const std::size_t times : {1'000, 50'000}) {
      EXPECT_EQ(at_once("SELECT " + repeated(piece, times)).substr(0, 5), "error") << piece;
    }
  }
  EXPECT_EQ(at_once("SELECT " + repeated("(", 1'000) + "1" + repeated(")", 1'000)), "1");
  EXPECT_EQ(at_once("SELECT 1" + repeated(" + 1", 100'000)), "error 54001");
  for (const std::string piece :
       {"::int", " IS NULL", " COLLATE x", " UNION SELECT 1, 1", " BETWEEN 1 AND 2 IS NULL"}) {
    EXPECT_EQ(at_once("SELECT 1" + repeated(piece, 100'000)), "error 54001") << piece;
  }
  EXPECT_EQ(at_once("SELECT * FROM t" + repeated(" CROSS JOIN t", 100'000)), "error 54001");
  EXPECT_EQ(at_once("SELECT * FROM t" + repeated(" JOIN t ON 1 = 1 AND 1 = 1", 100'000)),
            "error 54001");
  EXPECT_EQ(at_once("SELECT 1" + repeated(" + 1", 300)), "301");
}

TEST(HostileSql, LongLists) {
  EXPECT_EQ(at_once("SELECT 1" + repeated(", 1", 10'000)), "error 54000");
  EXPECT_EQ(at_once("SELECT 'a' IN ('b'" + repeated(", 'b'", 10'000) + ")"), "f");
  EXPECT_EQ(at_once("SELECT a FROM t GROUP BY a" + repeated(", a", 10'000)), "error 54000");
  EXPECT_EQ(at_once("SELECT a FROM t ORDER BY a" + repeated(", a", 10'000)), "error 54000");
  EXPECT_EQ(at_once("SELECT 1 WHERE 1 = 1" + repeated(" AND 1 = 1", 1'900)), "1");
  std::string table = "CREATE TABLE wide (c0 int";
  for (int column = 1; column < 20'000; ++column) table += ", c" + std::to_string(column) + " int";
  EXPECT_EQ(at_once(table + ")"), "error 54011");
}

TEST(HostileSql, LongText) {
  Bench sql;
  sql("CREATE TABLE t (id int PRIMARY KEY, w text)");
  EXPECT_EQ(sql("INSERT INTO t VALUES (1, '" + repeated("a", 1'000'000) + "')"), "INSERT 0 1");
  EXPECT_EQ(sql("SELECT w IS NULL FROM t"), "f");
}

}  // namespace
}  // namespace cupel::sql
