// The oracle, in three steps: read the history into external reads with their
// candidate writers; enumerate the assignments; check each under one level.
#include "oracle/oracle.hpp"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <unordered_set>
#include <vector>

#include "data/history/text_order.hpp"

namespace cupel::oracle {

namespace {

using history::History;
using history::KeyId;
using history::OpId;
using history::OpKind;
using history::Time;
using history::TxnId;
using history::TxnStatus;
using history::ValueId;
using levels::Level;

// What a level asks, by docs/reference/levels.md and by no table of the engine.
enum class Visible : std::uint8_t { kEarlierRead, kOneStep, kAnySteps };
struct Asked {
  std::optional<Visible> visible;    // the φ of a weak level; none: the level is an order
  bool split = false;                // begin and commit are two events
  bool no_overlap = false;           // writers of one key must not overlap
  bool session_order = false;        // the commit before the begin
  bool real_time = false;            // of two events: the begin and the commit before the commit
  bool begins_in_real_time = false;  // the commit before the begin
};

// Without a default, so that the compiler names a level that is missing here.
Asked asked_of(Level level) {
  Asked asked;
  switch (level) {
    case Level::kReadCommitted:
      asked.visible = Visible::kEarlierRead;
      break;
    case Level::kReadAtomic:
      asked.visible = Visible::kOneStep;
      break;
    case Level::kCausal:
      asked.visible = Visible::kAnySteps;
      break;
    case Level::kPrefix:
      asked.split = asked.session_order = true;
      break;
    case Level::kSnapshotIsolation:
      asked.split = asked.no_overlap = true;
      break;
    case Level::kGeneralizedSnapshotIsolation:
      asked.split = asked.no_overlap = asked.real_time = true;
      break;
    case Level::kStrongSessionSnapshotIsolation:
      asked.split = asked.no_overlap = asked.session_order = true;
      break;
    case Level::kStrongSnapshotIsolation:
      asked.split = asked.no_overlap = asked.session_order = true;
      asked.real_time = asked.begins_in_real_time = true;
      break;
    case Level::kSerializable:
      break;
    case Level::kStrongSessionSerializable:
      asked.session_order = true;
      break;
    case Level::kStrictSerializable:
    case Level::kLinearizable:  // of each object
      asked.session_order = asked.real_time = asked.begins_in_real_time = true;
      break;
  }
  return asked;
}

constexpr int kInit = -1;  // the initial transaction, as a writer

struct Version {
  ValueId value;
  bool is_delete = false;
};

// What a read saw: this value, no value (a range read that does not list the
// key), or anything but this value (a compare-and-set that failed).
struct Seen {
  enum { kValue, kAbsent, kOther } what = kValue;
  ValueId value;

  [[nodiscard]] bool fits(const Version& v, ValueId null) const {
    switch (what) {
      case kValue:
        return v.value == value;
      case kAbsent:
        return v.is_delete || v.value == null;
      case kOther:
        return v.value != value;
    }
    return false;
  }
};

struct Txn {
  TxnId id;
  bool indeterminate = false;
  std::map<KeyId, Version> last_write;            // registers
  std::map<KeyId, std::vector<ValueId>> appends;  // lists
  std::set<KeyId> keys;
  [[nodiscard]] bool writes(KeyId k) const { return last_write.count(k) || appends.count(k); }
};

// One question "who wrote this?" with its possible answers.
struct Slot {
  std::vector<int> candidates;  // positions in txns, or kInit
};
struct RegisterRead {
  int txn;
  std::uint32_t op;
  KeyId key;
  int slot;
  bool further;
};
struct ListRead {
  int txn;
  std::uint32_t op;
  std::size_t others;  // elements before the reader's own
  std::size_t own;     // the reader's own appends so far, at the end
};
struct ListKey {
  std::vector<ValueId> longest;  // every read of the key is a prefix of it
  std::vector<int> slots;        // of each of its elements
  std::vector<ListRead> reads;
};

// What one assignment of writers makes of the reads.
struct Source {
  int reader;
  std::uint32_t op;
  KeyId key;
  int writer;
  bool further = false;  // a range read returned the key before, with another value
};
struct Assigned {
  std::vector<Source> sources;
  std::vector<std::pair<int, int>> ww;  // version orders that list reads fix
  std::vector<bool> counted;            // committed, or indeterminate and read
};

class Oracle {
 public:
  // `happened`, `never`: indeterminate transactions of which that is assumed.
  Oracle(const History& h, Time drift, const std::set<TxnId>& happened = {},
         const std::set<TxnId>& never = {})
      : h_(h), drift_(drift), happened_(happened), never_(never) {
    collect_transactions();
    for (int t = 0; t < size() && possible_; ++t) {
      if (!txns_[t].indeterminate || happened_.contains(txns_[t].id)) collect_reads(t);
    }
    if (possible_) make_list_slots();
    for (const auto& slot : slots_) possible_ = possible_ && !slot.candidates.empty();
  }

