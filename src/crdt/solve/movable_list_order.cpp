// Movable list order: see the header.
#include "crdt/solve/movable_list_order.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <queue>
#include <set>

#include "base/graph/digraph.hpp"
#include "base/leave_out.hpp"
#include "base/rank_set.hpp"
#include "crdt/solve/between_order.hpp"
#include "crdt/solve/keys.hpp"
#include "crdt/solve/pair_choices.hpp"
#include "crdt/solve/timestamps.hpp"

namespace cupel::crdt {

namespace {

bool makes_place(const Operation& op) {
  return op.kind == Kind::kInsert || op.kind == Kind::kMove;
}

// What cannot be, if these pairs of moves are so; without a pair, whatever their order.
struct PlaceConflict {
  std::set<OpId> demands;  // reads, and updates next to whose neighbour something stands
  std::set<std::uint32_t> elements;
  std::set<MovePair> pairs;
  std::uint32_t object = kNone;  // of one read: the element that it shows or does not show
  std::vector<Step> cycle = {};  // of places
  void add(const PlaceConflict& other) {
    demands.insert(other.demands.begin(), other.demands.end());
    elements.insert(other.elements.begin(), other.elements.end());
  }
};

// The order of the moves of each element, and choices of it.
class MoveRanks {
 public:
  // `moves`: by element, in an order that contains happens-before.
  MoveRanks(const KnownContext& context, const Timestamps& guess, std::span<const OpId> origin,
            const std::vector<std::vector<OpId>>& moves)
      : context_(context),
        h_(context.history),
        guess_(guess),
        origin_(origin),
        moves_(moves),
        rank_(h_.ops.size(), 0) {
    for (std::uint32_t e = 0; e < moves_.size(); ++e) rank(e, {});
  }

  // Among those of its element.
  [[nodiscard]] std::uint32_t of(OpId move) const { return rank_[move]; }

  // Orders of pairs of moves that avoid all of this.
  solver::SolveResult choose(const std::vector<PlaceConflict>& conflicts) {
    // What orders two moves may be a third one, unless happens-before is transitive.
    const bool transitive = h_.context.rule == DeliveryRule::kCausal;
    std::map<OpId, graph::Node> number;
    for (const PlaceConflict& conflict : conflicts) {
      for (const auto& [first, second] : conflict.pairs) {
        if (number.contains(first) && number.contains(second)) continue;
        number.try_emplace(first, 0);
        number.try_emplace(second, 0);
        if (transitive) continue;
        for (const OpId move : moves_[h_.ops[first].element]) number.try_emplace(move, 0);
      }
    }
    graph::Node count = 0;
    for (auto& [op, node] : number) node = count++;
    std::map<std::uint32_t, std::vector<OpId>> of_element;
    for (const auto& [op, node] : number) of_element[h_.ops[op].element].push_back(op);
    std::vector<graph::Arc> arcs;
    for (const auto& [e, moves] : of_element) {
      for (const OpId a : moves) {
        for (const OpId b : moves) {
          if (context_.visibility.sees(b, a)) arcs.push_back({number[a], number[b]});
        }
      }
    }
    const graph::Digraph known(count, arcs);
    PairChoices choices(
        known, [this](OpId a, OpId b) { return guessed_before(a, b); },
        [&](OpId move) { return number.at(move); });
    for (const PlaceConflict& conflict : conflicts) {
      std::vector<solver::Literal> none;
      for (const MovePair& pair : conflict.pairs) none.push_back(-choices.literal(pair));
      choices.solver().add_clause(none);
    }
    const auto answer = choices.solver().solve(context_.budget);
    if (answer != solver::SolveResult::kModel) return answer;
    std::map<std::uint32_t, std::vector<MovePair>> chosen;
    for (const MovePair& pair : choices.chosen())
      chosen[h_.ops[pair.first].element].push_back(pair);
    for (const auto& [e, pairs] : chosen) rank(e, pairs);
    return answer;
  }

 private:
  [[nodiscard]] bool guessed_before(OpId a, OpId b) const {
    return guess_.is_before(origin_[a], origin_[b]);
  }

