// Refutation: see the header. One Translation for each proof; a proof by cases is one for each
// case, with what is assumed in it.
#include "certify/refutation.hpp"

#include <fmt/format.h>

#include <map>
#include <set>

#include "certify/canonical.hpp"
#include "certify/clause_text.hpp"

namespace cupel::certify {

namespace {

using history::OpKind;

using Literals = std::vector<Literal>;
using Clauses = std::vector<Clause>;

// An edge as a clause: `at` or the negation of one of `under`.
struct EdgeClause {
  Literal at;
  Literals under;
  std::optional<Clause> clause;  // none: `at` is one of `under`
  // wr: what the reader saw, and the clause that it did if that is known.
  Literal seen = {};
  std::optional<Clause> known;
  std::optional<Clause> counts;  // whom it read from took effect, if that is in question
};

class Translation {
 public:
  Translation(Context& context, ClauseText& out, std::string& text)
      : c_(context),
        s_(context.subject()),
        h_(context.history()),
        shape_(context.shape()),
        out_(out),
        text_(text) {}

  Rejection body(const Body& body) {
    if (const auto* internal = std::get_if<std::vector<InternalAnomaly>>(&body))
      return anomaly(internal->front());
    if (const auto* derivation = std::get_if<Derivation>(&body)) return derive(*derivation);
    if (const auto* split = std::get_if<std::unique_ptr<CaseSplit>>(&body)) return cases(**split);
    return std::string("it is by placings of list elements that were appended twice");
  }

 private:
  // --- literals, axioms ---

  [[nodiscard]] EventRef start(TxnId t) const { return {!shape_.begin_and_commit, t}; }
  [[nodiscard]] static EventRef end(TxnId t) { return {true, t}; }
  [[nodiscard]] EventRef target(TxnId t) const { return shape_.no_overlap ? start(t) : end(t); }
  static EventRef event(Number txn, Point point) { return {point != Point::kBegin, TxnId(txn)}; }

  // May it be known to have read if it took effect? Then its axioms are about that case only.
  [[nodiscard]] bool conditional(TxnId t) const {
    if (s_.committed(t)) return false;
    for (const OpLine& line : lines_of(s_, t)) {
      if (line.seen && line.writes) return true;
    }
    return false;
  }
  void guard(TxnId t, Literals& clause) const {
    if (conditional(t)) clause.push_back(lives(t).negated());
  }
  // Guards first, as the verifier has them; their order does not matter.
  Clause axiom(const std::string& words, std::initializer_list<TxnId> about, Literals literals) {
    for (const TxnId t : about) guard(t, literals);
    return out_.given(words, std::move(literals));
  }
  Clause own(TxnId t) {
    return axiom(fmt::format("own {}", t.raw), {t}, {before(start(t), end(t))});
  }
  Clause no_overlap(KeyId key, TxnId a, TxnId b) {
    return axiom(fmt::format("ww {} {} {}", key.raw, a.raw, b.raw), {a, b},
                 {before(end(b), end(a)), before(end(a), start(b))});
  }
  Clause cycle_axiom(const std::vector<EventRef>& events) {
    std::string words = "cycle";
    Literals literals;
    for (std::size_t i = 0; i < events.size(); ++i) {
      words += fmt::format(" {} {}", events[i].commit ? 1 : 0, events[i].txn.raw);
      literals.push_back(before(events[(i + 1) % events.size()], events[i]));
    }
    return out_.given(words, std::move(literals));
  }
  static std::string writer_text(TxnId w) { return w.valid() ? std::to_string(w.raw) : "-"; }

  // The clause, with what is assumed in this case; if it follows only for transactions that
  // took effect, then with that.
  std::optional<Clause> derived(Literals literals, const Clauses& from) {
    const auto add = [&](const Literal& l) {
      if (std::find(literals.begin(), literals.end(), l) == literals.end()) literals.push_back(l);
    };
    for (const Literal& l : assumed_) add(l);
    if (auto clause = out_.derived(literals, from)) return clause;
    for (const Clause& c : from) {
      for (const Literal& l : c.literals) {
        if (l.kind == Literal::kLives && !l.positive) add(l);
      }
    }
    return out_.derived(literals, from);
  }
  static void add(Literals& to, const Literal& l) {
    if (std::find(to.begin(), to.end(), l) == to.end()) to.push_back(l);
  }
  static Literals negated(const Literals& literals) {
    Literals result;
    for (const Literal& l : literals) result.push_back(l.negated());
    return result;
  }

