// Weak list order: see the header.
#include "crdt/solve/weak_list_order.hpp"

#include <algorithm>
#include <bit>
#include <initializer_list>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/solver/clause_solver.hpp"

namespace cupel::crdt {

namespace {

using solver::Literal;
using solver::SolveResult;

// What happens to one key at one replica after the other.
struct EventOfKey {
  enum class What : std::uint8_t {
    kReplica,  // begins
    kAppear,   // the character `of` is shown from now on
    kVanish,
    kInsert,   // the operation `of` adds a character, which is not shown yet
    kUpdated,  // what is shown now is what the update `of` leaves
    kRead,     // what is shown now is what the read `of` returns
  };
  What what;
  std::uint32_t of;
};

using EventsOfKey = std::vector<EventOfKey>;

// By key.
std::vector<EventsOfKey> events_of_keys(const KnownContext& context) {
  const History& h = context.history;
  std::vector<EventsOfKey> events(h.keys.size());
  std::vector<bool> added, removed;
  std::uint32_t replica = 0;
  const auto change = [&](OpId update) {
    const Operation& op = h.ops[update];
    for (const auto e : h.changed(op)) {
      const bool before = added[e] && !removed[e];
      (op.kind == Kind::kInsert ? added : removed)[e] = true;
      const bool now = added[e] && !removed[e];
      if (now != before)
        events[op.key].push_back({now ? EventOfKey::What::kAppear : EventOfKey::What::kVanish, e});
    }
  };
  replay(
      context,
      [&](std::uint32_t r) {
        replica = r;
        added.assign(h.elements.size(), false);
        removed.assign(h.elements.size(), false);
        for (auto& of_key : events) of_key.push_back({EventOfKey::What::kReplica, r});
      },
      [&](OpId update) {
        if (h.ops[update].replica != replica) change(update);
      },
      [&](OpId id) {
        if (context.budget.exceeded()) return false;
        const Operation& op = h.ops[id];
        auto& of_key = events[op.key];
        if (is_read(op.kind)) return of_key.push_back({EventOfKey::What::kRead, id}), true;
        if (op.kind == Kind::kInsert) of_key.push_back({EventOfKey::What::kInsert, id});
        change(id);
        of_key.push_back({EventOfKey::What::kUpdated, id});
        return true;
      });
  return events;
}

using Bits = std::vector<std::uint64_t>;
constexpr std::size_t kWordBits = 64;

bool has(const Bits& bits, std::size_t i) {
  return (bits[i / kWordBits] >> (i % kWordBits) & 1U) != 0;
}
void put(Bits& bits, std::size_t i) {
  bits[i / kWordBits] |= std::uint64_t{1} << (i % kWordBits);
}
void take(Bits& bits, std::size_t i) {
  bits[i / kWordBits] &= ~(std::uint64_t{1} << (i % kWordBits));
}
template <typename Visit>
void for_each_bit(const Bits& bits, Visit visit) {
  for (std::size_t w = 0; w < bits.size(); ++w) {
    for (auto word = bits[w]; word != 0; word &= word - 1)
      visit(w * kWordBits + static_cast<std::size_t>(std::countr_zero(word)));
  }
}

class KeyOrder {
 public:
  // `number`: by element, its number among the characters of its key.
  KeyOrder(const KnownContext& context, const EventsOfKey& events,
           const std::vector<std::uint32_t>& characters, const std::vector<std::uint32_t>& number,
           const std::vector<OpId>& inserts, const std::vector<std::uint32_t>& neighbours)
      : context_(context),
        h_(context.history),
        events_(events),
        characters_(characters),
        number_(number),
        inserts_(inserts),
        neighbours_(neighbours),
        count_(characters.size()),
        words_((count_ + kWordBits - 1) / kWordBits),
        shown_by_(count_ * count_, kNone),
        known_(count_, Bits(words_, 0)),
        front_(count_, Bits(words_, 0)) {}

  void run(WeakListOrder& result) {
    if (!take_reads(result)) return;
    guess();
    take_events();
    if (context_.budget.exceeded()) return;
    for (;;) {
      assumed_.clear();
      for (const auto& [op, selector] : selectors_) assumed_.push_back(selector);
      const auto answer = solver_.solve(context_.budget, assumed_);
      if (answer == SolveResult::kGaveUp) return;
      if (answer == SolveResult::kUnsatisfiable) return blame(result);
      if (!add_cycles()) break;
      if (context_.budget.exceeded()) return;
    }
    for (const auto& [a, b] : pairs_) {
      const bool in_order = solver_.is_true(variables_.at(a * count_ + b));
      result.pairs.push_back(characters_[in_order ? a : b]);
      result.pairs.push_back(characters_[in_order ? b : a]);
    }
    result.verdict = Verdict::kSatisfied;
  }

 private:
  using Pair = std::pair<std::size_t, std::size_t>;
  // What an operation leaves, if no read says how it is ordered.
  struct State {
    OpId by;
    Bits shown;
  };