  [[nodiscard]] double choices() const {
    double product = 1;
    for (const auto& slot : slots_) product *= static_cast<double>(slot.candidates.size());
    return product;
  }

  bool satisfies(Level level) {
    if (!possible_) return false;
    std::vector<int> writer_of_slot(slots_.size());
    return some_assignment(level, 0, writer_of_slot);
  }

 private:
  [[nodiscard]] int size() const { return static_cast<int>(txns_.size()); }

  // ---- the history ----

  void collect_transactions() {
    for (std::size_t i = 0; i < h_.txn_count(); ++i) {
      const TxnId t(i);
      if (h_.status(t) == TxnStatus::kAborted || never_.contains(t)) continue;
      Txn txn;
      txn.id = t;
      txn.indeterminate = h_.status(t) == TxnStatus::kIndeterminate;
      for (auto o = h_.first_op(t); o < h_.last_op(t); ++o) {
        const auto op = h_.op(OpId(o));
        if (op.key.valid()) txn.keys.insert(op.key);
        if (op.kind == OpKind::kAppend) txn.appends[op.key].push_back(op.value);
        if (const auto written = write_of(op)) txn.last_write[op.key] = *written;
      }
      txns_.push_back(std::move(txn));
    }
  }

  [[nodiscard]] std::optional<Version> write_of(const history::Operation& op) const {
    switch (op.kind) {
      case OpKind::kWrite:
      case OpKind::kInsert:
        return Version{op.value};
      case OpKind::kDelete:
        return Version{op.value, true};
      case OpKind::kCompareAndSet: {
        const auto cas = h_.compare_and_set(op);
        if (cas.succeeded) return Version{cas.desired};
        return std::nullopt;
      }
      default:
        return std::nullopt;
    }
  }

  void collect_reads(int t) {
    const TxnId id = txns_[t].id;
    std::map<KeyId, Version> own;
    std::map<KeyId, std::vector<ValueId>> own_appends;
    for (auto o = h_.first_op(id); o < h_.last_op(id); ++o) {
      const auto op = h_.op(OpId(o));
      // Of an indeterminate transaction only the compare-and-sets that took effect
      // are known to have read.
      const bool known = !txns_[t].indeterminate ||
                         (op.kind == OpKind::kCompareAndSet && h_.compare_and_set(op).succeeded);
      const auto saw = [&](KeyId key, Seen seen, bool further = false) {
        const auto it = own.find(key);
        if (it == own.end())
          add_register_read(t, o, key, seen, further);
        else if (!seen.fits(it->second, h_.null_value()))
          possible_ = false;  // not my (last) write
      };
      if (known) switch (op.kind) {
          case OpKind::kRead:
            if (op.value.valid()) saw(op.key, {Seen::kValue, op.value});
            break;
          case OpKind::kCompareAndSet: {
            const auto cas = h_.compare_and_set(op);
            saw(op.key, {cas.succeeded ? Seen::kValue : Seen::kOther, cas.expected});
            break;
          }
          case OpKind::kRangeRead: {
            const auto range = h_.range(op);
            const auto between = h_.keys_between(h_.value(range.low), h_.value(range.high));
            std::set<KeyId> keys(between.begin(), between.end());
            for (const auto& e : range.entries) keys.insert(e.key);  // also if it lies outside
            for (const KeyId k : keys) {
              std::vector<ValueId> values;
              for (const auto& e : range.entries) {
                if (e.key != k || std::find(values.begin(), values.end(), e.value) != values.end())
                  continue;
                saw(k, {Seen::kValue, e.value}, !values.empty());
                values.push_back(e.value);
              }
              // By its unit test, no usual order of texts contradicts this one.
              const bool sure =
                  history::agreed_between(h_.value(range.low), h_.key(k), h_.value(range.high));
              if (!values.empty() || !sure) continue;
              if (h_.is_list(k))
                add_list_read(t, o, k, {}, own_appends[k]);
              else
                saw(k, {Seen::kAbsent, ValueId::none()});
            }
            break;
          }
          case OpKind::kAppend:
            own_appends[op.key].push_back(op.value);
            break;
          case OpKind::kListRead:
            if (h_.list_known(op)) add_list_read(t, o, op.key, h_.list(op), own_appends[op.key]);
            break;
          default:
            break;
        }
      if (const auto written = write_of(op)) own[op.key] = *written;
    }
  }

