// shows_internal: see the header.
#include "engine/certify/internal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/hash_table.hpp"

namespace cupel::certify {

namespace {

using history::OpKind;

constexpr std::string_view kNames[] = {
    "thin-air-read",       "aborted-read",       "intermediate-read",  "future-read",
    "not-my-own-write",    "not-my-last-write",  "incompatible-order", "duplicate-element",
    "non-repeatable-read", "failed-compare-read"};

class Check {
 public:
  Check(Context& context, const InternalAnomaly& anomaly)
      : c_(context),
        s_(context.subject()),
        h_(context.history()),
        a_(anomaly),
        t_(anomaly.transaction),
        read_(anomaly.read),
        key_(anomaly.key),
        other_(anomaly.other == kNone ? OpId::none() : OpId(anomaly.other)) {}

  Rejection run() {
    if (std::find(std::begin(kNames), std::end(kNames), a_.name) == std::end(kNames)) {
      return fmt::format("found `{}`, expected the name of an internal anomaly", a_.name);
    }
    if (s_.txn_of(read_) != t_)
      return fmt::format("operation {} is not of {}", read_.raw, shown(s_, t_));
    const TxnId owner = other_.valid() ? s_.txn_of(other_) : TxnId::none();
    if (owner != (a_.other_transaction == kNone ? TxnId::none() : TxnId(a_.other_transaction))) {
      return std::string("other_transaction is not whose operation `other` is");
    }
    if (!c_.reads_known(t_)) return fmt::format("it is not known what {} read", shown(s_, t_));
    std::vector<Seen> rows;  // of a range read several, if it returned the key several times
    s_.for_each_seen(t_, read_, [&](KeyId key, const Seen& seen) {
      if (key == key_) rows.push_back(seen);
    });
    if (rows.empty())
      return fmt::format("operation {} is not known to read {}", read_.raw, shown_key(s_, key_));
    for (auto i = h_.first_op(t_); i < read_.raw; ++i) {
      const auto op = h_.op(OpId(i));
      if (op.key == key_ && s_.writes(op)) last_own_ = OpId(i);
    }
    if (a_.name == "non-repeatable-read" && c_.shape().phi == Phi::kEarlierRead) {
      return std::string("read-committed allows a non-repeatable read");
    }
    for (const Seen& row : rows) {
      seen_ = row;
      const bool there = seen_.what == Seen::kList ? of_list()
                         : last_own_.valid()       ? of_own()
                                                   : of_register();
      if (there) return std::nullopt;
    }
    return fmt::format("operation {} of {}, which read {}, is no such thing", read_.raw,
                       shown(s_, t_), shown_key(s_, key_));
  }

 private:
  [[nodiscard]] bool is(std::string_view name) const { return a_.name == name; }
  // `other` writes the key. A compare-and-set writes after it reads.
  [[nodiscard]] bool other_writes() const {
    if (!other_.valid()) return false;
    const auto op = h_.op(other_);
    return op.key == key_ && s_.writes(op);
  }
  [[nodiscard]] bool other_is_own() const { return other_writes() && s_.txn_of(other_) == t_; }

  // What the read saw, as a value that somebody may have written.
  [[nodiscard]] bool would_fit(OpId write) const {
    return seen_.fits(s_.version(write), h_.null_value());
  }

  // --- registers ---

  // After a write of its own, which it should have seen.
  [[nodiscard]] bool of_own() const {
    if (would_fit(last_own_)) return false;
    if (seen_.what == Seen::kOther) return is("failed-compare-read") && other_ == last_own_;
    if (is("not-my-own-write")) return other_ == last_own_;
    if (is("future-read")) return other_is_own() && other_ >= read_ && would_fit(other_);
    if (!is("not-my-last-write") || other_ != last_own_) return false;
    for (auto i = h_.first_op(t_); i < last_own_.raw; ++i) {
      const auto op = h_.op(OpId(i));
      if (op.key == key_ && s_.writes(op) && would_fit(OpId(i))) return true;
    }
    return false;
  }

