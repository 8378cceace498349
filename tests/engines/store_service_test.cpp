// A store behind a socket, asked as a backend of an engine asks it.
#include "mock/engines/store_service.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/temp_dir.hpp"
#include "mock/engines/messages.hpp"
#include "mock/wire/bytes.hpp"

namespace cupel::engines {
namespace {

constexpr std::uint32_t kTable = 16384;

class Backend {
 public:
  explicit Backend(const std::string& path) : socket_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  Backend(const std::string& path, const std::string& name, bool keeps_statements = false)
      : Backend(path) {
    EXPECT_EQ(ask(OpenRequest{kProtocol, 5, "cupel", name, 0}), opened(keeps_statements));
  }
  ~Backend() { ::close(socket_); }
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  static std::string opened(bool keeps_statements = false) {
    return opened_reply({.keeps_statements = keeps_statements}).substr(4);
  }
  // The reply; empty: the connection is over.
  std::string ask(const Request& request) {
    send(request);
    std::string reply = take(4);
    if (reply.size() < 4) return "";
    return take(*message_length(reply));
  }
  void send(const Request& request) {
    const auto body = encode(request);
    std::string bytes;
    wire::put_little(bytes, body.size(), 4);
    bytes += body;
    EXPECT_EQ(::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }

 private:
  std::string take(std::size_t size) {
    std::string bytes(size, ' ');
    std::size_t got = 0;
    while (got < size) {
      const auto more = ::recv(socket_, bytes.data() + got, size - got, 0);
      if (more <= 0) return "";
      got += static_cast<std::size_t>(more);
    }
    return bytes;
  }
  int socket_;
};

class StoreServiceTest : public testing::Test {
 protected:
  StoreServiceTest() {
    mock::Options options;
    options.level = mock::Level::kStrongSessionSerializable;
    service_ = std::move(*StoreService::start(path_, options));
  }
  static Write insertion(Position at, const std::string& key, Position version) {
    return {.table = kTable,
            .row = at,
            .version = version,
            .insert = true,
            .table_name = "t",
            .key = key,
            .value = "(" + key + ")"};
  }
  // The engine has seen to it that the primary key is new, so that is no read.
  static Write checked(Position at, const std::string& key) {
    auto made = insertion(at, key, at);
    made.checked = true;
    return made;
  }
  static std::string versions(const std::vector<Position>& positions) {
    return versions_reply(positions).substr(4);
  }
  static std::string found(const Position& version, bool last, std::uint32_t commits) {
    return found_reply({{version, last}}, commits).substr(4);
  }

