// collect_accesses: see the header.
#include "engine/levels/accesses.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <tuple>

#include "base/hash_table.hpp"
#include "base/offsets.hpp"
#include "base/parallel.hpp"
#include "data/history/text_order.hpp"
#include "data/history/written.hpp"
#include "engine/levels/hints.hpp"
#include "engine/levels/write_index.hpp"

namespace cupel::levels {

using history::CompareAndSet;
using history::Operation;
using history::OpKind;
using history::TxnStatus;
using history::ValueId;

namespace {

// The longest list that a committed transaction read of each list key, and the
// reads that are not prefixes of it.
struct LongestLists {
  struct Longest {
    OpId op;  // none(): nobody read the key
    TxnId txn;
    std::span<const ValueId> list;
  };
  std::vector<Longest> of_key;

  explicit LongestLists(const History& h) : of_key(h.key_count()) {
    for_each_read(h, [&](TxnId txn, OpId id, KeyId key, std::span<const ValueId> list) {
      auto& longest = of_key[key.index()];
      if (!longest.op.valid() || list.size() > longest.list.size()) longest = {id, txn, list};
    });
  }

  template <typename Visit>
  static void for_each_read(const History& h, const Visit& visit) {
    for (std::uint32_t t = 0; t < h.txn_count(); ++t) {
      const TxnId txn(t);
      if (h.status(txn) != TxnStatus::kCommitted) continue;
      for (std::uint32_t i = h.first_op(txn); i < h.last_op(txn); ++i) {
        if (h.kind(OpId(i)) != OpKind::kListRead) continue;
        const Operation op = h.op(OpId(i));
        if (h.list_known(op)) visit(txn, OpId(i), op.key, h.list(op));
      }
    }
  }
};

// The append at each place of the longest list of each key.
struct KnownLists {
  struct OfKey {
    std::span<const ValueId> longest;
    std::uint32_t first = 0;  // into append and txn
    std::uint32_t known = 0;  // so many of the first elements have their append
    bool all_differ = true;
  };
  std::vector<OfKey> of_key;
  std::vector<OpId> append;  // by place; none() where nobody appended it, or it is not known
  std::vector<TxnId> txn;

  explicit KnownLists(std::size_t keys) : of_key(keys) {}
  [[nodiscard]] std::span<const OpId> appends(KeyId key) const {
    return std::span(append).subspan(of_key[key.index()].first, of_key[key.index()].longest.size());
  }
  [[nodiscard]] std::span<const TxnId> txns(KeyId key) const {
    return std::span(txn).subspan(of_key[key.index()].first, of_key[key.index()].longest.size());
  }
};

// `sorted` is only kept for its memory.
bool all_differ(std::span<const ValueId> list, std::vector<ValueId>& sorted) {
  constexpr std::size_t kFew = 8;
  if (list.size() <= kFew) {
    for (std::size_t i = 1; i < list.size(); ++i) {
      if (std::find(list.begin(), list.begin() + i, list[i]) != list.begin() + i) return false;
    }
    return true;
  }
  sorted.assign(list.begin(), list.end());
  std::sort(sorted.begin(), sorted.end());
  return std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
}

bool has_lists(const History& h) {
  for (std::uint32_t k = 0; k < h.key_count(); ++k) {
    if (h.is_list(KeyId(k))) return true;
  }
  return false;
}

class Collector {
 public:
  Collector(const History& h, const WriteIndex& index, const ListChoices& choices,
            std::span<const AssumedOutcome> outcomes, base::Budget& budget)
      : h_(h),
        index_(index),
        outcomes_(outcomes),
        choices_(choices),
        budget_(budget),
        ahead_(static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
            24 * h.txn_count() / std::max<std::size_t>(1, h.op_count()), 2, 16))),
        keys_(h.key_count()) {}

  void order_lists_if_any() {
    if (has_lists(h_)) order_lists();
  }

