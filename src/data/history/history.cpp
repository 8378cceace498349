// History: the few accessors that are more than a load. See the header.
#include "data/history/history.hpp"

#include <algorithm>
#include <functional>

namespace cupel::history {

std::string_view to_string(OpKind kind) {
  switch (kind) {
    case OpKind::kRead:
      return "read";
    case OpKind::kWrite:
      return "write";
    case OpKind::kAppend:
      return "append";
    case OpKind::kListRead:
      return "list-read";
    case OpKind::kRangeRead:
      return "range-read";
    case OpKind::kInsert:
      return "insert";
    case OpKind::kDelete:
      return "delete";
    case OpKind::kCompareAndSet:
      return "compare-and-set";
  }
  return "?";
}

std::string_view to_string(TxnStatus status) {
  switch (status) {
    case TxnStatus::kCommitted:
      return "committed";
    case TxnStatus::kAborted:
      return "aborted";
    case TxnStatus::kIndeterminate:
      return "indeterminate";
  }
  return "?";
}

bool History::has_all_times() const {
  if (!has_times()) return txn_count() == 0;
  for (std::size_t i = 0; i < txn_count(); ++i) {
    const TxnId t(i);
    if (status(t) == TxnStatus::kAborted) continue;
    if (invoke_[i] == kNoTime) return false;
    if (status(t) == TxnStatus::kCommitted && complete_[i] == kNoTime) return false;
  }
  return true;
}

std::span<const ValueId> History::list(const Operation& op) const {
  return std::span(list_elements_)
      .subspan(list_first_[op.payload], list_first_[op.payload + 1] - list_first_[op.payload]);
}

RangeRead History::range(const Operation& op) const {
  const auto& r = ranges_[op.payload];
  return {r.low, r.high,
          std::span(range_entries_).subspan(r.first_entry, r.last_entry - r.first_entry)};
}

TxnId History::txn_of(OpId op) const {
  // first_op_ is sorted within a session but not across sessions, because
  // operations stay in the order of the source; so search each session.
  for (std::size_t s = 0; s < session_count(); ++s) {
    const auto begin = first_op_.begin() + session_first_[s];
    const auto end = first_op_.begin() + session_first_[s + 1];
    auto it = std::upper_bound(begin, end, op.raw);
    while (it != begin) {
      --it;
      const TxnId t(static_cast<std::size_t>(it - first_op_.begin()));
      if (op.raw < last_op(t)) return t;
      if (first_op(t) != last_op(t)) break;  // an empty transaction hides nothing
    }
  }
  return TxnId::none();
}

ValueId History::initial_value(KeyId k) const {
  if (initial_.empty()) return default_initial_;
  // In the windows of a watch, most keys have one.
  if (k.index() < initial_.size() && initial_[k.index()].first == k)
    return initial_[k.index()].second;
  const auto it = std::lower_bound(initial_.begin(), initial_.end(), k,
                                   [](const auto& entry, KeyId key) { return entry.first < key; });
  return it != initial_.end() && it->first == k ? it->second : default_initial_;
}

namespace {

// The part of `sorted` that is in [low, high], as two places. Most ranges are short: the end is
// looked for in growing steps.
template <typename T, typename Bound, typename Below, typename Above>
std::pair<std::size_t, std::size_t> part_between(const std::vector<T>& sorted, const Bound& low,
                                                 const Bound& high, const Below& below,
                                                 const Above& above) {
  const auto begin = std::lower_bound(sorted.begin(), sorted.end(), low, below);
  auto near = begin;
  std::ptrdiff_t step = 1;
  while (sorted.end() - near > step && !above(high, near[step])) {
    near += step;
    step *= 2;
  }
  const auto last = sorted.end() - near > step ? near + step : sorted.end();
  const auto end = std::upper_bound(near, last, high, above);
  return {begin - sorted.begin(), end - sorted.begin()};
}

}  // namespace

std::span<const KeyId> History::keys_between(ScalarView low, ScalarView high) const {
  if (low.kind == ScalarKind::kInteger && high.kind == ScalarKind::kInteger) {
    const auto [begin, end] =
        part_between(integer_keys_, low.integer, high.integer, std::less<>(), std::less<>());
    return std::span(keys_in_order_).subspan(first_integer_key_ + begin, end - begin);
  }
  const auto [begin, end] = part_between(
      keys_in_order_, low, high,
      [this](KeyId k, const ScalarView& bound) { return key(k) < bound; },
      [this](const ScalarView& bound, KeyId k) { return bound < key(k); });
  return std::span(keys_in_order_).subspan(begin, end - begin);
}

std::string History::fact(const std::string& name) const {
  const auto found = metadata_.find(name);
  return found == metadata_.end() ? std::string() : found->second;
}

std::uint64_t History::resident_bytes() const {
  const auto bytes = [](const auto& v) { return v.capacity() * sizeof(v[0]); };
  std::uint64_t total = bytes(kind_) + bytes(key_) + bytes(value_) + bytes(list_first_) +
                        bytes(list_elements_) + bytes(ranges_) + bytes(range_entries_) +
                        bytes(cas_);
  total += bytes(first_op_) + bytes(op_count_status_) + bytes(txn_session_) + bytes(label_) +
           bytes(place_) + bytes(invoke_) + bytes(complete_);
  total += bytes(session_first_) + bytes(list_key_) + bytes(keys_in_order_) + bytes(integer_keys_) +
           bytes(initial_);
  return total + keys_.resident_bytes() + values_.resident_bytes();
}

}  // namespace cupel::history
