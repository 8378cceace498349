// PostgreSQL behind connection poolers: PgBouncer in its three modes, Pgpool-II over one server.
// No workload and no seed accuses PostgreSQL, and the result says that there is a pooler.
#include "servers/pooler.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "databases/lab/server.hpp"
#include "drivers/conformance.hpp"
#include "run/run_and_check.hpp"
#include "run/run_report.hpp"
#include "support/scratch_folder.hpp"

namespace cupel::run {
namespace {

using check::Verdict;
using test::Pooler;

// One server, and one pooler of each kind, for all cases of this process.
lab::Server& server() {
  static auto one = [] {
    auto started = lab::start(lab::Kind::kPostgres, {.durable = false});
    if (!started.ok()) throw std::runtime_error(started.error().to_string());
    return *std::move(started);
  }();
  return one;
}
// Eight sessions share three connections.
std::string in_transaction_mode() {
  static const auto pooler = Pooler::pgbouncer(server(), "transaction", "default_pool_size = 3");
  return pooler->url();
}
std::string in_session_mode() {
  static const auto pooler = Pooler::pgbouncer(server(), "session");
  return pooler->url();
}
std::string pgpool() {
  static const auto pooler = Pooler::pgpool(server());
  return pooler->url();
}

RunAndCheckOptions pooled(const std::string& url, const std::string& isolation,
                          std::uint64_t seed) {
  RunAndCheckOptions options;
  options.url = url;
  options.open = {.isolation = isolation, .statement_timeout = 30};
  options.run.sessions = 8;
  options.run.txns = 40;
  options.run.seed = seed;
  return options;
}

std::optional<CheckedRun> ran(RunAndCheckOptions options, std::string& error,
                              std::string* history = nullptr) {
  const test::ScratchFolder folder;
  options.history = folder.path("history.jsonl");
  const std::atomic<bool> stop = false;
  Progress progress;
  auto result = run_and_check(options, stop, progress, [](Stage) {});
  if (!result.ok()) {
    error = result.error().message;
    return std::nullopt;
  }
  if (history != nullptr) *history = std::string((*result).history.fact("pooler"));
  return std::move(result).value();
}

// Every workload, at each level or at one level after the other.
void never_accuses(const std::string& url, const std::string& pooler, std::size_t levels) {
  const std::array<const char*, 3> isolations{"serializable", "repeatable-read", "read-committed"};
  std::uint64_t seed = 0;
  for (const auto& info : workload::all_workloads()) {
    for (std::size_t i = 0; i < levels; ++i) {
      const auto* isolation = isolations[++seed % isolations.size()];
      auto options = pooled(url, isolation, seed);
      options.workload = info.name;
      options.shape = info.defaults;
      options.shape.keys = std::min<decltype(options.shape.keys)>(options.shape.keys, 20);
      options.shape.scale = 0.01;
      std::string error, fact;
      const auto checked = ran(options, error, &fact);
      ASSERT_TRUE(checked) << info.name << " at " << isolation << ": " << error;
      EXPECT_TRUE(checked->promised);
      EXPECT_EQ(checked->verdict(), Verdict::kSatisfied)
          << info.name << " at " << isolation << ", seed " << seed;
      EXPECT_GT(checked->run.committed, 20U) << info.name << " at " << isolation;
      EXPECT_EQ(checked->facts.pooler, pooler);
      EXPECT_EQ(fact, pooler);
    }
  }
}

TEST(Pgbouncer, InTransactionModeAccusesNobody) {
  never_accuses(in_transaction_mode(), "transaction", 3);
}

TEST(Pgbouncer, InSessionModeAccusesNobody) {
  never_accuses(in_session_mode(), "session", 1);
}

TEST(Pgpool, InRawModeAccusesNobody) {
  never_accuses(pgpool(), "session", 1);
}

TEST(Pgbouncer, InStatementModeIsAnError) {
  const auto pooler = Pooler::pgbouncer(server(), "statement");
  std::string error;
  EXPECT_FALSE(ran(pooled(pooler->url(), "serializable", 1), error));
  EXPECT_NE(error.find("is in statement mode"), std::string::npos) << error;
  EXPECT_NE(error.find("Set its pool mode to transaction or session"), std::string::npos) << error;
}

// The connections of the start look like those of session mode: the sessions see it.
TEST(Pgbouncer, IsSeenByItsTransactionsIfNotBefore) {
  const auto pooler = Pooler::pgbouncer(server(), "transaction",
                                        "default_pool_size = 8\n"
                                        "server_round_robin = 1");
  std::string error, fact;
  const auto checked = ran(pooled(pooler->url(), "repeatable-read", 1), error, &fact);
  ASSERT_TRUE(checked) << error;
  EXPECT_EQ(checked->facts.pooler, "transaction");
  EXPECT_EQ(fact, "transaction");
}

TEST(Pgbouncer, IsNamedInTextAndJson) {
  std::string error;
  auto checked = ran(pooled(in_transaction_mode(), "serializable", 1), error);
  ASSERT_TRUE(checked) << error;
  EXPECT_NE(run_text(*checked, 1, {})
                .find("connection pooler: cupel reaches PostgreSQL through a "
                      "pooler or proxy, which gives each transaction any"),
            std::string::npos)
      << run_text(*checked, 1, {});
  const auto json = nlohmann::json::parse(run_json(*checked, 1));
  EXPECT_EQ(json["run"]["pooler"], "transaction");
  // Without one there is no such field.
  checked = ran(pooled(server().url(), "serializable", 1), error);
  ASSERT_TRUE(checked) << error;
  EXPECT_EQ(run_text(*checked, 1, {}).find("pooler"), std::string::npos);
  EXPECT_FALSE(nlohmann::json::parse(run_json(*checked, 1))["run"].contains("pooler"));
}

// An application on the same pooler leaves its session's settings behind, and cupel leaves none.
TEST(Pgbouncer, SettingsStayInTheirTransaction) {
  const auto pooler = Pooler::pgbouncer(server(), "transaction", "default_pool_size = 1");
  std::string error;
  ASSERT_TRUE(ran(pooled(pooler->url(), "serializable", 1), error)) << error;
  auto database = drivers::open(pooler->url(), {.isolation = "read-committed"});
  ASSERT_TRUE(database.ok()) << database.error().message;
  const auto detail = (*database)->facts().detail;
  EXPECT_NE(detail.find("enable_seqscan=off"), std::string::npos) << detail;
  const auto psql = lab::find_program("psql");
  ASSERT_FALSE(psql.empty());
  auto asked = base::Process::start(
      {.arguments = {psql, pooler->url(), "-Atc",
                     "SELECT current_setting('enable_seqscan') || current_setting("
                     "'statement_timeout') || (SELECT count(*) FROM pg_prepared_statements)"},
       .output = base::Stream::pipe()});
  ASSERT_TRUE(asked.ok()) << asked.error().message;
  const auto answer = asked->read_all(base::Seconds(60));
  ASSERT_TRUE(answer);
  EXPECT_EQ(*answer, "on00\n");
}

}  // namespace
}  // namespace cupel::run

namespace cupel::drivers::testing {
namespace {

Subject behind(const std::string& name, std::string (*pooler)(), const std::string& isolation) {
  return {.name = name,
          .open = [=] { return open(pooler(), {.isolation = isolation}); },
          .prevents_lost_update = isolation != "read-committed"};
}

INSTANTIATE_TEST_SUITE_P(
    Pooler, Conformance,
    ::testing::Values(behind("TransactionMode", run::in_transaction_mode, "serializable"),
                      behind("SessionMode", run::in_session_mode, "repeatable-read"),
                      behind("Pgpool", run::pgpool, "read-committed")),
    subject_name);

}  // namespace
}  // namespace cupel::drivers::testing
