// Prefix, snapshot isolation and serializability: a witness, and what is forced.
//
// The history is within these levels iff its events (begin and commit, or one of a
// transaction) have an order with the properties of docs/reference/levels.md. Two things are kept:
//
//   witness   such an order of the committed transactions. A read that has a place for the
//             open transaction in it is allowed: an intersection of intervals.
//   forced    arcs between events that hold in every such order, closed under the rules
//             of saturation (docs/internals/algorithms/saturation.md), as clocks: for each event
//             how far into each session its past reaches. A read that closes a cycle is not.
//
// What neither settles is asked of a schedule, which orders the events again from where
// the witness gets in the way, greedily along the old one, and at last of the engine
// (order::decide), which is exact, about larger and larger parts of the witness from its end,
// as far as effort() goes. Either's order is the new witness.
//
// The open transaction's arcs and clocks are undone, the last first, when a try fails or
// it aborts: every change leaves its undoing in a log.
#pragma once

#include <algorithm>
#include <cassert>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "base/hash_table.hpp"
#include "engine/mock/admissibility.hpp"

namespace cupel::mock {

class OrderAdmissibility final : public AdmissibilityChecker {
 public:
  explicit OrderAdmissibility(Level level)
      : split_(level != Level::kStrongSessionSerializable),
        first_wins_(level == Level::kStrongSessionSnapshotIsolation) {}

  void begin(Txn t, Session session, Level level) override;
  void candidates(Key key, std::vector<Txn>& found) override;
  Txn latest(Key key) override {
    const auto& order = facts(key).in_witness;
    return order.empty() ? kInitial : order.back();
  }
  bool try_read(Key key, Txn writer) override;
  void undo_last() override { undo_to(saved_); }
  bool try_write(Key key) override;
  void saw_absent(Key key, Txn reader) override;
  bool commit() override;
  void abort() override;
  [[nodiscard]] std::vector<Txn> order() const override {
    std::vector<Txn> found;
    for (const Event e : witness_) {
      if (writes_at(e)) found.push_back(e / 2);
    }
    return found;
  }

 private:
  using Event = std::uint32_t;    // begin of t: 2t; commit: 2t + 1, or 2t where they are one
  using Version = std::uint32_t;  // what a transaction, or nobody, wrote to a key
  using Position =
      std::uint32_t;  // in a session: begin 2i and commit 2i + 1 of its i-th; in the witness
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  using Clock = std::vector<Position>;  // by session: events at smaller places are in the past

  struct LastReader {
    Session session;
    Txn txn;
  };
  struct VersionFacts {
    Key key;
    Txn writer;
    std::vector<LastReader> readers;  // of each session the last
  };
  struct SessionTxns {
    Session session;
    std::vector<Txn> all;
  };
  struct KeyFacts {
    Version initial = kNone;
    std::vector<SessionTxns> writers, readers;  // by session, in its order; the open one included
    std::vector<Txn> in_witness;                // committed writers, in the order of the witness
  };
  struct Access {
    Key key;
    Version version;
  };
  struct TxnState {
    Session session = 0;
    std::uint32_t index = 0;  // in its session
    bool committed = false;
    std::vector<Access> reads;  // one a key
    std::vector<Access> writes;
  };

  struct Undo {
    enum class What : std::uint8_t { kClock, kArc, kRead, kReader, kKeyReader, kWrite } what;
    std::uint32_t a = 0, b = 0, c = 0;
  };
  struct Arc {
    Event from, to;
  };
  struct Insertion {
    std::size_t begin, commit;  // inserted before the witness's event at this place
  };

  [[nodiscard]] Event begin_of(Txn t) const { return 2 * t; }
  [[nodiscard]] Event commit_of(Txn t) const { return split_ ? 2 * t + 1 : 2 * t; }
  // Where an arc from an earlier version's commit ends.
  [[nodiscard]] Event target_of(Txn t) const { return first_wins_ ? 2 * t : commit_of(t); }
  [[nodiscard]] const TxnState& of(Event e) const { return known_[e / 2]; }
  [[nodiscard]] Position position(Event e) const { return 2 * of(e).index + (e & 1); }
  [[nodiscard]] Position clock(Event e, Session s) const {
    const Clock& c = clocks_[e];
    return s < c.size() ? c[s] : 0;
  }
  [[nodiscard]] bool before(Event a, Event b) const {
    return clock(b, of(a).session) > position(a);
  }
  [[nodiscard]] bool reads_from(Event e) const { return !split_ || (e & 1) == 0; }
  [[nodiscard]] bool writes_at(Event e) const { return !split_ || (e & 1) == 1; }

