// Data that are gone at the end of a run: a fault command removes them from a real server while
// the clients write, and the final reads find the acknowledged writes lost. Each driver decides
// which error means that a table, bucket or stream is not there any more.
//
// Servers that vanish during a run without faults: the test kills them, and the final reads fail,
// or find the writes lost if the server comes back empty.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <thread>

#include "databases/lab/server.hpp"
#include "run/run_and_check.hpp"
#include "run/run_report.hpp"
#include "support/polling.hpp"
#include "support/scratch_folder.hpp"

namespace cupel::run {
namespace {

struct GoneCase {
  const char* name;
  lab::Kind kind;
  std::uint32_t nodes;  // 0: the kind's default
  const char* remove;   // a script of sh: $1 is the host, $2 the port of the first node
  const char* workload;
  const char* isolation = "";  // empty: the driver's default
};

void PrintTo(const GoneCase& gone, std::ostream* out) {
  *out << gone.name;
}

constexpr const char* kDropPostgres =
    R"(psql -qX -v ON_ERROR_STOP=1 "postgres://cupel@$1:$2/cupel" \
  -c "DO \$\$ DECLARE t text; BEGIN
        FOR t IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' LOOP
          EXECUTE 'DROP TABLE ' || quote_ident(t);
        END LOOP; END \$\$")";

constexpr const char* kDropMariadb = R"(set -e
client="mariadb --no-defaults -N -h $1 -P $2 -u cupel cupel"
$client -e "SELECT concat('DROP TABLE ', table_name, ';') FROM information_schema.tables
            WHERE table_schema = 'cupel'" | $client)";

constexpr const char* kFlushRedis = R"(redis-cli -h "$1" -p "$2" FLUSHALL)";

constexpr const char* kEmptyEtcd = R"(exec python3 - "$1" "$2" <<'END'
import sys, urllib.request
everything = b'{"key": "AA==", "range_end": "AA=="}'
urllib.request.urlopen(f"http://{sys.argv[1]}:{sys.argv[2]}/v3/kv/deleterange", everything).read()
END)";

constexpr const char* kDeleteStreams = R"(exec python3 - "$1" "$2" <<'END'
import json, socket, sys
server = socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=10)
lines = server.makefile("rb")
def say(text): server.sendall(text.encode())
def ask(subject):
    say(f"PUB {subject} answers 0\r\n\r\n")
    while True:
        line = lines.readline()
        if line.startswith(b"PING"): say("PONG\r\n")
        if line.startswith(b"MSG"):
            return json.loads(lines.read(int(line.split()[-1]) + 2))
say('CONNECT {"verbose": false}\r\nSUB answers 1\r\n')
for name in ask("$JS.API.STREAM.NAMES").get("streams") or []:
    if not ask("$JS.API.STREAM.DELETE." + name).get("success"): sys.exit("not deleted: " + name)
END)";

class DataGone : public testing::TestWithParam<GoneCase> {};

TEST_P(DataGone, IsALostWrite) {
  const auto& gone = GetParam();
  lab::Options server{.durable = false};
  server.nodes = gone.nodes;
  auto started = lab::start(gone.kind, server);
  ASSERT_TRUE(started.ok()) << started.error().to_string();
  const test::ScratchFolder folder;
  RunAndCheckOptions options;
  options.url = started->url();
  options.open.isolation = gone.isolation;
  options.workload = gone.workload;
  options.run.sessions = 3;
  options.run.txns = 0;
  options.run.rate = 200;
  options.run.quiet = 1;
  // "postgres://cupel@HOST:PORT/cupel", "nats://HOST:PORT,HOST:PORT…"
  auto host = options.url.substr(options.url.find("://") + 3);
  host = host.substr(host.find('@') + 1);
  host = host.substr(0, host.find_first_of(",/"));
  const auto colon = host.find(':');
  options.faults = {.fault = fmt::format("sh {} {} {}", folder.file("remove.sh", gone.remove),
                                         host.substr(0, colon), host.substr(colon + 1)),
                    .heal = "",
                    .every = 1,
                    .lasts = 0.1};
  // A fault command ends with the load. On a machine with other work it may need more time than 3
  // s.
  const std::atomic<bool> stop = false;
  base::Result<CheckedRun> ran = base::Error{};
  for (const double seconds : {3.0, 10.0, 40.0}) {
    options.run.time_limit = seconds;
    options.history = folder.path(fmt::format("{:.0f}.jsonl", seconds));
    Progress progress;
    ran = run_and_check(options, stop, progress, [](Stage) {});
    ASSERT_TRUE(ran.ok()) << ran.error().message;
    if (ran->run.faults > 0) break;
  }
  std::string warnings;
  for (const auto& warning : ran->run.warnings) warnings += warning + '\n';
  EXPECT_GE(ran->run.faults, 1U) << warnings;
  EXPECT_GT(ran->run.committed, 20U);
  EXPECT_EQ(ran->run.final_reads_failed, "");
  EXPECT_TRUE(ran->loses()) << warnings;
  EXPECT_EQ(ran->verdict(), check::Verdict::kViolated);
  EXPECT_TRUE(anomalies(*ran).contains("lost-write"));
}

