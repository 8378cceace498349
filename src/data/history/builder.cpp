// HistoryBuilder: see the header. Operations are appended where they come and
// never move; finish() sorts only the transactions' columns by session (stable,
// a counting sort), so building costs O(operations + transactions).
#include "data/history/builder.hpp"

#include <algorithm>
#include <cassert>
#include <string>
#include <string_view>
#include <utility>

#include "base/hash_table.hpp"

namespace cupel::history {

namespace {
constexpr std::uint32_t kMaxOpsPerTxn = (1u << 30) - 1;
constexpr std::uint8_t kAsRegister = 1;
constexpr std::uint8_t kAsList = 2;
}  // namespace

struct HistoryBuilder::SessionIndex {
  base::HashMap<std::string, std::uint32_t> by_name;
};

HistoryBuilder::HistoryBuilder(std::size_t most_of_each)
    : session_index_(std::make_unique<SessionIndex>()), most_of_each_(most_of_each) {
  h_.null_value_ = ValueId(h_.values_.intern(ScalarView::null()));
  h_.default_initial_ = h_.null_value_;
  h_.list_first_ = {0};
}
HistoryBuilder::~HistoryBuilder() = default;
HistoryBuilder::HistoryBuilder(HistoryBuilder&&) noexcept = default;
HistoryBuilder& HistoryBuilder::operator=(HistoryBuilder&&) noexcept = default;

SessionId HistoryBuilder::session(std::string_view name) {
  const auto [it, fresh] = session_index_->by_name.try_emplace(
      std::string(name), static_cast<std::uint32_t>(h_.session_names_.size()));
  if (fresh) h_.session_names_.emplace_back(name);
  return SessionId(it->second);
}

KeyId HistoryBuilder::key(ScalarView scalar) {
  return KeyId(h_.keys_.intern(scalar));
}
ValueId HistoryBuilder::value(ScalarView scalar) {
  return ValueId(h_.values_.intern(scalar));
}
KeyId HistoryBuilder::key(std::int64_t integer) {
  return KeyId(h_.keys_.intern(integer));
}
ValueId HistoryBuilder::value(std::int64_t integer) {
  return ValueId(h_.values_.intern(integer));
}
ValueId HistoryBuilder::null_value() const {
  return h_.null_value_;
}
void HistoryBuilder::prefetch_key(std::int64_t integer) const {
  h_.keys_.prefetch(integer);
}
void HistoryBuilder::prefetch_value(std::int64_t integer) const {
  h_.values_.prefetch(integer);
}

void HistoryBuilder::begin(SessionId session, TxnStatus status, TxnFacts facts) {
  assert(!open_ && "begin() inside an open transaction");
  open_ = true;
  h_.txn_session_.push_back(session.raw);
  h_.first_op_.push_back(static_cast<std::uint32_t>(h_.kind_.size()));
  h_.op_count_status_.push_back(static_cast<std::uint32_t>(status) << 30);
  h_.label_.push_back(facts.label);
  if (facts.place != 0 || !h_.place_.empty()) {
    h_.place_.resize(h_.label_.size(), 0);
    h_.place_.back() = facts.place;
  }
  if (facts.invoke != kNoTime || facts.complete != kNoTime) {
    if (h_.invoke_.empty()) {  // the first transaction with a time: those before have none
      h_.invoke_.assign(h_.first_op_.size() - 1, kNoTime);
      h_.complete_.assign(h_.first_op_.size() - 1, kNoTime);
    }
    any_times_ = true;
    if (facts.invoke != kNoTime && facts.complete != kNoTime && facts.complete < facts.invoke &&
        error_.empty()) {
      error_ = "transaction " + std::to_string(facts.label) + " completes at " +
               std::to_string(facts.complete) + ", before it is invoked at " +
               std::to_string(facts.invoke);
    }
  }
  if (any_times_) {
    h_.invoke_.push_back(facts.invoke);
    h_.complete_.push_back(facts.complete);
  }
}

void HistoryBuilder::note_key_use(KeyId key, bool as_list) {
  if (key_use_.size() <= key.index()) key_use_.resize(std::max(h_.keys_.size(), key.index() + 1));
  auto& use = key_use_[key.index()];
  use |= as_list ? kAsList : kAsRegister;
  if (use == (kAsList | kAsRegister) && error_.empty()) {
    error_ = "key " + h_.keys_.at(key.raw).to_string() +
             " is used both as a list (append, list read) and as a register (read, write); "
             "expected one of the two";
  }
}

void HistoryBuilder::add(OpKind kind, KeyId key, std::uint32_t value) {
  assert(open_ && "an operation outside a transaction");
  if (key.valid()) note_key_use(key, kind == OpKind::kAppend || kind == OpKind::kListRead);
  h_.kind_.push_back(kind);
  h_.key_.push_back(key.raw);
  h_.value_.push_back(value);
}

void HistoryBuilder::read(KeyId key, ValueId value) {
  add(OpKind::kRead, key, value.raw);
}
void HistoryBuilder::write(KeyId key, ValueId value) {
  add(OpKind::kWrite, key, value.raw);
}
void HistoryBuilder::append(KeyId key, ValueId element) {
  add(OpKind::kAppend, key, element.raw);
}
void HistoryBuilder::insert(KeyId key, ValueId value) {
  add(OpKind::kInsert, key, value.raw);
}
void HistoryBuilder::erase(KeyId key, ValueId tombstone) {
  add(OpKind::kDelete, key, tombstone.valid() ? tombstone.raw : h_.null_value_.raw);
}

void HistoryBuilder::list_read(KeyId key, std::span<const ValueId> elements) {
  add(OpKind::kListRead, key, static_cast<std::uint32_t>(h_.list_first_.size() - 1));
  h_.list_elements_.insert(h_.list_elements_.end(), elements.begin(), elements.end());
  h_.list_first_.push_back(static_cast<std::uint32_t>(h_.list_elements_.size()));
}

void HistoryBuilder::list_read_unknown(KeyId key) {
  add(OpKind::kListRead, key, ValueId::kNoneRaw);
}

void HistoryBuilder::range_read(ValueId low, ValueId high, std::span<const RangeEntry> entries) {
  add(OpKind::kRangeRead, KeyId::none(), static_cast<std::uint32_t>(h_.ranges_.size()));
  const auto first = static_cast<std::uint32_t>(h_.range_entries_.size());
  h_.range_entries_.insert(h_.range_entries_.end(), entries.begin(), entries.end());
  for (const auto& entry : entries) note_key_use(entry.key, false);
  h_.ranges_.push_back({low, high, first, static_cast<std::uint32_t>(h_.range_entries_.size())});
}

void HistoryBuilder::compare_and_set(KeyId key, ValueId expected, ValueId desired, bool succeeded) {
  add(OpKind::kCompareAndSet, key, static_cast<std::uint32_t>(h_.cas_.size()));
  h_.cas_.push_back({expected, desired, succeeded});
}

void HistoryBuilder::copy(const History& from, OpId id) {
  const Operation op = from.op(id);
  const auto key_of = [&](KeyId k) { return key(from.key(k)); };
  const auto value_of = [&](ValueId v) { return v.valid() ? value(from.value(v)) : v; };
  switch (op.kind) {
    case OpKind::kRead:
      return read(key_of(op.key), value_of(op.value));
    case OpKind::kWrite:
      return write(key_of(op.key), value_of(op.value));
    case OpKind::kAppend:
      return append(key_of(op.key), value_of(op.value));
    case OpKind::kInsert:
      return insert(key_of(op.key), value_of(op.value));
    case OpKind::kDelete:
      return erase(key_of(op.key), value_of(op.value));
    case OpKind::kListRead: {
      if (!from.list_known(op)) return list_read_unknown(key_of(op.key));
      std::vector<ValueId> elements;
      for (const ValueId v : from.list(op)) elements.push_back(value_of(v));
      return list_read(key_of(op.key), elements);
    }
    case OpKind::kRangeRead: {
      const RangeRead range = from.range(op);
      std::vector<RangeEntry> entries;
      for (const auto& e : range.entries) entries.push_back({key_of(e.key), value_of(e.value)});
      return range_read(value_of(range.low), value_of(range.high), entries);
    }
    case OpKind::kCompareAndSet: {
      const CompareAndSet cas = from.compare_and_set(op);
      return compare_and_set(key_of(op.key), value_of(cas.expected), value_of(cas.desired),
                             cas.succeeded);
    }
  }
}

void HistoryBuilder::end() {
  assert(open_ && "end() without begin()");
  open_ = false;
  const std::size_t count = h_.kind_.size() - h_.first_op_.back();
  if (count > kMaxOpsPerTxn && error_.empty()) {
    error_ = "transaction " + std::to_string(h_.label_.back()) + " has " + std::to_string(count) +
             " operations; at most " + std::to_string(kMaxOpsPerTxn) + " can be held";
  }
  h_.op_count_status_.back() |= static_cast<std::uint32_t>(count) & kMaxOpsPerTxn;
}

void HistoryBuilder::cancel() {
  assert(open_ && "cancel() without begin()");
  open_ = false;
  // Payloads of cancelled operations stay, unreferenced.
  const auto first = h_.first_op_.back();
  h_.kind_.resize(first);
  h_.key_.resize(first);
  h_.value_.resize(first);
  h_.first_op_.pop_back();
  h_.op_count_status_.pop_back();
  h_.txn_session_.pop_back();
  h_.label_.pop_back();
  if (!h_.place_.empty()) h_.place_.pop_back();
  if (any_times_) {
    h_.invoke_.pop_back();
    h_.complete_.pop_back();
  }
}

void HistoryBuilder::set_default_initial(ValueId value, bool unless_written) {
  h_.default_initial_ = value;
  initial_unless_written_ = unless_written;
}

void HistoryBuilder::put_keys_in_order() {
  std::vector<std::pair<std::int64_t, KeyId>> integers;
  for (std::uint32_t k = 0; k < h_.keys_.size(); ++k) {
    const ScalarView key = h_.key(KeyId(k));
    if (key.kind == ScalarKind::kInteger) {
      integers.emplace_back(key.integer, KeyId(k));
    } else {
      h_.keys_in_order_.push_back(KeyId(k));
    }
  }
  std::sort(h_.keys_in_order_.begin(), h_.keys_in_order_.end(),
            [this](KeyId a, KeyId b) { return h_.key(a) < h_.key(b); });
  std::sort(integers.begin(), integers.end());
  const auto after =
      std::find_if(h_.keys_in_order_.begin(), h_.keys_in_order_.end(),
                   [this](KeyId k) { return ScalarKind::kInteger < h_.key(k).kind; });
  h_.first_integer_key_ = static_cast<std::size_t>(after - h_.keys_in_order_.begin());
  std::vector<KeyId> ids;
  for (const auto& [integer, id] : integers) {
    h_.integer_keys_.push_back(integer);
    ids.push_back(id);
  }
  h_.keys_in_order_.insert(after, ids.begin(), ids.end());
}

void HistoryBuilder::withdraw_written_initials() {
  std::vector<std::uint8_t> written(h_.keys_.size(), 0);
  for (std::size_t t = 0; t < h_.txn_count(); ++t) {
    if (h_.status(TxnId(t)) == TxnStatus::kAborted) continue;
    for (auto i = h_.first_op(TxnId(t)); i < h_.last_op(TxnId(t)); ++i) {
      const bool writes = h_.kind_[i] == OpKind::kWrite || h_.kind_[i] == OpKind::kInsert;
      if (writes && h_.value_[i] == h_.default_initial_.raw) written[h_.key_[i]] = 1;
    }
  }
  for (const auto& [key, value] : h_.initial_) written[key.index()] = 0;  // said for this key
  for (std::size_t k = 0; k < written.size(); ++k) {
    if (written[k]) h_.initial_.emplace_back(KeyId(k), h_.null_value_);
  }
}
void HistoryBuilder::set_initial(KeyId key, ValueId value) {
  h_.initial_.emplace_back(key, value);
}
void HistoryBuilder::set_metadata(std::string_view name, std::string_view text) {
  h_.metadata_.insert_or_assign(std::string(name), std::string(text));
}
History HistoryBuilder::with_metadata(History history, std::string_view name,
                                      std::string_view text) {
  history.metadata_.insert_or_assign(std::string(name), std::string(text));
  return history;
}

History HistoryBuilder::with_initial_of_all(History history, ScalarView value) {
  history.default_initial_ = ValueId(history.values_.find_or_add(value));
  history.initial_.clear();
  return history;
}

History HistoryBuilder::with_initial(History history, KeyId key, ScalarView value) {
  assert(!history.is_list(key) && "a list starts empty");
  const ValueId id(history.values_.find_or_add(value));
  auto& initial = history.initial_;
  const auto at = std::lower_bound(initial.begin(), initial.end(), key,
                                   [](const auto& entry, KeyId k) { return entry.first < k; });
  if (at != initial.end() && at->first == key) {
    at->second = id;
  } else {
    initial.insert(at, {key, id});
  }
  return history;
}

// Ids and offsets that did not fit have wrapped by now, and nothing has read them.
void HistoryBuilder::check_sizes() {
  const std::pair<std::size_t, std::string_view> sizes[] = {
      {h_.kind_.size(), "operations"},
      {h_.first_op_.size(), "transactions"},
      {h_.session_names_.size(), "sessions"},
      {h_.keys_.size(), "keys"},
      {h_.values_.size(), "values"},
      {h_.list_elements_.size(), "elements of list reads"},
      {h_.range_entries_.size(), "rows of range reads"}};
  for (const auto& [size, of] : sizes) {
    if (size <= most_of_each_ || !error_.empty()) continue;
    error_ = "the history has " + std::to_string(size) + " " + std::string(of) + "; at most " +
             std::to_string(most_of_each_) + " can be held. Check parts of it";
  }
}

base::Result<History> HistoryBuilder::finish() && {
  assert(!open_ && "finish() inside an open transaction");
  check_sizes();
  if (!error_.empty()) return base::Error{.message = error_};

  const std::size_t txns = h_.first_op_.size();
  h_.session_first_.assign(h_.session_names_.size() + 1, 0);
  for (const auto s : h_.txn_session_) ++h_.session_first_[s + 1];
  for (std::size_t s = 1; s < h_.session_first_.size(); ++s) {
    h_.session_first_[s] += h_.session_first_[s - 1];
  }
  if (!std::is_sorted(h_.txn_session_.begin(), h_.txn_session_.end())) {
    std::vector<std::uint32_t> place(txns);
    auto next = h_.session_first_;
    for (std::size_t t = 0; t < txns; ++t) place[t] = next[h_.txn_session_[t]]++;
    const auto permute = [&](auto& column) {
      std::remove_reference_t<decltype(column)> sorted(column.size());
      for (std::size_t t = 0; t < column.size(); ++t) sorted[place[t]] = column[t];
      column = std::move(sorted);
    };
    permute(h_.first_op_);
    permute(h_.op_count_status_);
    permute(h_.label_);
    permute(h_.place_);
    permute(h_.invoke_);
    permute(h_.complete_);
    permute(h_.txn_session_);
  }

  h_.list_key_.assign(h_.keys_.size(), 0);
  for (std::size_t k = 0; k < key_use_.size(); ++k) h_.list_key_[k] = (key_use_[k] & kAsList) != 0;

  if (initial_unless_written_) withdraw_written_initials();
  std::stable_sort(h_.initial_.begin(), h_.initial_.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  const auto last = std::unique(h_.initial_.rbegin(), h_.initial_.rend(),
                                [](const auto& a, const auto& b) { return a.first == b.first; });
  h_.initial_.erase(h_.initial_.begin(), last.base());  // the last word on a key wins

  if (!h_.ranges_.empty()) put_keys_in_order();

  h_.keys_.drop_index();
  h_.values_.drop_index();
  h_.kind_.shrink_to_fit();
  h_.key_.shrink_to_fit();
  h_.value_.shrink_to_fit();
  h_.first_op_.shrink_to_fit();
  h_.op_count_status_.shrink_to_fit();
  h_.txn_session_.shrink_to_fit();
  h_.label_.shrink_to_fit();
  h_.invoke_.shrink_to_fit();
  h_.complete_.shrink_to_fit();
  h_.list_elements_.shrink_to_fit();
  h_.range_entries_.shrink_to_fit();
  return std::move(h_);
}

}  // namespace cupel::history
