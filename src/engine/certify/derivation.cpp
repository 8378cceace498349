// shows_contradiction: see the header, and docs/reference/formats/certificate.md for each rule.
// The comments here say why a rule is sound: why in every execution under the level
// (see context.hpp for who counts in one) the edge is there, if its choices hold.
#include "engine/certify/derivation.hpp"

#include <fmt/format.h>

#include <tuple>

#include "base/hash_table.hpp"
#include "engine/certify/propagate.hpp"

namespace cupel::certify {

namespace {

using history::OpKind;

struct Event {
  TxnId txn;
  Point point = Point::kWhole;
  friend bool operator==(const Event&, const Event&) = default;
};

// A literal: the number of a fact that may hold or not, negative if it does not.
using Literal = std::int32_t;
using Literals = std::vector<Literal>;  // sorted, each once

// What a literal says. Of `before`, the smaller transaction comes first; the larger one
// before the smaller is its negation, as every execution puts them in some order.
struct Fact {
  bool is_before = false;
  TxnId first = {}, second = {};
  OpId read = {};
  KeyId key = {};
  TxnId writer = {};
  Bound bound = Bound::kExact;

  friend bool operator==(const Fact&, const Fact&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const Fact& f) {
    return H::combine(std::move(h), f.is_before, f.first, f.second, f.read, f.key, f.writer,
                      static_cast<int>(f.bound));
  }
};

class Check {
 public:
  Check(Context& context, const Derivation& derivation)
      : c_(context),
        s_(context.subject()),
        h_(context.history()),
        shape_(context.shape()),
        d_(derivation) {}

  Rejection run() {
    if (auto wrong = enter_choices()) return wrong;
    rests_on_.resize(d_.edges.size());
    for (std::size_t i = 0; i < d_.edges.size(); ++i) {
      const Edge& e = d_.edges[i];
      if (auto wrong = edge(static_cast<Number>(i), e)) {
        return fmt::format("edge {} ({}, {}): {}", i, name_of(e.kind), name_of(e.reason), *wrong);
      }
    }
    if (!d_.by_clauses) {
      Literals under;
      if (auto wrong = cycle(d_.cycle, static_cast<Number>(d_.edges.size()), under))
        return "cycle: " + *wrong;
      if (under.empty()) return std::nullopt;
      return "cycle: it holds under a choice (" + said(under.front()) + "), expected none";
    }
    return refuted();
  }

 private:
  // --- words ---

  [[nodiscard]] std::string said(Literal literal) const {
    const Fact& f = facts_[static_cast<std::size_t>(std::abs(literal)) - 1];
    if (f.is_before) {
      return fmt::format("transaction {} before {}", (literal > 0 ? f.first : f.second).raw,
                         (literal > 0 ? f.second : f.first).raw);
    }
    const auto writer = f.writer.valid() ? fmt::format("transaction {}", f.writer.raw)
                                         : std::string("the initial transaction");
    return fmt::format("operation {} saw {}{} of key {}", f.read.raw, writer,
                       f.bound == Bound::kEarlier ? " or an earlier one"
                       : f.bound == Bound::kLater ? " or a later one"
                                                  : "",
                       f.key.raw);
  }

  // --- facts and choices ---

  Literal literal(const Fact& fact) {
    const auto [it, fresh] = number_of_.try_emplace(fact, static_cast<Literal>(facts_.size() + 1));
    if (fresh) facts_.push_back(fact);
    return it->second;
  }
  Literal before(TxnId a, TxnId b) {
    return a < b ? literal({.is_before = true, .first = a, .second = b})
                 : -literal({.is_before = true, .first = b, .second = a});
  }
  Literal saw(OpId read, KeyId key, TxnId writer, Bound bound) {
    return literal({.read = read, .key = key, .writer = writer, .bound = bound});
  }
  static void add(Literals& to, Literal l) {
    const auto it = std::lower_bound(to.begin(), to.end(), l);
    if (it == to.end() || *it != l) to.insert(it, l);
  }
  static void add(Literals& to, const Literals& more) {
    if (more.empty()) return;
    if (to.empty()) {
      to = more;
      return;
    }
    Literals both;
    both.reserve(to.size() + more.size());
    std::set_union(to.begin(), to.end(), more.begin(), more.end(), std::back_inserter(both));
    to = std::move(both);
  }

