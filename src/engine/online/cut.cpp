// Cut: see the header, and docs/internals/algorithms/online.md for the argument.
//
// The greatest set that fits is found by taking out of "all" what may not go, and with
// it what may not go without that. Positions are places in the witness's order; what is
// known of every order (not of this one only) is in vector clocks: sessions are chains,
// an indeterminate transaction is a chain of its own.
//
// Cost: O(transactions · chains + reads + writes), besides sorting.
#include "engine/online/cut.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "base/offsets.hpp"
#include "data/history/times.hpp"

namespace cupel::online {

using history::History;
using history::KeyId;
using history::OpId;
using history::OpKind;
using history::SessionId;
using history::Time;
using history::TxnId;
using history::TxnStatus;
using levels::kInitialOwner;
using levels::Level;
using levels::Owner;

namespace {

using Place = std::uint32_t;  // from 1; 0 is that of the initial versions
constexpr Place kNever = std::numeric_limits<Place>::max();
constexpr std::uint64_t kMostClocks = 64'000'000;  // entries
constexpr std::size_t kLooks = 16;                 // neighbours that are tried where any would do

enum class Why : std::uint8_t { kForgotten, kUncovered, kUndecided, kOutcome };

class Cutter {
 public:
  explicit Cutter(const CutQuestion& q)
      : q_(q),
        h_(q.history),
        a_(q.accesses),
        n_(static_cast<Owner>(q.accesses.txns.size())),
        real_time_(levels::needs_real_time(q.level)),
        by_key_(levels::spec_of(q.level).single_object),
        causal_(q.level == Level::kCausal),
        apart_(causal_ || q.level == Level::kPrefix) {}

  Cut run() && {
    kept_.assign(n_, Why::kForgotten);
    if (!a_.further_rows.empty() || (!real_time_ && q_.unseen_session)) return all_kept();
    find_places();
    find_writers();
    find_reads();
    find_loose();
    find_awaited();
    find_chains();
    compute_clocks();
    take_out();
    if (!undecided_keys_.empty() && clocks_ && add_visible_edges()) {
      compute_clocks();
      kept_.assign(n_, Why::kForgotten);
      take_out();
    }
    return result();
  }

 private:
  [[nodiscard]] bool committed(Owner o) const {
    return h_.status(a_.txns[o]) == TxnStatus::kCommitted;
  }
  [[nodiscard]] bool in_order(Owner o) const { return commit_[o] != kNever; }
  [[nodiscard]] bool forgotten(Owner o) const { return kept_[o] == Why::kForgotten; }

  Cut all_kept() const {
    Cut cut;
    cut.kept.assign(h_.txn_count(), 1);
    cut.uncovered = h_.txn_count();
    return cut;
  }

  void place(std::span<const TxnId> order) {
    for (const TxnId txn : order) {
      const Owner o = a_.owner_of[txn.index()];
      if (o == kInitialOwner) continue;
      ++last_place_;
      if (begin_[o] == kNever) begin_[o] = last_place_;
      commit_[o] = last_place_;
    }
  }

  void find_places() {
    begin_.assign(n_, kNever);
    commit_.assign(n_, kNever);
    if (by_key_) {
      for (const auto& key : q_.witness.by_key) place(key.order);
    } else {
      place(q_.witness.order);
    }
    for (Owner o = 0; o < n_; ++o) {
      if (in_order(o)) by_commit_.push_back(o);
    }
    std::sort(by_commit_.begin(), by_commit_.end(),
              [this](Owner a, Owner b) { return commit_[a] < commit_[b]; });
  }

  void find_writers() {
    writer_first_.assign(h_.key_count() + 1, 0);
    for (const Owner o : by_commit_) {
      for (const auto& write : writes_of(o)) ++writer_first_[write.key.index() + 1];
    }
    base::counts_to_offsets(writer_first_);
    writers_.resize(writer_first_.back());
    auto next = writer_first_;
    for (const Owner o : by_commit_) {
      for (const auto& write : writes_of(o)) writers_[next[write.key.index()]++] = o;
    }
  }

