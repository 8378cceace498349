// dqlite without a server: its wire protocol byte by byte, and what the driver makes of answers
// that a real server gives rarely, by a server of our own that says what each case wants.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/descriptor.hpp"
#include "databases/drivers/dqlite/protocol.hpp"
#include "drivers/conformance.hpp"

namespace cupel::drivers::testing {
namespace {

using base::Descriptor;
using dqlite::AnswerType;
using workload::Datum;
using workload::kv_schema;
using workload::Reply;

// Words of 8 bytes, little endian.
std::string word(std::uint64_t number) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(number >> (8 * i) & 0xffU);
  return bytes;
}
std::string text(std::string bytes) {
  bytes.resize((bytes.size() / 8 + 1) * 8, '\0');
  return bytes;
}
std::string message(std::uint64_t type, const std::string& body) {
  return word(body.size() / 8 | type << 32U) + body;
}

TEST(DqliteProtocol, RequestsAreAsTheManualHasThem) {
  EXPECT_EQ(dqlite::hello(), word(1));
  EXPECT_EQ(dqlite::ask_leader(), message(0, word(0)));
  EXPECT_EQ(dqlite::open_database("cupel"), message(3, text("cupel") + word(0) + text("")));
  EXPECT_EQ(dqlite::execute("BEGIN"), message(8, word(0) + text("BEGIN")));
  // A text of whole words has one more, for its end.
  EXPECT_EQ(dqlite::query("SELECT 1"), message(9, word(0) + "SELECT 1" + word(0)));
  const std::vector<Datum> parameters{-2, std::string("it"), Datum()};
  EXPECT_EQ(dqlite::execute("x", parameters),
            message(8, word(0) + text("x") + std::string("\3\1\3\5\0\0\0\0", 8) +
                           word(~std::uint64_t{1}) + text("it") + word(0)));
  EXPECT_TRUE(dqlite::can_be_sent("a"));
  EXPECT_FALSE(dqlite::can_be_sent(std::string("a\0b", 3)));
}

TEST(DqliteProtocol, AnswersAreRead) {
  const auto header = dqlite::parse_header(word(3 | 7ULL << 32U));
  EXPECT_EQ(header.type, AnswerType::kRows);
  EXPECT_EQ(header.body_size, 24U);
  const auto failure = dqlite::parse_failure(word(10250) + text("not leader"));
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->code, 10250U);
  EXPECT_EQ(failure->message, "not leader");
  EXPECT_EQ(dqlite::parse_leader(word(7) + text("127.0.0.1:9001")), "127.0.0.1:9001");
  EXPECT_EQ(dqlite::parse_leader(word(0) + text("")), "");
  EXPECT_EQ(dqlite::parse_result(word(9) + word(4)), 4U);
}

