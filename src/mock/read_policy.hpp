// ReadPolicy: what a read of the open transaction returns, drawn from the admissible values.
//
// Uniform: tries the candidates in a random order, without repetition, until one is admissible. So
// each admissible write is equally likely, and only those that are tried are checked. Adversarial:
// a second checker at the next stronger level also holds the history, without the reads that left
// that level. A read that it rejects leaves the stronger level again.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "base/random.hpp"
#include "mock/admissibility.hpp"
#include "mock/transaction_log.hpp"

namespace cupel::mock {

class ReadPolicy {
 public:
  // Both outlive it. What happens is logged after the policy is asked.
  ReadPolicy(const Options& options, const TransactionLog& log, std::uint64_t seed);

  void begin(Txn t, Session session, Level level, std::optional<Policy> policy);
  // Of a key that the open transaction has not written.
  Txn read(Key key);
  // False if the level does not allow the open transaction to write the key.
  bool write(Key key);
  // A committed transaction scanned and did not see the key, which nobody has written yet,
  // nor the open transaction read.
  void saw_absent(Key key, Txn reader);
  void commit();
  void abort();
  [[nodiscard]] bool mixed() const { return kind_ == Kind::kMixed; }
  // Writes of the open transaction were removed from the log (ROLLBACK TO SAVEPOINT).
  void writes_removed();

 private:
  struct StrongerChecker {
    std::unique_ptr<AdmissibilityChecker> checker;
    std::vector<bool> known;  // by txn: it has it
    bool live = false;        // it has the open one
  };

  void check_at(Level level);
  Session number(Session session);
  Policy draw_policy();
  std::size_t draw_effort();
  Txn enumerated(Key key);
  Txn uniform();
  Txn latest();
  Txn adversarial(Key key);
  void start_stronger(Level level);
  void stronger_begin(Txn t);
  bool stronger_read(Key key, Txn writer);
  void stronger_write(Key key);
  void stronger_end(Txn t, bool committed);
  bool try_read(Txn writer);
  void read_again(Key key, Txn writer);

  // AdmissibilityChecker::set_effort().
  static constexpr std::size_t kAnyEffort = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t kStrongerEffort = 2048;

  const Options& options_;
  const TransactionLog& log_;
  base::Random random_, efforts_;
  std::unique_ptr<AdmissibilityChecker> checker_;
  enum class Kind : std::uint8_t { kWeak, kOrder, kMixed } kind_ = Kind::kWeak;
  Level order_level_ = Level::kPrefix;  // kOrder
  Txn txn_ = 0;
  Session session_ = 0;           // as the checkers number it
  std::vector<Session> numbers_;  // by session: those that began a transaction, from 0
  Session next_number_ = 0;
  Level level_ = Level::kCausal;
  std::optional<Policy> policy_;
  Key key_ = 0;                  // that is being read
  std::vector<Txn> candidates_;  // of it
  StrongerChecker stronger_;
};

}  // namespace cupel::mock