  [[nodiscard]] std::span<const levels::FinalWrite> writes_of(Owner o) const {
    return std::span(a_.writes).subspan(a_.write_first[o],
                                        a_.write_first[o + 1] - a_.write_first[o]);
  }
  // In the order of their commits.
  [[nodiscard]] std::span<const Owner> writers(KeyId key) const {
    return std::span(writers_).subspan(writer_first_[key.index()],
                                       writer_first_[key.index() + 1] - writer_first_[key.index()]);
  }
  // The first of the key's writers that commits after `at`.
  [[nodiscard]] std::size_t first_after(KeyId key, Place at) const {
    const auto all = writers(key);
    const auto it = std::upper_bound(all.begin(), all.end(), at,
                                     [this](Place p, Owner o) { return p < commit_[o]; });
    return static_cast<std::size_t>(it - all.begin());
  }

  // A read of one key, and whom it is from in the witness.
  struct ReadOf {
    Owner reader, writer;
    KeyId key;
    Place earliest;  // of the writers it may be from; of a read with one, that one's
    bool several;
  };

  [[nodiscard]] Place place_of(Owner writer) const {
    return writer == kInitialOwner ? 0 : commit_[writer];
  }

  Owner resolved(const levels::ExternalRead& read) const {
    const auto count = read.joint_last - read.joint_first;
    if (count == 1) return a_.candidates[read.joint_first];
    if (levels::is_weak(q_.witness.level)) {
      const auto it = said_.find({read.op.raw, read.key.raw});
      return it != said_.end() ? it->second : kInitialOwner;
    }
    const auto all = writers(read.key);
    for (auto i = first_after(read.key, begin_[read.owner]); i-- > 0;) {
      if (all[i] != read.owner) return all[i];
    }
    return kInitialOwner;
  }

  void find_reads() {
    for (const auto& from : q_.witness.reads_from) {
      said_[{from.read.raw, from.key.raw}] =
          from.writer.valid() ? a_.owner_of[from.writer.index()] : kInitialOwner;
    }
    for (const auto& read : a_.reads) {
      if (read.repeated || !in_order(read.owner)) continue;
      const bool unsure =
          std::binary_search(q_.unsure_reads.begin(), q_.unsure_reads.end(), read.op);
      ReadOf one{read.owner, resolved(read), read.key, kNever,
                 unsure || read.joint_last - read.joint_first != 1};
      for (auto c = read.joint_first; c < read.joint_last; ++c) {
        one.earliest = std::min(one.earliest, place_of(a_.candidates[c]));
      }
      reads_.push_back(one);
    }
    index(reads_of_, n_, [](const ReadOf& r) { return r.reader; });
    index(readers_of_, n_ + 1,
          [this](const ReadOf& r) { return r.writer == kInitialOwner ? n_ : r.writer; });
    index(reads_at_, static_cast<std::uint32_t>(h_.key_count()),
          [](const ReadOf& r) { return r.key.raw; });
  }

  // Reads by something.
  struct Index {
    std::vector<std::uint32_t> first, read;
    [[nodiscard]] std::span<const std::uint32_t> of(std::uint32_t i) const {
      return std::span(read).subspan(first[i], first[i + 1] - first[i]);
    }
  };
  template <typename By>
  void index(Index& index, std::uint32_t count, By by) {
    index.first.assign(count + 1, 0);
    for (const auto& read : reads_) ++index.first[by(read) + 1];
    base::counts_to_offsets(index.first);
    index.read.resize(reads_.size());
    auto next = index.first;
    for (std::uint32_t i = 0; i < reads_.size(); ++i) index.read[next[by(reads_[i])]++] = i;
  }

  // Indeterminate transactions that somebody may still read from, by key.
  void find_loose() {
    for (std::uint32_t t = 0; t < h_.txn_count(); ++t) {
      const Owner o = a_.owner_of[t];
      if (h_.status(TxnId(t)) != TxnStatus::kIndeterminate || q_.open[t] || q_.unread[t]) continue;
      if (o != kInitialOwner && in_order(o)) continue;
      for (auto i = h_.first_op(TxnId(t)); i < h_.last_op(TxnId(t)); ++i) {
        const auto op = h_.op(OpId(i));
        const bool writes = op.kind != OpKind::kRead && op.kind != OpKind::kListRead &&
                            op.kind != OpKind::kRangeRead;
        if (writes) loose_[op.key.raw].push_back(TxnId(t));
        if (op.kind == OpKind::kCompareAndSet) loose_reads_.insert(op.key.raw);
      }
    }
  }