  // False: two reads disagree, or the budget ended.
  bool take_reads(WeakListOrder& result) {
    for (const EventOfKey& event : events_) {
      if (event.what != EventOfKey::What::kRead) continue;
      if (context_.budget.exceeded()) return false;
      const auto list = h_.list(h_.ops[event.of]);
      for (std::size_t i = 0; i < list.size(); ++i) {
        const std::size_t a = number_[list[i]];
        for (std::size_t k = i + 1; k < list.size(); ++k) {
          const std::size_t b = number_[list[k]];
          const OpId other = shown_by_[b * count_ + a];
          if (other != kNone) return disagree(result, {event.of, other}, list[i], list[k]), false;
          auto& by = shown_by_[a * count_ + b];
          if (by != kNone) continue;
          by = event.of;
          put(front_[a], b);
          put(known_[a], b);
          put(known_[b], a);
        }
      }
    }
    return true;
  }

  // The first read has a in front of b, the second one b in front of a.
  void disagree(WeakListOrder& result, std::pair<OpId, OpId> reads, std::uint32_t a,
                std::uint32_t b) const {
    result.verdict = Verdict::kViolated;
    result.operations = {reads.first, reads.second, inserts_[a], inserts_[b]};
    result.cycle = {{inserts_[a], inserts_[b], Why::kListed, reads.first, a, b},
                    {inserts_[b], inserts_[a], Why::kListed, reads.second, b, a}};
  }

  // One order, for what nothing else decides: each character directly after its neighbour.
  void guess() {
    std::vector<std::size_t> next(count_ + 1, count_);  // `count_`: the beginning, and the end
    for (std::size_t c = 0; c < count_; ++c) {
      const auto neighbour = neighbours_[characters_[c]];
      const std::size_t left = neighbour == kNone ? count_ : number_[neighbour];
      next[c] = std::exchange(next[left], c);
    }
    guess_.assign(count_, 0);
    std::size_t rank = 0;
    for (auto c = next[count_]; c != count_; c = next[c]) guess_[c] = rank++;
  }

  void take_events() {
    Bits shown(words_, 0);
    OpId pending = kNone;  // an update, after which nothing has vanished
    const auto keep = [&] {
      if (pending != kNone) states_.push_back({pending, shown});
      pending = kNone;
    };
    for (const EventOfKey& event : events_) {
      if (context_.budget.exceeded()) return;
      switch (event.what) {
        case EventOfKey::What::kReplica:
          keep();
          arriving_.clear();
          std::fill(shown.begin(), shown.end(), 0);
          break;
        case EventOfKey::What::kAppear:
          arriving_.push_back(number_[event.of]);
          break;
        case EventOfKey::What::kVanish:
          keep();
          settle(shown);
          take(shown, number_[event.of]);
          break;
        case EventOfKey::What::kInsert:
          settle(shown);
          place(event.of, shown);
          break;
        case EventOfKey::What::kUpdated:
          settle(shown);
          pending = event.of;
          break;
        case EventOfKey::What::kRead:  // it orders what was shown before, too
          settle(shown);
          pending = kNone;
          break;
      }
    }
    keep();
    for (const State& state : states_) open_pairs(state.shown);
  }

  // What has arrived since the last operation is visible to the next one, not to that.
  void settle(Bits& shown) {
    for (const auto c : arriving_) put(shown, c);
    arriving_.clear();
  }

  void place(OpId insert, const Bits& shown) {
    for (const auto e : h_.changed(h_.ops[insert])) {
      const std::size_t c = number_[e];
      const bool first = neighbours_[e] == kNone;
      const std::size_t left = first ? c : number_[neighbours_[e]];
      if (!first) add(insert, {{left, c}});
      for_each_bit(shown, [&](std::size_t x) {
        if (first) return add(insert, {{c, x}});
        if (x == left) return;
        add(insert, {{x, left}, {c, x}});
        add(insert, {{left, x}, {x, c}});
      });
    }
  }

  void open_pairs(const Bits& shown) {
    for_each_bit(shown, [&](std::size_t a) {
      for (std::size_t w = 0; w < words_; ++w) {
        for (auto word = shown[w] & ~known_[a][w]; word != 0; word &= word - 1) {
          const auto b = w * kWordBits + static_cast<std::size_t>(std::countr_zero(word));
          if (b != a) literal(a, b);
        }
      }
    });
  }

  // Of the pair's variable: true if a is in front.
  Literal literal(std::size_t a, std::size_t b) {
    if (a > b) return -literal(b, a);
    auto& variable = variables_[a * count_ + b];
    if (variable == 0) {
      variable = solver_.new_variable();
      solver_.prefer(guess_[a] < guess_[b] ? variable : -variable);
      put(known_[a], b);
      put(known_[b], a);
      pairs_.emplace_back(a, b);
    }
    return variable;
  }

  // The operation is part of the reason.
  Literal because(OpId op) {
    auto& selector = selectors_[op];
    if (selector == 0) selector = solver_.new_variable();
    return -selector;
  }

