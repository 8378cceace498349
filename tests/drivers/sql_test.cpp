// The texts of SQL in each dialect, and the lists in cells. That databases
// understand them is for the conformance suite to say.
#include "databases/drivers/sql.hpp"

#include <gtest/gtest.h>

#include "databases/drivers/mysql/connection_number.hpp"

namespace cupel::drivers::sql {
namespace {

using workload::ColumnType;
using workload::Datum;
using workload::Schema;
using workload::Statement;
using workload::StatementKind;

constexpr Dialect kSqlite{Product::kSqlite, ListForm::kText};
constexpr Dialect kPostgres{Product::kPostgres, ListForm::kText};
constexpr Dialect kMysql{Product::kMysql, ListForm::kText};

Schema district() {
  return {{{.name = "district",
            .key = {{"w", ColumnType::kInteger}, {"d", ColumnType::kText}},
            .columns = {{"tax", ColumnType::kInteger}, {"name", ColumnType::kText}}}}};
}

// The texts of a plan, the second after " ; ".
std::string texts(const Dialect& dialect, const Schema& schema, const Statement& statement) {
  Texts made(dialect, schema);
  const auto plan = made.plan(statement);
  if (!plan.ok()) return plan.error().message;
  return (*plan)->first.sql + ((*plan)->if_none ? " ; " + (*plan)->if_none->sql : "");
}

TEST(Sql, TablesHaveTheKeyThatTheSchemaGives) {
  const auto table = district().tables[0];
  EXPECT_EQ(create_table(kSqlite, table),
            "CREATE TABLE district (w BIGINT NOT NULL, d TEXT NOT NULL, tax BIGINT, name TEXT, "
            "PRIMARY KEY (w, d)) WITHOUT ROWID");
  EXPECT_EQ(create_table(kPostgres, table),
            "CREATE TABLE district (w BIGINT NOT NULL, d TEXT COLLATE \"C\" NOT NULL, tax BIGINT, "
            "name TEXT COLLATE \"C\", PRIMARY KEY (w, d))");
  EXPECT_EQ(create_table(kMysql, table),
            "CREATE TABLE district (w BIGINT NOT NULL, d VARBINARY(255) NOT NULL, tax BIGINT, "
            "name VARBINARY(255), PRIMARY KEY (w, d)) ENGINE=InnoDB");
  EXPECT_EQ(create_table({Product::kPostgres, ListForm::kJson},
                         workload::kv_schema(ColumnType::kList).tables[0]),
            "CREATE TABLE cupel_kv (k BIGINT NOT NULL, v JSONB, PRIMARY KEY (k))");
}

TEST(Sql, LiteralsAreQuotedAsTheDialectReadsThem) {
  EXPECT_EQ(literal(kSqlite, Datum()), "NULL");
  EXPECT_EQ(literal(kSqlite, -7), "-7");
  EXPECT_EQ(literal(kSqlite, "it's a \\"), "'it''s a \\'");
  EXPECT_EQ(literal(kPostgres, "it's a \\"), "'it''s a \\'");
  EXPECT_EQ(literal(kMysql, "it's a \\"), "'it''s a \\\\'");
}

TEST(Sql, RowsAreInsertedTogether) {
  const workload::Row rows[] = {{.key = {1, "a"}, .values = {2, Datum()}},
                                {.key = {1, "b"}, .values = {3, "x"}}};
  EXPECT_EQ(insert_rows(kMysql, district().tables[0], rows),
            "INSERT INTO district (w, d, tax, name) VALUES (1, 'a', 2, NULL), (1, 'b', 3, 'x')");
  const auto list = workload::kv_schema(ColumnType::kList).tables[0];
  const workload::Row one[] = {{.key = {1}, .values = {2}}, {.key = {2}, .values = {Datum()}}};
  EXPECT_EQ(insert_rows(kMysql, list, one),
            "INSERT INTO cupel_kv (k, v) VALUES (1, '2'), (2, NULL)");
  EXPECT_EQ(insert_rows({Product::kMysql, ListForm::kJson}, list, one),
            "INSERT INTO cupel_kv (k, v) VALUES (1, '[2]'), (2, NULL)");
}

TEST(Sql, AWriteIsAnUpdateThenAnUpsert) {
  const Statement write{
      .kind = StatementKind::kWrite, .key = {1, "a"}, .columns = {1}, .values = {"x"}};
  EXPECT_EQ(texts(kSqlite, district(), write),
            "UPDATE district SET name = ? WHERE w = ? AND d = ? ; INSERT INTO district (w, d, "
            "name) VALUES (?, ?, ?) ON CONFLICT (w, d) DO UPDATE SET name = excluded.name");
  EXPECT_EQ(texts(kPostgres, district(), write),
            "UPDATE district SET name = $1 WHERE w = $2 AND d = $3 ; INSERT INTO district (w, d, "
            "name) VALUES ($1, $2, $3) ON CONFLICT (w, d) DO UPDATE SET name = excluded.name");
  EXPECT_EQ(texts(kMysql, district(), write),
            "UPDATE district SET name = ? WHERE w = ? AND d = ? ; INSERT INTO district (w, d, "
            "name) VALUES (?, ?, ?) ON DUPLICATE KEY UPDATE name = VALUES(name)");
}

TEST(Sql, TheOtherStatements) {
  const auto kv = workload::kv_schema();
  EXPECT_EQ(texts(kPostgres, kv, {.kind = StatementKind::kRead, .key = {1}}),
            "SELECT v FROM cupel_kv WHERE k = $1");
  EXPECT_EQ(texts(kPostgres, kv, {.kind = StatementKind::kRange, .key = {1}, .high = {2}}),
            "SELECT k, v FROM cupel_kv WHERE k BETWEEN $1 AND $2 ORDER BY k");
  EXPECT_EQ(texts(kPostgres, kv, {.kind = StatementKind::kDelete, .key = {1}}),
            "DELETE FROM cupel_kv WHERE k = $1");
  EXPECT_EQ(texts(kPostgres, kv, {.kind = StatementKind::kInsert, .key = {1}, .values = {2}}),
            "INSERT INTO cupel_kv (k, v) VALUES ($1, $2)");
  EXPECT_EQ(
      texts(kPostgres, kv, {.kind = StatementKind::kCompareAndSet, .key = {1}, .values = {2, 3}}),
      "UPDATE cupel_kv SET v = $1 WHERE k = $2 AND v = $3");
  const Statement absent{.kind = StatementKind::kCompareAndSet, .key = {1}, .values = {Datum(), 3}};
  EXPECT_EQ(texts(kPostgres, kv, absent),
            "INSERT INTO cupel_kv (k, v) VALUES ($1, $2) ON CONFLICT DO NOTHING");
  EXPECT_EQ(texts(kMysql, kv, absent), "INSERT INTO cupel_kv (k, v) VALUES (?, ?)");
}

TEST(Sql, AppendsConcatenate) {
  const auto kv = workload::kv_schema(ColumnType::kList);
  const Statement append{.kind = StatementKind::kAppend, .key = {1}, .values = {2}};
  EXPECT_EQ(texts(kSqlite, kv, append),
            "UPDATE cupel_kv SET v = COALESCE(NULLIF(v, '') || ',', '') || ? WHERE k = ? ; INSERT "
            "INTO cupel_kv (k, v) VALUES (?, ?) ON CONFLICT (k) DO UPDATE SET v = "
            "COALESCE(NULLIF(cupel_kv.v, '') || ',', '') || ?");
  EXPECT_EQ(texts({Product::kMysql, ListForm::kJson}, kv, append),
            "UPDATE cupel_kv SET v = JSON_ARRAY_APPEND(COALESCE(v, JSON_ARRAY()), '$', ?) WHERE k "
            "= ? ; INSERT INTO cupel_kv (k, v) VALUES (?, JSON_ARRAY(?)) ON DUPLICATE KEY UPDATE v "
            "= JSON_ARRAY_APPEND(COALESCE(v, JSON_ARRAY()), '$', ?)");
}

TEST(Sql, ParametersAreBoundInOrder) {
  Texts made(kPostgres, district());
  const Statement write{
      .kind = StatementKind::kWrite, .key = {1, 2}, .columns = {1, 0}, .values = {"x", 9}};
  const auto plan = made.plan(write);
  ASSERT_TRUE(plan.ok());
  std::vector<Datum> data;
  for (const auto& slot : (*plan)->first.slots) {
    Datum scratch;
    data.push_back(bound(kPostgres, slot, write, scratch));
  }
  // The second key column is text: 2 becomes '2', so that it is compared as text.
  EXPECT_EQ(data, (std::vector<Datum>{"x", 9, 1, "2"}));
  EXPECT_EQ(*made.plan(write), *plan);  // made once
}

TEST(Sql, StatementsThatDoNotFitAreRefused) {
  const auto kv = workload::kv_schema();
  for (const auto& statement : std::vector<Statement>{
           {.table = 1, .key = {1}},
           {.key = {}},
           {.key = {1, 2}},
           {.key = {1}, .columns = {1}},
           {.kind = StatementKind::kWrite, .key = {1}},
           {.kind = StatementKind::kWrite, .key = {1}, .values = {1, 2}},
           {.kind = StatementKind::kAppend, .key = {1}, .values = {1}},
           {.kind = StatementKind::kRange, .key = {1}},
           {.kind = StatementKind::kCompareAndSet, .key = {1}, .values = {1}},
       }) {
    EXPECT_EQ(texts(kSqlite, kv, statement).find("a statement that does not fit"), 0U)
        << texts(kSqlite, kv, statement);
  }
}

TEST(Lists, AreTakenApart) {
  using Data = std::vector<Datum>;
  EXPECT_EQ(list_elements(ListForm::kText, Datum()), Data{});
  EXPECT_EQ(list_elements(ListForm::kText, ""), Data{});
  EXPECT_EQ(list_elements(ListForm::kText, "7"), (Data{7}));
  EXPECT_EQ(list_elements(ListForm::kText, "7,-8,9"), (Data{7, -8, 9}));
  EXPECT_EQ(list_elements(ListForm::kText, 7), (Data{7}));
  // As they came: nothing is dropped or fixed.
  EXPECT_EQ(list_elements(ListForm::kText, "7,x, 8,,9,"), (Data{7, "x", " 8", "", 9, ""}));
  EXPECT_EQ(list_elements(ListForm::kText, "99999999999999999999"), (Data{"99999999999999999999"}));
  EXPECT_EQ(list_elements(ListForm::kJson, Datum()), Data{});
  EXPECT_EQ(list_elements(ListForm::kJson, "[]"), Data{});
  EXPECT_EQ(list_elements(ListForm::kJson, "[7, -8]"), (Data{7, -8}));
  EXPECT_EQ(list_elements(ListForm::kJson, R"(["a", 1.5, null, [2]])"),
            (Data{"a", "1.5", Datum(), "[2]"}));
  EXPECT_EQ(list_elements(ListForm::kJson, "18446744073709551615, 2"),
            (Data{"18446744073709551615, 2"}));
  EXPECT_EQ(list_elements(ListForm::kJson, "[18446744073709551615]"),
            (Data{"18446744073709551615"}));
  EXPECT_EQ(list_elements(ListForm::kJson, "7,8"), (Data{"7,8"}));
}

TEST(Lists, HaveTwoForms) {
  EXPECT_EQ(*parse_list_form(std::nullopt), ListForm::kText);
  EXPECT_EQ(*parse_list_form("json"), ListForm::kJson);
  EXPECT_FALSE(parse_list_form("xml").ok());
}

TEST(ConnectionNumber, TheGreetingHasTheLower32Bits) {
  EXPECT_TRUE(is_number_in_greeting("17", 17));
  EXPECT_TRUE(is_number_in_greeting("2097154000000000001", 2097154000000000001UL & 0xffffffffU));
  EXPECT_FALSE(is_number_in_greeting("2097154000000000001", 1));
  for (const char* text : {"18", "", "17x", "NULL"}) {
    EXPECT_FALSE(is_number_in_greeting(text, 17)) << text;
  }
}

}  // namespace
}  // namespace cupel::drivers::sql
