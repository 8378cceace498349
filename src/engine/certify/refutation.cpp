// Refutation: see the header. One Translation for each proof; a proof by cases is one for each
// case, with what is assumed in it.
#include "engine/certify/refutation.hpp"

#include <fmt/format.h>

#include <map>
#include <set>

#include "engine/certify/canonical.hpp"
#include "engine/certify/clause_text.hpp"

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
  Translation(Context& context, Checked checked, ClauseText& out, std::string& text)
      : c_(context),
        s_(context.subject()),
        h_(context.history()),
        shape_(context.shape()),
        checked_(checked),
        out_(out),
        text_(text) {}

  Rejection body(const Body& body) {
    if (const auto* internal = std::get_if<std::vector<InternalAnomaly>>(&body)) {
      if (internal->empty()) return std::string("no anomaly");
      return anomaly(internal->front());
    }
    if (const auto* derivation = std::get_if<Derivation>(&body)) return derive(*derivation);
    if (const auto* split = std::get_if<std::unique_ptr<CaseSplit>>(&body)) return cases(**split);
    return placings(std::get<std::vector<Placing>>(body));
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
    for (const OpLine& line : lines_of(h_, t)) {
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
  // The clause of a step, which follows if the proof was checked.
  std::optional<Clause> step(const Literals& literals, const Clauses& from) {
    auto clause = derived(literals, from);
    if (clause || checked_ == Checked::kYes) return clause;
    Literals claimed = literals;
    for (const Literal& l : assumed_) add(claimed, l);
    return out_.claimed(claimed, from);
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
    const auto lines = lines_of(h_, t);
    for (std::uint32_t i = 0; i < lines.size(); ++i) {
      if (lines[i].op == op && lines[i].key == key && lines[i].seen)
        return ReadAt{t, i, *lines[i].seen};
    }
    return std::nullopt;
  }
  // Reads of the key before an own write, as lines.
  [[nodiscard]] std::vector<ReadAt> external(TxnId t, KeyId key) const {
    std::vector<ReadAt> reads;
    const auto lines = lines_of(h_, t);
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
  Clause same_version(const ReadAt& read, const ReadAt& other, TxnId w) {
    return axiom(
        fmt::format("same {} {} {} {}", read.reader.raw, read.place, other.place, writer_text(w)),
        {}, {saw(read.reader, read.place, w).negated(), saw(read.reader, other.place, w)});
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
        from.push_back(same_version(read, other, w));
        from.push_back(
            axiom(fmt::format("not {} {} {}", read.reader.raw, other.place, writer_text(w)), {},
                  {saw(read.reader, other.place, w).negated()}));
        break;
      }
    }
    if (read.seen.what == Seen::kList) about_list(read, key, writers, from);
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
      edge.known = step({edge.seen}, about_read(read, key));
      if (!edge.known) return fail("whose version a read saw does not follow by clauses");
      known_.insert_or_assign(std::pair{read.reader.raw, read.place}, *edge.known);
    }
    if (edge.known) {
      from.push_back(*edge.known);
    } else if (e.bound == Bound::kExact) {
      add(edge.under, edge.seen);
    } else {
      add(edge.under, bounded(e.bound == Bound::kEarlier, read.reader, read.place, w));
    }
    return true;
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
  // --- bounds: the read saw w's version or that of one of w's session ---

  [[nodiscard]] bool within(bool up, TxnId w, TxnId x) const {
    return x == w || (up ? in_session(x, w) : in_session(w, x));
  }
  Clause within_axiom(bool up, const ReadAt& read, TxnId w, TxnId x) {
    return axiom(
        fmt::format("within {} {} {} {} {}", up ? 1 : 0, read.reader.raw, read.place, w.raw, x.raw),
        {}, {saw(read.reader, read.place, x).negated(), bounded(up, read.reader, read.place, w)});
  }
  // Of whom, then; with what is known of the read.
  std::vector<TxnId> one_within(bool up, const ReadAt& read, KeyId key, TxnId w, Clauses& from) {
    std::vector<TxnId> ones;
    Literals literals = {bounded(up, read.reader, read.place, w).negated()};
    for (const TxnId x : may_see(read, key)) {
      if (!x.valid() || !within(up, w, x)) continue;
      ones.push_back(x);
      literals.push_back(saw(read.reader, read.place, x));
    }
    from.push_back(
        axiom(fmt::format("bound {} {} {} {}", up ? 1 : 0, read.reader.raw, read.place, w.raw), {},
              std::move(literals)));
    for (Clause& clause : about_read(read, key)) from.push_back(std::move(clause));
    return ones;
  }
  // If the read saw w or a later one of the session: w is before the read.
  void after_later(const ReadAt& read, KeyId key, TxnId w, Clauses& from) {
    for (const TxnId later : one_within(false, read, key, w, from)) {
      from.push_back(wr_axiom(read, later));
      if (later != w) in_order({end(w), end(later), start(read.reader)}, from);
    }
  }
  // Each event is before the next; those of two transactions by session order.
  void in_order(const std::vector<EventRef>& events, Clauses& from) {
    for (std::size_t i = 0; i + 1 < events.size(); ++i) {
      const EventRef x = events[i], y = events[i + 1];
      if (x.txn == y.txn || !in_session(x.txn, y.txn)) continue;
      from.push_back(session_axiom(x.txn, y.txn));
      if (shape_.begin_and_commit) {
        from.push_back(own(y.txn));
        if (y.commit) from.push_back(cycle_axiom({x, start(y.txn), y}));
      }
    }
    from.push_back(cycle_axiom(events));
  }
  // What the bounds of a read among the choices mean.
  bool about_bounds(const Derivation& d, const ReadAt& read, KeyId key, Clauses& all) {
    std::vector<std::pair<bool, TxnId>> bounds;
    for (const Choice& c : d.choices) {
      if (c.is_before || c.bound == Bound::kExact || KeyId(c.key) != key) continue;
      const auto its = read_at(OpId(c.read), key);
      if (its && its->reader == read.reader && its->place == read.place)
        bounds.emplace_back(c.bound == Bound::kEarlier, TxnId(c.writer));
    }
    for (const auto& [up, w] : bounds) {
      Clauses from;
      for (const TxnId x : one_within(up, read, key, w, from))
        all.push_back(within_axiom(up, read, w, x));
      all.push_back(from.front());
      for (const auto& [its_up, other] : bounds) {
        if (its_up != up || other == w || !within(up, other, w)) continue;
        Clauses both = from;
        for (const TxnId x : may_see(read, key)) {
          if (x.valid() && within(up, w, x) && within(up, other, x))
            both.push_back(within_axiom(up, read, other, x));
        }
        auto clause = step({bounded(up, read.reader, read.place, w).negated(),
                            bounded(up, read.reader, read.place, other)},
                           both);
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
    if (path.empty()) return;
    auto events = walk(d, path, from, under);
    events.push_back(last(d, path));
    from.push_back(cycle_axiom(events));
  }

  bool finish(Number i, EdgeClause edge, const Clauses& from) {
    Literals literals = {edge.at};
    for (const Literal& l : negated(edge.under)) add(literals, l);
    edge.clause = step(literals, from);
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
    if (!edge.known && e.bound == Bound::kLater) {
      after_later(*read, KeyId(e.key), w, from);
    } else {
      from.push_back(wr_axiom(*read, w));
    }
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
      for (const Literal& u : under) {  // a bound that says so
        const TxnId v(u.parts[2]);
        const bool up = u.parts[3] != 0;
        if (u.kind == Literal::kBounded && u == bounded(up, read->reader, read->place, v) &&
            w.valid() && within(up, v, w))
          from.push_back(within_axiom(up, *read, v, w));
      }
      auto clause = step({l.negated()}, from);
      if (!clause) return fail(fmt::format("edge {}: an exclusion does not follow by clauses", i));
      excluded_.insert_or_assign({read->reader.raw, read->place, w.raw}, *clause);
    }
    const TxnId w = e.kind == EdgeKind::kSaw ? TxnId::none() : TxnId(e.from);
    edge.known = step({saw(read->reader, read->place, w)}, about_read(*read, key));
    if (!edge.known) return fail("whose version a read saw does not follow by clauses");
    known_.insert_or_assign(std::pair{read->reader.raw, read->place}, *edge.known);
    return true;
  }

  // A read of w's version to which k, who writes the key too, is visible: k is before w.
  struct Missed {
    const ReadAt& read;
    TxnId w, k;
  };
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
    if (!shape_.is_weak()) no_way_back(d, e.because, from, edge.under);
    if (!edge.known && e.bound == Bound::kEarlier) {
      for (const TxnId w : one_within(true, *read, key, b, from)) {
        if (!missed(d, e, {*read, w, a}, from, edge.under)) return false;
        if (w != b) in_order({end(w), target(b)}, from);
        if (w != b && w != a) from.push_back(cycle_axiom({end(a), end(w), target(b)}));
      }
    } else if (!missed(d, e, {*read, b, a}, from, edge.under)) {
      return false;
    }
    return finish(i, std::move(edge), from);
  }
  // Why k, visible to a read of w's version, is before w.
  bool missed(const Derivation& d, const Edge& e, const Missed& m, Clauses& from, Literals& under) {
    if (m.w == m.k) return true;
    if (shape_.is_weak()) return visible(d, e.because, m, from, under);
    if (conditional(m.w)) from.push_back(source_counts(m.read, m.w));
    from.push_back(axiom(
        fmt::format("rw {} {} {} {}", m.read.reader.raw, m.read.place, m.w.raw, m.k.raw), {m.k},
        {saw(m.read.reader, m.read.place, m.w).negated(), before(end(m.k), end(m.w)),
         before(start(m.read.reader), end(m.k))}));
    return true;
  }

  bool list_order(const Edge& e, TxnId a, TxnId b, Clauses& from) {
    const KeyId key(e.key);
    const auto read = read_at(OpId(e.read), key);
    if (!read) return fail("a read has no line");
    if (auto clause = list_axiom(*read, key, a, b)) {
      from.push_back(std::move(*clause));
    } else {
      by_places(*read, key, a, b, from);
    }
    return true;
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

  // --- places in lists: where somebody's appends begin, from 0 ---

  struct Block {
    TxnId txn;
    std::uint32_t at;
    friend bool operator==(const Block&, const Block&) = default;
  };
  using Values = std::vector<ValueId>;

  [[nodiscard]] Values appends_of(TxnId t, KeyId key) const {
    Values values;
    for (auto i = h_.first_op(t); i < h_.last_op(t); ++i) {
      const auto op = h_.op(OpId(i));
      if (op.kind == OpKind::kAppend && op.key == key) values.emplace_back(op.value);
    }
    return values;
  }
  static bool begins_with(std::span<const ValueId> list, const Values& block) {
    return list.size() >= block.size() && std::equal(block.begin(), block.end(), list.begin());
  }
  // None if the append would stand before all of its transaction's place.
  [[nodiscard]] std::optional<Block> block_of(OpId append, KeyId key, std::uint32_t place) const {
    const TxnId t = s_.txn_of(append);
    const auto index = own_appends_before(h_, t, append, key);
    if (index > place) return std::nullopt;
    return Block{t, place - static_cast<std::uint32_t>(index)};
  }
  void appended(KeyId key, const Block& block, Clauses& from) {
    if (!conditional(block.txn)) return;
    from.push_back(axiom(fmt::format("appended {} {} {}", key.raw, block.txn.raw, block.at), {},
                         {begins(key, block.txn, block.at).negated(), lives(block.txn)}));
  }
  // One of the appends of the element stands there.
  void stands(const ReadAt& read, KeyId key, std::uint32_t place, Clauses& from) {
    Literals literals;
    for (const Written& w : s_.written(key, read.seen.list[place])) {
      const auto block = s_.aborted(w.txn) ? std::nullopt : block_of(w.op, key, place);
      if (!block) continue;
      literals.push_back(begins(key, block->txn, block->at));
      appended(key, *block, from);
    }
    const auto [it, fresh] = stands_.try_emplace({read.reader.raw, read.place, place});
    if (fresh)
      it->second = axiom(fmt::format("stands {} {} {}", read.reader.raw, read.place, place),
                         {read.reader}, std::move(literals));
    from.push_back(it->second);
  }
  // Whose append stands there, if that is known, and why.
  std::optional<Block> known_block(const ReadAt& read, KeyId key, std::uint32_t place,
                                   Clauses& from) {
    const OpId append = c_.append_at(key, place, read.seen.list[place]);
    if (!append.valid()) return std::nullopt;
    stands(read, key, place, from);
    return block_of(append, key, place);
  }
  // Two blocks are apart, and ordered by their places.
  void places(KeyId key, Block a, Block b, Clauses& from) {
    if (a == b) return;
    if (a.at > b.at) std::swap(a, b);
    Literals literals = {begins(key, a.txn, a.at).negated(), begins(key, b.txn, b.at).negated()};
    const bool both = a.txn != b.txn && !appends_of(b.txn, key).empty() &&
                      b.at - a.at < appends_of(a.txn, key).size();
    if (a.txn != b.txn && !both) {
      if (a.at == b.at) return;
      literals.push_back(before(end(a.txn), end(b.txn)));
    }
    from.push_back(
        axiom(fmt::format("places {} {} {} {} {}", key.raw, a.txn.raw, a.at, b.txn.raw, b.at), {},
              std::move(literals)));
  }
  // The block against all that is known of the places that it would take.
  void against_known(const ReadAt& read, KeyId key, const Block& block, Clauses& from) {
    const auto end_of =
        std::min(read.seen.list.size(), block.at + appends_of(block.txn, key).size());
    for (std::uint32_t p = block.at; p < end_of; ++p) {
      if (const auto other = known_block(read, key, p, from)) places(key, block, *other, from);
    }
  }
  // The read ends with the appends of whoever it saw.
  Block ends(const ReadAt& read, KeyId key, TxnId w, Clauses& from) {
    const auto list = read.seen.list;
    const Values block = appends_of(w, key);
    const auto at = list.size() - std::min(list.size(), block.size());
    Literals literals = {saw(read.reader, read.place, w).negated()};
    const Block its{w, static_cast<std::uint32_t>(at)};
    const bool there = at + block.size() == list.size() && begins_with(list.subspan(at), block);
    if (there) literals.push_back(begins(key, w, its.at));
    from.push_back(axiom(fmt::format("ends {} {} {} {}", read.reader.raw, read.place, w.raw, at),
                         {}, std::move(literals)));
    if (there) against_known(read, key, its, from);
    return its;
  }
  // Whom a read of a list may have seen, if its last element was appended more than once.
  void about_list(const ReadAt& read, KeyId key, const std::vector<TxnId>& writers, Clauses& from) {
    const auto list = read.seen.list;
    if (list.empty() || s_.written(key, list.back()).size() < 2) return;
    const bool one_version = shape_.phi != Phi::kEarlierRead;
    for (const TxnId w : writers) {
      if (!w.valid()) continue;
      Clauses of_w;
      const auto its = ends(read, key, w, of_w);
      for (const ReadAt& other : external(read.reader, key)) {
        if (!one_version || other.seen.list.size() == list.size() || other.seen.list.empty())
          continue;
        of_w.push_back(same_version(read, other, w));
        places(key, its, ends(other, key, w, of_w), of_w);
      }
      if (auto clause = derived({saw(read.reader, read.place, w).negated()}, of_w))
        from.push_back(std::move(*clause));
      from.insert(from.end(), of_w.begin(), of_w.end());
    }
  }
  // A known place of a before any that an append of b may have.
  void by_places(const ReadAt& read, KeyId key, TxnId a, TxnId b, Clauses& from) {
    const auto list = read.seen.list;
    std::optional<Block> of_a;
    for (std::uint32_t p = 0; p < list.size() && !of_a; ++p) {
      const auto block = known_block(read, key, p, from);
      if (block && block->txn == a) of_a = block;
    }
    if (!of_a) return;
    const Values block = appends_of(b, key);
    Literals literals = {begins(key, a, of_a->at).negated(), before(end(a), end(b))};
    for (std::uint32_t q = 0; q < of_a->at && b != read.reader; ++q) {
      if (!begins_with(list.subspan(q), block)) continue;
      literals.push_back(begins(key, b, q));
      appended(key, {b, q}, from);
      places(key, *of_a, {b, q}, from);
      against_known(read, key, {b, q}, from);
    }
    from.push_back(axiom(
        fmt::format("precedes {} {} {} {} {}", read.reader.raw, read.place, a.raw, of_a->at, b.raw),
        {read.reader, b}, std::move(literals)));
  }
  // All that is known of the places of a list, and of whose appends cannot begin there.
  Clauses whole_list(const ReadAt& read, KeyId key) {
    Clauses from;
    const auto list = read.seen.list;
    const bool outside = is_external(read, key);
    std::set<std::pair<std::uint32_t, std::uint32_t>> asked;
    for (std::uint32_t p = 0; p < list.size(); ++p) {
      const auto block = known_block(read, key, p, from);
      if (!block || !asked.insert({block->txn.raw, block->at}).second) continue;
      appended(key, *block, from);
      against_known(read, key, *block, from);
      const bool fits = block->txn == read.reader
                            ? !outside
                            : begins_with(list.subspan(block->at), appends_of(block->txn, key));
      if (fits) continue;
      from.push_back(axiom(
          fmt::format("fits {} {} {} {}", read.reader.raw, read.place, block->txn.raw, block->at),
          {read.reader}, {begins(key, block->txn, block->at).negated()}));
    }
    if (outside) return from;
    const OpId op = lines_of(h_, read.reader)[read.place].op;
    const auto own = own_appends_before(h_, read.reader, op, key);
    if (own > list.size()) return from;
    const Block its{read.reader, static_cast<std::uint32_t>(list.size() - own)};
    from.push_back(axiom(fmt::format("owns {} {} {}", read.reader.raw, read.place, its.at),
                         {read.reader}, {begins(key, read.reader, its.at)}));
    for (std::uint32_t p = 0; p < list.size(); ++p) {
      if (const auto other = known_block(read, key, p, from)) {
        if (p >= its.at || other->txn == its.txn) places(key, its, *other, from);
      }
    }
    return from;
  }
  [[nodiscard]] bool is_external(const ReadAt& read, KeyId key) const {
    const auto reads = external(read.reader, key);
    return std::any_of(reads.begin(), reads.end(),
                       [&](const ReadAt& r) { return r.place == read.place; });
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
      const EdgeClause& edge = edges_.at(i);
      const bool later = e.bound == Bound::kLater && !edge.known;
      words += fmt::format(" {} {} {}", later ? "later" : "wr", e.to, by->place);
      add(literals, (later ? bounded(false, by->reader, by->place, TxnId(e.from))
                           : saw(by->reader, by->place, TxnId(e.from)))
                        .negated());
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

  // Can it be written down? Each edge refers to earlier ones.
  static bool refers_well(const Derivation& d) {
    const auto is_path = [&](const std::vector<Number>& path, std::size_t below) {
      return std::all_of(path.begin(), path.end(),
                         [&](Number i) { return i < below && d.edges[i].kind != EdgeKind::kSaw; });
    };
    for (std::size_t i = 0; i < d.edges.size(); ++i) {
      const Edge& e = d.edges[i];
      if (!is_path(e.because, i) || (e.has_because && e.because.empty())) return false;
      for (const Exclusion& x : e.excluded) {
        if (x.cycle.empty() || !is_path(x.cycle, i)) return false;
      }
    }
    if (!d.by_clauses) return !d.cycle.empty() && is_path(d.cycle, d.edges.size());
    return !d.clauses.empty() &&
           std::all_of(d.clauses.begin(), d.clauses.end(), [&](const std::vector<Number>& c) {
             return !c.empty() && is_path(c, d.edges.size());
           });
  }

  Rejection derive(const Derivation& d) {
    if (!refers_well(d)) return std::string("it refers to edges that are not there");
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
    if (checked_ == Checked::kYes) return std::string(otherwise);
    last_ = out_.claimed(assumed_, from);
    return std::nullopt;
  }

  // --- clauses ---

  Literal choice(const Choice& c) const {
    if (c.is_before) return before(end(TxnId(c.first)), end(TxnId(c.second)));
    const auto read = read_at(OpId(c.read), KeyId(c.key));
    if (c.bound != Bound::kExact)
      return bounded(c.bound == Bound::kEarlier, read->reader, read->place, TxnId(c.writer));
    return saw(read->reader, read->place, c.writer == kNone ? TxnId::none() : TxnId(c.writer));
  }
  Rejection refuted(const Derivation& d) {
    Clauses all;
    std::set<std::pair<std::uint32_t, std::uint32_t>> asked;
    for (const Choice& c : d.choices) {
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
      auto clause = step(negated(under), from);
      if (!clause) return fmt::format("clause {} does not follow by clauses", i);
      all.push_back(std::move(*clause));
    }
    for (std::size_t i = 0; i < d.refutation.size(); ++i) {
      Literals literals;
      for (const std::int32_t n : d.refutation[i]) {
        const Literal l = choice(d.choices[static_cast<std::size_t>(std::abs(n)) - 1]);
        add(literals, n > 0 ? l : l.negated());
      }
      auto clause = step(literals, all);
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
    const bool outside = is_external(*read, key);
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
      if ((last_ = derived({}, whole_list(*read, key))) && is_contradiction(*last_))
        return std::nullopt;
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
      const auto lines = lines_of(h_, read->reader);
      const bool named = lines[r.place].op == OpId(a.read);
      if (!named && a.name != "non-repeatable-read") continue;
      if ((last_ = derived({}, about_read(r, key)))) return std::nullopt;
    }
    return fmt::format("its `{}` has no counterpart", a.name);
  }

  // A list has an element more often than it was appended, by the reader itself so far.
  std::optional<Clause> too_often(const ReadAt& read, KeyId key) {
    std::map<std::uint32_t, std::ptrdiff_t> times;
    for (const ValueId v : read.seen.list) ++times[v.raw];
    const OpId op = lines_of(h_, read.reader)[read.place].op;
    for (const auto& [raw, found] : times) {
      std::ptrdiff_t appended = 0;
      std::set<std::uint32_t> never;
      for (const Written& w : s_.written(key, ValueId(raw))) {
        if (s_.aborted(w.txn)) continue;
        if (!c_.counts(w.txn)) {
          never.insert(w.txn.raw);
        } else {
          appended += w.txn != read.reader || w.op < op;
        }
      }
      if (found <= appended) continue;
      std::string words = fmt::format("often {} {} {}", read.reader.raw, read.place,
                                      value_number(h_, ValueId(raw)));
      Literals literals;
      for (const std::uint32_t t : never) {
        words += fmt::format(" {}", t);
        literals.push_back(lives(TxnId(t)));
      }
      return axiom(words, {read.reader}, std::move(literals));
    }
    return std::nullopt;
  }

  // Of the rows of a key that a range read returned, the first that is not the own write.
  [[nodiscard]] std::uint32_t missing_row(const ReadAt& read, OpId op, KeyId key) const {
    const auto lines = lines_of(h_, read.reader);
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
      Translation inner(c_, checked_, out_, text_);
      inner.assumed_ = assumed_;
      inner.assumed_.push_back(happened ? lives(t).negated() : lives(t));
      auto why = inner.body(happened ? split.happened : split.never);
      c_.assume(t, AssumedOutcome::kOpen);
      if (why) return why;
      both.push_back(*inner.last_);
    }
    return concluded(both, "the two cases do not go together");
  }

  // By the appends that may stand at some places: every way has its proof, and they go together
  // place by place.
  using PlaceKey = std::pair<std::uint32_t, std::uint32_t>;
  struct Ways {
    std::vector<PlaceKey> places;
    std::map<std::vector<Number>, const Placing*> proofs;
    std::vector<Number> chosen;
  };
  Rejection placings(const std::vector<Placing>& all) {
    Ways ways;
    if (all.empty() || all.front().places.empty()) return std::string("no place");
    for (const Place& p : all.front().places) ways.places.emplace_back(p.key, p.position);
    std::sort(ways.places.begin(), ways.places.end());
    for (const Placing& placing : all) {
      std::map<PlaceKey, Number> at;
      for (const Place& p : placing.places) at[{p.key, p.position}] = p.operation;
      std::vector<Number> appends;
      for (const PlaceKey& place : ways.places) {
        const auto there = at.find(place);
        if (there == at.end()) return std::string("placings of other places");
        appends.push_back(there->second);
      }
      ways.proofs[appends] = &placing;
    }
    return fill(ways);
  }
  // Those chosen so far lead to a contradiction, which becomes last_.
  Rejection fill(Ways& ways) {
    if (ways.chosen.size() == ways.places.size()) {
      const auto proof = ways.proofs.find(ways.chosen);
      if (proof == ways.proofs.end()) return std::string("a placing is missing");
      return one_way(*proof->second);
    }
    const KeyId key(ways.places[ways.chosen.size()].first);
    const std::uint32_t place = ways.places[ways.chosen.size()].second;
    const auto read = longest_read(key);
    if (!read || place >= read->seen.list.size()) return std::string("a read has no line");
    Clauses from;
    stands(*read, key, place, from);
    for (const Written& w : s_.written(key, read->seen.list[place])) {
      const auto block = c_.counts(w.txn) ? block_of(w.op, key, place) : std::nullopt;
      if (!block) continue;
      if (const auto there = place_of(ways, w.op)) {  // one append has one place
        if (const auto other = block_of(w.op, key, *there)) places(key, *block, *other, from);
        continue;
      }
      ways.chosen.push_back(w.op.raw);
      assumed_.push_back(begins(key, block->txn, block->at).negated());
      auto why = fill(ways);
      assumed_.pop_back();
      ways.chosen.pop_back();
      if (why) return why;
      from.push_back(*last_);
    }
    return concluded(from, "the placings do not go together");
  }
  [[nodiscard]] std::optional<std::uint32_t> place_of(const Ways& ways, OpId append) const {
    const auto chosen = std::find(ways.chosen.begin(), ways.chosen.end(), append.raw);
    if (chosen == ways.chosen.end()) return c_.place_of(append);
    return ways.places[static_cast<std::size_t>(chosen - ways.chosen.begin())].second;
  }
  Rejection one_way(const Placing& placing) {
    for (const Place& p : placing.places) c_.place(KeyId(p.key), p.position, OpId(p.operation));
    Translation inner(c_, checked_, out_, text_);
    inner.assumed_ = assumed_;
    auto why = inner.body(placing.proof);
    for (const Place& p : placing.places) c_.unplace(KeyId(p.key), p.position);
    last_ = inner.last_;
    return why;
  }
  [[nodiscard]] std::optional<ReadAt> longest_read(KeyId key) const {
    const auto longest = s_.longest_list(key);
    for (std::uint32_t t = 0; t < h_.txn_count(); ++t) {
      if (!s_.committed(TxnId(t))) continue;
      for (auto i = h_.first_op(TxnId(t)); i < h_.last_op(TxnId(t)); ++i) {
        const auto op = h_.op(OpId(i));
        if (op.kind == OpKind::kListRead && op.key == key && h_.list_known(op) &&
            h_.list(op).data() == longest.data() && h_.list(op).size() == longest.size())
          return read_at(OpId(i), key);
      }
    }
    return std::nullopt;
  }

  Context& c_;
  Subject& s_;
  const History& h_;
  const Shape shape_;
  const Checked checked_;
  ClauseText& out_;
  std::string& text_;
  Literals assumed_;  // negations of what is assumed in this case
  Rejection trouble_;
  std::optional<Clause> last_;
  std::map<Number, EdgeClause> edges_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Clause> known_;  // by reader and place
  std::map<std::array<std::uint32_t, 3>, Clause> excluded_;          // and writer
  std::map<std::array<std::uint32_t, 3>, Clause> stands_;            // and place in the list
};

}  // namespace

Rejection write_refutation(Context& context, const Body& body, Checked checked, std::string& text) {
  std::string lines;
  ClauseText out(lines);
  auto why = Translation(context, checked, out, lines).body(body);
  if (!why) text += lines;
  return why;
}

}  // namespace cupel::certify
