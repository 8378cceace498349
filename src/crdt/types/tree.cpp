// Tree: nodes with one parent each, which are moved. A read returns the tree that the visible moves
// make one after the other, in an order of all moves of the tree that contains happens-before. A
// move below the node itself has no effect (Kleppmann, Mulligan, Gomes and Beresford, A
// highly-available move operation for replicated trees, 2022). A remove moves the node, and all
// that is below it, out of the tree. Siblings have no order. Decided by solve/move_order.hpp, with
// known deliveries only; the simulated replica undoes and repeats moves as in the paper.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "crdt/explain/context_explainer.hpp"
#include "crdt/explain/read_explainer.hpp"
#include "crdt/solve/move_order.hpp"
#include "crdt/solve/tree_state.hpp"
#include "crdt/types/common_bugs.hpp"
#include "crdt/workload/simulated_replica.hpp"

namespace cupel::crdt {

namespace {

constexpr std::string_view kMakesCycles = "makes-cycles";

class TreeReplica final : public SimulatedReplica {
 public:
  TreeReplica(const History& history, std::string_view bug, std::uint32_t self)
      : SimulatedReplica(history, self),
        arrival_decides_(bug == ignores_timestamp().name),
        makes_cycles_(bug == kMakesCycles) {}

  [[nodiscard]] bool accepts(const Operation& update) override {
    return !is_below(TreeState::target_of(update), update.element);
  }

  void answer(Operation& read, std::vector<std::uint32_t>& list) override {
    for (const auto node : at(nodes_, read.key)) {
      if (!is_shown(node)) continue;
      const auto parent = target(node);
      list.push_back(node);
      list.push_back(parent == TreeState::kRoot ? node : parent);
    }
  }

  [[nodiscard]] std::span<const std::vector<std::uint32_t>> visible() const override {
    shown_.resize(h_.keys.size());
    for (const auto key : changed_) {
      shown_[key].clear();
      for (const auto node : nodes_[key]) {
        if (is_shown(node)) shown_[key].push_back(node);
      }
    }
    changed_.clear();
    return shown_;
  }

 private:
  // The last move of a node, where the replica undoes none.
  struct Latest {
    std::uint64_t rank = 0;
    std::uint32_t target = kNone;
  };

  void change(const Update& update, base::Random& /*random*/) override {
    const Operation& op = update.op;
    auto& nodes = at(nodes_, op.key);
    changed_.insert(op.key);
    const auto place = std::lower_bound(nodes.begin(), nodes.end(), op.element);
    if (place == nodes.end() || *place != op.element) nodes.insert(place, op.element);
    const auto to = TreeState::target_of(op);
    const auto rank =
        arrival_decides_ ? ++arrivals_ : (update.stamp << kReplicaBits) + update.tie + 1;
    if (!makes_cycles_) {
      state_.add({rank, update.id, op.key, op.element, to});
      state_.perform_added(op.key);
      return;
    }
    Latest& latest = at(latest_, op.element);
    if (latest.rank < rank) latest = {rank, to};
  }

  [[nodiscard]] std::uint32_t target(std::uint32_t node) const {
    if (!makes_cycles_) return state_.target(node);
    return node < latest_.size() ? latest_[node].target : kNone;
  }
  // The end of the way up; a node if the way is a cycle.
  [[nodiscard]] std::uint32_t top(std::uint32_t node) const {
    for (std::size_t steps = 0; TreeState::is_node(node) && steps <= h_.elements.size(); ++steps)
      node = target(node);
    return node;
  }
  [[nodiscard]] bool is_shown(std::uint32_t node) const { return top(node) == TreeState::kRoot; }
  [[nodiscard]] bool is_below(std::uint32_t node, std::uint32_t above) const {
    for (std::size_t steps = 0; TreeState::is_node(node) && steps <= h_.elements.size(); ++steps) {
      if (node == above) return true;
      node = target(node);
    }
    return false;
  }

  static constexpr std::uint64_t kReplicaBits = 24;

  const bool arrival_decides_, makes_cycles_;
  std::uint64_t arrivals_ = 0;
  TreeState state_;
  std::vector<Latest> latest_;                             // by node
  std::vector<std::vector<std::uint32_t>> nodes_;          // by key: that were moved, ascending
  mutable std::vector<std::vector<std::uint32_t>> shown_;  // by key, as asked for last
  mutable std::set<std::uint32_t> changed_;                // keys, since then
};

class Tree final : public ReplicatedType {
 public:
  Tree()
      : ReplicatedType(
            {.names = {{"tree"}},
             .whole_read = Kind::kTree,
             .bugs = {{ignores_timestamp().name,
                       "moves take effect in the order in which they arrive"},
                      {kMakesCycles,
                       "a move below the node itself takes effect, and the cycle leaves the tree"}},
             .injected = {"loses-update", "clock-apart"},
             .order_by_object = true,
             .needs_deliveries = true,
             .calls = {{"move", Kind::kMove, Argument::kTo, Answer::kAbsent,
                        "the node and its new parent (null: none), as in [\"a\",\"b\"], two "
                        "different ones"},
                       {"remove", Kind::kDelete, Argument::kElement, Answer::kAbsent,
                        "the node to remove"},
                       {"read", Kind::kTree, Argument::kAbsent, Answer::kTree,
                        "each node with its parent (null: none), as in "
                        "[[\"a\",null],[\"b\",\"a\"]]"}},
             .methods = "move, remove or read of a tree",
             .decide_context = decide_known_tree,
             .simulate = simulate_by<TreeReplica>,
             .summary_of_no_order =
                 "no order of the moves makes the trees that these reads show"}) {}

