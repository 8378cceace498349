// Object mappers and drivers on PostgreSQL and MariaDB over the mock store: the steps of each
// script in orm/ (connect, migrate, create, query …) work on a plain server and then over the
// store.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/process.hpp"
#include "databases/lab/server.hpp"
#include "engine/check/check.hpp"
#include "engine/levels/level.hpp"
#include "mock/engines/mariadb_engine.hpp"
#include "mock/engines/postgres_engine.hpp"
#include "servers/compilers.hpp"
#include "servers/weak_engine.hpp"
#include "source_dir.hpp"
#include "support/scratch_folder.hpp"

namespace cupel::engines {
namespace {

using base::Process;
using base::Seconds;
using base::Stream;
using test::in_one_place;

const std::string kScripts = CUPEL_SOURCE_DIR "/tests/servers/orm/";
// What each script prints after the line of its version, if all is well.
constexpr const char* kSteps =
    "ok connect\nok migrate\nok create\nok query\nok update\nok rollback\nok savepoint\n"
    "ok for-update\nok constraints\nok delete\n";

using Environment = std::vector<std::pair<std::string, std::string>>;

Environment addressed_to(lab::Kind kind, std::uint16_t port) {
  if (kind == lab::Kind::kMariadb)
    return {{"MYSQL_HOST", "127.0.0.1"}, {"MYSQL_TCP_PORT", std::to_string(port)}};
  return {{"PGHOST", "127.0.0.1"},
          {"PGPORT", std::to_string(port)},
          {"PGUSER", "cupel"},
          {"PGDATABASE", "cupel"},
          {"NODE_PATH", CUPEL_NODE_PATH}};
}

struct Ran {
  std::string version = {}, steps = {}, errors = {};
};

Ran run(const std::vector<std::string>& command, const Environment& environment) {
  const test::ScratchFolder scratch;
  Ran ran;
  auto process = Process::start({.arguments = command,
                                 .environment = environment,
                                 .directory = scratch.path(),
                                 .output = Stream::pipe(),
                                 .errors = Stream::file(scratch.path("errors"))});
  if (!process.ok()) return {.errors = process.error().to_string()};
  const auto output = process->read_all(Seconds(150)).value_or("timeout\n");
  const auto line = output.find('\n') + 1;
  ran.version = output.substr(0, line);
  ran.steps = output.substr(line);
  std::ifstream errors(scratch.path("errors"));
  ran.errors.assign(std::istreambuf_iterator<char>(errors), {});
  return ran;
}

// A new database of the plain server.
std::vector<std::string> remaking(lab::Kind kind, std::uint16_t port) {
  if (kind == lab::Kind::kMariadb)
    return {"mariadb",          "--no-defaults",
            "--host=127.0.0.1", "--port=" + std::to_string(port),
            "--user=cupel",     "--execute=DROP DATABASE IF EXISTS cupel; CREATE DATABASE cupel"};
  return {"psql",
          "-qX",
          "-v",
          "ON_ERROR_STOP=1",
          "postgres://cupel@127.0.0.1:" + std::to_string(port) + "/postgres",
          "-c",
          "DROP DATABASE cupel",
          "-c",
          "CREATE DATABASE cupel"};
}

// Both servers have a new database for each script. The scripts use several connections of a pool,
// so the store is in one place.
template <typename Engine>
class OrmStepsOn : public testing::Test {
 protected:
  static constexpr auto kKind =
      std::is_same_v<Engine, PostgresEngine> ? lab::Kind::kPostgres : lab::Kind::kMariadb;

  static void SetUpTestSuite() {
    auto plain = lab::start(kKind, {.durable = false});
    ASSERT_TRUE(plain.ok()) << plain.error().to_string();
    plain_ = std::make_unique<lab::Server>(std::move(*plain));
    auto engine = Engine::start({.store = in_one_place()});
    ASSERT_TRUE(engine.ok()) << engine.error().to_string();
    engine_ = std::move(*engine);
  }
  static void TearDownTestSuite() {
    engine_.reset();
    plain_.reset();
  }

  void SetUp() override {
    ASSERT_TRUE(plain_ && engine_);
    ASSERT_EQ(run(remaking(kKind, plain_->port()), {}).errors, "");
    const auto ready = engine_->start_over(in_one_place());
    ASSERT_TRUE(ready.ok()) << ready.error().to_string();
  }