  // The transactions [begin, end). False if the budget ended.
  bool collect(std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t t = begin; t < end; ++t) {
      if (t + 2 * ahead_ < end) fetch_keys(TxnId(t + 2 * ahead_));
      if (t + ahead_ < end) fetch_entries(TxnId(t + ahead_));
      if (h_.status(TxnId(t)) == TxnStatus::kCommitted ||
          assumed_outcome(TxnId(t)) == AssumedOutcome::kCommitted) {
        read_transaction(TxnId(t));
      }
      if ((t & 0x3f) == 0x3f && budget_.exceeded()) return false;  // ranges make long ones
    }
    return !budget_.exceeded();
  }

  // Another collector that knows the lists as this one does.
  [[nodiscard]] std::unique_ptr<Collector> same_lists() const {
    auto other = std::make_unique<Collector>(h_, index_, choices_, outcomes_, budget_);
    other->lists_ = lists_;
    return other;
  }

  void expect_reads(std::size_t reads) { result_.reads.reserve(reads); }

  // What another found of the transactions after.
  void append(Collector&& later) {
    const auto before = static_cast<std::uint32_t>(candidate_txns_.size());
    candidate_txns_.insert(candidate_txns_.end(), later.candidate_txns_.begin(),
                           later.candidate_txns_.end());
    for (ExternalRead read : later.result_.reads) {
      for (auto* at :
           {&read.first_candidate, &read.last_candidate, &read.joint_first, &read.joint_last})
        *at += before;
      result_.reads.push_back(read);
    }
    for (FurtherRow row : later.result_.further_rows) {
      row.first_candidate += before;
      row.last_candidate += before;
      result_.further_rows.push_back(row);
    }
    auto& internal = result_.internal;
    internal.insert(internal.end(), later.result_.internal.begin(), later.result_.internal.end());
  }

  Accesses finish() {
    number_owners();
    result_.labels_mix_sessions = !h_.has_all_times() && labels_mix_sessions(h_);
    return std::move(result_);
  }

 private:
  // What is known of a key's operations in the transaction being read, or in the last that
  // had any: its number says which.
  struct alignas(32) OfKey {                     // none on two lines of memory
    std::uint32_t owned_by = TxnId::kNoneRaw;    // it wrote the key
    OpId own;                                    // … by this, last
    std::uint32_t read_by = TxnId::kNoneRaw;     // it read the key from others
    std::uint32_t read = 0;                      // … by this of result_.reads, first
    std::uint32_t written_by = TxnId::kNoneRaw;  // it writes it, before or after
    OpId row_of;                                 // this range read returned it
    ValueId row;                                 // … with this value, first
    std::uint32_t lost_by = TxnId::kNoneRaw;     // it read it first, from nobody who is known
  };

  // Large histories wait mostly for memory.
  void fetch_key(KeyId key) const {
    __builtin_prefetch(&keys_[key.index()]);
    index_.prefetch_key(key);
  }
  void fetch_keys(TxnId txn) const {
    for (auto i = h_.first_op(txn); i < h_.last_op(txn); ++i) {
      const Operation op = h_.op(OpId(i));
      if (!op.key.valid()) continue;
      __builtin_prefetch(&keys_[op.key.index()]);
      if (op.kind == OpKind::kRead && op.value.valid()) index_.prefetch(op.key, op.value);
    }
  }
  void fetch_entries(TxnId txn) const {
    for (auto i = h_.first_op(txn); i < h_.last_op(txn); ++i) {
      const Operation op = h_.op(OpId(i));
      if (op.kind == OpKind::kRead && op.value.valid()) index_.prefetch_entry(op.value);
    }
  }

  [[nodiscard]] AssumedOutcome assumed_outcome(TxnId t) const {
    return outcomes_.empty() ? AssumedOutcome::kOpen : outcomes_[t.index()];
  }
  // Certainly without effect, or assumed so.
  [[nodiscard]] bool gone(TxnId t) const {
    return h_.status(t) == TxnStatus::kAborted || assumed_outcome(t) == AssumedOutcome::kAborted;
  }
  [[nodiscard]] bool gone(const WriteEntry& e) const {
    return e.aborted || assumed_outcome(e.txn) == AssumedOutcome::kAborted;
  }

  void note(InternalKind kind, TxnId txn, OpId read, KeyId key, OpId other = OpId::none(),
            TxnId other_txn = TxnId::none()) {
    result_.internal.push_back({kind, txn, read, key, other, other_txn});
  }

  // --- lists ---

  void order_lists() {
    auto known = std::make_shared<KnownLists>(h_.key_count());
    const LongestLists longest(h_);
    for (std::uint32_t k = 0; k < h_.key_count(); ++k) {
      const auto& best = longest.of_key[k];
      if (!best.op.valid()) continue;
      if (place_appends(KeyId(k), best, *known)) add_list_arcs(KeyId(k), best, *known);
    }
    // Every read must be a prefix of the longest. One anomaly per such read.
    LongestLists::for_each_read(
        h_, [&](TxnId txn, OpId id, KeyId key, std::span<const ValueId> list) {
          const auto& best = longest.of_key[key.index()];
          if (!std::equal(list.begin(), list.end(), best.list.begin())) {
            note(InternalKind::kIncompatibleOrder, txn, id, key, best.op, best.txn);
          }
        });
    lists_ = std::move(known);
  }

  // False: an append may stand at several places, and no choice of them is right.
  bool place_appends(KeyId key, const LongestLists::Longest& best, KnownLists& known) {
    auto& list = known.of_key[key.index()];
    list = {best.list, static_cast<std::uint32_t>(known.append.size()), 0,
            all_differ(best.list, sorted_values_)};
    base::HashMap<ValueId, std::uint32_t> times_seen;
    bool all_known = true;
    open_elements_.clear();
    TxnId last;
    for (std::uint32_t p = 0; p < best.list.size(); ++p) {
      auto [append, txn] = choices_.at(key, p);
      const auto entries = index_.of(key, best.list[p]);
      if (append.valid()) {
        if (gone(txn)) {  // assumed never to have happened: this placing is not possible
          note(InternalKind::kIncompatibleOrder, best.txn, best.op, key, append, txn);
          append = OpId::none();
          txn = TxnId::none();
        }
      } else if (choices_.none_possible() && appended_again(entries)) {
        all_known = false;  // nothing follows from whose it is
      } else if (choices_.is_open(key, p)) {
        open_elements_.try_emplace(best.list[p], last);
      } else {
        // The n-th occurrence takes the n-th append that is not aborted.
        std::uint32_t skip = list.all_differ ? 0 : times_seen[best.list[p]]++;
        for (const auto& e : entries) {
          if (gone(e)) continue;
          if (skip-- != 0) continue;
          append = e.op;
          txn = e.txn;
          break;
        }
      }
      if (append.valid() && list.known == p) ++list.known;
      if (txn.valid()) last = txn;
      known.append.push_back(append);
      known.txn.push_back(txn);
    }
    return all_known;
  }

  [[nodiscard]] bool appended_again(std::span<const WriteEntry> entries) const {
    const auto there = [this](const WriteEntry& e) { return !gone(e); };
    const auto first = std::find_if(entries.begin(), entries.end(), there);
    return first != entries.end() && std::find_if(first + 1, entries.end(), there) != entries.end();
  }

  void add_list_arcs(KeyId key, const LongestLists::Longest& best, const KnownLists& known) {
    const auto appends = known.appends(key);
    const auto txns = known.txns(key);
    TxnId last;
    for (const TxnId txn : txns) {
      if (!txn.valid()) continue;  // thin air: reported by the read
      if (last.valid() && txn != last) arcs_.push_back({last, txn, key, best.op});
      last = txn;
    }
    // One transaction's appends stand in program order, all before what is unread.
    placed_.clear();
    for (std::size_t p = 0; p < appends.size(); ++p) {
      if (txns[p].valid()) placed_.emplace_back(txns[p], appends[p]);
    }
    std::stable_sort(placed_.begin(), placed_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    bool own_order_broken = !std::is_sorted(placed_.begin(), placed_.end());
    std::vector<std::pair<TxnId, OpId>> sorted;
    if (own_order_broken) {
      sorted = placed_;
      std::sort(sorted.begin(), sorted.end());
    }
    const auto& searched = own_order_broken ? sorted : placed_;
    unread_.clear();
    for (const auto& e : index_.of_key(key)) {
      if (gone(e) || std::binary_search(searched.begin(), searched.end(), std::pair(e.txn, e.op)))
        continue;
      const auto after =
          std::upper_bound(placed_.begin(), placed_.end(), e.txn,
                           [](TxnId txn, const auto& place) { return txn < place.first; });
      if (const auto open = open_elements_.find(e.value); open != open_elements_.end()) {
        if (open->second.valid() && open->second != e.txn)
          arcs_.push_back({open->second, e.txn, key, best.op});
        continue;
      }
      const bool others = after != placed_.begin() && after[-1].first == e.txn;
      if (others && e.op < after[-1].second) {
        own_order_broken = true;  // a later append of the transaction was seen, this one not
      } else if (!others || e.txn != last) {
        unread_.push_back(e.txn);  // if others were read: an arc back closes a cycle
      }
    }
    if (own_order_broken) {
      note(InternalKind::kIncompatibleOrder, best.txn, best.op, key);
    }
    if (!last.valid()) return;
    std::sort(unread_.begin(), unread_.end());
    unread_.erase(std::unique(unread_.begin(), unread_.end()), unread_.end());
    for (const TxnId txn : unread_) {
      arcs_.push_back({last, txn, key, best.op});
    }
  }

  void read_list(TxnId txn, OpId id, const Operation& op) {
    if (!h_.list_known(op)) return;
    const auto list = h_.list(op);
    const KeyId key = op.key;
    const bool usual = keys_[key.index()].written_by != txn.raw && same_prefix(key, list) &&
                       lists_->of_key[key.index()].all_differ;
    const bool sound = usual || elements_come_from_somewhere(txn, id, key, list);
    if (keys_[key.index()].owned_by == txn.raw) {
      check_own_appends(txn, id, key, list);
      return;
    }
    check_repeated_list(txn, id, key, list);
    if (!sound) return;
    begin_read(txn, key, id);
    if (list.empty()) {
      pending_candidates_.push_back(TxnId::none());
    } else if (const auto [append, writer] = last_append(key, list, usual); append.valid()) {
      if (!index_.is_final(append)) {
        note(InternalKind::kIntermediateRead, txn, id, key, append, writer);
      } else if (writer != txn) {
        pending_candidates_.push_back(writer);
      }
    } else {
      for (const auto& e : index_.of(key, list.back())) {
        if (e.txn != txn && !gone(e) && e.final_write) pending_candidates_.push_back(e.txn);
      }
      // With its place left open, no append may end the list; which anomaly it is, the places say.
      if (pending_candidates_.empty()) keys_[key.index()].lost_by = txn.raw;
    }
    finish_read();
  }

  // A range read that does not return a list saw it empty, as it was at first.
  void read_no_list(TxnId txn, OpId id, KeyId key) {
    if (keys_[key.index()].owned_by == txn.raw) return check_own_appends(txn, id, key, {});
    check_repeated_list(txn, id, key, {});
    begin_read(txn, key, id);
    pending_candidates_.push_back(TxnId::none());
    finish_read();
  }

  void check_repeated_list(TxnId txn, OpId id, KeyId key, std::span<const ValueId> list) {
    if (keys_[key.index()].read_by != txn.raw) return;
    const OpId first = result_.reads[keys_[key.index()].read].op;
    // A range read saw it empty.
    const bool in_range = h_.kind(first) == OpKind::kRangeRead;
    const auto before = in_range ? std::span<const ValueId>() : h_.list(h_.op(first));
    if (!std::equal(before.begin(), before.end(), list.begin(), list.end()))
      note(InternalKind::kNonRepeatableRead, txn, id, key, first, txn);
  }

  // Else an anomaly was noted.
  bool elements_come_from_somewhere(TxnId txn, OpId id, KeyId key, std::span<const ValueId> list) {
    struct Appended {
      std::uint32_t times_shown = 0, times = 0;  // not counted beyond what the list can show
      const WriteEntry* aborted = nullptr;
      const WriteEntry* own_later = nullptr;
    };
    base::HashMap<ValueId, Appended> of_value;
    bool sound = true;
    for (const ValueId v : list) {
      const auto [it, fresh] = of_value.try_emplace(v);
      auto& [times_shown, appended, aborted, own_later] = it->second;
      const auto entries = fresh ? index_.of(key, v) : std::span<const WriteEntry>();
      for (const auto& e : entries) {
        if (appended == list.size()) break;
        if (gone(e)) {
          aborted = &e;
        } else if (e.txn == txn && e.op > id) {
          own_later = &e;
        } else {
          ++appended;
        }
      }
      if (++times_shown <= appended) continue;
      sound = false;
      if (own_later != nullptr) {
        note(InternalKind::kFutureRead, txn, id, key, own_later->op, txn);
      } else if (aborted != nullptr) {
        note(InternalKind::kAbortedRead, txn, id, key, aborted->op, aborted->txn);
      } else if (appended != 0) {
        note(InternalKind::kDuplicateElement, txn, id, key);
      } else {
        note(InternalKind::kThinAirRead, txn, id, key);
      }
    }
    // Where an element was appended twice, the choice of places may say that this
    // one is the reader's own, still to come.
    if (!sound || !same_prefix(key, list)) return sound;
    for (std::size_t p = 0; p < list.size(); ++p) {
      const OpId append = lists_->appends(key)[p];
      if (lists_->txns(key)[p] != txn || append <= id) continue;
      note(InternalKind::kFutureRead, txn, id, key, append, txn);
      return false;
    }
    return true;
  }

  // The longest list begins so, and each of these elements has its append.
  [[nodiscard]] bool same_prefix(KeyId key, std::span<const ValueId> list) const {
    const auto& known = lists_->of_key[key.index()];
    return list.size() <= known.known &&
           std::equal(list.begin(), list.end(), known.longest.begin());
  }

  // Of a list that is not empty: the append of its last element, or none() if it is not known.
  [[nodiscard]] std::pair<OpId, TxnId> last_append(KeyId key, std::span<const ValueId> list,
                                                   bool is_prefix) const {
    const auto& longest = lists_->of_key[key.index()].longest;
    if (!is_prefix &&
        (list.size() > longest.size() || !std::equal(list.begin(), list.end(), longest.begin())))
      return {OpId::none(), TxnId::none()};
    return {lists_->appends(key)[list.size() - 1], lists_->txns(key)[list.size() - 1]};
  }

  void check_own_appends(TxnId txn, OpId id, KeyId key, std::span<const ValueId> list) {
    std::vector<OpId> own;
    for (std::uint32_t i = h_.first_op(txn); i < id.raw; ++i) {
      const Operation op = h_.op(OpId(i));
      if (op.kind == OpKind::kAppend && op.key == key) own.push_back(OpId(i));
    }
    const auto appends = lists_->appends(key);
    bool ends_well = list.size() >= own.size();
    for (std::size_t i = 0; ends_well && i < own.size(); ++i) {
      const std::size_t p = list.size() - own.size() + i;
      ends_well =
          h_.op(own[i]).value == list[p] && (p >= appends.size() || !appends[p].valid() ||
                                             appends[p] == own[i] || !same_prefix(key, list));
    }
    if (ends_well) return;
    const bool ends_in_own =
        !list.empty() && std::any_of(own.begin(), own.end() - 1, [&](OpId append) {
          return h_.op(append).value == list.back();
        });
    note(ends_in_own ? InternalKind::kNotMyLastWrite : InternalKind::kNotMyOwnWrite, txn, id, key,
         own.back(), txn);
  }

  // --- registers ---

  void read_transaction(TxnId txn) {
    for (std::uint32_t i = h_.first_op(txn); i < h_.last_op(txn); ++i) {
      const Operation op = h_.op(OpId(i));
      if (written(h_, op).valid()) keys_[op.key.index()].written_by = txn.raw;
    }
    for (std::uint32_t i = h_.first_op(txn); i < h_.last_op(txn); ++i) {
      const OpId id(i);
      const Operation op = h_.op(id);
      const bool known = h_.status(txn) == TxnStatus::kCommitted ||
                         (op.kind == OpKind::kCompareAndSet && h_.compare_and_set(op).succeeded);
      if (known) switch (op.kind) {
          case OpKind::kRead:
            if (op.value.valid()) read_value(txn, id, op.key, op.value);
            break;
          case OpKind::kListRead:
            read_list(txn, id, op);
            break;
          case OpKind::kRangeRead:
            read_range(txn, id, op);
            break;
          case OpKind::kCompareAndSet: {
            const CompareAndSet cas = h_.compare_and_set(op);
            if (cas.succeeded) {
              read_value(txn, id, op.key, cas.expected);
            } else {
              read_other_than(txn, id, op.key, cas.expected);
            }
            break;
          }
          default:
            break;
        }
      if (written(h_, op).valid()) {
        keys_[op.key.index()].owned_by = txn.raw;
        keys_[op.key.index()].own = id;
      }
    }
  }

  void read_range(TxnId txn, OpId id, const Operation& op) {
    const auto range = h_.range(op);
    for (const KeyId key : h_.keys_between(h_.value(range.low), h_.value(range.high)))
      fetch_key(key);
    for (const auto& entry : range.entries) index_.prefetch(entry.key, entry.value);
    for (const auto& entry : range.entries) index_.prefetch_entry(entry.value);
    further_rows_.clear();
    for (const auto& entry : range.entries) {
      auto& of_key = keys_[entry.key.index()];
      if (of_key.row_of != id) {
        of_key.row_of = id;
        of_key.row = entry.value;
        read_value(txn, id, entry.key, entry.value);
      } else if (of_key.row != entry.value) {
        further_rows_.push_back(entry);
      }
    }
    if (!further_rows_.empty()) read_further_rows(txn, id);
    history::for_each_sure_key(h_, range, [&](KeyId key) {
      if (keys_[key.index()].row_of == id) return;
      // Nobody ever wrote it: absent, as it always was.
      const bool list = h_.is_list(key);
      if (index_.of_key(key).empty() && (list || h_.initial_value(key) == h_.null_value())) return;
      if (list) return read_no_list(txn, id, key);
      read_absent(txn, id, key);
    });
  }

  // The rows of one range read are read at one moment. So a key's further values order
  // nothing, not even at read-committed; but somebody must have written each of them, and
  // no version has two values.
  void read_further_rows(TxnId txn, OpId id) {
    auto& rows = further_rows_;
    const auto row_of = [](const auto& row) { return std::pair(row.key, row.value); };
    std::sort(rows.begin(), rows.end(),
              [&](const auto& a, const auto& b) { return row_of(a) < row_of(b); });
    const auto same = std::unique(rows.begin(), rows.end(), [&](const auto& a, const auto& b) {
      return row_of(a) == row_of(b);
    });
    rows.erase(same, rows.end());
    KeyId reported;
    for (const auto& [key, value] : rows) {
      if (keys_[key.index()].owned_by == txn.raw) {
        if (own_value(key) != value) classify_own(txn, id, key, value);
        continue;
      }
      begin_read(txn, key, id);
      gather(txn, {Asked::kValue, key, value, h_.initial_value(key) == value},
             index_.of(key, value), [](const WriteEntry&) { return true; });
      if (pending().empty()) {
        classify_unread(txn, id, key, value);
        continue;
      }
      if (reported != key) note(InternalKind::kNonRepeatableRead, txn, id, key, id, txn);
      reported = key;
      const auto writers = pending();
      const bool sure = std::any_of(writers.begin(), writers.end(), [this](TxnId w) {
        return !w.valid() || h_.status(w) == TxnStatus::kCommitted ||
               assumed_outcome(w) == AssumedOutcome::kCommitted;
      });
      if (sure) continue;
      const Range all = shared_.last != 0 ? shared_ : append_list(pending_candidates_);
      result_.further_rows.push_back({all.first, all.last});
    }
  }

  ValueId own_value(KeyId key) const { return written(h_, h_.op(keys_[key.index()].own)); }

  void read_value(TxnId txn, OpId id, KeyId key, ValueId value) {
    if (keys_[key.index()].owned_by == txn.raw) {
      if (own_value(key) != value) classify_own(txn, id, key, value);
      return;
    }
    begin_read(txn, key, id);
    const auto entries = index_.of(key, value);
    gather(txn, {Asked::kValue, key, value, h_.initial_value(key) == value}, entries,
           [](const WriteEntry&) { return true; });
    if (pending().empty()) {
      classify_unread(txn, id, key, value);
    }
    check_repeated(txn, id, key);
    finish_read();
  }

  // A range read that does not return the key: the initial version, or a delete,
  // whatever its tombstone.
  void read_absent(TxnId txn, OpId id, KeyId key) {
    const auto is_absence = [&](OpId op) {
      const Operation write = h_.op(op);
      return write.kind == OpKind::kDelete || written(h_, write) == h_.null_value();
    };
    if (keys_[key.index()].owned_by == txn.raw) {
      if (!is_absence(keys_[key.index()].own)) classify_own(txn, id, key, h_.null_value());
      return;
    }
    begin_read(txn, key, id);
    const bool initial = h_.initial_value(key) == h_.null_value();
    gather(txn, {Asked::kAbsence, key, ValueId::none(), initial}, index_.of_key(key),
           [&](const WriteEntry& e) { return is_absence(e.op); });
    if (pending().empty()) classify_unread(txn, id, key, h_.null_value());
    check_repeated(txn, id, key);
    finish_read();
  }

  // A failed compare-and-set saw any version but the expected value's.
  void read_other_than(TxnId txn, OpId id, KeyId key, ValueId expected) {
    if (keys_[key.index()].owned_by == txn.raw) {
      if (own_value(key) == expected) {
        note(InternalKind::kFailedCompareRead, txn, id, key, keys_[key.index()].own, txn);
      }
      return;
    }
    begin_read(txn, key, id);
    gather(txn, {Asked::kOther, key, expected, h_.initial_value(key) != expected},
           index_.of_key(key), [&](const WriteEntry& e) { return e.value != expected; });
    if (pending().empty()) note(InternalKind::kFailedCompareRead, txn, id, key);
    check_repeated(txn, id, key);
    finish_read();
  }

  void classify_own(TxnId txn, OpId id, KeyId key, ValueId value) {
    InternalKind kind = InternalKind::kNotMyOwnWrite;
    OpId other = keys_[key.index()].own;
    for (const auto& e : index_.of(key, value)) {
      if (e.txn == txn) {
        kind = e.op < id ? InternalKind::kNotMyLastWrite : InternalKind::kFutureRead;
        if (kind == InternalKind::kFutureRead) other = e.op;
        break;
      }
    }
    note(kind, txn, id, key, other, txn);
  }

  void classify_unread(TxnId txn, OpId id, KeyId key, ValueId value) {
    const WriteEntry* intermediate = nullptr;
    const WriteEntry* aborted = nullptr;
    for (const auto& e : index_.of(key, value)) {
      if (e.txn == txn) return note(InternalKind::kFutureRead, txn, id, key, e.op, txn);
      if (gone(e)) {
        aborted = &e;
      } else {
        intermediate = &e;
      }
    }
    if (intermediate != nullptr) {
      note(InternalKind::kIntermediateRead, txn, id, key, intermediate->op, intermediate->txn);
    } else if (aborted != nullptr) {
      note(InternalKind::kAbortedRead, txn, id, key, aborted->op, aborted->txn);
    } else {
      note(InternalKind::kThinAirRead, txn, id, key);
    }
  }

  void begin_read(TxnId txn, KeyId key, OpId id) {
    pending_candidates_.clear();
    shared_ = {};
    const auto& of_key = keys_[key.index()];
    const bool repeated = of_key.read_by == txn.raw || of_key.lost_by == txn.raw;
    pending_ = ExternalRead{txn.raw, key, id, 0, 0, repeated, 0, 0};
  }

  // What is asked of a key's versions: all reads that ask the same share one list
  // of candidates, but for the readers that are in it themselves.
  enum class Asked : std::uint32_t { kValue, kAbsence, kOther };
  struct Question {
    Asked asked;
    KeyId key;
    ValueId value;
    bool initial;  // the initial version fits as well
  };
  struct Range {
    std::uint32_t first = 0, last = 0;
  };

  // The writers of those `entries` that fit.
  template <typename Fits>
  void gather(TxnId txn, const Question& question, std::span<const WriteEntry> entries,
              const Fits& fits) {
    const bool own = keys_[question.key.index()].written_by == txn.raw;
    const auto collect = [&] {
      for (const auto& e : entries) {
        if (e.txn == txn || gone(e) || !e.final_write || !fits(e)) continue;
        pending_candidates_.push_back(e.txn);
      }
      if (question.initial) pending_candidates_.push_back(TxnId::none());
    };
    if (own || entries.size() < 2) return collect();
    const auto [it, fresh] = shared_lists_.try_emplace(
        {static_cast<std::uint32_t>(question.asked), question.key.raw, question.value.raw});
    if (fresh) {
      collect();
      it->second = append_list(pending_candidates_);
      pending_candidates_.clear();
    }
    shared_ = it->second;
  }

  [[nodiscard]] std::span<const TxnId> pending() const {
    return shared_.last != 0 ? list(shared_) : std::span<const TxnId>(pending_candidates_);
  }
  [[nodiscard]] std::span<const TxnId> list(Range range) const {
    return std::span(candidate_txns_).subspan(range.first, range.last - range.first);
  }
  Range append_list(std::span<const TxnId> txns) {
    const auto first = static_cast<std::uint32_t>(candidate_txns_.size());
    // Failed compare-and-sets and ranges with deletes may have as many candidates as
    // there are writes, each. The next look at the budget ends it.
    if (candidate_txns_.size() + txns.size() > candidate_txns_.capacity() &&
        budget_.would_exceed(2 * candidate_txns_.size() * sizeof(TxnId))) {
      return {first, first};
    }
    candidate_txns_.insert(candidate_txns_.end(), txns.begin(), txns.end());
    return {first, static_cast<std::uint32_t>(candidate_txns_.size())};
  }

  // Registers: what all reads of the key so far have in common must not be
  // empty, or the read was not repeatable.
  void check_repeated(TxnId txn, OpId id, KeyId key) {
    if (!pending_.repeated || pending().empty()) return;
    ExternalRead& first = result_.reads[keys_[key.index()].read];
    const Range before{first.joint_first, first.joint_last};
    if (shared_.last != 0 && before.first == shared_.first && before.last == shared_.last) return;
    const base::HashSet<TxnId> now(pending().begin(), pending().end());
    std::vector<TxnId> common;
    for (const TxnId t : list(before)) {
      if (now.contains(t)) common.push_back(t);
    }
    if (common.empty()) {
      note(InternalKind::kNonRepeatableRead, txn, id, key, first.op, txn);
    } else if (common.size() != before.last - before.first) {
      const Range joint = append_list(common);
      first.joint_first = joint.first;
      first.joint_last = joint.last;
    }
  }

  void finish_read() {
    if (pending().empty()) return;  // an anomaly was noted
    const Range all = shared_.last != 0 ? shared_ : append_list(pending_candidates_);
    pending_.first_candidate = pending_.joint_first = all.first;
    pending_.last_candidate = pending_.joint_last = all.last;
    if (!pending_.repeated) {
      keys_[pending_.key.index()].read_by = pending_.owner;
      keys_[pending_.key.index()].read = static_cast<std::uint32_t>(result_.reads.size());
    }
    result_.reads.push_back(pending_);
  }

  // From transactions to owners.
  void number_owners() {
    std::vector<std::uint8_t> counts(h_.txn_count(), 0);
    for (std::uint32_t t = 0; t < h_.txn_count(); ++t) {
      counts[t] = h_.status(TxnId(t)) == TxnStatus::kCommitted ||
                  assumed_outcome(TxnId(t)) == AssumedOutcome::kCommitted;
    }
    for (const TxnId t : candidate_txns_) {
      if (t.valid()) counts[t.index()] = 1;
    }
    for (const auto& arc : arcs_) {
      counts[arc.from.index()] = 1;
      counts[arc.to.index()] = 1;
    }
    for (const TxnId t : lists_->txn) {
      if (t.valid()) counts[t.index()] = 1;
    }
    auto& r = result_;
    r.owner_of.assign(h_.txn_count(), kInitialOwner);
    r.write_first.push_back(0);
    for (std::uint32_t t = 0; t < h_.txn_count(); ++t) {
      if (!counts[t]) continue;
      r.owner_of[t] = static_cast<Owner>(r.txns.size());
      r.txns.push_back(TxnId(t));
      for (std::uint32_t i = h_.first_op(TxnId(t)); i < h_.last_op(TxnId(t)); ++i) {
        if (index_.is_final(OpId(i))) r.writes.push_back({h_.op(OpId(i)).key, OpId(i)});
      }
      std::sort(r.writes.begin() + r.write_first.back(), r.writes.end(),
                [](const FinalWrite& a, const FinalWrite& b) { return a.key < b.key; });
      r.write_first.push_back(static_cast<std::uint32_t>(r.writes.size()));
    }
    r.read_first.assign(r.txns.size() + 1, 0);
    for (auto& read : r.reads) {
      read.owner = r.owner_of[read.owner];
      ++read_count(read.owner);
    }
    base::counts_to_offsets(r.read_first);
    r.candidates.reserve(candidate_txns_.size());
    for (const TxnId t : candidate_txns_) {
      r.candidates.push_back(t.valid() ? r.owner_of[t.index()] : kInitialOwner);
    }
    for (const auto& arc : arcs_) {
      r.list_order.push_back(
          {r.owner_of[arc.from.index()], r.owner_of[arc.to.index()], arc.key, arc.witness});
    }
    std::stable_sort(
        r.internal.begin(), r.internal.end(),
        [](const InternalAnomaly& a, const InternalAnomaly& b) { return a.read < b.read; });
  }
  std::uint32_t& read_count(Owner o) { return result_.read_first[o + 1]; }

  struct TxnArc {
    TxnId from, to;
    KeyId key;
    OpId witness;
  };

  const History& h_;
  const WriteIndex& index_;
  std::span<const AssumedOutcome> outcomes_;
  const ListChoices& choices_;
  base::Budget& budget_;
  const std::uint32_t ahead_;  // transactions, of two dozen operations
  std::vector<OfKey> keys_;
  std::shared_ptr<const KnownLists> lists_ = std::make_shared<KnownLists>(0);
  std::vector<TxnArc> arcs_;
  std::vector<TxnId> candidate_txns_;  // parallel to result_.candidates; none() = initial
  std::vector<TxnId> pending_candidates_;
  std::vector<history::RangeEntry> further_rows_;  // these four only keep their memory
  std::vector<std::pair<TxnId, OpId>> placed_;
  std::vector<TxnId> unread_;
  // By element with open places: the last known before the first of them. An append of it that
  // stands at no other place follows.
  base::HashMap<ValueId, TxnId> open_elements_;
  std::vector<ValueId> sorted_values_;
  Range shared_;  // instead of pending_candidates_, if not empty
  base::HashMap<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, Range> shared_lists_;
  ExternalRead pending_{};
  Accesses result_;
};

}  // namespace

