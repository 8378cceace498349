// Mixed levels: transactions of which some are at prefix or above, and not all at one.
//
// What is held is one commit order of the committed transactions that is right for each at
// its own level: the axioms of Biswas & Enea (OOPSLA 2019), of which each speaks of the
// reads of one transaction and may be asked of that one alone. For a read of x from w in T,
// every other writer k of x that T has to see is before w, and T has to see
//   read-committed, read-atomic, causal   what weak_admissibility.cpp says;
//   prefix             what is, in the order, up to a predecessor of T in so or wr;
//   snapshot isolation and up to whoever wrote a key of T's before T;
//   serializability    whatever is before T.
//
// A read is allowed if T can be put somewhere in the order as it is. That is enough for
// every history to be what its levels allow, and every read has an answer. Whatever the
// levels allow is reached when the transactions come in a commit order of it; with
// transactions that come in another order not all of it is, since the order that is held
// is never changed to make room.
//
// Several transactions may be open, each with bounds of its place. One that commits between them
// moves the bounds of the others, and must not part those: so whoever only reads is never
// refused. Others' writes may have no place left.
//
// The order stands still while nothing commits, so what a transaction's reads and writes say of
// its place is kept from one operation to the next:
//   prefix and above   it is after the writers it read and its session (`lowest_`), and no writer
//   that it
//                      has to see replaced what it read (`limit_`): a read of w is out if w's next
//                      writer is before the one or w after the other, so candidates are a
//                      stretch of the key's writers;
//   causal             the last writer of a key in the past is found by session;
//   weaker             of each key, the last of those it read from that wrote it (`floor`).
// Cost of a try: logarithmic in the writers of the key, times the places tried where it writes, and
// times the open transaction's reads where its past grows. A commit in front of others moves
// their places, which is linear in those.

#include <algorithm>
#include <cassert>
#include <map>
#include <optional>
#include <utility>

#include "base/hash_table.hpp"
#include "engine/mock/admissibility.hpp"

namespace cupel::mock {

namespace {

using Clock = std::vector<std::uint32_t>;  // by session: how many of its transactions

struct Read {
  Key key;
  Txn writer;
};
struct TxnState {
  Session session = 0;
  Level level = Level::kCausal;
  std::uint32_t index = 0;  // in its session
  Clock past;               // (so ∪ wr)+
  std::vector<Read> reads;
  std::vector<Key> writes;
  Txn seen = kInitial;  // prefix, snapshot isolation: it sees up to here
};
struct KeyFacts {
  std::vector<Txn> writers;  // in the order
  // The same by session, for the few that write the key.
  std::vector<std::pair<Session, std::vector<Txn>>> by_session;
  // Of each version that transactions at prefix and above read: the last that one of them sees.
  base::HashMap<Txn, Txn> reach;
};
// What the open transaction did with a key.
struct OpenAccess {
  bool read = false, written = false;
  Txn from = kInitial;  // read
  std::optional<Txn> floor =
      {};  // weak levels: wrote it, of those read from; the last in the order
};

class MixedAdmissibility final : public AdmissibilityChecker {
 public:
  MixedAdmissibility(const TransactionLog& log, std::span<const Txn> order,
                     std::span<const Session> numbers) {
    known_.resize(log.count());
    at_.resize(log.count(), 0);
    for (std::size_t i = 0; i < order.size(); ++i) at_[order[i]] = i;
    for (Txn t = 0; t < log.count(); ++t) {
      const auto& txn = log.at(t);
      if (txn.status != TransactionLog::Status::kCommitted) continue;
      live_ = false;
      start(t, numbers[txn.session], txn.level);
      for (const auto& o : txn.operations) {
        if (o.is_write) {
          if (!access(o.key).written) note_write(o.key);
        } else if (!o.local) {
          open_.reads.push_back({o.key, o.writer()});
          if (o.writer() != kInitial) add_past(o.writer());
        }
      }
      known_[t] = std::move(open_);
      sessions_[known_[t].session].push_back(t);
    }
    for (const Txn t : order) append(t);
    live_ = false;
  }

  void begin(Txn t, Session session, Level level) override {
    park();
    known_.resize(std::max<std::size_t>(known_.size(), t + 1));
    at_.resize(known_.size(), 0);
    start(t, session, level);
  }

