// From a sketch to operation maps in three steps: decorate (each atom becomes a document),
// record (who begins and ends when, and what the outcome says), write.
#include "readers/random_recording.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>

#include "data/history/builder.hpp"
#include "data/history/text_order.hpp"
#include "property/random_history.hpp"
#include "support/history_language.hpp"

namespace cupel::test {

namespace {

using base::Random;
using history::kNoTime;
using history::OpKind;
using history::Time;
using history::TxnStatus;

const std::vector<Document>& exotic_scalars() {
  static const std::vector<Document> all = [] {
    constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
    constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
    using D = Document;
    std::vector<Document> s = {
        D::of(kLeast),
        D::of(kLeast + 1),
        D::of(kMost),
        D::of(-1),
        D::of(std::int64_t{1} << 53),
        D::of(""),
        D::of(" "),
        D::of("1"),
        D::of("nil"),
        D::of("true"),
        D::of(":k"),
        D::of("say \"hi\""),
        D::of("back\\slash"),
        D::of("\\\"}]"),
        D::of("a\nb\tc\r\b\f"),
        D::of(std::string_view("\x01\x00\x1f\x7f", 4)),
        D::of("\xc3\xa4\xe2\x82\xac"),
        D::of("\xf0\x9f\x98\x80"),
        D::of("\xef\xbb\xbf"),
        D::of("a/b;c,d #_ e"),
        D::of("{\"a\":1}"),
        D::of(std::string(300, 'x')),
        D::keyword("k"),
        D::keyword("a/b"),
        D::keyword("K"),
        D::keyword("two words"),
        D::keyword("\xc3\xa4"),
        D::boolean(true),
        D::boolean(false),
        D::number("1.0", {"1.0", "1e0", "10.0E-1"}, {"1.0", "1e0", "+1.0"}),
        D::number("-0.0", {"-0.0"}, {"-0.0"}),
        D::number("1.5", {"1.5", "15e-1"}, {"1.5", "15e-1"}),
        D::number("1e+30", {"1e30", "1E+30"}, {"1e30", "1E+30"}),
        D::number("0.1", {"0.1"}, {"0.1", "0.1000"}),
        D::number("9223372036854775808N", {"9223372036854775808"},
                  {"9223372036854775808", "9223372036854775808N"}),
        D::number("18446744073709551615N", {"18446744073709551615"}, {"18446744073709551615N"}),
        D::literal("-9223372036854775809N", {"-9223372036854775809", "-9223372036854775809N"}),
        D::literal("1/3", {"1/3", "2/6"}),
        D::literal("1.25M", {"1.25M", "1.250M", "125e-2M"}),
        D::literal("\\a", {"\\a", "\\u0061", "\\o141"}),
        D::literal("#inst \"2020-01-01\"", {"#inst \"2020-01-01\"", "#inst  \"2020-01-01\""}),
        D::literal("#{1 2}", {"#{1 2}", "#{2,1}"}),
        D::literal("symbol", {"symbol"}),
        D::literal("{1 [2]}", {"{1 [2]}", "{1 (2)}"}),
        D::vector({}),
        D::vector({D::of(1), D::of(2)}),
        D::vector({D::of(1), D::of("a"), D::null()}),
        D::vector({D::vector({D::of("x")}), D::keyword("y"), D::vector({})}),
        D::vector({D::of("n"), D::number("2.5", {"2.5"}, {"2.5"})}),
        D::map({}),
        D::map({{"b", D::of(1)}, {"a", D::vector({D::of("q\"q"), D::null()})}}),
        D::map({{"deep", D::map({{"k", D::boolean(false)}, {"a k", D::keyword("v")}})}}),
    };
    return s;
  }();
  return all;
}

// A set in EDN is kept as its text.
bool is_collection(const Document& d) {
  return d.kind == Document::Kind::kVector || d.kind == Document::Kind::kMap ||
         (d.kind == Document::Kind::kLiteral &&
          (d.text.starts_with("{") || d.text.starts_with("#{")));
}

Atom atom_of(const Document& d) {
  std::string text;
  const auto scalar = scalar_of(d, text);
  return {.kind = scalar.kind, .integer = scalar.integer, .text = std::string(scalar.text)};
}

// The documents of a recording's keys and values, by the atom that a reader makes of them.
class Decoration {
 public:
  Decoration(std::uint64_t seed, Random& random) : exotic_(seed % 5 > 1), random_(random) {}