namespace {

// Some element was appended to one key by several operations that may have taken effect.
bool some_element_appended_twice(const History& h) {
  const auto for_each_append = [&h](const auto& visit) {
    for (std::uint32_t t = 0; t < h.txn_count(); ++t) {
      if (h.status(TxnId(t)) == TxnStatus::kAborted) continue;
      for (std::uint32_t i = h.first_op(TxnId(t)); i < h.last_op(TxnId(t)); ++i) {
        if (h.kind(OpId(i)) == OpKind::kAppend) visit(h.op(OpId(i)));
      }
    }
  };
  // Mostly no two keys have an element in common.
  std::vector<bool> appended(h.value_count());
  std::vector<std::uint32_t> first(h.key_count() + 1, 0);
  bool some_twice = false;
  for_each_append([&](const Operation& op) {
    some_twice = some_twice || appended[op.value.index()];
    appended[op.value.index()] = true;
    ++first[op.key.index() + 1];
  });
  if (!some_twice) return false;
  base::counts_to_offsets(first);
  std::vector<ValueId> elements(first.back());
  auto next = first;
  for_each_append([&](const Operation& op) { elements[next[op.key.index()]++] = op.value; });
  for (std::size_t k = 0; k < h.key_count(); ++k) {
    const auto begin = elements.begin() + first[k], end = elements.begin() + first[k + 1];
    std::sort(begin, end);
    if (std::adjacent_find(begin, end) != end) return true;
  }
  return false;
}

}  // namespace

