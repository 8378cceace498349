// Move order: see the header.
#include "crdt/solve/move_order.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <tuple>

#include "base/graph/digraph.hpp"
#include "base/hash_table.hpp"
#include "base/leave_out.hpp"
#include "base/random.hpp"
#include "crdt/solve/object_orders.hpp"
#include "crdt/solve/pair_choices.hpp"
#include "crdt/solve/timestamps.hpp"
#include "crdt/solve/tree_encoding.hpp"
#include "crdt/solve/tree_state.hpp"

namespace cupel::crdt {

namespace {

// Which order of moves makes a read show what it should not: pairs of moves that say all of it, and
// as few as are found quickly.
class TreeReason {
 public:
  TreeReason(const Visibility& visibility, std::span<const TreeState::Done> log)
      : visibility_(visibility), log_(log) {
    for (std::uint32_t i = 0; i < log.size(); ++i) {
      of_node_[log[i].move.node].push_back(i);
      if (TreeState::is_node(log[i].move.target)) to_node_[log[i].move.target].push_back(i);
    }
  }

  // Why the node is not where `is_right(target)` says at the end.
  template <typename IsRight>
  std::set<MovePair> explain(std::uint32_t node, IsRight is_right) {
    pairs_.clear();
    known_.clear();
    // A move with an effect, after all that are right or have no effect themselves.
    auto cheapest = log_.size(), cost = std::numeric_limits<std::size_t>::max();
    const auto& own = of_node_[node];
    for (const auto i : own) {
      if (!log_[i].effective || is_right(log_[i].move.target)) continue;
      std::size_t here = way_length(i);
      for (const auto other : own) {
        if (!is_right(log_[other].move.target)) continue;
        if (other < i)
          here += is_known(other, i) ? 0 : 1;
        else if (log_[other].effective)
          here = std::numeric_limits<std::size_t>::max() / 2;
        else
          here += 1 + way_length(other);
      }
      if (here <= cost) std::tie(cheapest, cost) = std::pair(std::size_t{i}, here);
    }
    for (const auto i : own) {
      if (!is_right(log_[i].move.target)) continue;
      if (cheapest < log_.size() && i < cheapest)
        add(i, cheapest);
      else
        explain_way(i);
    }
    if (cheapest < log_.size()) explain_way(cheapest);
    while (!open_.empty()) {
      const auto [of, end] = open_.back();
      open_.pop_back();
      explain_place(of, end);
    }
    return pairs_;
  }

 private:
  // To be explained: where the node is before the move at this place.
  void explain_later(std::uint32_t node, std::size_t end) {
    if (known_.insert({node, end}).second) open_.emplace_back(node, end);
  }

  // The node is where its last move with an effect put it; others to the same place change nothing.
  void explain_place(std::uint32_t node, std::size_t end) {
    const auto found = of_node_.find(node);
    if (found == of_node_.end()) return;
    const auto last = last_before(node, end);
    for (const auto i : found->second) {
      if (last < log_.size() && log_[i].move.target == log_[last].move.target) continue;
      if (i > end)
        add(end, i);
      else if (last == log_.size() || i > last)
        explain_way(i);
      else
        add(i, last);
    }
    if (last == log_.size()) return;
    add(last, end);
    explain_way(last);
  }

  // Why the move had an effect, or none: what may be below its node does not reach its target, or
  // the way up from there.
  void explain_way(std::size_t move) {
    const Cut cut = cut_of(move);
    if (cut.holds && cut.moves.size() <= up_length(move)) {
      for (const auto i : cut.moves) add(move, i);
      return;
    }
    for (auto at = log_[move].move.target; TreeState::is_node(at) && at != log_[move].move.node;) {
      explain_later(at, move);
      const auto last = last_before(at, move);
      at = last == log_.size() ? kNone : log_[last].move.target;
    }
  }

  // If all moves before this one had an effect for ever, its target would still not be below its
  // node: only the moves listed, which come later, put more below it.
  struct Cut {
    bool holds = false;
    std::vector<std::size_t> moves = {};
  };
  [[nodiscard]] Cut cut_of(std::size_t move) const {
    const auto target = log_[move].move.target;
    if (!TreeState::is_node(target)) return {.holds = true};
    if (!log_[move].effective) return {};
    std::vector<std::uint32_t> below = {log_[move].move.node};
    std::set<std::uint32_t> known(below.begin(), below.end());
    Cut cut{.holds = true};
    for (std::size_t at = 0; at < below.size(); ++at) {
      const auto found = to_node_.find(below[at]);
      if (found == to_node_.end()) continue;
      for (const auto i : found->second) {
        if (i > move) {
          if (!is_known(move, i)) cut.moves.push_back(i);
        } else if (known.insert(log_[i].move.node).second) {
          if (log_[i].move.node == target) return {};
          below.push_back(log_[i].move.node);
        }
      }
    }
    std::erase_if(cut.moves, [&](std::size_t i) { return known.contains(log_[i].move.node); });
    return cut;
  }