  void decorate(Sketch& sketch) {
    std::set<Atom> keys, values;
    for_each(sketch, [&](SketchOp& op) {
      if (op.kind != OpKind::kRangeRead) keys.insert(op.key);
      for (const auto& [key, value] : op.entries) keys.insert(key), values.insert(value);
      if (op.kind == OpKind::kRangeRead) keys.insert(op.low), keys.insert(op.high);
      values.insert(op.value);
      values.insert(op.desired);
      for (const auto& element : op.list) values.insert(element);
    });
    values.insert(sketch.initial);
    rename(keys, keys_, /*in_order=*/true);
    rename(values, values_, /*in_order=*/false);
    for_each(sketch, [&](SketchOp& op) {
      if (op.kind == OpKind::kRangeRead) {
        const bool first = op.low == *keys.begin(), last = op.high == *keys.rbegin();
        op.low = random_.chance(first ? 0.4 : 0.1) ? Atom::null() : key(op.low);
        op.high = random_.chance(last ? 0.4 : 0.1) ? above_all() : key(op.high);
      } else {
        op.key = key(op.key);
      }
      for (auto& [k, v] : op.entries) k = key(k), v = value(v);
      op.value = value(op.value);
      op.desired = value(op.desired);
      for (auto& element : op.list) element = value(element);
    });
    sketch.initial = value(sketch.initial);
    without_collections_of_nobody(sketch);
  }

  // Of an atom of the decorated sketch.
  [[nodiscard]] const Document& document(const Atom& atom) const {
    static const Document nothing = Document::null();
    if (atom.kind == history::ScalarKind::kNull || atom == above_all()) return nothing;
    return documents_.at(atom);
  }

 private:
  static Atom above_all() {
    return {.kind = history::kAboveAll.kind, .text = std::string(history::kAboveAll.text)};
  }

  template <typename Use>
  static void for_each(Sketch& sketch, const Use& use) {
    for (auto& session : sketch.sessions) {
      for (auto& txn : session.txns) {
        for (auto& op : txn.ops) use(op);
      }
    }
  }

  // `in_order`: the new atoms are ordered as the old ones are.
  void rename(const std::set<Atom>& all, std::map<Atom, Atom>& names, bool in_order) {
    std::vector<Atom> fresh;
    std::set<Atom> taken;
    for (const auto& atom : all) {
      if (atom.kind == history::ScalarKind::kNull) continue;
      Document document = plain(atom);
      for (int attempt = 0; exotic_ && attempt < 5; ++attempt) {
        document = random_scalar(random_);
        if (!taken.contains(atom_of(document))) break;
        document = plain(atom);
      }
      while (taken.contains(atom_of(document))) document = Document::of(random_.between(100, 9999));
      taken.insert(atom_of(document));
      fresh.push_back(atom_of(document));
      documents_.insert_or_assign(fresh.back(), std::move(document));
    }
    if (in_order) {
      std::sort(fresh.begin(), fresh.end(),
                [](const Atom& a, const Atom& b) { return a.view() < b.view(); });
    }
    std::size_t next = 0;
    for (const auto& atom : all) {
      if (atom.kind != history::ScalarKind::kNull) names.emplace(atom, fresh[next++]);
    }
  }
  static Document plain(const Atom& atom) {
    return atom.kind == history::ScalarKind::kInteger ? Document::of(atom.integer)
                                                      : Document::of(std::string_view(atom.text));
  }

