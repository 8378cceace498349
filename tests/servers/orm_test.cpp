// Object mappers and drivers on PostgreSQL over the mock store: the steps of each script in orm/
// (connect, migrate, create, query …) work on a plain PostgreSQL and then over the store.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/process.hpp"
#include "check/check.hpp"
#include "engines/postgres_engine.hpp"
#include "lab/server.hpp"
#include "levels/level.hpp"
#include "servers/weak_engine.hpp"
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

Environment addressed_to(std::uint16_t port) {
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

// Both servers have a new database for each script. The scripts use several connections of a pool,
// so the store is in one place.
class OrmSteps : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    auto plain = lab::start(lab::Kind::kPostgres, {.durable = false});
    ASSERT_TRUE(plain.ok()) << plain.error().to_string();
    plain_ = std::make_unique<lab::Server>(std::move(*plain));
    auto engine = PostgresEngine::start({.store = in_one_place()});
    ASSERT_TRUE(engine.ok()) << engine.error().to_string();
    engine_ = std::move(*engine);
  }
  static void TearDownTestSuite() {
    engine_.reset();
    plain_.reset();
  }

  void SetUp() override {
    ASSERT_TRUE(plain_ && engine_);
    const auto url = "postgres://cupel@127.0.0.1:" + std::to_string(plain_->port()) + "/postgres";
    const auto made = run({"psql", "-qX", "-v", "ON_ERROR_STOP=1", url, "-c", "DROP DATABASE cupel",
                           "-c", "CREATE DATABASE cupel"},
                          {});
    ASSERT_EQ(made.errors, "");
    const auto ready = engine_->start_over(in_one_place());
    ASSERT_TRUE(ready.ok()) << ready.error().to_string();
  }

  static void expect_all(const std::vector<std::string>& command) {
    const auto expected = run(command, addressed_to(plain_->port()));
    ASSERT_EQ(expected.steps, kSteps) << "on PostgreSQL itself\n" << expected.errors;
    const auto got = run(command, addressed_to(engine_->port()));
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
  static std::unique_ptr<lab::Server> plain_;
  static std::unique_ptr<PostgresEngine> engine_;
};
std::unique_ptr<lab::Server> OrmSteps::plain_;
std::unique_ptr<PostgresEngine> OrmSteps::engine_;

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

TEST_F(OrmSteps, ActiveRecord) {
  expect_all({"/usr/bin/ruby", kScripts + "activerecord_orm.rb"});
}

TEST_F(OrmSteps, Doctrine) {
  expect_all({"php", kScripts + "DoctrineOrm.php"});
}

TEST_F(OrmSteps, Jdbc) {
  expect_all({"java", "-cp", "/usr/share/java/postgresql.jar", kScripts + "JdbcOrm.java"});
}

TEST_F(OrmSteps, GoDatabaseSql) {
  const test::ScratchFolder scratch;
  const auto program = scratch.path("sql_orm");
  const Environment debian = {{"GOPATH", "/usr/share/gocode"},
                              {"GO111MODULE", "off"},
                              {"GOTOOLCHAIN", "local"},
                              {"GOCACHE", scratch.path("cache")}};
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
