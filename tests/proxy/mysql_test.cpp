// MySQL's SQL as footprints need it, and its lists of locks.
#include <gtest/gtest.h>

#include <string>

#include "mock/proxy/mysql_locks.hpp"
#include "mock/proxy/mysql_text.hpp"
#include "mock/proxy/sessions.hpp"

namespace cupel::proxy {
namespace {

using Column = TableFacts::KeyColumn;

// Accounts(id, owner), doctors(name), orders(id) refers to Accounts.
Catalog mysql_catalog() {
  Catalog catalog{.dialect = Dialect::kMysql};
  catalog.tables[1] = {.oid = 1,
                       .schema = "shop",
                       .name = "Accounts",
                       .key = {{"id", Column::Kind::kInteger}},
                       .referenced_by = {3}};
  catalog.tables[2] = {
      .oid = 2, .schema = "shop", .name = "doctors", .key = {{"name", Column::Kind::kFoldedText}}};
  catalog.tables[3] = {.oid = 3,
                       .schema = "shop",
                       .name = "orders",
                       .key = {{"id", Column::Kind::kInteger}},
                       .references = {1}};
  catalog.own_functions = {"my_function"};
  return catalog;
}

struct MysqlClient {
  Sessions sessions{Isolation::kReadCommitted, Dialect::kMysql};
  char state = 'I';
  Footprint run(const std::string& sql) {
    const char after = sql.starts_with("begin") || sql.starts_with("start")       ? 'T'
                       : sql.starts_with("commit") || sql.starts_with("rollback") ? 'I'
                                                                                  : state;
    Executed executed{.client = "a", .requests = {{.text = sql, .simple = true}}};
    executed.before = state;
    executed.after = state = after;
    return sessions.follow(executed, mysql_catalog()).footprint;
  }
};
Footprint last_in_mysql(std::initializer_list<const char*> statements) {
  MysqlClient client;
  Footprint last;
  for (const auto* sql : statements) last = client.run(sql);
  return last;
}
Footprint open_in_mysql(const char* sql) {
  return last_in_mysql({"begin", sql});
}
Footprint at_level(const char* level, const char* sql) {
  return last_in_mysql({level, "begin", sql});
}

TEST(MysqlFootprints, OfSettingsAreNothing) {
  for (const auto* sql :
       {"SET NAMES utf8mb4", "set autocommit = 0", "SET SESSION sql_mode='ANSI'", "use shop",
        "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", "savepoint `s`", "RELEASE SAVEPOINT s",
        "SHOW WARNINGS", "set @a = 1, @b = 'x'",
        "/* a comment */ SET @@session.time_zone='+00:00'"})
    EXPECT_TRUE(concern_only_the_client({{.text = sql}}, false, Dialect::kMysql)) << sql;
  EXPECT_TRUE(concern_only_the_client({{.text = "BEGIN"}}, false, Dialect::kMysql));
  EXPECT_FALSE(concern_only_the_client({{.text = "BEGIN"}}, true, Dialect::kMysql)) << "it commits";
  EXPECT_FALSE(concern_only_the_client({{.text = "SET autocommit=1"}}, true, Dialect::kMysql));
  EXPECT_FALSE(concern_only_the_client({{.text = "START TRANSACTION WITH CONSISTENT SNAPSHOT"}},
                                       false, Dialect::kMysql));
  EXPECT_FALSE(concern_only_the_client({{.text = "SET @a = (SELECT 1)"}}, false, Dialect::kMysql));
  EXPECT_TRUE(concern_only_the_client({{.text = "SELECT @@version, DATABASE() FROM dual"}}, false,
                                      Dialect::kMysql));
}

TEST(MysqlFootprints, OfWhatIsNotKnownAreEverything) {
  for (const auto* sql :
       {"SELECT my_function()", "SELECT * FROM elsewhere", "CREATE TABLE t (a int)",
        "SELECT GET_LOCK('a', 1)", "CALL p()", "TRUNCATE doctors", "LOCK TABLES doctors WRITE",
        "SET GLOBAL autocommit = 0", "UPDATE doctors d JOIN orders o SET d.n = 1", "XA START 'a'",
        "SELECT * FROM information_schema.tables", "SELECT 'no end",
        "BEGIN NOT ATOMIC SELECT 1; END", "SELECT 1 INTO OUTFILE 'x'", "SET tx_isolation = @old"})
    EXPECT_TRUE(open_in_mysql(sql).unknown) << sql;
}

TEST(MysqlFootprints, OfStatementsThatAreNotRepeatableAreEverything) {
  for (const auto* sql :
       {"SELECT RAND()", "UPDATE accounts SET n = UUID_SHORT() WHERE id = 1", "SELECT UUID()",
        "DELETE FROM accounts WHERE id = CONNECTION_ID()", "SELECT SYSDATE()"}) {
    EXPECT_TRUE(open_in_mysql(sql).unknown) << sql;
    EXPECT_TRUE(open_in_mysql(sql).unrepeatable) << sql;
    EXPECT_FALSE(concern_only_the_client({{.text = sql}}, false, Dialect::kMysql)) << sql;
  }
  // What the client itself has set or inserted, and the time of a statement.
  for (const auto* sql : {"SELECT LAST_INSERT_ID()", "UPDATE accounts SET n = @a WHERE id = 1",
                          "UPDATE accounts SET n = UNIX_TIMESTAMP(NOW(6)) WHERE id = 1"})
    EXPECT_FALSE(open_in_mysql(sql).unknown) << sql;
  for (const auto* sql : {"SELECT @a := n FROM accounts", "SELECT n FROM accounts INTO @a"})
    EXPECT_TRUE(open_in_mysql(sql).unknown) << sql;
  EXPECT_TRUE(
      concern_only_the_client({{.text = "SELECT CONNECTION_ID()"}}, false, Dialect::kMysql));
}

TEST(MysqlFootprints, OfRowsWithTheirKeys) {
  const auto key = [](const char* sql) {
    auto touches = open_in_mysql(sql).writes;
    std::erase_if(touches, [](const Touch& touch) { return touch.table != 1; });
    return touches;
  };
  const auto first = key("UPDATE accounts SET n = 1 WHERE id = 1");
  ASSERT_EQ(first.size(), 1U);
  for (const auto* sql :
       {"update `Accounts` set `n` = n + 1 where `ID` = 1", "DELETE FROM Accounts WHERE id = '01'",
        "UPDATE Accounts SET Accounts.n = 'it''s' WHERE Accounts.id = 1 ORDER BY n LIMIT 1",
        "UPDATE accounts SET n = IFNULL(n, 0) DIV 2 WHERE id = 1 && n <=> 5 # comment"})
    EXPECT_EQ(key(sql), first) << sql;
  EXPECT_NE(key("UPDATE accounts SET n = 1 WHERE id = 2"), first);
  for (const auto* sql :
       {"UPDATE accounts SET n = 1", "UPDATE accounts SET id = 2 WHERE id = 1",
        "UPDATE accounts SET n = 1 WHERE id = 1 || id = 2", "INSERT INTO accounts (id) VALUES (1)",
        "INSERT accounts SET id = 1, n = 2", "REPLACE INTO accounts (id) VALUES (1)",
        "INSERT INTO accounts (id, n) VALUE (1, 2) ON DUPLICATE KEY UPDATE n = VALUES(n) + 1",
        "UPDATE accounts SET n = 1 WHERE id = \"1\"", "UPDATE accounts SET n = 1 WHERE id = 0x1"})
    EXPECT_EQ(key(sql), (Touches{{1, ""}})) << sql;
}

// A text and a number are compared as numbers, and letters of both cases are the same.
TEST(MysqlFootprints, OfRowsNamedByTexts) {
  const auto writes = [](const char* sql) { return open_in_mysql(sql).writes; };
  EXPECT_EQ(writes("update doctors set a = 1 where name = 'alice'"),
            writes("update doctors set a = 1 where name = 'ALICE'"));
  EXPECT_NE(writes("update doctors set a = 1 where name = 'alice'"),
            writes("update doctors set a = 1 where name = 'bob'"));
  for (const auto* sql : {"update doctors set a = 1 where name = 0",
                          "update doctors set a = 1 where name = 'al\xc3\xad"
                          "ce'",
                          "update doctors set a = 1 where name = 'alice '",
                          "update doctors set a = 1 where name = 'al\\'ice'"})
    EXPECT_EQ(writes(sql), (Touches{{2, ""}})) << sql;
}

TEST(MysqlIndependence, OfInserts) {
  EXPECT_FALSE(independent(open_in_mysql("insert into doctors (name) values ('a')"),
                           open_in_mysql("update doctors set n = 1 where name = 'b'")))
      << "a lock on a row that is not there keeps others from inserting near it";
  EXPECT_TRUE(independent(open_in_mysql("update doctors set n = 1 where name = 'a'"),
                          open_in_mysql("update doctors set n = 1 where name = 'b'")));
}

TEST(MysqlIndependence, OfLevels) {
  const char* update = "update doctors set n = 1 where name = 'a'";
  const char* select = "select n from doctors where name = 'a'";
  const auto write = open_in_mysql(update);
  EXPECT_TRUE(independent(write, open_in_mysql(select)));
  EXPECT_FALSE(
      independent(write, at_level("SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE", select)))
      << "it locks";
  EXPECT_FALSE(independent(write, at_level("set tx_isolation = 'READ-UNCOMMITTED'", select)));
  const auto commit = last_in_mysql({"begin", update, "commit"});
  EXPECT_TRUE(independent(commit, open_in_mysql("select * from orders")));
  EXPECT_FALSE(independent(
      commit, at_level("set transaction isolation level repeatable read", "select * from orders")))
      << "a snapshot";
  EXPECT_TRUE(independent(commit, at_level("set transaction isolation level repeatable read",
                                           "update doctors set n = 2 where name = 'b'")))
      << "not an UPDATE's";
  EXPECT_FALSE(independent(last_in_mysql({"set session transaction isolation level repeatable read",
                                          "start transaction with consistent snapshot"}),
                           commit));
  EXPECT_TRUE(
      independent(commit, last_in_mysql({"set transaction isolation level repeatable read", "begin",
                                         "commit", "begin", "select * from orders"})))
      << "it was for one transaction";
}

TEST(MysqlIndependence, OfBeginInATransaction) {
  EXPECT_FALSE(independent(last_in_mysql({"begin", "update doctors set n = 1", "begin"}),
                           open_in_mysql("select * from doctors")));
}

TEST(MysqlIndependence, OfStatementsThatReadAndWrite) {
  EXPECT_FALSE(independent(open_in_mysql("insert into doctors (name) select id from orders"),
                           open_in_mysql("update orders set n = 1 where id = 1")))
      << "it locks what it reads";
}

TEST(MysqlTexts, NameTablesOfADatabase) {
  for (const auto* sql :
       {"SELECT * FROM shop.t", "select a from x, `shop`.t", "UPDATE shop.t SET a = 1",
        "INSERT INTO Shop.t VALUES (1)", "SELECT shop.t.a FROM t", "TRUNCATE TABLE shop.t",
        "SELECT * FROM a JOIN b ON f(a.x, 1) = b.x, shop.c", "CREATE TABLE x LIKE shop.t",
        "SELECT (SELECT 1 FROM shop.t)", "DELETE FROM shop.t WHERE a = 1"})
    EXPECT_TRUE(names_tables_of(sql, "shop")) << sql;
  for (const auto* sql :
       {"SELECT shop.a FROM shop", "UPDATE t shop SET shop.a = 1 WHERE shop.b = 2",
        "SELECT 'shop.t' FROM t", "SELECT a FROM t GROUP BY t.a, shop.b ORDER BY shop.a, shop.b",
        "SELECT * FROM shops.t",
        "INSERT INTO shop (a) VALUES (1) ON DUPLICATE KEY UPDATE shop.a = 2",
        "SELECT * FROM a JOIN shop ON shop.x = a.x WHERE shop.y = 1"})
    EXPECT_FALSE(names_tables_of(sql, "shop")) << sql;
  EXPECT_TRUE(uses_database("USE `shop` ;", "shop"));
  EXPECT_FALSE(uses_database("USE shops", "shop"));
}

TEST(MysqlTexts, TakeTheirParameters) {
  EXPECT_EQ(
      with_values("SELECT '?', `?` -- ?\n, ? FROM t WHERE a = ?", {{"7", true}, {"a'b", false}}),
      "SELECT '?', `?` -- ?\n, (7) FROM t WHERE a = _utf8mb4 x'612762'");
  EXPECT_EQ(with_values("SELECT ?", {{std::nullopt, false}}), "SELECT NULL");
  EXPECT_FALSE(with_values("SELECT ?", {}));
  EXPECT_FALSE(with_values("SELECT 1", {{"1", true}}));
}

TEST(MysqlLocks, AreReadFromTheStatusOfInnodb) {
  EXPECT_EQ(
      waiting_connections("LATEST DETECTED DEADLOCK\n"
                          "*** (1) TRANSACTION:\n"
                          "TRANSACTION 20, ACTIVE 0 sec\n"
                          "LOCK WAIT 4 lock struct(s)\n"
                          "MariaDB thread id 9, OS thread handle 1\n"
                          "LIST OF TRANSACTIONS FOR EACH SESSION:\n"
                          "---TRANSACTION 28, ACTIVE 0 sec\n"
                          "3 lock struct(s), heap size 1128, 1 row lock(s)\n"
                          "MariaDB thread id 5, OS thread handle 140070158833344\n"
                          "SELECT '\nLOCK WAIT 1\n thread id 7'\n"
                          "---TRANSACTION (0x7f64a2488680), not started\n"
                          "0 lock struct(s), heap size 1128, 0 row lock(s)\n"
                          "---TRANSACTION 27, ACTIVE 0 sec starting index read\n"
                          "mysql tables in use 2, locked 2\n"
                          "LOCK WAIT 4 lock struct(s), heap size 1128, 2 row lock(s)\n"
                          "MySQL thread id 4, OS thread handle 1, query id 17 cupel Updating\n"
                          "UPDATE c SET n=n+1 WHERE id=2\n"),
      std::set<std::int32_t>{4});
  EXPECT_TRUE(waits_for_lock("Waiting for table metadata lock"));
  EXPECT_TRUE(waits_for_lock("User lock"));
  EXPECT_FALSE(waits_for_lock("Updating"));
}

}  // namespace
}  // namespace cupel::proxy
