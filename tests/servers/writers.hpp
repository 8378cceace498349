// Writers: sessions that each write keys of their own while a test breaks the servers, and what was
// reported to them.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <utility>
#include <vector>

#include "drivers/conformance.hpp"
#include "support/polling.hpp"

namespace cupel::drivers::testing {

class Writers {
 public:
  // Keys.
  struct Reported {
    std::vector<std::int64_t> committed, aborted, unknown;
  };
  // A connection; null if there is none at the moment.
  using Connect = std::function<std::unique_ptr<Connection>()>;

  Writers(std::int64_t sessions, Connect connect) : connect_(std::move(connect)) {
    constexpr std::int64_t kKeysOfASession = 1'000'000;
    for (std::int64_t session = 0; session < sessions; ++session) {
      sessions_.push_back(std::async(std::launch::async,
                                     [this, session] { return write(session * kKeysOfASession); }));
    }
  }
  Writers(const Writers&) = delete;
  Writers& operator=(const Writers&) = delete;
  ~Writers() { enough_ = true; }  // the futures wait

  [[nodiscard]] int failures() const { return failures_; }
  // Until so many more have committed, or one has failed; the sessions announce nothing else.
  [[nodiscard]] bool await_commits(int more) {
    return cupel::test::poll_until([&, goal = commits_ + more] { return commits_ >= goal; });
  }
  [[nodiscard]] bool await_failure() {
    return cupel::test::poll_until([&] { return failures_ > 0; });
  }
  // Ends them; of all sessions.
  Reported end() {
    enough_ = true;
    Reported all;
    for (auto& session : sessions_) {
      const auto one = session.get();
      for (auto list : {&Reported::committed, &Reported::aborted, &Reported::unknown}) {
        (all.*list).insert((all.*list).end(), (one.*list).begin(), (one.*list).end());
      }
    }
    sessions_.clear();
    return all;
  }

 private:
  Reported write(std::int64_t key) {
    Reported reported;
    std::unique_ptr<Connection> connection;
    for (; !enough_; ++key) {
      cupel::test::back_off(std::chrono::milliseconds(2));
      if (!connection) connection = connect_();
      if (!connection) continue;
      std::vector<workload::Reply> replies;
      const std::vector<workload::Statement> statements{testing::write(key, 1)};
      const auto failure = connection->transact(statements, replies);
      ++(failure ? failures_ : commits_);
      auto& list = !failure                                       ? reported.committed
                   : failure->txn_outcome == TxnOutcome::kAborted ? reported.aborted
                                                                  : reported.unknown;
      list.push_back(key);
      if (failure && (failure->connection_lost || failure->cause == Cause::kConnection)) {
        connection.reset();
      }
    }
    return reported;
  }

  Connect connect_;
  std::atomic<int> commits_ = 0, failures_ = 0;
  std::atomic<bool> enough_ = false;
  std::vector<std::future<Reported>> sessions_;
};

}  // namespace cupel::drivers::testing