INSTANTIATE_TEST_SUITE_P(
    Servers, DataGone,
    // A list that is written again lacks the old elements. NATS has no transactions of several
    // keys.
    testing::Values(GoneCase{"Postgres", lab::Kind::kPostgres, 0, kDropPostgres, "append"},
                    GoneCase{"Mariadb", lab::Kind::kMariadb, 0, kDropMariadb, "append"},
                    GoneCase{"Redis", lab::Kind::kRedis, 0, kFlushRedis, "append", "serializable"},
                    GoneCase{"Etcd", lab::Kind::kEtcd, 0, kEmptyEtcd, "append", "serializable"},
                    GoneCase{"Nats", lab::Kind::kNats, 3, kDeleteStreams, "lwt"},
                    GoneCase{"NatsDirectReads", lab::Kind::kNats, 1, kDeleteStreams, "lwt",
                             "local"}),
    [](const auto& info) { return std::string(info.param.name); });

struct VanishCase {
  const char* name;
  lab::Kind kind;
  const char* workload;
  const char* isolation = "";  // empty: the driver's default
  bool live = false;
};

void PrintTo(const VanishCase& vanish, std::ostream* out) {
  *out << vanish.name;
}

class Vanished : public testing::TestWithParam<VanishCase> {
 protected:
  // A run without faults on a server that this test kills, and starts again if `restart`.
  base::Result<CheckedRun> go(bool restart, double patience) {
    const auto& vanish = GetParam();
    lab::Options server{.durable = false};
    if (restart) server.server_options = {"appendonly=no"};
    auto started = lab::start(vanish.kind, server);
    if (!started.ok()) return std::move(started).error();
    RunAndCheckOptions options;
    options.url = started->url();
    options.open.isolation = vanish.isolation;
    options.open.statement_timeout = 2;
    options.workload = vanish.workload;
    options.history = folder_.path("history.jsonl");
    options.live = vanish.live;
    options.run.sessions = 3;
    options.run.txns = 0;
    options.run.rate = 200;
    options.run.time_limit = 8;
    options.run.patience = patience;
    options.run.quiet = 1;
    Progress progress;
    std::jthread killing([&] {
      EXPECT_TRUE(test::poll_until([&] { return progress.committed > 100; }));
      started->kill();
      if (restart) {
        EXPECT_TRUE(started->restart().ok());
      }
    });
    const std::atomic<bool> stop = false;
    return run_and_check(options, stop, progress, [](Stage) {});
  }

  const test::ScratchFolder folder_;
};

TEST_P(Vanished, NothingCanConnectAnyMoreSoTheRunIsUnknown) {
  const auto ran = go(/*restart=*/false, /*patience=*/1);
  ASSERT_TRUE(ran.ok()) << ran.error().message;
  EXPECT_GT(ran->run.committed, 20U);
  EXPECT_EQ(ran->run.faults, 0U);
  EXPECT_GT(ran->run.without_answer, 0U);
  EXPECT_NE(ran->run.final_reads_failed, "");
  EXPECT_EQ(ran->verdict(), check::Verdict::kUnknown);
  const auto json = nlohmann::json::parse(run_json(*ran, 1));
  const auto reason =
      "it is unknown whether acknowledged writes are lost: " + ran->run.final_reads_failed;
  EXPECT_EQ(json["warnings"][0], reason);
  const auto text = run_text(*ran, 1, {});
  EXPECT_NE(text.find("\n\n  warning: " + reason), std::string::npos) << text;
}

INSTANTIATE_TEST_SUITE_P(
    Servers, Vanished,
    testing::Values(VanishCase{"Postgres", lab::Kind::kPostgres, "append"},
                    VanishCase{"PostgresLive", lab::Kind::kPostgres, "general", "", true},
                    VanishCase{"Mariadb", lab::Kind::kMariadb, "general"},
                    VanishCase{"Redis", lab::Kind::kRedis, "append", "serializable"},
                    VanishCase{"RedisLive", lab::Kind::kRedis, "general", "serializable", true},
                    VanishCase{"Etcd", lab::Kind::kEtcd, "append", "serializable"},
                    VanishCase{"Nats", lab::Kind::kNats, "lwt"}),
    [](const auto& info) { return std::string(info.param.name); });

// Redis without its disk is empty after a restart.
class CameBackEmpty : public Vanished {};

TEST_P(CameBackEmpty, SoTheWritesAreLost) {
  const auto ran = go(/*restart=*/true, /*patience=*/30);
  ASSERT_TRUE(ran.ok()) << ran.error().message;
  EXPECT_EQ(ran->run.final_reads_failed, "");
  EXPECT_EQ(ran->verdict(), check::Verdict::kViolated);
  EXPECT_TRUE(anomalies(*ran).contains("lost-write"));
}

INSTANTIATE_TEST_SUITE_P(
    Servers, CameBackEmpty,
    testing::Values(VanishCase{"Redis", lab::Kind::kRedis, "append", "serializable"},
                    VanishCase{"RedisLive", lab::Kind::kRedis, "general", "serializable", true}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace cupel::run
