// Tree encoding: see the header.
#include "crdt/solve/tree_encoding.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "crdt/solve/tree_state.hpp"

namespace cupel::crdt {

namespace {

constexpr std::size_t kMostLiterals = 20'000'000;
constexpr std::size_t kMostSeen = 4'000;

}  // namespace

TreeEncoding::TreeEncoding(const KnownContext& context, solver::AcyclicSolver& solver,
                           Orders orders, graph::Node first_node, std::size_t nodes)
    : context_(context),
      h_(context.history),
      solver_(solver),
      orders_(std::move(orders)),
      next_node_(first_node),
      end_node_(static_cast<graph::Node>(first_node + nodes)),
      true_(solver.new_variable()) {
  clause({true_});
}

bool TreeEncoding::add(OpId read) {
  const Operation& op = h_.ops[read];
  seen_.clear();
  for (const OpId id : context_.visibility.arrivals(op.replica)) {
    if (context_.visibility.since(op.replica, id) > op.seq) break;
    if (h_.ops[id].key == op.key) seen_.push_back(id);
  }
  if (seen_.size() > kMostSeen) return false;
  std::sort(seen_.begin(), seen_.end());
  show(read, point(kNone, seen_));
  while (!due_.empty()) {
    if (size_ > kMostLiterals || context_.budget.exceeded()) {
      due_.clear();
      return false;
    }
    const Due next = due_.back();
    due_.pop_back();
    define(next);
  }
  return true;
}

std::uint32_t TreeEncoding::point(OpId move, const std::vector<OpId>& seen) {
  std::vector<OpId> moves;
  for (const OpId id : seen) {
    if (move == kNone || (id != move && !is_known(move, id))) moves.push_back(id);
  }
  const auto [it, fresh] = point_of_.try_emplace(std::pair(move, std::move(moves)),
                                                 static_cast<std::uint32_t>(points_.size()));
  if (fresh) {
    Point at{.move = move, .moves = it->first.second};
    // Always before it, and always with an effect: nothing before such a move is the last one.
    std::map<std::uint32_t, std::vector<OpId>> floors;
    for (const OpId id : at.moves) {
      if (!TreeState::is_node(TreeState::target_of(h_.ops[id])) && is_stated(id) &&
          (move == kNone || is_known(id, move)))
        floors[h_.ops[id].element].push_back(id);
    }
    for (const OpId id : at.moves) {
      const auto& above = floors[h_.ops[id].element];
      if (std::none_of(above.begin(), above.end(), [&](OpId other) { return is_known(id, other); }))
        at.of_node[h_.ops[id].element].push_back(id);
    }
    points_.push_back(std::move(at));
  }
  return it->second;
}

// Whatever the order, its target is not below its node.
bool TreeEncoding::is_always_effective(const Point& at) const {
  const Operation& op = h_.ops[at.move];
  std::vector<std::uint32_t> open = {TreeState::target_of(op)};
  std::set<std::uint32_t> known(open.begin(), open.end());
  while (!open.empty()) {
    const auto node = open.back();
    open.pop_back();
    if (node == op.element) return false;
    const auto own = at.of_node.find(node);
    if (own == at.of_node.end()) continue;
    for (const OpId id : own->second) {
      const auto target = TreeState::target_of(h_.ops[id]);
      if (TreeState::is_node(target) && known.insert(target).second) open.push_back(target);
    }
  }
  return true;
}

TreeEncoding::Literal TreeEncoding::effect(OpId move, const std::vector<OpId>& seen) {
  const bool stated = is_stated(move);
  if (stated && !TreeState::is_node(TreeState::target_of(h_.ops[move]))) return true_;
  const auto at = point(move, seen);
  const auto [it, fresh] = effect_.try_emplace(at, 0);
  if (!fresh) return it->second;
  if (stated && is_always_effective(points_[at])) return it->second = true_;
  it->second = solver_.new_variable();
  if (stated) due_.push_back({at, it->second});
  return it->second;
}

const std::vector<std::pair<OpId, TreeEncoding::Literal>>& TreeEncoding::last_moves(
    std::uint32_t node, std::uint32_t at) {
  if (const auto it = points_[at].last.find(node); it != points_[at].last.end()) return it->second;
  std::vector<OpId> own;
  if (const auto it = points_[at].of_node.find(node); it != points_[at].of_node.end())
    own = it->second;
  const OpId end = points_[at].move;
  std::vector<std::pair<OpId, Literal>> there, last;  // before the point with an effect; the last
  for (const OpId id : own) {
    const auto effective = effect(id, seen_);
    there.emplace_back(id, end == kNone ? effective : both(before(id, end), effective));
  }
  std::erase_if(there, [&](const auto& one) { return one.second == -true_; });
  for (const auto& [id, is_there] : there)
    last.emplace_back(id, there.size() == 1 ? is_there : solver_.new_variable());
  if (there.size() > 1) {
    std::vector<Literal> some;
    for (const auto& one : last) some.push_back(one.second);
    for (std::size_t i = 0; i < there.size(); ++i) {
      clause({-last[i].second, there[i].second});
      auto any = some;
      any.push_back(-there[i].second);
      clause(std::move(any));
      for (std::size_t j = 0; j < there.size(); ++j) {
        if (i != j)
          clause({-last[i].second, -there[j].second, before(there[j].first, there[i].first)});
      }
    }
  }
  return points_[at].last[node] = std::move(last);
}

// Is the target the node of the point's move, or below it?
TreeEncoding::Literal TreeEncoding::below(std::uint32_t target, std::uint32_t at) {
  if (target == h_.ops[points_[at].move].element) return true_;
  if (!TreeState::is_node(target)) return -true_;
  if (const auto it = points_[at].below.find(target); it != points_[at].below.end())
    return it->second;
  const auto last = last_moves(target, at);
  if (last.empty()) return points_[at].below[target] = -true_;
  const auto is_below = points_[at].below[target] = solver_.new_variable();
  std::vector<Literal> some = {-is_below};
  for (const auto& [id, is_last] : last) {
    const auto above = below(TreeState::target_of(h_.ops[id]), at);
    clause({-is_last, -is_below, above});
    clause({-is_last, is_below, -above});
    some.push_back(is_last);
  }
  clause(std::move(some));
  return is_below;
}

void TreeEncoding::define(const Due& due) {
  const auto is_below = below(TreeState::target_of(h_.ops[points_[due.point].move]), due.point);
  clause({due.effect, is_below});
  clause({-due.effect, -is_below});
}

void TreeEncoding::show(OpId read, std::uint32_t end) {
  const auto list = h_.list(h_.ops[read]);
  std::map<std::uint32_t, std::uint32_t> shown;
  for (std::size_t i = 0; i < list.size(); i += 2)
    shown[list[i]] = list[i + 1] == list[i] ? TreeState::kRoot : list[i + 1];
  std::set<std::uint32_t> moved;
  for (const OpId id : seen_) moved.insert(h_.ops[id].element);
  std::map<std::uint32_t, graph::Node> hidden;  // of them, in the solver's graph
  for (const auto node : moved) {
    if (!shown.contains(node) && next_node_ < end_node_) hidden[node] = next_node_++;
  }
  for (const auto node : moved) {
    const auto place = shown.find(node);
    std::vector<Literal> some;
    for (const auto& [id, is_last] : last_moves(node, end)) {
      const auto target = TreeState::target_of(h_.ops[id]);
      if (place != shown.end()) {
        if (target == place->second)
          some.push_back(is_last);
        else
          clause({-is_last});
      } else if (target == TreeState::kRoot || shown.contains(target)) {
        clause({-is_last});
      } else if (hidden.contains(node) && hidden.contains(target)) {
        // What is not shown is no cycle, whatever the moves.
        solver_.add_arc({hidden[node], hidden[target], is_last});
      }
    }
    if (place != shown.end()) clause(std::move(some));
  }
}

bool TreeEncoding::is_known(OpId first, OpId second) const {
  return is_stated(first) && is_stated(second) && orders_.is_known(first, second);
}

TreeEncoding::Literal TreeEncoding::before(OpId first, OpId second) {
  if (is_known(first, second)) return true_;
  if (is_known(second, first)) return -true_;
  if (is_stated(first) && is_stated(second)) return orders_.before(first, second);
  const auto [it, fresh] = free_.try_emplace(std::minmax(first, second), 0);
  if (fresh) it->second = solver_.new_variable();
  return first < second ? it->second : -it->second;
}

TreeEncoding::Literal TreeEncoding::both(Literal a, Literal b) {
  if (a == true_ || b == -true_) return b;
  if (b == true_ || a == -true_) return a;
  const auto all = solver_.new_variable();
  clause({-all, a});
  clause({-all, b});
  clause({all, -a, -b});
  return all;
}

void TreeEncoding::clause(std::vector<Literal> literals) {
  if (std::find(literals.begin(), literals.end(), true_) != literals.end() && literals.size() > 1)
    return;
  std::erase(literals, -true_);
  size_ += literals.size();
  solver_.add_clause(literals);  // none: a contradiction
}

}  // namespace cupel::crdt