  // --- reads ---

  struct ReadAt {
    TxnId reader;
    std::uint32_t place = 0;
    Seen seen;
  };
  [[nodiscard]] std::optional<ReadAt> read_at(OpId op, KeyId key) const {
    const TxnId t = s_.txn_of(op);
    const auto lines = lines_of(s_, t);
    for (std::uint32_t i = 0; i < lines.size(); ++i) {
      if (lines[i].op == op && lines[i].key == key && lines[i].seen)
        return ReadAt{t, i, *lines[i].seen};
    }
    return std::nullopt;
  }
  // Reads of the key before an own write, as lines.
  [[nodiscard]] std::vector<ReadAt> external(TxnId t, KeyId key) const {
    std::vector<ReadAt> reads;
    const auto lines = lines_of(s_, t);
    for (std::uint32_t i = 0; i < lines.size(); ++i) {
      if (lines[i].key != key) continue;
      if (lines[i].seen) reads.push_back({t, i, *lines[i].seen});
      if (lines[i].writes) break;
    }
    return reads;
  }
  // As the verifier has it: by this read alone, who may have committed.
  [[nodiscard]] std::vector<TxnId> may_see(const ReadAt& read, KeyId key) const {
    std::vector<TxnId> found;
    const auto null = h_.null_value();
    const bool list = read.seen.what == Seen::kList;
    if (list ? read.seen.list.empty() : read.seen.fits(s_.initial(key), null))
      found.push_back(TxnId::none());
    const auto some = list ? (read.seen.list.empty() ? std::span<const Written>()
                                                     : s_.written(key, read.seen.list.back()))
                           : s_.written(key);
    for (const Written& w : some) {
      if (!w.final || s_.aborted(w.txn) || w.txn == read.reader) continue;
      if (list || read.seen.fits(s_.version(w.op), null)) found.push_back(w.txn);
    }
    return found;
  }
  Clause candidates(const ReadAt& read, const std::vector<TxnId>& writers) {
    Literals literals;
    for (const TxnId w : writers) literals.push_back(saw(read.reader, read.place, w));
    return axiom(fmt::format("candidates {} {}", read.reader.raw, read.place), {read.reader},
                 std::move(literals));
  }
  Clause source_counts(const ReadAt& read, TxnId w) {
    return axiom(fmt::format("counts {} {} {}", read.reader.raw, read.place, w.raw), {},
                 {saw(read.reader, read.place, w).negated(), lives(w)});
  }
  // All that is known of who wrote what the read saw.
  Clauses about_read(const ReadAt& read, KeyId key) {
    const auto writers = may_see(read, key);
    Clauses from = {candidates(read, writers)};
    for (const TxnId w : writers) {
      if (w.valid() && conditional(w)) from.push_back(source_counts(read, w));
      const auto it = excluded_.find({read.reader.raw, read.place, w.raw});
      if (it != excluded_.end()) from.push_back(it->second);
      if (shape_.phi == Phi::kEarlierRead) continue;
      for (const ReadAt& other : external(read.reader, key)) {
        const auto its = may_see(other, key);
        if (other.place == read.place || std::find(its.begin(), its.end(), w) != its.end())
          continue;
        from.push_back(axiom(
            fmt::format("same {} {} {} {}", read.reader.raw, read.place, other.place,
                        writer_text(w)),
            {}, {saw(read.reader, read.place, w).negated(), saw(read.reader, other.place, w)}));
        from.push_back(
            axiom(fmt::format("not {} {} {}", read.reader.raw, other.place, writer_text(w)), {},
                  {saw(read.reader, other.place, w).negated()}));
        break;
      }
    }
    return from;
  }

  // "The read saw w": known, or what the edge holds under. False: no rule for it.
  bool seen(const Edge& e, const ReadAt& read, TxnId w, EdgeClause& edge, Clauses& from) {
    const KeyId key(e.key);
    edge.seen = saw(read.reader, read.place, w);
    if (w.valid() && conditional(w)) {
      edge.counts = source_counts(read, w);
      from.push_back(*edge.counts);
    }
    const auto asked = c_.candidates(OpId(e.read), key);
    const auto known = known_.find({read.reader.raw, read.place});
    if (known != known_.end() && known->second.literals.front() == edge.seen) {
      edge.known = known->second;
    } else if (asked.candidates.only(w)) {
      edge.known = derived({edge.seen}, about_read(read, key));
      if (!edge.known) return fail("whose version a read saw does not follow by clauses");
      known_.insert_or_assign(std::pair{read.reader.raw, read.place}, *edge.known);
    }
    if (edge.known) {
      from.push_back(*edge.known);
    } else if (e.bound == Bound::kLater) {
      add(edge.under, saw_later(read, w));
    } else if (e.bound == Bound::kEarlier) {
      return fail("it uses bounds (a version or an earlier one)");
    } else {
      add(edge.under, edge.seen);
    }
    return true;
  }