  [[nodiscard]] std::size_t way_length(std::size_t move) const {
    const Cut cut = cut_of(move);
    const auto length = up_length(move);
    return cut.holds ? std::min(cut.moves.size(), length) : length;
  }
  [[nodiscard]] std::size_t up_length(std::size_t move) const {
    constexpr std::size_t kOfNode = 10;  // pairs, about
    std::size_t length = 0;
    for (auto at = log_[move].move.target; TreeState::is_node(at) && at != log_[move].move.node;
         length += kOfNode) {
      const auto last = last_before(at, move);
      at = last == log_.size() ? kNone : log_[last].move.target;
    }
    return length;
  }

  // The last move of the node with an effect before this place; the end of the log: none.
  [[nodiscard]] std::size_t last_before(std::uint32_t node, std::size_t end) const {
    auto last = log_.size();
    if (const auto found = of_node_.find(node); found != of_node_.end()) {
      for (const auto i : found->second) {
        if (i < end && log_[i].effective) last = i;
      }
    }
    return last;
  }

  [[nodiscard]] bool is_known(std::size_t first, std::size_t second) const {
    return visibility_.sees(log_[second].move.move, log_[first].move.move);
  }
  void add(std::size_t first, std::size_t second) {
    if (!is_known(first, second)) pairs_.insert({log_[first].move.move, log_[second].move.move});
  }

  const Visibility& visibility_;
  const std::span<const TreeState::Done> log_;
  base::HashMap<std::uint32_t, std::vector<std::uint32_t>> of_node_, to_node_;  // places in the log
  std::set<std::pair<std::uint32_t, std::size_t>> known_;
  std::vector<std::pair<std::uint32_t, std::size_t>> open_;
  std::set<MovePair> pairs_;
};

// The orders of updates that `known` contains: those that it leaves open are choices, which begin
// as guessed.
class MoveChoices {
 public:
  // `is_known`: of two moves that no other order of the graph has.
  MoveChoices(const KnownContext& context, const graph::Digraph& known, const Timestamps& guess,
              const TreeEncoding::Known& is_known, const std::vector<bool>* stated = nullptr)
      : context_(context),
        h_(context.history),
        known_(known),
        guess_(guess),
        is_known_(is_known),
        pairs_(known, [this](OpId a, OpId b) { return guess_.is_before(a, b); }),
        encoding_(context, pairs_.solver(),
                  {.is_known = is_known,
                   .before =
                       [this](OpId a, OpId b) {
                         return pairs_.literal({a, b});
                       },
                   .stated = stated},
                  static_cast<graph::Node>(known.node_count() - kNodesOfTrees), kNodesOfTrees) {}

  // Nodes at the end of the graph, for the encoding.
  static constexpr std::size_t kNodesOfTrees = 1U << 14U;

  // These pairs are not all so. False: they are.
  bool forbid(const std::set<MovePair>& pairs) {
    std::vector<solver::Literal> clause;
    for (const MovePair& pair : pairs) {
      if (is_known_(pair.first, pair.second)) continue;
      clause.push_back(-pairs_.literal(pair));
      compared_.insert({pair.first, pair.second});
    }
    if (!clause.empty()) pairs_.solver().add_clause(clause);
    return !clause.empty();
  }
  bool encode(OpId read) { return encoding_.add(read); }
  solver::SolveResult solve() {
    const auto answer = pairs_.solver().solve(context_.budget);
    chosen_ = answer == solver::SolveResult::kModel ? pairs_.chosen() : std::vector<MovePair>();
    return answer;
  }
  [[nodiscard]] const std::set<OpId>& compared() const { return compared_; }