  // A compare-and-set of unknown outcome, of which somebody read, saw what it expected: perhaps of
  // a write of unknown outcome. That read is none of the accesses, so the writer need not be in the
  // order. Neither goes before it is.
  void find_awaited() {
    awaited_.assign(h_.txn_count(), 0);
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Owner>> expected;
    for (const Owner o : by_commit_) {
      if (committed(o)) continue;
      const TxnId t = a_.txns[o];
      for (auto i = h_.first_op(t); i < h_.last_op(t); ++i) {
        const auto op = h_.op(OpId(i));
        if (op.kind != OpKind::kCompareAndSet) continue;
        expected[{op.key.raw, h_.compare_and_set(op).expected.raw}].push_back(o);
      }
    }
    if (expected.empty()) return;
    for (std::uint32_t t = 0; t < h_.txn_count(); ++t) {
      const Owner o = a_.owner_of[t];
      if (h_.status(TxnId(t)) != TxnStatus::kIndeterminate) continue;
      if (o != kInitialOwner && in_order(o)) continue;
      for (auto i = h_.first_op(TxnId(t)); i < h_.last_op(TxnId(t)); ++i) {
        const auto op = h_.op(OpId(i));
        const auto value = op.kind == OpKind::kCompareAndSet ? h_.compare_and_set(op).desired
                           : op.kind == OpKind::kDelete      ? h_.null_value()
                                                             : op.value;
        for (const auto seen : {value, op.value}) {
          const auto by = expected.find({op.key.raw, seen.raw});
          if (op.kind == OpKind::kRead || by == expected.end()) continue;
          awaited_[t] = 1;
          awaiting_.insert(awaiting_.end(), by->second.begin(), by->second.end());
        }
      }
    }
  }

  // --- what holds in every order ---

  void find_chains() {
    chain_.assign(n_, 0);
    at_.assign(n_, 0);
    before_in_session_.assign(n_, kInitialOwner);
    chains_ = static_cast<std::uint32_t>(h_.session_count());
    std::vector<std::uint32_t> length(h_.session_count(), 0);
    last_of_session_.assign(h_.session_count(), kInitialOwner);
    for (Owner o = 0; o < n_; ++o) {
      const auto s = h_.session(a_.txns[o]).index();
      before_in_session_[o] = last_of_session_[s];
      if (committed(o)) {
        chain_[o] = static_cast<std::uint32_t>(s);
        at_[o] = ++length[s];
        last_of_session_[s] = o;
      } else {
        chain_[o] = chains_++;
        at_[o] = 1;
      }
    }
    clocks_ = !by_key_ && static_cast<std::uint64_t>(n_) * chains_ <= kMostClocks;
  }

  std::uint32_t* row(std::vector<std::uint32_t>& clocks, Owner o) {
    return clocks.data() + static_cast<std::size_t>(o) * chains_;
  }
  [[nodiscard]] const std::uint32_t* row(const std::vector<std::uint32_t>& clocks, Owner o) const {
    return clocks.data() + static_cast<std::size_t>(o) * chains_;
  }
  void join(std::uint32_t* into, const std::vector<std::uint32_t>& clocks, Owner from) {
    const auto* other = row(clocks, from);
    for (std::uint32_t c = 0; c < chains_; ++c) into[c] = std::max(into[c], other[c]);
    into[chain_[from]] = std::max(into[chain_[from]], at_[from]);
  }

  // As join(), into a row that has the whole row of whoever is in it. What the times say is less.
  void join_new(std::uint32_t* into, const std::vector<std::uint32_t>& clocks, Owner from) {
    if (real_time_ || into[chain_[from]] < at_[from]) join(into, clocks, from);
  }