  [[nodiscard]] Atom key(const Atom& atom) const { return keys_.at(atom); }
  [[nodiscard]] Atom value(const Atom& atom) const {
    return !atom.known || atom.kind == history::ScalarKind::kNull ? atom : values_.at(atom);
  }

  // A key that is only read is a list if a read of it returned a vector; and where all writes are
  // of single values, a read of a collection says that these are no registers.
  void without_collections_of_nobody(Sketch& sketch) {
    const auto collection = [&](const Atom& atom) {
      return atom.known && atom.kind == history::ScalarKind::kLiteral &&
             is_collection(document(atom));
    };
    std::set<Atom> written;
    bool any = false;
    for_each(sketch, [&](SketchOp& op) {
      if (op.kind != OpKind::kRead && op.kind != OpKind::kListRead) written.insert(op.key);
      for (const auto& entry : op.entries) written.insert(entry.first);
      any = any ||
            ((op.kind == OpKind::kWrite || op.kind == OpKind::kInsert) && collection(op.value));
      any = any || (op.kind == OpKind::kCompareAndSet && collection(op.desired));
    });
    for_each(sketch, [&](SketchOp& op) {
      for (auto& entry : op.entries) {
        if (any || !collection(entry.second)) continue;
        entry.second = Atom::of(77);
        documents_.insert_or_assign(entry.second, Document::of(77));
      }
      if (op.kind != OpKind::kRead || !collection(op.value)) return;
      if (any && written.contains(op.key)) return;
      op.value = Atom::of(77);
      documents_.insert_or_assign(op.value, Document::of(77));
    });
  }

  const bool exotic_;
  Random& random_;
  std::map<Atom, Atom> keys_, values_;
  std::map<Atom, Document> documents_;
};

struct Entry {
  std::size_t session, txn;
  bool completion;
};

// How one transaction was recorded.
struct Recorded {
  bool invoked = true, completed = true, repeats = true;
  Document said = Document::null();  // an outcome that does not repeat the operations
};

class Recorder {
 public:
  Recorder(std::uint64_t seed)
      : random_(seed * 2 + 1),
        decoration_(seed, random_),
        sketch_(random_sketch(kind_of_seed(seed), seed)) {}

  Recording run() {
    decoration_.decorate(sketch_);
    choose();
    header();
    const auto order = interleaved();
    ordinal_of_.resize(sketch_.sessions.size());
    for (std::size_t s = 0; s < sketch_.sessions.size(); ++s) {
      ordinal_of_[s].resize(sketch_.sessions[s].txns.size());
    }
    for (const auto& entry : order) {
      if (random_.chance(0.03)) nemesis();
      event(entry);
    }
    expect();
    return std::move(recording_);
  }

 private:
  // --- how it was recorded ---

  void choose() {
    for (auto& session : sketch_.sessions) {
      for (auto& txn : session.txns) timed_ = timed_ || txn.invoke != kNoTime;
    }
    indexed_ = random_.chance(0.5);
    with_f_ = random_.chance(0.9);
    const bool bare = random_.chance(0.25);  // no invocations
    for (std::size_t s = 0; s < sketch_.sessions.size(); ++s) {
      const bool invoked = !bare && !random_.chance(0.05);
      all_invoked_ = all_invoked_ && invoked;
      const auto& txns = sketch_.sessions[s].txns;
      auto& recorded = recorded_.emplace_back();
      for (std::size_t t = 0; t < txns.size(); ++t)
        recorded.push_back(how(txns[t], invoked, t + 1 == txns.size()));
      processes_.push_back(process(s));
    }
    recording_.as_it_comes = all_invoked_ && with_f_;
  }

