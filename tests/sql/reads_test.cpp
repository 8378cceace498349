// Which keys of the store a statement reads and writes: those of figure 4.6 and no other.
// The history that the store keeps tells.
#include "data/history/history.hpp"
#include "sql/bench.hpp"

namespace cupel::sql {
namespace {

struct Watched : Bench {
  Watched() {
    (*this)(
        "CREATE TABLE t (id int PRIMARY KEY, x int, y int, z int); "
        "CREATE TABLE u (a int, b text, n int, PRIMARY KEY (a, b)); CREATE TABLE l (m text)");
    (*this)("INSERT INTO t VALUES (1, 10, 100, 5), (2, 20, 200, 5), (3, 30, 300, 5)");
    (*this)("INSERT INTO u VALUES (1, 'a/b', 1), (1, 'c', 2), (2, 'a/b', 3)");
  }

  // "r t/1, w t/1/x": what the statement did, in order.
  std::string does(std::string_view sql) {
    EXPECT_EQ((*this)(sql).substr(0, 5) == "error", false) << sql;
    const auto history = store.history();
    if (!history.ok()) return history.error().to_string();
    const auto session_id = history::SessionId(0);
    const auto last = history::TxnId(history->session_end(session_id).raw - 1);
    std::string text;
    for (auto op = history->first_op(last); op < history->last_op(last); ++op) {
      const auto one = history->op(history::OpId(op));
      text += text.empty() ? "" : ", ";
      text += one.kind == history::OpKind::kRead ? "r " : "w ";
      text += history->key(one.key).to_string();
    }
    return text;
  }
};

TEST(MockSqlReads, APrimaryKeyIsOneRow) {
  Watched sql;
  EXPECT_EQ(sql.does("SELECT x FROM t WHERE id = 2"), "r t/2, r t/2/x");
  EXPECT_EQ(sql.does("SELECT id FROM t WHERE id = 2"), "r t/2");
  EXPECT_EQ(sql.does("SELECT x FROM t WHERE id = 7"), "r t/7");  // nobody's, and read
  EXPECT_EQ(sql.does("SELECT x FROM t WHERE id = 1 + 1 AND y > 500"), "r t/2, r t/2/y");
}

TEST(MockSqlReads, ConditionsBeforeOutputs) {
  Watched sql;
  EXPECT_EQ(sql.does("SELECT y FROM t WHERE x > 15"),
            "r t/1, r t/1/x, r t/2, r t/2/x, r t/2/y, r t/3, r t/3/x, r t/3/y");
  EXPECT_EQ(sql.does("SELECT 1 FROM t WHERE x > 25 AND y > 0"),
            "r t/1, r t/1/x, r t/2, r t/2/x, r t/3, r t/3/x, r t/3/y");
  EXPECT_EQ(sql.does("SELECT count(*) FROM t"), "r t/1, r t/2, r t/3");
  // What the key alone rules out is not looked at.
  EXPECT_EQ(sql.does("SELECT x FROM t WHERE id >= 3"), "r t/3, r t/3/x");
  // With LIMIT, only what is given; ordered, first what orders.
  EXPECT_EQ(sql.does("SELECT y FROM t LIMIT 1"), "r t/1, r t/1/y");
  EXPECT_EQ(sql.does("SELECT y FROM t ORDER BY x DESC LIMIT 1"),
            "r t/1, r t/1/x, r t/2, r t/2/x, r t/3, r t/3/x, r t/3/y");
  EXPECT_EQ(sql.does("SELECT x, x + x FROM t WHERE id = 1"), "r t/1, r t/1/x");
}

TEST(MockSqlReads, CompositeKeys) {
  Watched sql;
  EXPECT_EQ(sql.does("SELECT n FROM u WHERE a = 1"),
            "r u/1,a%2Fb, r u/1,a%2Fb/n, r u/1,c, r u/1,c/n");
  EXPECT_EQ(sql.does("SELECT n FROM u WHERE b = 'a/b' AND a = 2"), "r u/2,a%2Fb, r u/2,a%2Fb/n");
}

TEST(MockSqlReads, JoinsAndSubQueries) {
  Watched sql;
  EXPECT_EQ(sql.does("SELECT t.x FROM u JOIN t ON t.id = u.n WHERE u.a = 2"),
            "r u/2,a%2Fb, r u/2,a%2Fb/n, r t/3, r t/3/x");
  EXPECT_EQ(sql.does("SELECT x FROM t WHERE id = (SELECT max(a) FROM u)"),
            "r u/1,a%2Fb, r u/1,c, r u/2,a%2Fb, r t/2, r t/2/x");
  EXPECT_EQ(sql.does("SELECT 1 WHERE EXISTS (SELECT 1 FROM t)"), "r t/1");
}

TEST(MockSqlReads, Writes) {
  Watched sql;
  EXPECT_EQ(sql.does("INSERT INTO t (id, x) VALUES (4, 1)"),
            "r t/4, w t/4, w t/4/x, w t/4/y, w t/4/z");
  EXPECT_EQ(sql.does("UPDATE t SET x = x + 1 WHERE id = 1"), "r t/1, r t/1/x, w t/1/x");
  EXPECT_EQ(sql.does("UPDATE t SET x = 0 WHERE id = 1"), "r t/1, w t/1/x");
  EXPECT_EQ(sql.does("DELETE FROM t WHERE id = 1"), "r t/1, w t/1");
  EXPECT_EQ(sql.does("INSERT INTO l VALUES ('a')"), "w l/#1, w l/#1/m");
  EXPECT_EQ(sql.does("SELECT m FROM l"), "r l/#1, r l/#1/m");
}

TEST(MockSqlReads, ForeignKeysAreReads) {
  Watched sql;
  sql("CREATE TABLE c (id int PRIMARY KEY, t int REFERENCES t)");
  EXPECT_EQ(sql.does("INSERT INTO c VALUES (1, 2)"), "r c/1, w c/1, w c/1/t, r t/2");
  EXPECT_EQ(sql.does("DELETE FROM t WHERE id = 3"), "r t/3, w t/3, r c/1, r c/1/t");
}

// Weak reads come through: at read committed a second transaction may miss a row.
TEST(MockSqlReads, WeakLevelsShow) {
  bool missed = false;
  bool seen = false;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    mock::Options options;
    options.level = mock::Level::kReadCommitted;
    options.seed = seed;
    Bench sql(options);
    sql("CREATE TABLE t (id int PRIMARY KEY, x int)");
    sql("INSERT INTO t VALUES (1, 1)");
    const auto answer = Bench::in(*sql.other, "SELECT x FROM t");
    missed |= answer.empty();
    seen |= answer == "1";
  }
  EXPECT_TRUE(seen);
  EXPECT_TRUE(missed);
}

}  // namespace
}  // namespace cupel::sql
