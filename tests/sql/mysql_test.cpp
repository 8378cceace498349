// MySQL's dialect: its words, and what differs in its answers.
#include "sql/bench.hpp"

namespace cupel::sql {
namespace {

TEST(MockSqlMysql, TablesInItsWords) {
  Bench sql(Product::kMysql);
  EXPECT_EQ(
      sql("CREATE TABLE `T` (`id` INT(11) UNSIGNED NOT NULL AUTO_INCREMENT, `name` VARCHAR(20) "
          "CHARACTER SET utf8mb4 DEFAULT \"x\" COMMENT 'c', KEY `k` (`name`), "
          "UNIQUE KEY `uk` (name), PRIMARY KEY (`id`)) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4"),
      "CREATE TABLE");
  EXPECT_EQ(sql("INSERT INTO t (name) VALUES ('a'), (\"b\") # comment"), "INSERT 0 2");
  EXPECT_EQ(sql("SELECT LAST_INSERT_ID()"), "1");
  EXPECT_EQ(sql("INSERT INTO t VALUES (NULL, 'c'), (9, 'd'), (0, 'e')"), "INSERT 0 3");
  EXPECT_EQ(sql("SELECT id, name FROM T ORDER BY id LIMIT 1, 10"), "2,b | 3,c | 9,d | 10,e");
  EXPECT_EQ(sql("INSERT INTO t VALUES (-1, 'f')"), "error 22003");
  EXPECT_EQ(sql("INSERT IGNORE INTO t VALUES (1, 'z')"), "INSERT 0 0");
  EXPECT_EQ(sql("INSERT IGNORE INTO t VALUES (-1, 'z')"), "error 0A000");
  EXPECT_EQ(sql("INSERT INTO t VALUES (1, 'z') ON DUPLICATE KEY UPDATE name = concat(name, "
                "VALUES(name))"),
            "INSERT 0 2");
  EXPECT_EQ(sql("REPLACE INTO t VALUES (2, 'new')"), "INSERT 0 2");
  EXPECT_EQ(sql("SELECT name FROM t WHERE id <= 2"), "az | new");
}

// A name that is too long for PostgreSQL's parser goes past it; literals that look alike do not.
TEST(MockSqlMysql, LongNamesOfOutputsAreNoLiterals) {
  Bench sql(Product::kMysql);
  std::string ones = "1";
  for (int i = 1; i < 40; ++i) ones += "+1";
  EXPECT_EQ(sql("SELECT 'cupel output zz', " + ones), "cupel output zz,40");
  EXPECT_EQ(sql("SELECT 'cupel output 0', " + ones), "cupel output 0,40");
}

// What crosses PostgreSQL's parser as a mark is no word that a statement may use
// (parser_marks.hpp).
TEST(MockSqlMysql, NamesOfMarksAreReserved) {
  Bench sql(Product::kMysql);
  sql("CREATE TABLE t (k INT PRIMARY KEY, b BIGINT)");
  for (const char* wrong :
       {"SELECT 1 AS `cupel mark 0`", "SELECT `Cupel Mark 0`(',', k), 'a' + group_concat(k) FROM t",
        "SELECT cast(-1 AS `cupel mark 0`), cast(-1 AS UNSIGNED)",
        "CREATE TABLE u (a TINYINT, CONSTRAINT `cupel mark 1` CHECK (a > 0))",
        "INSERT INTO t VALUES (1, 2) ON CONFLICT ON CONSTRAINT `cupel mark 0` DO NOTHING"}) {
    const auto run = sql.session->run(wrong);
    ASSERT_TRUE(run.error) << wrong;
    EXPECT_EQ(run.error->sqlstate, "42602") << wrong;
    EXPECT_NE(run.error->message.find("is reserved by the mock"), std::string::npos) << wrong;
  }
  const auto called = sql.session->run("SELECT upper('a', 'b')");
  ASSERT_TRUE(called.error);
  EXPECT_EQ(called.error->sqlstate, "0A000");
  EXPECT_TRUE(called.error->message.ends_with(
      " is not supported by the mock; the function takes other arguments"))
      << called.error->message;
  // A text is no name.
  EXPECT_EQ(sql("SELECT 'cupel mark 0', cast(-1 AS UNSIGNED)"),
            "cupel mark 0,18446744073709551615");
  EXPECT_EQ(sql("SELECT 'cast as char of ' + 1, 1 + concat('as char of ', 'x')"), "1,1");
  EXPECT_EQ(sql("SELECT 1 + concat(cast('1' AS CHAR), '2')"), "error 0A000");
}

// To PostgreSQL's dialect a mark is a name as any other.
TEST(MockSql, MarksOfMysqlAreUnknown) {
  Bench sql;
  EXPECT_EQ(sql("CREATE TABLE t (k INT PRIMARY KEY, v \"cupel mark 0\")"), "error 0A000");
  EXPECT_EQ(sql("CREATE TABLE t (k cupel_unsigned PRIMARY KEY)"), "error 0A000");
  EXPECT_EQ(sql("SELECT cupel_group_concat(',', 'a')"), "error 0A000");
  EXPECT_EQ(sql("CREATE TABLE t (k INT PRIMARY KEY, CONSTRAINT \"cupel mark 0\" CHECK (k < 3))"),
            "CREATE TABLE");
  EXPECT_EQ(sql("INSERT INTO t VALUES (7)"), "error 23514");
  EXPECT_EQ(sql("SELECT k AS \"cupel mark 0\" FROM t"), "");
}

// A name of SET that is missing is an error, not the token after the last.
TEST(MockSqlMysql, SetWithoutAName) {
  Bench sql(Product::kMysql);
  EXPECT_EQ(sql("SET sql_notes = 0, SESSION"), "error 42601");
  EXPECT_EQ(sql("SET sql_notes = 1, LOCAL"), "error 42601");
}

TEST(MockSqlMysql, NullIfOfAParameterAndANumber) {
  Bench sql(Product::kMysql);
  const auto prepared = sql.session->prepare("SELECT NULLIF(?, 1)");
  ASSERT_TRUE(std::holds_alternative<std::unique_ptr<Prepared>>(prepared));
  const auto run = [&](const char* value, Type type) {
    const std::vector<Datum> values = {value};
    const std::vector<Type> types = {type};
    const auto result = sql.session->execute(*std::get<0>(prepared), values, types);
    return std::holds_alternative<Result>(result) ? row_text(std::get<Result>(result).rows[0])
                                                  : std::get<Error>(result).message;
  };
  EXPECT_EQ(run("2", Type::kBigint), "2");
  EXPECT_EQ(run("1", Type::kBigint), "null");
  EXPECT_EQ(run("1x", Type::kText), "null");
  EXPECT_EQ(run("x", Type::kText), "x");
}

TEST(MockSqlMysql, TheLastInsertIdIsOfARowThatIsThere) {
  Bench sql(Product::kMysql);
  sql("CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v INT UNIQUE, n INT)");
  sql("INSERT INTO t (v) VALUES (1)");
  sql("INSERT IGNORE INTO t (v) VALUES (1)");
  EXPECT_EQ(sql("SELECT LAST_INSERT_ID()"), "1");
  sql("INSERT INTO t (v) VALUES (1) ON DUPLICATE KEY UPDATE n = 2");
  EXPECT_EQ(sql("SELECT LAST_INSERT_ID()"), "1");
}

TEST(MockSqlMysql, ItsArithmetic) {
  Bench sql(Product::kMysql);
  EXPECT_EQ(sql("SELECT 1/2, 7 % 0, 1/0, 1 = 1, true + 1, 5 MOD 3, 1 <=> NULL"),
            "0.5000,null,null,1,2,2,0");
  EXPECT_EQ(
      sql("SELECT ifnull(NULL, 2), if(1 > 2, 'a', 'b'), concat('a', NULL), greatest(1, NULL)"),
      "2,b,null,null");
  EXPECT_EQ(sql("SELECT 'a\\'b', \"it's\", 1 && 0, 1 || 0"), "a'b,it's,0,1");
  EXPECT_EQ(sql("SELECT 5 DIV 2"), "error 0A000");
  EXPECT_EQ(sql("SELECT @x"), "error 0A000");
}

TEST(MockSqlMysql, IntegersWithoutSign) {
  Bench sql(Product::kMysql);
  EXPECT_EQ(sql("CREATE TABLE t (id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, b BIGINT UNSIGNED, "
                "i INT UNSIGNED, y TINYINT UNSIGNED)"),
            "CREATE TABLE");
  sql("INSERT INTO t (b, i, y) VALUES (18446744073709551615, 4294967295, 255), (3, 2, 1)");
  EXPECT_EQ(sql("SELECT LAST_INSERT_ID(), max(id) FROM t"), "1,2");
  EXPECT_EQ(sql("SELECT b, b - 1, b > -1, b = -1, b % 10, i + y FROM t WHERE id = 1"),
            "18446744073709551615,18446744073709551614,1,0,5,4294967550");
  for (const char* wrong : {"b + 1", "b * 2", "i - 4294967296", "y - 256", "b * -1", "-b"}) {
    const auto run = sql.session->run(std::string("SELECT ") + wrong + " FROM t WHERE id = 1");
    ASSERT_TRUE(run.error) << wrong;
    EXPECT_EQ(run.error->sqlstate, "22003") << wrong;
    EXPECT_EQ(run.error->mysql_number, 1690) << wrong;
  }
  EXPECT_EQ(sql("SELECT b - 5.0, b - 5e0, -b, -7 % b, b % -2, abs(b), 5 / b FROM t WHERE id = 2"),
            "-2.0,-2,-3,-1,1,3,1.6667");
  EXPECT_EQ(sql("SELECT sum(b), sum(i) - 4294967300 FROM t"), "18446744073709551618,-3");
  EXPECT_EQ(sql("SELECT coalesce(b, -1) - 5, if(1, i, -1) - 5 FROM t WHERE b = 3"), "-2,-3");
  EXPECT_EQ(sql("SELECT cast(-1 AS UNSIGNED), cast(18446744073709551615 AS SIGNED), "
                "-9223372036854775808, 9223372036854775808 - 1, 18446744073709551616 - 1"),
            "18446744073709551615,-1,-9223372036854775808,9223372036854775807,"
            "18446744073709551615");
  EXPECT_EQ(sql("SELECT -CAST(9223372036854775808 AS SIGNED)"), "error 0A000");
  for (const char* wrong :
       {"b = -1", "b = 18446744073709551616", "i = 4294967296", "y = 256", "y = -0.4", "id = -1"}) {
    EXPECT_EQ(sql(std::string("UPDATE t SET ") + wrong + " WHERE id = 2"), "error 22003") << wrong;
  }
  EXPECT_EQ(sql("UPDATE t SET b = b - 4 WHERE id = 2"), "error 22003");
  EXPECT_EQ(sql("INSERT INTO t (id) VALUES (18446744073709551615)"), "error 0A000");
  EXPECT_EQ(sql("SELECT id FROM t ORDER BY b LIMIT 1, 18446744073709551615"), "1");
}

TEST(MockSqlMysql, TextWhereANumberIsNeeded) {
  Bench sql(Product::kMysql);
  EXPECT_EQ(sql("SELECT '12abc' + 1, 'a' * 2, '1.5' - 1, -'3', abs('-3x'), '7' / 2, floor('2.7')"),
            "13,0,0.5,-3,3,3.5,2");
  EXPECT_EQ(sql("SELECT '12abc' = 12, 'a' = 0, ' 5' = 5, '1e1' = 10, '5.' < 5.1, 0 IN ('a', 'b'), "
                "'2' BETWEEN 1 AND 11, NOT 'a', 5 LIKE '5', 12 <=> '12'"),
            "1,1,1,1,1,1,1,1,1,1");
  EXPECT_EQ(sql("SELECT coalesce(1, 'x'), if(1, 1.50, 'x'), greatest(2, '10'), nullif('5', 5)"),
            "1,1.50,10,null");
  EXPECT_EQ(sql("SELECT 9007199254740993 = '9007199254740992'"), "error 0A000");
  EXPECT_EQ(sql("SELECT '1e400' + 1"), "error 0A000");
  sql("CREATE TABLE t (id INT PRIMARY KEY, i INT, n DECIMAL(6,2), w VARCHAR(9))");
  EXPECT_EQ(sql("INSERT INTO t VALUES (1, '12.5', ' 1.255 ', '12abc'), ('2', '1e2', '-.5', 5.5e0)"),
            "INSERT 0 2");
  EXPECT_EQ(sql("SELECT * FROM t"), "1,13,1.26,12abc | 2,100,-0.50,5.5");
  EXPECT_EQ(sql("SELECT id FROM t WHERE w = 12"), "1");
  EXPECT_EQ(sql("SELECT id FROM t WHERE id = '2x'"), "2");
  EXPECT_EQ(sql("SELECT id FROM t WHERE i = w + 1"), "1");
  EXPECT_EQ(sql("SELECT sum(w) FROM t"), "17.5");
  const auto number = [&](std::string_view statement) {
    const auto run = sql.session->run(statement);
    return run.error ? run.error->sqlstate + " " + std::to_string(run.error->mysql_number) : "well";
  };
  EXPECT_EQ(number("UPDATE t SET i = 'abc' WHERE id = 1"), "22P02 0");
  EXPECT_EQ(number("UPDATE t SET i = '7x' WHERE id = 1"), "01000 0");
  EXPECT_EQ(number("UPDATE t SET i = '99999999999' WHERE id = 1"), "22003 0");
  EXPECT_EQ(number("UPDATE t SET i = w + 1 WHERE id = 1"), "22007 0");
  EXPECT_EQ(number("UPDATE t SET i = 7 WHERE w = 12"), "0A000 0");
  EXPECT_EQ(number("UPDATE t SET i = w WHERE id = 2"), "well");
  EXPECT_EQ(number("DELETE FROM t WHERE w = 77"), "well");
  EXPECT_EQ(sql("SELECT id, i FROM t"), "1,13 | 2,6");
}

// The key is named, so only its row is read.
TEST(MockSqlMysql, KeysWithoutSignAreRead) {
  Bench sql(Product::kMysql);
  sql("CREATE TABLE t (id BIGINT UNSIGNED PRIMARY KEY, v INT)");
  sql("INSERT INTO t VALUES (1, 10), (18446744073709551615, 20)");
  EXPECT_EQ(sql("SELECT v FROM t WHERE id = 18446744073709551615"), "20");
  EXPECT_EQ(sql("SELECT v FROM t WHERE id = 1.5 OR id = -1"), "");
  EXPECT_EQ(sql("SELECT v FROM t WHERE id = 1.0"), "10");
  auto postgres = Session::open(sql.store, sql.catalog, Product::kPostgres, "three");
  Bench::in(*postgres, "SET cupel.policy = 'latest'");
  EXPECT_EQ(Bench::in(*postgres, "SELECT id - 1, v FROM t WHERE id > 5"),
            "18446744073709551614,20");
  EXPECT_EQ(Bench::in(*postgres, "INSERT INTO t VALUES (7, 1); SELECT v FROM t WHERE id = 7"), "1");
  EXPECT_EQ(Bench::in(*postgres, "INSERT INTO t VALUES (-7, 1)"), "error 22003");
}

TEST(MockSqlMysql, QuotientsKeepWhatTheyDoNotShow) {
  Bench sql(Product::kMysql);
  EXPECT_EQ(
      sql("SELECT 1/3*3, 1/3+1, 2/3, (1/3)*3 = 1, 1/3 = 0.3333, round(1/3, 6), 10/4/3, 1.5/7"),
      "1.0000,1.3333,0.6667,1,1,0.333333,0.83333333,0.21429");
  EXPECT_EQ(
      sql("SELECT coalesce(1.5, 2.25), if(1, 1.5, 2.255), greatest(1.5, 0.25), coalesce(1.5, 2)"),
      "1.50,1.500,1.50,1.5");
  EXPECT_EQ(sql("SELECT floor(2/3*3), cast(2/3*3 AS SIGNED), cast(2/3 AS CHAR)"), "1,2,0.6667");
  EXPECT_EQ(sql("SELECT 1/3 BETWEEN 0 AND 1"), "error 0A000");
}

TEST(MockSqlMysql, BlanksAtTheEndDoNotCount) {
  Bench sql(Product::kMysql);
  EXPECT_EQ(sql("SELECT 'a' = 'a ', 'a' IN ('a  '), 'a' < 'a ', 'a' LIKE 'a ', nullif('a', 'a ')"),
            "1,1,0,0,null");
  sql("CREATE TABLE t (k VARCHAR(5) PRIMARY KEY, c CHAR(4), w VARCHAR(4) UNIQUE)");
  EXPECT_EQ(sql("INSERT INTO t VALUES ('x', 'ab', 'p '), ('y', 'ab  ', 'q')"), "INSERT 0 2");
  EXPECT_EQ(sql("SELECT concat(c, '|'), length(c), concat(w, '|') FROM t WHERE k = 'x '"),
            "ab|,2,p |");
  EXPECT_EQ(sql("INSERT INTO t VALUES ('z', '', 'p')"), "error 23505");
  EXPECT_EQ(sql("INSERT INTO t VALUES ('x ', '', 'r')"), "error 23505");
  EXPECT_EQ(sql("INSERT INTO t VALUES ('v ', '', 's')"), "error 0A000");
  EXPECT_EQ(sql("SELECT c, count(*), count(DISTINCT w, c) FROM t GROUP BY c"), "ab,2,2");
}

TEST(MockSqlMysql, ItsFunctions) {
  Bench sql(Product::kMysql);
  EXPECT_EQ(
      sql("SELECT substr('abcdef', -2), substr('abcdef', -3, 2), substr('abc', 2), left('abc', 2)"),
      "ef,de,bc,ab");
  for (const char* nothing : {"substr('abc', 0)", "substr('abc', -5)", "substr('abc', 2, -1)",
                              "left('abc', -1)", "right('abc', -1)"}) {
    EXPECT_EQ(sql(std::string("SELECT ") + nothing + " = ''"), "1") << nothing;
  }
  EXPECT_EQ(
      sql("SELECT cast(true AS CHAR), cast(1 = 2 AS CHAR), cast('abcd' AS CHAR(2)), upper('ab')"),
      "1,0,ab,AB");
  EXPECT_EQ(sql("SELECT upper('\xc3\xa9')"), "error 0A000");
  EXPECT_EQ(sql("SELECT cast('12x' AS SIGNED)"), "error 0A000");
  EXPECT_EQ(sql("SELECT 1e15, 1e16, 1e14, 0.00001e0, 1.5e-20"),
            "1e15,1e16,100000000000000,0.00001,1.5e-20");
}

TEST(MockSqlMysql, OutputsAreCalledByTheirText) {
  Bench sql(Product::kMysql);
  sql("CREATE TABLE t (a INT PRIMARY KEY, b INT)");
  const auto run = sql.session->run(
      "SELECT 1 + 1, 'x', \"y\", t.a, (b), a  +  b, count( * ), NULL, true, -1, a IS NULL, a q, b "
      "AS r, "
      "'it''s', (SELECT max( a ) FROM t), CASE WHEN 1 THEN 2 END, exists (SELECT 1), a IN (1,2) "
      "FROM t GROUP BY a, b");
  ASSERT_FALSE(run.error) << run.error->message;
  std::string names;
  for (const auto& column : run.results[0].columns) names += column.name + "|";
  EXPECT_EQ(
      names,
      "1 + 1|x|y|a|b|a  +  b|count( * )|NULL|TRUE|-1|a IS NULL|q|r|it's|(SELECT max( a ) FROM t)|"
      "CASE WHEN 1 THEN 2 END|exists (SELECT 1)|a IN (1,2)|");
}

TEST(MockSqlMysql, ChildrenAreLookedForRowByRow) {
  Bench sql(Product::kMysql);
  sql("CREATE TABLE t (id INT PRIMARY KEY); CREATE TABLE u (t INT, FOREIGN KEY (t) REFERENCES t "
      "(id))");
  sql("INSERT INTO t VALUES (1), (2); INSERT INTO u VALUES (2)");
  EXPECT_EQ(sql("UPDATE t SET id = id + 1 ORDER BY id DESC"), "error 23503");
  sql("DELETE FROM u");
  EXPECT_EQ(sql("UPDATE t SET id = id + 1 ORDER BY id DESC"), "UPDATE 2");
}

TEST(MockSqlMysql, UpdateAndDeleteInOrder) {
  Bench sql(Product::kMysql);
  sql("CREATE TABLE jobs (id INT PRIMARY KEY, state INT, due INT)");
  sql("INSERT INTO jobs VALUES (1, 0, 30), (2, 0, 10), (3, 1, 5), (4, 0, NULL), (5, 0, 20)");
  EXPECT_EQ(sql("UPDATE jobs SET state = 2 WHERE state = 0 AND due > 0 ORDER BY due LIMIT 2"),
            "UPDATE 2");
  EXPECT_EQ(sql("SELECT id FROM jobs WHERE state = 2"), "2 | 5");
  EXPECT_EQ(sql("UPDATE jobs j SET j.state = 3, due = (1 + 1) ORDER BY j.due, id LIMIT 1"),
            "UPDATE 1");
  EXPECT_EQ(sql("SELECT * FROM jobs WHERE state = 3"), "4,3,2");
  EXPECT_EQ(sql("UPDATE jobs SET id = id + 1 ORDER BY id DESC"), "UPDATE 5");
  EXPECT_EQ(sql("UPDATE jobs SET id = id + 1 ORDER BY id"), "error 23505");
  EXPECT_EQ(sql("DELETE FROM jobs ORDER BY due DESC, id LIMIT 3"), "DELETE 3");
  EXPECT_EQ(sql("SELECT id FROM jobs"), "4 | 5");
  EXPECT_EQ(sql("DELETE FROM jobs LIMIT 1"), "DELETE 1");
  EXPECT_EQ(sql("DELETE FROM jobs LIMIT 0"), "DELETE 0");
  for (const char* behind :
       {"LIMIT 1, 1", "LIMIT 1 OFFSET 1", "LIMIT 1 FOR UPDATE", "ORDER BY id FOR SHARE",
        "LIMIT 1 LOCK IN SHARE MODE", "ORDER BY id UNION SELECT 1",
        "ORDER BY id FETCH FIRST 1 ROWS WITH TIES", "ORDER BY id WINDOW w AS ()"}) {
    EXPECT_EQ(sql("DELETE FROM jobs " + std::string(behind)), "error 42601") << behind;
    EXPECT_EQ(sql("UPDATE jobs SET due = 1 " + std::string(behind)), "error 42601") << behind;
  }
  EXPECT_EQ(sql("UPDATE jobs, t SET a = 1"), "error 0A000");
  EXPECT_EQ(sql("DELETE jobs FROM jobs JOIN t"), "error 0A000");
  auto prepared = sql.session->prepare("DELETE FROM jobs WHERE state = ? ORDER BY id LIMIT ?");
  auto* change = std::get_if<std::unique_ptr<Prepared>>(&prepared);
  ASSERT_NE(change, nullptr) << std::get<Error>(prepared).message;
  const std::vector<Datum> values{"0", "1"};
  auto done = sql.session->execute(**change, values);
  ASSERT_TRUE(std::holds_alternative<Result>(done)) << std::get<Error>(done).message;
  EXPECT_EQ(told(std::get<Result>(done)), "DELETE 0");
}

TEST(MockSqlMysql, AssignmentsSeeThoseToTheirLeft) {
  Bench sql(Product::kMysql);
  sql("CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT); INSERT INTO t VALUES (1, 1, 1)");
  sql("UPDATE t SET a = a + 1, b = a");
  EXPECT_EQ(sql("SELECT a, b FROM t"), "2,2");
  EXPECT_EQ(sql("SELECT id FROM t ORDER BY NULL"), "1");
}

// With a sub-query on the table itself all values are computed of the old ones: MariaDB turns such
// an UPDATE into one of several tables.
TEST(MockSqlMysql, AssignmentsBesideASubQuery) {
  Bench sql(Product::kMysql);
  sql("CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT); INSERT INTO t VALUES (1, 1, 1)");
  sql("CREATE TABLE c (t INT); INSERT INTO c VALUES (1)");
  const auto after = [&](const std::string& update) {
    const auto told = sql(update);
    return told == "UPDATE 1" ? sql("SELECT a, b FROM t") : told;
  };
  EXPECT_EQ(after("UPDATE t SET a = 5, b = 6 WHERE id IN (SELECT t FROM c)"), "5,6");
  EXPECT_EQ(after("UPDATE t SET a = a + 1, b = a WHERE id IN (SELECT t FROM c)"), "6,6");
  EXPECT_EQ(after("UPDATE t SET a = a + 1, b = (SELECT max(c.t) + t.a FROM c)"), "7,8");
  EXPECT_EQ(after("UPDATE t SET a = 1, b = b + 1 WHERE id IN (SELECT id FROM t x)"), "1,9");
  EXPECT_EQ(after("UPDATE t SET b = a, a = a + 1 WHERE id IN (SELECT id FROM t x)"), "2,1");
  EXPECT_EQ(after("UPDATE t SET a = (SELECT max(x.a) + 1 FROM t x), b = 3"), "3,3");
  for (const char* refused :
       {"UPDATE t SET a = a + 1, b = a WHERE id IN (SELECT id FROM t x)",
        "UPDATE t SET a = a + 1, b = a WHERE id IN (SELECT x.id FROM (SELECT id FROM t) x)",
        "UPDATE t SET a = (SELECT max(x.a) FROM t x), b = a + 1",
        "UPDATE t SET a = 1, b = (SELECT count(*) FROM t x WHERE x.a = t.a)",
        "UPDATE t SET a = 1, id = id, b = ifnull(NULL, a) WHERE EXISTS (SELECT 1 FROM c, t x)"}) {
    EXPECT_EQ(sql(refused), "error 0A000") << refused;
  }
  EXPECT_EQ(sql("SELECT a, b FROM t"), "3,3");
}

TEST(MockSqlMysql, AFailedStatementIsAlone) {
  Bench sql(Product::kMysql);
  sql("CREATE TABLE t (id INT PRIMARY KEY)");
  EXPECT_EQ(sql("START TRANSACTION"), "BEGIN");
  sql("INSERT INTO t VALUES (1)");
  EXPECT_EQ(sql("INSERT INTO t VALUES (2), (1)"), "error 23505");
  EXPECT_EQ(sql.session->state(), TransactionState::kOpen);
  EXPECT_EQ(sql("COMMIT; SELECT * FROM t"), "1");
  sql("SET autocommit=0");
  EXPECT_FALSE(sql.session->autocommit());
  sql("INSERT INTO t VALUES (5)");
  sql("ROLLBACK");
  EXPECT_EQ(sql("SELECT * FROM t"), "1");
}

TEST(MockSqlMysql, AFailedFirstStatementLeavesNothing) {
  for (const char* begin : {"BEGIN", "SET autocommit = 0"}) {
    Bench sql(Product::kMysql);
    sql("CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES (1)");
    sql(begin);
    EXPECT_EQ(sql("INSERT INTO t VALUES (2), (1)"), "error 23505");
    EXPECT_EQ(sql("SELECT * FROM t"), "1") << begin;
    sql("INSERT INTO t VALUES (3)");
    sql("COMMIT");
    EXPECT_EQ(sql("SELECT * FROM t ORDER BY id"), "1 | 3") << begin;
  }
}

TEST(MockSqlMysql, GroupConcat) {
  Bench sql(Product::kMysql);
  sql("CREATE TABLE t (id INT PRIMARY KEY, g INT, w VARCHAR(9), n DECIMAL(4,2), d DOUBLE)");
  sql("INSERT INTO t VALUES (1, 1, 'b', 1.5, 1.5), (2, 1, 'a', NULL, 2), (3, 2, 'b', 3, 1e20)");
  EXPECT_EQ(
      sql("SELECT GROUP_CONCAT(w), group_concat(w ORDER BY w DESC, id SEPARATOR ' - '), "
          "group_concat(DISTINCT w ORDER BY w), group_concat(id, ':', n ORDER BY id DESC), "
          "group_concat(d SEPARATOR ''), group_concat(NULL), group_concat(id > 1 ORDER BY id) "
          "FROM t"),
      "b,a,b,b - b - a,a,b,3:3.00,1:1.50,1.521e20,null,0,1,1");
  EXPECT_EQ(sql("SELECT g, group_concat(id ORDER BY id DESC) FROM t GROUP BY g ORDER BY g"),
            "1,2,1 | 2,3");
  EXPECT_EQ(sql("SELECT group_concat(w) FROM t WHERE id > 9"), "null");
  EXPECT_EQ(sql("SELECT group_concat(repeat(w, 900)) FROM t"), "error 0A000");
}

TEST(MockSqlMysql, DescribeTellsWhatWasDeclared) {
  Bench sql(Product::kMysql);
  sql("CREATE TABLE t (id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, a INT(11) NOT NULL DEFAULT "
      "3, "
      "w VARCHAR(20) UNIQUE DEFAULT 'x', b BOOLEAN, n DECIMAL(8,2) UNSIGNED, c CHAR(3) NOT NULL, "
      "at DATETIME DEFAULT CURRENT_TIMESTAMP, d DOUBLE)");
  const std::string told =
      "id,bigint unsigned,NO,PRI,null,auto_increment | a,int,NO,,3, | w,varchar(20),YES,UNI,x, | "
      "b,tinyint(1),YES,,null, | n,decimal(8,2) unsigned,YES,,null, | c,char(3),NO,,null, | "
      "at,datetime,YES,,CURRENT_TIMESTAMP, | d,double,YES,,null,";
  for (const char* asks : {"DESCRIBE t", "DESC `t`", "SHOW COLUMNS FROM t", "describe shop.t"}) {
    EXPECT_EQ(sql(asks), told) << asks;
  }
  EXPECT_EQ(sql("DESCRIBE t a"), "error 0A000");
  EXPECT_EQ(sql("DESCRIBE nope"), "error 42P01");
  EXPECT_EQ(sql("SHOW CREATE TABLE t"), "error 0A000");
  EXPECT_EQ(sql("SHOW TABLES"), "t");
}

TEST(MockSqlMysql, WhatDriversAsk) {
  Bench sql(Product::kMysql);
  EXPECT_EQ(sql("SET NAMES utf8mb4"), "SET");
  EXPECT_EQ(sql("SELECT @@session.autocommit, @@max_allowed_packet"), "1,16777216");
  EXPECT_EQ(sql("select @@version_comment limit 1"), "cupel mock");
  EXPECT_EQ(sql("SHOW VARIABLES LIKE 'lower_case%'"), "lower_case_table_names,1");
  EXPECT_EQ(sql("USE shop; SELECT DATABASE()"), "shop");
  EXPECT_EQ(
      sql("SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE; SELECT @@transaction_isolation"),
      "SERIALIZABLE");
  EXPECT_EQ(sql("/*!40101 SET NAMES utf8 */"), "SET");
}

TEST(MockSqlMysql, Prepared) {
  Bench sql(Product::kMysql);
  sql("CREATE TABLE t (id INT PRIMARY KEY, n INT); INSERT INTO t VALUES (1, 5), (2, 6), (3, 7)");
  auto prepared = sql.session->prepare("SELECT n FROM t WHERE n > ? ORDER BY n LIMIT ?, ?");
  auto* select = std::get_if<std::unique_ptr<Prepared>>(&prepared);
  ASSERT_NE(select, nullptr) << std::get<Error>(prepared).message;
  ASSERT_EQ((*select)->parameter_count(), 3u);
  const std::vector<Datum> values{"4", "1", "5"};
  auto done = sql.session->execute(**select, values);
  ASSERT_TRUE(std::holds_alternative<Result>(done)) << std::get<Error>(done).message;
  EXPECT_EQ(told(std::get<Result>(done)), "6 | 7");
}

TEST(MockSqlMysql, WhoItIs) {
  Bench sql(Product::kMysql);
  EXPECT_EQ(sql("SELECT USER(), current_user(), CURRENT_USER, SESSION_USER(), SYSTEM_USER()"),
            "cupel@localhost,cupel@localhost,cupel@localhost,cupel@localhost,cupel@localhost");
  sql.session->on_user("alice");
  EXPECT_EQ(sql("SELECT USER(), SCHEMA(), DATABASE() LIMIT 1"), "alice@localhost,cupel,cupel");
  const auto run = sql.session->run("SELECT User()");
  EXPECT_EQ(run.results.at(0).columns.at(0).name, "User()");
  EXPECT_EQ(sql("CREATE TABLE user (user INT)"), "CREATE TABLE");
  EXPECT_EQ(sql("SELECT user FROM user"), "");
}

TEST(MockSqlMysql, OutOfRangeNamesTheColumnAndTheRow) {
  Bench sql(Product::kMysql);
  sql("CREATE TABLE t (id INT PRIMARY KEY, u SMALLINT UNSIGNED, b TINYINT UNSIGNED, i TINYINT)");
  sql("INSERT INTO t VALUES (1, 1, 1, 1), (2, 200, 200, 100)");
  const auto message = [&](const char* text) {
    const auto run = sql.session->run(text);
    if (!run.error) return std::string("none");
    EXPECT_EQ(run.error->sqlstate, "22003") << text;
    return run.error->message;
  };
  for (const auto& [text, words] : std::initializer_list<std::pair<const char*, const char*>>{
           {"INSERT INTO t VALUES (3, -3, 1, 1)", "column 'u' at row 1"},
           {"INSERT INTO t VALUES (3, 3, 3, 3), (4, 65536, 1, 1)", "column 'u' at row 2"},
           {"INSERT INTO t (id, b) VALUES (3, 3), (4, 256)", "column 'b' at row 2"},
           {"INSERT INTO t (id, b) VALUES (3, 128 + 128)", "column 'b' at row 1"},
           {"INSERT INTO t (id, u) SELECT id + 5, -id FROM t", "column 'u' at row 1"},
           {"INSERT INTO t (id, b) SELECT id + 5, b + 100 FROM t", "column 'b' at row 2"},
           {"INSERT INTO t (id, i) VALUES (3, -129)", "column 'i' at row 1"},
           {"INSERT INTO t (id) VALUES (2147483648)", "column 'id' at row 1"},
           {"INSERT INTO t (id) VALUES (1) ON DUPLICATE KEY UPDATE u = -1", "column 'u' at row 1"},
           {"UPDATE t SET b = 256 WHERE id = 1", "column 'b' at row 1"},
           {"UPDATE t SET b = b + 100", "column 'b' at row 2"}}) {
    EXPECT_EQ(message(text), std::string("Out of range value for ") + words) << text;
  }
  // Arithmetic is told as it is.
  const auto run = sql.session->run("INSERT INTO t (id, u) SELECT 9, u - 5 FROM t WHERE id = 1");
  ASSERT_TRUE(run.error);
  EXPECT_EQ(run.error->mysql_number, 1690) << run.error->message;
}

TEST(MockSqlMysql, OfItsOwnWordsForChanges) {
  Bench sql(Product::kMysql);
  sql("CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, n INT DEFAULT 7)");
  EXPECT_EQ(sql("INSERT INTO t VALUES ()"), "INSERT 0 1");
  EXPECT_EQ(sql("INSERT INTO `t` () VALUES ()"), "INSERT 0 1");
  EXPECT_EQ(sql("INSERT t VALUE ()"), "INSERT 0 1");
  EXPECT_EQ(sql("SELECT id, n FROM t"), "1,7 | 2,7 | 3,7");
  for (const char* text :
       {"INSERT INTO t SET n = 1", "REPLACE t SET n = 1", "INSERT INTO t VALUES (), ()", "DO 1",
        "UPDATE t a JOIN t b ON a.id = b.id SET a.n = 1",
        "DELETE a FROM t a JOIN t b ON a.id = b.id"}) {
    EXPECT_EQ(sql(text), "error 0A000") << text;
  }
}

// As literals of the type in which they are sent.
TEST(MockSqlMysql, ParametersHaveTheirOwnTypes) {
  Bench sql(Product::kMysql);
  sql("CREATE TABLE t (id BIGINT UNSIGNED PRIMARY KEY, w VARCHAR(9))");
  sql("INSERT INTO t VALUES (1, '5.0'), (2, '5'), (18446744073709551615, 'x')");
  const auto run = [&](std::string_view statement, const std::string& value, Type type) {
    auto prepared = sql.session->prepare(statement);
    auto* made = std::get_if<std::unique_ptr<Prepared>>(&prepared);
    if (made == nullptr) return "error " + std::get<Error>(prepared).sqlstate;
    const std::vector<Datum> values{value};
    const std::vector<Type> sent{type};
    auto done = sql.session->execute(**made, values, sent);
    if (const auto* wrong = std::get_if<Error>(&done)) return "error " + wrong->sqlstate;
    return told(std::get<Result>(done));
  };
  EXPECT_EQ(run("SELECT id FROM t WHERE w = ?", "5", Type::kBigint), "1 | 2");
  EXPECT_EQ(run("SELECT id FROM t WHERE w = ?", "5", Type::kText), "2");
  EXPECT_EQ(run("SELECT w FROM t WHERE id = ?", "2", Type::kDouble), "5");
  EXPECT_EQ(run("SELECT w FROM t WHERE id = ?", "1.5", Type::kDouble), "");
  EXPECT_EQ(run("SELECT w FROM t WHERE id = ?", "-1", Type::kBigint), "");
  EXPECT_EQ(run("SELECT w FROM t WHERE id = ?", "2x", Type::kText), "5");
  EXPECT_EQ(run("SELECT w FROM t WHERE id = ?", "18446744073709551615", Type::kUnsigned), "x");
  EXPECT_EQ(run("SELECT ? - 7", "5", Type::kUnsigned), "error 22003");
  EXPECT_EQ(run("SELECT ? - 7", "5", Type::kBigint), "-2");
  EXPECT_EQ(run("UPDATE t SET w = 'y' WHERE id = 2 AND ? > 1", "3", Type::kText), "UPDATE 1");
  EXPECT_EQ(run("DELETE FROM t LIMIT ?", "1", Type::kBigint), "DELETE 1");
  EXPECT_EQ(sql("SELECT ?"), "error 42P02");
}

}  // namespace
}  // namespace cupel::sql
