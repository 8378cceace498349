// The mysql driver and the runner on a server that rolls a transaction back and says OK: the mock's
// MySQL server, whose sessions roll back after some statements. Only the status of the answers
// shows it. What was acknowledged stays acknowledged; what failed afterwards is unknown; the
// history and the explanation say what the server did.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "drivers/driver.hpp"
#include "report/render.hpp"
#include "run/run_and_check.hpp"
#include "support/scratch_folder.hpp"
#include "wire/store_server.hpp"

namespace cupel::run {
namespace {

using workload::Reply;
using workload::Statement;
using workload::StatementKind;

// Hands everything to a session of the store. Rolls back after `ends_at` statements of each
// transaction, behind the client's back; 0: never.
class Forgetful final : public sql::Session {
 public:
  Forgetful(std::unique_ptr<sql::Session> inner, const std::atomic<int>& ends_at)
      : inner_(std::move(inner)), ends_at_(ends_at) {}

  Run run(std::string_view text) override {  // BEGIN, COMMIT and ROLLBACK
    statements_ = 0;
    return inner_->run(text);
  }
  std::variant<std::unique_ptr<sql::Prepared>, sql::Error> prepare(
      std::string_view statement, std::span<const sql::Type> types,
      std::span<const sql::Type> otherwise) override {
    return inner_->prepare(statement, types, otherwise);
  }
  std::variant<sql::Result, sql::Error> execute(const sql::Prepared& prepared,
                                                std::span<const sql::Datum> parameters,
                                                std::span<const sql::Type> sent) override {
    auto result = inner_->execute(prepared, parameters, sent);
    if (state() == sql::TransactionState::kOpen && ++statements_ == ends_at_) {
      inner_->run("ROLLBACK");
    }
    return result;
  }
  [[nodiscard]] sql::TransactionState state() const override { return inner_->state(); }
  [[nodiscard]] bool autocommit() const override { return inner_->autocommit(); }
  void reset() override { inner_->reset(); }
  void on_deallocate(Deallocate deallocate) override {
    inner_->on_deallocate(std::move(deallocate));
  }
  [[nodiscard]] Cancel canceller() override { return inner_->canceller(); }
  void on_connection(std::uint32_t number, CancelOther cancel) override {
    inner_->on_connection(number, std::move(cancel));
  }
  void on_user(std::string user) override { inner_->on_user(std::move(user)); }
  std::optional<sql::Error> configure(const std::string& setting,
                                      const std::string& value) override {
    return inner_->configure(setting, value);
  }
  [[nodiscard]] std::optional<Idle> idle_limit() const override { return inner_->idle_limit(); }

 private:
  std::unique_ptr<sql::Session> inner_;
  const std::atomic<int>& ends_at_;
  int statements_ = 0;
};

class ForgetfulBackend final : public wire::Backend {
 public:
  ForgetfulBackend(wire::Backend& inner, const std::atomic<int>& ends_at)
      : inner_(inner), ends_at_(ends_at) {}
  std::unique_ptr<sql::Session> open_sql(sql::Product product, const std::string& name) override {
    return std::make_unique<Forgetful>(inner_.open_sql(product, name), ends_at_);
  }
  std::uint32_t open_keys(const std::string& name) override { return inner_.open_keys(name); }
  void close_keys(std::uint32_t session) override { inner_.close_keys(session); }
  std::unique_ptr<mock::Transaction> begin(std::uint32_t session,
                                           const mock::Store::BeginOptions& options) override {
    return inner_.begin(session, options);
  }
  void shut_down() override { inner_.shut_down(); }

 private:
  wire::Backend& inner_;
  const std::atomic<int>& ends_at_;
};

class SilentEnd : public testing::Test {
 protected:
  void SetUp() override {
    auto started = wire::Server::start(backend_, {.mysql = 0});
    ASSERT_TRUE(started.ok()) << started.error().to_string();
    server_ = std::move(*started);
  }
  [[nodiscard]] std::string url() const {
    return "mysql://cupel@127.0.0.1:" + std::to_string(server_->port(wire::Interface::kMysql)) +
           "/cupel";
  }
  [[nodiscard]] std::string history() const { return scratch_.path("h.jsonl"); }
  // The store may answer a session with old values, so only run_test judges verdicts.
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
  wire::StoreServer store_{{.level = mock::Level::kStrongSessionSerializable}};
  ForgetfulBackend backend_{*store_.backend, ends_at_};
  std::unique_ptr<wire::Server> server_;
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