  // Of each transaction, who committed before it began (visible_), and who before it committed
  // (before_), where that is more.
  void compute_clocks() {
    if (!clocks_) return;
    const auto size = static_cast<std::size_t>(n_) * chains_;
    visible_.assign(size, 0);
    if (apart_) before_.assign(size, 0);
    if (forced_.empty()) {
      for (const auto& arc : a_.list_order) add_forced(arc.from, arc.to);
    }
    std::sort(forced_.begin(), forced_.end());
    if (real_time_) note_real_time();
    for (const Owner o : by_commit_) {
      auto* mine = row(visible_, o);
      const auto& through = apart_ && !causal_ ? before_ : visible_;
      if (before_in_session_[o] != kInitialOwner) join_new(mine, through, before_in_session_[o]);
      for (const auto r : reads_of_.of(o)) {
        const auto& read = reads_[r];
        if (!read.several && read.writer != kInitialOwner) join_new(mine, through, read.writer);
      }
      auto* ordered = mine;
      if (apart_) {
        ordered = row(before_, o);
        std::copy_n(mine, chains_, ordered);
        if (causal_) {
          if (before_in_session_[o] != kInitialOwner) join(ordered, before_, before_in_session_[o]);
          for (const auto r : reads_of_.of(o)) {
            const auto& read = reads_[r];
            if (!read.several && read.writer != kInitialOwner) join(ordered, before_, read.writer);
          }
        }
      }
      auto it = std::lower_bound(forced_.begin(), forced_.end(), std::pair(o, Owner{0}));
      for (; it != forced_.end() && it->first == o; ++it) {
        if (apart_) {
          join(ordered, before_, it->second);
        } else {
          join_new(ordered, visible_, it->second);
        }
      }
    }
  }

  void add_forced(Owner from, Owner to) {
    if (from != to && in_order(from) && in_order(to)) forced_.emplace_back(to, from);
  }

  // Who completed before it was invoked.
  void note_real_time() {
    std::vector<Owner> by_invoke;
    for (Owner o = 0; o < n_; ++o) by_invoke.push_back(o);
    std::sort(by_invoke.begin(), by_invoke.end(),
              [this](Owner a, Owner b) { return invoked(a) < invoked(b); });
    std::vector<std::vector<Owner>> chains(chains_);
    for (Owner o = 0; o < n_; ++o) {
      if (committed(o)) chains[chain_[o]].push_back(o);
    }
    std::vector<std::uint32_t> passed(chains_, 0);
    for (const Owner o : by_invoke) {
      for (std::uint32_t c = 0; c < h_.session_count(); ++c) {
        while (passed[c] < chains[c].size() && completed(chains[c][passed[c]]) < invoked(o)) {
          ++passed[c];
        }
      }
      std::copy(passed.begin(), passed.end(), row(visible_, o));
    }
  }

  // Widened by the drift.
  [[nodiscard]] Time invoked(Owner o) const {
    return history::earlier(h_.invoke(a_.txns[o]), q_.drift);
  }
  [[nodiscard]] Time completed(Owner o) const {
    return committed(o) ? history::later(h_.complete(a_.txns[o]), q_.drift) : history::kLatestTime;
  }

  // a commits before b does (at the levels where writers exclude each other: before b begins).
  [[nodiscard]] bool forced(Owner a, Owner b) const {
    if (clocks_) return row(apart_ ? before_ : visible_, b)[chain_[a]] >= at_[a];
    if (real_time_ && completed(a) < invoked(b)) return true;
    const auto reads = reads_of_.of(b);
    return std::any_of(reads.begin(), reads.end(),
                       [&](auto r) { return !reads_[r].several && reads_[r].writer == a; });
  }

  // Of two writers of a key of which a reader saw the later one and could see both, the other is
  // the earlier. True if there was anything to add.
  bool add_visible_edges() {
    const auto before = forced_.size();
    for (const auto raw : undecided_keys_) {
      const KeyId key(raw);
      const auto all = writers(key);
      for (const auto r : reads_at_.of(raw)) {
        const auto& read = reads_[r];
        if (read.several || read.writer == kInitialOwner || !in_order(read.writer)) continue;
        const auto end = first_after(key, commit_[read.writer]) - 1;  // the writer itself
        for (auto i = end; i-- > (end > kLooks ? end - kLooks : 0);) {
          const Owner k = all[i];
          if (k != read.reader && row(visible_, read.reader)[chain_[k]] >= at_[k]) {
            add_forced(k, read.writer);
          }
        }
      }
    }
    return forced_.size() != before;
  }

