// Window: what a watch holds of a history that is still growing, and what it says of it.
//
// Transactions come in as they begin and end, each session's in order, the sessions in
// any interleaving. look() decides the level for all that has come, and then forgets
// what cannot matter any more (cut.hpp); each key starts with what the forgotten ones
// left. So what is held stays small, and look() says of it what a check of the whole
// history would say: docs/internals/algorithms/online.md has the proof.
//
//   Window window({.level = Level::kStrictSerializable});
//   const auto s = window.session("0");
//   window.begin(s, {.time = 10, .label = 0}, tried);
//   window.end(s, TxnStatus::kCommitted, {.time = 20, .label = 1}, seen);
//   Look look = window.look(budget);
//
// `sure` is false where something was forgotten on a bet (a session that comes back, an
// indeterminate transaction that is read after all): then a violation must be asked of
// the whole history, and is never reported by itself. Satisfied is always sure.
//
// A transaction that is still going on may yet end and say that a compare-and-set failed. A
// violation that rests on its success waits for the end (data/history/going_on.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/budget.hpp"
#include "base/verdict.hpp"
#include "data/history/builder.hpp"
#include "data/history/going_on.hpp"
#include "data/history/history.hpp"
#include "data/history/operations.hpp"
#include "data/history/state.hpp"
#include "data/history/streamed.hpp"
#include "engine/levels/decide.hpp"
#include "engine/online/cut.hpp"
#include "engine/online/evidence.hpp"
#include "engine/online/forgotten_ranges.hpp"
#include "engine/online/keys.hpp"

namespace cupel::online {

using Session = std::uint32_t;

struct WindowOptions {
  levels::Level level = levels::Level::kStrictSerializable;
  history::Time drift = 0;
  // Nothing is forgotten before so many sessions have ended a transaction, or are closed.
  std::size_t sessions = 0;
  // A session goes on under another name after a transaction whose outcome it does not know, as
  // Jepsen's do.
  bool doubt_ends_session = true;
  // An indeterminate transaction that nobody has read from stays for so many further ones.
  std::uint64_t forget_outcome_after = 200'000;
  // With more than that held after a look, undecided orders of blind writes are bet on.
  std::size_t bet_above = 100'000;
  // Not 0: the level is decided within any so many transactions in a row, and no further
  // (slide.cpp).
  std::size_t slide = 0;
  bool evidence = false;  // each look leaves it
};

// A range read of which nothing is known any more: it is left out.
inline bool is_unknown_range(const history::Operation& op) {
  return op.kind == history::OpKind::kRead && !op.key.valid();
}

using history::Moment;

struct Look {
  base::Verdict status = base::Verdict::kSatisfied;
  std::string detail;  // of what could not be decided, was refused, or is not sure
  bool sure = true;
};

struct Held {
  std::uint64_t transactions = 0;  // all that ended, but for aborted ones
  std::uint64_t committed = 0;     // of them
  std::uint64_t forgotten = 0;
  std::size_t held = 0;
  // Of those held, at the last look: see Cut.
  std::size_t uncovered = 0, undecided = 0, outcome = 0, open = 0;
  std::string doubt;  // why `sure` is false
};

// What a window knows of a session.
struct SessionFacts {
  std::string name;
  bool open = false, closed = false, began = false, never_closes = false, silent = false;
  Moment invoked;
  Operations tried;
  history::Time ended = history::kNoTime;
  std::uint32_t count = 0;      // of its transactions
  std::uint64_t forgotten = 0;  // of all sessions, when the last one was invoked
  // While a history is built.
  history::SessionId id;
};

// One that is held.
struct Transaction {
  Session session;
  history::TxnStatus status;
  history::Time invoke, complete;
  std::uint32_t label, place;
  std::uint64_t born;               // how many had come before
  std::uint64_t number = 0;         // in the source, for the evidence
  std::size_t first = 0, last = 0;  // of fresh_operations_
  bool open = false;
};

class Window {
 public:
  explicit Window(const WindowOptions& options)
      : options_(options), level_(options.level), slide_(options.slide) {}

  [[nodiscard]] history::Time drift() const { return options_.drift; }
  [[nodiscard]] Keys& keys() { return keys_; }
  [[nodiscard]] const Keys& keys() const { return keys_; }
  void set_default_initial(history::ScalarView value);
  // What a key holds before its first transaction.
  void set_initial(Key key, history::ScalarView value);

  // Operations whose writes are initial values ended at this time. The latest of these times.
  history::Time note_set_up(history::Time ended) {
    return set_up_ended_ = std::max(set_up_ended_, ended);
  }