TEST(DqliteProtocol, ValuesOfAllTypesAreRead) {
  // Types are half a byte each: integer, float, text, blob, null, time, ISO 8601, boolean.
  const auto columns = word(8) + text("a") + text("b") + text("c") + text("d") + text("e") +
                       text("f") + text("g") + text("h");
  const auto row = word(0xba95'4321) + word(~std::uint64_t{6}) + word(0x3ff8'0000'0000'0000) +
                   text("long enough") + word(3) + std::string("\0\1\2\0\0\0\0\0", 8) + word(0) +
                   word(12) + text("2026") + word(1);
  const auto rows = dqlite::parse_rows(columns + row + row + word(~std::uint64_t{0}));
  ASSERT_TRUE(rows);
  EXPECT_TRUE(rows->last);
  ASSERT_EQ(rows->rows.size(), 2U);
  EXPECT_EQ(rows->rows[1],
            (std::vector<Datum>{-7, std::string("1.5"), std::string("long enough"),
                                std::string("\0\1\2", 3), Datum(), 12, std::string("2026"), 1}));
  const auto part = dqlite::parse_rows(columns + row + word(0xeeee'eeee'eeee'eeee));
  ASSERT_TRUE(part);
  EXPECT_FALSE(part->last);
  EXPECT_EQ(part->rows.size(), 1U);
}

TEST(DqliteProtocol, WhatIsCutOffIsNoAnswer) {
  const auto whole = word(1) + text("k") + word(3) + text("value") + word(~std::uint64_t{0});
  ASSERT_TRUE(dqlite::parse_rows(whole));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(dqlite::parse_rows(std::string_view(whole).substr(0, size))) << size;
  }
  EXPECT_FALSE(dqlite::parse_failure(word(1)));
  EXPECT_FALSE(dqlite::parse_failure(word(1) + "no end.."));
  EXPECT_FALSE(dqlite::parse_leader(word(1)));
  EXPECT_FALSE(dqlite::parse_result(word(1)));
  EXPECT_FALSE(dqlite::parse_rows(word(0) + word(~std::uint64_t{0})));  // no columns
  EXPECT_FALSE(dqlite::parse_rows(word(1) + text("k") + word(6) + word(1) + word(0)));
  // A length near 2^64.
  EXPECT_FALSE(
      dqlite::parse_rows(word(1) + text("k") + word(4) + word(~std::uint64_t{2}) + word(0)));
}

// What the driver sent: the type of the request and its SQL, as "execute COMMIT".
std::string shown_request(std::uint8_t type, const std::string& body) {
  switch (type) {
    case 0:
      return "leader";
    case 3:
      return "open " + std::string(body.c_str());
    default:
      return (type == 8 ? "execute " : "query ") + std::string(body.c_str() + 8);
  }
}

const std::string kDone = message(6, word(0) + word(1));
const std::string kOpened = message(4, word(0));
std::string failure(std::uint64_t code, const std::string& words) {
  return message(0, word(code) + text(words));
}
std::string refused_as_no_leader() {
  return failure(10250, "not leader");
}

// A node. It takes connections until the end of the case, one thread each, and gives the answer
// that the case has for a request; none: what a leader would say. Empty: it closes.
class Node {
 public:
  using Script = std::function<std::optional<std::string>(const std::string& request)>;

  explicit Node(Script script = {}) : script_(std::move(script)) {
    listener_ = Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), size);
    ::listen(listener_.get(), 16);
    ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    place_ = fmt::format("127.0.0.1:{}", ntohs(address.sin_port));
    acceptor_ = std::jthread([this] { accept(); });
  }
  ~Node() {
    ::shutdown(listener_.get(), SHUT_RDWR);
    acceptor_.join();
    for (const auto& link : links_) ::shutdown(link.socket.get(), SHUT_RDWR);
    links_.clear();
  }
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  [[nodiscard]] const std::string& place() const { return place_; }
  // All requests so far.
  std::vector<std::string> asked() {
    const std::lock_guard lock(mutex_);
    return asked_;
  }

 private:
  struct Link {
    Descriptor socket;
    std::jthread thread;
  };

  void accept() {
    for (;;) {
      Descriptor socket(::accept(listener_.get(), nullptr, nullptr));
      if (!socket) return;
      auto& link = links_.emplace_back(std::move(socket));
      link.thread = std::jthread([this, number = link.socket.get()] { serve(number); });
    }
  }

  static bool read(int socket, std::size_t size, std::string& bytes) {
    bytes.assign(size, '\0');
    return size == 0 ||
           ::recv(socket, bytes.data(), size, MSG_WAITALL) == static_cast<ssize_t>(size);
  }

  void serve(int socket) {
    std::string bytes;
    bool open = false;
    if (!read(socket, 8, bytes) || bytes != word(1)) return;
    while (read(socket, 8, bytes)) {
      const auto header = dqlite::parse_header(bytes);
      if (!read(socket, static_cast<std::size_t>(header.body_size), bytes)) return;
      const auto request = shown_request(static_cast<std::uint8_t>(header.type), bytes);
      const auto answer = answer_to(request, open);
      ::send(socket, answer.data(), answer.size(), MSG_NOSIGNAL);
      if (answer.empty()) ::shutdown(socket, SHUT_RDWR);
    }
  }

  std::string answer_to(const std::string& request, bool& open) {
    const std::lock_guard lock(mutex_);
    asked_.push_back(request);
    if (script_) {
      if (auto answer = script_(request)) return *std::move(answer);
    }
    if (request.starts_with("open ")) {
      open = true;
      return kOpened;
    }
    if (request.starts_with("query ")) {
      return message(7, word(1) + text("v") + word(3) + text("3.40.1") + word(~std::uint64_t{0}));
    }
    if (request == "leader") return message(1, word(1) + text(place_));
    return open ? kDone : failure(12, "no database opened");
  }

  Script script_;
  Descriptor listener_;
  std::string place_;
  std::mutex mutex_;
  std::vector<std::string> asked_;
  std::list<Link> links_;
  std::jthread acceptor_;
};