  // Happens-before and these pairs, otherwise as guessed.
  void rank(std::uint32_t e, const std::vector<MovePair>& chosen) {
    const auto& moves = moves_[e];
    if (moves.size() < 2) return;
    const auto before = [&](OpId a, OpId b) { return guessed_before(a, b); };
    if (chosen.empty()) {
      auto sorted = moves;
      std::sort(sorted.begin(), sorted.end(), before);
      for (std::uint32_t i = 0; i < sorted.size(); ++i) rank_[sorted[i]] = i;
      return;
    }
    std::map<OpId, std::uint32_t> waiting;
    std::map<OpId, std::vector<OpId>> after;
    const auto add = [&](OpId a, OpId b) {
      after[a].push_back(b);
      ++waiting[b];
    };
    for (const OpId a : moves) {
      for (const OpId b : moves) {
        if (context_.visibility.sees(b, a)) add(a, b);
      }
    }
    for (const auto& [first, second] : chosen) add(first, second);
    const auto later = [&](OpId a, OpId b) { return before(b, a); };
    std::priority_queue<OpId, std::vector<OpId>, decltype(later)> ready(later);
    for (const OpId move : moves) {
      if (waiting[move] == 0) ready.push(move);
    }
    for (std::uint32_t next = 0; !ready.empty(); ++next) {
      const OpId move = ready.top();
      ready.pop();
      rank_[move] = next;
      for (const OpId other : after[move]) {
        if (--waiting[other] == 0) ready.push(other);
      }
    }
  }

  const KnownContext& context_;
  const History& h_;
  const Timestamps& guess_;
  const std::span<const OpId> origin_;
  const std::vector<std::vector<OpId>>& moves_;
  std::vector<std::uint32_t> rank_;  // by move
};

class MovableListSearch {
 public:
  // `demands`: by operation, whether it counts what it shows, and what its replica showed. `guess`
  // is of the history that the operations are of, as `origin` says.
  MovableListSearch(const KnownContext& context, const std::vector<bool>& demands,
                    const Timestamps& guess, std::span<const OpId> origin)
      : context_(context),
        h_(context.history),
        demands_(demands),
        node_of_(h_.ops.size(), kNone),
        target_(h_.ops.size(), kNone),
        moves_(h_.elements.size()),
        removes_(h_.elements.size()),
        listed_(h_.elements.size(), kNone) {
    for (const OpId id : context.visibility.order()) {
      if (makes_place(h_.ops[id])) op_of_.push_back(id);
      if (h_.ops[id].kind == Kind::kDelete) removes_[h_.ops[id].element].push_back(id);
    }
    std::stable_sort(op_of_.begin(), op_of_.end(),
                     [&](OpId a, OpId b) { return h_.ops[a].key < h_.ops[b].key; });
    key_begin_.assign(h_.keys.size() + 1, 0);
    for (std::uint32_t node = 0; node < op_of_.size(); ++node) {
      const Operation& op = h_.ops[op_of_[node]];
      node_of_[op_of_[node]] = node;
      moves_[op.element].push_back(op_of_[node]);
      ++key_begin_[op.key + 1];
    }
    for (std::size_t key = 0; key < h_.keys.size(); ++key) key_begin_[key + 1] += key_begin_[key];
    left_.assign(op_of_.size(), kNone);
    placed_.assign(op_of_.size(), true);
    ranks_.emplace(context, guess, origin, moves_);
  }

  struct Found {
    Verdict verdict = Verdict::kUnknown;
    std::vector<OpId> moves = {};      // of kSatisfied: all, element by element
    std::vector<OpId> positions = {};  // of kSatisfied: all, key by key
    PlaceConflict conflict = {};       // of kViolated
  };

  Found run() {
    for (;;) {
      place_updates();
      BetweenOrder order(key_begin_);
      auto conflicts = wrong_reads(order);
      if (conflicts.empty()) {
        const auto answer = order.run([&] { return misplaced(order); }, context_.budget);
        if (answer.verdict == Verdict::kSatisfied) return satisfied(order);
        if (answer.verdict == Verdict::kViolated) conflicts.push_back(conflict_of(order, answer));
      }
      if (context_.budget.exceeded() || conflicts.empty()) return {};
      for (PlaceConflict& conflict : conflicts) {
        if (conflict.pairs.empty())
          return {.verdict = Verdict::kViolated, .conflict = std::move(conflict)};
        learnt_.push_back(std::move(conflict));
      }
      const auto chosen = ranks_->choose(learnt_);
      if (chosen == solver::SolveResult::kGaveUp) return {};
      if (chosen == solver::SolveResult::kUnsatisfiable)
        return {.verdict = Verdict::kViolated, .conflict = contradiction()};
    }
  }