  // All updates: happens-before and the chosen pairs kept, otherwise as guessed.
  [[nodiscard]] std::vector<OpId> order() const {
    std::vector<std::uint32_t> waiting(known_.node_count(), 0);
    std::vector<std::vector<OpId>> after(chosen_.empty() ? 0 : known_.node_count());
    for (graph::Node node = 0; node < known_.node_count(); ++node) {
      for (const auto& out : known_.out(node)) ++waiting[out.to];
    }
    for (const auto& [first, second] : chosen_) {
      after[first].push_back(second);
      ++waiting[second];
    }
    const auto is_update = [&](graph::Node node) {
      return node < h_.ops.size() && !is_read(h_.ops[node].kind);
    };
    const auto later = [&](graph::Node a, graph::Node b) {
      return is_update(a) && (!is_update(b) || guess_.is_before(b, a));
    };
    std::priority_queue<graph::Node, std::vector<graph::Node>, decltype(later)> ready(later);
    std::vector<OpId> order;
    for (graph::Node node = 0; node < known_.node_count(); ++node) {
      if (waiting[node] == 0) ready.push(node);
    }
    while (!ready.empty()) {
      const auto id = ready.top();
      ready.pop();
      if (is_update(id)) order.push_back(id);
      for (const auto& out : known_.out(id)) {
        if (--waiting[out.to] == 0) ready.push(out.to);
      }
      if (after.empty()) continue;
      for (const OpId next : after[id]) {
        if (--waiting[next] == 0) ready.push(next);
      }
    }
    return order;
  }

 private:
  const KnownContext& context_;
  const History& h_;
  const graph::Digraph& known_;
  const Timestamps& guess_;
  const TreeEncoding::Known& is_known_;
  PairChoices pairs_;
  TreeEncoding encoding_;
  std::vector<MovePair> chosen_;
  std::set<OpId> compared_;
};

class MoveOrderSearch {
 public:
  explicit MoveOrderSearch(const KnownContext& context)
      : context_(context),
        h_(context.history),
        place_(h_.ops.size(), 0),
        guess_(h_, context.visibility) {
    const History split = split_by_object(h_);
    StepGraph graph(split);
    for_seen_updates(h_, KeyEvents(h_, context.visibility), [&](OpId seen, OpId update) {
      graph.add({seen, update, Why::kReceived});
    });
    std::vector<graph::Arc> arcs;
    for (const Step& step : graph.steps()) arcs.push_back({step.from, step.to});
    for (const auto& line : split.by_replica) {
      OpId previous = kNone;
      for (const OpId id : line) {
        if (is_read(h_.ops[id].kind)) continue;
        if (previous != kNone) arcs.push_back({previous, id});
        previous = id;
      }
    }
    known_ = graph::Digraph(h_.ops.size() + MoveChoices::kNodesOfTrees, arcs);
  }

  ContextDecision run() {
    std::vector<OpId> reads;
    for (OpId id = 0; id < h_.ops.size(); ++id) {
      if (h_.ops[id].kind == Kind::kTree) reads.push_back(id);
    }
    auto found = by_timestamps(reads);
    if (found.verdict != Verdict::kSatisfied && !context_.budget.exceeded()) found = solve(reads);
    if (found.verdict == Verdict::kSatisfied)
      return {.verdict = Verdict::kSatisfied, .writes = updates_by_object(h_, found.order)};
    if (found.verdict == Verdict::kUnknown) return {};
    const Shown shown = fewest(std::move(found));
    WrongRead wrong{.operations = shown.moves};
    wrong.operations.insert(wrong.operations.end(), shown.reads.begin(), shown.reads.end());
    if (shown.reads.size() == 1) {
      wrong.read = shown.reads[0];
      wrong.object = shown.node;
    }
    return {.verdict = Verdict::kViolated, .wrong = std::move(wrong)};
  }

 private:
  struct Found {
    Verdict verdict = Verdict::kUnknown;
    std::vector<OpId> order = {};  // of kSatisfied: all updates
    std::vector<OpId> reads = {};  // of kViolated: those that it needs, and the moves
    std::set<OpId> moves = {};
    std::uint32_t node = kNone;  // of the last read that was wrong
  };
  struct WrongTree {
    OpId read;
    std::uint32_t node;
    std::vector<std::set<MovePair>> reasons;
  };

