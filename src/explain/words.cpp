// Words: see the header. Long lists are cut to the window that matters, long
// scalars to their beginning: a sentence that wraps five times is not read.
#include "explain/words.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "history/naming.hpp"

namespace cupel::explain {

using history::Operation;
using history::OpKind;

namespace {

constexpr std::size_t kWholeList = 10;  // lists up to this length are shown whole
constexpr std::size_t kAround = 2;      // elements kept on each side of one in focus
constexpr std::size_t kOperationsInLine = 8;
constexpr std::size_t kWholeTransaction = 4;  // transactions up to this length are shown whole

}  // namespace

std::string enumerate(std::span<const std::string> items) {
  std::string text;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) text += i + 1 == items.size() ? " and " : ", ";
    text += items[i];
  }
  return text;
}

std::string duration(std::int64_t nanoseconds) {
  const auto ns = static_cast<double>(nanoseconds);
  if (ns < 1e3) return fmt::format("{} ns", nanoseconds);
  if (ns < 1e6) return fmt::format("{:.4g} us", ns / 1e3);
  if (ns < 1e9) return fmt::format("{:.4g} ms", ns / 1e6);
  return fmt::format("{:.4g} s", ns / 1e9);
}

Words::Words(const History& history, std::span<const TxnId> involved) : history_(history) {
  const std::set<TxnId> distinct(involved.begin(), involved.end());
  std::set<std::uint32_t> labels;
  for (const TxnId t : distinct) {
    if (t.valid() && !labels.insert(history.label(t)).second)
      shared_labels_.insert(history.label(t));
  }
}

std::string Words::name(TxnId txn) const {
  if (!txn.valid()) return "the initial state";
  const auto label = history_.label(txn);
  if (!shared_labels_.contains(label)) return history::transaction_name(history_, txn);
  const auto session = history_.session(txn);
  const auto position = txn.raw - history_.session_begin(session).raw + 1;
  return fmt::format("T{}@{}#{}", label, history_.session_name(session), position);
}

std::string Words::txn(TxnId txn) {
  if (txn.valid() && mentioned_set_.insert(txn).second) mentioned_.push_back(txn);
  return name(txn);
}

std::string Words::place(TxnId txn) const {
  return history::transaction_place(history_, txn);
}

std::string Words::txn_in_full(TxnId t) {
  return fmt::format("{} ({})", txn(t), place(t));
}

std::string Words::list_name(KeyId key) const {
  return history::shown_key(history_.key(key));
}
std::string Words::key(KeyId key) const {
  // "read 5 = 3" looks like a sum that is wrong.
  const bool number = history_.key(key).kind == history::ScalarKind::kInteger;
  return number ? "key " + list_name(key) : list_name(key);
}
std::string Words::value(ValueId value) const {
  return value.valid() ? history::shown(history_.value(value)) : "an unknown value";
}

std::string Words::bound(ValueId value) const {  // of a range: a key
  return history::shown_key(history_.value(value));
}

std::string Words::seen(OpId id, KeyId k) const {
  const Operation op = history_.op(id);
  switch (op.kind) {
    case OpKind::kListRead:
      return history_.list_known(op) ? list(history_.list(op), {}) : "an unknown list";
    case OpKind::kCompareAndSet:
      return value(history_.compare_and_set(op).expected);
    case OpKind::kRangeRead: {
      const auto entries = history_.range(op).entries;
      const auto entry =
          std::find_if(entries.begin(), entries.end(), [&](const auto& e) { return e.key == k; });
      return entry == entries.end() ? "nothing" : value(entry->value);
    }
    default:
      return value(op.value);
  }
}

