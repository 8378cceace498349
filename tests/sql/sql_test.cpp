// Statement by statement, in PostgreSQL's dialect: what PostgreSQL 15 answers.
#include "sql/bench.hpp"

namespace cupel::sql {
namespace {

TEST(MockSql, CreateInsertSelect) {
  Bench sql;
  EXPECT_EQ(sql("CREATE TABLE t (id int PRIMARY KEY, name text, n numeric(5,2) DEFAULT 1.5)"),
            "CREATE TABLE");
  EXPECT_EQ(sql("INSERT INTO t VALUES (10, 'b'), (9, 'it''s'), (2, NULL)"), "INSERT 0 3");
  EXPECT_EQ(sql("SELECT * FROM t"), "2,null,1.50 | 9,it's,1.50 | 10,b,1.50");
  EXPECT_EQ(sql("SELECT name FROM t WHERE id = 9"), "it's");
  EXPECT_EQ(sql("SELECT id FROM t WHERE name IS NULL OR id > 9 ORDER BY id DESC"), "10 | 2");
  EXPECT_EQ(sql("CREATE TABLE t (a int)"), "error 42P07");
  EXPECT_EQ(sql("CREATE TABLE IF NOT EXISTS t (a int)"), "CREATE TABLE");
  EXPECT_EQ(sql("DROP TABLE t"), "DROP TABLE");
  EXPECT_EQ(sql("SELECT * FROM t"), "error 42P01");
  EXPECT_EQ(sql("DROP TABLE t"), "error 42P01");
  EXPECT_EQ(sql("DROP TABLE IF EXISTS t"), "DROP TABLE");
  // A table of the same name starts empty.
  EXPECT_EQ(sql("CREATE TABLE t (id int PRIMARY KEY); SELECT * FROM t"), "");
}

TEST(MockSql, ArithmeticHasPostgresTypes) {
  Bench sql;
  EXPECT_EQ(sql("SELECT 7/2, -7/2, 7%3, -7%3, 7/2.0, 1/3.0, 2*1.50, 1.10-1"),
            "3,-3,1,-1,3.5000000000000000,0.33333333333333333333,3.00,0.10");
  EXPECT_EQ(sql("SELECT -5, - (3), -(-(-2)), - 0, 2 - -1, -2147483648, -1.5"),
            "-5,-3,-2,0,3,-2147483648,-1.5");
  EXPECT_EQ(sql("SELECT -/* c */5"), "error 0A000");
  EXPECT_EQ(sql("SELECT 2147483647 + 1"), "error 22003");
  EXPECT_EQ(sql("SELECT 2147483648 + 1"), "2147483649");
  EXPECT_EQ(sql("SELECT 1/0"), "error 22012");
  EXPECT_EQ(sql("SELECT 1 + '2'"), "3");
  EXPECT_EQ(sql("SELECT 'a' + 1"), "error 22P02");
  EXPECT_EQ(sql("SELECT 1 = 'a'::text"), "error 42883");
  EXPECT_EQ(sql("SELECT '12'::int, 12::text, 1.7::int, 2.5::int, true::text, 0::boolean, "
                "'abcd'::varchar(2)"),
            "12,12,2,3,true,f,ab");
}

TEST(MockSql, ThreeValuedLogic) {
  Bench sql;
  EXPECT_EQ(
      sql("SELECT NULL AND false, NULL AND true, NULL OR true, NOT NULL::boolean, 1 IN (2, NULL), "
          "1 NOT IN (2, NULL), 1 IN (1, NULL), NULL IS NULL, NULL = NULL"),
      "f,null,t,null,null,null,t,t,null");
  EXPECT_EQ(sql("SELECT 2 BETWEEN 1 AND NULL, 0 BETWEEN 1 AND NULL, 2 NOT BETWEEN 3 AND 4"),
            "null,f,t");
  EXPECT_EQ(sql("SELECT coalesce(NULL, 3), coalesce(1, 2.5), coalesce(NULL, NULL)"), "3,1,null");
  EXPECT_EQ(sql("SELECT coalesce(1, 'a'::text)"), "error 42804");
}

std::string names(Bench& bench, std::string_view text) {
  const auto run = bench.session->run(text);
  if (run.error) return "error " + run.error->sqlstate;
  std::string all;
  for (const auto& column : run.results.back().columns) {
    all += (all.empty() ? "" : ",") + column.name;
  }
  return all;
}

TEST(MockSql, NamesOfOutputs) {
  Bench sql;
  sql("CREATE TABLE t (a int PRIMARY KEY)");
  EXPECT_EQ(names(sql, "SELECT 1::int8, cast('1' AS int), 'x'::text::varchar, NULL::bool"),
            "int8,int4,varchar,bool");
  EXPECT_EQ(names(sql, "SELECT a::text, (a)::int8::text, (a + 1)::text, version()::varchar FROM t"),
            "a,a,text,version");
  EXPECT_EQ(names(sql,
                  "SELECT (SELECT 1)::text, (SELECT a FROM t)::text, coalesce(a, 1)::int8, "
                  "EXISTS (SELECT 1), a + 1, now()::timestamp FROM t"),
            "?column?,a,coalesce,exists,?column?,now");
}

TEST(MockSql, RowsAsValuesAreRefused) {
  Bench sql;
  sql("CREATE TABLE t (a int PRIMARY KEY, xmin int)");
  for (const char* text :
       {"SELECT t FROM t", "SELECT count(t) FROM t", "SELECT a FROM t ORDER BY t"}) {
    EXPECT_EQ(sql(text), "error 0A000") << text;
  }
  EXPECT_EQ(sql("SELECT xmin FROM t"), "");
  EXPECT_EQ(sql("SELECT b FROM t"), "error 42703");
}

TEST(MockSql, Functions) {
  Bench sql;
  EXPECT_EQ(
      sql("SELECT current_schema(), pg_catalog.current_database(), now() = current_timestamp"),
      "public,cupel,t");
  for (const char* call :
       {"random()", "left('abc', 1)", "round(1.5)", "greatest(1, 2)", "abs(-1)", "upper('a')",
        "length('a')", "current_schema", "current_user", "current_catalog", "pg_backend_pid()",
        "pg_cancel_backend(1)", "set_config('lock_timeout', '1', false)",
        "current_setting('lock_timeout')"}) {
    EXPECT_EQ(sql(std::string("SELECT ") + call), "error 0A000") << call;
  }
}

TEST(MockSql, DatesAndTimes) {
  Bench sql;
  EXPECT_EQ(sql("SELECT '2024-02-29'::timestamp, '2024-01-02 03:04:05.5'::timestamp, "
                "'1999-12-31'::timestamp < '2000-01-01'::timestamptz"),
            "2024-02-29 00:00:00,2024-01-02 03:04:05.5,t");
  EXPECT_EQ(sql("SELECT '1999-12-31T23:59:59.000001Z'::timestamptz, "
                "'2024-01-02 03:04+02:30'::timestamptz, '2024-01-02 03:04+02'::timestamp"),
            "1999-12-31 23:59:59.000001+00,2024-01-02 00:34:00+00,2024-01-02 03:04:00");
  EXPECT_EQ(sql("SELECT '2024-02-29'::timestamp - now()"), "error 0A000");
  EXPECT_EQ(sql("SELECT '2023-02-29'::timestamp"), "error 22008");
  EXPECT_EQ(sql("SELECT 'yesterday'::timestamp"), "error 0A000");
  EXPECT_EQ(sql("SELECT ''::timestamp"), "error 22007");
}

TEST(MockSql, AggregatesAndGroups) {
  Bench sql;
  sql("CREATE TABLE s (id int PRIMARY KEY, g text, n int)");
  EXPECT_EQ(sql("SELECT count(*), sum(n), min(n) FROM s"), "0,null,null");
  EXPECT_EQ(sql("SELECT g, count(*) FROM s GROUP BY g"), "");
  sql("INSERT INTO s VALUES (1,'a',1),(2,'a',2),(3,'b',5),(4,NULL,NULL)");
  EXPECT_EQ(
      sql("SELECT g, count(*), count(n), sum(n), avg(n), max(n) FROM s GROUP BY g ORDER BY g"),
      "a,2,2,3,1.5000000000000000,2 | b,1,1,5,5.0000000000000000,5 | null,1,0,null,null,null");
  EXPECT_EQ(sql("SELECT g FROM s GROUP BY g HAVING sum(n) > 3"), "b");
  EXPECT_EQ(sql("SELECT count(DISTINCT g) FROM s"), "2");
  EXPECT_EQ(sql("SELECT g, n FROM s GROUP BY g"), "error 42803");
  EXPECT_EQ(sql("SELECT id, g, sum(n) FROM s GROUP BY id ORDER BY id LIMIT 1"), "1,a,1");
  EXPECT_EQ(sql("SELECT n FROM s WHERE sum(n) > 1"), "error 42803");
  EXPECT_EQ(sql("SELECT DISTINCT g FROM s ORDER BY g"), "a | b | null");
  EXPECT_EQ(sql("SELECT DISTINCT g FROM s ORDER BY g DESC"), "null | b | a");
  EXPECT_EQ(sql("SELECT n % 2 AS odd, count(*) FROM s WHERE n > 0 GROUP BY odd ORDER BY 1"),
            "0,1 | 1,2");
}

TEST(MockSql, Joins) {
  Bench sql;
  sql("CREATE TABLE a (id int PRIMARY KEY, x int); CREATE TABLE b (id int PRIMARY KEY, a_id int, y "
      "text)");
  sql("INSERT INTO a VALUES (1, 10), (2, 20), (3, 30); INSERT INTO b VALUES (1, 1, 'p'), (2, 1, "
      "'q'), (3, 2, 'r')");
  EXPECT_EQ(sql("SELECT a.id, y FROM a JOIN b ON a.id = b.a_id ORDER BY y"), "1,p | 1,q | 2,r");
  EXPECT_EQ(sql("SELECT a.id, y FROM a LEFT JOIN b ON a.id = b.a_id AND y <> 'p' ORDER BY 1, 2"),
            "1,q | 2,r | 3,null");
  EXPECT_EQ(sql("SELECT a.id FROM a LEFT JOIN b ON a.id = b.a_id WHERE b.id IS NULL"), "3");
  EXPECT_EQ(sql("SELECT count(*) FROM a, b"), "9");
  EXPECT_EQ(sql("SELECT a.id, c.y FROM a LEFT JOIN b ON a.id = b.a_id AND x > 10 JOIN b c ON c.id "
                "= b.id"),
            "2,r");
  EXPECT_EQ(sql("SELECT a.id, y FROM a LEFT JOIN b ON false WHERE a.id < 3"), "1,null | 2,null");
  EXPECT_EQ(sql("SELECT id FROM a, b"), "error 42702");
}

TEST(MockSql, SubQueries) {
  Bench sql;
  sql("CREATE TABLE a (id int PRIMARY KEY, x int); INSERT INTO a VALUES (1, 10), (2, 20), (3, "
      "NULL)");
  EXPECT_EQ(sql("SELECT id FROM a WHERE x = (SELECT max(x) FROM a)"), "2");
  EXPECT_EQ(sql("SELECT id FROM a WHERE id IN (SELECT x / 10 FROM a)"), "1 | 2");
  EXPECT_EQ(sql("SELECT id FROM a WHERE id NOT IN (SELECT x FROM a)"), "");
  EXPECT_EQ(sql("SELECT id FROM a o WHERE EXISTS (SELECT 1 FROM a i WHERE i.x > o.x)"), "1");
  EXPECT_EQ(sql("SELECT id, (SELECT count(*) FROM a i WHERE i.id < o.id) FROM a o"),
            "1,0 | 2,1 | 3,2");
  EXPECT_EQ(sql("SELECT (SELECT id FROM a)"), "error 21000");
}

TEST(MockSql, AListOfIntegersIsLookedUp) {
  Bench sql;
  sql("CREATE TABLE t (id int PRIMARY KEY, v smallint)");
  sql("INSERT INTO t VALUES (1, 10), (2, NULL), (3, 30)");
  EXPECT_EQ(sql("SELECT id FROM t WHERE id IN (3, 1, 3, 9)"), "1 | 3");
  EXPECT_EQ(sql("SELECT id FROM t WHERE v IN (10, 3000000000)"), "1");
  EXPECT_EQ(sql("SELECT id FROM t WHERE v NOT IN (10, 11)"), "3");
  EXPECT_EQ(sql("SELECT id FROM t WHERE v NOT IN (10, NULL)"), "");
  EXPECT_EQ(sql("SELECT id FROM t WHERE v IN (10, 30.0)"), "1 | 3");
  EXPECT_EQ(sql("SELECT id, v IN (10, 11) FROM t"), "1,t | 2,null | 3,f");
}

TEST(MockSql, UpdateAndDelete) {
  Bench sql;
  sql("CREATE TABLE t (id int PRIMARY KEY, x int NOT NULL, y text)");
  sql("INSERT INTO t VALUES (1, 1, 'a'), (2, 2, 'b'), (3, 3, 'c')");
  EXPECT_EQ(sql("UPDATE t SET x = x + id, y = 'Z' WHERE id < 3 RETURNING id, x, y"),
            "1,2,Z | 2,4,Z");
  EXPECT_EQ(sql("UPDATE t SET x = NULL"), "error 23502");
  EXPECT_EQ(sql("SELECT * FROM t"), "1,2,Z | 2,4,Z | 3,3,c");
  EXPECT_EQ(sql("UPDATE t SET x = 0, y = DEFAULT WHERE id = 1"), "UPDATE 1");
  EXPECT_EQ(sql("DELETE FROM t WHERE x = 0 RETURNING *"), "1,0,null");
  EXPECT_EQ(sql("DELETE FROM t"), "DELETE 2");
}

TEST(MockSql, UniqueColumns) {
  Bench sql;
  sql("CREATE TABLE t (id int PRIMARY KEY, n int, u int UNIQUE); INSERT INTO t VALUES (1, 1, 1)");
  EXPECT_EQ(sql("INSERT INTO t VALUES (1, 2, 2)"), "error 23505");
  EXPECT_EQ(sql("INSERT INTO t VALUES (2, 2, 1)"), "error 23505");
  EXPECT_EQ(sql("INSERT INTO t VALUES (2, 2, NULL), (3, 3, NULL)"), "INSERT 0 2");
  EXPECT_EQ(sql("UPDATE t SET u = 1 WHERE id = 2"), "error 23505");
  EXPECT_EQ(sql("UPDATE t SET u = 1, n = 0 WHERE id = 1"), "UPDATE 1");
  EXPECT_EQ(sql("INSERT INTO t VALUES (1, 2, 2), (7, 7, 1), (8, 8, 8), (8, 9, 9) ON CONFLICT DO "
                "NOTHING RETURNING id"),
            "8");
  EXPECT_EQ(sql("INSERT INTO t VALUES (NULL, 2, 1) ON CONFLICT DO NOTHING"), "error 23502");
}

TEST(MockSql, KeysAndCounters) {
  Bench sql;
  sql("CREATE TABLE p (id serial PRIMARY KEY, name varchar(3)); CREATE TABLE c (a int, b int, p "
      "int REFERENCES p, PRIMARY KEY (a, b))");
  EXPECT_EQ(sql("INSERT INTO p (name) VALUES ('x'), ('y') RETURNING id"), "1 | 2");
  EXPECT_EQ(sql("INSERT INTO p (name) VALUES ('long')"), "error 22001");
  EXPECT_EQ(sql("INSERT INTO c VALUES (1, 1, 7)"), "error 23503");
  EXPECT_EQ(sql("INSERT INTO c VALUES (1, 1, 1), (1, 2, NULL), (2, 1, 2)"), "INSERT 0 3");
  EXPECT_EQ(sql("SELECT b FROM c WHERE a = 1"), "1 | 2");
  EXPECT_EQ(sql("DELETE FROM p WHERE id = 1"), "error 23503");
  EXPECT_EQ(sql("DELETE FROM c WHERE p = 1; DELETE FROM p WHERE id = 1"), "DELETE 1");
  EXPECT_EQ(sql("CREATE TABLE d (id int, x int, y int, FOREIGN KEY (x, y) REFERENCES c (b, a))"),
            "CREATE TABLE");
  EXPECT_EQ(sql("INSERT INTO d VALUES (1, 2, 2)"), "error 23503");
  EXPECT_EQ(sql("INSERT INTO d VALUES (1, 1, 2)"), "INSERT 0 1");
  EXPECT_EQ(sql("DELETE FROM c WHERE a = 2"), "error 23503");
  EXPECT_EQ(sql("DROP TABLE p"), "error 2BP01");
  // No primary key: equal rows are rows of their own.
  EXPECT_EQ(
      sql("CREATE TABLE log (m text); INSERT INTO log VALUES ('a'), ('a'); SELECT * FROM log"),
      "a | a");
}

TEST(MockSql, Transactions) {
  Bench sql;
  sql("CREATE TABLE t (id int PRIMARY KEY)");
  EXPECT_EQ(sql("BEGIN"), "BEGIN");
  EXPECT_EQ(sql.session->state(), TransactionState::kOpen);
  sql("INSERT INTO t VALUES (1)");
  EXPECT_EQ(sql("SAVEPOINT s; INSERT INTO t VALUES (2)"), "INSERT 0 1");
  EXPECT_EQ(sql("INSERT INTO t VALUES (1)"), "error 23505");
  EXPECT_EQ(sql("SELECT 1"), "error 25P02");
  EXPECT_EQ(sql("ROLLBACK TO s"), "ROLLBACK");
  EXPECT_EQ(sql("SELECT * FROM t"), "1");
  EXPECT_EQ(sql("COMMIT"), "COMMIT");
  EXPECT_EQ(sql("BEGIN; INSERT INTO t VALUES (3); CREATE TABLE u (a int); ROLLBACK"), "ROLLBACK");
  EXPECT_EQ(sql("SELECT * FROM t"), "1");
  EXPECT_EQ(sql("SELECT * FROM u"), "error 42P01");
  EXPECT_EQ(sql("BEGIN; SELECT 1/0"), "error 22012");
  EXPECT_EQ(sql("COMMIT"), "ROLLBACK");
  // One text without BEGIN is one transaction.
  EXPECT_EQ(sql("INSERT INTO t VALUES (4); SELECT 1/0"), "error 22012");
  EXPECT_EQ(sql("SELECT * FROM t"), "1");
  EXPECT_EQ(sql("BEGIN READ ONLY; INSERT INTO t VALUES (9)"), "error 25006");
  sql("ROLLBACK");
}

TEST(MockSql, LevelsAreFloors) {
  mock::Options options;
  options.level = mock::Level::kCausal;
  Bench sql(options);
  const std::string serializable(mock::name(mock::Level::kStrongSessionSerializable));
  EXPECT_EQ(sql("SHOW cupel.level"), "causal");
  EXPECT_EQ(sql("BEGIN ISOLATION LEVEL READ COMMITTED; SHOW cupel.level"), "causal");
  EXPECT_EQ(sql("ROLLBACK; BEGIN ISOLATION LEVEL SERIALIZABLE; SHOW cupel.level"), serializable);
  sql("ROLLBACK");
  EXPECT_EQ(sql("SET cupel.level = 'read-committed'; SHOW cupel.level"), "read-committed");
  EXPECT_EQ(sql("BEGIN ISOLATION LEVEL SERIALIZABLE; SHOW cupel.level"), serializable);
  EXPECT_EQ(sql("ROLLBACK; SHOW cupel.level"), "read-committed");
  EXPECT_EQ(sql("BEGIN; SET LOCAL cupel.level = 'prefix'; SHOW cupel.level"), "prefix");
  EXPECT_EQ(sql("SELECT 1; SET LOCAL cupel.level = 'causal'"), "error 25001");
  EXPECT_EQ(sql("ROLLBACK; SHOW cupel.level"), "read-committed");
  EXPECT_EQ(sql("SET cupel.level = 'nonsense'"), "error 22023");
}

TEST(MockSql, WhatIsNotUnderstoodIsRefused) {
  Bench sql;
  sql("CREATE TABLE t (id int PRIMARY KEY, x int)");
  for (const char* text : {"SELECT 1 UNION SELECT 2",
                           "WITH w AS (SELECT 1) SELECT * FROM w",
                           "SELECT row_number() OVER () FROM t",
                           "SELECT DISTINCT ON (x) * FROM t",
                           "SELECT * FROM t FULL JOIN t u ON true",
                           "COPY t FROM stdin",
                           "ALTER TABLE t ADD y int",
                           "CREATE VIEW v AS SELECT 1",
                           "SELECT ARRAY[1]",
                           "SELECT x COLLATE \"C\" FROM t",
                           "SELECT '1 day'::interval",
                           "CREATE TEMP TABLE u (a int)",
                           "SELECT * FROM t TABLESAMPLE SYSTEM (1)",
                           "SELECT string_agg(x::text, ',' ORDER BY x) FROM t",
                           "CREATE TABLE u (a int) PARTITION BY RANGE (a)",
                           "SELECT * FROM t, LATERAL (SELECT 1) s",
                           "SELECT * FROM ONLY t",
                           "CREATE TABLE u (a int GENERATED ALWAYS AS (1) STORED)",
                           "CREATE TABLE u (a float8)",
                           "CREATE TABLE u (a date)",
                           "CREATE TABLE u (a numeric PRIMARY KEY)",
                           "CREATE TABLE u (a int, b int REFERENCES t (x))",
                           "CREATE TABLE other.u (a int)",
                           "UPDATE t SET id = 2",
                           "SELECT * FROM t LEFT JOIN (t u JOIN t v ON true) ON true",
                           "SELECT x FROM t ORDER BY x NULLS FIRST",
                           "SELECT nullif(1, 1)",
                           "SELECT CASE WHEN true THEN 1 END",
                           "SELECT 'a' || 'b'",
                           "INSERT INTO t VALUES (1, 1) ON CONFLICT (id) DO NOTHING",
                           "INSERT INTO t VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET x = 1",
                           "SELECT current_date",
                           "SELECT +1::int",
                           "SELECT x, (SELECT count(*) FROM t u WHERE u.x = t.x) FROM t GROUP BY x",
                           "SELECT public.t.x FROM t",
                           "CREATE TABLE u (a real)",
                           "CREATE TABLE u (a char(3))",
                           "CREATE TABLE u (a int CHECK (a > 1))",
                           "CREATE TABLE u (a int GENERATED BY DEFAULT AS IDENTITY)",
                           "CREATE TABLE u (a int REFERENCES t ON DELETE CASCADE)",
                           "CREATE UNIQUE INDEX i ON t (x)",
                           "TRUNCATE t",
                           "SELECT * FROM t RIGHT JOIN t u ON true",
                           "SELECT * FROM t JOIN t u USING (id)",
                           "SELECT * FROM (SELECT 1) s",
                           "VALUES (1)",
                           "SELECT (1, 2) = (1, 2)",
                           "SELECT 1 IN ((SELECT 1), 2) IS TRUE",
                           "SELECT 1 IS DISTINCT FROM 2",
                           "SELECT 'a' LIKE 'a%'",
                           "SELECT 1 > ANY (SELECT x FROM t)",
                           "SELECT count(*) FILTER (WHERE x > 1) FROM t",
                           "INSERT INTO t SELECT 1, 2",
                           "UPDATE t SET (id, x) = (1, 2)",
                           "UPDATE t SET x = 1 FROM t u",
                           "DELETE FROM t USING t u",
                           "SELECT x FROM t GROUP BY ROLLUP (x)"}) {
    EXPECT_EQ(sql(text), "error 0A000") << text;
  }
  const auto message = [&](const char* text) { return sql.session->run(text).error->message; };
  // In words of SQL, not the parser's.
  for (const auto& [text, words] : std::initializer_list<std::pair<const char*, const char*>>{
           {"EXPLAIN SELECT 1", "EXPLAIN"},
           {"WITH w AS (SELECT 1) SELECT * FROM w", "WITH in SELECT"},
           {"WITH w AS (SELECT 1) DELETE FROM t", "WITH in DELETE"},
           {"SELECT row_number() OVER () FROM t", "OVER (window functions) in a function call"},
           {"SELECT ARRAY[1]", "ARRAY"},
           {"SELECT * FROM t TABLESAMPLE SYSTEM (1)", "TABLESAMPLE"},
           {"SELECT * FROM generate_series(1, 2)", "a function in FROM"},
           {"SELECT x FROM t GROUP BY ROLLUP (x)", "GROUPING SETS, ROLLUP or CUBE"},
           {"CREATE TABLE u (LIKE t)", "LIKE in CREATE TABLE"},
           {"CREATE SEQUENCE s", "CREATE SEQUENCE"},
           {"COPY t FROM stdin", "COPY"},
           {"ALTER TABLE t ADD y int", "ALTER TABLE"},
           {"CREATE SCHEMA s", "CREATE SCHEMA"},
           {"TRUNCATE t", "TRUNCATE"},
           {"VACUUM t", "VACUUM"},
           {"SELECT 1 UNION SELECT 2", "UNION in SELECT"},
           {"SELECT 1 EXCEPT SELECT 2", "EXCEPT in SELECT"},
           {"SELECT 1 LIMIT (WITH w AS (SELECT 1) SELECT 1)", "WITH in SELECT"},
           {"CREATE UNLOGGED TABLE u (a int)", "TEMPORARY or UNLOGGED in a table name"},
           {"DROP VIEW v", "VIEW in DROP"},
           {"DISCARD PLANS", "PLANS in DISCARD"},
           {"INSERT INTO t VALUES (1, 1) LIMIT 0", "LIMIT COUNT in VALUES"},
           {"SELECT 1::other.int4", "the schema other"},
           {"SELECT * FROM pg_catalog.pg_class", "the schema pg_catalog"}}) {
    EXPECT_EQ(
        message(text),
        std::string(words) +
            " is not supported by cupel's own SQL; `--engine postgres` has all of PostgreSQL's")
        << text;
  }
  EXPECT_EQ(sql("SELEC 1"), "error 42601");
  EXPECT_EQ(sql("SELECT y FROM t"), "error 42703");
  EXPECT_EQ(sql("SELECT u.x FROM t"), "error 42P01");
}

// A part of a statement that the engine would read no further.
TEST(MockSql, NoPartOfAStatementIsIgnored) {
  Bench sql;
  sql("CREATE TABLE t (id int PRIMARY KEY, x int); INSERT INTO t VALUES (1, 1)");
  for (const char* text : {"DROP TABLE nosuch.t",
                           "DROP TABLE IF EXISTS nosuch.t",
                           "DROP TABLE a.public.t",
                           "CREATE TABLE IF NOT EXISTS nosuch.t (a int)",
                           "CREATE TABLE IF NOT EXISTS t (a int) WITH (fillfactor = 50)",
                           "CREATE TABLE u (a int REFERENCES nosuch.t)",
                           "CREATE TABLE u (a int REFERENCES t DEFERRABLE)",
                           "CREATE TABLE u (a int) ON COMMIT DELETE ROWS",
                           "CREATE UNLOGGED TABLE u (a int)",
                           "CREATE TABLE u (a other.int4)",
                           "CREATE TABLE u (a pg_catalog.varchar(3, 4))",
                           "CREATE TABLE u (a numeric(5, 2, 1))",
                           "CREATE TABLE u (a int UNIQUE NULLS NOT DISTINCT)",
                           "CREATE TABLE u (a text COMPRESSION pglz)",
                           "CREATE INDEX i ON nosuch.t (x)",
                           "CREATE INDEX i ON t ((x + 1))",
                           "CREATE INDEX i ON t USING hash (x)",
                           "CREATE INDEX i ON t USING nosuch (x)",
                           "CREATE INDEX i ON t (x int4_ops)",
                           "CREATE INDEX i ON t (x) INCLUDE (id)",
                           "CREATE INDEX i ON t (x) TABLESPACE s",
                           "CREATE INDEX i ON ONLY t (x)",
                           "SELECT * FROM nosuch.public.t",
                           "SELECT t.nosuch.* FROM t",
                           "SELECT pg_catalog.nosuch.count(*) FROM t",
                           "SELECT now(1)",
                           "SELECT * FROM t ORDER BY x FETCH FIRST 1 ROW WITH TIES",
                           "SELECT * FROM t AS u (a, b)",
                           "SELECT * FROM t FOR SHARE FOR UPDATE",
                           "SELECT * FROM t ORDER BY x USING <",
                           "INSERT INTO t OVERRIDING SYSTEM VALUE VALUES (2, 2)",
                           "INSERT INTO t VALUES (2, 2) LIMIT 0",
                           "INSERT INTO t VALUES (2, 2) ORDER BY 1",
                           "DISCARD PLANS",
                           "COMMIT AND CHAIN",
                           "ROLLBACK AND CHAIN",
                           "SET LOCAL statement_timeout TO DEFAULT",
                           "SET LOCAL SESSION CHARACTERISTICS AS TRANSACTION READ ONLY",
                           "CHECKPOINT",
                           "SELECT 1; CHECKPOINT"}) {
    EXPECT_EQ(sql(text), "error 0A000") << text;
  }
  EXPECT_TRUE(std::holds_alternative<Error>(sql.session->prepare("CREATE UNLOGGED TABLE u ()")));
  EXPECT_EQ(sql("SELECT * FROM public.t"), "1,1");
  EXPECT_EQ(sql("CREATE TABLE u (a int DEFAULT 1 DEFAULT 2)"), "error 42601");
  EXPECT_EQ(sql("CREATE TABLE u (a serial DEFAULT 2)"), "error 42601");
  EXPECT_EQ(sql("SELECT 1 FOR UPDATE OF nosuch"), "error 42P01");
  EXPECT_EQ(sql("SELECT * FROM t FOR UPDATE OF public.t"), "error 42601");
  EXPECT_EQ(sql("CREATE TABLE IF NOT EXISTS public.t (a int)"), "CREATE TABLE");
  EXPECT_EQ(sql("CREATE TABLE public.u (a int REFERENCES public.t)"), "CREATE TABLE");
  EXPECT_EQ(sql("DROP TABLE public.u"), "DROP TABLE");
}

TEST(MockSql, AnIndexIsOfAColumnThatIsThere) {
  Bench sql;
  sql("CREATE TABLE t (id int PRIMARY KEY, x int)");
  EXPECT_EQ(sql("CREATE INDEX i ON nosuch (x)"), "error 42P01");
  EXPECT_EQ(sql("CREATE INDEX i ON t (nosuch)"), "error 42703");
  EXPECT_EQ(sql("CREATE INDEX i ON t (x) WHERE nosuch > 1"), "error 42703");
  EXPECT_EQ(sql("CREATE INDEX i ON t USING btree (x DESC, id) WHERE x > 1"), "CREATE INDEX");
  EXPECT_EQ(sql("CREATE INDEX CONCURRENTLY IF NOT EXISTS j ON public.t (x)"), "CREATE INDEX");
}

TEST(MockSql, Prepared) {
  Bench sql;
  sql("CREATE TABLE t (id bigint PRIMARY KEY, name varchar(10), n numeric(6,2))");
  auto prepared = sql.session->prepare("INSERT INTO t VALUES ($1, $2, $3 + 1) RETURNING id");
  auto* insert = std::get_if<std::unique_ptr<Prepared>>(&prepared);
  ASSERT_NE(insert, nullptr) << std::get<Error>(prepared).message;
  EXPECT_EQ((*insert)->types, (std::vector<Type>{Type::kBigint, Type::kVarchar, Type::kInteger}));
  EXPECT_EQ((*insert)->columns.size(), 1u);
  const std::vector<Datum> values{"7", std::nullopt, "2"};
  auto done = sql.session->execute(**insert, values);
  ASSERT_TRUE(std::holds_alternative<Result>(done)) << std::get<Error>(done).message;
  EXPECT_EQ(told(std::get<Result>(done)), "7");
  EXPECT_EQ(sql("SELECT * FROM t"), "7,null,3.00");
  const std::vector<Datum> wrong{"x", "y", "2"};
  EXPECT_EQ(std::get<Error>(sql.session->execute(**insert, wrong)).sqlstate, "22P02");
  EXPECT_EQ(std::get<Error>(sql.session->execute(**insert, {})).sqlstate, "08P01");
}

TEST(MockSql, UnionIsNamed) {
  Bench sql;
  const auto run = sql.session->run("SELECT 1 UNION SELECT 2");
  ASSERT_TRUE(run.error);
  EXPECT_NE(run.error->message.find("UNION"), std::string::npos) << run.error->message;
}

}  // namespace
}  // namespace cupel::sql
