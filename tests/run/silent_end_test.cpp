// The mysql driver and the runner on a server that rolls a transaction back and says OK: MariaDB
// behind a proxy that does so after some statements. Only the status of the answers shows it. What
// was acknowledged stays acknowledged; what failed afterwards is unknown; the history and the
// explanation say what the server did.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "databases/drivers/driver.hpp"
#include "databases/lab/server.hpp"
#include "report/render.hpp"
#include "run/run_and_check.hpp"
#include "servers/forgetful_proxy.hpp"
#include "support/scratch_folder.hpp"

namespace cupel::run {
namespace {

using workload::Reply;
using workload::Statement;
using workload::StatementKind;

class SilentEnd : public testing::Test {
 protected:
  void SetUp() override {
    lab::Options options;
    options.durable = false;
    auto started = lab::start(lab::Kind::kMariadb, options);
    ASSERT_TRUE(started.ok()) << started.error().to_string();
    server_.emplace(std::move(started).value());
    proxy_.emplace(server_->port(), ends_at_, moves_);
  }
  [[nodiscard]] std::string url() const {
    return "mysql://cupel@127.0.0.1:" + std::to_string(proxy_->port()) + "/cupel";
  }
  [[nodiscard]] std::string history() const { return scratch_.path("h.jsonl"); }
  base::Result<CheckedRun> go() {
    RunAndCheckOptions options;
    options.url = url();
    options.open.isolation = "serializable";
    options.shape = {.min_ops = 4, .max_ops = 4, .keys = 3};
    options.run = {.sessions = 2, .txns = 15};
    options.history = history();
    options.analysis.check.asked = {levels::Level::kSerializable};
    Progress progress;
    const std::atomic<bool> stop = false;
    return run_and_check(options, stop, progress, [](Stage) {});
  }
  [[nodiscard]] std::string recorded() const {
    std::stringstream text;
    text << std::ifstream(history()).rdbuf();
    return text.str();
  }

  const test::ScratchFolder scratch_;
  std::atomic<int> ends_at_ = 0;
  std::atomic<bool> moves_ = false;
  std::optional<lab::Server> server_;
  std::optional<test::ForgetfulProxy> proxy_;
};

constexpr const char* kReason = "the server ended the transaction without an error";

TEST_F(SilentEnd, TheDriverSaysAtWhichStatement) {
  auto workload = workload::make_workload("general", {.keys = 2});
  ASSERT_TRUE(workload.ok());
  auto database = drivers::open(url(), {.isolation = "serializable"});
  ASSERT_TRUE(database.ok()) << database.error().message;
  ASSERT_TRUE((*database)->prepare(**workload).ok());
  auto connected = (*database)->connect(0);
  ASSERT_TRUE(connected.ok()) << connected.error().message;
  auto& connection = **connected;
  const Statement read{.kind = StatementKind::kRead, .key = {std::int64_t{1}}};
  Reply reply;
  for (const int ends_at : {0, 1, 2, 3}) {
    ends_at_ = ends_at;
    ASSERT_FALSE(connection.begin());
    EXPECT_EQ(connection.ended_at_statement(), 0U);
    for (int i = 1; i <= 3; ++i) {
      ASSERT_FALSE(connection.execute(read, reply));
      EXPECT_EQ(connection.ended_at_statement(), ends_at != 0 && i >= ends_at ? ends_at : 0) << i;
    }
    EXPECT_FALSE(connection.commit());
  }
}

// A proxy that gives a session another server connection may give it another isolation level.
TEST_F(SilentEnd, AProxyThatMovesSessionsTakesThePromise) {
  RunAndCheckOptions options;
  options.url = url();
  options.open.isolation = "serializable";
  options.run = {.sessions = 2, .txns = 15};
  options.history = history();
  Progress progress;
  const std::atomic<bool> stop = false;
  auto ran = run_and_check(options, stop, progress, [](Stage) {});
  ASSERT_TRUE(ran.ok()) << ran.error().to_string();
  EXPECT_EQ(ran->facts.pooler, "");
  EXPECT_TRUE(ran->promised);
  moves_ = true;
  options.overwrite = true;
  ran = run_and_check(options, stop, progress, [](Stage) {});
  ASSERT_TRUE(ran.ok()) << ran.error().to_string();
  EXPECT_EQ(ran->facts.pooler, "multiplexed");
  EXPECT_FALSE(ran->promised);
  EXPECT_NE(ran->no_promise.find("a proxy moves sessions"), std::string::npos);
  EXPECT_EQ(ran->history.fact("pooler"), "multiplexed");
  EXPECT_NE(ran->history.fact("no promise").find("a proxy moves sessions"), std::string::npos);
}

TEST_F(SilentEnd, AHonestServerIsNotAccused) {
  const auto ran = go();
  ASSERT_TRUE(ran.ok()) << ran.error().to_string();
  EXPECT_FALSE(ran->run.reasons.contains(kReason));
  EXPECT_EQ(recorded().find("no longer open"), std::string::npos);
}

TEST_F(SilentEnd, AnAcknowledgedCommitIsOneAndTheHistorySaysWhatHappened) {
  ends_at_ = 2;
  const auto ran = go();
  ASSERT_TRUE(ran.ok()) << ran.error().to_string();
  EXPECT_EQ(ran->run.aborted + ran->run.unknown + ran->run.committed, 30U);
  EXPECT_GT(ran->run.committed, 20U);  // a later statement may meet a conflict
  EXPECT_GE(ran->run.reasons.at(kReason), ran->run.committed);
  EXPECT_EQ(ran->verdict(), check::Verdict::kViolated);
  EXPECT_NE(
      recorded().find(R"("note":"the server reported that the transaction was no longer open )"
                      R"(after its 2nd statement")"),
      std::string::npos);
  analysis::Options options;
  options.check.asked = {levels::Level::kSerializable};
  const auto found = analysis::analyze_file(history(), {}, options);
  ASSERT_TRUE(found.ok());
  auto text = report::explanation({history(), found->history, found->analysis});
  for (auto& c : text) {
    if (c == '\n') c = ' ';
  }
  text.erase(
      std::unique(text.begin(), text.end(), [](char a, char b) { return a == ' ' && b == ' '; }),
      text.end());
  EXPECT_NE(text.find("note = \"the server reported that the transaction was no longer open after "
                      "its 2nd statement\""),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace cupel::run