  // Session order puts `earlier` before `later` in every execution.
  [[nodiscard]] bool in_session(TxnId earlier, TxnId later) const {
    return shape_.session_order && s_.committed(earlier) && earlier < later &&
           h_.session(earlier) == h_.session(later);
  }
  // If the read saw w, is the fact true? (Of a fact about another read: no.)
  [[nodiscard]] bool follows_from_seeing(Literal l, OpId read, KeyId key, TxnId w) const {
    if (l < 0) return false;
    const Fact& f = facts_[static_cast<std::size_t>(l) - 1];
    if (f.is_before || f.read != read || f.key != key) return false;
    if (f.writer == w) return true;
    if (!f.writer.valid() || !w.valid()) return false;
    if (f.bound == Bound::kEarlier) return in_session(w, f.writer);
    return f.bound == Bound::kLater && in_session(f.writer, w);
  }

  Rejection bound_is_defined(Bound bound, TxnId writer) const {
    if (bound == Bound::kExact) return std::nullopt;
    if (!shape_.session_order)
      return std::string("found a bound, but the level has no session order");
    if (!writer.valid())
      return std::string("found a bound, but the initial transaction has no session");
    return std::nullopt;
  }

  Rejection enter_choices() {
    for (std::size_t i = 0; i < d_.choices.size(); ++i) {
      const Choice& c = d_.choices[i];
      const auto wrong = [i](std::string_view what) {
        return fmt::format("choices[{}]: {}", i, what);
      };
      Literal l = 0;
      if (c.is_before) {
        const TxnId a(c.first), b(c.second);
        if (a == b) return wrong("found one transaction twice");
        if (!c_.counts(a) || !c_.counts(b)) return wrong("found a transaction that does not count");
        const auto common = s_.final_writes(a);
        const bool any = std::any_of(common.begin(), common.end(),
                                     [&](const FinalWrite& w) { return s_.writes_key(b, w.key); });
        if (!any) return wrong("the two write no key in common");
        l = before(a, b);
      } else {
        const TxnId w = c.writer == kNone ? TxnId::none() : TxnId(c.writer);
        const auto asked = c_.candidates(OpId(c.read), KeyId(c.key));
        if (asked.rejection) return wrong(*asked.rejection);
        if (!asked.candidates.contains(w))
          return wrong("the read cannot have seen this writer's version");
        if (auto why = bound_is_defined(c.bound, w)) return wrong(*why);
        l = saw(OpId(c.read), KeyId(c.key), w, c.bound);
      }
      const auto variable = static_cast<Literal>(i + 1);
      if (!variable_of_.try_emplace(std::abs(l), l > 0 ? variable : -variable).second)
        return wrong("found the same choice twice");
    }
    return std::nullopt;
  }

  // --- events and paths ---

  [[nodiscard]] Event begin(TxnId t) const {
    return {t, shape_.begin_and_commit ? Point::kBegin : Point::kWhole};
  }
  [[nodiscard]] Event commit(TxnId t) const {
    return {t, shape_.begin_and_commit ? Point::kCommit : Point::kWhole};
  }
  // Where a ww edge into the transaction ends.
  [[nodiscard]] Event target(TxnId t) const { return shape_.no_overlap ? begin(t) : commit(t); }
  [[nodiscard]] Event from(const Edge& e) const { return {TxnId(e.from), e.from_point}; }
  [[nodiscard]] Event to(const Edge& e) const { return {TxnId(e.to), e.to_point}; }

  [[nodiscard]] std::string shown_event(Event e) const {
    return fmt::format("{}transaction {}",
                       e.point == Point::kBegin    ? "the begin of "
                       : e.point == Point::kCommit ? "the commit of "
                                                   : "",
                       e.txn.raw);
  }