  void select(Txn open) override {
    if (live_ && txn_ == open) return;
    park();
    const auto found = parked_.find(open);
    assert(found != parked_.end());
    txn_ = open;
    live_ = true;
    undo_ = {};
    open_ = std::move(found->second.state);
    accesses_ = std::move(found->second.accesses);
    read_from_ = std::move(found->second.read_from);
    lowest_ = found->second.lowest;
    limit_ = found->second.limit;
    parked_.erase(found);
  }

  Txn latest(Key key) override {
    return key >= keys_.size() || keys_[key].writers.empty() ? kInitial : keys_[key].writers.back();
  }

  void candidates(Key key, std::vector<Txn>& found) override {
    found.clear();
    if (const OpenAccess* has = find_access(key);
        has != nullptr && has->read && open_.level != Level::kReadCommitted) {
      return found.push_back(has->from);
    }
    if (key >= keys_.size()) return found.push_back(kInitial);
    auto& writers = keys_[key].writers;
    // The last one that it sees, and all after it.
    auto first = writers.begin(), last = writers.end();
    bool initial = true;
    const auto from = [&](std::vector<Txn>::iterator it) {
      if (it == writers.begin()) return;  // nobody is seen
      first = it - 1;
      initial = false;
    };
    if (is_weak(open_.level)) {
      if (const auto seen = seen_writer(key)) from(after(key, at_[*seen] + 1));
    } else {
      from(after(key, lowest_));
      last = after(key, limit_);
    }
    if (initial) found.push_back(kInitial);
    const auto size = static_cast<std::ptrdiff_t>(found.size());
    if (first < last) found.insert(found.end(), first, last);
    std::sort(found.begin() + size, found.end());
  }

  bool try_read(Key key, Txn writer) override {
    undo_ = {};
    OpenAccess& own = access(key);
    if (own.read && open_.level != Level::kReadCommitted) {
      if (own.from != writer) return false;
      return true;  // as before
    }
    undo_.read = key;
    undo_.was_read = own.read;
    undo_.lowest = lowest_;
    undo_.limit = limit_;
    own.read = true;
    own.from = writer;
    open_.reads.push_back({key, writer});
    if (is_weak(open_.level) ? weakly_admitted(key, writer) : strongly_admitted(key, writer))
      return true;
    undo_last();
    return false;
  }

  void undo_last() override {
    if (undo_.read) {
      access(*undo_.read).read = undo_.was_read;
      open_.reads.pop_back();
      lowest_ = undo_.lowest;
      limit_ = undo_.limit;
      if (undo_.past) open_.past = std::move(*undo_.past);
      for (const auto& [key, floor] : undo_.floors) access(key).floor = floor;
      if (undo_.from) read_from_.erase(*undo_.from);
    }
    if (undo_.written) {
      access(*undo_.written).written = false;
      open_.writes.pop_back();
    }
    undo_ = {};
  }

  bool try_write(Key key) override {
    undo_ = {};
    if (access(key).written) return true;
    undo_.written = key;
    note_write(key);
    if (is_weak(open_.level) || find_place()) return true;
    undo_last();
    return false;
  }

  void saw_absent(Key key, Txn reader) override {
    known_[reader].reads.push_back({key, kInitial});
    if (!is_weak(known_[reader].level)) reaches(key, kInitial, reader);
  }

  bool commit() override {
    const auto where = is_weak(open_.level) ? std::optional(order_.size()) : find_place();
    if (!where) return false;
    live_ = false;
    open_.seen = sees(open_, *where);
    if (open_.level != Level::kCausal) {  // which had to know it before
      for (const Read& read : open_.reads) {
        if (read.writer != kInitial && !in_past(read.writer)) add_past(read.writer);
      }
    }
    known_[txn_] = std::move(open_);
    const TxnState& t = known_[txn_];
    sessions_[t.session].push_back(txn_);
    move_bounds(*where);
    if (*where == order_.size()) {
      at_[txn_] = *where;
      order_.push_back(txn_);
      enter(txn_);
      return true;
    }
    order_.insert(order_.begin() + static_cast<std::ptrdiff_t>(*where), txn_);
    for (std::size_t i = *where; i < order_.size(); ++i) at_[order_[i]] = i;
    enter(txn_);
    for (const Key key : t.writes) {
      // Who wins over it later sees it.
      const auto next = after(key, *where + 1);
      if (next == keys_[key].writers.end()) continue;
      TxnState& other = known_[*next];
      if (other.level != Level::kStrongSessionSnapshotIsolation) continue;
      other.seen = later(other.seen, txn_);
      for (const Read& read : other.reads) reaches(read.key, read.writer, *next);
    }
    return true;
  }