  void add_register_read(int t, std::uint32_t op, KeyId key, Seen seen, bool further) {
    Slot slot;
    if (seen.fits({h_.initial_value(key)}, h_.null_value())) slot.candidates.push_back(kInit);
    for (int w = 0; w < size(); ++w) {
      const auto it = txns_[w].last_write.find(key);
      if (w != t && it != txns_[w].last_write.end() && seen.fits(it->second, h_.null_value())) {
        slot.candidates.push_back(w);
      }
    }
    reads_.push_back({t, op, key, static_cast<int>(slots_.size()), further});
    slots_.push_back(std::move(slot));
  }

  void add_list_read(int t, std::uint32_t op, KeyId key, std::span<const ValueId> list,
                     const std::vector<ValueId>& own) {
    if (list.size() < own.size() || !std::equal(own.begin(), own.end(), list.end() - own.size())) {
      possible_ = false;  // not my own appends
      return;
    }
    auto& lk = lists_[key];
    const auto shorter = std::min(list.size(), lk.longest.size());
    if (!std::equal(list.begin(), list.begin() + shorter, lk.longest.begin())) possible_ = false;
    if (list.size() > lk.longest.size()) lk.longest.assign(list.begin(), list.end());
    lk.reads.push_back({t, op, list.size() - own.size(), own.size()});
  }

  // A place of the list has one writer, whoever reads it: a slot per place, not
  // per read. (An element that was appended twice may stand at two places.)
  void make_list_slots() {
    for (auto& [key, lk] : lists_) {
      for (std::size_t p = 0; p < lk.longest.size(); ++p) {
        Slot slot;
        for (int w = 0; w < size(); ++w) {
          const auto it = txns_[w].appends.find(key);
          if (it == txns_[w].appends.end()) continue;
          if (std::find(it->second.begin(), it->second.end(), lk.longest[p]) != it->second.end()) {
            slot.candidates.push_back(w);
          }
        }
        for (const auto& read : lk.reads) {
          if (p >= read.others + read.own) continue;
          const bool own = p >= read.others;
          std::erase_if(slot.candidates, [&](int w) { return own != (w == read.txn); });
        }
        lk.slots.push_back(static_cast<int>(slots_.size()));
        slots_.push_back(std::move(slot));
      }
    }
  }

  // ---- the assignments ----

  bool some_assignment(Level level, std::size_t slot, std::vector<int>& writers) {
    if (slot == slots_.size()) {
      const auto assigned = assign(writers);
      return assigned && satisfies(level, *assigned);
    }
    for (const int w : slots_[slot].candidates) {
      writers[slot] = w;
      if (some_assignment(level, slot + 1, writers)) return true;
    }
    return false;
  }