  // Each edge ends where the next begins, and none is a fact without ends. `limit`: only
  // edges before this one.
  Rejection joined(const std::vector<Number>& path, Number limit) const {
    if (path.empty()) return std::string("expected at least one edge");
    for (std::size_t i = 0; i < path.size(); ++i) {
      if (path[i] >= limit)
        return fmt::format("found edge {}, expected one before edge {}", path[i], limit);
      const Edge& e = d_.edges[path[i]];
      if (e.kind == EdgeKind::kSaw)
        return fmt::format("edge {} says what a read saw, and leads nowhere", path[i]);
      if (i == 0) continue;
      const Event here = to(d_.edges[path[i - 1]]);
      if (here == from(e)) continue;
      return fmt::format("edge {} ends in {}, and the next, {}, begins in {}", path[i - 1],
                         shown_event(here), path[i], shown_event(from(e)));
    }
    return std::nullopt;
  }
  Rejection path(const std::vector<Number>& edges, Number limit, Event start, Event end,
                 Literals& under) const {
    if (auto wrong = joined(edges, limit)) return wrong;
    const Event first = from(d_.edges[edges.front()]), last = to(d_.edges[edges.back()]);
    if (first != start)
      return fmt::format("the path begins in {}, expected {}", shown_event(first),
                         shown_event(start));
    if (last != end)
      return fmt::format("the path ends in {}, expected {}", shown_event(last), shown_event(end));
    for (const auto i : edges) add(under, rests_on_[i]);
    return std::nullopt;
  }

  // Weak levels: a path that makes k visible to the read, as phi has it. Its edges are so
  // and wr only, since co is no part of phi.
  Rejection visible(const std::vector<Number>& edges, Number limit, TxnId k, TxnId reader,
                    OpId read, Literals& under) const {
    if (auto wrong = path(edges, limit, commit(k), begin(reader), under)) return wrong;
    for (const auto i : edges) {
      const Edge& e = d_.edges[i];
      if (e.kind != EdgeKind::kSo && e.kind != EdgeKind::kWr) {
        return fmt::format("edge {} is {}, and only so and wr make a transaction visible", i,
                           name_of(e.kind));
      }
      // "Or a later one" leads through the session: more than one step.
      if (e.bound != Bound::kExact && shape_.phi != Phi::kCausal) {
        return fmt::format("edge {} has a bound, and the level asks for one step", i);
      }
    }
    const Edge& only = d_.edges[edges.front()];
    if (shape_.phi != Phi::kCausal && edges.size() != 1)
      return fmt::format("found {} edges, expected one", edges.size());
    if (shape_.phi == Phi::kEarlierRead &&
        (only.kind != EdgeKind::kWr || OpId(only.read) >= read)) {
      return fmt::format("edge {} is not of an earlier read of the transaction", edges.front());
    }
    return std::nullopt;
  }

  // A cycle: all its edges are steps of one order. At a weak level rw is no step of co, but
  // says: who writes the key may not be visible to this read of the initial version.
  Rejection cycle(const std::vector<Number>& edges, Number limit, Literals& under) const {
    if (auto wrong = joined(edges, limit)) return wrong;
    const Event end = to(d_.edges[edges.back()]), start = from(d_.edges[edges.front()]);
    if (end != start)
      return fmt::format("it ends in {} and begins in {}", shown_event(end), shown_event(start));
    for (const auto i : edges) add(under, rests_on_[i]);
    if (!shape_.is_weak()) return std::nullopt;
    const auto is_rw = [this](Number i) { return d_.edges[i].kind == EdgeKind::kRw; };
    const auto it = std::find_if(edges.begin(), edges.end(), is_rw);
    if (it == edges.end()) return std::nullopt;
    std::vector<Number> rest(it + 1, edges.end());
    rest.insert(rest.end(), edges.begin(), it);
    const Edge& rw = d_.edges[*it];
    Literals unused;
    return visible(rest, limit, TxnId(rw.to), TxnId(rw.from), OpId(rw.read), unused);
  }

  // --- edges ---