 private:
  [[nodiscard]] std::uint32_t element(std::uint32_t node) const {
    return h_.ops[op_of_[node]].element;
  }
  [[nodiscard]] bool sees(OpId op, std::uint32_t node) const {
    return context_.visibility.sees(op, op_of_[node]);
  }

  // One replica: the place that counts of each element, and those that were removed. `change` has
  // a place that it begins or ceases to show.
  struct State {
    std::vector<std::uint32_t> current;  // by element
    std::vector<bool> removed;           // by place
  };
  void begin(State& state) const {
    state.current.assign(h_.elements.size(), kNone);
    state.removed.assign(op_of_.size(), false);
  }
  template <typename Change>
  void take(State& state, OpId update, Change change) const {
    const Operation& op = h_.ops[update];
    auto& current = state.current[op.element];
    if (op.kind == Kind::kDelete) {
      const auto node = target_[update];
      if (node == kNone || state.removed[node]) return;
      state.removed[node] = true;
      if (current == node) change(node, false);
      return;
    }
    const auto node = node_of_[update];
    if (current != kNone && ranks_->of(op_of_[current]) > ranks_->of(update)) return;
    if (current != kNone && !state.removed[current]) change(current, false);
    current = node;
    if (!state.removed[node]) change(node, true);
  }

  // Of each update, where its neighbour, or the element that it removes, was then.
  void place_updates() {
    State state;
    replay(
        context_, [&](std::uint32_t) { begin(state); },
        [&](OpId update) {
          if (makes_place(h_.ops[update])) take(state, update, [](std::uint32_t, bool) {});
        },
        [&](OpId id) {
          const Operation& op = h_.ops[id];
          if (op.kind == Kind::kDelete) target_[id] = state.current[op.element];
          if (!makes_place(op)) return true;
          const auto node = node_of_[id];
          left_[node] = op.parent == kNone ? kNone : state.current[op.parent];
          placed_[node] = op.parent == kNone || left_[node] != kNone;
          return true;
        });
  }

  // Reads that show another element than the orders of the moves make, some of them; first the one
  // of the file that is wrong in any order. Otherwise the steps that the reads and updates ask for.
  std::vector<PlaceConflict> wrong_reads(BetweenOrder& order) {
    constexpr std::size_t kMost = 200;
    std::vector<PlaceConflict> found;
    std::optional<PlaceConflict> alone;
    State state;
    std::vector<std::uint32_t> shown(h_.keys.size(), 0);
    std::fill(listed_.begin(), listed_.end(), kNone);
    replay(
        context_,
        [&](std::uint32_t) {
          begin(state);
          shown.assign(h_.keys.size(), 0);
        },
        [&](OpId update) {
          take(state, update, [&](std::uint32_t, bool now) {
            if (now)
              ++shown[h_.ops[update].key];
            else
              --shown[h_.ops[update].key];
          });
        },
        [&](OpId id) {
          if (context_.budget.exceeded() || found.size() >= kMost) return false;
          if (!demands_[id] || h_.ops[id].kind != Kind::kList) return true;
          const auto wrong = add_read(id, state, shown[h_.ops[id].key], order);
          if (wrong == kNone) return true;
          auto conflict = conflict_of_content(id, wrong, state);
          if (!conflict.pairs.empty()) {
            found.push_back(std::move(conflict));
            return true;
          }
          if (!alone || id < *alone->demands.begin()) alone = std::move(conflict);
          return false;
        });
    if (alone) return {std::move(*alone)};
    for (std::uint32_t node = 0; node < op_of_.size(); ++node) {
      if (demands_[op_of_[node]] && left_[node] != kNone)
        order.add_next(left_[node], node, op_of_[node]);
    }
    return found;
  }

  // The element that the read wrongly shows or does not show; kNone: none.
  std::uint32_t add_read(OpId id, const State& state, std::size_t shown, BetweenOrder& order) {
    const auto list = h_.list(h_.ops[id]);
    std::uint32_t last = kNone;
    for (const auto e : list) {
      const auto node = state.current[e];
      if (node == kNone || state.removed[node] || listed_[e] == id) return e;
      listed_[e] = id;
      if (last != kNone) order.add(last, node, id);
      last = node;
    }
    if (list.size() == shown) return kNone;
    for (std::uint32_t e = 0; e < h_.elements.size(); ++e) {
      const auto node = state.current[e];
      if (h_.elements[e].key == h_.ops[id].key && node != kNone && !state.removed[node] &&
          listed_[e] != id)
        return e;
    }
    return kNone;
  }

