// Statements that are made to take long: each is answered, or refused with a reason, at once.
#include <ctime>
#include <functional>

#include "sql/bench.hpp"
#include "sql/value/text_search.hpp"

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
TEST(HostileSql, LikeWithManyPercentSigns) {
  const auto statement = "SELECT '" + repeated("a", 200) + "' LIKE '" + repeated("%a", 30) + "b'";
  EXPECT_EQ(at_once(statement), "f");
  EXPECT_EQ(at_once("SELECT '" + repeated("a", 200) + "b' ILIKE '" + repeated("%A", 30) + "B'"),
            "t");
  EXPECT_EQ(
      at_once("SELECT '" + repeated("ab", 100'000) + "' LIKE '" + repeated("%a", 90'000) + "%c'"),
      "f");
}

TEST(HostileSql, LikeOfTextsWhoseProductIsTooLarge) {
  EXPECT_EQ(
      at_once("SELECT '" + repeated("a", 400'000) + "' LIKE '%" + repeated("a", 200'000) + "b'"),
      "error 54001");
}

TEST(Like, AnswersAsPostgres) {
  const auto matches = [](std::string_view text, std::string_view pattern) {
    return like(text, pattern);
  };
  EXPECT_TRUE(matches("", ""));
  EXPECT_TRUE(matches("", "%%"));
  EXPECT_FALSE(matches("", "_"));
  EXPECT_TRUE(matches("abc", "a%c"));
  EXPECT_TRUE(matches("abcbc", "a%bc"));
  EXPECT_FALSE(matches("abcb", "a%bc"));
  EXPECT_TRUE(matches("aXbYc", "%X_Y%"));
  EXPECT_FALSE(matches("aXYc", "%X_Y%"));
  EXPECT_TRUE(matches("ab", "%_%_%"));
  EXPECT_FALSE(matches("a", "%_%_%"));
  EXPECT_TRUE(matches("a%c", "a\\%c"));
  EXPECT_FALSE(matches("abc", "a\\%c"));
  EXPECT_TRUE(matches("h\xc3\xa9llo", "h_llo"));
  EXPECT_TRUE(matches("h\xc3\xa9llo", "%_llo"));
  EXPECT_TRUE(like("ABC", "%b%", true));
  EXPECT_FALSE(matches("ABC", "%b%"));
}

// One past the last % is all that is tried again: compared with every way to match.
TEST(Like, AgreesWithExhaustiveMatching) {
  const std::function<bool(std::string_view, std::string_view)> slow =
      [&](std::string_view text, std::string_view pattern) {
        if (pattern.empty()) return text.empty();
        if (pattern[0] == '%') {
          for (std::size_t at = 0; at <= text.size(); ++at) {
            if (slow(text.substr(at), pattern.substr(1))) return true;
          }
          return false;
        }
        return !text.empty() && (pattern[0] == '_' || pattern[0] == text[0]) &&
               slow(text.substr(1), pattern.substr(1));
      };
  const auto word = [](std::size_t number, std::string_view letters, std::size_t size) {
    std::string text;
    for (; text.size() < size; number /= letters.size()) text += letters[number % letters.size()];
    return text;
  };
  for (std::size_t text = 0; text < 32; ++text) {
    for (std::size_t pattern = 0; pattern < 1024; ++pattern) {
      const auto one = word(text, "ab", 5), other = word(pattern, "ab%_", 5);
      ASSERT_EQ(like(one, other), slow(one, other)) << one << " LIKE " << other;
    }
  }
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
  EXPECT_EQ(at_once("SELECT 1 WHERE 1 = 1" + repeated(" AND 1 = 1", 10'000)), "1");
  std::string table = "CREATE TABLE wide (c0 int";
  for (int column = 1; column < 20'000; ++column) table += ", c" + std::to_string(column) + " int";
  EXPECT_EQ(at_once(table + ")"), "error 54011");
}

TEST(HostileSql, FunctionsOfLongText) {
  const auto many = repeated("a", 1'000'000);
  EXPECT_EQ(at_once("SELECT length(reverse('" + many + "'))"), "1000000");
  EXPECT_EQ(at_once("SELECT reverse('ab\xc3\xa9')"),
            "\xc3\xa9"
            "ba");
  EXPECT_EQ(at_once("SELECT strpos('" + many + "', '" + many.substr(500'000) + "b')"), "0");
  EXPECT_EQ(at_once("SELECT length(replace('" + many + "', '" + many.substr(500'000) + "b', ''))"),
            "1000000");
  EXPECT_EQ(at_once("SELECT replace('" + many + "', 'a', repeat('b', 1000))"), "error 54000");
  std::string doubled = "SELECT repeat('a', 1000000) AS w";
  for (int count = 0; count < 40; ++count) doubled = "SELECT w || w AS w FROM (" + doubled + ") x";
  EXPECT_EQ(at_once(doubled), "error 54000");
}

}  // namespace
}  // namespace cupel::sql