  void abort() override {
    live_ = false;
    open_ = {};
  }

  [[nodiscard]] std::vector<Txn> order() const override { return order_; }

 private:
  struct Parked {  // open, and not selected
    TxnState state;
    base::HashMap<Key, OpenAccess> accesses;
    base::HashSet<Txn> read_from;
    std::size_t lowest = 0, limit = 0;

    // What it read of the key; nullptr: nothing that matters to its place.
    [[nodiscard]] const OpenAccess* placed_read(Key key) const {
      if (is_weak(state.level)) return nullptr;
      const auto found = accesses.find(key);
      return found == accesses.end() || !found->second.read ? nullptr : &found->second;
    }
  };
  void park() {
    if (!live_) return;
    live_ = false;
    parked_[txn_] = {std::move(open_), std::move(accesses_), std::move(read_from_), lowest_,
                     limit_};
  }
  // The committed transaction comes to this place.
  void move_bounds(std::size_t place) {
    for (auto& [other, its] : parked_) {
      its.lowest += place < its.lowest;
      its.limit += place <= its.limit;
      for (const Key key : known_[txn_].writes) {
        const OpenAccess* read = its.placed_read(key);
        // Places of the order before the insertion.
        if (read != nullptr && (read->from == kInitial || at_[read->from] < place))
          its.limit = std::min(its.limit, place);
      }
    }
  }
  void start(Txn t, Session session, Level level) {
    txn_ = t;
    live_ = true;
    open_ = {};
    open_.session = session;
    open_.level = level;
    accesses_.clear();
    read_from_.clear();
    undo_ = {};
    lowest_ = 0;
    limit_ = order_.size();
    if (session >= sessions_.size()) sessions_.resize(session + 1);
    open_.index = static_cast<std::uint32_t>(sessions_[session].size());
    if (open_.index > 0) {
      add_past(sessions_[session].back());
      lowest_ = at_[sessions_[session].back()] + 1;
    }
  }
  void add_past(Txn t) {
    const TxnState& k = known_[t];
    const auto size = std::max<std::size_t>(k.past.size(), k.session + 1);
    if (open_.past.size() < size) open_.past.resize(size, 0);
    for (std::size_t s = 0; s < k.past.size(); ++s)
      open_.past[s] = std::max(open_.past[s], k.past[s]);
    open_.past[k.session] = std::max(open_.past[k.session], k.index + 1);
  }
  [[nodiscard]] bool in_past(Txn t) const {
    const TxnState& k = known_[t];
    return k.session < open_.past.size() && k.index < open_.past[k.session];
  }
  void note_write(Key key) {
    access(key).written = true;
    open_.writes.push_back(key);
  }
  OpenAccess& access(Key key) { return accesses_[key]; }
  [[nodiscard]] const OpenAccess* find_access(Key key) const {
    const auto found = accesses_.find(key);
    return found == accesses_.end() ? nullptr : &found->second;
  }
  [[nodiscard]] bool writes(Key key) const {
    const OpenAccess* has = find_access(key);
    return has != nullptr && has->written;
  }
  KeyFacts& facts(Key key) {
    if (key >= keys_.size()) keys_.resize(key + 1);
    return keys_[key];
  }
  // Up to whom a committed transaction at prefix or above sees.
  [[nodiscard]] Txn reach_of(Txn t) const {
    return known_[t].level == Level::kStrongSessionSerializable ? t : known_[t].seen;
  }
  void reaches(Key key, Txn version, Txn reader) {
    const Txn reach = reach_of(reader);
    if (reach == kInitial) return;
    auto& last = facts(key).reach.try_emplace(version, reach).first->second;
    last = later(last, reach);
  }
  void enter(Txn t) {
    const Session session = known_[t].session;
    for (const Key key : known_[t].writes) {
      auto& of_key = facts(key);
      of_key.writers.insert(after(key, at_[t]), t);
      auto own = std::find_if(of_key.by_session.begin(), of_key.by_session.end(),
                              [&](const auto& one) { return one.first == session; });
      if (own == of_key.by_session.end()) {
        own = of_key.by_session.insert(own, {session, {}});
      }
      own->second.push_back(t);
    }
    if (is_weak(known_[t].level)) return;
    for (const Read& read : known_[t].reads) reaches(read.key, read.writer, t);
  }
  // Of one that was known before.
  void append(Txn t) {
    at_[t] = order_.size();
    known_[t].seen = sees(known_[t], at_[t]);
    order_.push_back(t);
    enter(t);
  }
  // The first writer of the key at this place of the order or later.
  std::vector<Txn>::iterator after(Key key, std::size_t place) {
    auto& writers = facts(key).writers;
    return std::partition_point(writers.begin(), writers.end(),
                                [&](Txn t) { return at_[t] < place; });
  }
  // Whoever replaced this version first; nullopt: nobody.
  std::optional<Txn> replaced(Key key, Txn version) {
    const auto next = after(key, version == kInitial ? 0 : at_[version] + 1);
    return next == facts(key).writers.end() ? std::nullopt : std::optional(*next);
  }
  [[nodiscard]] Txn later(Txn a, Txn b) const {
    if (a == kInitial || b == kInitial) return a == kInitial ? b : a;
    return at_[a] < at_[b] ? b : a;
  }