  Rejection edge(Number i, const Edge& e) {
    const TxnId a(e.from), b(e.to);
    if (!c_.counts(a) || !c_.counts(b))
      return fmt::format("{} does not count", shown(s_, c_.counts(a) ? b : a));
    if (e.kind == EdgeKind::kSaw) return saw_initial(i, e);
    const bool split = shape_.begin_and_commit;
    if (split != (e.from_point != Point::kWhole)) {
      return std::string(split ? "expected `at`, which events of the transactions are meant"
                               : "found `at`, but at this level a transaction is one event");
    }
    if (e.kind == EdgeKind::kOwn) {
      if (a == b && from(e) == begin(a) && to(e) == commit(a) && split) return std::nullopt;
      return std::string("expected the begin and the commit of one transaction");
    }
    if (a == b) return std::string("expected two transactions");
    // Linearizable is asked key by key; a path must not lead from one to another.
    if (shape_.one_object && (s_.only_key(a) != s_.only_key(b) || !s_.only_key(a).valid())) {
      return std::string("the two touch different keys, or none");
    }
    switch (e.kind) {
      case EdgeKind::kSo:
        return so(a, b);
      case EdgeKind::kRt:
        return rt(e, a, b);
      case EdgeKind::kWr:
        return wr(i, e, a, b);
      case EdgeKind::kWw:
        return ww(i, e, a, b);
      default:
        return rw(i, e, a, b);
    }
  }

  // The commit of a is before the begin of b, and so is every event of a before any of b.
  Rejection so(TxnId a, TxnId b) const {
    if (!shape_.session_order) return std::string("the level has no session order");
    if (h_.session(a) != h_.session(b) || a > b)
      return std::string("expected an earlier transaction of the same session");
    if (!s_.committed(a))
      return fmt::format("{} is indeterminate, and nothing follows it in its session",
                         shown(s_, a));
    return std::nullopt;
  }
  Rejection rt(const Edge& e, TxnId a, TxnId b) const {
    if (!shape_.real_time()) return std::string("the level has no real time");
    if (!s_.committed(a))
      return fmt::format("{} is indeterminate: nobody knows when it completed", shown(s_, a));
    if (!s_.before_in_real_time(a, b, c_.drift())) {
      return fmt::format(
          "{} completed at {}, not before {} was invoked at {}, the drift allowed for",
          shown(s_, a), h_.complete(a), shown(s_, b), h_.invoke(b));
    }
    if (!shape_.begins_in_real_time && to(e) != commit(b))
      return std::string("at this level real time is about commits");
    return std::nullopt;
  }

  Rejection ends(const Edge& e, Event start, Event end) const {
    if (from(e) != start)
      return fmt::format("it begins in {}, expected {}", shown_event(from(e)), shown_event(start));
    if (to(e) != end)
      return fmt::format("it ends in {}, expected {}", shown_event(to(e)), shown_event(end));
    return std::nullopt;
  }
  // `op` is the last write of t to the key.
  Rejection last_write(Number op, TxnId t, KeyId key) const {
    const OpId last = s_.final_write(t, key);
    if (!last.valid()) return fmt::format("{} does not write {}", shown(s_, t), shown_key(s_, key));
    if (OpId(op) == last) return std::nullopt;
    return fmt::format("found operation {}, but the last write of {} by {} is operation {}", op,
                       shown_key(s_, key), shown(s_, t), last.raw);
  }

  // The edge needs that the read saw w: known, or a choice it rests on.
  Rejection needs_seen(Number i, const Edge& e, TxnId reader, TxnId w) {
    const OpId read(e.read);
    const KeyId key(e.key);
    const auto asked = c_.candidates(read, key);
    if (asked.rejection) return asked.rejection;
    if (asked.reader != reader)
      return fmt::format("operation {} is not of transaction {}", e.read, reader.raw);
    if (!asked.candidates.contains(w)) {
      return fmt::format("operation {} cannot have seen {}'s version of {}", e.read,
                         w.valid() ? shown(s_, w) : "the initial transaction", shown_key(s_, key));
    }
    if (auto wrong = bound_is_defined(e.bound, w)) return wrong;
    const auto known = known_.find({read.raw, key.raw});
    if (asked.candidates.only(w) || (known != known_.end() && known->second == w))
      return std::nullopt;
    add(rests_on_[i], saw(read, key, w, e.bound));
    return std::nullopt;
  }

