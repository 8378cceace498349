// Mixed levels: transactions of which some are at prefix or above, and not all at one.
//
// What is held is one commit order of the committed transactions that is right for each at
// its own level: the axioms of Biswas & Enea (OOPSLA 2019), of which each speaks of the
// reads of one transaction and may be asked of that one alone. For a read of x from w in T,
// every other writer k of x that T has to see is before w, and T has to see
//   read-committed, read-atomic, causal   what weak_judge.cpp says;
//   prefix             what is, in the order, up to a predecessor of T in so or wr;
//   snapshot isolation and up to whoever wrote a key of T's before T;
//   serializability    whatever is before T.
//
// A read is allowed if T can be put somewhere in the order as it is. That is enough for
// every history to be what its levels allow, and every read has an answer. Whatever the
// levels allow is reached when the transactions come in a commit order of it; with
// transactions that come in another order not all of it is, since the order that is held
// is never changed to make room. Cost of a try: linear in the writers of the key.
#include <algorithm>
#include <cassert>
#include <optional>

#include "mock/judge.hpp"

namespace cupel::mock {

namespace {

using Clock = std::vector<std::uint32_t>;  // by session: how many of its transactions

struct Read {
  Key key;
  Txn writer;
};
struct Known {
  Session session = 0;
  Level level = Level::kCausal;
  std::uint32_t index = 0;  // in its session
  Clock past;               // (so ∪ wr)+
  std::vector<Read> reads;
  std::vector<Key> writes;
  Txn seen = kInitial;      // prefix, snapshot isolation: it sees up to here
};
struct KeyFacts {
  std::vector<Txn> writers;  // in the order
  std::vector<Txn> readers;  // at prefix and above
};

class MixedJudge final : public Judge {
 public:
  MixedJudge(const Ledger& ledger, std::span<const Txn> order, std::span<const Session> numbers) {
    known_.resize(ledger.count());
    at_.resize(ledger.count(), 0);
    for (std::size_t i = 0; i < order.size(); ++i) at_[order[i]] = i;
    for (Txn t = 0; t < ledger.count(); ++t) {
      const auto& txn = ledger.at(t);
      if (txn.status != Ledger::Status::kCommitted) continue;
      start(t, numbers[txn.session], txn.level);
      for (const auto& o : txn.operations) {
        if (o.is_write) {
          note_write(o.key);
        } else if (!o.local) {
          note_read({o.key, o.writer});
        }
      }
      known_[t] = std::move(open_);
      sessions_[known_[t].session].push_back(t);
    }
    for (const Txn t : order) append(t);
  }

  void begin(Txn t, Session session, Level level) override {
    known_.resize(t + 1);
    at_.resize(t + 1, 0);
    start(t, session, level);
  }

  void candidates(Key key, std::vector<Txn>& found) override {
    found.clear();
    if (open_.level != Level::kReadCommitted) {
      for (const Read& read : open_.reads) {
        if (read.key == key) return found.push_back(read.writer);
      }
    }
    found.push_back(kInitial);
    if (key < keys_.size()) found.insert(found.end(), keys_[key].writers.begin(), keys_[key].writers.end());
    std::sort(found.begin() + 1, found.end());
  }

  bool take(Key key, Txn writer) override {
    saved_ = {open_.reads.size(), open_.writes, open_.past};
    if (open_.level != Level::kReadCommitted) {
      for (const Read& read : open_.reads) {
        if (read.key == key && read.writer != writer) return false;
      }
    }
    note_read({key, writer});
    if (place()) return true;
    untake();
    return false;
  }

  void untake() override {
    open_.reads.resize(saved_.reads);
    open_.writes = saved_.writes;
    open_.past = saved_.past;
  }

  bool write(Key key) override {
    saved_ = {open_.reads.size(), open_.writes, open_.past};
    note_write(key);
    if (place()) return true;
    untake();
    return false;
  }

  void saw_absent(Key key, Txn reader) override {
    known_[reader].reads.push_back({key, kInitial});
    if (!is_weak(known_[reader].level)) facts(key).readers.push_back(reader);
  }

