// Two histories, column by column: the first place in which they differ, in words. Shared with the
// fuzz targets.
#pragma once

#include <algorithm>
#include <string>

#include "data/history/history.hpp"

namespace cupel::test {

struct Compared {
  bool ids = true;     // keys and values have the same numbers, too
  bool labels = true;  // of transactions
  bool times = true;
  bool metadata = true;  // all but "format"
  bool names = true;     // of sessions
};

class HistoryComparison {
 public:
  HistoryComparison(const history::History& a, const history::History& b, Compared what)
      : a_(a), b_(b), what_(what) {}

  // Empty: they are the same.
  std::string run() {
    counts();
    for (std::size_t s = 0; found_.empty() && s < a_.session_count(); ++s) {
      session(history::SessionId(s));
    }
    if (!found_.empty()) return found_;
    same("default initial value", a_.value(a_.default_initial_value()),
         b_.value(b_.default_initial_value()));
    initial_values();
    if (what_.ids) tables();
    if (what_.metadata) facts();
    return found_;
  }

 private:
  using View = history::ScalarView;

  static std::string shown(View v) {
    static constexpr const char* kKinds[] = {"null", "integer", "string", "keyword", "literal"};
    return std::string(kKinds[static_cast<std::size_t>(v.kind)]) + " " + v.to_string();
  }
  static std::string shown(const std::string& text) { return text; }
  template <typename Number>
  static std::string shown(Number number) {
    return std::to_string(number);
  }

  template <typename Item>
  void same(const std::string& column, const Item& a, const Item& b) {
    if (a == b || !found_.empty()) return;
    found_ = place_ + column + ": " + shown(a) + " and " + shown(b);
  }

  void counts() {
    same("sessions", a_.session_count(), b_.session_count());
    same("transactions", a_.txn_count(), b_.txn_count());
    same("operations", a_.op_count(), b_.op_count());
  }

  void session(history::SessionId s) {
    place_ = "session " + a_.session_name(s) + ": ";
    if (what_.names) same("name", a_.session_name(s), b_.session_name(s));
    same("first transaction", a_.session_begin(s).raw, b_.session_begin(s).raw);
    same("end", a_.session_end(s).raw, b_.session_end(s).raw);
    for (auto i = a_.session_begin(s).raw; found_.empty() && i < a_.session_end(s).raw; ++i) {
      transaction(history::TxnId(i));
    }
    place_.clear();
  }

  void transaction(history::TxnId t) {
    place_ = "transaction " + std::to_string(t.raw) + ": ";
    same("status", static_cast<int>(a_.status(t)), static_cast<int>(b_.status(t)));
    same("session", a_.session(t).raw, b_.session(t).raw);
    if (what_.labels) same("label", a_.label(t), b_.label(t));
    if (what_.times) {
      same("invoked", a_.invoke(t), b_.invoke(t));
      same("completed", a_.complete(t), b_.complete(t));
    }
    if (what_.ids) same("first operation", a_.first_op(t), b_.first_op(t));
    same("operations", a_.last_op(t) - a_.first_op(t), b_.last_op(t) - b_.first_op(t));
    for (auto o = a_.first_op(t); found_.empty() && o < a_.last_op(t); ++o) {
      place_ = "transaction " + std::to_string(t.raw) + ", operation " +
               std::to_string(o - a_.first_op(t)) + ": ";
      operation(a_.op(history::OpId(o)), b_.op(history::OpId(o - a_.first_op(t) + b_.first_op(t))));
    }
  }

  void value(const std::string& column, history::ValueId a, history::ValueId b) {
    same(column + " is known", int{a.valid()}, int{b.valid()});
    if (a.valid() && b.valid()) same(column, a_.value(a), b_.value(b));
    if (what_.ids) same(column + " id", a.raw, b.raw);
  }
  void key(history::KeyId a, history::KeyId b) {
    same("key", a_.key(a), b_.key(b));
    same("is a list", int{a_.is_list(a)}, int{b_.is_list(b)});
    if (what_.ids) same("key id", a.raw, b.raw);
  }

  void operation(const history::Operation& a, const history::Operation& b) {
    using history::OpKind;
    same("kind", static_cast<int>(a.kind), static_cast<int>(b.kind));
    if (!found_.empty()) return;
    if (a.kind != OpKind::kRangeRead) key(a.key, b.key);
    switch (a.kind) {
      case OpKind::kListRead:
        same("list is known", int{a_.list_known(a)}, int{b_.list_known(b)});
        if (found_.empty() && a_.list_known(a)) list(a, b);
        break;
      case OpKind::kRangeRead:
        range(a_.range(a), b_.range(b));
        break;
      case OpKind::kCompareAndSet: {
        const auto left = a_.compare_and_set(a), right = b_.compare_and_set(b);
        value("expected", left.expected, right.expected);
        value("desired", left.desired, right.desired);
        same("succeeded", int{left.succeeded}, int{right.succeeded});
        break;
      }
      default:
        value("value", a.value, b.value);
    }
  }

  void list(const history::Operation& a, const history::Operation& b) {
    const auto left = a_.list(a), right = b_.list(b);
    same("elements", left.size(), right.size());
    for (std::size_t i = 0; found_.empty() && i < left.size(); ++i) {
      value("element " + std::to_string(i), left[i], right[i]);
    }
  }

  void range(const history::RangeRead& a, const history::RangeRead& b) {
    value("low", a.low, b.low);
    value("high", a.high, b.high);
    same("entries", a.entries.size(), b.entries.size());
    for (std::size_t i = 0; found_.empty() && i < a.entries.size(); ++i) {
      key(a.entries[i].key, b.entries[i].key);
      value("entry " + std::to_string(i), a.entries[i].value, b.entries[i].value);
    }
  }

  void initial_values() {
    const auto left = a_.initial_overrides(), right = b_.initial_overrides();
    same("initial values", left.size(), right.size());
    for (std::size_t i = 0; found_.empty() && i < left.size(); ++i) {
      const auto other = std::find_if(right.begin(), right.end(), [&](const auto& pair) {
        return b_.key(pair.first) == a_.key(left[i].first);
      });
      if (other == right.end()) {
        found_ = "initial value of " + shown(a_.key(left[i].first)) + " in one only";
      } else {
        value("initial value of " + shown(a_.key(left[i].first)), left[i].second, other->second);
      }
    }
  }

  void tables() {
    same("keys", a_.key_count(), b_.key_count());
    same("values", a_.value_count(), b_.value_count());
    for (std::uint32_t k = 0; found_.empty() && k < a_.key_count(); ++k) {
      key(history::KeyId(k), history::KeyId(k));
    }
    for (std::uint32_t v = 0; found_.empty() && v < a_.value_count(); ++v) {
      value("value " + std::to_string(v), history::ValueId(v), history::ValueId(v));
    }
  }

  void facts() {
    auto left = a_.metadata(), right = b_.metadata();
    left.erase("format");
    right.erase("format");
    for (const auto& [name, text] : left) same("metadata " + name, text, b_.fact(name));
    same("metadata", left.size(), right.size());
  }

  const history::History& a_;
  const history::History& b_;
  const Compared what_;
  std::string place_, found_;
};

inline std::string difference(const history::History& a, const history::History& b,
                              Compared what = {}) {
  return HistoryComparison(a, b, what).run();
}

}  // namespace cupel::test
