// cupel: a database that behaves as badly as its isolation level allows, in memory.
//
// Code that is right only by luck fails under it within a few runs: each read returns one
// of all values that the level allows, chosen at random. Two clients withdraw 60 each from
// an account that holds 100:
//
//   std::string error;
//   auto store = cupel::MockStore::open({.level = cupel::Level::kCausal}, error);
//   if (!store) return error;
//   for (std::uint64_t seed = 1; seed <= 100; ++seed) {
//     store->reset(seed);
//     auto opening = store->begin("bank");
//     opening.write("balance", 100);
//     opening.commit();
//     std::int64_t paid = 0;
//     for (const char* client : {"alice", "bob"}) {
//       auto transaction = store->begin(client);
//       const auto seen = transaction.read("balance");
//       const auto* balance = seen ? std::get_if<std::int64_t>(&*seen) : nullptr;
//       if (balance == nullptr || *balance < 60) continue;  // destroyed: rolled back
//       transaction.write("balance", *balance - 60);
//       if (transaction.commit()) paid += 60;
//     }
//     if (paid <= 100) continue;
//     const auto history = store->history(error);
//     if (!history) return error;
//     const auto answer =
//         cupel::check_history(*history, {.levels = {cupel::Level::kSnapshotIsolation}});
//     return "paid " + std::to_string(paid) + ": " + answer.levels[0].anomalies[0].name;
//   }
//   return "never paid too much";
//
// It returns:
//
//   paid 120: lost-update
//
// Transactions run one after another: while one is open, begin() waits, first come first
// served. Weak behaviour needs no concurrency, since what a read may miss is decided by the
// history. One that keeps others waiting and asks for nothing during patience_s is rolled
// back. The order in which transactions come is the caller's; threads and delay_ms vary it,
// and interleave() draws it by the seed. mock_explore.hpp tries all of them.
//
// A store may be used by several threads, a transaction by one at a time. The same seed and
// the same calls in the same order give the same answers. Errors are reported by a sentence,
// never by an exception. Source: Biswas, thesis 2021, chapter 4 (MonkeyDB).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cupel/check.hpp"
#include "cupel/scalar.hpp"

namespace cupel {

// How a store behaves.
struct MockOptions {
  // Changes what reads may return. Read committed, read atomic, causal, prefix,
  // strong-session snapshot isolation or strong-session serializable; snapshot isolation
  // and serializable mean these two here.
  Level level = Level::kCausal;
  std::uint64_t seed = 0;
  // Changes which of it they do return. Weights of the ways to choose, one drawn for each
  // read: each allowed write as likely as any other; one of the freshest of each session;
  // one that leaves the next stronger level, if there is one.
  double uniform = 1, latest = 0, adversarial = 0;
  // Instead of chance: called where a read has more than one write to return, with their
  // number, and where more than one client of interleave() may go on; gives which, below
  // the number. It must not call the store.
  std::function<std::size_t(std::size_t allowed)> choose = {};
  double abort_rate = 0;  // share of commits that abort instead
  // Changes when.
  double delay_ms = 0;    // before a transaction queues: uniform in [0, delay_ms]
  double latency_ms = 0;  // before every read, write and commit
  double patience_s = 5;  // see above
};

// One transaction, open until it commits or fails. Destroyed while open: rolled back.
class MockTransaction {
 public:
  struct State;
  explicit MockTransaction(std::unique_ptr<State> state);
  MockTransaction(MockTransaction&&) noexcept;
  MockTransaction& operator=(MockTransaction&&) noexcept;
  ~MockTransaction();

  // Null is what a key holds that nobody wrote. None: the transaction is over.
  std::optional<Scalar> read(std::string_view key);
  // Writing null deletes. False: the transaction is over, perhaps because it read what
  // contradicts the write, as a serialization failure would.
  bool write(std::string_view key, const Scalar& value);
  // False: it was rolled back instead.
  bool commit();
  void rollback();
  // Writes since the savepoint are taken back; reads are not, since the client saw them.
  std::size_t savepoint();
  void rollback_to(std::size_t savepoint);
  // Every key with this prefix that anybody committed a write to, or this transaction
  // wrote, in the order of their bytes. read() returns their values.
  std::vector<std::string> keys_with_prefix(std::string_view prefix);
  // Why it is over, after a call above said so: a sentence. Empty while all is well.
  [[nodiscard]] std::string failure() const;

 private:
  std::unique_ptr<State> state_;
};

// The database. Cheap to move; transactions may outlive it, and have failed then.
class MockStore {
 public:
  struct State;
  // None, and why, if the level is not one of MockOptions::level or an option is out of range.
  static std::optional<MockStore> open(const MockOptions& options, std::string& error);
  explicit MockStore(std::unique_ptr<State> state);
  MockStore(MockStore&&) noexcept;
  MockStore& operator=(MockStore&&) noexcept;
  ~MockStore();

  // Waits for its turn. Sessions are identified by name; each sees its own transactions in
  // order. `level` is this transaction's own, one of those of MockOptions::level (else it
  // has failed at once, as with a name that is not UTF-8). After shut_down() the transaction has
  // failed.
  MockTransaction begin(std::string_view session, std::optional<Level> level = {});
  // The initial value of the key, instead of null: every session has seen it. Before the
  // first transaction, and again after a reset; false and nothing done if later.
  bool set_initial(std::string_view key, const Scalar& value);
  // Runs each function on a stack of its own (8 MiB), one at a time: where one calls begin(),
  // or ends, which of them goes on is drawn by the seed. So several clients are as repeatable
  // as one, and no order of their transactions is left out. Returns when all have ended;
  // throws what one of them threw. All run in the calling thread, whose thread_local variables
  // they share; a client that waits for another in any way but begin() waits for ever.
  void interleave(const std::vector<std::function<void()>>& clients);
  // Forgets everything, the history too, and starts again from this seed. Open
  // transactions fail.
  void reset(std::uint64_t seed);
  // Nobody waits any more.
  void shut_down();
  // The history of the store: every transaction that ended, aborted ones too. Satisfies the level.
  [[nodiscard]] std::optional<History> history(std::string& error) const;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace cupel