  [[nodiscard]] std::optional<Assigned> assign(const std::vector<int>& writers) const {
    Assigned a;
    a.counted.resize(txns_.size());
    for (int t = 0; t < size(); ++t) {
      a.counted[t] = !txns_[t].indeterminate || happened_.contains(txns_[t].id);
    }
    for (const int w : writers) {
      if (w != kInit) a.counted[w] = true;
    }
    for (const auto& r : reads_)
      a.sources.push_back({r.txn, r.op, r.key, writers[r.slot], r.further});
    for (const auto& [key, lk] : lists_) {
      if (!assign_list(key, lk, writers, a)) return std::nullopt;
    }
    return a;
  }

  bool assign_list(KeyId key, const ListKey& lk, const std::vector<int>& writers,
                   Assigned& a) const {
    const std::size_t n = lk.longest.size();
    const auto at = [&](std::size_t p) { return writers[lk.slots[p]]; };
    // Runs of one writer: the writer's appends, in order, once; cut short only
    // at the end of the longest read (which then must be the writer's own).
    std::vector<int> order;
    for (std::size_t p = 0; p < n;) {
      const int w = at(p);
      const auto& appends = txns_[w].appends.at(key);
      std::size_t m = 0;
      while (p + m < n && at(p + m) == w) ++m;
      if (m > appends.size() || (m < appends.size() && p + m < n)) return false;
      if (!std::equal(appends.begin(), appends.begin() + m, lk.longest.begin() + p)) return false;
      if (std::find(order.begin(), order.end(), w) != order.end()) return false;
      order.push_back(w);
      p += m;
    }
    for (const auto& read : lk.reads) {
      if (read.others > 0) {
        const int w = at(read.others - 1);
        std::size_t seen = 0;
        for (std::size_t p = 0; p < read.others; ++p) seen += at(p) == w;
        if (seen != txns_[w].appends.at(key).size()) return false;  // intermediate read
      }
      // After own appends the part before them is not a read: it only fixes the order.
      if (read.own == 0) {
        a.sources.push_back(
            {read.txn, read.op, key, read.others > 0 ? at(read.others - 1) : kInit});
      }
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
      for (std::size_t j = i + 1; j < order.size(); ++j) a.ww.emplace_back(order[i], order[j]);
      for (int t = 0; t < size(); ++t) {
        const bool unread = std::find(order.begin(), order.end(), t) == order.end();
        if (a.counted[t] && unread && txns_[t].appends.count(key)) a.ww.emplace_back(order[i], t);
      }
    }
    return true;
  }

  // ---- the levels ----

  [[nodiscard]] bool session_order(int i, int j) const {
    const TxnId a = txns_[i].id, b = txns_[j].id;
    return h_.session(a) == h_.session(b) && a < b && !txns_[i].indeterminate;
  }
  [[nodiscard]] bool real_time(int i, int j) const {
    if (txns_[i].indeterminate) return false;  // completes at infinity
    return h_.complete(txns_[i].id) + drift_ < h_.invoke(txns_[j].id) - drift_;
  }

  bool satisfies(Level level, const Assigned& a) const {
    const Asked asked = asked_of(level);
    if (asked.visible) return satisfies_weak(*asked.visible, a);
    if (level != Level::kLinearizable) return satisfies_order(asked, a);
    std::set<KeyId> keys;
    for (const auto& t : txns_) keys.insert(t.keys.begin(), t.keys.end());
    for (const KeyId k : keys) {
      Assigned part = a;
      for (int t = 0; t < size(); ++t) part.counted[t] = a.counted[t] && txns_[t].keys.count(k);
      if (!satisfies_order(asked, part)) return false;
    }
    return true;
  }

  using Relation = std::vector<std::vector<bool>>;
  static void close(Relation& r) {
    for (std::size_t k = 0; k < r.size(); ++k)
      for (std::size_t i = 0; i < r.size(); ++i)
        for (std::size_t j = 0; j < r.size(); ++j)
          if (r[i][k] && r[k][j]) r[i][j] = true;
  }

