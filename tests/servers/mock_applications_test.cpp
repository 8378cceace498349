// The SQL applications through PostgreSQL's wire protocol, by libpq: what comes out is what
// comes out in process. Then on PostgreSQL itself, which is what the statements are for:
// nothing fails there when transactions run one after another.
#include <gtest/gtest.h>

#include "application.hpp"
#include "databases/lab/server.hpp"
#include "libpq_client.hpp"
#include "mock/wire/backend.hpp"
#include "mock/wire/server.hpp"

namespace cupel::applications {
namespace {

std::vector<std::unique_ptr<Client>> clients(const std::string& where, int sessions) {
  std::vector<std::unique_ptr<Client>> made;
  for (int i = 1; i <= sessions + 1; ++i) {
    const auto name = i > sessions ? "auditor" : "client" + std::to_string(i);
    made.push_back(std::make_unique<LibpqClient>(where + name));
  }
  return made;
}

class MockApplications : public ::testing::Test {
 protected:
  static void same_as_in_process(Application& application, mock::Level level) {
    RunOptions options;
    options.level = level;
    options.seed = 3;
    const auto expected = run(application, options);
    mock::Options dial;
    dial.level = options.level;
    dial.seed = options.seed;
    mock::Store store(dial);
    sql::Catalog catalog(options.level);
    load(application, store, catalog);
    const auto backend = wire::make_backend(store, catalog);
    auto server = wire::Server::start(*backend, {.postgres = 0});
    ASSERT_TRUE(server.ok()) << server.error().to_string();
    const auto port = (*server)->port(wire::Interface::kPostgres);
    const auto connected =
        clients("host=127.0.0.1 user=cupel dbname=cupel port=" + std::to_string(port) +
                    " application_name=",
                options.sessions);
    connected.back()->run("SET cupel.policy = 'latest'");
    const auto outcome = run(application, connected, options);
    EXPECT_EQ(outcome.violated, expected.violated);
    EXPECT_EQ(outcome.committed, expected.committed);
    EXPECT_EQ(outcome.rolled_back, expected.rolled_back);
    EXPECT_EQ(outcome.refused, expected.refused);
    EXPECT_EQ(outcome.conflicts, expected.conflicts);
    EXPECT_EQ(outcome.first_refusal, expected.first_refusal);
  }
};

TEST_F(MockApplications, AreTheSameThroughTheWire) {
  same_as_in_process(*tpcc(), mock::Level::kReadCommitted);
  same_as_in_process(*tpcc(), mock::Level::kCausal);
  same_as_in_process(*tpcc(), mock::Level::kStrongSessionSerializable);
  same_as_in_process(*smallbank(), mock::Level::kCausal);
  same_as_in_process(*voter(), mock::Level::kStrongSessionSnapshotIsolation);
  same_as_in_process(*wikipedia(), mock::Level::kCausal);
}

TEST_F(MockApplications, AreRightOnPostgres) {
  auto server = lab::start(lab::Kind::kPostgres, {});
  ASSERT_TRUE(server.ok()) << server.error().to_string();
  std::vector<std::unique_ptr<Application>> applications;
  applications.push_back(tpcc());
  applications.push_back(smallbank());
  applications.push_back(voter());
  applications.push_back(wikipedia(Numbers::kSerial));
  applications.push_back(wikipedia());
  for (const auto& application : applications) {
    const auto connected = clients(server->url() + "?application_name=", 3);
    connected.back()->run("DROP SCHEMA public CASCADE; CREATE SCHEMA public");
    connected.back()->run("BEGIN");
    make_tables(*application, *connected.back());
    connected.back()->run("COMMIT");
    RunOptions options;
    options.transactions = 100;
    const auto outcome = run(*application, connected, options);
    EXPECT_EQ(outcome.violated, std::vector<bool>(application->assertions().size(), false))
        << application->name();
    EXPECT_EQ(outcome.refused, 0) << outcome.first_refusal;
    EXPECT_GE(outcome.committed, 10);
  }
}

}  // namespace
}  // namespace cupel::applications