  // All who can be meant but w are excluded: in a cycle that holds if the read saw them.
  // With `but_initial` it is the initial version that is left.
  Rejection only_writer(Number i, const Edge& e, TxnId reader, TxnId w) {
    const OpId read(e.read);
    const KeyId key(e.key);
    const auto asked = c_.candidates(read, key);
    if (asked.rejection) return asked.rejection;
    if (asked.reader != reader)
      return fmt::format("operation {} is not of transaction {}", e.read, reader.raw);
    if (!asked.candidates.contains(w))
      return fmt::format("operation {} cannot have seen this writer's version", e.read);
    base::HashSet<TxnId> excluded;
    for (const Exclusion& x : e.excluded) {
      const TxnId other = x.writer == kNone ? TxnId::none() : TxnId(x.writer);
      const auto who = other.valid() ? shown(s_, other) : std::string("the initial transaction");
      if (other == w || !asked.candidates.contains(other))
        return "excluded: " + who + " need not be, and cannot";
      if (!excluded.insert(other).second) return "excluded: " + who + " stands there twice";
      Literals under;
      if (auto wrong = cycle(x.cycle, i, under)) return "excluded: " + who + ": " + *wrong;
      for (const Literal l : under) {
        if (!follows_from_seeing(l, read, key, other)) {
          return fmt::format("excluded: {}: the cycle holds under another choice ({})", who,
                             said(l));
        }
      }
    }
    if (excluded.size() + 1 == asked.candidates.size()) {
      known_[{read.raw, key.raw}] = w;
      return std::nullopt;
    }
    return fmt::format("{} may have been read from, but {} are excluded", asked.candidates.size(),
                       excluded.size());
  }

  Rejection saw_initial(Number i, const Edge& e) {
    if (e.from != e.to) return std::string("expected the reader as `from` and `to`");
    if (e.from_point != Point::kWhole)
      return std::string("found `at`, but what a read saw is no edge");
    if (e.writer != kNone)
      return std::string("expected null, the initial transaction, as the writer");
    return only_writer(i, e, TxnId(e.from), TxnId::none());
  }

  Rejection wr(Number i, const Edge& e, TxnId w, TxnId reader) {
    if (auto wrong = ends(e, commit(w), begin(reader))) return wrong;
    if (auto wrong = last_write(e.write, w, KeyId(e.key))) return wrong;
    if (e.reason == Reason::kOnlyWriter) return only_writer(i, e, reader, w);
    if (e.bound == Bound::kEarlier)
      return std::string(
          "found the bound `earlier`, and what is earlier than the writer need not be before the "
          "reader");
    if (auto wrong = needs_seen(i, e, reader, w)) return wrong;
    if (e.reason == Reason::kGiven && !rests_on_[i].empty()) {
      return fmt::format("operation {} may have seen another transaction's version", e.read);
    }
    return std::nullopt;
  }

  Rejection both_write(const Edge& e, TxnId a, TxnId b) const {
    if (auto wrong = last_write(e.writes[0], a, KeyId(e.key))) return wrong;
    return last_write(e.writes[1], b, KeyId(e.key));
  }

  // Of two writers of a key, a is before b: then the commit of a is before the target of b.
  Rejection ww(Number i, const Edge& e, TxnId a, TxnId b) {
    if (auto wrong = ends(e, commit(a), target(b))) return wrong;
    if (auto wrong = both_write(e, a, b)) return wrong;
    switch (e.reason) {
      case Reason::kListOrder:
        return list_order(e, a, b);
      case Reason::kNoOverlap:
        // a's target before b's commit: b before a would put b's commit before a's target.
        if (shape_.is_weak()) return std::string("at this level a transaction is no interval");
        return path(e.because, i, target(a), commit(b), rests_on_[i]);
      case Reason::kAssumed:
        add(rests_on_[i], before(a, b));
        return std::nullopt;
      default:
        break;
    }
    // Visible: with b before a the reader's begin would be before a's commit. If the read saw
    // an earlier b' of b's session: the same with b', which is before b (a may be b').
    if (e.bound == Bound::kLater)
      return std::string(
          "found the bound `later`, and what is later than the writer need not be after `from`");
    const TxnId reader = s_.txn_of(OpId(e.read));
    if (auto wrong = needs_seen(i, e, reader, b)) return wrong;
    if (shape_.is_weak()) return visible(e.because, i, a, reader, OpId(e.read), rests_on_[i]);
    return path(e.because, i, commit(a), begin(reader), rests_on_[i]);
  }

