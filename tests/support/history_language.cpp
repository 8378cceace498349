// The mini-language: a recursive-descent reader over one string, and its printer.
#include "support/history_language.hpp"

#include <cctype>
#include <map>
#include <stdexcept>

#include "data/history/builder.hpp"
#include "data/history/times.hpp"

namespace cupel::test {

namespace {

using history::History;
using history::HistoryBuilder;
using history::KeyId;
using history::kNoTime;
using history::OpId;
using history::OpKind;
using history::ScalarKind;
using history::SessionId;
using history::TxnId;
using history::TxnStatus;
using history::ValueId;

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Sketch read() {
    Sketch sketch;
    blanks_and_lines();
    if (accept("init=")) sketch.initial = atom();
    std::map<std::string, std::size_t> by_name;
    std::size_t place = 0;
    for (;;) {
      while (blanks(), peek() == '|' || peek() == '\n') ++at_;
      if (peek() == 0) break;
      ++place;
      const std::string given = session_name();
      const std::string name = given.empty() ? "s" + std::to_string(place) : given;
      const auto [it, fresh] = by_name.try_emplace(name, sketch.sessions.size());
      if (fresh) sketch.sessions.push_back({name});
      auto& txns = sketch.sessions[it->second].txns;
      blanks();
      if (at_end_of_session()) continue;
      do txns.push_back(transaction());
      while (accept(";"));
      if (!at_end_of_session()) fail("expected ';', '|' or the end");
    }
    return sketch;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw std::invalid_argument("at " + std::to_string(at_) + " of \"" + std::string(text_) +
                                "\": " + what);
  }
  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void blanks() {
    while (peek() == ' ' || peek() == '\t' || peek() == '\r') ++at_;
  }
  void blanks_and_lines() {
    while (std::isspace(static_cast<unsigned char>(peek()))) ++at_;
  }
  bool accept(std::string_view token) {
    blanks();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  void expect(std::string_view token) {
    if (!accept(token)) fail("expected '" + std::string(token) + "'");
  }
  bool at_end_of_session() {
    blanks();
    return peek() == 0 || peek() == '|' || peek() == '\n';
  }
  static bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
  std::string word() {
    const auto begin = at_;
    while (is_word(peek())) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  std::string session_name() {
    blanks();
    const auto begin = at_;
    std::string name = word();
    blanks();
    if (!name.empty() && peek() == ':') {
      ++at_;
      return name;
    }
    at_ = begin;
    return {};
  }

  std::int64_t integer() {
    blanks();
    const auto begin = at_;
    if (peek() == '-') ++at_;
    while (std::isdigit(static_cast<unsigned char>(peek()))) ++at_;
    try {
      return std::stoll(std::string(text_.substr(begin, at_ - begin)));
    } catch (const std::exception&) {
      fail("expected a number");
    }
  }

  Atom atom() {
    blanks();
    const char c = peek();
    if (c == '?') {
      ++at_;
      return Atom::unknown();
    }
    if (c == '-' || std::isdigit(static_cast<unsigned char>(c))) return Atom::of(integer());
    const bool keyword = c == ':';
    if (keyword) ++at_;
    const std::string text = word();
    if (text.empty()) fail("expected a key or a value");
    if (keyword) return {.kind = ScalarKind::kKeyword, .text = text};
    if (text == "nil" || text == "null") return Atom::null();
    return Atom::of(text);
  }

  SketchTxn transaction() {
    SketchTxn txn;
    if (accept("!"))
      txn.status = TxnStatus::kAborted;
    else if (accept("?"))
      txn.status = TxnStatus::kIndeterminate;
    if (!accept("()")) {
      do txn.ops.push_back(operation());
      while (blanks(), std::isalpha(static_cast<unsigned char>(peek())));
    }
    if (accept("@")) {
      txn.invoke = integer();
      expect("-");
      if (std::isdigit(static_cast<unsigned char>(peek())) || peek() == '-') {
        txn.complete = integer();
      }
    }
    return txn;
  }

  SketchOp operation() {
    blanks();
    SketchOp op;
    const std::string name = word();
    if (name == "cas") op.succeeded = !accept("!");
    expect("(");
    if (name == "range") {
      op.kind = OpKind::kRangeRead;
      op.low = atom();
      expect(",");
      op.high = atom();
      expect(",");
      expect("[");
      while (!accept("]")) {
        Atom key = atom();
        expect("=");
        op.entries.emplace_back(std::move(key), atom());
      }
      expect(")");
      return op;
    }
    op.key = atom();
    if (name == "d") {
      op.kind = OpKind::kDelete;
      if (accept(",")) op.value = atom();
      expect(")");
      return op;
    }
    expect(",");
    if (name == "l") {
      op.kind = OpKind::kListRead;
      if (accept("[")) {
        while (!accept("]")) op.list.push_back(atom());
      } else {
        expect("?");
        op.value = Atom::unknown();
      }
      expect(")");
      return op;
    }
    op.value = atom();
    if (name == "cas") {
      op.kind = OpKind::kCompareAndSet;
      expect(",");
      op.desired = atom();
    } else if (name == "r") {
      op.kind = OpKind::kRead;
    } else if (name == "w") {
      op.kind = OpKind::kWrite;
    } else if (name == "a") {
      op.kind = OpKind::kAppend;
    } else if (name == "i") {
      op.kind = OpKind::kInsert;
    } else {
      fail("no operation is called '" + name + "'");
    }
    expect(")");
    return op;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

Atom atom_of(history::ScalarView v) {
  return {.kind = v.kind, .integer = v.integer, .text = std::string(v.text)};
}

std::string text_of(const Atom& a) {
  if (!a.known) return "?";
  if (a.kind == ScalarKind::kNull) return "nil";
  return a.view().to_string();
}

std::string text_of(const SketchOp& op) {
  const auto two = [&](const char* name) {
    return std::string(name) + "(" + text_of(op.key) + "," + text_of(op.value) + ")";
  };
  switch (op.kind) {
    case OpKind::kRead:
      return two("r");
    case OpKind::kWrite:
      return two("w");
    case OpKind::kAppend:
      return two("a");
    case OpKind::kInsert:
      return two("i");
    case OpKind::kDelete:
      return op.value == Atom::null() ? "d(" + text_of(op.key) + ")" : two("d");
    case OpKind::kListRead: {
      if (!op.value.known) return two("l");
      std::string text = "l(" + text_of(op.key) + ",[";
      for (const auto& e : op.list) text += (text.back() == '[' ? "" : " ") + text_of(e);
      return text + "])";
    }
    case OpKind::kRangeRead: {
      std::string text = "range(" + text_of(op.low) + "," + text_of(op.high) + ",[";
      for (const auto& [key, value] : op.entries) {
        text += (text.back() == '[' ? "" : " ") + text_of(key) + "=" + text_of(value);
      }
      return text + "])";
    }
    case OpKind::kCompareAndSet:
      return std::string(op.succeeded ? "cas(" : "cas!(") + text_of(op.key) + "," +
             text_of(op.value) + "," + text_of(op.desired) + ")";
  }
  return "?";
}

}  // namespace

Sketch parse_sketch(std::string_view text) {
  return Reader(text).read();
}
History history_of(std::string_view text) {
  return build(parse_sketch(text));
}

History build(const Sketch& sketch) {
  HistoryBuilder b;
  const auto value = [&](const Atom& a) { return a.known ? b.value(a.view()) : ValueId::none(); };
  if (sketch.initial != Atom::null()) b.set_default_initial(value(sketch.initial));
  std::uint32_t label = 0;
  for (const auto& session : sketch.sessions) {
    const SessionId s = b.session(session.name);
    for (const auto& txn : session.txns) {
      b.begin(s, txn.status, {.invoke = txn.invoke, .complete = txn.complete, .label = label++});
      for (const auto& op : txn.ops) {
        switch (op.kind) {
          case OpKind::kRead:
            b.read(b.key(op.key.view()), value(op.value));
            break;
          case OpKind::kWrite:
            b.write(b.key(op.key.view()), value(op.value));
            break;
          case OpKind::kAppend:
            b.append(b.key(op.key.view()), value(op.value));
            break;
          case OpKind::kInsert:
            b.insert(b.key(op.key.view()), value(op.value));
            break;
          case OpKind::kDelete:
            b.erase(b.key(op.key.view()), value(op.value));
            break;
          case OpKind::kListRead: {
            if (!op.value.known) {
              b.list_read_unknown(b.key(op.key.view()));
              break;
            }
            std::vector<ValueId> elements;
            for (const auto& e : op.list) elements.push_back(value(e));
            b.list_read(b.key(op.key.view()), elements);
            break;
          }
          case OpKind::kRangeRead: {
            std::vector<history::RangeEntry> entries;
            for (const auto& [k, v] : op.entries) entries.push_back({b.key(k.view()), value(v)});
            b.range_read(value(op.low), value(op.high), entries);
            break;
          }
          case OpKind::kCompareAndSet:
            b.compare_and_set(b.key(op.key.view()), value(op.value), value(op.desired),
                              op.succeeded);
            break;
        }
      }
      b.end();
    }
  }
  auto result = std::move(b).finish();
  if (!result) throw std::invalid_argument(result.error().to_string() + " in " + to_text(sketch));
  return std::move(result).value();
}

Sketch sketch_of(const History& h) {
  Sketch sketch;
  const auto value = [&](ValueId v) { return v.valid() ? atom_of(h.value(v)) : Atom::unknown(); };
  sketch.initial = value(h.default_initial_value());
  for (std::size_t i = 0; i < h.session_count(); ++i) {
    const SessionId s(i);
    SketchSession session{h.session_name(s)};
    for (TxnId t = h.session_begin(s); t != h.session_end(s); t = TxnId(t.index() + 1)) {
      SketchTxn txn{.status = h.status(t), .invoke = h.invoke(t), .complete = h.complete(t)};
      for (auto o = h.first_op(t); o < h.last_op(t); ++o) {
        const auto op = h.op(OpId(o));
        SketchOp out{.kind = op.kind};
        if (op.key.valid()) out.key = atom_of(h.key(op.key));
        if (op.kind == OpKind::kListRead) {
          if (!h.list_known(op))
            out.value = Atom::unknown();
          else
            for (const ValueId v : h.list(op)) out.list.push_back(value(v));
        } else if (op.kind == OpKind::kRangeRead) {
          const auto range = h.range(op);
          out.low = value(range.low);
          out.high = value(range.high);
          for (const auto& e : range.entries) {
            out.entries.emplace_back(atom_of(h.key(e.key)), value(e.value));
          }
        } else if (op.kind == OpKind::kCompareAndSet) {
          const auto cas = h.compare_and_set(op);
          out.value = value(cas.expected);
          out.desired = value(cas.desired);
          out.succeeded = cas.succeeded;
        } else {
          out.value = value(op.value);
        }
        txn.ops.push_back(std::move(out));
      }
      session.txns.push_back(std::move(txn));
    }
    sketch.sessions.push_back(std::move(session));
  }
  return sketch;
}

std::string to_text(const Sketch& sketch) {
  std::string text;
  if (sketch.initial != Atom::null()) text += "init=" + text_of(sketch.initial) + " ";
  for (std::size_t s = 0; s < sketch.sessions.size(); ++s) {
    if (s > 0) text += " | ";
    text += sketch.sessions[s].name + ":";
    for (std::size_t t = 0; t < sketch.sessions[s].txns.size(); ++t) {
      const auto& txn = sketch.sessions[s].txns[t];
      text += t > 0 ? " ; " : " ";
      if (txn.status == TxnStatus::kAborted) text += "!";
      if (txn.status == TxnStatus::kIndeterminate) text += "?";
      if (txn.ops.empty()) text += "()";
      for (std::size_t o = 0; o < txn.ops.size(); ++o) text += (o ? " " : "") + text_of(txn.ops[o]);
      if (txn.invoke != kNoTime) {
        text += " @" + std::to_string(txn.invoke) + "-";
        if (txn.complete != kNoTime) text += std::to_string(txn.complete);
      }
    }
  }
  return text;
}

std::string to_text(const History& history) {
  return to_text(sketch_of(history));
}

history::Time drift_for(const History& h) {
  constexpr history::Time kDrift = 5;
  return h.has_all_times() && h.op_count() % 3 == 0 && !history::drift_refusal(h, kDrift) ? kDrift
                                                                                          : 0;
}

}  // namespace cupel::test
