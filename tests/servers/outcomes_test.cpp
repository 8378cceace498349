// Outcomes stay honest: a connection to each server breaks at an exact moment of a transaction
// (BreakingProxy), and what the driver says of it is compared with what the server has afterwards.
// The rule: aborted, and the value is not there and never comes; committed, and it is there;
// unknown only where nobody could know.
//
// Time-outs take most of the time, so all breaks of all servers happen side by side, once.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <future>
#include <map>
#include <mutex>

#include "databases/lab/server.hpp"
#include "drivers/conformance.hpp"
#include "servers/breaking_proxy.hpp"

namespace cupel::drivers::testing {
namespace {

using cupel::test::Break;
using cupel::test::BreakingProxy;
using workload::kv_schema;
using workload::Reply;
using workload::Statement;

// As decimals, as an integer of 64 bits, little endian, and in base64, it is easily found.
constexpr std::int64_t kValue = 0x42424242424242;
constexpr std::int64_t kBefore = 7;

// A moment of a transaction.
struct Place {
  std::string name;
  std::string text;      // in the client's bytes; empty: between the last statement and the commit
  bool decides = false;  // with this request the database commits
};

// What a client library does about a connection that breaks between two requests.
enum class OnIdleBreak : std::uint8_t {
  kSeen,       // the driver says that nothing was sent
  kReplaced,   // with the next request the library makes a new one
  kInTheBack,  // so it does when it notices: before, during or after the next request
};

// How a driver is tried: a transaction, and its moments.
struct Trial {
  std::string name;
  lab::Kind kind;
  std::string isolation;
  double timeout;  // seconds; what one_writer has waits for it case by case
  std::vector<Statement> (*statements)(std::int64_t key, std::int64_t value);
  bool interactive = false;
  OnIdleBreak on_idle_break = OnIdleBreak::kSeen;
  std::vector<Place> places;
  bool one_writer = false;  // of the whole database: the cases run one after the other
};

std::vector<Statement> one_write(std::int64_t key, std::int64_t value) {
  return {write(key, value)};
}
std::vector<Statement> compared_write(std::int64_t key, std::int64_t value) {
  return {read(key), compare_and_set(key, kBefore, value)};
}

const std::vector<Trial>& trials() {
  static const std::vector<Trial> all{
      {"Postgres",
       lab::Kind::kPostgres,
       "repeatable-read",
       5,
       one_write,
       true,
       OnIdleBreak::kSeen,
       {{"begin", "BEGIN"},
        {"statement", std::to_string(kValue)},
        {"idle", ""},
        {"commit", "COMMIT", true}}},
      {"Mariadb",
       lab::Kind::kMariadb,
       "read-committed",
       5,
       one_write,
       true,
       OnIdleBreak::kSeen,
       {{"begin", "START TRANSACTION"},
        {"statement", "BBBBBBB"},
        {"idle", ""},
        {"commit", "COMMIT", true}}},
      {"Dqlite",
       lab::Kind::kDqlite,
       "serializable",
       2,
       one_write,
       true,
       OnIdleBreak::kSeen,
       {{"begin", "BEGIN"}, {"statement", "BBBBBBB"}, {"idle", ""}, {"commit", "COMMIT", true}},
       true},
      {"Redis",
       lab::Kind::kRedis,
       "linearizable",
       5,
       one_write,
       false,
       OnIdleBreak::kSeen,
       {{"idle", ""}, {"set", std::to_string(kValue), true}}},
      {"RedisBlock",
       lab::Kind::kRedis,
       "serializable",
       5,
       compared_write,
       false,
       OnIdleBreak::kSeen,
       {{"watch", "WATCH"}, {"idle", ""}, {"exec", "EXEC", true}}},
      {"Etcd",
       lab::Kind::kEtcd,
       "linearizable",
       5,
       one_write,
       false,
       OnIdleBreak::kReplaced,
       {{"idle", ""}, {"put", "/v3/kv/put", true}}},
      {"EtcdTxn",
       lab::Kind::kEtcd,
       "serializable",
       5,
       compared_write,
       false,
       OnIdleBreak::kReplaced,
       {{"look", "request_range"}, {"idle", ""}, {"txn", "request_put", true}}},
      {"Zookeeper",
       lab::Kind::kZookeeper,
       "linearizable",
       5,
       one_write,
       false,
       OnIdleBreak::kInTheBack,
       {{"idle", ""}, {"set", std::to_string(kValue), true}}},
      {"ZookeeperMulti",
       lab::Kind::kZookeeper,
       "serializable",
       5,
       compared_write,
       false,
       OnIdleBreak::kInTheBack,
       {{"get", "/cupel:"}, {"idle", ""}, {"multi", std::to_string(kValue), true}}}};
  return all;
}

const std::map<Break, std::string> kBreaks{{Break::kNone, "none"},
                                           {Break::kCloseBeforeRequest, "close before"},
                                           {Break::kResetBeforeRequest, "reset before"},
                                           {Break::kCloseAfterRequest, "close after"},
                                           {Break::kResetAfterRequest, "reset after"},
                                           {Break::kCloseInAnswer, "close in the answer"},
                                           {Break::kHoldAnswer, "late answer"},
                                           {Break::kHoldRequest, "late request"}};

// A transaction that breaks, and what became of it.
struct Case {
  const Place* place = nullptr;
  Break what = Break::kNone;
  std::int64_t key = 0;
  std::unique_ptr<Connection> connection = nullptr;
  BreakingProxy::Link* link = nullptr;
  bool sprung = false;
  MaybeFailure outcome = {};
  MaybeFailure next = {};  // the outcome of the next transaction on this connection
  std::string next_read = {};
  std::string seen = {}, seen_later = {};  // on the server
};

class Bench {
 public:
  Bench(const Trial& trial, std::uint16_t port, const std::string& url)
      : trial_(trial), proxy_(port) {
    // Only what goes through the proxy is to be too late.
    OpenOptions options{.isolation = trial.isolation, .statement_timeout = 60};
    direct_ = opened(url, options);
    options.statement_timeout = trial.timeout;
    auto through = url;
    const auto number = std::to_string(port);
    through.replace(through.find(number), number.size(), std::to_string(proxy_.port()));
    broken_ = opened(through, options);
    make_cases();
    Tables tables(kv_schema());
    for (const auto& one : cases_) tables.row(0, {one.key}, {kBefore - 1});
    for (auto* database : {direct_.get(), broken_.get()}) {
      if (auto made = database->prepare(tables); !made) {
        throw std::runtime_error(made.error().message);
      }
    }
  }

