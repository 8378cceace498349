// Which statements are independent, in transactions of each level.
#include "mock/proxy/footprint.hpp"

#include <gtest/gtest.h>

#include <string>

#include "mock/proxy/sessions.hpp"

namespace cupel::proxy {
namespace {

using Column = TableFacts::KeyColumn;

// accounts(id, owner), doctors(name); orders refers to accounts; total is a view.
Catalog catalog() {
  Catalog catalog;
  catalog.tables[1] = {.oid = 1,
                       .schema = "public",
                       .name = "accounts",
                       .key = {{"id", Column::Kind::kInteger}},
                       .referenced_by = {3}};
  catalog.tables[2] = {
      .oid = 2, .schema = "public", .name = "doctors", .key = {{"name", Column::Kind::kText}}};
  catalog.tables[3] = {.oid = 3,
                       .schema = "public",
                       .name = "orders",
                       .key = {{"id", Column::Kind::kInteger}},
                       .references = {1}};
  catalog.tables[4] = {.oid = 4,
                       .schema = "public",
                       .name = "total",
                       .read_runs_more = true,
                       .write_runs_more = true};
  catalog.own_functions = {"lower"};
  return catalog;
}

// A client's statements one after another; the footprint of the last.
struct Client {
  Sessions sessions{Isolation::kReadCommitted};
  char state = 'I';
  Footprint run(const std::string& sql) {
    const char after = sql.starts_with("begin")                                   ? 'T'
                       : sql.starts_with("commit") || sql.starts_with("rollback") ? 'I'
                                                                                  : state;
    Executed executed{.client = "a", .requests = {{.text = sql, .simple = true}}};
    executed.before = state;
    executed.after = state = after;
    return sessions.follow(executed, catalog()).footprint;
  }
};

Footprint last_of(std::initializer_list<const char*> statements) {
  Client client;
  Footprint last;
  for (const auto* sql : statements) last = client.run(sql);
  return last;
}
// In a transaction.
Footprint in(const std::string& begin, const char* sql) {
  return last_of({begin.c_str(), sql});
}
Footprint open(const char* sql) {
  return in("begin", sql);
}

TEST(Footprints, OfBeginAndSetAreNothing) {
  for (const auto* sql : {"begin isolation level serializable", "set search_path to x", "show all",
                          "savepoint s", "release s"}) {
    EXPECT_TRUE(open(sql).nothing()) << sql;
    EXPECT_TRUE(concern_only_the_client({{.text = sql}}, true)) << sql;
  }
  EXPECT_TRUE(concern_only_the_client({{.text = "select version()"}}, false));
  EXPECT_FALSE(concern_only_the_client({{.text = "select version()"}}, true)) << "a snapshot";
  EXPECT_FALSE(concern_only_the_client({{.text = "select nextval('s')"}}, false));
  EXPECT_FALSE(concern_only_the_client({{.text = "begin; delete from accounts"}}, false));
}

TEST(Footprints, OfWhatIsNotKnownAreEverything) {
  for (const auto* sql :
       {"select my_function()", "select * from total", "select * from elsewhere", "vacuum",
        "create table t (a int)", "select pg_advisory_lock(1)", "select * from pg_class",
        "select lower(owner) from accounts", "copy accounts from stdin",
        "insert into total values (1)",
        "select 1 from accounts where id operator(other.=) 1 and nextval('s') > 0", "lock accounts",
        "select now() into t", "explain analyze delete from accounts", "no sql at all"}) {
    EXPECT_TRUE(open(sql).unknown) << sql;
  }
}

// The exploration runs the same statements again and again, and takes them to do the same.
TEST(Footprints, OfStatementsThatAreNotRepeatableAreEverything) {
  for (const auto* sql :
       {"select random()", "update accounts set owner = gen_random_uuid() where id = 1",
        "select * from accounts where id = txid_current()", "select clock_timestamp()",
        "insert into accounts (id) values (floor(random() * 10))", "select timeofday()",
        "select id from accounts where id = pg_backend_pid()"}) {
    EXPECT_TRUE(open(sql).unknown) << sql;
    EXPECT_TRUE(open(sql).unrepeatable) << sql;
    EXPECT_FALSE(concern_only_the_client({{.text = sql}}, false)) << sql;
  }
  EXPECT_TRUE(open("select nextval('s')").unknown);
  EXPECT_FALSE(open("select nextval('s')").unrepeatable) << "each run has the same numbers";
  for (const auto* sql :
       {"select now(), current_timestamp, statement_timestamp() from accounts where id = 1",
        "update accounts set owner = upper('a') where id = 1"}) {
    EXPECT_FALSE(open(sql).unknown) << sql;
    EXPECT_FALSE(open(sql).unrepeatable) << sql;
  }
  EXPECT_TRUE(concern_only_the_client({{.text = "select pg_backend_pid()"}}, false));
}

// The server's catalog has the last word on its own functions.
TEST(Footprints, OfFunctionsThatTheServerCallsVolatileAreEverything) {
  Catalog catalog;
  const auto statements = statements_of("select format('%s', 1)");
  EXPECT_FALSE(footprint_of(statements.front(), {}, catalog).unknown);
  catalog.volatile_functions = {"format"};
  EXPECT_TRUE(footprint_of(statements.front(), {}, catalog).unknown);
}

TEST(Footprints, OfRowsWithTheirKeys) {
  const auto key = [](const char* sql) {
    auto touches = open(sql).writes;
    std::erase_if(touches, [](const Touch& touch) { return touch.table != 1; });
    return touches;
  };
  EXPECT_EQ(key("update accounts set n = 1 where id = 1"),
            key("delete from accounts where 1 = id"));
  EXPECT_NE(key("update accounts set n = 1 where id = 1"),
            key("update accounts set n = 1 where id = 2"));
  EXPECT_EQ(key("update accounts set n = 1 where id = 1"),
            key("update accounts set n = 1 where id = '01' and n > 0"));
  for (const auto* sql :
       {"update accounts set n = 1", "update accounts set id = 2 where id = 1",
        "update accounts set n = 1 where id = 1 or id = 2", "delete from accounts where id > 1",
        "insert into accounts (n) values (1)", "insert into accounts select 1"}) {
    EXPECT_EQ(key(sql), (Touches{{1, ""}})) << sql;
  }
}

TEST(StatementTexts, SayWhereASchemaIsNamed) {
  const auto in_temp = [](const std::string& sql) {
    return with_schema(sql, statements_of(sql).at(0).schemas, "pg_temp");
  };
  EXPECT_EQ(in_temp("select public.accounts.n, a.n from public.accounts, \"my.\"\"s\" . t a"),
            "select pg_temp.accounts.n, a.n from pg_temp.accounts, pg_temp . t a");
  EXPECT_EQ(in_temp("update public.accounts set n = 'public.accounts' where id = 1"),
            "update pg_temp.accounts set n = 'public.accounts' where id = 1");
  EXPECT_EQ(in_temp("delete from accounts"), "delete from accounts");
}

TEST(StatementTexts, SayWhichTableIsChanged) {
  const auto changed = [](const std::string& sql) {
    const auto statement = statements_of(sql).at(0);
    const auto* used = changed_table(statement);
    return used == nullptr ? "" : used->name;
  };
  EXPECT_EQ(changed("update accounts set n = (select 1 from doctors)"), "accounts");
  EXPECT_EQ(changed("delete from accounts using doctors"), "accounts");
  EXPECT_EQ(changed("insert into accounts values (1)"), "");
  EXPECT_EQ(changed("select * from accounts for update"), "");
  EXPECT_EQ(changed("with gone as (delete from doctors returning name) update accounts set n = 1"),
            "");
}

TEST(Independence, OfReadsAndWrites) {
  const auto read = open("select * from accounts");
  const auto read_first = open("select n from accounts where id = 1");
  const auto write_first = open("update accounts set n = 1 where id = 1");
  const auto write_second = open("update accounts set n = 1 where id = 2");
  const auto lock = open("select * from accounts where id = 1 for update");
  EXPECT_TRUE(independent(read, read));
  EXPECT_TRUE(independent(read, write_first)) << "nothing is committed yet";
  EXPECT_TRUE(independent(write_first, write_second));
  EXPECT_FALSE(independent(write_first, write_first));
  EXPECT_FALSE(independent(write_first, lock));
  EXPECT_FALSE(independent(write_first, open("update accounts set n = 1")));
  EXPECT_TRUE(independent(write_first, open("update doctors set a = 1")));
  EXPECT_FALSE(independent(read, last_of({"update accounts set n = 1 where id = 1"})))
      << "a statement without a transaction commits";
  EXPECT_TRUE(independent(read_first, last_of({"update accounts set n = 1 where id = 2"})));
}

TEST(Independence, OfCommits) {
  const auto commit = last_of({"begin", "update accounts set n = 1 where id = 1", "commit"});
  const auto rollback = last_of({"begin", "update accounts set n = 1 where id = 1", "rollback"});
  EXPECT_FALSE(independent(commit, open("select n from accounts where id = 1")));
  EXPECT_TRUE(independent(commit, open("select n from accounts where id = 2")));
  EXPECT_FALSE(independent(commit, open("select count(*) from accounts")));
  EXPECT_FALSE(independent(rollback, open("update accounts set n = 2 where id = 1")));
  EXPECT_TRUE(independent(commit, open("update doctors set a = 1")));
  EXPECT_TRUE(last_of({"begin", "select * from accounts", "commit"}).nothing());
  EXPECT_FALSE(independent(last_of({"begin", "select my_function()", "commit"}), commit));
}

// The server gives the locks of a transaction back when a statement of it fails.
TEST(Independence, OfAStatementThatFails) {
  Client client;
  client.run("begin");
  client.run("update accounts set n = 1 where id = 1");
  Executed failing{.client = "a", .requests = {{.text = "update accounts set n = 1 where id = 2"}}};
  failing.before = 'T';
  failing.after = 'E';
  const auto failed = client.sessions.follow(failing, catalog()).footprint;
  EXPECT_FALSE(independent(failed, open("update accounts set n = 1 where id = 1")));
  EXPECT_TRUE(independent(failed, open("update accounts set n = 1 where id = 3")));
}

TEST(Independence, OfSnapshots) {
  const auto commit = last_of({"begin", "update accounts set n = 1 where id = 1", "commit"});
  const std::string repeatable = "begin isolation level repeatable read";
  EXPECT_FALSE(independent(commit, in(repeatable, "select * from doctors")))
      << "what is read later depends on it";
  EXPECT_TRUE(independent(commit, last_of({repeatable.c_str(), "select * from doctors",
                                           "select * from doctors where name = 'a'"})));
}

TEST(Independence, OfSerializableTransactions) {
  const std::string serializable = "begin isolation level serializable";
  const auto write = in(serializable, "update accounts set n = 1 where id = 1");
  const auto commit =
      last_of({serializable.c_str(), "update accounts set n = 1 where id = 1", "commit"});
  EXPECT_FALSE(independent(write, in(serializable, "select * from accounts")));
  EXPECT_FALSE(independent(
      commit, last_of({serializable.c_str(), "select * from doctors", "select * from doctors"})))
      << "its end may make another one fail";
}

// Who waits last closes the circle of a deadlock, whatever the rows are.
TEST(Independence, OfStatementsThatWait) {
  const auto wait = [](const std::string& sql) {
    Client client;
    client.run("begin");
    Executed begun{.client = "a", .requests = {{.text = sql, .simple = true}}, .before = 'T'};
    return client.sessions.begun(begun, catalog());
  };
  const auto one = wait("update accounts set n = 1 where id = 1");
  EXPECT_FALSE(independent(one, wait("update accounts set n = 1 where id = 2")));
  EXPECT_TRUE(independent(one, open("update accounts set n = 1 where id = 2")));
  EXPECT_TRUE(independent(one, open("select * from accounts")));
  Client victim;
  victim.run("begin");
  Executed ended{.client = "a",
                 .requests = {{.text = "update accounts set n = 1 where id = 2", .simple = true}},
                 .answers = {{.code = "40P01"}},
                 .before = 'T',
                 .after = 'E'};
  EXPECT_FALSE(independent(one, victim.sessions.follow(ended, catalog()).footprint));
}

TEST(Independence, OfForeignKeys) {
  const auto order = open("insert into orders (id, account) values (1, 1)");
  EXPECT_FALSE(independent(order, open("delete from accounts where id = 1")));
  EXPECT_TRUE(independent(order, open("insert into orders (id, account) values (2, 1)")));
  EXPECT_FALSE(independent(open("delete from accounts where id = 7"),
                           open("update orders set a = 1 where id = 7")));
}

}  // namespace
}  // namespace cupel::proxy
