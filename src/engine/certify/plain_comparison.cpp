// The history of the first reader against that of the second one, column by column: see
// plain_reader.hpp. Keys and values are compared by their texts, once for each id.
#include <fmt/format.h>

#include <optional>

#include "engine/certify/plain_reader.hpp"

namespace cupel::certify {

namespace {

using history::History;
using history::OpKind;
using history::ScalarKind;
using history::ScalarView;
using history::SessionId;
using history::TxnId;

std::string code_of(ScalarView scalar) {
  switch (scalar.kind) {
    case ScalarKind::kNull:
      return "n";
    case ScalarKind::kInteger:
      return "i" + std::to_string(scalar.integer);
    case ScalarKind::kString:
      return "s" + std::string(scalar.text);
    case ScalarKind::kKeyword:
      return "k" + std::string(scalar.text);
    case ScalarKind::kLiteral:
      break;
  }
  return "l" + std::string(scalar.text);
}

class PlainComparison {
 public:
  PlainComparison(const History& h, const PlainHistory& plain, bool initial)
      : h_(h), plain_(plain), initial_(initial), keys_(h.key_count()), values_(h.value_count()) {}

  std::string run() {
    if (h_.session_count() != plain_.sessions.size()) {
      return fmt::format("the first reader found {} sessions and the second one {}",
                         h_.session_count(), plain_.sessions.size());
    }
    for (std::size_t s = 0; s < h_.session_count(); ++s) {
      if (auto found = session(SessionId(s), plain_.sessions[s]); !found.empty()) return found;
    }
    return initial_ ? initial_values() : std::string();
  }

 private:
  std::string session(SessionId s, const PlainSession& other) {
    const auto& name = h_.session_name(s);
    if (name != other.name) {
      return fmt::format("session {} is {} to the first reader and {} to the second one", s.raw,
                         name, other.name);
    }
    const auto first = h_.session_begin(s).raw, end = h_.session_end(s).raw;
    for (auto t = first; t < end && t - first < other.transactions.size(); ++t) {
      const auto& txn = other.transactions[t - first];
      if (auto found = transaction(TxnId(t), txn); !found.empty()) {
        return fmt::format("T{} (session {}, transaction {}): {}", h_.label(TxnId(t)), name,
                           t - first + 1, found);
      }
    }
    if (end - first == other.transactions.size()) return {};
    return fmt::format("session {}: the first reader found {} transactions and the second one {}",
                       name, end - first, other.transactions.size());
  }

  std::string transaction(TxnId t, const PlainTransaction& other) {
    if (h_.status(t) != other.status) {
      return fmt::format("{} to the first reader and {} to the second one",
                         history::to_string(h_.status(t)), history::to_string(other.status));
    }
    if (h_.invoke(t) != other.invoke || h_.complete(t) != other.complete) return "the times differ";
    if (h_.label(t) != other.label)
      return fmt::format("its label is T{} to the second", other.label);
    const std::size_t count = h_.last_op(t) - h_.first_op(t);
    for (std::size_t i = 0; i < count && i < other.operations.size(); ++i) {
      const auto op = h_.op(history::OpId(h_.first_op(t) + static_cast<std::uint32_t>(i)));
      if (!same(op, other.operations[i])) {
        return fmt::format("operation {} ({}) is another one to the second reader", i + 1,
                           history::to_string(op.kind));
      }
    }
    if (count == other.operations.size()) return {};
    return fmt::format("{} operations to the first reader and {} to the second one", count,
                       other.operations.size());
  }

  bool same(const history::Operation& op, const PlainOperation& other) {
    if (op.kind != other.kind) return false;
    switch (op.kind) {
      case OpKind::kRangeRead: {
        const auto range = h_.range(op);
        bool good = value(range.low, other.value) && value(range.high, other.other) &&
                    2 * range.entries.size() == other.items.size();
        for (std::size_t i = 0; good && i < range.entries.size(); ++i) {
          good = key(range.entries[i].key, other.items[2 * i]) &&
                 value(range.entries[i].value, other.items[2 * i + 1]);
        }
        return good;
      }
      case OpKind::kListRead: {
        const bool known = h_.list_known(op);
        if (!key(op.key, other.key) || known != other.known) return false;
        if (!known) return true;
        const auto list = h_.list(op);
        bool good = list.size() == other.items.size();
        for (std::size_t i = 0; good && i < list.size(); ++i) good = value(list[i], other.items[i]);
        return good;
      }
      case OpKind::kCompareAndSet: {
        const auto cas = h_.compare_and_set(op);
        return key(op.key, other.key) && value(cas.expected, other.value) &&
               value(cas.desired, other.other) && cas.succeeded == other.succeeded;
      }
      case OpKind::kRead:
        return key(op.key, other.key) && op.value.valid() == other.known &&
               (!other.known || value(op.value, other.value));
      default:
        return key(op.key, other.key) && value(op.value, other.value);
    }
  }

  // Of an id, the other reader's; found once.
  bool same_id(std::optional<PlainTable::Id>& known, ScalarView scalar, PlainTable::Id other) {
    if (!known) {
      if (code_of(scalar) != plain_.table.code(other)) return false;
      known = other;
    }
    return *known == other;
  }
  bool key(history::KeyId id, PlainTable::Id other) {
    const bool list = other < plain_.lists.size() && plain_.lists[other];
    return h_.is_list(id) == list && same_id(keys_[id.index()], h_.key(id), other);
  }
  bool value(history::ValueId id, PlainTable::Id other) {
    return id.valid() && same_id(values_[id.index()], h_.value(id), other);
  }

  std::string initial_values() {
    if (!value(h_.default_initial_value(), plain_.initial)) {
      return "the initial value of all keys is another one to the second reader";
    }
    // One by one, since the order of the first reader is that of its numbers.
    std::unordered_map<std::string, PlainTable::Id> of;
    for (const auto& [k, v] : plain_.initial_of) of.insert_or_assign(plain_.table.code(k), v);
    for (const auto& [k, v] : h_.initial_overrides()) {
      const auto other = of.find(code_of(h_.key(k)));
      if (other == of.end() || !value(v, other->second)) {
        return fmt::format("the initial value of key {} is another one to the second reader",
                           h_.key(k).to_string());
      }
      of.erase(other);
    }
    if (of.empty()) return {};
    return fmt::format("the first reader found no initial value of key {}",
                       of.begin()->first.substr(1));
  }

  const History& h_;
  const PlainHistory& plain_;
  const bool initial_;
  std::vector<std::optional<PlainTable::Id>> keys_, values_;
};

}  // namespace

std::string compare(const History& history, const PlainHistory& plain, bool initial) {
  return PlainComparison(history, plain, initial).run();
}

}  // namespace cupel::certify
