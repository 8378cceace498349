// The weak levels: an order of all committed transactions, kept while reads force it.
//
// A history is within read-committed, read-atomic or causal iff so ∪ wr ∪ the commit-order
// edges that its reads force has no cycle (docs/reference/levels.md): a read of x from w in T
// forces k → w for every other writer k of x that
//   read-committed  an earlier read of T read from;
//   read-atomic     is T's predecessor in so or wr;
//   causal          is in T's past, (so ∪ wr)+.
// What is forced depends on the reader's past alone, and that is fixed once it ended:
// edges come with the reads of the open transaction only, and go if it aborts. The open
// transaction itself is before nobody, so it has no node until it commits. Each
// transaction may have its own level: it is its reads that the level constrains.
//
// Several transactions may be open. What the reads of each force is in the order at once, so no
// other's reads contradict it, and whoever commits is after all of it: nobody is refused. An
// aborted transaction's edges go only if no other acted in between; else they stay, which allows
// less than could be but nothing more.
//
// One edge a session is enough, from its last writer in T's past: those before it follow
// by so. The past is a clock, one number a session. The order is graph::OnlineOrder.
// Cost of a try: the transactions that T read from × log, at causal T's reads × sessions × log
// if the try brings something new into T's past, and the searches of the edges that go against
// the order. Memory: 4 bytes a committed transaction and session.

#include <algorithm>
#include <cassert>
#include <map>
#include <optional>
#include <utility>

#include "base/graph/online_order.hpp"
#include "base/hash_table.hpp"
#include "engine/mock/admissibility.hpp"

namespace cupel::mock {

namespace {

using graph::Node;
using Position = std::uint32_t;  // of a committed transaction in its session
// By session: how many of its transactions are in the past. Sessions beyond: none.
using Clock = std::vector<Position>;

Position at(const Clock& clock, Session s) {
  return s < clock.size() ? clock[s] : 0;
}
void raise(Clock& clock, Session s, Position to) {
  if (s >= clock.size()) clock.resize(s + 1, 0);
  clock[s] = std::max(clock[s], to);
}
void join(Clock& clock, const Clock& other) {
  if (clock.size() < other.size()) clock.resize(other.size(), 0);
  for (std::size_t i = 0; i < other.size(); ++i) clock[i] = std::max(clock[i], other[i]);
}

class WeakAdmissibility final : public AdmissibilityChecker {
 public:
  void begin(Txn t, Session session, Level level) override {
    assert(is_weak(level));
    park();
    txn_ = t;
    live_ = true;
    removable_ = true;
    open_ = {};
    open_.session = session;
    open_.level = level;
    sources_.clear();
    is_source_.clear();
    first_reads_ = {};
    if (session >= sessions_.size()) sessions_.resize(session + 1);
    open_.position = static_cast<Position>(sessions_[session].size());
    if (open_.position > 0) {
      const Txn last = sessions_[session].back();
      open_.past = known_[last].past;
      raise(open_.past, session, open_.position);
    }
    first_arc_ = order_.arc_count();
  }

  void select(Txn open) override {
    if (live_ && txn_ == open) return;
    park();
    const auto found = parked_.find(open);
    assert(found != parked_.end());
    Parked& its = found->second;
    txn_ = open;
    live_ = true;
    removable_ = false;
    open_ = std::move(its.state);
    sources_ = std::move(its.sources);
    is_source_ = std::move(its.is_source);
    first_reads_ = std::move(its.first_reads);
    parked_.erase(found);
  }

  Txn latest(Key key) override {
    Txn last = kInitial;
    if (key >= writers_.size()) return last;
    for (const auto& [session, all] : writers_[key]) {
      if (last == kInitial || order_.rank(known_[all.back()].node) > order_.rank(known_[last].node))
        last = all.back();
    }
    return last;
  }

  void candidates(Key key, std::vector<Txn>& found) override {
    found.clear();
    if (const auto read = must_read_again(key)) return found.push_back(*read);
    // After every writer that T must not miss.
    must_not_miss(key, open_.past, nullptr, must_);
    must_for_ = {txn_, key, open_.reads.size()};
    const Clock* floor = &floor_;
    floor_.clear();
    if (must_.size() == 1) {
      floor = &known_[must_.front()].past;
    } else {
      for (const Txn k : must_) join(floor_, known_[k].past);
    }
    if (must_.empty()) found.push_back(kInitial);
    if (key >= writers_.size()) return;
    for (const auto& [session, all] : writers_[key])
      found.insert(found.end(), from_position(all, at(*floor, session)), all.end());
    std::sort(found.begin(), found.end(),
              [](Txn a, Txn b) { return a + 1 < b + 1; });  // kInitial first
  }

  bool try_read(Key key, Txn writer) override {
    save();
    if (const auto read = must_read_again(key)) {
      if (*read == writer) open_.reads.push_back({key, writer});
      return *read == writer;
    }
    if (add_read(key, writer)) return true;
    undo_last();
    return false;
  }