  // A transaction's appends to a list stand together, and all lists read are the beginning of
  // one: so one element of a before one of b is enough.
  Rejection list_order(const Edge& e, TxnId a, TxnId b) const {
    const OpId read(e.read);
    const auto op = h_.op(read);
    const KeyId key(e.key);
    if (op.kind != OpKind::kListRead || op.key != key || !h_.list_known(op) ||
        !s_.committed(s_.txn_of(read))) {
      return fmt::format("operation {} is no list read of {}", e.read, shown_key(s_, key));
    }
    const auto list = h_.list(op);
    // The first place that is known to be a's.
    base::HashSet<OpId> known;                // appends at places before that
    base::HashSet<ValueId> elements_unknown;  // elements there of which it is not known whose
    bool found = false;
    for (std::size_t p = 0; p < list.size() && !found; ++p) {
      const OpId append = c_.append_at(key, p, list[p]);
      if (!append.valid()) {
        elements_unknown.insert(list[p]);
        continue;
      }
      found = s_.txn_of(append) == a;
      known.insert(append);
    }
    if (!found)
      return fmt::format("the list has no element that is known to be of {}", shown(s_, a));
    // Some append of b cannot precede it.
    for (auto i = h_.first_op(b); i < h_.last_op(b); ++i) {
      const auto append = h_.op(OpId(i));
      if (append.kind != OpKind::kAppend || append.key != key) continue;
      if (!known.contains(OpId(i)) && !elements_unknown.contains(append.value)) return std::nullopt;
    }
    return fmt::format("no append of {} is known to follow one of {}", shown(s_, b), shown(s_, a));
  }

  // The reader saw an older version than b's, so it began before b committed.
  Rejection rw(Number i, const Edge& e, TxnId reader, TxnId b) {
    if (auto wrong = ends(e, begin(reader), commit(b))) return wrong;
    const KeyId key(e.key);
    const OpId last = s_.final_write(b, key);
    if (auto wrong = last_write(e.write == kNone ? last.raw : e.write, b, key)) return wrong;
    const TxnId w = e.writer == kNone ? TxnId::none() : TxnId(e.writer);
    if (e.reason == Reason::kInitial && w.valid())
      return std::string("expected null, the initial transaction, as the writer");
    if (e.reason == Reason::kOverwritten && !w.valid())
      return std::string("expected a writer other than the initial transaction");
    if (auto wrong = needs_seen(i, e, reader, w)) return wrong;
    if (!w.valid()) {
      if (e.has_because && !e.because.empty())
        return std::string("found `because`, but everybody overwrites the initial version");
      return std::nullopt;
    }
    if (shape_.is_weak())
      return std::string("at this level rw edges are of the initial version only");
    if (w == b) return fmt::format("{} does not overwrite its own version", shown(s_, b));
    if (!s_.writes_key(w, key))
      return fmt::format("{} does not write {}", shown(s_, w), shown_key(s_, key));
    if (e.has_because) return path(e.because, i, target(w), commit(b), rests_on_[i]);
    add(rests_on_[i], before(w, b));
    return std::nullopt;
  }

  // --- clauses ---

  Rejection refuted() {
    Propagator propagator(d_.choices.size());
    for (std::size_t i = 0; i < d_.clauses.size(); ++i) {
      Literals under;
      if (auto wrong = cycle(d_.clauses[i], static_cast<Number>(d_.edges.size()), under)) {
        return fmt::format("clauses[{}]: {}", i, *wrong);
      }
      Literals clause;
      for (const Literal l : under) {
        const auto it = variable_of_.find(std::abs(l));
        if (it == variable_of_.end())
          return fmt::format("clauses[{}]: it holds under what is none of the choices ({})", i,
                             said(l));
        clause.push_back(l > 0 ? -it->second : it->second);
      }
      propagator.add_clause(clause);
    }
    add_axioms(propagator);
    for (std::size_t i = 0; i < d_.refutation.size(); ++i) {
      if (!propagator.follows(d_.refutation[i]))
        return fmt::format("refutation[{}]: it does not follow by unit propagation", i);
      propagator.add_clause(d_.refutation[i]);
    }
    if (d_.refutation.empty() || !d_.refutation.back().empty())
      return std::string("refutation: it does not end in the empty clause");
    return std::nullopt;
  }