  // Without deliveries trees are refused (TypeTraits::needs_deliveries).
  bool encode(Encoder& /*encoder*/) const override { return false; }
  void explain_read(ReadExplainer& explainer) const override {
    explainer.report("order-disagreement", std::string(traits().summary_of_no_order));
  }

  void choose(RequestChoice& choice) const override {
    if (choice.read) return;
    constexpr std::size_t kMostNodes = 5;  // so that moves make cycles often
    Operation& op = choice.op;
    auto& random = choice.random;
    const auto& known = choice.visible[op.key];
    const auto any = [&] { return known[random.below(known.size())]; };
    if (!known.empty() && choice.down && random.chance(0.1)) {
      op.kind = Kind::kDelete;
      op.element = any();
      return;
    }
    op.kind = Kind::kMove;
    if (known.size() < 2 || (known.size() < kMostNodes && random.chance(0.3)))
      op.element = choice.history.element(op.key, fmt::format("\"n{}\"", choice.fresh++));
    else
      op.element = any();
    if (!known.empty() && !random.chance(0.15)) op.parent = any();
    if (op.parent == op.element) op.parent = kNone;
  }

  void explain_received(ContextExplainer& explainer) const override {
    const History& h = explainer.history();
    const auto node = explainer.object();
    const std::string name = h.element_text(node);
    if (explainer.read().kind != Kind::kTree) {
      explainer.report("used-unseen-node",
                       fmt::format("{} names {}, which no move that it had received put into the "
                                   "tree",
                                   explainer.where(), name),
                       moves_of(explainer, node, /*seen=*/false));
      return;
    }
    const auto list = h.list(explainer.read());
    std::size_t at = 0;
    while (at < list.size() && list[at] != node) at += 2;
    if (at == list.size()) {
      report_impossible(explainer, name + " is not there");
    } else {
      explain_shown(explainer, list[at] == list[at + 1] ? TreeState::kRoot : list[at + 1]);
    }
  }

 private:
  static std::vector<OpId> moves_of(const ContextExplainer& explainer, std::uint32_t node,
                                    bool seen) {
    std::vector<OpId> found;
    for (const Kind kind : {Kind::kMove, Kind::kDelete}) {
      for (const OpId id : seen ? explainer.visible(kind) : explainer.not_visible(kind)) {
        if (explainer.history().ops[id].element == node) found.push_back(id);
      }
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  static std::string place_text(const History& h, std::uint32_t target) {
    return target == TreeState::kRoot ? "at the top" : "below " + h.element_text(target);
  }

  // Why a read that shows the node so is no tree.
  static std::string misplaced(const History& h, const Operation& read, std::uint32_t node) {
    const auto list = h.list(read);
    std::vector<std::uint32_t> parents;
    bool is_parent_shown = false;
    for (std::size_t i = 0; i + 1 < list.size(); i += 2) {
      if (list[i] == node) parents.push_back(list[i + 1]);
    }
    for (std::size_t i = 0; i + 1 < list.size(); i += 2)
      is_parent_shown = is_parent_shown || (!parents.empty() && list[i] == parents[0]);
    const auto name = h.element_text(node);
    if (parents.size() > 1) return name + " twice";
    if (is_parent_shown || parents.empty()) return name + " below itself";
    return fmt::format("{} below {}, which it does not show", name, h.element_text(parents[0]));
  }

  static void report_impossible(ContextExplainer& explainer, const std::string& what) {
    explainer.report(
        "order-disagreement",
        fmt::format("{} shows a tree that no order of the moves that it had received makes: {}",
                    explainer.where(), what),
        explainer.operations());
  }

  // The read shows the object there.
  static void explain_shown(ContextExplainer& explainer, std::uint32_t target) {
    const History& h = explainer.history();
    const auto node = explainer.object();
    const std::string claim = fmt::format("{} {}", h.element_text(node), place_text(h, target));
    const auto there = [&](OpId id) { return TreeState::target_of(h.ops[id]) == target; };
    auto seen = moves_of(explainer, node, /*seen=*/true);
    if (std::none_of(seen.begin(), seen.end(), there)) {
      auto others = moves_of(explainer, node, /*seen=*/false);
      std::erase_if(others, [&](OpId id) { return !there(id); });
      explainer.report(
          others.empty() ? "thin-air" : "not-received",
          others.empty()
              ? fmt::format("{} shows {}, where no move put it", explainer.where(), claim)
              : fmt::format("{} shows {}; it had not received {}", explainer.where(), claim,
                            explainer.text(others[0])),
          others);
      return;
    }
    if (node_out_of_tree(h, explainer.read()) != kNone) {
      explainer.report(
          "not-a-tree",
          fmt::format("{} shows {}", explainer.where(), misplaced(h, explainer.read(), node)),
          seen);
      return;
    }
    const auto later = std::find_if(seen.begin(), seen.end(), [&](OpId id) {
      return std::all_of(seen.begin(), seen.end(),
                         [&](OpId other) { return !there(other) || explainer.sees(id, other); });
    });
    if (later == seen.end()) {
      report_impossible(explainer, claim);
    } else {
      auto operations = explainer.operations();
      operations.push_back(*later);
      explainer.report("stale-move",
                       fmt::format("{} shows {}; it had received {}, which is later",
                                   explainer.where(), claim, explainer.text(*later)),
                       std::move(operations));
    }
  }
};

}  // namespace

const ReplicatedType& replicated_tree() {
  static const Tree type;
  return type;
}

}  // namespace cupel::crdt