  base::TempDir folder_ = std::move(*base::TempDir::make("cupel-test-"));
  std::string path_ = folder_.file("store");
  std::unique_ptr<StoreService> service_;
};

// The values that a transaction read of the rows, by their names; null is "-".
std::map<std::string, std::string> reads_of(const history::History& history, std::uint32_t txn) {
  std::map<std::string, std::string> reads;
  for (auto at = history.first_op(history::TxnId(txn)); at < history.last_op(history::TxnId(txn));
       ++at) {
    const auto op = history.op(history::OpId(at));
    if (op.kind != history::OpKind::kRead) continue;
    const bool null = op.value == history.null_value();
    reads[history.key(op.key).to_string()] = null ? "-" : history.value(op.value).to_string();
  }
  return reads;
}

ReadRequest look(std::uint32_t commits, const std::vector<Position>& rows = {}) {
  return {.statement = 1, .commits = commits, .absent = true, .table = kTable, .rows = rows};
}

TEST_F(StoreServiceTest, ReturnsWhatASessionCommitted) {
  Backend one(path_, "one");
  EXPECT_EQ(one.ask(ReadRequest{1, kEveryCommit, false, true, false, kTable, {{0, 1}}}),
            versions({{}}));
  EXPECT_EQ(one.ask(CommitRequest{{insertion({0, 1}, "5", {0, 1})}}), "k");
  EXPECT_EQ(one.ask(ReadRequest{2, kEveryCommit, false, true, false, kTable, {{0, 1}, {0, 2}}}),
            versions({{0, 1}, {}}));
  EXPECT_EQ(one.ask(CommitRequest{{Write{.table = kTable, .row = {0, 1}, .version = {0, 2}}}}),
            "k");
  EXPECT_EQ(one.ask(ReadRequest{3, kEveryCommit, false, false, false, kTable, {{0, 1}}}),
            versions({{0, 2}}));
  one.send(AbortRequest{});
  EXPECT_EQ(one.ask(ReadRequest{0, kEveryCommit, true, false, false, kTable, {{0, 1}}}),
            versions({{0, 2}}));
  const auto history = service_->history();
  ASSERT_TRUE(history.ok());
  EXPECT_EQ(history->txn_count(), 3u);
  EXPECT_EQ(history->key(history::KeyId(0)).to_string(), "t(5)");
}

// For explanations: what the clients asked for, and in which order.
TEST_F(StoreServiceTest, KeepsStatementsAndTheOrderOfTransactions) {
  mock::Options options;
  options.overlap = options.keep_statements = true;
  service_->start_over(options);
  Backend one(path_, "one", true);
  one.send(TextRequest{"SELECT 1"});
  EXPECT_EQ(one.ask(ReadRequest{1, kEveryCommit, false, true, false, kTable, {{0, 1}}}),
            versions({{}}));
  EXPECT_EQ(one.ask(CommitRequest{{insertion({0, 1}, "5", {0, 1})}}), "k");
  const auto history = service_->history();
  ASSERT_TRUE(history.ok());
  ASSERT_EQ(history->txn_count(), 1u);
  EXPECT_TRUE(history->has_all_times());
  EXPECT_TRUE(history->times_are_places());
  const auto statements = service_->statements();
  ASSERT_EQ(statements.count(history->label(history::TxnId(0))), 1u);
  EXPECT_EQ(statements.at(history->label(history::TxnId(0))),
            (std::vector<std::string>{"SELECT 1"}));
}

// Those that ask the store for nothing before the commit, too.
TEST_F(StoreServiceTest, KeepsStatementsThatOnlyWrite) {
  mock::Options options;
  options.overlap = options.keep_statements = true;
  service_->start_over(options);
  Backend one(path_, "one", true);
  one.send(TextRequest{"INSERT 1"});
  one.send(TextRequest{"INSERT 2"});
  EXPECT_EQ(one.ask(CommitRequest{{insertion({0, 1}, "5", {0, 1})}}), "k");
  EXPECT_EQ(one.ask(ReadRequest{1, kEveryCommit, false, true, false, kTable, {{0, 1}}}),
            versions({{0, 1}}));
  one.send(TextRequest{"INSERT 3"});
  EXPECT_EQ(one.ask(CommitRequest{{insertion({0, 2}, "6", {0, 2})}}), "k");
  std::vector<std::vector<std::string>> texts;
  for (const auto& [label, statements] : service_->statements()) texts.push_back(statements);
  EXPECT_EQ(texts, (std::vector<std::vector<std::string>>{{"INSERT 1", "INSERT 2"}, {"INSERT 3"}}));
}

// An engine reads the number of commits when its statement starts, and asks the store later.
TEST_F(StoreServiceTest, LetsATransactionBeginWhenItsStatementDid) {
  mock::Options options;
  options.product = mock::Product::kPostgres;
  options.level = mock::Level::kReadCommitted;
  service_->start_over(options);
  Backend one(path_), other(path_);
  EXPECT_FALSE(one.ask(OpenRequest{kProtocol, 5, "cupel", "one", 0}).empty());
  EXPECT_FALSE(other.ask(OpenRequest{kProtocol, 5, "cupel", "other", 0}).empty());
  EXPECT_EQ(one.ask(CommitRequest{{checked({0, 1}, "1")}}), "k");
  EXPECT_EQ(one.ask(CommitRequest{{checked({0, 2}, "2")}}), "k");
  EXPECT_EQ(other.ask(look(1, {{0, 1}})), versions({{0, 1}}));
  EXPECT_EQ(other.ask(CommitRequest{{checked({0, 3}, "3")}}), "k");
  const auto history = service_->history();
  ASSERT_TRUE(history.ok());
  ASSERT_EQ(history->txn_count(), 3u);
  const auto time = [&](std::uint32_t txn) {
    return std::pair(history->invoke(history::TxnId(txn)), history->complete(history::TxnId(txn)));
  };
  EXPECT_EQ(time(0), std::pair(history::Time(1), history::Time(2)));
  EXPECT_EQ(time(1), std::pair(history::Time(3), history::Time(5)));
  EXPECT_EQ(time(2), std::pair(history::Time(4), history::Time(6)));
  EXPECT_EQ(reads_of(*history, 2),
            (std::map<std::string, std::string>{{"t(1)", "()"}, {"t(2)", "-"}, {"t(3)", "-"}}));
}

TEST_F(StoreServiceTest, RejectsASecondInsertionOfAKey) {
  Backend one(path_, "one");
  EXPECT_EQ(one.ask(CommitRequest{{insertion({0, 1}, "5", {0, 1})}}), "k");
  EXPECT_EQ(one.ask(CommitRequest{{insertion({0, 2}, "5", {0, 2})}}),
            failure_reply(FailureKind::kDuplicate,
                          "duplicate key value violates unique constraint: t(5) already exists")
                .substr(4));
  one.send(AbortRequest{});
  EXPECT_EQ(one.ask(ReadRequest{1, kEveryCommit, false, false, false, kTable, {{0, 1}, {0, 2}}}),
            versions({{0, 1}, {0, 1}}));
}

TEST_F(StoreServiceTest, TakesALevelForATransaction) {
  Backend one(path_, "one");
  EXPECT_EQ(one.ask(ChooseRequest{"causal", "latest", {}}), "k");
  EXPECT_EQ(one.ask(ChooseRequest{"rc", "", {}}), "k");
  EXPECT_EQ(one.ask(ChooseRequest{"none", "", {}})[0], 'f');
  one.send(AbortRequest{});
  EXPECT_EQ(one.ask(ChooseRequest{"", "first", {}})[0], 'f');
  one.send(AbortRequest{});
  EXPECT_EQ(one.ask(CommitRequest{{insertion({0, 1}, "5", {0, 1})}}), "k");
}

TEST_F(StoreServiceTest, RollsBackAConnectionThatEnds) {
  {
    Backend one(path_, "one");
    one.ask(ReadRequest{1, kEveryCommit, false, true, false, kTable, {{0, 1}}});
  }
  Backend other(path_, "other");  // waits for its turn until the first is gone
  EXPECT_EQ(other.ask(CommitRequest{{insertion({0, 1}, "5", {0, 1})}}), "k");
}

// The engine holds the lock. What the transaction read before stays its only read of the row.
TEST_F(StoreServiceTest, GivesTheLastVersionOfALockedRow) {
  mock::Options options;
  options.overlap = true;
  service_->start_over(options);
  Backend one(path_, "one"), other(path_, "other");
  EXPECT_EQ(one.ask(CommitRequest{{insertion({0, 1}, "5", {0, 1})}}), "k");
  EXPECT_EQ(other.ask(ChooseRequest{"", "latest", {}}), "k");
  EXPECT_EQ(other.ask(ReadRequest{.statement = 1, .table = kTable, .rows = {{0, 1}}}),
            versions({{0, 1}}));
  EXPECT_EQ(one.ask(CommitRequest{{Write{.table = kTable, .row = {0, 1}, .version = {0, 2}}}}),
            "k");
  EXPECT_EQ(
      other.ask(ReadRequest{
          .statement = 2, .find = true, .table = kTable, .rows = {{0, 1}}, .wants_last = true}),
      found({0, 2}, true, 2));
  EXPECT_EQ(other.ask(LockRequest{.statement = 2, .table = kTable, .row = {0, 1}}),
            versions({{0, 2}}));
  EXPECT_EQ(other.ask(CommitRequest{{Write{.table = kTable, .row = {0, 1}, .version = {0, 3}}}}),
            "k");
  auto history = service_->history();
  ASSERT_TRUE(history.ok());
  const history::TxnId last(history->txn_count() - 1);
  EXPECT_EQ(history->last_op(last) - history->first_op(last), 2u);
  // Who has read nothing before reads what it has locked, and must see what it is shown.
  EXPECT_EQ(one.ask(LockRequest{.statement = 3, .table = kTable, .row = {0, 1}}),
            versions({{0, 3}}));
  EXPECT_EQ(other.ask(CommitRequest{{Write{.table = kTable, .row = {0, 1}, .version = {0, 4}}}}),
            "k");
  EXPECT_EQ(
      one.ask(LockRequest{.statement = 4, .table = kTable, .row = {0, 1}, .observed = true})[0],
      'f');
}

// For an engine that has no locks of its own.
TEST_F(StoreServiceTest, LocksRowsAndNames) {
  mock::Options options;
  options.overlap = options.locks = true;
  service_->start_over(options);
  const auto opened = opened_reply({.locks = true}).substr(4);
  Backend one(path_), other(path_);
  EXPECT_EQ(one.ask(OpenRequest{kProtocol, 5, "cupel", "one", 0}), opened);
  EXPECT_EQ(other.ask(OpenRequest{kProtocol, 5, "cupel", "other", 0}), opened);
  EXPECT_EQ(one.ask(CommitRequest{{insertion({0, 1}, "5", {0, 1})}}), "k");
  const LockRequest row{.statement = 1, .table = kTable, .row = {0, 1}};
  auto at_once = row;
  at_once.no_wait = true;
  EXPECT_EQ(one.ask(row), versions({{0, 1}}));
  EXPECT_EQ(other.ask(at_once), "w");
  other.send(row);  // and waits no more
  EXPECT_EQ(other.ask(StopWaitingRequest{}), "w");
  one.send(UnlockRequest{kTable, {0, 1}, false});
  EXPECT_EQ(one.ask(ReadRequest{.statement = 2, .table = kTable, .rows = {{0, 1}}}),
            versions({{0, 1}}));
  EXPECT_EQ(other.ask(at_once), versions({{0, 1}}));
  // A row that is not there yet, and a value.
  using Kind = GuardRequest::Kind;
  const auto guard = [](Kind kind, const std::string& text) {
    GuardRequest request;
    request.kind = kind;
    request.table = kTable;
    request.no_wait = true;
    request.row = {0, 2};
    request.table_name = "t";
    request.text = text;
    return request;
  };
  for (const auto& request : {guard(Kind::kRow, "6"), guard(Kind::kValue, "a")}) {
    EXPECT_EQ(one.ask(request), "k");
    EXPECT_EQ(other.ask(request), "w");
  }
  EXPECT_EQ(one.ask(guard(Kind::kGaps, "")), "k");
  EXPECT_EQ(other.ask(guard(Kind::kInsertion, "")), "w");
  one.send(AbortRequest{});
  EXPECT_EQ(one.ask(CommitRequest{}), "k");
  EXPECT_EQ(other.ask(guard(Kind::kRow, "6")), "k");
  EXPECT_EQ(other.ask(guard(Kind::kInsertion, "")), "k");
}

// The client was shown an error instead.
TEST_F(StoreServiceTest, ForgetsWhatAFailedStatementFound) {
  Backend one(path_, "one");
  EXPECT_EQ(one.ask(CommitRequest{{insertion({0, 1}, "5", {0, 1})}}), "k");
  EXPECT_EQ(one.ask(ReadRequest{.statement = 2, .find = true, .table = kTable, .rows = {{0, 1}}}),
            versions({{0, 1}}));
  one.send(EndStatementRequest{2, true});
  EXPECT_EQ(one.ask(CommitRequest{}), "k");
  const auto history = service_->history();
  ASSERT_TRUE(history.ok());
  EXPECT_EQ(history->last_op(history::TxnId(1)), history->first_op(history::TxnId(1)));
}

// Whoever knows that what it found is the last need not wait for the answer.
TEST_F(StoreServiceTest, TakesTheFoundVersionOfALockedRow) {
  mock::Options options;
  options.overlap = true;
  service_->start_over(options);
  Backend one(path_, "one"), other(path_, "other");
  EXPECT_EQ(one.ask(CommitRequest{{insertion({0, 1}, "5", {0, 1})}}), "k");
  EXPECT_EQ(
      other.ask(ReadRequest{
          .statement = 1, .find = true, .table = kTable, .rows = {{0, 1}}, .wants_last = true}),
      found({0, 1}, true, 1));
  EXPECT_EQ(other.ask(LockRequest{.statement = 1, .table = kTable, .row = {0, 1}, .found = true}),
            "k");
  EXPECT_EQ(other.ask(CommitRequest{{Write{.table = kTable, .row = {0, 1}, .version = {0, 2}}}}),
            "k");
  const auto history = service_->history();
  ASSERT_TRUE(history.ok());
  const history::TxnId last(history->txn_count() - 1);
  ASSERT_EQ(history->last_op(last) - history->first_op(last), 2u);
  EXPECT_EQ(history->op(history::OpId(history->first_op(last))).kind, history::OpKind::kRead);
  EXPECT_EQ(one.ask(ReadRequest{.statement = 1,
                                .commits = 1,
                                .find = true,
                                .table = kTable,
                                .rows = {{0, 1}},
                                .wants_last = true}),
            found({0, 1}, false, 2));
  EXPECT_EQ(one.ask(LockRequest{.statement = 2, .table = kTable, .row = {0, 1}, .found = true}),
            "");  // that statement found nothing
}

// Who asks for more before it has the first answer still means the same transaction.
TEST_F(StoreServiceTest, FailsUntilTheTransactionIsRolledBack) {
  Backend one(path_, "one");
  const auto failure = one.ask(ChooseRequest{"none", "", {}});
  EXPECT_EQ(failure[0], 'f');
  EXPECT_EQ(one.ask(ReadRequest{.statement = 1, .table = kTable, .rows = {{0, 1}}}), failure);
  one.send(TextRequest{"SELECT 1"});
  one.send(EndStatementRequest{1});
  EXPECT_EQ(one.ask(CommitRequest{{insertion({0, 1}, "5", {0, 1})}}), failure);
  one.send(AbortRequest{});
  EXPECT_EQ(one.ask(ReadRequest{.statement = 1, .table = kTable, .rows = {{0, 1}}}),
            versions({{}}));
}

TEST_F(StoreServiceTest, CountsWhatWasFoundAndNotLockedAsRead) {
  Backend one(path_, "one");
  EXPECT_EQ(one.ask(CommitRequest{{insertion({0, 1}, "5", {0, 1})}}), "k");
  for (const bool ended : {true, false}) {
    EXPECT_EQ(
        one.ask(ReadRequest{
            .statement = 2, .find = true, .table = kTable, .rows = {{0, 1}}, .wants_last = true}),
        found({0, 1}, true, ended ? 1 : 2));
    if (ended) one.send(EndStatementRequest{2});
    EXPECT_EQ(one.ask(CommitRequest{}), "k");
  }
  const auto history = service_->history();
  ASSERT_TRUE(history.ok());
  for (const std::uint32_t txn : {1U, 2U}) {
    EXPECT_EQ(history->last_op(history::TxnId(txn)) - history->first_op(history::TxnId(txn)), 1u);
  }
}

TEST_F(StoreServiceTest, ShowsWhatWasCommittedWhenTheStatementStarted) {
  Backend one(path_, "one");
  EXPECT_EQ(one.ask(CommitRequest{{insertion({0, 1}, "5", {0, 1})}}), "k");
  EXPECT_EQ(one.ask(CommitRequest{{Write{.table = kTable, .row = {0, 1}, .version = {0, 2}}}}),
            "k");
  EXPECT_EQ(one.ask(CommitRequest{{Write{.table = kTable, .row = {0, 1}, .version = {0, 3}}}}),
            "k");
  for (const bool latest : {true, false}) {
    Backend other(path_, latest ? "latest" : "other");
    if (!latest) {
      EXPECT_EQ(other.ask(ChooseRequest{"read-committed", "latest", {}}), "k");
    }
    for (const std::uint32_t commits : {1U, 2U, 3U}) {
      EXPECT_EQ(other.ask(ReadRequest{.statement = commits,
                                      .commits = commits,
                                      .latest = latest,
                                      .table = kTable,
                                      .rows = {{0, 1}}}),
                versions({{0, static_cast<std::uint16_t>(commits)}}));
    }
  }
}

// An engine scans a table, and the store gets to know it later: after another transaction has
// named its new row, or has committed it.
TEST_F(StoreServiceTest, RecordsAScanThatAnInsertionOvertakes) {
  for (const bool committed : {false, true}) {
    mock::Options options;
    options.product = mock::Product::kPostgres;
    options.level = mock::Level::kReadCommitted;
    service_->start_over(options);
    Backend one(path_), other(path_);
    const auto opened = [&](const std::string& name) {
      return OpenRequest{kProtocol, 5, "cupel", name, 0};
    };
    EXPECT_FALSE(one.ask(opened("one")).empty());
    EXPECT_FALSE(other.ask(opened("other")).empty());
    EXPECT_EQ(one.ask(look(0)), versions({}));
    GuardRequest guard{.kind = GuardRequest::Kind::kRow, .table = kTable, .row = {0, 1}};
    guard.table_name = "t";
    guard.text = "1";
    EXPECT_EQ(one.ask(guard), "k");
    const CommitRequest commit{{checked({0, 1}, "1")}};
    if (committed) {
      EXPECT_EQ(one.ask(commit), "k");
    }
    EXPECT_EQ(other.ask(look(0)), versions({}));
    if (!committed) {
      EXPECT_EQ(one.ask(commit), "k");
    }
    EXPECT_EQ(other.ask(CommitRequest{{checked({0, 2}, "2")}}), "k");
    const auto history = service_->history();
    ASSERT_TRUE(history.ok());
    ASSERT_EQ(history->txn_count(), 2u);
    using Reads = std::map<std::string, std::string>;
    // The own row, too.
    EXPECT_EQ(reads_of(*history, 0), (Reads{{"t(1)", "-"}, {"t(2)", "-"}})) << committed;
    EXPECT_EQ(reads_of(*history, 1), (Reads{{"t(1)", "-"}, {"t(2)", "-"}})) << committed;
  }
}

// A row that was there when the statement began is no missing row, whoever asks for it.
TEST_F(StoreServiceTest, RecordsNoAbsenceOfARowThatWasThere) {
  Backend one(path_, "one"), other(path_, "other");
  EXPECT_EQ(one.ask(CommitRequest{{checked({0, 1}, "1")}}), "k");
  EXPECT_EQ(other.ask(look(1)), versions({}));
  EXPECT_EQ(other.ask(CommitRequest{{checked({0, 2}, "2")}}), "k");
  const auto history = service_->history();
  ASSERT_TRUE(history.ok());
  EXPECT_EQ(reads_of(*history, 1), (std::map<std::string, std::string>{{"t(2)", "-"}}));
}

// A lock on a value of a unique key is no row, whatever range of rows a scan has missed.
TEST_F(StoreServiceTest, RecordsNoReadOfALockedValue) {
  Backend one(path_, "one"), other(path_, "other");
  for (const char* text : {"1:8", "2:8"}) {
    GuardRequest guard{.kind = GuardRequest::Kind::kValue, .table = kTable};
    guard.text = text;
    EXPECT_EQ(one.ask(guard), "k");
  }
  EXPECT_EQ(one.ask(CommitRequest{{checked({0, 1}, "1")}}), "k");
  EXPECT_EQ(other.ask(look(1)), versions({}));
  EXPECT_EQ(other.ask(CommitRequest{{checked({0, 2}, "2")}}), "k");
  const auto history = service_->history();
  ASSERT_TRUE(history.ok()) << history.error().message;
  EXPECT_EQ(reads_of(*history, 1), (std::map<std::string, std::string>{{"t(2)", "-"}}));
}

// Not only the last scan of a session.
TEST_F(StoreServiceTest, RecordsEachScanThatOverlapsWithAnInsertion) {
  mock::Options options;
  options.product = mock::Product::kPostgres;
  options.level = mock::Level::kReadCommitted;
  service_->start_over(options);
  Backend one(path_), other(path_);
  EXPECT_FALSE(one.ask(OpenRequest{kProtocol, 5, "cupel", "one", 0}).empty());
  EXPECT_FALSE(other.ask(OpenRequest{kProtocol, 5, "cupel", "other", 0}).empty());
  EXPECT_EQ(other.ask(look(0)), versions({}));
  EXPECT_EQ(one.ask(look(0)), versions({}));
  EXPECT_EQ(one.ask(CommitRequest{{checked({0, 1}, "1")}}), "k");
  EXPECT_EQ(one.ask(look(1, {{0, 1}})), versions({{0, 1}}));
  EXPECT_EQ(one.ask(CommitRequest{}), "k");
  EXPECT_EQ(other.ask(CommitRequest{{checked({0, 2}, "2")}}), "k");
  const auto history = service_->history();
  ASSERT_TRUE(history.ok());
  ASSERT_EQ(history->txn_count(), 3u);
  std::map<std::string, int> missed;
  for (const std::uint32_t txn : {0U, 1U, 2U}) {
    for (const auto& [row, value] : reads_of(*history, txn)) missed[row] += value == "-" ? 1 : 0;
  }
  EXPECT_EQ(missed, (std::map<std::string, int>{{"t(1)", 2}, {"t(2)", 3}}))
      << "each row by its inserter, too";
}

TEST_F(StoreServiceTest, EndsAConnectionThatBreaksTheRules) {
  Backend silent(path_);
  EXPECT_EQ(silent.ask(CommitRequest{}), "");  // not opened
  Backend twice(path_, "one");
  EXPECT_EQ(twice.ask(OpenRequest{kProtocol, 5, "cupel", "one", 0}), "");
  Backend old(path_);
  EXPECT_EQ(old.ask(OpenRequest{kProtocol + 1, 5, "cupel", "one", 0}), "");
  Backend unknown(path_, "two");
  EXPECT_EQ(unknown.ask(CommitRequest{{Write{.table = kTable, .row = {9, 9}, .version = {9, 9}}}}),
            "");  // no such row
}

TEST_F(StoreServiceTest, KeepsADatabaseWhenItStartsOver) {
  {
    Backend one(path_, "one");
    EXPECT_EQ(one.ask(CommitRequest{{insertion({0, 1}, "5", {0, 1})}}), "k");
  }
  service_->keep_database("cupel");
  mock::Options options;
  options.level = mock::Level::kReadCommitted;
  service_->start_over(options);
  Backend other(path_, "other");
  EXPECT_EQ(other.ask(CopyDatabaseRequest{5, 6}), "k");
  Backend copy(path_);
  EXPECT_EQ(copy.ask(OpenRequest{kProtocol, 6, "cupel", "copy", 0}), Backend::opened());
  EXPECT_EQ(copy.ask(ReadRequest{1, kEveryCommit, false, false, false, kTable, {{0, 1}}}),
            versions({{0, 1}}));
}

TEST_F(StoreServiceTest, ShowsRewrittenRowsToAll) {
  Backend one(path_, "one"), other(path_, "other");
  auto moved = insertion({0, 1}, "5", {0, 1});
  moved.base = true;
  EXPECT_EQ(one.ask(CommitRequest{{moved}}), "k");
  EXPECT_EQ(other.ask(ReadRequest{1, kEveryCommit, false, false, false, kTable, {{0, 1}}}),
            versions({{0, 1}}));
}

}  // namespace
}  // namespace cupel::engines
