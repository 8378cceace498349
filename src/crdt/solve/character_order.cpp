// Character order: see the header.
#include "crdt/solve/character_order.hpp"

#include <algorithm>

#include "base/rank_set.hpp"

namespace cupel::crdt {

OrderedCharacters::OrderedCharacters(const KnownContext& context)
    : context_(context),
      h_(context.history),
      inserts_(inserts_of(h_)),
      neighbours_(neighbours_of(h_)),
      node_of_(h_.elements.size(), kNone),
      key_begin_(h_.keys.size() + 1, 0) {
  for (const OpId id : context.visibility.order()) {
    const auto changed = h_.changed(h_.ops[id]);
    if (h_.ops[id].kind == Kind::kInsert)
      element_of_.insert(element_of_.end(), changed.begin(), changed.end());
  }
  std::stable_sort(element_of_.begin(), element_of_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return h_.elements[a].key < h_.elements[b].key;
  });
  for (std::uint32_t node = 0; node < element_of_.size(); ++node) {
    node_of_[element_of_[node]] = node;
    ++key_begin_[h_.elements[element_of_[node]].key + 1];
  }
  for (std::size_t key = 0; key < h_.keys.size(); ++key) key_begin_[key + 1] += key_begin_[key];
}

const KeyEvents& OrderedCharacters::events() {
  if (!events_) events_.emplace(h_, context_.visibility);
  return *events_;
}

void OrderedCharacters::add_given(BetweenOrder& order) const {
  for (OpId id = 0; id < h_.ops.size(); ++id) {
    if (h_.ops[id].kind != Kind::kList) continue;
    const auto list = h_.list(h_.ops[id]);
    for (std::size_t i = 0; i + 1 < list.size(); ++i)
      order.add(node_of_[list[i]], node_of_[list[i + 1]], id);
  }
  // Last, and even where a read says the same: the search goes on with the last step of a
  // character, so removed characters, which no read relates, stand next to their neighbours.
  for (const auto e : element_of_) {
    if (neighbours_[e] != kNone) order.add_next(node_of_[neighbours_[e]], node_of_[e], inserts_[e]);
  }
}

// Key by key: what one needs is in few places of the memory then.
std::vector<BetweenOrder::Misplaced> OrderedCharacters::misplaced(const BetweenOrder& order,
                                                                  const std::vector<bool>* unsure) {
  std::vector<BetweenOrder::Misplaced> found;
  const KeyEvents& all = events();
  for (std::uint32_t key = 0; key < h_.keys.size(); ++key) {
    if (order.is_open(key)) misplaced_in(key, all, order, unsure, found);
  }
  return found;
}

void OrderedCharacters::misplaced_in(std::uint32_t key, const KeyEvents& events,
                                     const BetweenOrder& order, const std::vector<bool>* unsure,
                                     std::vector<BetweenOrder::Misplaced>& found) const {
  const auto begin = key_begin_[key];  // `shown` counts from its rank
  base::RankSet shown(key_begin_[key + 1] - begin);
  std::vector<bool> removed;  // by node of the key
  // From the neighbour on: what comes next to it decides where the others are.
  const auto look_between = [&](std::uint32_t e) {
    const auto left = neighbours_[e] == kNone ? kNone : node_of_[neighbours_[e]];
    const auto right = node_of_[e];
    int count = 0;
    for (auto at = shown.from(left == kNone ? 0 : order.rank(left) + 1 - begin);
         at < order.rank(right) - begin && count < kMostMisplaced; at = shown.from(at + 1)) {
      const auto x = order.at(begin + at);
      if (unsure != nullptr && (*unsure)[element_of_[x]]) continue;
      found.push_back({left, right, x, inserts_[e]});
      ++count;
    }
  };
  events.replay(
      key,
      [&](std::uint32_t) {
        shown.clear();
        removed.assign(key_begin_[key + 1] - begin, false);
      },
      [&](OpId update) {
        const Operation& op = h_.ops[update];
        if (op.kind == Kind::kMark) return;
        for (const auto e : h_.changed(op)) {
          if (node_of_[e] == kNone) continue;
          if (op.kind == Kind::kDelete) {
            removed[node_of_[e] - begin] = true;
            shown.erase(order.rank(node_of_[e]) - begin);
          } else if (!removed[node_of_[e] - begin]) {
            shown.insert(order.rank(node_of_[e]) - begin);
          }
        }
      },
      [&](OpId id) {
        if (h_.ops[id].kind != Kind::kInsert) return true;
        for (const auto e : h_.changed(h_.ops[id])) look_between(e);
        return true;
      });
}

std::vector<std::uint32_t> OrderedCharacters::characters(const BetweenOrder& order) const {
  std::vector<std::uint32_t> all;
  all.reserve(element_of_.size());
  for (const auto node : order.order()) all.push_back(element_of_[node]);
  return all;
}

void OrderedCharacters::add_reasons(const BetweenOrder::Edge& edge,
                                    std::set<OpId>& operations) const {
  operations.insert({edge.by, inserts_[element_of_[edge.from]], inserts_[element_of_[edge.to]]});
  const Operation& by = h_.ops[edge.by];
  if (by.kind == Kind::kInsert && by.parent != kNone) operations.insert(inserts_[by.parent]);
}

Step OrderedCharacters::step(const BetweenOrder::Edge& edge) const {
  const auto from = element_of_[edge.from], to = element_of_[edge.to];
  return {inserts_[from], inserts_[to], Why::kListed, edge.by, from, to};
}

}  // namespace cupel::crdt