  static void expect_all(const std::vector<std::string>& command) {
    const auto expected = run(command, addressed_to(kKind, plain_->port()));
    ASSERT_EQ(expected.steps, kSteps) << "on the server itself\n" << expected.errors;
    const auto got = run(command, addressed_to(kKind, engine_->port()));
    EXPECT_EQ(got.steps, kSteps) << got.errors;
    EXPECT_EQ(got.version, expected.version);
    EXPECT_EQ(got.version.rfind("version ", 0), 0U);

    ASSERT_TRUE(engine_->end_clients().ok());
    const auto history = engine_->store().history();
    ASSERT_TRUE(history.ok()) << history.error().to_string();
    EXPECT_GT(history->txn_count(), 10U);
    check::Options asked;
    asked.asked = {*levels::parse_level(mock::name(mock::Level::kStrongSessionSerializable))};
    EXPECT_NE(check::check(*history, asked).levels.front().verdict, check::Verdict::kViolated);
  }

 private:
  inline static std::unique_ptr<lab::Server> plain_;
  inline static std::unique_ptr<Engine> engine_;
};

class OrmSteps : public OrmStepsOn<PostgresEngine> {};
class OrmStepsOnMariadb : public OrmStepsOn<MariadbEngine> {};

class OrmStepsInNode : public OrmSteps {
 protected:
  static void expect_all(const std::string& script) {
    OrmSteps::expect_all({"node", kScripts + script});
  }
};

// Debian's own Python, for which its packages are.
constexpr const char* kPython = "/usr/bin/python3";

TEST_F(OrmSteps, Django) {
  expect_all({kPython, kScripts + "django_orm.py"});
}

TEST_F(OrmSteps, SqlAlchemy) {
  expect_all({kPython, kScripts + "sqlalchemy_orm.py"});
}

TEST_F(OrmStepsOnMariadb, Django) {
  expect_all({kPython, kScripts + "django_orm.py"});
}

TEST_F(OrmStepsOnMariadb, SqlAlchemy) {
  expect_all({kPython, kScripts + "sqlalchemy_orm.py"});
}

TEST_F(OrmSteps, ActiveRecord) {
  expect_all({"/usr/bin/ruby", kScripts + "activerecord_orm.rb"});
}

TEST_F(OrmSteps, Doctrine) {
  expect_all({"php", kScripts + "DoctrineOrm.php"});
}

TEST_F(OrmSteps, Jdbc) {
  const test::ScratchFolder scratch;
  auto compiler = test::java_compiler();
  ASSERT_FALSE(compiler.empty()) << "no javac and no ecj";
  const std::string classes = scratch.path() + ":/usr/share/java/postgresql.jar";
  compiler.insert(compiler.end(),
                  {"-cp", classes, "-d", scratch.path(), kScripts + "JdbcOrm.java"});
  auto process = Process::start({.arguments = compiler, .errors = Stream::inherited()});
  ASSERT_TRUE(process.ok()) << process.error().to_string();
  const auto compiled = process->wait(Seconds(200));
  ASSERT_TRUE(compiled && compiled->well());
  expect_all({"java", "-cp", classes, "JdbcOrm"});
}

TEST_F(OrmSteps, GoDatabaseSql) {
  if (!test::is_command("go")) GTEST_SKIP() << "no go";
  const test::ScratchFolder scratch;
  const auto program = scratch.path("sql_orm");
  const Environment debian = {{"GOPATH", "/usr/share/gocode"},
                              {"GO111MODULE", "off"},
                              {"GOTOOLCHAIN", "local"},
                              test::go_cache()};
  auto build = Process::start({.arguments = {"go", "build", "-o", program, kScripts + "sql_orm.go"},
                               .environment = debian,
                               .errors = Stream::inherited()});
  ASSERT_TRUE(build.ok()) << build.error().to_string();
  const auto built = build->wait(Seconds(200));
  ASSERT_TRUE(built && built->well());
  expect_all({program});
}

TEST_F(OrmStepsInNode, Sequelize) {
  expect_all("sequelize_orm.cjs");
}

TEST_F(OrmStepsInNode, TypeOrm) {
  expect_all("typeorm_orm.cjs");
}

TEST_F(OrmStepsInNode, Knex) {
  expect_all("knex_orm.cjs");
}

TEST_F(OrmStepsInNode, Kysely) {
  expect_all("kysely_orm.cjs");
}

TEST_F(OrmStepsInNode, Drizzle) {
  expect_all("drizzle_orm.cjs");
}

}  // namespace
}  // namespace cupel::engines
