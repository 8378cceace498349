// What the tests of real servers over the mock store share: stores, and programs of several clients
// in which an anomaly shows.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <barrier>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/process.hpp"
#include "data/history/history.hpp"
#include "engine/check/check.hpp"
#include "engine/levels/level.hpp"
#include "engine/mock/store.hpp"
#include "mock/engines/sql_engine.hpp"

namespace cupel::test {

// A database in one place: every transaction sees what was committed last.
inline mock::Options in_one_place() {
  mock::Options options;
  options.level = mock::Level::kStrongSessionSerializable;
  options.overlap = true;
  options.choose = [](std::size_t allowed) { return allowed - 1; };
  return options;
}

inline mock::Options at(mock::Level level, std::uint64_t seed = 1) {
  mock::Options options;
  options.level = level;
  options.overlap = true;
  options.seed = seed;
  return options;
}

// Tests of one server, which `start_engine` makes of a store in one place.
template <typename Engine, std::unique_ptr<Engine> (*start_engine)(const typename Engine::Options&)>
class WeakEngineTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { engine_ = start_engine({.store = in_one_place()}); }
  static void TearDownTestSuite() { engine_.reset(); }
  static void start_over(const mock::Options& options) {
    ASSERT_NE(engine_, nullptr);
    const auto ready = engine_->start_over(options);
    ASSERT_TRUE(ready.ok()) << ready.error().to_string();
  }
  static inline std::unique_ptr<Engine> engine_;
};

// What a program prints, its errors too.
inline std::string output_of(const std::vector<std::string>& command) {
  auto process = base::Process::start(
      {.arguments = command, .output = base::Stream::pipe(), .errors = base::Stream::output()});
  EXPECT_TRUE(process.ok());
  auto text = process->read_all(base::Seconds(120)).value_or("timeout");
  process->wait(base::Seconds(10));
  return text;
}

// The history of what the clients did satisfies the level. They are gone then.
inline void expect_within(engines::SqlEngine& engine, mock::Level level) {
  const auto ended = engine.end_clients();
  ASSERT_TRUE(ended.ok()) << ended.error().to_string();
  const auto history = engine.store().history();
  ASSERT_TRUE(history.ok()) << history.error().to_string();
  check::Options asked;
  asked.asked = {*levels::parse_level(mock::name(level))};
  EXPECT_NE(check::check(*history, asked).levels.front().verdict, check::Verdict::kViolated)
      << mock::name(level);
}

// Each counts in how many tries its anomaly shows. A client's run() returns "a|b;c|d", the rows, or
// "!SQLSTATE". The table is item(id, n), with 0 in the rows 1 to 279.
inline constexpr int kTries = 40;

// Adds one to what the client has read, which it returns, or "conflict".
template <typename Client>
std::string read_and_write(Client& client, int id) {
  const auto where = " WHERE id = " + std::to_string(id);
  client.run("BEGIN");
  const auto seen = client.run("SELECT n FROM item" + where);
  const auto sum = std::to_string(std::atoi(seen.c_str()) + 1);
  const bool well =
      client.run("UPDATE item SET n = " + sum + where).empty() && client.run("COMMIT").empty();
  return well ? seen : client.run("ROLLBACK") + "conflict";
}

template <typename Client>
int lost_updates(Client& a, Client& b) {
  int found = 0;
  for (int i = 1; i <= kTries; ++i)
    found += read_and_write(a, i) == "0" && read_and_write(b, i) == "0";
  return found;
}

// Adds one to the row, again if that is refused: by a read that locks it (" FOR UPDATE"), or else
// in one statement.
template <typename Client>
bool sell_one(Client& client, int id, const std::string& lock) {
  const auto where = " WHERE id = " + std::to_string(id);
  for (int tries = 0; tries < 1000; ++tries) {
    std::string sold = "n + 1";
    std::string outcome = client.run("BEGIN");
    if (!lock.empty()) {
      outcome = client.run("SELECT n + 1 FROM item" + where + lock);
      sold = outcome;
    }
    if (!outcome.starts_with('!')) outcome = client.run("UPDATE item SET n = " + sold + where);
    if (outcome.empty()) outcome = client.run("COMMIT");
    if (outcome.empty()) return true;
    client.run("ROLLBACK");
    if (outcome != "!40001") return false;
  }
  return false;
}