  // Up to whom it sees, put at this place, where it is not yet.
  Txn sees(const TxnState& t, std::size_t place) {
    Txn seen = kInitial;
    if (t.index > 0) seen = sessions_[t.session][t.index - 1];
    for (const Read& read : t.reads) seen = later(seen, read.writer);
    if (t.level == Level::kStrongSessionSnapshotIsolation) {
      for (const Key key : t.writes) {
        const auto next = after(key, place);
        if (next != facts(key).writers.begin()) seen = later(seen, *(next - 1));
      }
    }
    return seen;
  }

  // --- the weak levels

  // The last writer of the key that the open transaction has to see; nullopt: none.
  std::optional<Txn> seen_writer(Key key) {
    std::optional<Txn> seen;
    if (const OpenAccess* has = find_access(key)) seen = has->floor;
    if (open_.level == Level::kReadCommitted || key >= keys_.size()) return seen;
    for (const auto& [session, writers] : keys_[key].by_session) {
      if (open_.level != Level::kCausal && session != open_.session) continue;
      const auto past = session < open_.past.size() ? open_.past[session] : 0;
      const auto after = std::partition_point(writers.begin(), writers.end(),
                                              [&](Txn t) { return known_[t].index < past; });
      if (after == writers.begin()) continue;
      const Txn last = *(after - 1);
      if (!seen || at_[*seen] < at_[last]) seen = last;
    }
    return seen;
  }
  bool in_front(Key key, Txn version) {
    const auto seen = seen_writer(key);
    return seen && *seen != version && (version == kInitial || at_[version] < at_[*seen]);
  }

  // Whether the weak level allows what was read so far, with the last read, of this.
  bool weakly_admitted(Key key, Txn writer) {
    if (writer == kInitial) return !in_front(key, writer);
    if (open_.level == Level::kCausal) {
      if (in_past(writer)) return !in_front(key, writer);
      undo_.past = open_.past;
      add_past(writer);
      return std::none_of(open_.reads.begin(), open_.reads.end(),
                          [&](const Read& read) { return in_front(read.key, read.writer); });
    }
    if (in_front(key, writer)) return false;
    if (!read_from_.insert(writer).second) return true;
    undo_.from = writer;
    for (const Key other : known_[writer].writes) {
      OpenAccess& own = access(other);
      if (!own.floor || at_[*own.floor] < at_[writer]) {
        undo_.floors.emplace_back(other, own.floor);
        own.floor = writer;
      }
      // Read-committed asks of what is read afterwards only.
      if (open_.level == Level::kReadAtomic && own.read && own.from != writer &&
          (own.from == kInitial || at_[own.from] < at_[writer])) {
        return false;
      }
    }
    return true;
  }