  // Every read sees one of its possible writers; and what the bounds mean.
  void add_axioms(Propagator& propagator) {
    base::HashMap<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::size_t>>
        of_read;                                                 // choices
    std::vector<std::pair<std::uint32_t, std::uint32_t>> reads;  // in the order of the choices
    for (std::size_t i = 0; i < d_.choices.size(); ++i) {
      const Choice& c = d_.choices[i];
      if (c.is_before) continue;
      auto& of = of_read[{c.read, c.key}];
      if (of.empty()) reads.emplace_back(c.read, c.key);
      of.push_back(i);
    }
    for (const auto& read : reads) {
      const auto& of = of_read[read];
      const auto asked = c_.candidates(OpId(read.first), KeyId(read.second));
      Literals one;
      for (const auto i : of) {
        if (d_.choices[i].bound == Bound::kExact) one.push_back(static_cast<Literal>(i + 1));
      }
      if (one.size() == asked.candidates.size()) propagator.add_clause(one);
      add_bounds(propagator, of);
    }
  }

  // "W or an earlier one" follows from W, and from the same of whoever is before W in session
  // order; likewise later ones. Choices of one bound are a chain along each session, which
  // only committed transactions carry on.
  void add_bounds(Propagator& propagator, const std::vector<std::size_t>& of) {
    std::vector<std::size_t> sorted = of;
    std::erase_if(sorted, [this](std::size_t i) { return d_.choices[i].writer == kNone; });
    const auto writer = [this](std::size_t i) { return TxnId(d_.choices[i].writer); };
    const auto implies = [&](std::size_t x, std::size_t y) {
      const Literal clause[] = {-static_cast<Literal>(x + 1), static_cast<Literal>(y + 1)};
      propagator.add_clause(clause);
    };
    // The exact choice of a writer before its bounded one, in both directions.
    const auto chain = [&](Bound bound, const auto& first) {
      std::sort(sorted.begin(), sorted.end(), [&](std::size_t x, std::size_t y) {
        if (writer(x) != writer(y)) return first(writer(x), writer(y));
        return d_.choices[x].bound == Bound::kExact && d_.choices[y].bound != Bound::kExact;
      });
      for (std::size_t i = 0; i < sorted.size(); ++i) {
        const std::size_t x = sorted[i];
        if (d_.choices[x].bound != Bound::kExact && d_.choices[x].bound != bound) continue;
        for (std::size_t j = i + 1; j < sorted.size(); ++j) {
          const std::size_t y = sorted[j];
          if (d_.choices[y].bound != bound) continue;
          const TxnId v = writer(x), w = writer(y);
          const bool related =
              v == w || (bound == Bound::kEarlier ? in_session(v, w) : in_session(w, v));
          if (!related && h_.session(v) != h_.session(w)) break;
          if (related) implies(x, y);
          if (related && s_.committed(w))
            break;  // what follows from x from here on, follows from y
        }
      }
    };
    chain(Bound::kEarlier, [](TxnId v, TxnId w) { return v < w; });
    chain(Bound::kLater, [](TxnId v, TxnId w) { return v > w; });
  }

  Context& c_;
  Subject& s_;
  const History& h_;
  const Shape shape_;
  const Derivation& d_;
  std::vector<Fact> facts_;
  base::HashMap<Fact, Literal> number_of_;
  base::HashMap<Literal, Literal> variable_of_;  // of a fact's number; negative: of its negation
  std::vector<Literals> rests_on_;               // by edge
  base::HashMap<std::pair<std::uint32_t, std::uint32_t>, TxnId> known_;  // by read and key
};

}  // namespace

Rejection shows_contradiction(Context& context, const Derivation& derivation) {
  return Check(context, derivation).run();
}

}  // namespace cupel::certify