  // The rows of one range read are read at one moment. At read-committed the first row of a
  // key is the read: the others have a writer, and order nothing.
  bool satisfies_weak(Visible visible, Assigned a) const {
    if (visible == Visible::kEarlierRead)
      std::erase_if(a.sources, [](const Source& s) { return s.further; });
    const int n = size() + 1;  // the last node is the initial transaction
    const auto node = [&](int t) { return t == kInit ? n - 1 : t; };
    Relation step(n, std::vector<bool>(n, false));  // so ∪ wr
    for (int i = 0; i < size(); ++i) {
      if (!a.counted[i]) continue;
      step[node(kInit)][i] = true;
      for (int j = 0; j < size(); ++j) {
        if (a.counted[j] && session_order(i, j)) step[i][j] = true;
      }
    }
    for (const auto& s : a.sources) step[node(s.writer)][s.reader] = true;
    Relation causal = step;
    close(causal);

    Relation co = step;
    for (const auto& [from, to] : a.ww) co[from][to] = true;
    for (const auto& r : a.sources) {
      for (int k = 0; k < size(); ++k) {
        if (k == r.writer || !a.counted[k] || !txns_[k].writes(r.key)) continue;
        bool phi = false;
        switch (visible) {
          case Visible::kEarlierRead:
            for (const auto& earlier : a.sources) {
              if (earlier.reader == r.reader && earlier.op < r.op && earlier.writer == k)
                phi = true;
            }
            break;
          case Visible::kOneStep:
            phi = step[k][r.reader];
            break;
          case Visible::kAnySteps:
            phi = causal[k][r.reader];
            break;
        }
        if (phi) co[k][node(r.writer)] = true;
      }
    }
    close(co);
    for (int i = 0; i < n; ++i) {
      if (co[i][i]) return false;
    }
    return true;
  }

  // All total orders of events, built from the front. Whether an event may come
  // next depends on the set of those before it only, so a set is tried once.
  struct Search {
    bool split;       // begin and commit are two events
    bool no_overlap;  // writers of one key must not overlap
    std::vector<int> members;
    std::vector<std::uint64_t> before;  // events that must precede this one
    std::unordered_set<std::uint64_t> dead;
  };
  static int begin_of(const Search& s, int t) { return s.split ? 2 * t : t; }
  static int commit_of(const Search& s, int t) { return s.split ? 2 * t + 1 : t; }
  static std::uint64_t bit(int event) { return std::uint64_t{1} << event; }

  bool satisfies_order(const Asked& asked, const Assigned& a) const {
    Search s;
    s.split = asked.split;
    s.no_overlap = asked.no_overlap;
    assert(size() <= 32 && "the oracle is for small histories");
    s.before.assign(2 * txns_.size(), 0);
    const auto must = [&](int from, int to) { s.before[to] |= bit(from); };
    for (int i = 0; i < size(); ++i) {
      if (a.counted[i]) s.members.push_back(i);
    }
    for (const int i : s.members) {
      const int bi = begin_of(s, i), ci = commit_of(s, i);
      if (s.split) must(bi, ci);
      for (const int j : s.members) {
        if (i == j) continue;
        const int bj = begin_of(s, j), cj = commit_of(s, j);
        if (asked.session_order && session_order(i, j)) must(ci, bj);
        if (!asked.real_time || !real_time(i, j)) continue;
        if (asked.split) must(bi, cj), must(ci, cj);
        if (asked.begins_in_real_time) must(ci, bj);
      }
    }
    for (const auto& [i, j] : a.ww) {
      if (a.counted[i] && a.counted[j]) {
        must(commit_of(s, i), s.split && !s.no_overlap ? commit_of(s, j) : begin_of(s, j));
      }
    }
    for (const auto& r : a.sources) {
      if (a.counted[r.reader] && r.writer != kInit) {
        must(commit_of(s, r.writer), begin_of(s, r.reader));
      }
    }
    return complete_order(s, a, 0);
  }