  // --- taking out ---

  void keep(Owner o, Why why) {
    if (!forgotten(o)) return;
    kept_[o] = why;
    work_.emplace_back(o, why);
  }

  void take_out() {
    undecided_keys_.clear();
    earliest_end_ = std::numeric_limits<Time>::max();
    high_.resize(h_.key_count());
    for (std::size_t k = 0; k < high_.size(); ++k) {
      high_[k] = writer_first_[k + 1] - writer_first_[k];
    }
    queued_.assign(h_.key_count(), 0);
    queue_.clear();
    find_covered();
    for (Owner o = 0; o < n_; ++o) {
      if (!in_order(o)) {
        keep(o, Why::kOutcome);
      } else if (q_.open[a_.txns[o].index()] || q_.stays[a_.txns[o].index()] || !may_go(o)) {
        keep(o, Why::kUncovered);
      }
    }
    for (const Owner o : awaiting_) keep(o, Why::kOutcome);
    spread();
    for (std::uint32_t k = 0; k < high_.size(); ++k) {
      if (high_[k] > 0) enqueue(KeyId(k));
    }
    while (!queue_.empty()) {
      const KeyId key = queue_.back();
      queue_.pop_back();
      queued_[key.index()] = 0;
      settle(key);
    }
  }

  void enqueue(KeyId key) {
    if (queued_[key.index()]) return;
    queued_[key.index()] = 1;
    queue_.push_back(key);
  }

  // What comes is after the covered ones.
  void find_covered() {
    covered_.assign(n_, 0);
    if (real_time_) {
      for (Owner o = 0; o < n_; ++o) {
        covered_[o] = committed(o) && q_.earliest != history::kNoTime &&
                      completed(o) < history::earlier(q_.earliest, q_.drift);
      }
      // One whose effect somebody saw took place before that reader ended.
      for (const auto& read : reads_) {
        if (!read.several && read.writer != kInitialOwner && !committed(read.writer) &&
            covered_[read.reader] && committed(read.reader)) {
          covered_[read.writer] = 1;
        }
      }
      return;
    }
    if (!clocks_) return;
    std::vector<std::uint32_t> least(chains_, std::numeric_limits<std::uint32_t>::max());
    for (std::size_t s = 0; s < h_.session_count(); ++s) {
      if (!q_.continues[s]) continue;
      const Owner last = last_of_session_[s];
      for (std::uint32_t c = 0; c < chains_; ++c) {
        std::uint32_t seen = 0;
        if (last != kInitialOwner) {
          seen = row(apart_ && !causal_ ? before_ : visible_, last)[c];
          if (c == chain_[last]) seen = std::max(seen, at_[last]);
        }
        least[c] = std::min(least[c], seen);
      }
    }
    for (Owner o = 0; o < n_; ++o) covered_[o] = in_order(o) && at_[o] <= least[chain_[o]];
  }

  // Only writers need to be covered: nobody asks what a reader was. In real time, nothing that
  // comes may have ended before what is forgotten began.
  [[nodiscard]] bool may_go(Owner o) const {
    if (covered_[o]) return true;
    return !real_time_ && committed(o) && writes_of(o).empty();
  }

  void spread() {
    do {
      while (!work_.empty()) {
        const auto [o, why] = work_.back();
        work_.pop_back();
        spread_from(o, why);
      }
    } while (real_time_ && spread_real_time());
  }

  void spread_from(Owner o, Why why) {
    if (committed(o)) {
      for (Owner next = o + 1; next < n_ && h_.session(a_.txns[next]) == h_.session(a_.txns[o]);
           ++next) {
        keep(next, why);
        if (committed(next)) break;
      }
      earliest_end_ = std::min(earliest_end_, completed(o));
    }
    for (const auto r : readers_of_.of(o)) keep(reads_[r].reader, why);
    if (!in_order(o)) return;
    for (const auto& write : writes_of(o))
      keep_from(write.key, first_after(write.key, commit_[o]), o, why);
    for (const auto r : reads_of_.of(o)) {
      const auto& read = reads_[r];
      const auto from =
          read.several ? (read.earliest == 0 ? 0 : read.earliest - 1) : place_of(read.writer);
      keep_from(read.key, first_after(read.key, from), o, why);
    }
    if (committed(o)) return;
    // What its compare-and-sets saw is not among the reads.
    const TxnId t = a_.txns[o];
    for (auto i = h_.first_op(t); i < h_.last_op(t); ++i) {
      const auto op = h_.op(OpId(i));
      if (op.kind == OpKind::kCompareAndSet) keep_from(op.key, 0, o, why);
    }
  }