  Recorded how(const SketchTxn& txn, bool invoked, bool last) {
    Recorded r{.invoked = invoked};
    if (txn.status == TxnStatus::kCommitted || !invoked) return r;
    if (txn.status == TxnStatus::kIndeterminate && last && txn.complete == kNoTime &&
        random_.chance(0.4)) {
      r.completed = r.repeats = false;
    } else if (random_.chance(0.5)) {
      r.repeats = false;
      const Document said[] = {Document::null(), Document::of("timeout"), Document::keyword("lost"),
                               Document::vector({Document::keyword("timeout"), Document::of(5)}),
                               Document::of(7)};
      r.said = said[random_.below(5)];
    }
    return r;
  }

  Document process(std::size_t session) {
    if (!with_f_ || random_.chance(0.6)) {
      return Document::of(static_cast<std::int64_t>(session * 10) - (random_.chance(0.1) ? 7 : 0));
    }
    const auto name = "client " + std::to_string(session);
    if (random_.chance(0.3)) return Document::of(std::to_string(session * 10));  // a number
    return random_.chance(0.5) ? Document::of(name)
                               : Document::keyword("c" + std::string(session + 1, 'x'));
  }
  static std::string session_name(const Document& process) {
    if (process.kind == Document::Kind::kInteger) return std::to_string(process.integer);
    return (process.kind == Document::Kind::kKeyword ? ":" : "") + process.text;
  }

  // Sessions go on in the order of their times, or in any.
  std::vector<Entry> interleaved() {
    std::vector<std::vector<Entry>> left(sketch_.sessions.size());
    for (std::size_t s = 0; s < left.size(); ++s) {
      for (std::size_t t = 0; t < sketch_.sessions[s].txns.size(); ++t) {
        if (recorded_[s][t].invoked) left[s].push_back({s, t, false});
        if (recorded_[s][t].completed) left[s].push_back({s, t, true});
      }
      std::reverse(left[s].begin(), left[s].end());
    }
    const auto time = [&](const Entry& e) {
      const auto& txn = sketch_.sessions[e.session].txns[e.txn];
      return e.completion && txn.complete != kNoTime ? txn.complete : txn.invoke;
    };
    std::vector<Entry> order;
    for (;;) {
      std::vector<std::size_t> possible;
      for (std::size_t s = 0; s < left.size(); ++s) {
        if (!left[s].empty()) possible.push_back(s);
      }
      if (possible.empty()) return order;
      auto next = possible[random_.below(possible.size())];
      for (const auto s : possible) {
        if (timed_ && time(left[s].back()) < time(left[next].back())) next = s;
      }
      order.push_back(left[next].back());
      left[next].pop_back();
    }
  }

  // --- operation maps ---

  void add(std::vector<std::pair<std::string, Document>> members) {
    recording_.maps.push_back(Document::map(std::move(members)));
  }

  void header() {
    if (random_.chance(0.3)) {
      nemesis_line("cupel.metadata", Document::vector({Document::vector(
                                         {Document::of("database"), Document::of("Post\"gres")})}));
    }
    std::set<Atom> registers, lists;
    for (const auto& session : sketch_.sessions) {
      for (const auto& txn : session.txns) {
        for (const auto& op : txn.ops) {
          if (op.kind == OpKind::kAppend || op.kind == OpKind::kListRead) lists.insert(op.key);
          if (op.kind == OpKind::kAppend) appended_.insert(op.key);
          if (op.kind == OpKind::kWrite || op.kind == OpKind::kCompareAndSet)
            registers.insert(op.key);
        }
      }
    }
    std::vector<Document> pairs;
    for (const auto& key : registers) {
      if (!random_.chance(0.15) || !lists.empty()) continue;
      const auto initial = random_.chance(0.5) ? Document::of(4711) : Document::null();
      initial_.emplace_back(key, atom_of(initial));
      pairs.push_back(Document::vector({decoration_.document(key), initial}));
    }
    if (sketch_.initial == Atom::null() && pairs.empty()) return;
    nemesis_line("cupel.initial", Document::vector({decoration_.document(sketch_.initial),
                                                    Document::vector(pairs)}));
  }

