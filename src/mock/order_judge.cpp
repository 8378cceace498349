// Prefix, snapshot isolation and serializability: a witness, and what is forced.
//
// The history is within these levels iff its events (begin and commit, or one of a
// transaction) have an order with the properties of docs/levels.md. Two things are kept:
//
//   witness   such an order of the committed transactions. A read that has a place for the
//             open transaction in it is allowed: an intersection of intervals.
//   forced    arcs between events that hold in every such order, closed under the rules
//             of saturation (docs/algorithms/saturation.md), as clocks: for each event how
//             far into each session its past reaches. A read that closes a cycle is not.
//
// What neither settles is asked of a schedule, which orders the events again from where
// the witness gets in the way, greedily along the old one, and at last of the engine
// (order::decide), which is exact, about larger and larger parts of the witness from its end,
// as far as effort() goes. Either's order is the new witness.
//
// The open transaction's arcs and clocks are undone, the last first, when a try fails or
// it aborts: every change leaves its undoing in a log.
#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <cassert>
#include <limits>
#include <optional>
#include <queue>
#include <utility>

#include "mock/judge.hpp"
#include "order/problem.hpp"

namespace cupel::mock {

namespace {

using Event = std::uint32_t;    // begin of t: 2t; commit: 2t + 1, or 2t where they are one
using Version = std::uint32_t;  // what a transaction, or nobody, wrote to a key
using Place =
    std::uint32_t;  // in a session: begin 2i and commit 2i + 1 of its i-th; in the witness
constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
using Clock = std::vector<Place>;  // by session: events at smaller places are in the past

struct LastReader {
  Session session;
  Txn txn;
};
struct VersionFacts {
  Key key;
  Txn writer;
  std::vector<LastReader> readers;  // of each session the last
};
struct OfSession {
  Session session;
  std::vector<Txn> all;
};
struct KeyFacts {
  Version initial = kNone;
  std::vector<OfSession> writers, readers;  // by session, in its order; the open one included
  std::vector<Txn> in_witness;              // committed writers, in the order of the witness
};
struct Access {
  Key key;
  Version version;
};
struct Known {
  Session session = 0;
  std::uint32_t index = 0;  // in its session
  bool committed = false;
  std::vector<Access> reads;  // one a key
  std::vector<Access> writes;
};

class OrderJudge final : public Judge {
 public:
  explicit OrderJudge(Level level)
      : split_(level != Level::kStrongSessionSerializable),
        first_wins_(level == Level::kStrongSessionSnapshotIsolation) {}

  void begin(Txn t, Session session, Level level) override;
  void candidates(Key key, std::vector<Txn>& found) override;
  bool take(Key key, Txn writer) override;
  void untake() override { undo_to(saved_); }
  bool write(Key key) override;
  void saw_absent(Key key, Txn reader) override;
  void commit() override;
  void abort() override;
  [[nodiscard]] std::vector<Txn> order() const override {
    std::vector<Txn> found;
    for (const Event e : witness_) {
      if (writes_at(e)) found.push_back(e / 2);
    }
    return found;
  }

 private:
  struct Undo {
    enum class What : std::uint8_t { kClock, kArc, kRead, kReader, kKeyReader, kWrite } what;
    std::uint32_t a = 0, b = 0, c = 0;
  };
  struct ToAdd {
    Event from, to;
  };
  struct Spot {
    std::size_t begin, commit;  // inserted before the witness's event at this place
  };