  // "The read saw w or a later one of w's session" is used for one thing: w is before the read.
  [[nodiscard]] Literal saw_later(const ReadAt& read, TxnId w) const {
    return before(end(w), start(read.reader));
  }
  [[nodiscard]] bool in_session(TxnId earlier, TxnId later) const {
    return shape_.session_order && s_.committed(earlier) && earlier < later &&
           h_.session(earlier) == h_.session(later);
  }
  Clause session_axiom(TxnId a, TxnId b) {
    return axiom(fmt::format("so {} {}", a.raw, b.raw), {b}, {before(end(a), start(b))});
  }
  Clause wr_axiom(const ReadAt& read, TxnId w) {
    return axiom(fmt::format("wr {} {} {}", read.reader.raw, read.place, w.raw), {},
                 {saw(read.reader, read.place, w).negated(), before(end(w), start(read.reader))});
  }
  // If the read saw `later` then it saw w or a later one.
  std::optional<Clause> later_is_seen(const ReadAt& read, TxnId later, TxnId w) {
    if (later == w) return wr_axiom(read, w);
    Clauses from = {wr_axiom(read, later), session_axiom(w, later)};
    std::vector<EventRef> events = {end(w), start(later)};
    if (shape_.begin_and_commit) {
      from.push_back(own(later));
      events.push_back(end(later));
    }
    events.push_back(start(read.reader));
    from.push_back(cycle_axiom(events));
    if (conditional(later)) from.push_back(source_counts(read, later));
    return derived({saw(read.reader, read.place, later).negated(), saw_later(read, w)}, from);
  }
  // What the bounds of a read mean: of whom it may have seen, and of the later ones.
  bool about_bounds(const Derivation& d, const ReadAt& read, KeyId key, Clauses& all) {
    std::vector<TxnId> later;
    for (const Choice& c : d.choices) {
      if (c.is_before || c.bound != Bound::kLater || KeyId(c.key) != key) continue;
      const auto its = read_at(OpId(c.read), key);
      if (its && its->reader == read.reader && its->place == read.place)
        later.emplace_back(c.writer);
    }
    if (later.empty()) return true;
    for (const TxnId w : later) {
      for (const TxnId seen : may_see(read, key)) {
        if (!seen.valid() || (seen != w && !in_session(w, seen))) continue;
        auto clause = later_is_seen(read, seen, w);
        if (!clause) return fail("what a bound means does not follow by clauses");
        all.push_back(std::move(*clause));
      }
      for (const TxnId next : later) {
        if (!in_session(w, next) || conditional(next)) continue;
        Clauses from = {session_axiom(w, next)};
        std::vector<EventRef> events = {end(w), start(next)};
        if (shape_.begin_and_commit) {
          from.push_back(own(next));
          events.push_back(end(next));
        }
        events.push_back(start(read.reader));
        from.push_back(cycle_axiom(events));
        auto clause = derived({saw_later(read, next).negated(), saw_later(read, w)}, from);
        if (!clause) return fail("what a bound means does not follow by clauses");
        all.push_back(std::move(*clause));
      }
    }
    return true;
  }

  bool fail(std::string why) {
    if (!trouble_) trouble_ = std::move(why);
    return false;
  }

  // --- edges ---

  // The events of a path, and its clauses. Its first event is that of its first edge.
  std::vector<EventRef> walk(const Derivation& d, const std::vector<Number>& path, Clauses& from,
                             Literals& under) {
    std::vector<EventRef> events;
    for (const Number i : path) {
      events.push_back(event(d.edges[i].from, d.edges[i].from_point));
      const EdgeClause& edge = edges_.at(i);
      for (const auto* clause : {&edge.clause, &edge.known, &edge.counts}) {
        if (*clause) from.push_back(**clause);
      }
      for (const Literal& l : edge.under) add(under, l);
    }
    return events;
  }
  static EventRef last(const Derivation& d, const std::vector<Number>& path) {
    return event(d.edges[path.back()].to, d.edges[path.back()].to_point);
  }
  // The path's events from its start to its end contradict "the end before the start".
  void no_way_back(const Derivation& d, const std::vector<Number>& path, Clauses& from,
                   Literals& under) {
    auto events = walk(d, path, from, under);
    events.push_back(last(d, path));
    from.push_back(cycle_axiom(events));
  }

