// Chooser: what a read of the open transaction returns, drawn from what the judge allows.
//
// Uniform: the candidates in a random order, without repetition, until one is allowed,
// so that each allowed write is equally likely however few they are, and only those tried
// are judged. Adversarial: a shadow, a second judge at the next stronger level, knows the
// history too, without the reads that left that level; what it refuses leaves it again.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "base/random.hpp"
#include "mock/judge.hpp"
#include "mock/ledger.hpp"

namespace cupel::mock {

class Chooser {
 public:
  // Both outlive it. The ledger is told what happens after the chooser is asked.
  Chooser(const Options& options, const Ledger& ledger, std::uint64_t seed);

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
  // The ledger took writes of the open transaction back.
  void taken_back();

 private:
  struct Shadow {
    std::unique_ptr<Judge> judge;
    std::vector<bool> known;  // by txn: it has it
    bool live = false;        // it has the open one
  };

  void judge_at(Level level);
  Session number(Session session);
  Policy draw_policy();
  std::size_t draw_effort();
  Txn enumerated(Key key);
  Txn uniform();
  Txn latest();
  Txn adversarial(Key key);
  void cast_shadow(Level level);
  void shadow_begin(Txn t);
  bool shadow_take(Key key, Txn writer);
  void shadow_write(Key key);
  void shadow_end(Txn t, bool committed);
  bool take(Txn writer);
  void retake(Key key, Txn writer);

  // Judge::set_effort().
  static constexpr std::size_t kAnyEffort = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t kShadowEffort = 2048;

  const Options& options_;
  const Ledger& ledger_;
  base::Random random_, efforts_;
  std::unique_ptr<Judge> judge_;
  enum class Kind : std::uint8_t { kWeak, kOrder, kMixed } kind_ = Kind::kWeak;
  Level order_level_ = Level::kPrefix;  // kOrder
  Txn txn_ = 0;
  Session session_ = 0;           // as the judges number it
  std::vector<Session> numbers_;  // by session: those that began a transaction, from 0
  Session next_number_ = 0;
  Level level_ = Level::kCausal;
  std::optional<Policy> policy_;
  Key key_ = 0;                  // that is being read
  std::vector<Txn> candidates_;  // of it
  Shadow shadow_;
};

}  // namespace cupel::mock