  bool complete_order(Search& s, const Assigned& a, std::uint64_t done) const {
    bool finished = true;
    for (const int t : s.members) finished = finished && (done & bit(commit_of(s, t)));
    if (finished) return true;
    if (s.dead.count(done)) return false;
    for (const int t : s.members) {
      for (const int event : {begin_of(s, t), commit_of(s, t)}) {
        if ((done & bit(event)) || (s.before[event] & ~done)) continue;
        if (event == begin_of(s, t) && !may_begin(s, t, done)) continue;
        if (event == commit_of(s, t) && !may_commit(s, a, t, done)) continue;
        if (complete_order(s, a, done | bit(event))) return true;
      }
    }
    s.dead.insert(done);
    return false;
  }

  // Writers of one key: one commits before the other begins.
  bool may_begin(const Search& s, int t, std::uint64_t done) const {
    if (!s.no_overlap) return true;
    for (const int o : s.members) {
      if (o == t || !(done & bit(begin_of(s, o))) || (done & bit(commit_of(s, o)))) continue;
      for (const KeyId k : txns_[t].keys) {
        if (txns_[t].writes(k) && txns_[o].writes(k)) return false;
      }
    }
    return true;
  }

  // rw: a version that t overwrites has all its readers before that write.
  bool may_commit(const Search& s, const Assigned& a, int t, std::uint64_t done) const {
    for (const auto& r : a.sources) {
      if (r.reader == t || r.writer == t || !a.counted[r.reader] || !txns_[t].writes(r.key))
        continue;
      const bool overwrites = r.writer == kInit || (done & bit(commit_of(s, r.writer)));
      if (overwrites && !(done & bit(begin_of(s, r.reader)))) return false;
    }
    return true;
  }

  const History& h_;
  Time drift_;
  const std::set<TxnId> happened_, never_;
  bool possible_ = true;  // no internal violation of read-committed so far
  std::vector<Txn> txns_;
  std::vector<Slot> slots_;
  std::vector<RegisterRead> reads_;
  std::map<KeyId, ListKey> lists_;
};

}  // namespace

// Two reads of a key, or two rows of one range read, with different values and no own
// write between need no check of their own: their writers differ, so read-atomic orders each before
// the other, and no order has both as the current version at one begin.
bool oracle_satisfies(const History& history, Level level, Time drift) {
  assert((!asked_of(level).real_time || history.has_all_times()) && "no meaning without times");
  assert((level != Level::kLinearizable || is_single_object(history)) &&
         "one object a transaction");
  // An indeterminate transaction with a compare-and-set either never happened,
  // or happened and saw what it expected: try all.
  std::vector<TxnId> unsure;
  for (std::size_t i = 0; i < history.txn_count(); ++i) {
    const TxnId t(i);
    if (history.status(t) != TxnStatus::kIndeterminate) continue;
    for (auto o = history.first_op(t); o < history.last_op(t); ++o) {
      if (history.kind(OpId(o)) != OpKind::kCompareAndSet) continue;
      unsure.push_back(t);
      break;
    }
  }
  for (std::size_t bits = 0; bits < (std::size_t{1} << unsure.size()); ++bits) {
    std::set<TxnId> happened, never;
    for (std::size_t i = 0; i < unsure.size(); ++i)
      ((bits >> i) & 1 ? happened : never).insert(unsure[i]);
    if (Oracle(history, drift, happened, never).satisfies(level)) return true;
  }
  return false;
}

bool is_single_object(const History& h) {
  for (std::size_t i = 0; i < h.txn_count(); ++i) {
    const TxnId t(i);
    if (h.status(t) == TxnStatus::kAborted) continue;
    std::set<KeyId> keys;
    for (auto o = h.first_op(t); o < h.last_op(t); ++o) {
      if (h.op(OpId(o)).kind == OpKind::kRangeRead) return false;
      keys.insert(h.op(OpId(o)).key);
    }
    if (keys.size() > 1) return false;
  }
  return true;
}

double writer_choices(const History& history) {
  return Oracle(history, 0).choices();
}

}  // namespace cupel::oracle