  bool finish(Number i, EdgeClause edge, const Clauses& from) {
    Literals literals = {edge.at};
    for (const Literal& l : negated(edge.under)) add(literals, l);
    edge.clause = derived(literals, from);
    if (!edge.clause) return fail(fmt::format("edge {} does not follow by clauses", i));
    edges_.emplace(i, std::move(edge));
    return true;
  }
  // From what an axiom says of two events to what the edge says of two others.
  bool widened(Number i, EdgeClause edge, const Edge& e, EventRef x, EventRef y, Clause base) {
    const EventRef first = event(e.from, e.from_point), second = event(e.to, e.to_point);
    Clauses from = {std::move(base)};
    std::vector<EventRef> events = {first};
    if (!(first == x)) {
      from.push_back(own(first.txn));
      events.push_back(x);
    }
    if (!(second == y)) {
      from.push_back(own(second.txn));
      events.push_back(y);
    }
    if (events.size() > 1) {
      events.push_back(second);
      from.push_back(cycle_axiom(events));
    }
    return finish(i, std::move(edge), from);
  }

  bool translate(const Derivation& d, Number i) {
    const Edge& e = d.edges[i];
    const TxnId a(e.from), b(e.to);
    EdgeClause edge;
    edge.at = before(event(e.from, e.from_point), event(e.to, e.to_point));
    switch (e.kind) {
      case EdgeKind::kOwn:
        return finish(i, edge, {own(a)});
      case EdgeKind::kSo:
        return widened(i, edge, e, end(a), start(b), session_axiom(a, b));
      case EdgeKind::kRt: {
        const EventRef y = shape_.begins_in_real_time ? start(b) : end(b);
        return widened(i, edge, e, end(a), y,
                       axiom(fmt::format("rt {} {}", a.raw, b.raw), {b}, {before(end(a), y)}));
      }
      case EdgeKind::kWr:
        return e.reason == Reason::kOnlyWriter ? only_writer(d, i, e, edge) && wr(i, e, edge)
                                               : wr(i, e, edge);
      case EdgeKind::kSaw:
        return only_writer(d, i, e, edge);
      case EdgeKind::kWw:
        return ww(d, i, e, std::move(edge));
      case EdgeKind::kRw:
        return rw(d, i, e, std::move(edge));
    }
    return false;
  }

  bool wr(Number i, const Edge& e, EdgeClause edge) {
    const TxnId w(e.from);
    const auto read = read_at(OpId(e.read), KeyId(e.key));
    Clauses from;
    if (!read) return fail("a read has no line");
    if (!seen(e, *read, w, edge, from)) return false;
    if (!edge.known && edge.at == edge.under.front()) {  // by a bound
      edges_.emplace(i, std::move(edge));
      return true;
    }
    from.push_back(wr_axiom(*read, w));
    return finish(i, std::move(edge), from);
  }

  // Each writer but one is excluded by a cycle that holds if the read saw it.
  bool only_writer(const Derivation& d, Number i, const Edge& e, EdgeClause edge) {
    const KeyId key(e.key);
    const auto read = read_at(OpId(e.read), key);
    if (!read) return fail("a read has no line");
    for (const Exclusion& x : e.excluded) {
      const TxnId w = x.writer == kNone ? TxnId::none() : TxnId(x.writer);
      Clauses from;
      Literals under;
      if (w.valid() && conditional(w)) from.push_back(source_counts(*read, w));
      if (!cycle(d, x.cycle, from, under)) return false;
      const Literal l = saw(read->reader, read->place, w);
      for (const Literal& u : under) {
        // A bound that says so.
        for (std::uint32_t v = 0; w.valid() && v <= w.raw; ++v) {
          if (!(u == saw_later(*read, TxnId(v))) || !(TxnId(v) == w || in_session(TxnId(v), w)))
            continue;
          if (auto clause = later_is_seen(*read, w, TxnId(v))) from.push_back(std::move(*clause));
        }
      }
      auto clause = derived({l.negated()}, from);
      if (!clause) return fail(fmt::format("edge {}: an exclusion does not follow by clauses", i));
      excluded_.insert_or_assign({read->reader.raw, read->place, w.raw}, *clause);
    }
    const TxnId w = e.kind == EdgeKind::kSaw ? TxnId::none() : TxnId(e.from);
    edge.known = derived({saw(read->reader, read->place, w)}, about_read(*read, key));
    if (!edge.known) return fail("whose version a read saw does not follow by clauses");
    known_.insert_or_assign(std::pair{read->reader.raw, read->place}, *edge.known);
    return true;
  }