ListChoices::ListChoices(const History& h) {
  if (!has_lists(h) || !some_element_appended_twice(h)) return;
  const LongestLists longest(h);
  const WriteIndex index(h);
  const bool by_label = !h.has_times() && labels_mix_sessions(h);
  const auto when = [&](TxnId t) -> history::Time {
    if (by_label) return h.label(t);
    if (!h.has_times()) return h.place(t);
    return h.complete(t) != history::kNoTime ? h.complete(t) : h.invoke(t);
  };
  std::vector<std::size_t> places;  // by element that was appended more than once
  for (std::uint32_t raw = 0; raw < h.key_count(); ++raw) {
    const auto list = longest.of_key[raw].list;
    constexpr std::uint32_t kAppendedOnce = std::numeric_limits<std::uint32_t>::max();
    base::HashMap<history::ValueId, std::uint32_t> number;
    for (std::uint32_t p = 0; p < list.size(); ++p) {
      const auto [it, fresh] = number.try_emplace(list[p], kAppendedOnce);
      if (fresh) {
        std::vector<Append> all;
        for (const auto& e : index.of(KeyId(raw), list[p])) {
          if (h.status(e.txn) != TxnStatus::kAborted) all.push_back({e.op, e.txn});
        }
        if (all.size() < 2) continue;
        std::sort(all.begin(), all.end(), [&](const Append& a, const Append& b) {
          return std::pair(when(a.txn), a.op) < std::pair(when(b.txn), b.op);
        });
        it->second = static_cast<std::uint32_t>(appends_.size());
        places.push_back(0);
        appends_.push_back(std::move(all));
      }
      if (it->second == kAppendedOnce) continue;
      // The first choice has each place's append in this order.
      positions_.push_back({KeyId(raw), p, it->second, places[it->second]++});
    }
  }
  // More places than appends: no placing is right, and the reads themselves are
  // reported (duplicate element).
  for (std::size_t element = 0; element < places.size(); ++element)
    none_possible_ = none_possible_ || places[element] > appends_[element].size();
  if (none_possible_) positions_.clear();
  for (const auto& all : appends_) stands_.emplace_back(all.size());
  for (const ChosenPosition& p : positions_) stands_[p.element][p.chosen] = true;
}