std::string Words::list(std::span<const ValueId> elements, std::span<const ValueId> focus) const {
  std::vector<bool> keep(elements.size(), elements.size() <= kWholeList);
  if (elements.size() > kWholeList) {
    const auto keep_around = [&](std::size_t i) {
      const auto last = std::min(elements.size(), i + kAround + 1);
      for (std::size_t j = i < kAround ? 0 : i - kAround; j < last; ++j) keep[j] = true;
    };
    for (std::size_t i = 0; i < elements.size(); ++i) {
      if (std::find(focus.begin(), focus.end(), elements[i]) != focus.end()) keep_around(i);
    }
    keep_around(elements.size() - 1);  // a read is from the writer of its last element
  }
  std::string text = "[";
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (keep[i]) {
      text += (i == 0 ? "" : " ") + value(elements[i]);
    } else if (i == 0 || keep[i - 1]) {
      text += i == 0 ? "..." : " ...";
    }
  }
  text += "]";
  if (elements.size() > kWholeList) text += fmt::format(" ({} elements)", elements.size());
  return text;
}

void Words::mention(OpId op, std::span<const ValueId> focus) {
  auto& seen = operations_[op];
  seen.insert(seen.end(), focus.begin(), focus.end());
}

std::string Words::read_clause(OpId id, KeyId k, std::span<const ValueId> focus) {
  if (!id.valid()) return fmt::format("read {}", key(k));
  mention(id, focus);
  const Operation op = history_.op(id);
  switch (op.kind) {
    case OpKind::kListRead:
      return history_.list_known(op)
                 ? fmt::format("read {} = {}", key(op.key), list(history_.list(op), focus))
                 : fmt::format("read {}", key(op.key));
    case OpKind::kRangeRead: {
      const auto range = history_.range(op);
      const auto entry = std::find_if(range.entries.begin(), range.entries.end(),
                                      [&](const auto& e) { return e.key == k; });
      return fmt::format("read the range {} to {} and saw {}", bound(range.low), bound(range.high),
                         entry == range.entries.end()
                             ? "no " + key(k)
                             : fmt::format("{} = {}", key(k), value(entry->value)));
    }
    case OpKind::kCompareAndSet: {
      const auto cas = history_.compare_and_set(op);
      return cas.succeeded ? fmt::format("found {} = {} and set it to {}", key(op.key),
                                         value(cas.expected), value(cas.desired))
                           : fmt::format("found {} to be something else than {}", key(op.key),
                                         value(cas.expected));
    }
    default:
      return fmt::format("read {} = {}", key(op.key), value(op.value));
  }
}

std::string Words::write_clause(OpId id) {
  mention(id);
  const Operation op = history_.op(id);
  switch (op.kind) {
    case OpKind::kAppend:
      return fmt::format("appended {} to {}", value(op.value), key(op.key));
    case OpKind::kInsert:
      return fmt::format("inserted {} = {}", key(op.key), value(op.value));
    case OpKind::kDelete:
      return fmt::format("deleted {}", key(op.key));
    case OpKind::kCompareAndSet: {
      const auto cas = history_.compare_and_set(op);
      return fmt::format("set {} from {} to {}", key(op.key), value(cas.expected),
                         value(cas.desired));
    }
    default:
      return fmt::format("wrote {} = {}", key(op.key), value(op.value));
  }
}

std::string Words::version(OpId id, KeyId k) {
  if (!id.valid()) {
    return history_.is_list(k) ? fmt::format("the empty list {}", list_name(k))
                               : fmt::format("{} = {}", key(k), value(history_.initial_value(k)));
  }
  mention(id);
  const Operation op = history_.op(id);
  switch (op.kind) {
    case OpKind::kAppend:
      return fmt::format("{} in the list {}", value(op.value), list_name(op.key));
    case OpKind::kDelete:
      return fmt::format("delete of {}", key(op.key));
    default:
      return fmt::format("{} = {}", key(op.key), value(written(id)));
  }
}

ValueId Words::written(OpId id) const {
  const Operation op = history_.op(id);
  return op.kind == OpKind::kCompareAndSet ? history_.compare_and_set(op).desired : op.value;
}