  // No version fits all its reads of the key from the one to the other, none after own
  // writes. If both are one range read: all its rows of the key, of which two differ.
  [[nodiscard]] bool differs() const {
    std::vector<External> reads = c_.external_reads(t_, key_);
    std::erase_if(reads, [this](const External& r) { return r.op < other_ || r.op > read_; });
    if (reads.empty() || reads.front().op != other_ || reads.back().op != read_) return false;
    const bool one_value = std::all_of(reads.begin(), reads.end(), [&](const External& r) {
      return r.seen.value == reads.front().seen.value;
    });
    if (read_ == other_ && one_value) return false;
    auto common = c_.candidates_alone(t_, key_, reads.front().seen);
    for (const External& r : reads) {
      const auto these = c_.candidates_alone(t_, key_, r.seen);
      std::vector<TxnId> both;
      std::set_intersection(common.begin(), common.end(), these.begin(), these.end(),
                            std::back_inserter(both));
      common = std::move(both);
    }
    return common.empty();
  }

  [[nodiscard]] bool of_register() {
    if (is("non-repeatable-read")) return differs();
    if (!c_.candidates_alone(t_, key_, seen_).empty()) return false;
    if (is("failed-compare-read")) return seen_.what == Seen::kOther && !other_.valid();
    if (seen_.what == Seen::kOther) return false;
    if (is("thin-air-read")) {
      if (other_.valid()) return false;
      const auto value = seen_.what == Seen::kValue ? seen_.value : h_.null_value();
      return s_.written(key_, value).empty();
    }
    if (!other_writes() || !would_fit(other_)) return false;
    const TxnId owner = s_.txn_of(other_);
    if (is("aborted-read")) return !c_.counts(owner);
    if (is("intermediate-read")) return c_.counts(owner) && s_.final_write(owner, key_) != other_;
    return is("future-read") && owner == t_ && other_ >= read_;  // equal: a compare-and-set
  }

  // --- lists ---

  [[nodiscard]] bool of_list() {
    if (is("incompatible-order")) return incompatible();
    if (is("non-repeatable-read")) return changed();
    if (is("intermediate-read")) return cut_short();
    if (is("not-my-own-write") || is("not-my-last-write")) return misses_own();
    if (is("future-read") && has_own_later()) return true;
    return has_too_many();
  }

  // Some element is there more often than it was appended, not counting what the
  // transaction appends later.
  [[nodiscard]] bool has_too_many() const {
    base::HashMap<ValueId, std::size_t> times;
    for (const ValueId v : seen_.list) ++times[v];
    for (const auto& [value, count] : times) {
      std::size_t appended = 0, any = 0;
      for (const auto& w : s_.written(key_, value)) {
        ++any;
        appended += c_.counts(w.txn) && !(w.txn == t_ && w.op > read_);
      }
      if (count <= appended) continue;
      const bool about_this = other_writes() && s_.version(other_).value == value;
      if (is("thin-air-read") && any == 0 && !other_.valid()) return true;
      if (is("duplicate-element") && count > 1 && appended > 0 && !other_.valid()) return true;
      if (is("aborted-read") && about_this && !c_.counts(s_.txn_of(other_))) return true;
      if (is("future-read") && about_this && other_is_own() && other_ >= read_) return true;
    }
    return false;
  }

  // The append at one of its places is known to be the transaction's own, and later.
  [[nodiscard]] bool has_own_later() const {
    if (!other_is_own() || other_ < read_) return false;
    for (std::size_t p = 0; p < seen_.list.size(); ++p) {
      if (c_.append_at(key_, p, seen_.list[p]) == other_) return true;
    }
    return false;
  }

  // It ends in an append that is not its transaction's last.
  [[nodiscard]] bool cut_short() const {
    if (last_own_.valid() || seen_.list.empty() || !other_writes()) return false;
    const TxnId owner = s_.txn_of(other_);
    return c_.append_at(key_, seen_.list.size() - 1, seen_.list.back()) == other_ &&
           s_.final_write(owner, key_) != other_ && c_.counts(owner);
  }