  void commit() override {
    const auto where = place();
    assert(where && "what was read and written has a place in the order");
    open_.seen = sees(*where);
    known_[txn_] = std::move(open_);
    const Known& t = known_[txn_];
    sessions_[t.session].push_back(txn_);
    if (*where == order_.size()) {
      append(txn_);
      return;
    }
    order_.insert(order_.begin() + static_cast<std::ptrdiff_t>(*where), txn_);
    for (std::size_t i = *where; i < order_.size(); ++i) at_[order_[i]] = i;
    enter(txn_);
    for (const Key key : t.writes) {
      // Who wins over it later sees it.
      const auto next = after(key, *where + 1);
      if (next == keys_[key].writers.end()) continue;
      Known& other = known_[*next];
      if (other.level == Level::kStrongSessionSnapshotIsolation) other.seen = later(other.seen, txn_);
    }
  }

  void abort() override { open_ = {}; }

  [[nodiscard]] std::vector<Txn> order() const override { return order_; }

 private:
  void start(Txn t, Session session, Level level) {
    txn_ = t;
    open_ = {};
    open_.session = session;
    open_.level = level;
    if (session >= sessions_.size()) sessions_.resize(session + 1);
    open_.index = static_cast<std::uint32_t>(sessions_[session].size());
    if (open_.index > 0) add_past(sessions_[session].back());
  }
  void add_past(Txn t) {
    const Known& k = known_[t];
    const auto size = std::max<std::size_t>(k.past.size(), k.session + 1);
    if (open_.past.size() < size) open_.past.resize(size, 0);
    for (std::size_t s = 0; s < k.past.size(); ++s) open_.past[s] = std::max(open_.past[s], k.past[s]);
    open_.past[k.session] = std::max(open_.past[k.session], k.index + 1);
  }
  void note_read(Read read) {
    open_.reads.push_back(read);
    if (read.writer != kInitial) add_past(read.writer);
  }
  void note_write(Key key) {
    if (!writes(open_, key)) open_.writes.push_back(key);
  }
  static bool writes(const Known& t, Key key) {
    return std::find(t.writes.begin(), t.writes.end(), key) != t.writes.end();
  }
  KeyFacts& facts(Key key) {
    if (key >= keys_.size()) keys_.resize(key + 1);
    return keys_[key];
  }
  void enter(Txn t) {
    for (const Key key : known_[t].writes) {
      auto& writers = facts(key).writers;
      writers.insert(after(key, at_[t]), t);
    }
    if (is_weak(known_[t].level)) return;
    for (const Read& read : known_[t].reads) facts(read.key).readers.push_back(t);
  }
  void append(Txn t) {
    at_[t] = order_.size();
    order_.push_back(t);
    enter(t);
    if (known_[t].seen == kInitial) {
      open_ = known_[t];  // for sees(), of one that was known before
      known_[t].seen = sees(at_[t]);
    }
  }
  // The first writer of the key at this place of the order or later.
  std::vector<Txn>::iterator after(Key key, std::size_t place) {
    auto& writers = facts(key).writers;
    return std::partition_point(writers.begin(), writers.end(), [&](Txn t) { return at_[t] < place; });
  }
  [[nodiscard]] Txn later(Txn a, Txn b) const {
    if (a == kInitial || b == kInitial) return a == kInitial ? b : a;
    return at_[a] < at_[b] ? b : a;
  }

  // Up to whom the open transaction sees, put at this place.
  Txn sees(std::size_t place) {
    Txn seen = kInitial;
    if (open_.index > 0) seen = sessions_[open_.session][open_.index - 1];
    for (const Read& read : open_.reads) seen = later(seen, read.writer);
    if (open_.level == Level::kStrongSessionSnapshotIsolation) {
      for (const Key key : open_.writes) {
        const auto next = after(key, place);
        if (next != facts(key).writers.begin()) seen = later(seen, *(next - 1));
      }
    }
    return seen;
  }

