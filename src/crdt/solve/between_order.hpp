// Between order: orders of nodes, by steps from one to another, and by rules that a node may not
// stand between two others.
//
//   BetweenOrder order({0, 3, 5});           // two groups: the nodes 0 to 2, and 3 and 4
//   order.add(0, 2, op);                     // 0 is in front of 2
//   auto answer = order.run(find, budget);   // find() names nodes that stand where they may not
//
// A group is sorted by its steps, depth first, so that what was added last after a node comes
// directly after it. Where find() then names a node x that stands between `left` and `right`, a
// step is added: from `right` to x if x is after `left` by the steps, x to `left` if it is before
// `right` by them; otherwise the first, which is a free choice. A cycle of steps that rest on no
// choice proves that there is no order. If a cycle has a choice, the choices are tried one after
// the other, up to a number of times: the problem in general is NP-complete (betweenness).
//
// Cost: rounds × (nodes and steps of the groups that changed, and find()).
#pragma once

#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/budget.hpp"
#include "base/hash_table.hpp"
#include "crdt/solve/decide.hpp"

namespace cupel::crdt {

class BetweenOrder {
 public:
  struct Edge {
    std::uint32_t from, to;
    OpId by;      // the operation that asks for it
    bool chosen;  // a free choice, or because of one
  };
  // x stands between the two, and `by` does not allow it.
  struct Misplaced {
    std::uint32_t left, right, x;  // left: kNone: the beginning of the group
    OpId by;
  };
  struct Answer {
    Verdict verdict = Verdict::kUnknown;
    std::vector<std::uint32_t> cycle = {};  // of kViolated: steps; empty: no choice of any fits
    std::vector<std::uint32_t> why = {};    // of kViolated: with those that they rest on
  };
  using Find = std::function<std::vector<Misplaced>()>;

  // Group g has the nodes from groups[g] up to groups[g + 1].
  explicit BetweenOrder(std::vector<std::uint32_t> groups);

  void add(std::uint32_t from, std::uint32_t to, OpId by) { add({from, to, by, false}); }
  // The same, and the node comes next after `from` if no other step keeps it back.
  void add_next(std::uint32_t from, std::uint32_t to, OpId by);
  // `find` looks at the groups that are open, and names some nodes at least if any is misplaced.
  Answer run(const Find& find, base::Budget& budget);

  [[nodiscard]] std::uint32_t group(std::uint32_t node) const { return group_of_[node]; }
  [[nodiscard]] std::uint32_t group_begin(std::uint32_t group) const { return groups_[group]; }
  [[nodiscard]] bool is_open(std::uint32_t group) const { return open_[group]; }
  // Places are those of the groups, one group after the other.
  [[nodiscard]] std::uint32_t rank(std::uint32_t node) const { return rank_[node]; }
  [[nodiscard]] std::uint32_t at(std::uint32_t rank) const { return order_[rank]; }
  [[nodiscard]] const std::vector<std::uint32_t>& order() const { return order_; }
  [[nodiscard]] const Edge& edge(std::uint32_t id) const { return edges_[id]; }
  // It was added for where find() saw a node, because of other steps.
  [[nodiscard]] bool is_derived(std::uint32_t id) const { return because_.contains(id); }

 private:
  bool add(const Edge& edge, std::vector<std::uint32_t> because = {});
  void keep(std::size_t count);
  bool sort(bool all);
  bool sort_group(std::uint32_t group, bool all);
  void open_groups_of(const std::vector<Misplaced>& wrong);
  bool resolve(const Misplaced& one, bool choose);
  std::optional<std::vector<std::uint32_t>> reach(std::uint32_t from, std::uint32_t to,
                                                  bool chosen);
  Answer violated();
  Answer try_choices(const Find& find, base::Budget& budget);
  bool search(const Find& find, base::Budget& budget, int& tries);

  const std::vector<std::uint32_t> groups_;
  std::vector<std::uint32_t> group_of_;  // by node
  std::vector<Edge> edges_;
  std::vector<std::vector<std::uint32_t>> out_;  // by node: edges
  base::HashSet<std::uint64_t> known_;
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> because_;  // by edge: edges
  std::vector<bool> open_;                                                 // by group
  std::vector<std::uint32_t> rank_, order_;
  std::vector<std::uint32_t> waiting_;  // by node, within sort_group(): steps to it; else 0
  std::vector<std::uint32_t> ready_;
  std::vector<std::uint32_t> visited_, arrived_by_;
  std::uint32_t visit_ = 0;
};

}  // namespace cupel::crdt