  // A session that has not been there before.
  Session session(std::string_view name);
  // The session tries these operations. It has nothing open.
  void begin(Session session, Moment at, const Operations& tried);
  // What it has begun may do anything: a violation that the writes of it would explain waits.
  void note_silent(Session session) { sessions_[session].silent = true; }
  // It has ended; `seen` also has what its reads saw. With begin() left out, it had no invocation.
  // `number`: in the source, of those that were not aborted; none: as they end here.
  void end(Session session, history::TxnStatus status, Moment at, const Operations& seen,
           std::optional<std::uint64_t> number = {});
  [[nodiscard]] std::size_t session_count() const { return sessions_.size(); }
  [[nodiscard]] bool is_open(Session session) const { return sessions_[session].open; }
  [[nodiscard]] const Operations& tried(Session session) const { return sessions_[session].tried; }
  // Nothing more comes of it (if something does, nothing is sure).
  void close(Session session);
  [[nodiscard]] bool is_closed(Session session) const { return sessions_[session].closed; }
  [[nodiscard]] history::Time last_end(Session session) const { return sessions_[session].ended; }
  // Of a source that is read ahead, and not in the order in which its transactions end here: what
  // was read up to now.
  struct ReadAhead {
    std::uint64_t transactions = 0;  // that were not aborted
    std::uint64_t counted = 0;       // digest, as of the last that was not aborted
    std::uint64_t all = 0;           // digest
  };
  void note_read(const ReadAhead& read) { read_ = read; }
  // No invocation that comes is before this.
  void set_no_earlier(history::Time time) { no_earlier_ = std::max(no_earlier_, time); }

  // `ended`: the history ends here, so what is going on counts as a check counts it, and is never
  // forgotten.
  Look look(base::Budget& budget, bool ended = false);
  // After a look that found a violation: what is held violates also this weaker level, without
  // session order or real time, by itself: whatever was forgotten, unless that wrote a value that
  // is held as well.
  [[nodiscard]] bool violates_alone(levels::Level level, base::Budget& budget) const;
  // Of the last look: a transaction that is going on has compare-and-sets that may still fail.
  [[nodiscard]] bool waits() const { return waits_; }
  // What the reads saw that are held counts as unknown from here on.
  void forget_reads();
  // Forgets all transactions that have ended, undecided. From here on the window slides (slide.cpp)
  // at `level`: it says nothing of the whole history but what it finds violated.
  void give_up(levels::Level level, std::size_t slide);
  [[nodiscard]] const Held& held() const { return held_; }
  // As it was looked at last: the part of the history that is held.
  [[nodiscard]] const history::History& history() const { return history_; }
  // How many transactions have come since the last look.
  [[nodiscard]] std::size_t fresh() const { return fresh_.size(); }

  // Of the last look, if it was satisfied; with the option `evidence`.
  [[nodiscard]] const std::optional<Evidence>& evidence() const { return evidence_; }
  // Of all that has come, also of what is open.
  [[nodiscard]] std::uint64_t digest_with_open() const;

  // What is held and what is known of the forgotten. Right after a look: fresh() is 0.
  void save(StateWriter& out) const;
  // Into a new window with the same options.
  void load(StateReader& in);

 private:
  void doubt(std::string why);
  // Whether an open transaction does not say what it may write.
  [[nodiscard]] bool any_silent() const;  // of what is open, or had an unknown outcome
  void digest(history::Fold& fold, Session session, history::TxnStatus status, history::Time invoke,
              history::Time complete, const Operations& operations) const;
  void note_evidence(const levels::Witness& witness);
  [[nodiscard]] std::vector<std::uint64_t> numbers() const;
  void note_began(SessionFacts& session, history::Time invoke);
  void save_transactions(StateWriter& out) const;
  void save_operation(StateWriter& out, const history::Operation& op) const;
  void load_sessions(StateReader& in);
  void load_transactions(StateReader& in);
  class Build;
  class Load;
  void build();
  [[nodiscard]] history::OpenCompares going_on() const;
  Look decide(const history::OpenCompares& open, bool may_forget, base::Budget& budget);
  Look slide(const history::OpenCompares& open, bool silent, base::Budget& budget);
  std::optional<Look> look_for_missing_key();
  void note_forgotten_ranges();
  void note_repeated_values(const levels::Decider& decider, const history::OpenCompares& open);
  void forget(const levels::Decider& decider, const levels::Witness& witness,
              const history::OpenCompares& open);
  [[nodiscard]] history::Time earliest() const;
  [[nodiscard]] bool all_seen() const;

  const WindowOptions options_;
  levels::Level level_;  // changed by give_up()
  std::size_t slide_;    // likewise
  Keys keys_;
  std::string default_text_;
  history::ScalarView default_initial_;
  std::vector<SessionFacts> sessions_;
  history::Time no_earlier_ = history::kNoTime;
  history::Time set_up_ended_ = history::kNoTime;
  history::Time cut_at_ = history::kNoTime;  // an invocation before it comes too late
  std::vector<Transaction> fresh_;
  Operations fresh_operations_;
  // As of the last look, by its transactions: who they are, and which stay.
  history::History history_;
  std::vector<Transaction> txns_;
  std::vector<std::uint8_t> kept_;
  std::vector<Key> key_of_;                     // by its keys
  std::vector<std::uint32_t> newly_forgotten_;  // by its keys: elements of lists
  ForgottenRanges forgotten_ranges_;
  Held held_;
  // With the option `evidence`: of what has ended, and as of the last that was not aborted.
  history::Fold digest_;
  std::uint64_t counted_digest_ = 0;
  std::optional<Evidence> evidence_;
  std::optional<ReadAhead> read_;
  std::size_t held_before_ = 0;  // after the look before
  bool waits_ = false;
  bool unsaid_ = false;  // what had an unknown outcome may have written what it does not say
};

}  // namespace cupel::online