  PlaceConflict conflict_of_content(OpId read, std::uint32_t e, const State& state) const {
    PlaceConflict conflict{.demands = {read}, .elements = {e}, .pairs = {}, .object = e};
    const auto node = state.current[e];
    const auto list = h_.list(h_.ops[read]);
    const auto times = std::count(list.begin(), list.end(), e);
    if (node == kNone || times > 1) return conflict;
    add_last(read, node, conflict);
    if (times == 0) {
      add_standing(read, node, conflict);
      return conflict;
    }
    std::optional<PlaceConflict> best;
    for (const OpId remove : removes_[e]) {
      if (target_[remove] != node || !context_.visibility.sees(read, remove)) continue;
      PlaceConflict one = conflict;
      add_last(remove, node, one);
      if (!best || one.pairs.size() < best->pairs.size()) best = std::move(one);
    }
    return std::move(*best);
  }

  // The place is the one that counts at the operation.
  void add_last(OpId op, std::uint32_t node, PlaceConflict& conflict) const {
    const auto& visibility = context_.visibility;
    const auto& moves = moves_[element(node)];
    const OpId last = op_of_[node];
    for (const OpId other : moves) {
      if (other == last || !visibility.sees(op, other) || visibility.sees(last, other)) continue;
      const bool overwritten = std::any_of(moves.begin(), moves.end(), [&](OpId third) {
        return third != last && visibility.sees(op, third) && visibility.sees(third, other) &&
               !visibility.sees(last, third);
      });
      if (!overwritten) conflict.pairs.insert({other, last});
    }
  }

  // No visible remove took the place away.
  void add_standing(OpId op, std::uint32_t node, PlaceConflict& conflict) const {
    for (const OpId remove : removes_[element(node)]) {
      if (!context_.visibility.sees(op, remove) || !sees(remove, node)) continue;
      const auto target = target_[remove];
      if (!sees(op_of_[target], node)) conflict.pairs.insert({op_of_[node], op_of_[target]});
    }
  }

  // Visible elements between an update's neighbour and its place.
  std::vector<BetweenOrder::Misplaced> misplaced(const BetweenOrder& order) const {
    std::vector<BetweenOrder::Misplaced> found;
    base::RankSet shown(op_of_.size());
    State state;
    replay(
        context_,
        [&](std::uint32_t) {
          begin(state);
          shown.clear();
        },
        [&](OpId update) {
          if (!order.is_open(h_.ops[update].key)) return;
          take(state, update, [&](std::uint32_t node, bool now) {
            if (now)
              shown.insert(order.rank(node));
            else
              shown.erase(order.rank(node));
          });
        },
        [&](OpId id) {
          if (context_.budget.exceeded()) return false;
          const Operation& op = h_.ops[id];
          if (demands_[id] && makes_place(op) && order.is_open(op.key))
            look_between(id, order, shown, found);
          return true;
        });
    return found;
  }

  void look_between(OpId id, const BetweenOrder& order, const base::RankSet& shown,
                    std::vector<BetweenOrder::Misplaced>& found) const {
    constexpr int kMost = 4;  // a round; the next finds more
    const auto node = node_of_[id];
    if (!placed_[node]) return;
    const auto left = left_[node];
    int count = 0;
    for (auto at = shown.from(left == kNone ? key_begin_[h_.ops[id].key] : order.rank(left) + 1);
         at < order.rank(node) && count < kMost; at = shown.from(at + 1)) {
      const auto x = order.at(at);
      if (element(x) == h_.ops[id].element) continue;  // where it was before
      found.push_back({left, node, x, id});
      ++count;
    }
  }

  PlaceConflict conflict_of(const BetweenOrder& order, const BetweenOrder::Answer& answer) const {
    PlaceConflict conflict;
    for (const auto id : answer.why) add_reason(order.edge(id), conflict);
    for (const auto id : answer.cycle) {
      const auto& edge = order.edge(id);
      conflict.cycle.push_back({op_of_[edge.from], op_of_[edge.to], Why::kListed, edge.by,
                                element(edge.from), element(edge.to)});
    }
    if (answer.cycle.empty()) add_all(conflict);
    return conflict;
  }