bool Words::reads(OpId id, KeyId k) const {
  const Operation op = history_.op(id);
  switch (op.kind) {
    case OpKind::kRead:
    case OpKind::kListRead:
      return op.key == k;
    case OpKind::kCompareAndSet:
      return op.key == k && history_.compare_and_set(op).succeeded;
    case OpKind::kRangeRead: {
      const auto range = history_.range(op);
      const auto scalar = history_.key(k);
      return !(scalar < history_.value(range.low)) && !(history_.value(range.high) < scalar);
    }
    default:
      return false;
  }
}

bool Words::writes(OpId id, KeyId k) const {
  const Operation op = history_.op(id);
  switch (op.kind) {
    case OpKind::kWrite:
    case OpKind::kAppend:
    case OpKind::kInsert:
    case OpKind::kDelete:
      return op.key == k;
    case OpKind::kCompareAndSet:
      return op.key == k && history_.compare_and_set(op).succeeded;
    default:
      return false;
  }
}

OpId Words::find_read(TxnId t, KeyId k) const {
  if (!t.valid() || !k.valid()) return OpId::none();
  for (auto i = history_.first_op(t); i < history_.last_op(t); ++i) {
    if (reads(OpId(i), k)) return OpId(i);
    if (writes(OpId(i), k)) return OpId::none();
  }
  return OpId::none();
}

OpId Words::find_write(TxnId t, KeyId k) const {
  if (!t.valid() || !k.valid()) return OpId::none();
  for (auto i = history_.last_op(t); i > history_.first_op(t); --i) {
    if (writes(OpId(i - 1), k)) return OpId(i - 1);
  }
  return OpId::none();
}

std::string Words::brief(OpId id) const {
  const Operation op = history_.op(id);
  switch (op.kind) {
    case OpKind::kRead:
      return fmt::format("read {} = {}", key(op.key), value(op.value));
    case OpKind::kWrite:
      return fmt::format("write {} = {}", key(op.key), value(op.value));
    case OpKind::kAppend:
      return fmt::format("append {} to {}", value(op.value), key(op.key));
    case OpKind::kInsert:
      return fmt::format("insert {} = {}", key(op.key), value(op.value));
    case OpKind::kDelete:
      return fmt::format("delete {}", key(op.key));
    case OpKind::kListRead: {
      if (!history_.list_known(op)) return fmt::format("read {}, answer unknown", key(op.key));
      const auto found = operations_.find(id);
      return fmt::format("read {} = {}", key(op.key),
                         list(history_.list(op), found == operations_.end()
                                                     ? std::span<const ValueId>{}
                                                     : std::span<const ValueId>(found->second)));
    }
    case OpKind::kRangeRead: {
      const auto range = history_.range(op);
      return fmt::format("read range {} to {} ({} found)", bound(range.low), bound(range.high),
                         range.entries.size());
    }
    case OpKind::kCompareAndSet: {
      const auto cas = history_.compare_and_set(op);
      return fmt::format("compare-and-set {} from {} to {}{}", key(op.key), value(cas.expected),
                         value(cas.desired), cas.succeeded ? "" : " (failed)");
    }
  }
  return {};
}

std::string Words::line(TxnId t, std::size_t name_width) const {
  const auto first = history_.first_op(t);
  const auto last = history_.last_op(t);
  std::vector<OpId> shown;
  for (auto i = first; i < last; ++i) {
    const bool wanted = last - first <= kWholeTransaction || operations_.contains(OpId(i));
    if (wanted && shown.size() < kOperationsInLine) shown.push_back(OpId(i));
  }
  std::string text = fmt::format("{:<{}}  {}", name(t), name_width, place(t));
  if (history_.status(t) != history::TxnStatus::kCommitted) {
    text += fmt::format(", {}", history::to_string(history_.status(t)));
  }
  for (std::size_t i = 0; i < shown.size(); ++i) text += (i == 0 ? ": " : ", ") + brief(shown[i]);
  if (shown.size() < last - first) {
    text += fmt::format("{} {} of its {} operations", shown.empty() ? ":" : ";", shown.size(),
                        last - first);
  }
  return text;
}

}  // namespace cupel::explain
