// The SQL of an application as one line, and its place in the source.
#include "mock/mocktest/statement_lines.hpp"

#include <gtest/gtest.h>

#include <string>

#include "engine/mock/store.hpp"

namespace cupel::mocktest {
namespace {

TEST(StatementLines, AreOneLineWithoutComments) {
  EXPECT_EQ(statement_line("SELECT 1"), "SELECT 1");
  EXPECT_EQ(statement_line("  SELECT a,\n\t b\nFROM t ;\n"), "SELECT a, b FROM t");
  EXPECT_EQ(statement_line("/* of the basket */ SELECT 1"), "SELECT 1 -- of the basket");
  EXPECT_EQ(statement_line("-- name: Basket :one\nSELECT 1"), "SELECT 1 -- name: Basket :one");
  EXPECT_EQ(statement_line("SELECT '--a /* b */', \"c--d\" FROM `e--f`"),
            "SELECT '--a /* b */', \"c--d\" FROM `e--f`");
  EXPECT_EQ(statement_line(""), "");
  EXPECT_EQ(statement_line(" ; "), "");
}

TEST(StatementLines, NameTheSourceThatSqlcommenterGives) {
  EXPECT_EQ(statement_line("SELECT 1 /*file='shop%2Fviews.py',line='12'*/"),
            "SELECT 1 -- shop/views.py:12");
  EXPECT_EQ(statement_line("SELECT 1 /*db_driver='django',route='%5Eitem%24'*/"),
            "SELECT 1 -- db_driver=django, route=^item$");
  EXPECT_EQ(statement_line("SELECT 1 /*name='DROP%20TABLE%20\\'FOO'*/"),
            "SELECT 1 -- name=DROP TABLE 'FOO");
  EXPECT_EQ(statement_line("SELECT 1 /*application:Shop,line:/app/item.rb:12*/"),
            "SELECT 1 -- application:Shop,line:/app/item.rb:12");
  // No control characters from a client on the terminal.
  EXPECT_EQ(statement_line("SELECT 1 /*file='a%1Bb'*/"), "SELECT 1 -- a%1Bb");
}

TEST(StatementLines, EndWhereTheTextWasCut) {
  EXPECT_EQ(statement_line("SELECT 1 /*file='a"), "SELECT 1 -- file='a");
  EXPECT_EQ(statement_line("SELECT 'a"), "SELECT 'a");
  const auto line = statement_line("SELECT '" + std::string(300, 'x') + "é' /*a.py:3*/");
  EXPECT_TRUE(line.ends_with("x… -- a.py:3")) << line;
  EXPECT_LT(line.size(), 220u);
}

TEST(StatementLines, ShowTheParametersThatStandInFront) {
  const std::string mark(1, mock::kParametersMark);
  EXPECT_EQ(statement_line(mark + "$1 = 'anna', $2 = NULL" + mark + "SELECT $1, $2 -- a.py:3"),
            "SELECT $1, $2 [$1 = 'anna', $2 = NULL] -- a.py:3");
  EXPECT_EQ(statement_line(mark + "$1 = 'an"), " [$1 = 'an]");
}

TEST(StatementLines, AreThoseOfTheirTransaction) {
  mock::Options options;
  options.keep_statements = true;
  mock::Store store(options);
  const auto session = store.open_session("shop");
  for (const bool commits : {true, false}) {
    const auto transaction = store.begin(session);
    transaction->begin_statement("SELECT v FROM x");
    transaction->read("x");
    transaction->begin_statement("SELECT v FROM x");
    transaction->begin_statement("UPDATE x SET v = 1 -- a.py:3");
    transaction->write("x", mock::Value::of(1));
    if (commits) {
      transaction->commit();
    } else {
      transaction->rollback();
    }
  }
  const auto history = store.history();
  ASSERT_TRUE(history.ok());
  const auto fields = statement_fields(store.statements());
  ASSERT_EQ(fields.size(), 2u);
  for (std::uint32_t txn = 0; txn < 2; ++txn) {
    const auto& lines = fields.at(history->label(history::TxnId(txn)));
    ASSERT_EQ(lines.size(), 2u);
    EXPECT_EQ(lines[0].second, "SELECT v FROM x");
    EXPECT_EQ(lines[1].second, "UPDATE x SET v = 1 -- a.py:3");
  }
}

}  // namespace
}  // namespace cupel::mocktest