  bool ww(const Derivation& d, Number i, const Edge& e, EdgeClause edge) {
    const TxnId a(e.from), b(e.to);
    const KeyId key(e.key);
    Clauses from;
    if (shape_.no_overlap) {
      from.push_back(no_overlap(key, a, b));
      from.push_back(no_overlap(key, b, a));
      from.push_back(own(b));
    }
    switch (e.reason) {
      case Reason::kAssumed: {
        const Literal choice = before(end(a), end(b));
        add(edge.under, choice);
        if (choice == edge.at) {
          edges_.emplace(i, std::move(edge));
          return true;
        }
        return finish(i, std::move(edge), from);
      }
      case Reason::kNoOverlap:
        no_way_back(d, e.because, from, edge.under);
        return finish(i, std::move(edge), from);
      case Reason::kListOrder:
        if (!list_order(e, a, b, from)) return false;
        return finish(i, std::move(edge), from);
      default:
        break;
    }
    const auto read = read_at(OpId(e.read), key);
    if (!read) return fail("a read has no line");
    if (!seen(e, *read, b, edge, from)) return false;
    if (shape_.is_weak()) {
      return visible(d, e.because, {*read, b, a}, from, edge.under) &&
             finish(i, std::move(edge), from);
    }
    from.push_back(
        axiom(fmt::format("rw {} {} {} {}", read->reader.raw, read->place, b.raw, a.raw), {a},
              {edge.seen.negated(), before(end(a), end(b)), before(start(read->reader), end(a))}));
    no_way_back(d, e.because, from, edge.under);
    return finish(i, std::move(edge), from);
  }

  bool list_order(const Edge& e, TxnId a, TxnId b, Clauses& from) {
    const KeyId key(e.key);
    const auto read = read_at(OpId(e.read), key);
    if (!read) return fail("a read has no line");
    if (auto clause = list_axiom(*read, key, a, b)) {
      from.push_back(std::move(*clause));
      return true;
    }
    return fail("the order of two writers of a list rests on an element that was appended twice");
  }
  // By the list that was read, a is before b: an element of a alone stands before one of b.
  std::optional<Clause> list_axiom(const ReadAt& read, KeyId key, TxnId a, TxnId b) {
    std::vector<ValueId> earlier;
    for (const ValueId v : read.seen.list) {
      const bool of_a = appends(a, key, v);
      const auto all = s_.written(key, v);
      const bool alone = of_a && std::all_of(all.begin(), all.end(), [&](const Written& w) {
                           return w.txn == a || s_.aborted(w.txn);
                         });
      for (auto i = h_.first_op(b); alone && i < h_.last_op(b); ++i) {
        const auto op = h_.op(OpId(i));
        if (op.kind != OpKind::kAppend || op.key != key) continue;
        if (std::find(earlier.begin(), earlier.end(), op.value) != earlier.end()) continue;
        return axiom(fmt::format("list {} {} {} {} {} {}", read.reader.raw, read.place, a.raw,
                                 value_number(h_, v), b.raw, value_number(h_, op.value)),
                     {b}, {before(end(a), end(b))});
      }
      earlier.push_back(v);
    }
    return std::nullopt;
  }
  // Two writers, each before the other by the list.
  std::optional<Clause> mixed_writers(const ReadAt& read, KeyId key) {
    std::set<std::uint32_t> writers;
    for (const ValueId v : read.seen.list) {
      for (const Written& w : s_.written(key, v)) {
        if (!s_.aborted(w.txn)) writers.insert(w.txn.raw);
      }
    }
    for (const std::uint32_t a : writers) {
      for (const std::uint32_t b : writers) {
        if (b <= a) continue;
        const auto one = list_axiom(read, key, TxnId(a), TxnId(b));
        if (!one) continue;
        const auto other = list_axiom(read, key, TxnId(b), TxnId(a));
        if (!other) continue;
        if (auto clause = derived({}, {*one, *other})) return clause;
      }
    }
    return std::nullopt;
  }
  [[nodiscard]] bool appends(TxnId t, KeyId key, ValueId v) const {
    const auto all = s_.written(key, v);
    return std::any_of(all.begin(), all.end(), [t](const Written& w) { return w.txn == t; });
  }