  // Do these reads have an order in which only equal timestamps are choices? Implementations order
  // those by ids of replicas that the history does not have.
  Found by_timestamps(const std::vector<OpId>& reads) {
    std::uint64_t last = 0;
    for (OpId id = 0; id < h_.ops.size(); ++id) last = std::max(last, guess_.stamp(id));
    // Between two timestamps there is a node, after the operations.
    std::vector<graph::Arc> arcs;
    const auto between = [&](std::uint64_t stamp) {
      return static_cast<graph::Node>(h_.ops.size() + stamp);
    };
    for (std::uint64_t stamp = 1; stamp < last; ++stamp)
      arcs.push_back({between(stamp - 1), between(stamp)});
    for (OpId id = 0; id < h_.ops.size(); ++id) {
      if (is_read(h_.ops[id].kind)) continue;
      const auto stamp = guess_.stamp(id);
      arcs.push_back({between(stamp - 1), id});
      arcs.push_back({id, between(stamp)});
    }
    const graph::Digraph known(h_.ops.size() + last + 1 + MoveChoices::kNodesOfTrees, arcs);
    const TreeEncoding::Known is_known = [&](OpId first, OpId second) {
      return guess_.stamp(first) < guess_.stamp(second);
    };
    MoveChoices choices(context_, known, guess_, is_known);
    return search(reads, choices);
  }

  // Do these reads have an order?
  Found solve(const std::vector<OpId>& reads) {
    MoveChoices choices(context_, known_, guess_, is_known_);
    auto found = search(reads, choices);
    found.moves = choices.compared();
    return found;
  }

  Found search(const std::vector<OpId>& reads, MoveChoices& choices) {
    constexpr std::size_t kFewReads = 4;
    constexpr int kTries = 3;
    Found found;
    std::map<OpId, int> tries;
    std::vector<OpId> used;  // the reads that were wrong: they are looked at before the others
    for (;;) {
      auto order = choices.order();
      auto wrong = wrong_trees(used, order, used.size());
      if (wrong.empty()) {
        wrong = wrong_trees(reads, order, kFewReads);
        for (const auto& one : wrong) used.push_back(one.read);
        std::sort(used.begin(), used.end());
      }
      if (context_.budget.exceeded()) return {};
      if (wrong.empty()) {
        found.verdict = Verdict::kSatisfied;
        found.order = std::move(order);
        return found;
      }
      for (const auto& [read, node, reasons] : wrong) {
        found.node = node;
        // Single reasons may be many: the whole tree of this read instead.
        if (++tries[read] == kTries && choices.encode(read)) continue;
        for (const auto& pairs : reasons) {
          if (!choices.forbid(pairs))
            return {.verdict = Verdict::kViolated, .reads = {read}, .node = node};
        }
      }
      const auto answer = choices.solve();
      if (answer == solver::SolveResult::kGaveUp) return {};
      if (answer == solver::SolveResult::kUnsatisfiable) {
        found.verdict = Verdict::kViolated;
        found.reads = std::move(used);
        return found;
      }
    }
  }

  // Some of those reads that show another tree than this order makes: those that had seen the
  // fewest moves, because little contradicts itself sooner, and is shown in less.
  std::vector<WrongTree> wrong_trees(const std::vector<OpId>& reads, const std::vector<OpId>& order,
                                     std::size_t most) {
    for (std::uint64_t i = 0; i < order.size(); ++i) place_[order[i]] = i;
    std::vector<std::vector<OpId>> of_replica(h_.replicas.size());
    for (const OpId id : reads) of_replica[h_.ops[id].replica].push_back(id);
    std::map<std::pair<std::size_t, OpId>, WrongTree> found;  // by how many moves it had seen
    TreeState state;
    for (std::uint32_t r = 0; r < h_.replicas.size(); ++r) {
      state.clear();
      const auto arrivals = context_.visibility.arrivals(r);
      std::size_t next = 0;
      for (const OpId id : of_replica[r]) {
        if (context_.budget.exceeded()) return {};
        for (; next < arrivals.size() &&
               context_.visibility.since(r, arrivals[next]) <= h_.ops[id].seq;
             ++next) {
          const Operation& op = h_.ops[arrivals[next]];
          state.add({.rank = place_[arrivals[next]],
                     .move = arrivals[next],
                     .key = op.key,
                     .node = op.element,
                     .target = TreeState::target_of(op)});
        }
        if (found.size() == most && found.rbegin()->first.first <= next) break;
        state.perform_added(h_.ops[id].key);
        if (shows(h_.ops[id], state)) continue;
        if (found.size() == most) found.erase(std::prev(found.end()));
        found.emplace(std::pair(next, id), wrong_tree_of(id, state));
      }
    }
    std::vector<WrongTree> all;
    for (auto& [moves, wrong] : found) all.push_back(std::move(wrong));
    return all;
  }