// Two customers buy of one item at the same time, each so often. None is sold twice.
template <typename MakeClient>
void expect_sold_once(const MakeClient& make_client, int id, int iterations,
                      const std::string& lock) {
  constexpr int kCustomers = 2;
  std::atomic<int> failed = 0;
  std::vector<std::thread> threads;
  for (int c = 0; c < kCustomers; ++c) {
    threads.emplace_back([&, c] {
      const auto client = make_client("customer" + std::to_string(c));
      for (int i = 0; i < iterations; ++i) failed += !sell_one(*client, id, lock);
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(make_client("owner")->run("SELECT n FROM item WHERE id = " + std::to_string(id) +
                                      " FOR UPDATE"),
            std::to_string(kCustomers * iterations));
}

template <typename Client>
int write_skews(Client& a, Client& b) {
  int found = 0;
  for (int i = 0; i < kTries; ++i) {
    const auto x = std::to_string(100 + 2 * i), y = std::to_string(101 + 2 * i);
    const auto both = "SELECT sum(n) FROM item WHERE id IN (" + x + ", " + y + ")";
    const auto change = [&](Client& client, const std::string& id) {
      client.run("BEGIN");
      const auto seen = client.run(both);
      client.run("UPDATE item SET n = 1 WHERE id = " + id);
      return client.run("COMMIT").empty() ? seen : "conflict";
    };
    found += change(a, x) == "0" && change(b, y) == "0";
  }
  return found;
}

template <typename Client>
int long_forks(const std::array<std::unique_ptr<Client>, 4>& clients) {
  int found = 0;
  for (int i = 0; i < kTries; ++i) {
    const auto x = std::to_string(200 + 2 * i), y = std::to_string(201 + 2 * i);
    clients[0]->run("UPDATE item SET n = 1 WHERE id = " + x);
    clients[1]->run("UPDATE item SET n = 1 WHERE id = " + y);
    const auto both = "SELECT n FROM item WHERE id IN (" + x + ", " + y + ") ORDER BY id";
    const auto first = clients[2]->run(both), second = clients[3]->run(both);
    found += (first == "1;0" && second == "0;1") || (first == "0;1" && second == "1;0");
  }
  return found;
}

// What the level allows shows, and nothing else.
template <typename Client>
void expect_anomalies_of(mock::Level level, const std::array<std::unique_ptr<Client>, 4>& clients) {
  using mock::Level;
  const int lost = lost_updates(*clients[0], *clients[1]);
  const int skews = write_skews(*clients[0], *clients[1]);
  const int forks = long_forks(clients);
  EXPECT_EQ(lost > 0, level <= Level::kPrefix) << lost;
  EXPECT_EQ(skews > 0, level <= Level::kStrongSessionSnapshotIsolation) << skews;
  EXPECT_EQ(forks > 0, level <= Level::kCausal) << forks;
}

// Two clients register the same name at the same time, each after it has looked for the name. In
// every second round they insert after both have looked, else as soon as they can. The table is
// member(id, name), without a unique name; `first` makes the names of rounds different.
template <typename MakeClient>
void register_twice(const MakeClient& client, int first, int rounds) {
  std::barrier together(2);
  const auto work = [&](const std::string& name) {
    const auto own = client(name);
    for (int round = first; round < first + rounds; ++round) {
      const auto who = "'round " + std::to_string(round) + ".'";
      together.arrive_and_wait();
      own->run("BEGIN");
      const auto found = own->run("SELECT count(*) FROM member WHERE name = " + who);
      if (round % 2 == 0) together.arrive_and_wait();
      if (found == "0") {
        EXPECT_EQ(own->run("INSERT INTO member (name) VALUES (" + who + ")"), "");
      }
      EXPECT_EQ(own->run("COMMIT"), "");
    }
  };
  std::thread other([&] { work("other"); });
  work("one");
  other.join();
}

// Of each round in which both registered, the history has both scans: each of the two transactions
// has read that the other's row is not there. Gives the number of these rounds; the clients are
// gone then.
inline int rounds_with_both_scans(engines::SqlEngine& engine) {
  EXPECT_TRUE(engine.end_clients().ok());
  const auto history = engine.store().history();
  EXPECT_TRUE(history.ok());
  if (!history.ok()) return 0;
  struct Insertion {
    history::TxnId txn;
    history::KeyId row;
  };
  std::map<std::string, std::vector<Insertion>> by_name;
  for (std::uint32_t i = 0; i < history->txn_count(); ++i) {
    const history::TxnId txn(i);
    for (auto at = history->first_op(txn); at < history->last_op(txn); ++at) {
      const auto op = history->op(history::OpId(at));
      if (op.kind != history::OpKind::kWrite) continue;
      const std::string text(history->value(op.value).text);
      const auto name = text.find("round ");
      if (name != std::string::npos)
        by_name[text.substr(name, text.find('.', name) - name)].push_back({txn, op.key});
    }
  }
  const auto missed = [&](const Insertion& reader, const Insertion& inserter) {
    for (auto at = history->first_op(reader.txn); at < history->last_op(reader.txn); ++at) {
      const auto op = history->op(history::OpId(at));
      if (op.kind == history::OpKind::kRead && op.key == inserter.row &&
          op.value == history->null_value())
        return true;
    }
    return false;
  };
  int both = 0;
  for (const auto& [name, insertions] : by_name) {
    if (insertions.size() < 2) continue;
    EXPECT_EQ(insertions.size(), 2u) << name;
    const bool whole = missed(insertions[0], insertions[1]) && missed(insertions[1], insertions[0]);
    EXPECT_TRUE(whole) << name << ": the history lacks a scan";
    both += whole ? 1 : 0;
  }
  return both;
}

}  // namespace cupel::test