  std::vector<Case> run() {
    for (auto& one : cases_) connect(one);
    std::vector<std::future<void>> running;
    const auto when = trial_.one_writer ? std::launch::deferred : std::launch::async;
    for (auto& one : cases_) {
      running.push_back(std::async(when, [this, &one] { try_out(one); }));
    }
    for (auto& one : running) one.get();
    const auto connection = connected(*direct_);
    for (auto& one : cases_) one.seen_later = look(*connection, one.key);
    return std::move(cases_);
  }

 private:
  static std::unique_ptr<Database> opened(const std::string& url, const OpenOptions& options) {
    auto database = open(url, options);
    if (!database.ok()) throw std::runtime_error(database.error().message);
    return *std::move(database);
  }
  static std::unique_ptr<Connection> connected(Database& database) {
    auto connection = database.connect(0);
    if (!connection.ok()) throw std::runtime_error(connection.error().message);
    return *std::move(connection);
  }
  static std::string look(Connection& connection, std::int64_t key) {
    std::vector<Reply> replies;
    const std::vector<Statement> statements{read(key)};
    if (auto failure = connection.transact(statements, replies)) return shown(failure);
    return shown(replies[0]);
  }

  void make_cases() {
    const auto add = [&](const Place& place, Break what) {
      const auto key = static_cast<std::int64_t>(cases_.size()) + 1;
      cases_.push_back({.place = &place, .what = what, .key = key});
    };
    for (const auto& place : trial_.places) {
      for (const auto& [what, name] : kBreaks) {
        const bool in_idle =
            what == Break::kCloseBeforeRequest || what == Break::kResetBeforeRequest;
        const bool control = what == Break::kNone;
        if (place.text.empty() ? in_idle : !control || place.decides) add(place, what);
      }
    }
  }

  // Whatever is prepared or negotiated once is done before the break.
  void connect(Case& one) {
    one.connection = connected(*broken_);
    one.link = &proxy_.newest();
    std::vector<Reply> replies;
    for (const auto& statements :
         {one_write(one.key, kBefore - 1), {read(one.key)}, one_write(one.key, kBefore)}) {
      if (auto failure = one.connection->transact(statements, replies)) {
        throw std::runtime_error(trial_.name + ": " + shown(failure));
      }
    }
  }

  MaybeFailure transact(Case& one) {
    const auto statements = trial_.statements(one.key, kValue);
    const bool idle = one.place->text.empty();
    const bool by_reset = one.what == Break::kResetBeforeRequest;
    std::vector<Reply> replies;
    if (!trial_.interactive) {
      if (idle) one.link->cut(by_reset);
      return one.connection->transact(statements, replies);
    }
    if (auto failure = one.connection->begin()) return failure;
    for (const auto& statement : statements) {
      Reply reply;
      if (auto failure = one.connection->execute(statement, reply)) return failure;
    }
    if (idle) one.link->cut(by_reset);
    return one.connection->commit();
  }