  void nemesis_line(std::string_view f, Document value) {
    add({{"type", Document::of("info")},
         {"process", Document::of("nemesis")},
         {"f", Document::of(f)},
         {"value", std::move(value)}});
  }

  void nemesis() {
    const char* fs[] = {"start", "stop", "start-partition", "kill"};
    nemesis_line(fs[random_.below(4)], Document::map({{"n1", Document::of("down")}}));
  }

  void event(const Entry& entry) {
    const auto& txn = sketch_.sessions[entry.session].txns[entry.txn];
    const auto& how = recorded_[entry.session][entry.txn];
    const char* ends = txn.status == TxnStatus::kCommitted ? "ok"
                       : txn.status == TxnStatus::kAborted ? "fail"
                                                           : "info";
    std::vector<std::pair<std::string, Document>> map = {
        {"type", Document::of(entry.completion ? ends : "invoke")},
        {"process", processes_[entry.session]}};
    if (with_f_) map.emplace_back("f", Document::of("txn"));
    const auto ordinal = recording_.maps.size();
    auto label = ordinal;
    if (indexed_) {
      label = 3 * ordinal + 1;
      map.emplace_back("index", Document::of(static_cast<std::int64_t>(label)));
    }
    const Time time = entry.completion ? txn.complete : txn.invoke;
    if (time != kNoTime) map.emplace_back("time", Document::of(time));
    if (entry.completion && !how.repeats) {
      if (how.said.kind != Document::Kind::kNull || random_.chance(0.5)) {
        map.emplace_back("value", how.said);
      }
    } else {
      std::vector<Document> ops;
      for (const auto& op : txn.ops) ops.push_back(micro_op(op, !entry.completion, txn.status));
      map.emplace_back("value", Document::vector(std::move(ops)));
    }
    if (random_.chance(0.1)) map.emplace_back("error", random_scalar(random_));
    if (random_.chance(0.1)) map.emplace_back("node", Document::of("n1"));
    auto& at = ordinal_of_[entry.session][entry.txn];
    (entry.completion ? at.second : at.first) = ordinal;
    for (const auto& op : txn.ops) {
      if (!how.completed && op.kind == OpKind::kCompareAndSet) recording_.open_compare = true;
    }
    if (entry.completion || !how.completed) labels_[{entry.session, entry.txn}] = label;
    if (std::find(order_of_sessions_.begin(), order_of_sessions_.end(), entry.session) ==
        order_of_sessions_.end()) {
      order_of_sessions_.push_back(entry.session);
    }
    add(std::move(map));
  }

  Document micro_op(const SketchOp& op, bool invocation, TxnStatus status) {
    const auto of = [&](const Atom& atom) { return decoration_.document(atom); };
    const auto made = [&](const char* f, Document key, Document value, bool note = false) {
      const Document name = random_.chance(0.05) ? Document::keyword(f) : Document::of(f);
      std::vector<Document> items = {name, std::move(key), std::move(value)};
      if (note) items.push_back(Document::boolean(false));
      return Document::vector(std::move(items));
    };
    const bool committed = status == TxnStatus::kCommitted;
    switch (op.kind) {
      case OpKind::kRead:
      case OpKind::kListRead: {
        if (invocation) return made("r", of(op.key), Document::null());
        if (!op.value.known && committed) {
          if (random_.chance(0.3)) return Document::vector({Document::of("r"), of(op.key)});
          return made("r", of(op.key), random_.chance(0.5) ? Document::null() : Document::of(3),
                      true);
        }
        if (op.kind == OpKind::kRead)
          return made("r", of(op.key), of(op.value.known ? op.value : Atom::null()));
        if (!op.value.known) return made("r", of(op.key), Document::null());
        if (committed && op.list.empty() && appended_.contains(op.key) && random_.chance(0.3))
          return made("r", of(op.key), Document::null());
        std::vector<Document> elements;
        for (const auto& element : op.list) elements.push_back(of(element));
        return made("r", of(op.key), Document::vector(std::move(elements)));
      }
      case OpKind::kWrite:
        return made("w", of(op.key), of(op.value));
      case OpKind::kAppend:
        return made("append", of(op.key), of(op.value));
      case OpKind::kInsert:
        return made("insert", of(op.key), of(op.value));
      case OpKind::kDelete:
        if (op.value == Atom::null() && random_.chance(0.2))
          return Document::vector({Document::of("delete"), of(op.key)});
        return made("delete", of(op.key), of(op.value));
      case OpKind::kCompareAndSet:
        return made("cas", of(op.key), Document::vector({of(op.value), of(op.desired)}),
                    !invocation && !op.succeeded);
      case OpKind::kRangeRead:
        break;
    }
    std::vector<Document> entries;
    for (const auto& [key, value] : op.entries) {
      entries.push_back(Document::vector({of(key), of(value)}));
    }
    return made("range", Document::vector({of(op.low), of(op.high)}),
                invocation ? Document::null() : Document::vector(std::move(entries)));
  }