  [[nodiscard]] bool shows(const Operation& read, const TreeState& state) const {
    const auto list = h_.list(read);
    std::size_t children = state.at_root(read.key);
    for (std::size_t i = 0; i < list.size(); i += 2) {
      if (state.target(list[i]) != shown_target(list, i)) return false;
      children += state.children(list[i]);
    }
    return 2 * children == list.size();
  }
  static std::uint32_t shown_target(std::span<const std::uint32_t> list, std::size_t at) {
    return list[at + 1] == list[at] ? TreeState::kRoot : list[at + 1];
  }

  // Why nodes are at another place than the read shows, or there at all.
  [[nodiscard]] WrongTree wrong_tree_of(OpId read, const TreeState& state) const {
    const auto list = h_.list(h_.ops[read]);
    std::map<std::uint32_t, std::uint32_t> shown;
    for (std::size_t i = 0; i < list.size(); i += 2) shown[list[i]] = shown_target(list, i);
    const auto log = state.moves(h_.ops[read].key);
    TreeReason reason(context_.visibility, log);
    WrongTree wrong{.read = read, .node = kNone, .reasons = {}};
    const auto add = [&](std::uint32_t node, auto is_right) {
      if (is_right(state.target(node))) return;
      if (wrong.node == kNone) wrong.node = node;
      wrong.reasons.push_back(reason.explain(node, is_right));
    };
    for (const auto& [node, target] : shown)
      add(node, [&, there = target](std::uint32_t at) { return at == there; });
    std::set<std::uint32_t> others;
    for (const auto& done : log) {
      if (!shown.contains(done.move.node)) others.insert(done.move.node);
    }
    for (const auto node : others) {
      add(node, [&](std::uint32_t at) { return at != TreeState::kRoot && !shown.contains(at); });
    }
    return wrong;
  }

  // What is shown of a contradiction.
  struct Shown {
    std::vector<OpId> reads, moves;
    std::uint32_t node = kNone;  // as of Found
  };

  // As few reads and moves as are found quickly; a read alone, if there is such.
  Shown fewest(Found found) {
    constexpr std::size_t kMostAlone = 40, kMostShown = 6, kFew = 6;
    std::optional<Shown> best;
    const auto keep = [&](const Found& one) {
      Shown shown{.reads = one.reads, .moves = fewest_moves(one), .node = one.node};
      if (!best || shown.moves.size() < best->moves.size()) best = std::move(shown);
    };
    std::size_t alone = 0;
    for (std::size_t i = 0; i < std::min(found.reads.size(), kMostAlone) && alone < kMostShown;
         ++i) {
      auto one = found.reads.size() == 1 ? found : solve({found.reads[i]});
      if (one.verdict != Verdict::kViolated) continue;
      ++alone;
      keep(one);
      if (best->moves.size() < kFew) break;
    }
    if (!best) keep(smallest(std::move(found)));
    return *best;
  }

  // Of several reads.
  Found smallest(Found found) {
    base::leave_out(
        {.first = found.reads.size() / 2}, [&] { return found.reads.size(); },
        [&](std::size_t begin, std::size_t end) -> std::optional<std::size_t> {
          const auto rest = base::without_range(found.reads, begin, end);
          auto less = rest.empty() ? Found() : solve(rest);
          if (less.verdict != Verdict::kViolated) return std::nullopt;
          found = std::move(less);
          return begin;
        },
        [&] { return found.reads.size() > 1; });
    return found;
  }

  // Of the moves that the reads had seen, as few as contradict them whatever the others do.
  std::vector<OpId> fewest_moves(const Found& found) {
    constexpr std::size_t kFew = 6;
    constexpr std::uint64_t kOrders = 5;
    std::vector<bool> stated(h_.ops.size(), true);
    const auto is_violated = [&] {
      MoveChoices choices(context_, known_, guess_, is_known_, &stated);
      for (const OpId read : found.reads) {
        if (!choices.encode(read)) return false;
      }
      return choices.solve() == solver::SolveResult::kUnsatisfiable;
    };
    if (!is_violated()) return {found.moves.begin(), found.moves.end()};
    std::set<OpId> seen;
    for (const OpId read : found.reads) {
      for (const OpId id : context_.visibility.arrivals(h_.ops[read].replica)) {
        if (h_.ops[id].key == h_.ops[read].key && context_.visibility.sees(read, id))
          seen.insert(id);
      }
    }
    // What remains depends on what is tried first: the late ones, the early ones, or any.
    std::vector<OpId> best(seen.begin(), seen.end());
    for (std::uint64_t order = 0; order < kOrders && best.size() >= kFew; ++order) {
      std::vector<OpId> left(seen.begin(), seen.end());
      if (order == 1) std::reverse(left.begin(), left.end());
      base::Random random(order);
      if (order > 1) random.shuffle(std::span(left));
      std::fill(stated.begin(), stated.end(), true);
      leave_out(left, stated, is_violated);
      if (left.size() < best.size()) best = std::move(left);
    }
    std::sort(best.begin(), best.end());
    return best;
  }