  // --- prefix and above

  bool strongly_admitted(Key key, Txn writer) {
    if (writer != kInitial) lowest_ = std::max(lowest_, at_[writer] + 1);
    if (const auto next = replaced(key, writer)) limit_ = std::min(limit_, at_[*next]);
    if (limit_ < lowest_) return false;
    return open_.writes.empty() || find_place();
  }

  // Where the open transaction can be put, the latest that is tried.
  std::optional<std::size_t> find_place() {
    const bool serializable = open_.level == Level::kStrongSessionSerializable;
    std::size_t place = serializable ? limit_ : order_.size();
    if (open_.level == Level::kStrongSessionSnapshotIsolation && limit_ < order_.size()) {
      // Whoever wrote a key of its before it is seen, and so in front of the limit.
      for (const Key key : open_.writes) {
        const auto next = after(key, limit_);
        if (next != facts(key).writers.end()) place = std::min(place, at_[*next]);
      }
    }
    while (place >= lowest_) {
      const auto next = next_place(place);
      if (!next) return place;
      if (*next == place) return std::nullopt;
      place = *next;
    }
    return std::nullopt;
  }

  // Of others' reads, of those after this place and of the open ones: nullopt if they allow the
  // open transaction to be there, else the next place before it to try, and the same one if there
  // is none.
  std::optional<std::size_t> next_place(std::size_t place) {
    bool fits = true;
    std::optional<std::size_t> next_try;
    const auto then = [&](std::size_t other) {
      if (other < place && (!next_try || *next_try < other)) next_try = other;
    };
    for (const Key key : open_.writes) {
      const auto& of_key = facts(key);
      const auto next = after(key, place);
      const Txn current = next == of_key.writers.begin() ? kInitial : *(next - 1);
      if (current != kInitial) then(at_[current]);
      const auto reach = of_key.reach.find(current);
      if (reach != of_key.reach.end() && at_[reach->second] >= place) fits = false;
      for (const auto& [other, its] : parked_) {
        const OpenAccess* read = its.placed_read(key);
        if (read == nullptr || place >= its.lowest) continue;
        if (read->from != kInitial && at_[read->from] >= place) continue;
        fits = false;
        if (read->from != kInitial) then(at_[read->from]);
      }
      if (next == of_key.writers.end()) continue;
      const TxnState& winner = known_[*next];
      if (winner.level != Level::kStrongSessionSnapshotIsolation) continue;
      // It would see the open transaction, and so all before that.
      for (const Read& read : winner.reads) {
        const auto replacing = replaced(read.key, read.writer);
        if (replacing && at_[*replacing] < place) {
          fits = false;
          then(at_[*replacing]);
        }
        const bool older = read.writer == kInitial || at_[read.writer] < place;
        if (older && writes(read.key)) {
          fits = false;
          if (read.writer != kInitial) then(at_[read.writer]);
        }
      }
    }
    if (fits) return std::nullopt;
    return next_try.value_or(place);
  }

  std::vector<TxnState> known_;             // by Txn
  std::vector<std::vector<Txn>> sessions_;  // committed
  std::vector<KeyFacts> keys_;
  std::vector<Txn> order_;
  std::vector<std::size_t> at_;  // by Txn
  std::map<Txn, Parked> parked_;
  // The open transaction.
  bool live_ = false;
  Txn txn_ = 0;
  TxnState open_;
  base::HashMap<Key, OpenAccess> accesses_;
  base::HashSet<Txn> read_from_;        // whose writes are in the floors
  std::size_t lowest_ = 0, limit_ = 0;  // places: prefix and above
  struct {
    std::optional<Key> read, written;
    bool was_read = false;
    std::size_t lowest = 0, limit = 0;
    std::optional<Clock> past;
    std::optional<Txn> from;
    std::vector<std::pair<Key, std::optional<Txn>>> floors;
  } undo_;
};

}  // namespace

std::unique_ptr<AdmissibilityChecker> mixed_admissibility(const TransactionLog& log,
                                                          std::span<const Txn> order,
                                                          std::span<const Session> numbers) {
  return std::make_unique<MixedAdmissibility>(log, order, numbers);
}

}  // namespace cupel::mock