  // --- the history ---

  void expect() {
    Sketch expected{.initial = sketch_.initial, .sessions = {}};
    const bool line_order = !timed_ && all_invoked_;
    std::vector<std::uint32_t> labels;
    for (const auto s : order_of_sessions_) {
      auto& session = expected.sessions.emplace_back();
      session.name = session_name(processes_[s]);
      for (std::size_t t = 0; t < sketch_.sessions[s].txns.size(); ++t) {
        auto txn = sketch_.sessions[s].txns[t];
        const auto& how = recorded_[s][t];
        if (line_order) {
          txn.invoke = static_cast<Time>(ordinal_of_[s][t].first);
          if (how.completed) txn.complete = static_cast<Time>(ordinal_of_[s][t].second);
        } else {
          if (!how.invoked) txn.invoke = kNoTime;
          if (!how.completed) txn.complete = kNoTime;
        }
        if (txn.status != TxnStatus::kCommitted) {
          for (auto& op : txn.ops) as_known(op, how.repeats);
        }
        session.txns.push_back(std::move(txn));
        labels.push_back(static_cast<std::uint32_t>(labels_.at({s, t})));
      }
    }
    as_lists_that_are_seen(expected);
    recording_.history = labelled(build(expected), labels);
    for (const auto& [key, value] : initial_) {
      for (std::uint32_t k = 0; k < recording_.history.key_count(); ++k) {
        const history::KeyId id(k);
        if (recording_.history.key(id) != key.view()) continue;
        recording_.history =
            history::HistoryBuilder::with_initial(std::move(recording_.history), id, value.view());
        break;
      }
    }
  }

  // What a reader knows of an operation whose transaction did not commit.
  static void as_known(SketchOp& op, bool repeats) {
    const bool nothing = op.value == Atom::null();
    switch (op.kind) {
      case OpKind::kRead:
        if (!repeats || nothing) op.value = Atom::unknown();
        break;
      case OpKind::kListRead:
        if (!repeats) {
          op.value = Atom::unknown();
          op.list.clear();
        }
        break;
      case OpKind::kRangeRead:
        if (!repeats) op.entries.clear();
        break;
      case OpKind::kCompareAndSet:
        if (!repeats) op.succeeded = true;
        break;
      default:
        break;
    }
  }

  // A key of which nothing says that it is a list is a register.
  void as_lists_that_are_seen(Sketch& expected) const {
    auto lists = appended_;
    for (const auto& session : expected.sessions) {
      for (const auto& txn : session.txns) {
        for (const auto& op : txn.ops) {
          if (txn.status != TxnStatus::kCommitted) continue;  // it may be an error of the client
          if (op.kind == OpKind::kListRead && op.value.known) lists.insert(op.key);
        }
      }
    }
    for (auto& session : expected.sessions) {
      for (auto& txn : session.txns) {
        for (auto& op : txn.ops) {
          if (op.kind != OpKind::kListRead || lists.contains(op.key)) continue;
          op.kind = OpKind::kRead;
          if (!op.value.known) continue;
          std::vector<Document> elements;
          for (const auto& element : op.list) elements.push_back(decoration_.document(element));
          op.value = atom_of(Document::vector(std::move(elements)));
        }
      }
    }
  }