  // It does not end in the transaction's own appends before it.
  [[nodiscard]] bool misses_own() const {
    if (!last_own_.valid() || other_ != last_own_) return false;
    if (!sees_own(s_, t_, read_, key_, seen_, last_own_)) return true;
    // By value it does; but the placing may say that those are another's.
    std::size_t end = seen_.list.size();
    for (auto i = read_.raw; i > h_.first_op(t_); --i) {
      const auto op = h_.op(OpId(i - 1));
      if (op.kind != OpKind::kAppend || op.key != key_) continue;
      --end;
      const OpId there = c_.append_at(key_, end, seen_.list[end]);
      if (there.valid() && there != OpId(i - 1)) return true;
    }
    return false;
  }

  // Two reads before own appends saw different lists.
  [[nodiscard]] bool changed() const {
    const auto reads = c_.external_reads(t_, key_);
    const External* now = nullptr;
    const External* before = nullptr;
    for (const auto& r : reads) {
      if (r.op == read_) now = &r;
      if (r.op == other_) before = &r;
    }
    return now != nullptr && before != nullptr && before->op < now->op &&
           !std::equal(now->seen.list.begin(), now->seen.list.end(), before->seen.list.begin(),
                       before->seen.list.end());
  }

  [[nodiscard]] bool incompatible() const {
    if (!other_.valid()) return breaks_program_order();
    const auto op = h_.op(other_);
    if (op.kind == OpKind::kListRead) {
      if (op.key != key_ || !h_.list_known(op) || !s_.committed(s_.txn_of(other_))) return false;
      const auto theirs = h_.list(op);
      const auto common = std::min(theirs.size(), seen_.list.size());
      return !std::equal(theirs.begin(), theirs.begin() + static_cast<std::ptrdiff_t>(common),
                         seen_.list.begin());
    }
    // The placing puts an append there that never happened.
    if (!other_writes() || c_.counts(s_.txn_of(other_))) return false;
    for (std::size_t p = 0; p < seen_.list.size(); ++p) {
      if (c_.placed(key_, p) == other_) return true;
    }
    return false;
  }

  // An append stands in the list, and an earlier one of its transaction does not precede it.
  [[nodiscard]] bool breaks_program_order() const {
    std::vector<OpId> known;  // by place
    base::HashMap<OpId, std::size_t> place_of;
    base::HashMap<ValueId, std::size_t>
        first_unknown;  // of an element at a place where it is not known whose
    for (std::size_t p = 0; p < seen_.list.size(); ++p) {
      known.push_back(c_.append_at(key_, p, seen_.list[p]));
      if (known[p].valid()) {
        place_of.try_emplace(known[p], p);
      } else {
        first_unknown.try_emplace(seen_.list[p], p);
      }
    }
    for (std::size_t p = 0; p < known.size(); ++p) {
      if (!known[p].valid()) continue;
      const TxnId owner = s_.txn_of(known[p]);
      for (auto i = h_.first_op(owner); i < known[p].raw; ++i) {
        const auto op = h_.op(OpId(i));
        if (op.kind != OpKind::kAppend || op.key != key_) continue;
        const auto at = place_of.find(OpId(i));
        const auto unknown = first_unknown.find(op.value);
        const bool may_be_before = (at != place_of.end() && at->second < p) ||
                                   (unknown != first_unknown.end() && unknown->second < p);
        if (!may_be_before) return true;
      }
    }
    return false;
  }

  Context& c_;
  Subject& s_;
  const History& h_;
  const InternalAnomaly& a_;
  const TxnId t_;
  const OpId read_;
  const KeyId key_;
  const OpId other_;
  Seen seen_;
  OpId last_own_;
};

}  // namespace

Rejection shows_internal(Context& context, const InternalAnomaly& anomaly) {
  return Check(context, anomaly).run();
}

}  // namespace cupel::certify