  [[nodiscard]] Event begin_of(Txn t) const { return 2 * t; }
  [[nodiscard]] Event commit_of(Txn t) const { return split_ ? 2 * t + 1 : 2 * t; }
  // Where an arc from an earlier version's commit ends.
  [[nodiscard]] Event target_of(Txn t) const { return first_wins_ ? 2 * t : commit_of(t); }
  [[nodiscard]] const Known& of(Event e) const { return known_[e / 2]; }
  [[nodiscard]] Place place(Event e) const { return 2 * of(e).index + (e & 1); }
  [[nodiscard]] Place clock(Event e, Session s) const {
    const Clock& c = clocks_[e];
    return s < c.size() ? c[s] : 0;
  }
  [[nodiscard]] bool before(Event a, Event b) const { return clock(b, of(a).session) > place(a); }
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
  static std::vector<Txn>& in_session(std::vector<OfSession>& all, Session session) {
    for (auto& part : all) {
      if (part.session == session) return part.all;
    }
    all.push_back({session, {}});
    return all.back().all;
  }
  // The last of these whose event, `which` of the transaction, is at a smaller place.
  template <typename Which>
  [[nodiscard]] Txn last_before(const std::vector<Txn>& all, Place until, Which which) const {
    const auto end = std::partition_point(all.begin(), all.end(),
                                          [&](Txn t) { return place(which(t)) < until; });
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
  bool raise(Event event, const Clock& past, Session own, Place own_place);
  void consequences(Event event);
  bool read_forces(Key key, Version v);
  bool write_forces(Key key);
  void undo_to(std::size_t size);
  void undo_one(const Undo& undo);

  // ---- where it fits ----
  bool settle();
  // What the open transaction's reads say of the place of its begin, and its writes of that of
  // its commit if the begin is at a place.
  struct Between {
    std::size_t low = 0, high = 0;
  };
  struct ByWrites {
    std::size_t earliest = 0, latest = 0;  // of the commit
    std::size_t jump = kNone;              // where the begin may be better
    std::size_t change = 0;                // the last commit of a key before it
    bool initial_only = true;
  };
  // Of the first access, of the first two, and so on, as far as they were asked for.
  Between between();
  ByWrites by_writes(std::size_t place);
  ByWrites with_write(const ByWrites& before, const Access& write, std::size_t place);
  void forget_places() {
    between_.clear();
    by_writes_.clear();
  }
  std::optional<Spot> spot();
  bool schedule(std::size_t from);
  bool run_schedule(std::size_t from, std::vector<ToAdd>& turned);
  bool search(std::size_t from);
  bool ask_engine(std::size_t from, std::uint64_t proposals);
  void take_witness(const std::vector<Event>& order);

  bool split_, first_wins_;
  std::vector<Known> known_;                // by Txn
  std::vector<std::vector<Txn>> sessions_;  // committed
  std::vector<KeyFacts> keys_;
  std::vector<VersionFacts> versions_;
  absl::flat_hash_map<std::pair<Key, Txn>, Version> written_;
  absl::flat_hash_map<Key, Version> open_reads_;
  std::vector<Clock> clocks_;            // by Event
  std::vector<std::vector<Event>> out_;  // forced arcs
  std::vector<Undo> log_;
  std::size_t saved_ = 0;
  Txn txn_ = 0;

  std::vector<ToAdd> to_add_;  // forced, not yet added
  std::vector<Event> stack_;
  std::vector<std::pair<Session, Place>> changed_;
  bool impossible_ = false;  // a read of the initial version has a writer before it

  std::vector<Event> witness_;
  std::vector<Place> at_;  // by Event, in the witness
  // While the witness is as it is; of an open transaction, which may be long.
  static constexpr std::size_t kPlaces = 16;
  std::vector<Between> between_;
  absl::flat_hash_map<std::size_t, std::vector<ByWrites>> by_writes_;  // by place
};

void OrderJudge::begin(Txn t, Session session, Level /*level*/) {
  txn_ = t;
  known_.resize(t + 1);
  clocks_.resize(2 * t + 2);
  out_.resize(2 * t + 2);
  at_.resize(2 * t + 2, kNone);
  if (session >= sessions_.size()) sessions_.resize(session + 1);
  Known& k = known_[t];
  k.session = session;
  k.index = static_cast<std::uint32_t>(sessions_[session].size());
  log_.clear();
  to_add_.clear();
  impossible_ = false;
  open_reads_.clear();
  forget_places();
  if (k.index > 0) add(commit_of(sessions_[session].back()), begin_of(t));
  if (split_) add(begin_of(t), commit_of(t));
}

// Candidates: not before a writer that the transaction must see, in any order.
void OrderJudge::candidates(Key key, std::vector<Txn>& found) {
  found.clear();
  const auto read = open_reads_.find(key);
  if (read != open_reads_.end()) return found.push_back(versions_[read->second].writer);
  KeyFacts& k = facts(key);
  Clock behind;  // places of commits' targets that are before a writer that must be seen
  bool seen = false;
  for (const OfSession& part : k.writers) {
    const Txn last = last_before(part.all, clock(begin_of(txn_), part.session),
                                 [&](Txn t) { return commit_of(t); });
    if (last == kInitial) continue;
    seen = true;
    const Clock& past = clocks_[commit_of(last)];
    if (behind.size() < past.size()) behind.resize(past.size(), 0);
    for (std::size_t s = 0; s < past.size(); ++s) {
      // Its own begin is no reason against itself.
      const Place place = s == part.session ? std::min(past[s], 2 * known_[last].index) : past[s];
      behind[s] = std::max(behind[s], place);
    }
  }
  if (!seen) found.push_back(kInitial);
  for (const OfSession& part : k.writers) {
    const Place from = part.session < behind.size() ? behind[part.session] : 0;
    for (auto w = part.all.rbegin(); w != part.all.rend() && place(target_of(*w)) >= from; ++w) {
      if (*w != txn_) found.push_back(*w);
    }
  }
  std::sort(found.begin(), found.end(), [](Txn a, Txn b) { return a + 1 < b + 1; });
}

bool OrderJudge::take(Key key, Txn writer) {
  saved_ = log_.size();
  const auto read = open_reads_.find(key);
  if (read != open_reads_.end()) return versions_[read->second].writer == writer;
  KeyFacts& k = facts(key);
  const Version v = version(key, writer);
  known_[txn_].reads.push_back({key, v});
  open_reads_.emplace(key, v);
  log_.push_back({Undo::What::kRead});
  const Session session = known_[txn_].session;
  auto& readers = versions_[v].readers;
  const auto of_session = std::find_if(readers.begin(), readers.end(),
                                       [&](const LastReader& r) { return r.session == session; });
  if (of_session == readers.end()) {
    log_.push_back({Undo::What::kReader, v, kNone});
    readers.push_back({session, txn_});
  } else {
    log_.push_back({Undo::What::kReader, v,
                    static_cast<std::uint32_t>(of_session - readers.begin()), of_session->txn});
    of_session->txn = txn_;
  }
  in_session(k.readers, session).push_back(txn_);
  log_.push_back({Undo::What::kKeyReader, key});
  if (read_forces(key, v) && settle()) return true;
  undo_to(saved_);
  return false;
}

bool OrderJudge::write(Key key) {
  saved_ = log_.size();
  KeyFacts& k = facts(key);
  const auto v = static_cast<Version>(versions_.size());
  if (!written_.emplace(std::pair(key, txn_), v).second) return true;
  known_[txn_].writes.push_back({key, v});
  versions_.push_back({key, txn_, {}});
  in_session(k.writers, known_[txn_].session).push_back(txn_);
  log_.push_back({Undo::What::kWrite, key});
  if (write_forces(key) && settle()) return true;
  undo_to(saved_);
  return false;
}

// Nothing is forced, since nobody has written the key; and nothing is to be undone.
void OrderJudge::saw_absent(Key key, Txn reader) {
  KeyFacts& k = facts(key);
  const Session session = known_[reader].session;
  known_[reader].reads.push_back({key, k.initial});
  auto& last = versions_[k.initial].readers;
  const auto of_session = std::find_if(last.begin(), last.end(),
                                       [&](const LastReader& r) { return r.session == session; });
  if (of_session == last.end()) {
    last.push_back({session, reader});
  } else {
    of_session->txn = std::max(of_session->txn, reader);
  }
  auto& all = in_session(k.readers, session);
  all.insert(std::upper_bound(all.begin(), all.end(), reader), reader);
}

void OrderJudge::commit() {
  const auto where = spot();
  assert(where && "what was read and written has a place in the witness");
  const Event b = begin_of(txn_), c = commit_of(txn_);
  if (split_) witness_.insert(witness_.begin() + static_cast<std::ptrdiff_t>(where->commit), c);
  witness_.insert(witness_.begin() + static_cast<std::ptrdiff_t>(where->begin), b);
  for (std::size_t i = where->begin; i < witness_.size(); ++i)
    at_[witness_[i]] = static_cast<Place>(i);
  for (const Access& w : known_[txn_].writes) {
    auto& order = keys_[w.key].in_witness;
    order.insert(std::partition_point(order.begin(), order.end(),
                                      [&](Txn t) { return at_[commit_of(t)] < at_[c]; }),
                 txn_);
  }
  known_[txn_].committed = true;
  sessions_[known_[txn_].session].push_back(txn_);
  log_.clear();
}

void OrderJudge::abort() {
  undo_to(0);
  known_[txn_] = {};
}

// ---- what is forced ----

// Adds what is to be added, and what that forces, until nothing is left.
bool OrderJudge::drain() {
  while (!to_add_.empty() && !impossible_) {
    const ToAdd arc = to_add_.back();
    to_add_.pop_back();
    if (!add(arc.from, arc.to)) impossible_ = true;
  }
  const bool possible = !impossible_;
  to_add_.clear();
  impossible_ = false;
  return possible;
}

bool OrderJudge::add(Event from, Event to) {
  if (from == to || before(to, from)) return false;
  if (before(from, to)) return true;
  out_[from].push_back(to);
  log_.push_back({Undo::What::kArc, from});
  if (!raise(to, clocks_[from], of(from).session, place(from))) return false;
  // Depth first; each event takes over the clock of what is before it.
  stack_.assign(1, to);
  while (!stack_.empty()) {
    const Event event = stack_.back();
    stack_.pop_back();
    for (const Event next : out_[event]) {
      const auto changes = log_.size();
      if (!raise(next, clocks_[event], of(event).session, place(event))) return false;
      if (log_.size() != changes) stack_.push_back(next);
    }
  }
  return true;
}

// False: a cycle. Logs what it changes, and notes what that forces.
bool OrderJudge::raise(Event event, const Clock& past, Session own, Place own_place) {
  Clock& mine = clocks_[event];
  const auto size = std::max<std::size_t>(past.size(), own + 1);
  if (mine.size() < size) mine.resize(size, 0);
  changed_.clear();
  const auto lift = [&](Session s, Place to) {
    if (mine[s] >= to) return;
    changed_.emplace_back(s, mine[s]);
    log_.push_back({Undo::What::kClock, event, s, mine[s]});
    mine[s] = to;
  };
  for (Session s = 0; s < past.size(); ++s) lift(s, past[s]);
  lift(own, own_place + 1);
  if (changed_.empty()) return true;
  if (clock(event, of(event).session) > place(event)) return false;
  consequences(event);
  return true;
}

// The clock of the event rose in the sessions changed_: who is new in its past?
void OrderJudge::consequences(Event event) {
  const Txn t = event / 2;
  if (reads_from(event)) {
    for (const Access& read : known_[t].reads) {
      const Txn w = versions_[read.version].writer;
      for (const OfSession& part : keys_[read.key].writers) {
        for (const auto& [session, was] : changed_) {
          if (session != part.session) continue;
          // A writer that is seen is before the one that was read.
          const Txn k =
              last_before(part.all, clock(event, session), [&](Txn x) { return commit_of(x); });
          if (k == kInitial || k == w || k == t || place(commit_of(k)) < was) continue;
          if (w == kInitial) {
            impossible_ = true;
            return;
          }
          add_later(commit_of(k), target_of(w));
        }
      }
    }
  }
  if (writes_at(event)) {
    for (const Access& write : known_[t].writes) {
      for (const OfSession& part : keys_[write.key].writers) {
        for (const auto& [session, was] : changed_) {
          if (session != part.session) continue;
          const Txn w =
              last_before(part.all, clock(event, session), [&](Txn x) { return target_of(x); });
          if (w == kInitial || w == t || place(target_of(w)) < was) continue;
          if (first_wins_) add_later(commit_of(w), begin_of(t));
          for (const LastReader& r : versions_[version(write.key, w)].readers) {
            if (r.txn != t) add_later(begin_of(r.txn), commit_of(t));
          }
        }
      }
    }
  }
}

// The open transaction reads v: with what was in its past already, and before what
// overwrites v.
bool OrderJudge::read_forces(Key key, Version v) {
  const Txn w = versions_[v].writer;
  const Event b = begin_of(txn_);
  if (w != kInitial) add_later(commit_of(w), b);
  if (!drain()) return false;
  for (const OfSession& part : keys_[key].writers) {
    const Txn k =
        last_before(part.all, clock(b, part.session), [&](Txn x) { return commit_of(x); });
    if (k != kInitial && k != w && k != txn_) {
      if (w == kInitial) return false;
      add_later(commit_of(k), target_of(w));
    }
    // The first that cannot be before w.
    const auto first = w == kInitial
                           ? part.all.begin()
                           : std::partition_point(part.all.begin(), part.all.end(), [&](Txn x) {
                               return !before(target_of(w), commit_of(x)) || x == w;
                             });
    if (first != part.all.end() && *first != txn_) add_later(b, commit_of(*first));
  }
  return drain();
}

bool OrderJudge::write_forces(Key key) {
  const Event b = begin_of(txn_), c = commit_of(txn_);
  const KeyFacts& k = keys_[key];
  for (const LastReader& r : versions_[k.initial].readers) {
    if (r.txn != txn_) add_later(begin_of(r.txn), c);
  }
  for (const OfSession& part : k.writers) {
    // Behind those whose place is before its commit …
    const Txn w = [&] {
      const auto end = std::partition_point(part.all.begin(), part.all.end(), [&](Txn x) {
        return x != txn_ && place(target_of(x)) < clock(c, part.session);
      });
      return end == part.all.begin() ? kInitial : *(end - 1);
    }();
    if (w != kInitial) {
      if (first_wins_) add_later(commit_of(w), b);
      for (const LastReader& r : versions_[version(key, w)].readers) {
        if (r.txn != txn_) add_later(begin_of(r.txn), c);
      }
    }
    // … and before those that it cannot be behind.
    if (first_wins_) {
      const auto first = std::partition_point(part.all.begin(), part.all.end(), [&](Txn x) {
        return x == txn_ || !before(b, commit_of(x));
      });
      if (first != part.all.end() && part.session != known_[txn_].session)
        add_later(c, begin_of(*first));
    }
  }
  if (!drain()) return false;
  if (out_[c].empty()) return true;
  // Readers behind it that saw something else saw something later.
  for (const OfSession& part : k.readers) {
    auto r = std::partition_point(part.all.begin(), part.all.end(),
                                  [&](Txn x) { return !before(c, begin_of(x)); });
    for (; r != part.all.end(); ++r) {
      for (const Access& read : known_[*r].reads) {
        if (read.key != key) continue;
        const Txn w = versions_[read.version].writer;
        if (w == kInitial) return to_add_.clear(), false;
        if (w != txn_) add_later(c, target_of(w));
      }
    }
  }
  return drain();
}

void OrderJudge::undo_to(std::size_t size) {
  while (log_.size() > size) {
    undo_one(log_.back());
    log_.pop_back();
  }
  to_add_.clear();
  impossible_ = false;
}

void OrderJudge::undo_one(const Undo& undo) {
  Known& open = known_[txn_];
  switch (undo.what) {
    case Undo::What::kClock:
      clocks_[undo.a][undo.b] = undo.c;
      break;
    case Undo::What::kArc:
      out_[undo.a].pop_back();
      break;
    case Undo::What::kRead:
      open_reads_.erase(open.reads.back().key);
      open.reads.pop_back();
      between_.resize(std::min(between_.size(), open.reads.size()));
      break;
    case Undo::What::kReader:
      if (undo.b == kNone) {
        versions_[undo.a].readers.pop_back();
      } else {
        versions_[undo.a].readers[undo.b].txn = undo.c;
      }
      break;
    case Undo::What::kKeyReader:
      in_session(keys_[undo.a].readers, open.session).pop_back();
      break;
    case Undo::What::kWrite:
      in_session(keys_[undo.a].writers, open.session).pop_back();
      written_.erase({undo.a, txn_});
      open.writes.pop_back();
      for (auto& [place, all] : by_writes_) all.resize(std::min(all.size(), open.writes.size()));
      break;
  }
}

// ---- where it fits ----

bool OrderJudge::settle() {
  if (spot()) return true;
  // The witness gets in the way from the first event on that overwrites what was read.
  std::size_t from = witness_.size();
  for (const Access& read : known_[txn_].reads) {
    const Txn w = versions_[read.version].writer;
    const auto& order = keys_[read.key].in_witness;
    const auto next = w == kInitial ? order.begin() : std::find(order.begin(), order.end(), w) + 1;
    if (next != order.end()) from = std::min<std::size_t>(from, at_[commit_of(*next)]);
  }
  return schedule(from) || search(from);
}

// Exactly, but of more and more of the witness, as far as effort() goes.
bool OrderJudge::search(std::size_t from) {
  constexpr std::size_t kLeast = 128;
  for (std::size_t redone = std::max(2 * (witness_.size() - from), kLeast);; redone *= 4) {
    const bool all = redone >= witness_.size();
    if (std::min(redone, witness_.size()) > effort()) return false;
    // Of a part, a "no" is no answer and worth little.
    if (ask_engine(all ? 0 : witness_.size() - redone,
                   all ? std::numeric_limits<std::uint64_t>::max() : 64))
      return true;
    if (all) return false;
  }
}

OrderJudge::Between OrderJudge::between() {
  const Known& open = known_[txn_];
  Between found{0, witness_.size()};
  if (open.index > 0) found.low = at_[commit_of(sessions_[open.session].back())] + 1;
  if (!between_.empty()) found = between_.back();
  for (std::size_t i = between_.size(); i < open.reads.size(); ++i) {
    const Access& read = open.reads[i];
    const Txn w = versions_[read.version].writer;
    const auto& order = keys_[read.key].in_witness;
    const std::size_t behind = w == kInitial ? 0 : at_[commit_of(w)] + 1;
    found.low = std::max(found.low, behind);
    const auto next = in_witness_after(order, behind);
    if (next != order.end()) {
      found.high = std::min<std::size_t>(found.high, at_[commit_of(*next)]);
    }
    between_.push_back(found);
  }
  return found;
}

OrderJudge::ByWrites OrderJudge::with_write(const ByWrites& before, const Access& write,
                                            std::size_t place) {
  ByWrites found = before;
  const auto& order = keys_[write.key].in_witness;
  const auto next = in_witness_after(order, place);
  Version current = keys_[write.key].initial;
  if (next != order.begin()) {
    current = version(write.key, *(next - 1));
    found.change = std::max<std::size_t>(found.change, at_[commit_of(*(next - 1))]);
    found.initial_only = false;
  }
  for (const LastReader& r : versions_[current].readers) {
    if (r.txn != txn_) {
      found.earliest = std::max<std::size_t>(found.earliest, at_[begin_of(r.txn)] + 1);
    }
  }
  if (first_wins_ && next != order.end()) {
    const std::size_t other = at_[begin_of(*next)];
    if (other < place) found.jump = std::min(found.jump, other);
    found.latest = std::min(found.latest, other);
  }
  return found;
}

OrderJudge::ByWrites OrderJudge::by_writes(std::size_t place) {
  const auto& writes = known_[txn_].writes;
  ByWrites found;
  found.earliest = place;
  found.latest = witness_.size();
  auto known = by_writes_.find(place);
  if (known == by_writes_.end() && by_writes_.size() < kPlaces) {
    known = by_writes_.emplace(place, std::vector<ByWrites>()).first;
  }
  if (known == by_writes_.end()) {
    for (const Access& write : writes) found = with_write(found, write, place);
    return found;
  }
  if (!known->second.empty()) found = known->second.back();
  for (std::size_t i = known->second.size(); i < writes.size(); ++i) {
    found = with_write(found, writes[i], place);
    known->second.push_back(found);
  }
  return found;
}

// A place for the open transaction with the witness as it is; the latest begin.
std::optional<OrderJudge::Spot> OrderJudge::spot() {
  const auto [low, high] = between();
  if (low > high) return std::nullopt;
  if (split_ && !first_wins_) return Spot{high, witness_.size()};  // nobody minds a late commit
  // Down from the latest place, to the next at which something is different.
  std::size_t place = high;
  for (;;) {
    auto [earliest, latest, jump, change, initial_only] = by_writes(place);
    if (jump == kNone) {
      if (!split_ ? earliest == place : earliest <= latest) return Spot{place, earliest};
      if (initial_only) return std::nullopt;
      jump = change;
    }
    if (jump < low) return std::nullopt;
    place = jump;
  }
}

// Orders the witness again from this place on, with the open transaction. Where the greedy
// order below comes to where each waits for another, one of the choices that led there is
// turned round, and it starts again.
bool OrderJudge::schedule(std::size_t from) {
  constexpr std::size_t kTurns = 64;
  std::vector<ToAdd> turned;  // in effect for these attempts only
  while (turned.size() < kTurns) {
    const auto size = turned.size();
    if (run_schedule(from, turned)) return true;
    if (turned.size() == size) return false;
  }
  return false;
}

// Greedily: what nothing is before that has not run, the first in the old order first.
// The open transaction when nothing else can run. If it fails by a choice, `turned` has an
// arc more that forbids it.
bool OrderJudge::run_schedule(std::size_t from, std::vector<ToAdd>& turned) {
  const Event b = begin_of(txn_), c = commit_of(txn_);
  std::vector<Event> events(witness_.begin() + static_cast<std::ptrdiff_t>(from), witness_.end());
  events.push_back(b);
  if (split_) events.push_back(c);
  const auto later = [&](Event e) { return e == b || e == c || at_[e] >= from; };
  std::vector<std::uint32_t> waits(clocks_.size(), 0);  // by event: for how many
  for (const Event e : events) {
    for (const Event next : out_[e]) {
      if (!later(next)) return false;
      ++waits[next];
    }
  }
  const auto turned_at = [&](Event e, const auto& visit) {
    for (const ToAdd& arc : turned) {
      if (arc.from == e) visit(arc.to);
    }
  };
  for (const ToAdd& arc : turned) ++waits[arc.to];
  std::vector<bool> ran(clocks_.size(), false);
  // Of each key the version that is current, of each version who is still to read it.
  std::vector<std::uint32_t> to_read(versions_.size(), 0);
  for (const Event e : events) {
    if (!reads_from(e)) continue;
    for (const Access& read : known_[e / 2].reads) ++to_read[read.version];
  }
  std::vector<Version> current(keys_.size(), kNone);
  const auto now = [&](Key key) {
    if (current[key] != kNone) return current[key];
    const auto& order = keys_[key].in_witness;
    const auto next = std::partition_point(order.begin(), order.end(),
                                           [&](Txn t) { return at_[commit_of(t)] < from; });
    return current[key] = next == order.begin() ? keys_[key].initial : version(key, *(next - 1));
  };
  // First committer wins: a begin waits for the commit of who writes one of its keys.
  std::vector<Txn> writing(first_wins_ ? keys_.size() : 0, kInitial);
  if (first_wins_) {
    for (const Event e : events) {
      if (e == c || !writes_at(e) || at_[begin_of(e / 2)] >= from) continue;
      for (const Access& w : known_[e / 2].writes) writing[w.key] = e / 2;
    }
  }
  // Parked until the version has no reader to come, or the transaction has committed.
  std::vector<std::vector<Event>> for_readers(versions_.size());
  std::vector<std::vector<Event>> for_commit(first_wins_ ? known_.size() : 0);
  struct WaitsFor {
    enum class What : std::uint8_t { kOther, kHolder, kReaders } what = What::kOther;
    Txn holder = 0;       // kHolder: a begin, until this one that writes a key of its has committed
    Version version = 0;  // kReaders: who overwrites it, until it is read
  };
  std::vector<WaitsFor> waits_for(clocks_.size());
  // Everything that is left waits. Follows who waits for whom to a circle, and in it turns a
  // choice round: two writers of a key the other way, first of those where one keeps the other
  // from beginning, else of those where one waits for the readers of the other.
  const auto turn_round = [&] {
    std::vector<Event> one_before(clocks_.size(), kNone);  // that has not run
    std::vector<Event> one_reader(versions_.size(), kNone), other_reader(versions_.size(), kNone);
    for (const Event e : events) {
      if (ran[e]) continue;
      for (const Event next : out_[e]) one_before[next] = e;
      turned_at(e, [&](Event next) { one_before[next] = e; });
      if (!reads_from(e)) continue;
      for (const Access& read : known_[e / 2].reads) {
        other_reader[read.version] = one_reader[read.version];
        one_reader[read.version] = e;
      }
    }
    const auto blocker = [&](Event e) -> Event {
      if (waits[e] > 0) return one_before[e];
      switch (waits_for[e].what) {
        case WaitsFor::What::kHolder:
          return commit_of(waits_for[e].holder);
        case WaitsFor::What::kReaders: {
          const Event reader = one_reader[waits_for[e].version];
          return reader == e ? other_reader[waits_for[e].version] : reader;
        }
        default:
          return kNone;
      }
    };
    std::vector<bool> seen(clocks_.size(), false);
    Event at = *std::find_if(events.begin(), events.end(), [&](Event e) { return !ran[e]; });
    while (at != kNone && !seen[at]) {
      seen[at] = true;
      at = blocker(at);
    }
    if (at == kNone) return;
    for (const auto what : {WaitsFor::What::kHolder, WaitsFor::What::kReaders}) {
      Event e = at;
      do {
        if (waits[e] == 0 && waits_for[e].what == what) {
          const Txn other = what == WaitsFor::What::kHolder
                                ? waits_for[e].holder
                                : versions_[waits_for[e].version].writer;
          if (other != kInitial && other != e / 2) {
            const ToAdd arc{commit_of(e / 2), target_of(other)};
            const bool known = std::any_of(turned.begin(), turned.end(), [&](const ToAdd& t) {
              return (t.from == arc.from && t.to == arc.to) ||
                     (t.from == commit_of(other) && t.to == target_of(e / 2));
            });
            if (!known && later(arc.to) && !before(arc.to, arc.from)) {
              turned.push_back(arc);
              return;
            }
          }
        }
        e = blocker(e);
      } while (e != at);
    }
  };
  const auto rank = [&](Event e) -> std::int64_t {
    const auto end = static_cast<std::int64_t>(clocks_.size());
    if (e == c && split_ && !first_wins_) return end + 1;
    return e == b || e == c ? end : static_cast<std::int64_t>(at_[e]);
  };
  using Item = std::pair<std::int64_t, Event>;
  std::priority_queue<Item, std::vector<Item>, std::greater<>> ready;
  for (const Event e : events) {
    if (waits[e] == 0) ready.emplace(rank(e), e);
  }
  std::vector<Event> order(witness_.begin(), witness_.begin() + static_cast<std::ptrdiff_t>(from));
  const std::size_t whole = order.size() + events.size();
  while (!ready.empty()) {
    const Event e = ready.top().second;
    ready.pop();
    const Known& t = known_[e / 2];
    bool parked = false;
    if (reads_from(e) && !writes_at(e)) {
      for (const Access& w : t.writes) {
        if (!first_wins_ || writing[w.key] == kInitial) continue;
        for_commit[writing[w.key]].push_back(e);
        waits_for[e] = {WaitsFor::What::kHolder, writing[w.key], 0};
        parked = true;
        break;
      }
    }
    for (const Access& read : t.reads) {
      if (parked || !reads_from(e)) break;
      if (now(read.key) != read.version) return false;  // overwritten, or not there: a wrong turn
    }
    if (writes_at(e) && !parked) {
      for (const Access& w : t.writes) {
        const Version v = now(w.key);
        std::uint32_t readers = to_read[v];
        if (!split_) {
          for (const Access& read : t.reads) readers -= read.version == v;
        }
        if (readers == 0) continue;
        for_readers[v].push_back(e);
        waits_for[e] = {WaitsFor::What::kReaders, 0, v};
        parked = true;
        break;
      }
    }
    if (parked) continue;
    order.push_back(e);
    ran[e] = true;
    const auto wake = [&](std::vector<Event>& waiting) {
      for (const Event other : waiting) ready.emplace(rank(other), other);
      waiting.clear();
    };
    if (reads_from(e)) {
      for (const Access& read : t.reads) {
        // At 1 the last that is left may be the overwriter itself.
        if (--to_read[read.version] <= 1) wake(for_readers[read.version]);
      }
      if (first_wins_) {
        for (const Access& w : t.writes) writing[w.key] = e / 2;
      }
    }
    if (writes_at(e)) {
      for (const Access& w : t.writes) {
        wake(for_readers[now(w.key)]);  // they look at the new version
        current[w.key] = w.version;
        if (first_wins_) writing[w.key] = kInitial;
      }
      if (first_wins_) wake(for_commit[e / 2]);
    }
    for (const Event next : out_[e]) {
      if (--waits[next] == 0) ready.emplace(rank(next), next);
    }
    turned_at(e, [&](Event next) {
      if (--waits[next] == 0) ready.emplace(rank(next), next);
    });
  }
  if (order.size() != whole) {
    turn_round();
    return false;
  }
  take_witness(order);
  return spot().has_value();
}

// The question about the witness from this place on, to the engine: what comes before stays.
// A transaction that began there and commits later has begun, with its reads behind it. From 0
// on the answer is exact; else a "no" means that the rest alone cannot be ordered.
bool OrderJudge::ask_engine(std::size_t from, std::uint64_t proposals) {
  const auto later = [&](Event e) { return e / 2 == txn_ || at_[e] >= from; };
  const auto begun = [&](Txn t) { return !later(begin_of(t)); };
  order::Problem p;
  p.split = split_;
  p.write_to_begin = first_wins_;
  p.without_proof = true;
  p.max_proposals = proposals;
  std::vector<Txn> txns;
  std::vector<order::Owner> owner(known_.size(), order::kInitial);
  for (Session s = 0; s < sessions_.size(); ++s) {
    std::vector<order::Owner> chain;
    const auto add_txn = [&](Txn t) {
      owner[t] = static_cast<order::Owner>(txns.size());
      chain.push_back(owner[t]);
      txns.push_back(t);
    };
    const auto& all = sessions_[s];
    for (auto t = std::partition_point(all.begin(), all.end(),
                                       [&](Txn x) { return !later(commit_of(x)); });
         t != all.end(); ++t) {
      add_txn(*t);
    }
    if (s == known_[txn_].session) add_txn(txn_);
    if (!chain.empty()) p.chains.push_back(std::move(chain));
  }
  p.owner_count = static_cast<order::Owner>(txns.size());
  p.object_count = static_cast<order::Object>(keys_.size());
  const auto node = [&](Event e) {
    const auto o = owner[e / 2];
    return split_ && (e & 1) != 0 ? p.commit(o) : p.begin(o);
  };
  for (const Txn t : txns) {
    std::vector<Key> written;
    for (const Access& w : known_[t].writes) written.push_back(w.key);
    std::sort(written.begin(), written.end());
    p.write_object.insert(p.write_object.end(), written.begin(), written.end());
    p.write_first.push_back(static_cast<std::uint32_t>(p.write_object.size()));
    // Later is better near the end of the old witness.
    p.hint.push_back(t == txn_ ? witness_.size() : at_[begin_of(t)]);
    for (const Event e : {begin_of(t), commit_of(t)}) {
      for (const Event next : out_[e]) {
        if (!later(next)) {
          if (later(e)) return false;
        } else if (next / 2 != t) {
          p.fixed.push_back({node(e), node(next), order::FixedKind::kSession, 0, 0});
        }
      }
      if (!split_) break;
    }
    if (begun(t)) {
      for (const auto& chain : p.chains) {
        if (!begun(txns[chain.front()])) {
          p.fixed.push_back(
              {p.begin(owner[t]), p.begin(chain.front()), order::FixedKind::kSession, 0, 0});
        }
      }
      continue;
    }
    for (const Access& read : known_[t].reads) {
      Txn w = versions_[read.version].writer;
      if (w != kInitial && !later(commit_of(w))) {
        // Of those before, only what is current there can still be read.
        const auto& order = keys_[read.key].in_witness;
        const auto next = std::partition_point(order.begin(), order.end(),
                                               [&](Txn x) { return !later(commit_of(x)); });
        if (*(next - 1) != w) return false;
        w = kInitial;
      } else if (w == kInitial && !keys_[read.key].in_witness.empty() &&
                 !later(commit_of(keys_[read.key].in_witness.front()))) {
        return false;
      }
      const auto first = static_cast<std::uint32_t>(p.candidates.size());
      p.candidates.push_back(w == kInitial ? order::kInitial : owner[w]);
      p.reads.push_back({owner[t], read.key, first, first + 1});
    }
  }
  base::Budget budget;
  const auto outcome = order::decide(p, budget);
  if (outcome.solvability != order::Solvability::kYes) return false;
  std::vector<Event> order(witness_.begin(), witness_.begin() + static_cast<std::ptrdiff_t>(from));
  for (const auto at : outcome.order) {
    if (p.is_helper(at)) continue;
    const Txn t = txns[p.owner_of(at)];
    const Event e = split_ && at % 2 == 1 ? commit_of(t) : begin_of(t);
    if (later(e)) order.push_back(e);
  }
  take_witness(order);
  [[maybe_unused]] const bool fits = spot().has_value();
  assert(fits && "the engine's order has a place for the open transaction");
  return true;
}

// Everything but the open transaction's events, in this order.
void OrderJudge::take_witness(const std::vector<Event>& order) {
  forget_places();
  witness_.clear();
  for (const Event e : order) {
    if (e / 2 != txn_) witness_.push_back(e);
  }
  for (std::size_t i = 0; i < witness_.size(); ++i) at_[witness_[i]] = static_cast<Place>(i);
  const auto earlier = [&](Txn x, Txn y) { return at_[commit_of(x)] < at_[commit_of(y)]; };
  for (KeyFacts& k : keys_) {
    if (!std::is_sorted(k.in_witness.begin(), k.in_witness.end(), earlier)) {
      std::sort(k.in_witness.begin(), k.in_witness.end(), earlier);
    }
  }
}

}  // namespace

std::unique_ptr<Judge> order_judge(Level level) {
  return std::make_unique<OrderJudge>(level);
}

}  // namespace cupel::mock