std::unique_ptr<Database> opened(const std::string& places, const std::string& query = {}) {
  auto database = open("dqlite://" + places + query, {.isolation = {}, .statement_timeout = 20});
  if (!database.ok()) throw std::runtime_error(database.error().message);
  if (auto made = (*database)->prepare(Tables(kv_schema())); !made) {
    throw std::runtime_error(made.error().message);
  }
  return *std::move(database);
}
std::unique_ptr<Connection> connected(Database& database) {
  auto connection = database.connect(0);
  if (!connection.ok()) throw std::runtime_error(connection.error().message);
  return *std::move(connection);
}

// The outcome of a COMMIT, and what came after it, where the node answers "execute COMMIT" and the
// ROLLBACK after it so.
struct AtCommit {
  MaybeFailure outcome;
  std::vector<std::string> later;
};
AtCommit commit(const std::string& to_commit, const std::string& to_rollback = kDone) {
  Node node([&](const std::string& request) -> std::optional<std::string> {
    if (request == "execute COMMIT") return to_commit;
    if (request == "execute ROLLBACK") return to_rollback;
    return std::nullopt;
  });
  const auto connection = connected(*opened(node.place(), "?busy_timeout=0"));
  Reply reply;
  EXPECT_FALSE(connection->begin());
  EXPECT_FALSE(connection->execute(write(1, 11), reply));
  AtCommit result{.outcome = connection->commit(), .later = node.asked()};
  auto& all = result.later;
  const auto at = std::find(all.begin(), all.end(), "execute COMMIT");
  all.erase(all.begin(), at == all.end() ? at : at + 1);
  return result;
}

void expect_commit(const AtCommit& result, TxnOutcome outcome, Cause cause, bool lost,
                   const std::string& code) {
  ASSERT_TRUE(result.outcome);
  SCOPED_TRACE(shown(result.outcome));
  EXPECT_EQ(result.outcome->txn_outcome, outcome);
  EXPECT_EQ(result.outcome->cause, cause);
  EXPECT_EQ(result.outcome->connection_lost, lost);
  EXPECT_EQ(result.outcome->code, code);
}

TEST(DqliteCommit, HasNotBegunOnANodeThatIsNoLeader) {
  expect_commit(commit(refused_as_no_leader()), TxnOutcome::kAborted, Cause::kConnection, true,
                "SQLITE_IOERR_NOT_LEADER");
  expect_commit(commit(failure(12, "no database opened")), TxnOutcome::kAborted, Cause::kConnection,
                true, "SQLITE_NOTFOUND");
}

TEST(DqliteCommit, IsUnknownIfTheLeadershipIsLostMeanwhile) {
  expect_commit(commit(failure(10506, "disk I/O error")), TxnOutcome::kUnknown, Cause::kConnection,
                true, "SQLITE_IOERR_LEADERSHIP_LOST");
  // Another error of the disk, a shutdown, and an error that says that there is none.
  expect_commit(commit(failure(10 | 3U << 8U, "disk I/O error")), TxnOutcome::kUnknown,
                Cause::kConnection, true, "SQLITE_IOERR");
  expect_commit(commit(failure(7, "not an error")), TxnOutcome::kUnknown, Cause::kConnection, true,
                "SQLITE_7");
  expect_commit(commit(failure(4, "abort")), TxnOutcome::kUnknown, Cause::kConnection, true,
                "SQLITE_ABORT");
  expect_commit(commit(failure(0, "not an error")), TxnOutcome::kUnknown, Cause::kStatement, true,
                "SQLITE_0");
}

TEST(DqliteCommit, ThatIsRefusedIsAbortedOnceItIsUndone) {
  const auto busy = failure(5, "checkpoint in progress");
  const auto undone = commit(busy);
  expect_commit(undone, TxnOutcome::kAborted, Cause::kConflict, false, "SQLITE_BUSY");
  ASSERT_FALSE(undone.later.empty());
  EXPECT_EQ(undone.later.front(), "execute ROLLBACK");
  // There is nothing to undo: who knows what became of it.
  const auto gone = failure(1, "cannot rollback - no transaction is active");
  expect_commit(commit(busy, gone), TxnOutcome::kUnknown, Cause::kConflict, false, "SQLITE_BUSY");
  expect_commit(commit(failure(19, "FOREIGN KEY constraint failed")), TxnOutcome::kAborted,
                Cause::kConstraint, false, "SQLITE_CONSTRAINT");
}

