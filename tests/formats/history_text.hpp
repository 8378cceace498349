// A history as text, all of it, so that a test compares histories as strings
// and a failure shows what differs:
//
//   0: #1 w(1,2) r(2,0) | aborted #2 w(1,3)
//   1: -
#pragma once

#include <string>

#include "data/history/history.hpp"

namespace cupel::formats {

struct TextOf {
  bool times = false, labels = true;
};

inline std::string text_of(const history::Operation& op, const history::History& h) {
  using namespace history;
  const auto key = [&](KeyId k) { return h.key(k).to_string(); };
  const auto value = [&](ValueId v) {
    return v.valid() ? h.value(v).to_string() : std::string("?");
  };
  const auto one = [&](const char* name) {
    return std::string(name) + "(" + key(op.key) + "," + value(op.value) + ")";
  };
  switch (op.kind) {
    case OpKind::kRead:
      return one("r");
    case OpKind::kWrite:
      return one("w");
    case OpKind::kAppend:
      return one("append");
    case OpKind::kInsert:
      return one("insert");
    case OpKind::kDelete:
      return one("delete");
    case OpKind::kListRead: {
      std::string text = "list(" + key(op.key) + ",";
      if (!h.list_known(op)) return text + "?)";
      text += "[";
      for (const auto v : h.list(op)) text += (text.back() == '[' ? "" : " ") + value(v);
      return text + "])";
    }
    case OpKind::kRangeRead: {
      const auto range = h.range(op);
      std::string text = "range(" + value(range.low) + ".." + value(range.high);
      for (const auto& e : range.entries) text += "," + key(e.key) + "=" + value(e.value);
      return text + ")";
    }
    case OpKind::kCompareAndSet: {
      const auto swap = h.compare_and_set(op);
      return "cas(" + key(op.key) + "," + value(swap.expected) + "->" + value(swap.desired) +
             (swap.succeeded ? ")" : ",failed)");
    }
  }
  return "?";
}

inline std::string text_of(const history::History& h, TextOf what = {}) {
  using namespace history;
  std::string text;
  for (std::size_t s = 0; s < h.session_count(); ++s) {
    text += h.session_name(SessionId(s)) + ":";
    const auto first = h.session_begin(SessionId(s)), last = h.session_end(SessionId(s));
    if (first == last) text += " -";
    for (auto i = first.index(); i < last.index(); ++i) {
      const TxnId t(i);
      if (t != first) text += " |";
      if (h.status(t) != TxnStatus::kCommitted) text += " " + std::string(to_string(h.status(t)));
      if (what.labels) text += " #" + std::to_string(h.label(t));
      const auto time = [&](Time at) {
        return at == kNoTime ? std::string("-") : std::to_string(at);
      };
      if (what.times) text += " " + time(h.invoke(t)) + ".." + time(h.complete(t));
      for (auto o = h.first_op(t); o < h.last_op(t); ++o) text += " " + text_of(h.op(OpId(o)), h);
    }
    text += "\n";
  }
  return text;
}

}  // namespace cupel::formats