  void undo_last() override {
    order_.take_back_to(saved_.arcs);
    assert(first_reads_.known <= saved_.reads && "nobody looked for it since");
    open_.reads.resize(saved_.reads);
    if (saved_.has_past) open_.past = saved_.past;
    for (; sources_.size() > saved_.sources; sources_.pop_back()) is_source_.erase(sources_.back());
  }

  bool try_write(Key key) override {
    save();
    const auto place = std::lower_bound(open_.writes.begin(), open_.writes.end(), key);
    if (place == open_.writes.end() || *place != key) open_.writes.insert(place, key);
    return true;  // nobody has read from T, so nothing is after it
  }

  // Who writes the key comes later, and is not in the past of the reader.
  void saw_absent(Key /*key*/, Txn /*reader*/) override {}
  bool commit() override {
    const Txn t = txn_;
    live_ = false;
    if (known_.size() <= t) known_.resize(t + 1);
    open_.node = order_.add_node();
    const auto after = [&](Txn before) {
      [[maybe_unused]] const bool added = order_.add_arc(known_[before].node, open_.node);
      assert(added && "a new node is last");
    };
    if (open_.position > 0) after(sessions_[open_.session].back());
    std::sort(sources_.begin(), sources_.end());
    for (const Txn source : sources_) after(source);
    for (const Key key : open_.writes) {
      if (key >= writers_.size()) writers_.resize(key + 1);
      auto& of_key = writers_[key];
      auto place = std::find_if(of_key.begin(), of_key.end(),
                                [&](const auto& w) { return w.session == open_.session; });
      if (place == of_key.end()) place = of_key.insert(of_key.end(), {open_.session, {}});
      place->all.push_back(t);
    }
    sessions_[open_.session].push_back(t);
    open_.reads = {};  // what they force is in the order
    known_[t] = std::move(open_);
    return true;
  }

  void abort() override {
    live_ = false;
    if (removable_) order_.take_back_to(first_arc_);
  }

  [[nodiscard]] std::vector<Txn> order() const override {
    std::vector<Txn> found(order_.node_count());
    for (const auto& session : sessions_) {
      for (const Txn t : session) found[order_.rank(known_[t].node)] = t;
    }
    return found;
  }

 private:
  struct Read {
    Key key;
    Txn writer;
  };
  struct TxnState {
    Session session = 0;
    Level level = Level::kCausal;
    Position position = 0;
    Node node = 0;
    Clock past;               // (so ∪ wr)+, itself not included
    std::vector<Key> writes;  // ascending
    std::vector<Read> reads;  // of the open one
  };
  // The first read of each key among the first so many reads.
  struct FirstReads {
    base::HashMap<Key, Txn> from = {};
    std::size_t known = 0;
  };
  struct Parked {  // open, and not selected
    TxnState state;
    std::vector<Txn> sources;
    base::HashSet<Txn> is_source;
    FirstReads first_reads;
  };
  void park() {
    if (!live_) return;
    live_ = false;
    parked_[txn_] = {std::move(open_), std::move(sources_), std::move(is_source_),
                     std::move(first_reads_)};
  }
  struct SessionWriters {
    Session session;
    std::vector<Txn> all;
  };

  [[nodiscard]] bool writes(Txn t, Key key) const {
    return std::binary_search(known_[t].writes.begin(), known_[t].writes.end(), key);
  }
  [[nodiscard]] bool in_past_of(Txn a, Txn b) const {
    return at(known_[b].past, known_[a].session) > known_[a].position;
  }

  // The writers of the key that a read of it must not miss after the reads so far, as the
  // open transaction's level says; of one session the last is enough. At causal: those in
  // `past` and not in `but`.
  void must_not_miss(Key key, const Clock& past, const Clock* but, std::vector<Txn>& found) const {
    found.clear();
    switch (open_.level) {
      case Level::kReadAtomic:
        if (open_.position > 0) add_last(key, open_.session, open_.position, 0, found);
        [[fallthrough]];
      case Level::kReadCommitted:
        for (const Txn source : sources_) {
          if (writes(source, key)) found.push_back(source);
        }
        std::sort(found.begin(), found.end());
        found.erase(std::unique(found.begin(), found.end()), found.end());
        break;
      default:
        if (key >= writers_.size()) return;
        for (const auto& [session, all] : writers_[key]) {
          const auto until = at(past, session), from = but ? at(*but, session) : 0;
          if (until > from) add_last_of(all, until, from, found);
        }
    }
  }
  void add_last(Key key, Session session, Position until, Position from,
                std::vector<Txn>& found) const {
    if (key >= writers_.size()) return;
    for (const auto& w : writers_[key]) {
      if (w.session == session) add_last_of(w.all, until, from, found);
    }
  }
  // The last of these whose position is in [from, until).
  void add_last_of(const std::vector<Txn>& all, Position until, Position from,
                   std::vector<Txn>& found) const {
    const auto end = from_position(all, until);
    if (end != all.begin() && known_[*(end - 1)].position >= from) found.push_back(*(end - 1));
  }