  bool rw(const Derivation& d, Number i, const Edge& e, EdgeClause edge) {
    const TxnId b(e.to);
    const KeyId key(e.key);
    const TxnId w = e.writer == kNone ? TxnId::none() : TxnId(e.writer);
    const auto read = read_at(OpId(e.read), key);
    if (!read) return fail("a read has no line");
    Clauses from;
    if (!seen(e, *read, w, edge, from)) return false;
    if (shape_.is_weak()) {  // used by the cycle as a whole
      if (edge.known) edge.clause = edge.known;
      edges_.emplace(i, std::move(edge));
      return true;
    }
    Literals literals = {edge.seen.negated(), before(start(read->reader), end(b))};
    if (w.valid()) literals.push_back(before(end(b), end(w)));
    from.push_back(
        axiom(fmt::format("rw {} {} {} {}", read->reader.raw, read->place, writer_text(w), b.raw),
              {b}, std::move(literals)));
    if (w.valid() && e.has_because) {
      if (shape_.no_overlap) {
        from.push_back(no_overlap(key, b, w));
        from.push_back(own(w));
      }
      no_way_back(d, e.because, from, edge.under);
    } else if (w.valid()) {
      add(edge.under, before(end(w), end(b)));
    }
    return finish(i, std::move(edge), from);
  }

  // --- weak levels ---

  // A read of w's version to which k, who writes the key too, is visible: k is before w.
  struct Missed {
    const ReadAt& read;
    TxnId w, k;
  };
  bool visible(const Derivation& d, const std::vector<Number>& path, const Missed& missed,
               Clauses& from, Literals& under) {
    const auto& [read, w, k] = missed;
    std::string words =
        fmt::format("visible {} {} {} {}", read.reader.raw, read.place, writer_text(w), k.raw);
    Literals literals = {saw(read.reader, read.place, w).negated()};
    if (w.valid()) literals.push_back(before(end(k), end(w)));
    for (const Number i : path) {
      const Edge& e = d.edges[i];
      if (e.kind == EdgeKind::kSo) {
        words += fmt::format(" so {}", e.to);
        continue;
      }
      const auto by = read_at(OpId(e.read), KeyId(e.key));
      if (!by) return fail("a read has no line");
      words += fmt::format(" wr {} {}", e.to, by->place);
      const Literal seen = saw(by->reader, by->place, TxnId(e.from));
      add(literals, seen.negated());
      const EdgeClause& edge = edges_.at(i);
      if (e.bound != Bound::kExact && !edge.known)
        return fail("it uses bounds (a version or a later one) in what is visible");
      if (edge.known) from.push_back(*edge.known);
      for (const Literal& l : edge.under) add(under, l);
      if (conditional(TxnId(e.from))) from.push_back(source_counts(*by, TxnId(e.from)));
    }
    from.push_back(out_.given(words, std::move(literals)));
    return true;
  }

  // --- cycles ---

  bool cycle(const Derivation& d, const std::vector<Number>& edges, Clauses& from,
             Literals& under) {
    if (shape_.is_weak()) {
      const auto it = std::find_if(edges.begin(), edges.end(),
                                   [&](Number i) { return d.edges[i].kind == EdgeKind::kRw; });
      if (it != edges.end()) {
        std::vector<Number> rest(it + 1, edges.end());
        rest.insert(rest.end(), edges.begin(), it);
        const Edge& rw = d.edges[*it];
        const auto read = read_at(OpId(rw.read), KeyId(rw.key));
        if (!read) return fail("a read has no line");
        const EdgeClause& edge = edges_.at(*it);
        if (edge.clause) from.push_back(*edge.clause);
        for (const Literal& l : edge.under) add(under, l);
        return visible(d, rest, {*read, TxnId::none(), TxnId(rw.to)}, from, under);
      }
    }
    const auto events = walk(d, edges, from, under);
    from.push_back(cycle_axiom(events));
    return true;
  }