const ListChoices::ChosenPosition* ListChoices::find(KeyId key, std::size_t position) const {
  const auto it = std::lower_bound(positions_.begin(), positions_.end(), std::pair(key, position),
                                   [](const ChosenPosition& p, const auto& wanted) {
                                     return p.key != wanted.first ? p.key < wanted.first
                                                                  : p.position < wanted.second;
                                   });
  if (it == positions_.end() || it->key != key || it->position != position) return nullptr;
  return &*it;
}

ListChoices::Append ListChoices::at(KeyId key, std::size_t position) const {
  const auto* const found = find(key, position);
  if (found == nullptr || found->chosen == kOpen) return {};
  return appends(*found)[found->chosen];
}

bool ListChoices::is_open(KeyId key, std::size_t position) const {
  const auto* const found = find(key, position);
  return found != nullptr && found->chosen == kOpen;
}

Placing ListChoices::placing(Place place) const {
  const ChosenPosition& p = positions_[place];
  return {p.key, p.position, appends(p)[p.chosen].op};
}

std::vector<Placing> ListChoices::placings() const {
  std::vector<Placing> all;
  for (Place place = 0; place < positions_.size(); ++place) {
    if (positions_[place].chosen != kOpen) all.push_back(placing(place));
  }
  return all;
}