  void try_out(Case& one) {
    if (!one.place->text.empty()) one.link->arm(one.what, one.place->text);
    one.outcome = transact(one);
    one.sprung = one.place->text.empty() || one.what == Break::kNone || one.link->sprung();
    if (one.what == Break::kHoldAnswer && !one.link->release()) one.sprung = false;
    std::vector<Reply> replies;
    const std::vector<Statement> statements{read(one.key + 1'000'000)};
    one.next = one.connection->transact(statements, replies);
    one.next_read = one.next || replies.empty() ? "" : shown(replies[0]);
    one.connection.reset();
    EXPECT_TRUE(one.link->wait_until_over());
    one.seen = look(*connected(*direct_), one.key);
  }

  const Trial& trial_;
  BreakingProxy proxy_;
  std::unique_ptr<Database> direct_, broken_;
  std::vector<Case> cases_;
};

// What must be said of a case, and whether the server must have the value; none: either.
struct Expected {
  std::optional<std::string> outcome;  // "committed", "aborted", "unknown"
  std::optional<bool> there;
};

Expected expected(const Trial& trial, const Case& one) {
  const bool not_sent =
      one.what == Break::kCloseBeforeRequest || one.what == Break::kResetBeforeRequest;
  if (one.what == Break::kNone) return {"committed", true};
  if (one.place->text.empty()) {
    switch (trial.on_idle_break) {
      case OnIdleBreak::kSeen:
        return {"aborted", false};
      case OnIdleBreak::kReplaced:
        return {"committed", true};
      case OnIdleBreak::kInTheBack:
        return {};
    }
  }
  if (!one.place->decides) return {"aborted", false};
  // The session goes on by a new connection, and what still comes by the old one may be dropped.
  if (trial.on_idle_break == OnIdleBreak::kInTheBack && one.what == Break::kHoldRequest) {
    return {"unknown", std::nullopt};
  }
  return {"unknown", !not_sent};
}

std::string outcome_of(const Case& one) {
  if (!one.outcome) return "committed";
  return one.outcome->txn_outcome == TxnOutcome::kAborted ? "aborted" : "unknown";
}

class Outcomes : public ::testing::TestWithParam<std::size_t> {
 public:
  static void SetUpTestSuite() {
    std::map<lab::Kind, std::vector<const Trial*>> by_server;
    for (const auto& trial : trials()) by_server[trial.kind].push_back(&trial);
    std::vector<std::future<void>> running;
    std::mutex mutex;
    for (const auto& [kind, mine] : by_server) {
      running.push_back(std::async(std::launch::async, [&, kind = kind, mine = mine] {
        const auto server = lab::start(kind, {.durable = false});
        if (!server.ok()) throw std::runtime_error(server.error().to_string());
        for (const auto* trial : mine) {
          auto cases = Bench(*trial, server->port(), server->url()).run();
          const std::lock_guard lock(mutex);
          cases_[trial->name] = std::move(cases);
        }
      }));
    }
    for (auto& one : running) one.get();
  }

 protected:
  inline static std::map<std::string, std::vector<Case>> cases_;
};

TEST_P(Outcomes, AreWhatTheServerHas) {
  const auto& trial = trials()[GetParam()];
  const auto& cases = cases_[trial.name];
  ASSERT_FALSE(cases.empty());
  for (const auto& one : cases) {
    const auto when = fmt::format("{} {}: {}", trial.name, one.place->name, kBreaks.at(one.what));
    const auto should = expected(trial, one);
    const auto mine = fmt::format("{}={}", one.key, kValue);
    SCOPED_TRACE(fmt::format("{}: {}", when, shown(one.outcome)));
    EXPECT_TRUE(one.sprung);
    const auto outcome = outcome_of(one);
    EXPECT_EQ(outcome, should.outcome.value_or(outcome));
    const bool there = one.seen == mine;
    EXPECT_EQ(there, should.there.value_or(there)) << one.seen;
    EXPECT_EQ(one.seen, there ? mine : fmt::format("{}={}", one.key, kBefore));
    EXPECT_EQ(one.seen_later, one.seen);
    // The rule itself.
    EXPECT_FALSE(outcome == "aborted" && there);
    EXPECT_FALSE(outcome == "committed" && !there);
    if (one.outcome) {
      const bool late = one.what == Break::kHoldAnswer || one.what == Break::kHoldRequest;
      EXPECT_EQ(one.outcome->cause, late ? Cause::kTimeout : Cause::kConnection);
      EXPECT_TRUE(one.outcome->connection_lost);
      // Nothing is taken for the answer to what comes next.
      ASSERT_TRUE(one.next) << one.next_read;
      EXPECT_TRUE(one.next->connection_lost);
      EXPECT_EQ(one.next->txn_outcome, TxnOutcome::kAborted);
    } else {
      EXPECT_FALSE(one.next) << shown(one.next);
      EXPECT_EQ(one.next_read, "");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Drivers, Outcomes, ::testing::Range(std::size_t{0}, trials().size()),
                         [](const ::testing::TestParamInfo<std::size_t>& info) {
                           return trials()[info.param].name;
                         });

}  // namespace
}  // namespace cupel::drivers::testing