TEST(DqliteCommit, IsUnknownWithoutAnAnswerThatIsOne) {
  expect_commit(commit(""), TxnOutcome::kUnknown, Cause::kConnection, true, "lost");
  // Rows, a failure that is cut off, a body of 32 GB.
  expect_commit(commit(message(7, word(1))), TxnOutcome::kUnknown, Cause::kConnection, true,
                "lost");
  expect_commit(commit(message(0, word(5))), TxnOutcome::kUnknown, Cause::kConnection, true,
                "lost");
  expect_commit(commit(word(0xffff'ffff)), TxnOutcome::kUnknown, Cause::kConnection, true, "lost");
}

// A lock is asked for again; after that, the transaction goes on.
TEST(DqliteStatement, WaitsForALock) {
  int busy = 0;
  Node node([&](const std::string& request) -> std::optional<std::string> {
    if (!request.starts_with("execute UPDATE") || ++busy > 3) return std::nullopt;
    return failure(5, "database is locked");
  });
  const auto connection = connected(*opened(node.place(), "?busy_timeout=20000"));
  Reply reply;
  EXPECT_FALSE(connection->begin());
  EXPECT_FALSE(connection->execute(write(1, 11), reply));
  EXPECT_FALSE(connection->commit());
  EXPECT_EQ(busy, 4);
  EXPECT_EQ(node.asked().back(), "execute COMMIT");
}

TEST(DqliteStatement, ThatFailsUndoesTheTransaction) {
  Node node([](const std::string& request) -> std::optional<std::string> {
    if (request.starts_with("execute UPDATE")) return failure(517, "database is locked");
    return std::nullopt;
  });
  const auto connection = connected(*opened(node.place()));
  Reply reply;
  EXPECT_FALSE(connection->begin());
  const auto outcome = connection->execute(write(1, 11), reply);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->code, "SQLITE_BUSY_SNAPSHOT");  // no use in waiting
  EXPECT_EQ(outcome->txn_outcome, TxnOutcome::kAborted);
  EXPECT_FALSE(outcome->connection_lost);
  EXPECT_EQ(node.asked().back(), "execute ROLLBACK");
}

TEST(DqliteStatement, ReadsRowsThatComeInParts) {
  Node node([](const std::string& request) -> std::optional<std::string> {
    if (request.find("BETWEEN") == std::string::npos) return std::nullopt;
    const auto columns = word(2) + text("k") + text("v");
    const auto row = [](std::uint64_t key) { return word(0x11) + word(key) + word(key * 10); };
    return message(7, columns + row(1) + row(2) + word(0xeeee'eeee'eeee'eeee)) +
           message(7, columns + row(3) + word(~std::uint64_t{0}));
  });
  const auto connection = connected(*opened(node.place()));
  EXPECT_EQ(run(*connection, {range(1, 9)})[0], "1=10, 2=20, 3=30");
}

// A node that is no leader names who is, whether or not the URL has it; one that knows none does
// not, and the next of the URL is asked.
TEST(DqliteLeader, IsFollowed) {
  Node leader;
  const auto no_leader = [](const std::string& of) {
    return [of](const std::string& request) -> std::optional<std::string> {
      if (request == "leader") return message(1, word(of.empty() ? 0 : 2) + text(of));
      return refused_as_no_leader();
    };
  };
  Node follower(no_leader(leader.place())), lonely(no_leader(""));
  const auto by_follower = opened(follower.place());
  EXPECT_TRUE(by_follower->connect(0).ok());
  EXPECT_FALSE(leader.asked().empty());
  const auto before = leader.asked().size();
  EXPECT_TRUE(opened(lonely.place() + "," + leader.place())->connect(0).ok());
  EXPECT_GT(leader.asked().size(), before);
  const auto none = open("dqlite://" + lonely.place(), {});
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.error().message.find("no host is the leader"), std::string::npos);
  // Nothing but questions went to those that are no leaders.
  for (auto* node : {&follower, &lonely}) {
    for (const auto& request : node->asked()) {
      EXPECT_TRUE(request == "leader" || request == "execute SELECT 1") << request;
    }
  }
}

// Two nodes that each take the other for the leader: the search ends.
TEST(DqliteLeader, IsNotLookedForInCircles) {
  std::string other;
  const auto script = [&](const std::string& request) -> std::optional<std::string> {
    if (request == "leader") return message(1, word(2) + text(other));
    return refused_as_no_leader();
  };
  Node one(script), two([&](const std::string&request) -> std::optional<std::string> {
    if (request == "leader") return message(1, word(1) + text(one.place()));
    return refused_as_no_leader();
  });
  other = two.place();
  EXPECT_FALSE(open("dqlite://" + one.place(), {}).ok());
  EXPECT_EQ(one.asked().size(), 2U);
  EXPECT_EQ(two.asked().size(), 2U);
}

}  // namespace
}  // namespace cupel::drivers::testing
