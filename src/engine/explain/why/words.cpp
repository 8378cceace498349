// Words: see the header. Long lists are cut to the window that matters, long
// scalars to their beginning: a sentence that wraps five times is not read.
#include "engine/explain/why/words.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <optional>

#include "base/visible.hpp"
#include "data/history/naming.hpp"
#include "data/history/text_order.hpp"
#include "engine/explain/why/layout.hpp"

namespace cupel::explain {

using history::Operation;
using history::OpKind;

namespace {

constexpr std::size_t kWholeList = 10;  // lists up to this length are shown whole
constexpr std::size_t kAround = 2;      // elements kept on each side of one in focus
constexpr std::size_t kOperationsInLine = 8;
constexpr std::size_t kLongestNote = 200;   // a recorder's sentence, in bytes
constexpr std::size_t kMostStatements = 6;  // of a transaction
constexpr std::size_t kListingWidth = 100;  // with wider lines, two a transaction
constexpr char kGlue = '\x1f';              // a blank where no line is broken
constexpr history::Time kEpochFrom = 100'000'000'000'000'000;  // 1973: before, it is no date
constexpr std::size_t kWholeTransaction = 4;  // transactions up to this length are shown whole

// How many rows a range read returned, also those that a part of the history does not have. None:
// the transaction read the range more than once, with different results.
std::optional<std::size_t> rows_found(const History& history, const Context& context, TxnId txn,
                                      const history::RangeRead& range) {
  if (!context.origin) return range.entries.size();
  const History& whole = context.origin->whole;
  const TxnId there = context.origin->txns[txn.index()];
  std::optional<std::size_t> found;
  for (auto i = whole.first_op(there); i < whole.last_op(there); ++i) {
    const auto op = whole.op(OpId(i));
    if (op.kind != OpKind::kRangeRead) continue;
    const auto other = whole.range(op);
    if (whole.value(other.low) != history.value(range.low) ||
        whole.value(other.high) != history.value(range.high)) {
      continue;
    }
    if (found && *found != other.entries.size()) return std::nullopt;
    found = other.entries.size();
  }
  return found;
}

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

std::string moment(history::Time time, history::Time scale) {
  const auto fraction = [](std::int64_t value, std::int64_t unit) {
    auto text = fmt::format("{}.{:09}", value / unit, value % unit * (1'000'000'000 / unit));
    while (text.ends_with("000")) text.resize(text.size() - 3);
    if (text.back() == '.') text.pop_back();
    return text;
  };
  if (time == history::kNoTime) return "an unknown time";
  if (time < 0) return "-" + moment(-time, scale);
  scale = std::max(time, scale);
  if (time >= kEpochFrom) {
    const auto seconds = static_cast<std::time_t>(time / 1'000'000'000);
    const auto rest = fraction(time % 1'000'000'000, 1'000'000'000).substr(1);
    return fmt::format("{:%Y-%m-%d %H:%M:%S}{} UTC", fmt::gmtime(seconds), rest);
  }
  if (scale < 10'000) return fmt::format("{} ns", time);
  if (scale < 10'000'000) return fraction(time, 1'000) + " us";
  if (scale < 10'000'000'000) return fraction(time, 1'000'000) + " ms";
  return fraction(time, 1'000'000'000) + " s";
}

Words::Words(const History& history, std::span<const TxnId> involved, const Context& context)
    : history_(history),
      context_(context),
      of_mutex_(
          (context.origin ? context.origin->whole : history).fact("kind").starts_with("mutex")) {
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
  const History& whole = context_.origin ? context_.origin->whole : history_;
  const TxnId there = context_.origin ? context_.origin->txns[txn.index()] : txn;
  const auto session = whole.session(there);
  return fmt::format("T{}@{}#{}", label, history::session_text(whole, session), whole.place(there));
}

std::string Words::txn(TxnId txn) {
  if (txn.valid() && referenced_set_.insert(txn).second) referenced_.push_back(txn);
  return name(txn);
}

std::string Words::place(TxnId txn) const {
  return context_.origin ? history::transaction_place(context_.origin->whole,
                                                      context_.origin->txns[txn.index()])
                         : history::transaction_place(history_, txn);
}

std::string Words::list_name(KeyId key) const {
  return history::shown_key(history_.key(key));
}
bool Words::acquires(OpId op) const {
  return history_.compare_and_set(history_.op(op)).desired != history_.null_value();
}
std::string Words::both_wrote(KeyId k) const {
  return fmt::format("both {} {}", of_mutex_ ? "changed" : "wrote", key(k));
}

std::string Words::key(KeyId key) const {
  if (of_mutex_) return "the mutex";
  if (!key.valid()) return "a range";  // whose answer is not known (data/history/mask.hpp)
  // "read 5 = 3" looks like a sum that is wrong.
  const bool number = history_.key(key).kind == history::ScalarKind::kInteger;
  return number ? "key " + list_name(key) : list_name(key);
}
std::string Words::value(ValueId value) const {
  if (of_mutex_) return value.valid() && value != history_.null_value() ? "held" : "free";
  return value.valid() ? history::shown(history_.value(value)) : "an unknown value";
}

std::string Words::bound(ValueId value) const {  // of a range: a key
  return history::shown_bound(history_.value(value));
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
    bool any = false;
    for (std::size_t i = 0; i < elements.size(); ++i) {
      if (std::find(focus.begin(), focus.end(), elements[i]) == focus.end()) continue;
      keep_around(i);
      any = true;
    }
    if (!any) keep_around(elements.size() - 1);  // a read is from the writer of its last element
  }
  std::string text = "[";
  for (std::size_t i = 0; i < elements.size();) {
    if (i > 0) text += ' ';
    std::size_t end = i;
    while (end < elements.size() && !keep[end]) ++end;
    if (end - i > 1) {
      text += fmt::format("...+{}", end - i);
      i = end;
    } else {
      text += value(elements[i]);
      ++i;
    }
  }
  return text + "]";
}

std::vector<ValueId> Words::row_values(const history::RangeRead& range, KeyId k) const {
  std::vector<ValueId> values;
  for (const auto& entry : range.entries) {
    if (entry.key != k) continue;
    if (std::find(values.begin(), values.end(), entry.value) == values.end())
      values.push_back(entry.value);
  }
  return values;
}

std::string Words::rows(const history::RangeRead& range, KeyId k,
                        std::span<const ValueId> focus) const {
  const auto values = row_values(range, k);
  if (values.empty()) return "no " + key(k);
  std::vector<std::string> shown;
  for (const ValueId v : values) {
    if (std::find(focus.begin(), focus.end(), v) != focus.end()) shown.push_back(value(v));
  }
  if (shown.empty()) {
    for (const ValueId v : values) shown.push_back(value(v));
  }
  return fmt::format("{} = {}", key(k), enumerate(shown));
}

void Words::reference(OpId op, std::span<const ValueId> focus) {
  auto& seen = operations_[op];
  seen.insert(seen.end(), focus.begin(), focus.end());
}

std::string Words::read_clause(OpId id, KeyId k, std::span<const ValueId> focus) {
  if (!id.valid()) return fmt::format("read {}", key(k));
  reference(id, focus);
  const Operation op = history_.op(id);
  switch (op.kind) {
    case OpKind::kListRead:
      return history_.list_known(op)
                 ? fmt::format("read {} = {}", key(op.key), list(history_.list(op), focus))
                 : fmt::format("read {}", key(op.key));
    case OpKind::kRangeRead: {
      const auto range = history_.range(op);
      return fmt::format("read the range {} to {} and saw {}", bound(range.low), bound(range.high),
                         rows(range, k, focus));
    }
    case OpKind::kCompareAndSet: {
      const auto cas = history_.compare_and_set(op);
      if (of_mutex_) {
        return fmt::format("{} the mutex{}", acquires(id) ? "acquired" : "released",
                           cas.succeeded ? "" : " in vain");
      }
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
  reference(id);
  const Operation op = history_.op(id);
  switch (op.kind) {
    case OpKind::kAppend:
      return fmt::format("appended {} to {}", value(op.value), key(op.key));
    case OpKind::kInsert:
      return fmt::format("inserted {} = {}", key(op.key), value(op.value));
    case OpKind::kDelete:
      return fmt::format("deleted {}", key(op.key));
    case OpKind::kCompareAndSet: {
      if (of_mutex_) return acquires(id) ? "acquired the mutex" : "released the mutex";
      const auto cas = history_.compare_and_set(op);
      return fmt::format("set {} from {} to {}", key(op.key), value(cas.expected),
                         value(cas.desired));
    }
    default:
      return fmt::format("wrote {} = {}", key(op.key), value(op.value));
  }
}

std::string Words::write_noun(OpId id) {
  reference(id);
  const Operation op = history_.op(id);
  switch (op.kind) {
    case OpKind::kAppend:
      return fmt::format("append of {} to {}", value(op.value), key(op.key));
    case OpKind::kInsert:
      return fmt::format("insert of {} = {}", key(op.key), value(op.value));
    case OpKind::kDelete:
      return fmt::format("delete of {}", key(op.key));
    case OpKind::kCompareAndSet: {
      if (of_mutex_) return acquires(id) ? "acquire" : "release";
      const auto cas = history_.compare_and_set(op);
      return fmt::format("compare-and-set of {} from {} to {}", key(op.key), value(cas.expected),
                         value(cas.desired));
    }
    default:
      return fmt::format("write of {} to {}", value(op.value), key(op.key));
  }
}

std::string Words::answer(OpId id, KeyId k, std::span<const ValueId> focus) {
  if (!id.valid()) return "read something older";
  reference(id, focus);
  const Operation op = history_.op(id);
  switch (op.kind) {
    case OpKind::kListRead:
      return "read " + (history_.list_known(op) ? list(history_.list(op), focus) : "it");
    case OpKind::kRangeRead: {
      const auto range = history_.range(op);
      return fmt::format("found {} from {} to {}", rows(range, k, focus), bound(range.low),
                         bound(range.high));
    }
    case OpKind::kCompareAndSet: {
      const auto cas = history_.compare_and_set(op);
      if (of_mutex_ && !cas.succeeded)
        return fmt::format("found it {}", acquires(id) ? "held" : "free");
      return fmt::format("found {}{}{}", of_mutex_ ? "it " : "",
                         cas.succeeded ? "" : "something else than ", value(cas.expected));
    }
    default:
      return "read " + value(op.value);
  }
}

std::string Words::versions_owner(TxnId t, OpId write, KeyId k) {
  if (!t.valid()) {
    return history_.is_list(k)
               ? std::string("the empty list")
               : "the initial " + (of_mutex_ ? "state, free" : value(history_.initial_value(k)));
  }
  const OpId id = write.valid() ? write : find_write(t, k);
  const auto who = txn(t);
  if (!id.valid()) return who + "'s version";
  reference(id);
  if (of_mutex_) return fmt::format("{}'s {}", who, write_noun(id));
  return history_.kind(id) == OpKind::kDelete ? who + "'s delete"
                                              : fmt::format("{}'s {}", who, value(written(id)));
}

std::string Words::version(OpId id, KeyId k) {
  if (!id.valid()) {
    return history_.is_list(k) ? fmt::format("the empty list {}", list_name(k))
                               : fmt::format("{} = {}", key(k), value(history_.initial_value(k)));
  }
  reference(id);
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
      return !row_values(range, k).empty() ||
             history::agreed_between(history_.value(range.low), history_.key(k),
                                     history_.value(range.high));
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
      const auto found = rows_found(history_, context_, history_.txn_of(id), range);
      return fmt::format("read range {} to {}{}", bound(range.low), bound(range.high),
                         found ? fmt::format(" ({} found)", *found) : "");
    }
    case OpKind::kCompareAndSet: {
      const auto cas = history_.compare_and_set(op);
      if (of_mutex_)
        return fmt::format("{}{}", acquires(id) ? "acquire" : "release",
                           cas.succeeded ? "" : " (failed)");
      return fmt::format("compare-and-set {} from {} to {}{}", key(op.key), value(cas.expected),
                         value(cas.desired), cas.succeeded ? "" : " (failed)");
    }
  }
  return {};
}

std::string Words::operations(TxnId t, char glue) const {
  const auto first = history_.first_op(t);
  const auto last = history_.last_op(t);
  const std::size_t count = last - first;
  std::vector<OpId> shown;
  for (auto i = first; i < last; ++i) {
    const bool wanted = count <= kWholeTransaction || operations_.contains(OpId(i));
    if (wanted && shown.size() < kOperationsInLine) shown.emplace_back(i);
  }
  std::string text;
  for (const OpId op : shown) {
    auto one = brief(op);
    std::replace(one.begin(), one.end(), ' ', glue);
    text += (text.empty() ? "" : ", ") + one;
  }
  // Of the whole history's transaction, where that is known.
  const History& whole = context_.origin ? context_.origin->whole : history_;
  const TxnId there = context_.origin ? context_.origin->txns[t.index()] : t;
  const std::size_t all = whole.last_op(there) - whole.first_op(there);
  if (shown.size() == all) return all == 0 ? "no operations" : text;
  return shown.empty() ? fmt::format("{} operations", all)
                       : fmt::format("{}, +{}{}more", text, all - shown.size(), glue);
}

std::string Words::times(TxnId t) const {
  const auto begin = history_.invoke(t), end = history_.complete(t);
  if (begin == history::kNoTime && end == history::kNoTime) return {};
  const bool places = history_.times_are_places();
  history::Time scale = 0;  // one unit for the whole text
  for (const TxnId one : referenced_) {
    scale = std::max({scale, history_.invoke(one), history_.complete(one)});
  }
  scale = std::max({scale, begin, end});
  const auto shown = [&](history::Time time) {
    return places ? fmt::format("place {} of the file", time) : moment(time, scale);
  };
  if (end == history::kNoTime) return "from " + shown(begin) + " on";
  if (begin == history::kNoTime) return "until " + shown(end);
  if (places) return fmt::format("places {} to {} of the file", begin, end);
  auto from = shown(begin), to = shown(end);
  // One unit, one date: "1.5 to 2 ms".
  const auto unit = [](const std::string& text) { return text.substr(text.rfind(' ')); };
  if (unit(from) == unit(to)) from.resize(from.rfind(' '));
  const auto day = from.find(' ');
  if (day == 10 && to.starts_with(from.substr(0, day))) {
    to.erase(0, day + 1);
  }
  return from + " to " + to;
}

std::string Words::details(TxnId t) const {
  std::string text = place(t);
  text.erase(text.rfind(", its ") + 2, 4);  // "session 2, 3rd transaction"
  if (history_.status(t) != history::TxnStatus::kCommitted) {
    text += fmt::format(", {}", history::to_string(history_.status(t)));
  }
  auto when = times(t);
  std::string more;
  if (context_.fields != nullptr) {
    const auto found = context_.fields->find(history_.label(t));
    if (found != context_.fields->end()) {
      for (const auto& [field, shown] : found->second) {
        if (field == kStatementField) continue;  // see statements()
        if (field == kStepsField) {
          when = base::visible(shown);
          continue;
        }
        const bool note = field == "note" && shown.size() <= kLongestNote;
        const auto said = base::visible(shown);
        more += fmt::format(", {} = {}", history::cut(base::visible(field)),
                            note ? said : history::cut(said));
      }
    }
  }
  if (!when.empty()) text += ", " + when;
  return text + more;
}

std::vector<std::string> Words::statements(TxnId t, std::size_t most) const {
  std::vector<std::string> lines;
  if (context_.fields == nullptr) return lines;
  const auto found = context_.fields->find(history_.label(t));
  if (found == context_.fields->end()) return lines;
  std::size_t more = 0;
  for (const auto& [field, text] : found->second) {
    if (field != kStatementField) continue;
    if (lines.size() < most) {
      lines.push_back(base::visible(text));
    } else {
      ++more;
    }
  }
  if (more > 0) lines.push_back(fmt::format("+{} more statement{}", more, more == 1 ? "" : "s"));
  return lines;
}

std::string Words::listing(std::size_t most, std::size_t indent) const {
  struct Row {
    std::string name, operations, details;
    std::vector<std::string> statements;
  };
  std::vector<Row> rows;
  std::size_t names = 0, widest = 0, right = 0;
  for (const TxnId t : referenced_) {
    if (rows.size() == most) break;
    rows.push_back({name(t), operations(t, kGlue), details(t), statements(t, kMostStatements)});
    names = std::max(names, columns(rows.back().name));
    widest = std::max(widest, columns(rows.back().operations));
    right = std::max(right, columns(rows.back().details));
  }
  const std::size_t left = indent + names + 3;
  const bool one_line = left + widest + 4 + right <= kListingWidth;
  const auto padded = [](std::string text, std::size_t width) {
    const auto has = columns(text);
    text.append(width > has ? width - has : 0, ' ');
    return text;
  };
  std::string text;
  for (const Row& row : rows) {
    text += "\n" + std::string(indent, ' ') + padded(row.name, names) + " = ";
    if (one_line) {
      text += padded(row.operations, widest + 4) + row.details;
    } else {
      text += broken(row.operations, left + 2, left) + "\n" + std::string(left, ' ') +
              broken(row.details, left + 2, left);
    }
    for (const auto& statement : row.statements) {
      text += "\n" + std::string(left, ' ') + broken(statement, left + 2, left);
    }
  }
  if (referenced_.size() > rows.size()) {
    text += fmt::format("\n{}... and {} more", std::string(indent, ' '),
                        referenced_.size() - rows.size());
  }
  std::replace(text.begin(), text.end(), kGlue, ' ');
  return text;
}

}  // namespace cupel::explain