  void add_reason(const BetweenOrder::Edge& edge, PlaceConflict& conflict) const {
    conflict.demands.insert(edge.by);
    conflict.elements.insert({element(edge.from), element(edge.to)});
    if (is_read(h_.ops[edge.by].kind)) {
      add_last(edge.by, edge.from, conflict);
      add_last(edge.by, edge.to, conflict);
      return;
    }
    const auto node = node_of_[edge.by], left = left_[node];
    if (left != kNone) {
      conflict.elements.insert(element(left));
      add_last(edge.by, left, conflict);
    }
    const auto x = edge.from == node ? edge.to : edge.from;
    if (x == left) return;
    add_last(edge.by, x, conflict);
    add_standing(edge.by, x, conflict);
  }

  // No choice of places fits: all that the order of the moves says.
  void add_all(PlaceConflict& conflict) const {
    State state;
    replay(
        context_, [&](std::uint32_t) { begin(state); },
        [&](OpId update) { take(state, update, [](std::uint32_t, bool) {}); },
        [&](OpId id) {
          const Operation& op = h_.ops[id];
          if (!demands_[id] || (!makes_place(op) && op.kind != Kind::kList)) return true;
          conflict.demands.insert(id);
          for (std::uint32_t e = 0; e < h_.elements.size(); ++e) {
            const auto node = state.current[e];
            if (node == kNone || h_.elements[e].key != op.key) continue;
            conflict.elements.insert(e);
            add_last(id, node, conflict);
            add_standing(id, node, conflict);
          }
          return !context_.budget.exceeded();
        });
  }

  // What was learnt has no order of the moves: as little of it as is found one after the other.
  PlaceConflict contradiction() {
    std::vector<PlaceConflict> few = learnt_;
    base::leave_out(
        {.first = few.size() / 2}, [&] { return few.size(); },
        [&](std::size_t begin, std::size_t end) -> std::optional<std::size_t> {
          auto rest = base::without_range(few, begin, end);
          if (ranks_->choose(rest) != solver::SolveResult::kUnsatisfiable) return std::nullopt;
          few = std::move(rest);
          return begin;
        },
        [&] { return !context_.budget.exceeded(); });
    PlaceConflict all;
    for (const PlaceConflict& conflict : few) all.add(conflict);
    return all;
  }

  [[nodiscard]] Found satisfied(const BetweenOrder& order) const {
    Found found{.verdict = Verdict::kSatisfied};
    for (auto sorted : moves_) {
      std::sort(sorted.begin(), sorted.end(),
                [&](OpId a, OpId b) { return ranks_->of(a) < ranks_->of(b); });
      found.moves.insert(found.moves.end(), sorted.begin(), sorted.end());
    }
    for (const auto node : order.order()) found.positions.push_back(op_of_[node]);
    return found;
  }