  // One of the pairs is in this order.
  void add(OpId by, std::initializer_list<Pair> fronts) {
    for (const auto& [a, b] : fronts) {
      if (shown_by_[a * count_ + b] != kNone) return;
    }
    clause_.assign(1, because(by));
    for (const auto& [a, b] : fronts) {
      clause_.push_back(because(inserts_[characters_[a]]));
      clause_.push_back(because(inserts_[characters_[b]]));
      const OpId read = shown_by_[b * count_ + a];
      clause_.push_back(read != kNone ? because(read) : literal(a, b));
    }
    std::sort(clause_.begin(), clause_.end());
    clause_.erase(std::unique(clause_.begin(), clause_.end()), clause_.end());
    solver_.add_clause(clause_);
  }

  // Forbids some cycles of what the solver chose. False: there are none.
  bool add_cycles() {
    std::vector<Bits> front = front_;
    for (const auto& [a, b] : pairs_) {
      const bool in_order = solver_.is_true(variables_.at(a * count_ + b));
      put(front[in_order ? a : b], in_order ? b : a);
    }
    std::set<std::vector<std::size_t>> done;
    std::vector<std::pair<std::size_t, std::size_t>> scores;
    for (const State& state : states_) {
      if (context_.budget.exceeded()) return true;
      scores.clear();
      for_each_bit(state.shown, [&](std::size_t a) {
        std::size_t score = 0;
        for (std::size_t w = 0; w < words_; ++w)
          score += static_cast<std::size_t>(std::popcount(front[a][w] & state.shown[w]));
        scores.emplace_back(score, a);
      });
      std::sort(scores.begin(), scores.end());
      for (std::size_t i = 1; i < scores.size(); ++i) {
        if (scores[i - 1].first == scores[i].first)
          forbid(state, front, {scores[i - 1].second, scores[i].second}, done);
      }
    }
    return !done.empty();
  }

  // Of two characters with as many behind them each, the first is behind one that is behind the
  // second.
  void forbid(const State& state, const std::vector<Bits>& front, Pair tied,
              std::set<std::vector<std::size_t>>& done) {
    auto [u, v] = tied;
    if (!has(front[u], v)) std::swap(u, v);
    for (std::size_t word = 0; word < words_; ++word) {
      const auto found = front[v][word] & state.shown[word] & ~front[u][word];
      if (found == 0) continue;
      const auto w = word * kWordBits + static_cast<std::size_t>(std::countr_zero(found));
      std::vector<std::size_t> cycle = {u, v, w};
      std::sort(cycle.begin(), cycle.end());
      if (done.insert(std::move(cycle)).second) add(state.by, {{v, u}, {w, v}, {u, w}});
      return;
    }
  }

  void blame(WeakListOrder& result) {
    result.verdict = Verdict::kViolated;
    for (const auto& [op, selector] : selectors_) {
      if (solver_.failed(selector)) result.operations.push_back(op);
    }
    std::sort(result.operations.begin(), result.operations.end());
  }

  const KnownContext& context_;
  const History& h_;
  const EventsOfKey& events_;
  const std::vector<std::uint32_t>& characters_;
  const std::vector<std::uint32_t>& number_;
  const std::vector<OpId>& inserts_;
  const std::vector<std::uint32_t>& neighbours_;
  const std::size_t count_, words_;
  std::vector<OpId> shown_by_;       // by pair: a read that has the first in front of the second
  std::vector<Bits> known_, front_;  // with a variable or by a read; by a read
  std::vector<std::size_t> guess_;
  std::vector<std::size_t> arriving_;
  std::vector<State> states_;
  solver::ClauseSolver solver_;
  std::unordered_map<std::size_t, Literal> variables_;  // by pair, the smaller one first
  std::vector<Pair> pairs_;                             // those with a variable
  std::unordered_map<OpId, Literal> selectors_;
  std::vector<Literal> assumed_, clause_;
};

}  // namespace

WeakListOrder weak_order_of_list(const KnownContext& context) {
  constexpr std::size_t kMostCharacters = 8000;
  const History& h = context.history;
  const auto inserts = inserts_of(h);
  const auto neighbours = neighbours_of(h);
  std::vector<std::vector<std::uint32_t>> characters(h.keys.size());
  std::vector<std::uint32_t> number(h.elements.size(), kNone);
  for (const OpId id : context.visibility.order()) {
    const Operation& op = h.ops[id];
    if (op.kind != Kind::kInsert) continue;
    for (const auto e : h.changed(op)) {
      number[e] = static_cast<std::uint32_t>(characters[op.key].size());
      characters[op.key].push_back(e);
    }
  }
  const auto events = events_of_keys(context);
  WeakListOrder result;
  bool too_large = false;
  for (std::uint32_t key = 0; key < h.keys.size(); ++key) {
    if (context.budget.exceeded()) return {};
    const auto count = characters[key].size();
    if (count > kMostCharacters || context.budget.would_exceed(count * count * sizeof(OpId))) {
      too_large = true;
      continue;
    }
    result.verdict = Verdict::kUnknown;
    KeyOrder(context, events[key], characters[key], number, inserts, neighbours).run(result);
    if (result.verdict != Verdict::kSatisfied) return result;
  }
  result.verdict = too_large ? Verdict::kUnknown : Verdict::kSatisfied;
  return result;
}

}  // namespace cupel::crdt