  // The edges that the conclusion needs; of a linearizable history those of other keys are none.
  static std::set<Number> needed(const Derivation& d) {
    std::set<Number> found;
    std::vector<Number> open(d.cycle);
    for (const auto& clause : d.clauses) open.insert(open.end(), clause.begin(), clause.end());
    for (Number i = 0; i < d.edges.size(); ++i) {
      // A fact about a read is used without being named.
      if (d.edges[i].reason == Reason::kOnlyWriter) open.push_back(i);
    }
    while (!open.empty()) {
      const Number i = open.back();
      open.pop_back();
      if (!found.insert(i).second) continue;
      const Edge& e = d.edges[i];
      open.insert(open.end(), e.because.begin(), e.because.end());
      for (const Exclusion& x : e.excluded) open.insert(open.end(), x.cycle.begin(), x.cycle.end());
    }
    return found;
  }

  Rejection derive(const Derivation& d) {
    if (shape_.one_object) {
      const Number first = d.by_clauses ? d.clauses.front().front() : d.cycle.front();
      text_ += fmt::format("K {}\n", s_.only_key(TxnId(d.edges[first].from)).raw);
    }
    for (const Number i : needed(d)) {
      if (!translate(d, i)) return trouble_;
    }
    if (d.by_clauses) return refuted(d);
    Clauses from;
    Literals under;
    if (!cycle(d, d.cycle, from, under)) return trouble_;
    return concluded(from, "the cycle does not follow by clauses");
  }
  // Nothing but what is assumed in this case.
  [[nodiscard]] bool is_contradiction(const Clause& clause) const {
    return std::all_of(clause.literals.begin(), clause.literals.end(), [this](const Literal& l) {
      return std::find(assumed_.begin(), assumed_.end(), l) != assumed_.end();
    });
  }
  Rejection concluded(Clauses from, std::string_view otherwise) {
    last_ = derived({}, from);
    if (last_ && !is_contradiction(*last_)) {
      // It may be about transactions that took effect: those that were read from did.
      for (const auto& [at, clause] : known_) {
        const TxnId w(clause.literals.front().parts[2]);
        if (!w.valid() || !conditional(w)) continue;
        from.push_back(clause);
        from.push_back(source_counts({TxnId(at.first), at.second, {}}, w));
      }
      last_ = derived({}, from);
    }
    if (last_ && is_contradiction(*last_)) return std::nullopt;
    return std::string(otherwise);
  }

  // --- clauses ---

  Literal choice(const Choice& c) const {
    if (c.is_before) return before(end(TxnId(c.first)), end(TxnId(c.second)));
    const auto read = read_at(OpId(c.read), KeyId(c.key));
    if (c.bound == Bound::kLater) return saw_later(*read, TxnId(c.writer));
    return saw(read->reader, read->place, c.writer == kNone ? TxnId::none() : TxnId(c.writer));
  }
  Rejection refuted(const Derivation& d) {
    Clauses all;
    std::set<std::pair<std::uint32_t, std::uint32_t>> asked;
    for (const Choice& c : d.choices) {
      if (c.bound == Bound::kEarlier)
        return std::string("it uses bounds (a version or an earlier one)");
      if (c.is_before) continue;
      const auto read = read_at(OpId(c.read), KeyId(c.key));
      if (!read) return std::string("a read has no line");
      if (!asked.insert({read->reader.raw, read->place}).second) continue;
      for (Clause& clause : about_read(*read, KeyId(c.key))) all.push_back(std::move(clause));
      if (!about_bounds(d, *read, KeyId(c.key), all)) return trouble_;
    }
    for (std::size_t i = 0; i < d.clauses.size(); ++i) {
      Clauses from;
      Literals under;
      if (!cycle(d, d.clauses[i], from, under)) return trouble_;
      auto clause = derived(negated(under), from);
      if (!clause) return fmt::format("clause {} does not follow by clauses", i);
      all.push_back(std::move(*clause));
    }
    for (std::size_t i = 0; i < d.refutation.size(); ++i) {
      Literals literals;
      for (const std::int32_t n : d.refutation[i]) {
        const Literal l = choice(d.choices[static_cast<std::size_t>(std::abs(n)) - 1]);
        add(literals, n > 0 ? l : l.negated());
      }
      auto clause = derived(literals, all);
      if (!clause) return fmt::format("step {} of the refutation does not follow", i);
      all.push_back(*clause);
    }
    return concluded(all, "the refutation does not follow by clauses");
  }

  // --- anomalies inside one transaction or read ---