  const KnownContext& context_;
  const History& h_;
  const std::vector<bool>& demands_;
  std::vector<OpId> op_of_;                 // by place, those of a key together
  std::vector<std::uint32_t> node_of_;      // by operation: the place that it makes
  std::vector<std::uint32_t> target_;       // by remove: the place that it takes away
  std::vector<std::vector<OpId>> moves_;    // by element
  std::vector<std::vector<OpId>> removes_;  // by element
  std::vector<OpId> listed_;                // by element: the last read that lists it
  std::vector<std::uint32_t> key_begin_;    // by key, and the end
  std::vector<std::uint32_t> left_;         // by place: its neighbour when it was made
  std::vector<bool> placed_;                // by place: its neighbour was somewhere
  std::optional<MoveRanks> ranks_;
  std::vector<PlaceConflict> learnt_;
};

PlaceConflict in_numbers_of_whole(const PlaceConflict& small, std::span<const OpId> origin,
                                  std::span<const std::uint32_t> elements) {
  const auto element = [&](std::uint32_t e) { return e == kNone ? kNone : elements[e]; };
  PlaceConflict whole;
  whole.object = element(small.object);
  for (const OpId id : small.demands) whole.demands.insert(origin[id]);
  for (const auto e : small.elements) whole.elements.insert(element(e));
  for (const auto& [a, b] : small.pairs) whole.pairs.insert({origin[a], origin[b]});
  for (const Step& step : small.cycle)
    whole.cycle.push_back({origin[step.from], origin[step.to], step.why, origin[step.read],
                           element(step.shown), element(step.over)});
  return whole;
}

// Each key by itself. A read that is wrong in any order comes first, the first of the file, then
// the first key whose orders contradict each other.
MovableListSearch::Found search_keys(const KnownContext& context) {
  using Found = MovableListSearch::Found;
  const History& h = context.history;
  const Timestamps guess(h, context.visibility);
  const Keys keys(h, context.visibility);
  Found all{.verdict = Verdict::kSatisfied};
  for (std::uint32_t key = 0; key < h.keys.size(); ++key) {
    KeyPart part;
    keys.take(key, part);
    const std::vector<bool> demands(part.history.ops.size(), true);
    auto found = MovableListSearch({part.history, part.visibility, context.axioms, context.budget},
                                   demands, guess, part.origin)
                     .run();
    if (found.verdict == Verdict::kViolated) {
      auto conflict = in_numbers_of_whole(found.conflict, part.origin, part.elements);
      const bool alone = conflict.object != kNone;
      const bool first = all.verdict != Verdict::kViolated;
      if (first || (alone && (all.conflict.object == kNone ||
                              *conflict.demands.begin() < *all.conflict.demands.begin())))
        all = {.verdict = Verdict::kViolated, .conflict = std::move(conflict)};
    } else if (found.verdict == Verdict::kUnknown && all.verdict == Verdict::kSatisfied) {
      all = {};
    }
    if (all.verdict != Verdict::kSatisfied) continue;
    for (const OpId id : found.moves) all.moves.push_back(part.origin[id]);
    for (const OpId id : found.positions) all.positions.push_back(part.origin[id]);
  }
  std::stable_sort(all.moves.begin(), all.moves.end(),
                   [&](OpId a, OpId b) { return h.ops[a].element < h.ops[b].element; });
  return all;
}

// Some elements of a history, with all their updates, and what some operations ask for.
class SmallMovableList {
 public:
  SmallMovableList(const KnownContext& context, const PlaceConflict& conflict)
      : part_(part_of(context.history, core_of(context.history, conflict))),
        visibility_(context.visibility.of_part(part_.history, part_.origin)),
        context_{part_.history, visibility_, context.axioms, context.budget},
        guess_(part_.history, visibility_) {
    part_.history.context.rule = context.history.context.rule;
    for (OpId id = 0; id < part_.origin.size(); ++id) {
      demands_.push_back(conflict.demands.contains(part_.origin[id]));
      itself_.push_back(id);
    }
  }
  SmallMovableList(const SmallMovableList&) = delete;  // its visibility refers to its history
  SmallMovableList& operator=(const SmallMovableList&) = delete;

  [[nodiscard]] const KnownContext& context() const { return context_; }

  // Still violated? Then by what.
  [[nodiscard]] std::optional<PlaceConflict> conflict() const {
    auto found = MovableListSearch(context_, demands_, guess_, itself_).run();
    if (found.verdict != Verdict::kViolated) return std::nullopt;
    return std::move(found.conflict);
  }

  [[nodiscard]] PlaceConflict of_whole(const PlaceConflict& small) const {
    return in_numbers_of_whole(small, part_.origin, part_.elements);
  }

 private:
  static Core core_of(const History& h, const PlaceConflict& conflict) {
    Core core;
    for (OpId id = 0; id < h.ops.size(); ++id) {
      const Operation& op = h.ops[id];
      if (is_read(op.kind) ? conflict.demands.contains(id) : conflict.elements.contains(op.element))
        core.ops.push_back(id);
    }
    core.elements.assign(conflict.elements.begin(), conflict.elements.end());
    return core;
  }