void ListChoices::open(Place place) {
  ChosenPosition& p = positions_[place];
  if (p.chosen != kOpen) stands_[p.element][p.chosen] = false;
  p.chosen = kOpen;
}

void ListChoices::open_all() {
  for (Place place = 0; place < positions_.size(); ++place) open(place);
}

bool ListChoices::has_open() const {
  return std::any_of(positions_.begin(), positions_.end(),
                     [](const ChosenPosition& p) { return p.chosen == kOpen; });
}

bool ListChoices::put(Place place, std::size_t append) {
  ChosenPosition& p = positions_[place];
  if (stands_[p.element][append]) return false;
  stands_[p.element][append] = true;
  p.chosen = append;
  return true;
}

void ListChoices::fill() {
  std::vector<std::size_t> next(appends_.size(), 0);
  for (Place place = 0; place < positions_.size(); ++place) {
    if (positions_[place].chosen != kOpen) continue;
    auto& append = next[positions_[place].element];
    while (!put(place, append++)) assert(append < append_count(place) && "one stands nowhere");
  }
}

ListChoices::Place ListChoices::next_open(const ListChoices& filled,
                                          std::span<const OpId> named) const {
  const auto is_named = [named](const Append& append) {
    return std::binary_search(named.begin(), named.end(), append.op);
  };
  std::vector<bool> missing(appends_.size());  // a named append of the element stands nowhere
  for (std::size_t e = 0; e < appends_.size(); ++e) {
    for (std::size_t i = 0; i < appends_[e].size(); ++i)
      missing[e] = missing[e] || (!filled.stands_[e][i] && is_named(appends_[e][i]));
  }
  std::vector<Place> first(appends_.size(), positions_.size());  // open ones, by element
  Place next = positions_.size();
  for (Place place = 0; place < positions_.size(); ++place) {
    const ChosenPosition& p = positions_[place];
    if (p.chosen != kOpen) continue;
    first[p.element] = std::min(first[p.element], place);
    next = std::min(next, place);
    if (missing[p.element] || is_named(appends(p)[filled.positions_[place].chosen]))
      return first[p.element];
  }
  assert(next < positions_.size() && "some place is open");
  return next;
}