  // The same with these labels: copied, since a sketch has none.
  static history::History labelled(const history::History& h,
                                   const std::vector<std::uint32_t>& labels) {
    history::HistoryBuilder builder;
    builder.set_default_initial(builder.value(h.value(h.default_initial_value())));
    for (std::size_t s = 0; s < h.session_count(); ++s) {
      const auto session = builder.session(h.session_name(history::SessionId(s)));
      const auto end = h.session_end(history::SessionId(s)).raw;
      for (auto t = h.session_begin(history::SessionId(s)).raw; t < end; ++t) {
        const history::TxnId id(t);
        builder.begin(session, h.status(id),
                      {.invoke = h.invoke(id), .complete = h.complete(id), .label = labels[t]});
        for (auto o = h.first_op(id); o < h.last_op(id); ++o) builder.copy(h, history::OpId(o));
        builder.end();
      }
    }
    auto built = std::move(builder).finish();
    if (!built.ok()) throw std::logic_error(built.error().to_string());
    return std::move(built).value();
  }

  Random random_;
  Decoration decoration_;
  Sketch sketch_;
  bool timed_ = false, indexed_ = false, with_f_ = true, all_invoked_ = true;
  std::vector<std::vector<Recorded>> recorded_;
  std::vector<Document> processes_;
  std::vector<std::pair<Atom, Atom>> initial_;
  std::set<Atom> appended_;
  std::map<std::pair<std::size_t, std::size_t>, std::uint64_t> labels_;
  std::vector<std::vector<std::pair<std::size_t, std::size_t>>> ordinal_of_;
  std::vector<std::size_t> order_of_sessions_;
  Recording recording_;
};

// A field without a meaning, sometimes.
Document with_more(const Document& map, Style style) {
  Document more = map;
  if (style.random == nullptr || !style.random->chance(0.15)) return more;
  const char* names[] = {"error", "node", "note", "clock-offset", "val", "values", "ty\"pe", ""};
  more.members.emplace_back(names[style.random->below(8)], random_scalar(*style.random));
  return more;
}

std::string separator(Style style) {
  if (style.random == nullptr || style.random->chance(0.8)) return "\n";
  return style.random->chance(0.5) ? "\r\n" : "\n \t\n";
}

}  // namespace

Document random_scalar(Random& random) {
  const auto& all = exotic_scalars();
  return all[random.below(all.size())];
}

Recording random_recording(std::uint64_t seed) {
  return Recorder(seed).run();
}

std::string json_lines(const std::vector<Document>& maps, Style style) {
  std::string text;
  for (const auto& map : maps) text += to_json(with_more(map, style), style) + separator(style);
  return text;
}

std::string json_array(const std::vector<Document>& maps, Style style) {
  std::string text = "[";
  for (const auto& map : maps) {
    if (text.size() > 1) text += ",";
    text += separator(style) + to_json(with_more(map, style), style);
  }
  return text + "\n]\n";
}

std::string edn_lines(const std::vector<Document>& maps, Style style) {
  std::string text;
  for (const auto& map : maps)
    text += op_map_to_edn(with_more(map, style), style) + separator(style);
  return text;
}

std::string edn_vector(const std::vector<Document>& maps, char open, Style style) {
  return open + edn_lines(maps, style) + (open == '[' ? "]\n" : ")\n");
}

std::string edn_records(const std::vector<Document>& maps, Style style) {
  std::string text;
  for (const auto& map : maps) {
    text += "#jepsen.history.Op" + op_map_to_edn(with_more(map, style), style) + separator(style);
  }
  return text;
}

}  // namespace cupel::test