  // The first of these whose position is not before this one: mostly one of the last.
  [[nodiscard]] std::vector<Txn>::const_iterator from_position(const std::vector<Txn>& all,
                                                               Position position) const {
    constexpr std::ptrdiff_t kNear = 4;
    const auto before = [&](Txn w, Position p) { return known_[w].position < p; };
    const auto near = all.end() - std::min(kNear, all.end() - all.begin());
    if (near == all.begin() || before(*std::prev(near), position))
      return std::find_if(near, all.end(), [&](Txn w) { return !before(w, position); });
    return std::lower_bound(all.begin(), near, position, before);
  }

  // Each of `must` is before `writer`, as far as the order can be made so.
  bool force(const std::vector<Txn>& must, Txn writer) {
    for (const Txn k : must) {
      if (k == writer) continue;
      if (writer == kInitial || in_past_of(writer, k)) return false;
    }
    for (const Txn k : must) {
      if (k == writer || in_past_of(k, writer)) continue;
      if (!order_.add_arc(known_[k].node, known_[writer].node)) return false;
    }
    return true;
  }

  // What a read of the key must return, since the transaction has read it.
  std::optional<Txn> must_read_again(Key key) {
    if (open_.level == Level::kReadCommitted) return std::nullopt;
    // Mostly it has not, and nobody else has been selected since it began.
    if (removable_ && (key >= last_reader_.size() || last_reader_[key] != txn_))
      return std::nullopt;
    auto& [from, known] = first_reads_;
    for (; known < open_.reads.size(); ++known)
      from.emplace(open_.reads[known].key, open_.reads[known].writer);
    const auto read = from.find(key);
    return read == from.end() ? std::nullopt : std::optional(read->second);
  }

  bool add_read(Key key, Txn writer) {
    const bool in_past =
        writer != kInitial && at(open_.past, known_[writer].session) > known_[writer].position;
    if (open_.level == Level::kCausal && writer != kInitial && !in_past) {
      save_past();
      join(open_.past, known_[writer].past);
      raise(open_.past, known_[writer].session, known_[writer].position + 1);
    }
    // candidates() knows already, unless this brought something into the past.
    const bool known = must_for_ == MustFor{txn_, key, open_.reads.size()} &&
                       (open_.level != Level::kCausal || writer == kInitial || in_past);
    if (!known) must_not_miss(key, open_.past, nullptr, must_);
    must_for_ = {};
    if (!force(must_, writer)) return false;
    // What was read before must not miss what the new source brings.
    const bool brings =
        open_.level == Level::kCausal ? saved_.has_past : !is_source_.contains(writer);
    if (writer != kInitial && brings) {
      for (const auto& read : open_.reads) {
        if (open_.level == Level::kReadCommitted) break;
        must_.clear();
        if (open_.level == Level::kCausal) {
          must_not_miss(read.key, open_.past, &saved_.past, must_);
        } else if (writes(writer, read.key)) {
          must_.push_back(writer);
        }
        if (!force(must_, read.writer)) return false;
      }
      if (open_.level != Level::kCausal) {
        save_past();
        join(open_.past, known_[writer].past);
        raise(open_.past, known_[writer].session, known_[writer].position + 1);
      }
    }
    open_.reads.push_back({key, writer});
    if (key >= last_reader_.size()) last_reader_.resize(key + 1, kInitial);
    last_reader_[key] = txn_;
    // At causal what is in the past is before the transaction by the sources that brought it.
    const bool is_new = open_.level == Level::kCausal
                            ? !in_past
                            : writer != kInitial && is_source_.insert(writer).second;
    if (writer != kInitial && is_new) sources_.push_back(writer);
    return true;
  }

  // For undo_last(). The past too, before it changes.
  void save() {
    saved_.arcs = order_.arc_count();
    saved_.reads = open_.reads.size();
    saved_.sources = sources_.size();
    saved_.has_past = false;
  }
  void save_past() {
    saved_.past = open_.past;
    saved_.has_past = true;
  }

  graph::OnlineOrder order_;
  std::vector<TxnState> known_;                       // by Txn
  std::vector<std::vector<Txn>> sessions_;            // committed
  std::vector<std::vector<SessionWriters>> writers_;  // by key: committed, by session
  Txn txn_ = 0;
  TxnState open_;
  bool live_ = false;       // a transaction is selected
  bool removable_ = false;  // its arcs are the last
  std::map<Txn, Parked> parked_;
  std::size_t first_arc_ = 0;
  struct {
    std::size_t arcs = 0, reads = 0, sources = 0;
    bool has_past = false;
    Clock past;
  } saved_;
  // Of the open transaction: whom it read from, each once, but at causal only those that were not
  // in its past before.
  std::vector<Txn> sources_;
  base::HashSet<Txn> is_source_;  // below causal
  FirstReads first_reads_;
  std::vector<Txn> last_reader_;  // by key: who read it last
  std::vector<Txn> must_;         // scratch, but for add_read() after candidates():
  struct MustFor {
    Txn txn = kInitial;
    Key key = 0;
    std::size_t reads = 0;
    friend bool operator==(const MustFor&, const MustFor&) = default;
  } must_for_;
  Clock floor_;  // scratch
};

}  // namespace

std::unique_ptr<AdmissibilityChecker> weak_admissibility() {
  return std::make_unique<WeakAdmissibility>();
}

}  // namespace cupel::mock