  // All writers of the key from here on.
  void keep_from(KeyId key, std::size_t first, Owner but, Why why) {
    const auto all = writers(key);
    enqueue(key);
    auto& high = high_[key.index()];
    for (auto i = first; i < high; ++i) {
      if (all[i] != but) keep(all[i], why);
    }
    high = std::min<std::size_t>(high, first);
  }

  bool spread_real_time() {
    for (Owner o = 0; o < n_; ++o) {
      if (forgotten(o) && invoked(o) > earliest_end_) keep(o, Why::kUncovered);
    }
    return !work_.empty();
  }

  // The writers of the key that go must leave it in a known state.
  void settle(KeyId key) {
    const auto all = writers(key);
    auto& high = high_[key.index()];
    while (high > 0 && !forgotten(all[high - 1])) --high;
    const auto before = high;
    std::size_t last = high;
    while (last > 0 && !clean(key, last - 1)) --last;
    if (last == before) return;
    if (q_.bet_on_order) {
      bet_ = true;
      return;
    }
    undecided_keys_.push_back(key.raw);
    for (auto i = last; i < before; ++i) keep(all[i], Why::kUndecided);
    high = last;
    spread();
  }

  // May the writers [0, last] of the key go, while the others stay?
  bool clean(KeyId key, std::size_t last) {
    const auto all = writers(key);
    const Owner f = all[last];
    if (leaves_tombstone(key, f)) return false;
    const bool list = h_.is_list(key);
    bool decided = true;  // f is the last of those that go, and before all others
    for (std::size_t i = last; decided && i-- > 0;) {
      decided = forced(all[i], list ? all[i + 1] : f);  // a list holds all, each at its place
    }
    for (auto i = last + 1; decided && i < all.size(); ++i) decided = forced(f, all[i]);
    const bool after_f = before_loose(key, f);
    if (decided && after_f) return true;
    return !list && (after_f || !loose_reads_.contains(key.raw)) && never_read_again(key, last) &&
           before_writers(key, last);
  }

  // "Absent", but with a value of its own: not to be said as an initial value.
  [[nodiscard]] bool leaves_tombstone(KeyId key, Owner f) const {
    const auto op = h_.op(last_write(key, f));
    return op.kind == OpKind::kDelete && op.value != h_.null_value();
  }
  [[nodiscard]] OpId last_write(KeyId key, Owner o) const {
    const auto own = writes_of(o);
    return std::find_if(own.begin(), own.end(), [&](const auto& w) { return w.key == key; })->op;
  }

  // Whoever's outcome is unknown cannot have written before f.
  bool before_loose(KeyId key, Owner f) const {
    const auto it = loose_.find(key.raw);
    if (it == loose_.end()) return true;
    return std::all_of(it->second.begin(), it->second.end(), [&](TxnId t) {
      if (real_time_ && completed(f) < history::earlier(h_.invoke(t), q_.drift)) return true;
      if (by_key_) return false;
      const Owner before = last_before(t);
      return before != kInitialOwner && (before == f || forced(f, before));
    });
  }

  // The last committed transaction of its session before it.
  [[nodiscard]] Owner last_before(TxnId t) const {
    for (auto i = t.raw; i-- > h_.session_begin(h_.session(t)).raw;) {
      const Owner o = a_.owner_of[i];
      if (o != kInitialOwner && committed(o)) return o;
    }
    return kInitialOwner;
  }

  // A later write is known to everything that comes.
  bool never_read_again(KeyId key, std::size_t last) const {
    const auto all = writers(key);
    for (auto g = last + 1; g < std::min(all.size(), last + 1 + kLooks); ++g) {
      if (!covered_[all[g]]) continue;
      bool after_all = true;
      for (auto i = last + 1; after_all && i-- > 0;) after_all = forced(all[i], all[g]);
      if (after_all) return true;
    }
    return false;
  }