  Rejection anomaly(const InternalAnomaly& a) {
    const KeyId key(a.key);
    const auto read = read_at(OpId(a.read), key);
    if (!read) return std::string("a read has no line");
    if (shape_.one_object) text_ += fmt::format("K {}\n", key.raw);
    const auto reads = external(read->reader, key);
    const bool outside = std::any_of(reads.begin(), reads.end(),
                                     [&](const ReadAt& r) { return r.place == read->place; });
    const bool list = read->seen.what == Seen::kList;
    if (list && a.name == "incompatible-order" && a.other != kNone) {
      const auto other = read_at(OpId(a.other), key);
      if (other) {
        const Clause clause = axiom(fmt::format("conflict {} {} {} {}", read->reader.raw,
                                                read->place, other->reader.raw, other->place),
                                    {read->reader}, {});
        return concluded({clause}, "the lists are not shown to differ");
      }
    }
    if (list) {
      if (const auto clause = too_often(*read, key))
        return concluded({*clause}, "the list is not shown to have too many elements");
      if ((last_ = mixed_writers(*read, key))) return std::nullopt;
    }
    if (!outside) {
      if (list && sees_own(s_, read->reader, OpId(a.read), key, read->seen, OpId(a.read)))
        return fmt::format("its `{}` of a list has no counterpart", a.name);
      const std::uint32_t place = list ? read->place : missing_row(*read, OpId(a.read), key);
      return concluded(
          {axiom(fmt::format("mismatch {} {}", read->reader.raw, place), {read->reader}, {})},
          "the read is not shown to miss an own write");
    }
    // One of the rows that a range read returned; or all reads of the key together.
    for (const ReadAt& r : reads) {
      const auto lines = lines_of(s_, read->reader);
      const bool named = lines[r.place].op == OpId(a.read);
      if (!named && a.name != "non-repeatable-read") continue;
      if ((last_ = derived({}, about_read(r, key)))) return std::nullopt;
    }
    return fmt::format("its `{}` has no counterpart", a.name);
  }

  // A list has an element more often than it was appended.
  std::optional<Clause> too_often(const ReadAt& read, KeyId key) {
    std::map<std::uint32_t, std::ptrdiff_t> times;
    for (const ValueId v : read.seen.list) ++times[v.raw];
    for (const auto& [raw, found] : times) {
      const auto appended = s_.written(key, ValueId(raw));
      const auto count = std::count_if(appended.begin(), appended.end(),
                                       [&](const Written& w) { return !s_.aborted(w.txn); });
      if (found <= count) continue;
      return axiom(fmt::format("often {} {} {}", read.reader.raw, read.place,
                               value_number(h_, ValueId(raw))),
                   {read.reader}, {});
    }
    return std::nullopt;
  }

  // Of the rows of a key that a range read returned, the first that is not the own write.
  [[nodiscard]] std::uint32_t missing_row(const ReadAt& read, OpId op, KeyId key) const {
    const auto lines = lines_of(s_, read.reader);
    OpId own;
    for (std::uint32_t i = 0; i < lines.size(); ++i) {
      if (lines[i].key != key) continue;
      if (lines[i].op == op && lines[i].seen &&
          !sees_own(s_, read.reader, op, key, *lines[i].seen, own))
        return i;
      if (lines[i].writes && lines[i].op < op) own = lines[i].op;
    }
    return read.place;
  }

  // --- cases ---

  Rejection cases(const CaseSplit& split) {
    const TxnId t(split.transaction);
    Clauses both;
    for (const bool happened : {true, false}) {
      c_.assume(t, happened ? AssumedOutcome::kCommitted : AssumedOutcome::kAborted);
      Translation inner(c_, out_, text_);
      inner.assumed_ = assumed_;
      inner.assumed_.push_back(happened ? lives(t).negated() : lives(t));
      auto why = inner.body(happened ? split.happened : split.never);
      c_.assume(t, AssumedOutcome::kOpen);
      if (why) return why;
      both.push_back(*inner.last_);
    }
    return concluded(both, "the two cases do not go together");
  }

  Context& c_;
  Subject& s_;
  const History& h_;
  const Shape shape_;
  ClauseText& out_;
  std::string& text_;
  Literals assumed_;  // negations of what is assumed in this case
  Rejection trouble_;
  std::optional<Clause> last_;
  std::map<Number, EdgeClause> edges_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Clause> known_;  // by reader and place
  std::map<std::array<std::uint32_t, 3>, Clause> excluded_;          // and writer
};

}  // namespace

Rejection write_refutation(Context& context, const Body& body, std::string& text) {
  std::string lines;
  ClauseText out(lines);
  auto why = Translation(context, out, lines).body(body);
  if (!why) text += lines;
  return why;
}

}  // namespace cupel::certify