Accesses collect_accesses(const History& history, const ListChoices& choices,
                          std::span<const AssumedOutcome> outcomes, base::Budget& budget,
                          unsigned threads) {
  constexpr std::uint64_t kBytesPerOp = 60;        // measured on general histories
  constexpr std::uint32_t kLeastInParts = 20'000;  // transactions
  if (budget.would_exceed(kBytesPerOp * history.op_count())) {
    Accesses none;
    none.complete = false;
    return none;
  }
  Accesses unfinished;
  unfinished.complete = false;
  const WriteIndex index(history, &budget);
  if (budget.exceeded()) return unfinished;  // the index may be so too
  Collector all(history, index, choices, outcomes, budget);
  const auto txns = static_cast<std::uint32_t>(history.txn_count());
  // Failed compare-and-sets have much in common.
  bool simple = txns >= kLeastInParts;
  std::size_t reads = 0;
  for (std::size_t i = 0; simple && i < history.op_count(); ++i) {
    const auto kind = history.kind(OpId(static_cast<std::uint32_t>(i)));
    simple = kind != OpKind::kCompareAndSet;
    reads += kind == OpKind::kRead || kind == OpKind::kListRead;
  }
  all.order_lists_if_any();
  if (!simple) return all.collect(0, txns) ? all.finish() : unfinished;
  // In two parts whatever the number of threads: the same result.
  auto later = all.same_lists();
  all.expect_reads(reads);
  later->expect_reads(reads / 2);
  std::array<bool, 2> done{};
  base::for_each_index(2, threads, [&](std::size_t i) {
    const base::AllocationWatch watch(&budget);
    done[i] = i == 0 ? all.collect(0, txns / 2) : later->collect(txns / 2, txns);
  });
  if (!done[0] || !done[1]) return unfinished;
  all.append(std::move(*later));
  later.reset();
  return all.finish();
}

}  // namespace cupel::levels