  // Those that stay and read f's version: the writers that stay are after f, or after the reader.
  bool before_writers(KeyId key, std::size_t last) const {
    if (causal_) return true;
    const auto all = writers(key);
    const Owner f = all[last];
    for (const auto r : readers_of_.of(f)) {
      const auto& read = reads_[r];
      if (read.key != key || forgotten(read.reader)) continue;
      for (auto i = last + 1; i < all.size(); ++i) {
        if (all[i] == read.reader || forced(f, all[i]) || forced(read.reader, all[i])) continue;
        return false;
      }
    }
    return true;
  }

  Cut result() {
    Cut cut;
    cut.lost_bet_possible = bet_;
    cut.kept.assign(h_.txn_count(), 0);
    for (std::uint32_t t = 0; t < h_.txn_count(); ++t) {
      const Owner o = a_.owner_of[t];
      const bool unsure = o == kInitialOwner || !in_order(o);
      if (unsure) {
        const bool unknown = h_.status(TxnId(t)) == TxnStatus::kIndeterminate;
        cut.kept[t] = (unknown && (!q_.unread[t] || awaited_[t] != 0)) || q_.stays[t] != 0;
        cut.outcome += unknown && cut.kept[t] && !q_.open[t];
      } else {
        cut.kept[t] = !forgotten(o);
        cut.uncovered += kept_[o] == Why::kUncovered;
        cut.undecided += kept_[o] == Why::kUndecided;
        cut.outcome += kept_[o] == Why::kOutcome;
      }
      cut.forgotten += cut.kept[t] == 0;
    }
    for (std::uint32_t k = 0; k < h_.key_count(); ++k) add_settled(KeyId(k), cut);
    return cut;
  }

  void add_settled(KeyId key, Cut& cut) const {
    Settled settled{key, {}};
    for (const Owner o : writers(key)) {
      if (!forgotten(o)) continue;
      if (!h_.is_list(key)) {
        settled.writes = {last_write(key, o)};
        continue;
      }
      for (auto i = h_.first_op(a_.txns[o]); i < h_.last_op(a_.txns[o]); ++i) {
        const auto op = h_.op(OpId(i));
        if (op.kind == OpKind::kAppend && op.key == key) settled.writes.push_back(OpId(i));
      }
    }
    if (!settled.writes.empty()) cut.settled.push_back(std::move(settled));
  }

  const CutQuestion& q_;
  const History& h_;
  const levels::Accesses& a_;
  const Owner n_;
  const bool real_time_, by_key_, causal_;
  const bool apart_;  // visible and before are two things
  Place last_place_ = 0;
  std::vector<Place> begin_, commit_;
  std::vector<Owner> by_commit_;
  std::vector<std::uint32_t> writer_first_;
  std::vector<Owner> writers_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Owner> said_;
  std::vector<ReadOf> reads_;
  Index reads_of_, readers_of_, reads_at_;
  std::map<std::uint32_t, std::vector<TxnId>> loose_;
  std::vector<std::uint8_t> awaited_;  // by transaction
  std::vector<Owner> awaiting_;
  std::set<std::uint32_t> loose_reads_;  // keys of which such a one saw something: compare-and-sets
  // Clocks.
  std::uint32_t chains_ = 0;
  bool clocks_ = false;
  std::vector<std::uint32_t> chain_, at_;
  std::vector<Owner> before_in_session_, last_of_session_;
  std::vector<std::uint32_t> visible_, before_;
  std::vector<std::pair<Owner, Owner>> forced_;  // to, from
  // The cut.
  std::vector<std::uint8_t> covered_;
  std::vector<Why> kept_;
  std::vector<std::pair<Owner, Why>> work_;
  std::vector<std::size_t> high_;  // by key: the writers that may still go
  Time earliest_end_ = std::numeric_limits<Time>::max();
  std::vector<std::uint8_t> queued_;
  std::vector<KeyId> queue_;
  std::vector<std::uint32_t> undecided_keys_;
  bool bet_ = false;
};

}  // namespace

Cut find_cut(const CutQuestion& question) {
  return Cutter(question).run();
}

}  // namespace cupel::online
