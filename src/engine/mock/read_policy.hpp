// ReadPolicy: what a read of the open transaction returns, drawn from the admissible values.
//
// Uniform: tries the candidates in a random order, without repetition, until one is admissible. So
// each admissible write is equally likely, and only those that are tried are checked. Adversarial:
// a second checker at the next stronger level also holds the history, without the reads that left
// that level. A read that it rejects leaves the stronger level again.
#pragma once

#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/random.hpp"
#include "engine/mock/admissibility.hpp"
#include "engine/mock/transaction_log.hpp"

namespace cupel::mock {

class ReadPolicy {
 public:
  // Both outlive it. What happens is logged after the policy is asked.
  ReadPolicy(const Options& options, const TransactionLog& log, std::uint64_t seed);

  // Opens a transaction and selects it. Where they overlap, the others stay open.
  void begin(Txn t, Session session, Level level, std::optional<Policy> policy);
  // Which of the open transactions the calls below are about.
  void select(Txn open);
  std::uint32_t begin_statement(std::uint32_t commits) {
    return checker_->begin_statement(commits);
  }
  void continue_statement(std::uint32_t number) { checker_->continue_statement(number); }
  // What a read would return where that is no choice.
  std::optional<Txn> only_candidate(Key key) { return checker_->only_candidate(key); }
  // This version. False if the level does not allow that.
  bool read_version(Key key, Txn writer);
  // Of a key that the open transaction has not written, as of so many commits if it may still read
  // that. Nothing: the level does not allow it to commit any more.
  std::optional<Txn> read(Key key, std::uint32_t commits);
  // The version that was committed last. Nothing: the level does not allow that.
  std::optional<Txn> read_latest(Key key);
  // False if the level does not allow the open transaction to write the key.
  bool write(Key key);
  // False if the level does not let the open transaction lock the key.
  bool lock(Key key) { return checker_->try_lock(key); }
  // A committed transaction scanned and did not see the key, which nobody has written yet,
  // nor the open transaction read.
  void saw_absent(Key key, Txn reader);
  // False if the level does not allow it any more; it is to be aborted then.
  bool commit();
  void abort();
  [[nodiscard]] bool mixed() const { return kind_ == Kind::kMixed; }
  // Writes of the open transaction were removed from the log (ROLLBACK TO SAVEPOINT). False if the
  // level does not allow the rest any more.
  bool writes_removed();

 private:
  struct StrongerChecker {
    std::unique_ptr<AdmissibilityChecker> checker;
    std::vector<bool> known;  // by txn: it has it
    bool live = false;        // it has the open one
  };
  struct Parked {  // open, and not selected
    Session session;
    Level level;
    std::optional<Policy> policy;
    bool stronger;
  };

  void check_at(Level level);
  Session number(Session session);
  Policy draw_policy();
  std::size_t draw_effort();
  void park();
  void to_mixed();
  std::unique_ptr<AdmissibilityChecker> new_checker(Level level) const;
  std::optional<Txn> choose(Key key);
  std::optional<Txn> enumerated(Key key);
  std::optional<Txn> uniform();
  std::optional<Txn> latest();
  std::optional<Txn> adversarial(Key key);
  void start_stronger(Level level);
  void stronger_begin(Txn t);
  bool stronger_read(Key key, Txn writer);
  void stronger_write(Key key);
  void stronger_end(Txn t, bool committed);
  bool try_read(Txn writer);
  bool read_again(Key key, Txn writer);
  bool repeat(AdmissibilityChecker& checker, Txn t);

  // AdmissibilityChecker::set_effort().
  static constexpr std::size_t kAnyEffort = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t kStrongerEffort = 2048;

  const Options& options_;
  const TransactionLog& log_;
  base::Random random_, efforts_;
  std::unique_ptr<AdmissibilityChecker> checker_;
  enum class Kind : std::uint8_t { kWeak, kOrder, kMixed, kVersioned } kind_ = Kind::kWeak;
  Level order_level_ = Level::kPrefix;  // kOrder
  std::map<Txn, Parked> parked_;
  bool open_ = false;  // a transaction is selected
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