  // Does the weak level allow the reads, with the order as it is?
  bool weakly_allowed() {
    const auto fine = [&](const Read& read, Txn k) {
      return k == kInitial || k == read.writer || !writes(known_[k], read.key) ||
             (read.writer != kInitial && at_[k] < at_[read.writer]);
    };
    for (std::size_t i = 0; i < open_.reads.size(); ++i) {
      const Read& read = open_.reads[i];
      const auto until = open_.level == Level::kReadCommitted ? i : open_.reads.size();
      for (std::size_t j = 0; j < until; ++j) {
        if (!fine(read, open_.reads[j].writer)) return false;
      }
      if (open_.level == Level::kReadCommitted) continue;
      for (const Txn k : facts(read.key).writers) {
        const Known& w = known_[k];
        const bool past = w.session < open_.past.size() && w.index < open_.past[w.session];
        const bool counts = open_.level == Level::kCausal || w.session == open_.session;
        if (past && counts && !fine(read, k)) return false;
      }
    }
    return true;
  }

  // Where the open transaction can be put, the latest that is tried.
  std::optional<std::size_t> place() {
    if (is_weak(open_.level)) return weakly_allowed() ? std::optional(order_.size()) : std::nullopt;
    std::size_t low = 0;
    if (open_.index > 0) low = at_[sessions_[open_.session].back()] + 1;
    for (const Read& read : open_.reads) {
      if (read.writer != kInitial) low = std::max(low, at_[read.writer] + 1);
    }
    for (std::size_t place = order_.size();;) {
      if (fits(place)) return place;
      // Next before the last writer of one of its keys.
      std::size_t next = 0;
      bool any = false;
      const auto look = [&](Key key) {
        const auto from = after(key, place);
        if (from == facts(key).writers.begin()) return;
        next = std::max(next, at_[*(from - 1)]);
        any = true;
      };
      for (const Read& read : open_.reads) look(read.key);
      for (const Key key : open_.writes) look(key);
      if (!any || next < low) return std::nullopt;
      place = next;
    }
  }

  bool fits(std::size_t place) {
    // Its own reads: what follows the version it read is not seen.
    const Txn seen = open_.level == Level::kStrongSessionSerializable ? kInitial : sees(place);
    const std::size_t sight = open_.level == Level::kStrongSessionSerializable ? place
                              : seen == kInitial                             ? 0
                                                                             : at_[seen] + 1;
    for (const Read& read : open_.reads) {
      if (overwritten(read, sight)) return false;
    }
    // Others' reads, of those behind it.
    for (const Key key : open_.writes) {
      const auto next = after(key, place);
      const Txn current = next == facts(key).writers.begin() ? kInitial : *(next - 1);
      for (const Txn r : facts(key).readers) {
        const Known& other = known_[r];
        if (at_[r] < place) continue;
        const bool sees_it = other.level == Level::kStrongSessionSerializable ||
                             (other.seen != kInitial && at_[other.seen] >= place);
        if (!sees_it) continue;
        for (const Read& read : other.reads) {
          if (read.key == key && read.writer == current) return false;
        }
      }
      if (next == facts(key).writers.end()) continue;
      const Known& winner = known_[*next];
      if (winner.level != Level::kStrongSessionSnapshotIsolation) continue;
      for (const Read& read : winner.reads) {
        if (overwritten(read, place)) return false;
        const bool behind = read.writer == kInitial || at_[read.writer] < place;
        if (behind && writes(open_, read.key)) return false;
      }
    }
    return true;
  }
  // Is there a writer between what was read and this place?
  bool overwritten(const Read& read, std::size_t place) {
    const auto next = after(read.key, read.writer == kInitial ? 0 : at_[read.writer] + 1);
    return next != facts(read.key).writers.end() && at_[*next] < place;
  }

  std::vector<Known> known_;               // by Txn
  std::vector<std::vector<Txn>> sessions_;  // committed
  std::vector<KeyFacts> keys_;
  std::vector<Txn> order_;
  std::vector<std::size_t> at_;            // by Txn
  Txn txn_ = 0;
  Known open_;
  struct {
    std::size_t reads = 0;
    std::vector<Key> writes;
    Clock past;
  } saved_;
};

}  // namespace

std::unique_ptr<Judge> mixed_judge(const Ledger& ledger, std::span<const Txn> order,
                                   std::span<const Session> numbers) {
  return std::make_unique<MixedJudge>(ledger, order, numbers);
}

}  // namespace cupel::mock