  // Those of `left` that are not needed; `stated` follows.
  static void leave_out(std::vector<OpId>& left, std::vector<bool>& stated,
                        const std::function<bool()>& is_violated) {
    constexpr int kMostTries = 400;
    int tries = 0;
    base::leave_out(
        {.first = (left.size() + 1) / 2}, [&] { return left.size(); },
        [&](std::size_t begin, std::size_t end) -> std::optional<std::size_t> {
          ++tries;
          for (auto i = begin; i < end; ++i) stated[left[i]] = false;
          if (is_violated()) {
            left = base::without_range(left, begin, end);
            return begin;
          }
          for (auto i = begin; i < end; ++i) stated[left[i]] = true;
          return std::nullopt;
        },
        [&] { return tries < kMostTries; });
  }

  const KnownContext& context_;
  const History& h_;
  graph::Digraph known_;              // happens-before of the updates of each key; then other nodes
  std::vector<std::uint64_t> place_;  // by operation: in the order that is looked at
  const Timestamps guess_;
  const TreeEncoding::Known is_known_ = [this](OpId first, OpId second) {
    return context_.visibility.sees(second, first);
  };
};

// What is wrong whatever the order: a read that is no tree, or that shows what no move it had seen
// made; an update that names a node which its replica had not seen.
std::optional<WrongRead> wrong_alone(const KnownContext& context) {
  const History& h = context.history;
  std::vector<bool> made(h.elements.size(), false);
  base::HashSet<std::uint64_t> moved;  // node and target
  std::optional<WrongRead> wrong;
  const auto check = [&](OpId id, std::uint32_t node) {
    if (node == kNone) return true;
    if (!wrong || id < wrong->read) wrong = WrongRead{.read = id, .object = node};
    return false;
  };
  const auto pair = [](std::uint32_t node, std::uint32_t target) {
    return std::uint64_t{node} << 32U | target;
  };
  replay(
      context,
      [&](std::uint32_t) {
        made.assign(h.elements.size(), false);
        moved.clear();
      },
      [&](OpId update) {
        const Operation& op = h.ops[update];
        made[op.element] = true;
        moved.insert(pair(op.element, TreeState::target_of(op)));
      },
      [&](OpId id) {
        if (context.budget.exceeded()) return false;
        const Operation& op = h.ops[id];
        if (op.kind != Kind::kTree) {
          const auto named = op.kind == Kind::kDelete ? op.element : op.parent;
          return check(id, named == kNone || made[named] ? kNone : named);
        }
        const auto list = h.list(op);
        for (std::size_t i = 0; i < list.size(); i += 2) {
          const auto target = list[i + 1] == list[i] ? TreeState::kRoot : list[i + 1];
          if (!moved.contains(pair(list[i], target))) return check(id, list[i]);
        }
        return check(id, node_out_of_tree(h, op));
      });
  return wrong;
}

}  // namespace

std::uint32_t node_out_of_tree(const History& history, const Operation& read) {
  const auto list = history.list(read);
  base::HashMap<std::uint32_t, std::uint32_t> above;
  for (std::size_t i = 0; i < list.size(); i += 2) {
    if (!above.try_emplace(list[i], list[i + 1]).second) return list[i];
  }
  base::HashSet<std::uint32_t> well;  // the way up from them ends at the root
  for (std::size_t i = 0; i < list.size(); i += 2) {
    std::vector<std::uint32_t> way;
    for (auto at = list[i]; !well.contains(at);) {
      const auto found = above.find(at);
      if (found == above.end() || way.size() > above.size()) return list[i];
      way.push_back(at);
      if (found->second == at) break;
      at = found->second;
    }
    well.insert(way.begin(), way.end());
  }
  return kNone;
}

ContextDecision decide_known_tree(const KnownContext& context) {
  if (auto wrong = wrong_alone(context))
    return {.verdict = Verdict::kViolated, .wrong = std::move(wrong)};
  return MoveOrderSearch(context).run();
}

}  // namespace cupel::crdt