  KeyFacts& facts(Key key) {
    if (key >= keys_.size()) keys_.resize(key + 1);
    KeyFacts& k = keys_[key];
    if (k.initial == kNone) {
      k.initial = static_cast<Version>(versions_.size());
      versions_.push_back({key, kInitial, {}});
    }
    return k;
  }
  [[nodiscard]] Version version(Key key, Txn writer) {
    if (writer == kInitial) return facts(key).initial;
    const auto found = written_.find({key, writer});
    assert(found != written_.end() && "a writer of the key wrote it");
    return found->second;
  }
  static std::vector<Txn>& in_session(std::vector<SessionTxns>& all, Session session) {
    for (auto& part : all) {
      if (part.session == session) return part.all;
    }
    all.push_back({session, {}});
    return all.back().all;
  }
  // The last of these whose event, `which` of the transaction, is at a smaller place.
  template <typename Which>
  [[nodiscard]] Txn last_before(const std::vector<Txn>& all, Position until, Which which) const {
    const auto end = std::partition_point(all.begin(), all.end(),
                                          [&](Txn t) { return position(which(t)) < until; });
    return end == all.begin() ? kInitial : *(end - 1);
  }

  // Of these committed writers the first at this place of the witness or later.
  [[nodiscard]] std::vector<Txn>::const_iterator in_witness_after(const std::vector<Txn>& order,
                                                                  std::size_t place) const {
    return std::partition_point(order.begin(), order.end(),
                                [&](Txn t) { return at_[commit_of(t)] < place; });
  }

  // ---- what is forced ----
  void add_later(Event from, Event to) { to_add_.push_back({from, to}); }
  bool drain();
  bool add(Event from, Event to);
  bool raise(Event event, const Clock& past, Session own, Position own_position);
  void consequences(Event event);
  bool read_forces(Key key, Version v);
  bool write_forces(Key key);
  void undo_to(std::size_t size);
  void undo_one(const Undo& undo);

  // ---- where it fits ----
  bool make_room();
  // What the open transaction's reads say of the place of its begin, and its writes of that of
  // its commit if the begin is at a place.
  struct BeginRange {
    std::size_t low = 0, high = 0;
  };
  struct CommitRange {
    std::size_t earliest = 0, latest = 0;  // of the commit
    std::size_t jump = kNone;              // where the begin may be better
    std::size_t change = 0;                // the last commit of a key before it
    bool initial_only = true;
  };
  // Of the first access, of the first two, and so on, as far as they were asked for.
  BeginRange begin_range();
  CommitRange commit_range(std::size_t place);
  CommitRange narrowed(const CommitRange& before, const Access& write, std::size_t place);
  void forget_ranges() {
    begin_ranges_.clear();
    commit_ranges_.clear();
  }
  std::optional<Insertion> find_insertion();
  class Schedule;  // order_schedule.cpp
  bool schedule(std::size_t from);
  bool search(std::size_t from);
  bool ask_engine(std::size_t from, std::uint64_t proposals);
  void set_witness(const std::vector<Event>& order);

  bool split_, first_wins_;
  std::vector<TxnState> known_;             // by Txn
  std::vector<std::vector<Txn>> sessions_;  // committed
  std::vector<KeyFacts> keys_;
  std::vector<VersionFacts> versions_;
  base::HashMap<std::pair<Key, Txn>, Version> written_;
  base::HashMap<Key, Version> open_reads_;
  std::vector<Clock> clocks_;            // by Event
  std::vector<std::vector<Event>> out_;  // forced arcs
  std::vector<Undo> undo_log_;
  std::size_t saved_ = 0;
  Txn txn_ = 0;

  std::vector<Arc> to_add_;  // forced, not yet added
  std::vector<Event> stack_;
  std::vector<std::pair<Session, Position>> changed_;
  bool impossible_ = false;  // a read of the initial version has a writer before it

  std::vector<Event> witness_;
  std::vector<Position> at_;  // by Event, in the witness
  // While the witness is as it is; of an open transaction, which may be long.
  static constexpr std::size_t kMostRanges = 16;
  std::vector<BeginRange> begin_ranges_;
  base::HashMap<std::size_t, std::vector<CommitRange>> commit_ranges_;  // by place
};

}  // namespace cupel::mock