  Part part_;
  const Visibility visibility_;
  const KnownContext context_;
  const Timestamps guess_;
  std::vector<bool> demands_;
  std::vector<OpId> itself_;  // by operation: its number
};

// Fewer demands, and fewer elements, one after the other.
PlaceConflict smallest(const KnownContext& context, const PlaceConflict& whole) {
  constexpr int kMostTries = 400;
  const SmallMovableList all(context, whole);
  auto found = all.conflict();
  if (!found) return whole;
  PlaceConflict conflict = std::move(*found);
  int tries = 0;
  // Without some of the demands, or of the elements.
  const auto leave_out = [&](auto part, std::size_t chunk, int most_tries) {
    base::leave_out(
        {.first = chunk}, [&] { return (conflict.*part).size(); },
        [&](std::size_t begin, std::size_t end) -> std::optional<std::size_t> {
          ++tries;
          PlaceConflict smaller = conflict;
          auto& units = smaller.*part;
          const auto at = [&](std::size_t i) {
            return std::next(units.begin(), static_cast<std::ptrdiff_t>(i));
          };
          units.erase(at(begin), at(end));
          const SmallMovableList small(all.context(), smaller);
          const auto still = small.conflict();
          if (!still) return std::nullopt;
          conflict = small.of_whole(*still);
          return begin;
        },
        [&] { return tries < most_tries; });
  };
  leave_out(&PlaceConflict::demands, conflict.demands.size() / 2, kMostTries);
  leave_out(&PlaceConflict::elements, 1, 2 * kMostTries);
  return all.of_whole(conflict);
}

// Which updates say where the elements were, for those that ask for something.
std::vector<OpId> operations_of(const KnownContext& context, const PlaceConflict& conflict) {
  const History& h = context.history;
  std::set<OpId> named = conflict.demands;
  std::map<std::uint32_t, std::vector<OpId>> moves, removes;
  for (OpId id = 0; id < h.ops.size(); ++id) {
    const Operation& op = h.ops[id];
    if (is_read(op.kind) || !conflict.elements.contains(op.element)) continue;
    (op.kind == Kind::kDelete ? removes : moves)[op.element].push_back(id);
  }
  const auto& visibility = context.visibility;
  for (const OpId by : conflict.demands) {
    for (const auto e : conflict.elements) {
      for (const OpId move : moves[e]) {
        if (!visibility.sees(by, move)) continue;
        const bool last = std::none_of(moves[e].begin(), moves[e].end(), [&](OpId other) {
          return visibility.sees(by, other) && visibility.sees(other, move);
        });
        if (!last) continue;
        named.insert(move);
        for (const OpId remove : removes[e]) {
          if (visibility.sees(by, remove) && visibility.sees(remove, move)) named.insert(remove);
        }
      }
    }
  }
  return {named.begin(), named.end()};
}

// An update that names an element which its replica had not seen.
std::optional<WrongRead> wrong_name(const KnownContext& context) {
  const History& h = context.history;
  std::vector<bool> seen;
  std::optional<WrongRead> wrong;
  replay(
      context, [&](std::uint32_t) { seen.assign(h.elements.size(), false); },
      [&](OpId update) {
        if (makes_place(h.ops[update])) seen[h.ops[update].element] = true;
      },
      [&](OpId id) {
        if (context.budget.exceeded()) return false;
        const Operation& op = h.ops[id];
        if (is_read(op.kind)) return true;
        for (const auto e : {op.parent, op.kind == Kind::kInsert ? kNone : op.element}) {
          if (e == kNone || seen[e]) continue;
          if (!wrong || id < wrong->read) wrong = WrongRead{.read = id, .object = e};
          return false;
        }
        return true;
      });
  return wrong;
}

}  // namespace

ContextDecision decide_known_movable_list(const KnownContext& context) {
  if (auto wrong = wrong_name(context))
    return {.verdict = Verdict::kViolated, .wrong = std::move(wrong)};
  auto found = search_keys(context);
  if (found.verdict == Verdict::kUnknown) return {};
  if (found.verdict == Verdict::kSatisfied)
    return {.verdict = Verdict::kSatisfied,
            .writes = std::move(found.moves),
            .positions = std::move(found.positions)};
  PlaceConflict& conflict = found.conflict;
  if (conflict.object != kNone) {
    return {.verdict = Verdict::kViolated,
            .wrong = WrongRead{.read = *conflict.demands.begin(), .object = conflict.object}};
  }
  conflict = smallest(context, conflict);
  WrongRead wrong{.read = *conflict.demands.rbegin(),
                  .object = *conflict.elements.begin(),
                  .cycle = std::move(conflict.cycle),
                  .operations = operations_of(context, conflict)};
  for (const OpId id : conflict.demands) {
    if (is_read(context.history.ops[id].kind)) wrong.read = id;
  }
  return {.verdict = Verdict::kViolated, .wrong = std::move(wrong)};
}

}  // namespace cupel::crdt
