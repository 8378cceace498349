// List order: see the header. The search is that of between_order.hpp.
#include "crdt/solve/list_order.hpp"

#include <algorithm>
#include <set>

#include "base/rank_set.hpp"
#include "crdt/solve/between_order.hpp"

namespace cupel::crdt {

namespace {

class ListOrderSearch {
 public:
  ListOrderSearch(const KnownContext& context, bool certain)
      : context_(context),
        h_(context.history),
        certain_(certain),
        inserts_(inserts_of(h_)),
        neighbours_(neighbours_of(h_)),
        removed_ever_(h_.elements.size(), false),
        node_of_(h_.elements.size(), kNone),
        removed_in_(h_.elements.size(), 0) {
    for (const OpId id : context.visibility.order()) {
      const Operation& op = h_.ops[id];
      const auto changed = h_.changed(op);
      if (op.kind == Kind::kInsert)
        element_of_.insert(element_of_.end(), changed.begin(), changed.end());
      if (op.kind != Kind::kDelete) continue;
      for (const auto e : changed) {
        // Which of two removes a read had seen is a guess, and so is what came with it.
        steps_only_ = steps_only_ || (certain && removed_ever_[e]);
        removed_ever_[e] = true;
      }
    }
    std::stable_sort(element_of_.begin(), element_of_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return h_.elements[a].key < h_.elements[b].key;
    });
    key_begin_.assign(h_.keys.size() + 1, 0);
    for (std::uint32_t node = 0; node < element_of_.size(); ++node) {
      node_of_[element_of_[node]] = node;
      ++key_begin_[h_.elements[element_of_[node]].key + 1];
    }
    for (std::size_t key = 0; key < h_.keys.size(); ++key) key_begin_[key + 1] += key_begin_[key];
  }

  ListOrder run() {
    if (context_.budget.exceeded()) return {};  // what the reads show may be unchecked
    BetweenOrder order(key_begin_);
    add_given(order);
    const auto answer = order.run([&] { return misplaced(order); }, context_.budget);
    ListOrder result{.verdict = answer.verdict};
    if (answer.verdict == Verdict::kSatisfied) {
      for (const auto node : order.order()) result.characters.push_back(element_of_[node]);
    }
    if (answer.verdict == Verdict::kViolated) explain(order, answer, result);
    return result;
  }

 private:
  struct Event {
    OpId op;    // kNone: what follows is of the next replica
    bool adds;  // its replica executes it; else it comes
  };

  void add_given(BetweenOrder& order) const {
    for (OpId id = 0; id < h_.ops.size(); ++id) {
      if (h_.ops[id].kind != Kind::kList) continue;
      const auto list = h_.list(h_.ops[id]);
      for (std::size_t i = 0; i + 1 < list.size(); ++i)
        order.add(node_of_[list[i]], node_of_[list[i + 1]], id);
    }
    // Last, and even where a read says the same: the search goes on with the last step of a
    // character, so removed characters, which no read relates, stand next to their neighbours.
    for (const auto e : element_of_) {
      if (neighbours_[e] != kNone)
        order.add_next(node_of_[neighbours_[e]], node_of_[e], inserts_[e]);
    }
  }

  // Visible characters between a neighbour and a new character, for all additions to the keys that
  // are looked at. Key by key: what one needs is in few places of the memory then.
  std::vector<BetweenOrder::Misplaced> misplaced(const BetweenOrder& order) {
    std::vector<BetweenOrder::Misplaced> found;
    if (steps_only_) return found;
    if (events_.empty()) find_events();
    for (std::uint32_t key = 0; key < h_.keys.size(); ++key) {
      if (order.is_open(key)) misplaced_in(key, order, found);
    }
    return found;
  }

  // What each replica adds to a key, and the updates of the key that come to it, in its order.
  void find_events() {
    events_.resize(h_.keys.size());
    std::vector<std::uint32_t> last(h_.keys.size(), kNone);
    std::uint32_t replica = 0;
    const auto note = [&](OpId id, bool adds) {
      const auto key = h_.ops[id].key;
      if (h_.ops[id].kind == Kind::kMark) return;
      if (last[key] != replica) events_[key].push_back({kNone, false});
      last[key] = replica;
      events_[key].push_back({id, adds});
    };
    replay(
        context_, [&](std::uint32_t r) { replica = r; },
        [&](OpId update) { note(update, /*adds=*/false); },
        [&](OpId id) {
          if (h_.ops[id].kind == Kind::kInsert) note(id, /*adds=*/true);
          return true;
        });
  }

  void misplaced_in(std::uint32_t key, const BetweenOrder& order,
                    std::vector<BetweenOrder::Misplaced>& found) {
    const auto begin = key_begin_[key];
    base::RankSet shown(key_begin_[key + 1] - begin);
    for (const Event& event : events_[key]) {
      if (event.op == kNone) {  // the next replica
        shown.clear();
        ++replay_;
        continue;
      }
      const Operation& op = h_.ops[event.op];
      for (const auto e : h_.changed(op)) {
        if (event.adds) {
          look_between(e, order, shown, found);
        } else if (op.kind == Kind::kDelete) {
          removed_in_[e] = replay_;
          if (node_of_[e] != kNone) shown.erase(order.rank(node_of_[e]) - begin);
        } else if (removed_in_[e] != replay_) {
          shown.insert(order.rank(node_of_[e]) - begin);
        }
      }
    }
  }

  // From the neighbour on: what comes next to it decides where the others are. `shown` counts from
  // the first rank of the key.
  void look_between(std::uint32_t e, const BetweenOrder& order, const base::RankSet& shown,
                    std::vector<BetweenOrder::Misplaced>& found) const {
    constexpr int kMost = 4;  // a round; the next finds more
    const auto left = neighbours_[e] == kNone ? kNone : node_of_[neighbours_[e]];
    const auto right = node_of_[e], begin = key_begin_[h_.elements[e].key];
    int count = 0;
    for (auto at = shown.from(left == kNone ? 0 : order.rank(left) + 1 - begin);
         at < order.rank(right) - begin && count < kMost; at = shown.from(at + 1)) {
      const auto x = order.at(begin + at);
      // Who sees more may see a remove of it, too.
      if (certain_ && removed_ever_[element_of_[x]]) continue;
      found.push_back({left, right, x, inserts_[e]});
      ++count;
    }
  }

  void explain(const BetweenOrder& order, const BetweenOrder::Answer& answer,
               ListOrder& result) const {
    if (answer.cycle.empty()) {  // no choice fits
      for (OpId id = 0; id < h_.ops.size(); ++id) {
        if (h_.ops[id].kind == Kind::kInsert || h_.ops[id].kind == Kind::kList)
          result.operations.push_back(id);
      }
      return;
    }
    result.by_steps_alone = true;
    std::set<OpId> operations;
    for (const auto id : answer.why) {
      const auto& edge = order.edge(id);
      const auto to = element_of_[edge.to];
      operations.insert({edge.by, inserts_[element_of_[edge.from]], inserts_[to]});
      if (h_.ops[edge.by].kind == Kind::kInsert && h_.ops[edge.by].parent != kNone)
        operations.insert(inserts_[h_.ops[edge.by].parent]);
      const bool is_shown = is_read(h_.ops[edge.by].kind) || edge.by == inserts_[to];
      result.by_steps_alone = result.by_steps_alone && is_shown && !order.is_derived(id);
    }
    result.operations.assign(operations.begin(), operations.end());
    for (const auto id : answer.cycle) {
      const auto& edge = order.edge(id);
      const auto from = element_of_[edge.from], to = element_of_[edge.to];
      result.cycle.push_back({inserts_[from], inserts_[to], Why::kListed, edge.by, from, to});
    }
  }

  const KnownContext& context_;
  const History& h_;
  const bool certain_;
  const std::vector<OpId> inserts_;
  const std::vector<std::uint32_t> neighbours_;
  std::vector<bool> removed_ever_;
  bool steps_only_ = false;
  // By key; those that happened before others before them.
  std::vector<std::uint32_t> element_of_, node_of_;
  std::vector<std::uint32_t> key_begin_;    // by key, and the end: the first node
  std::vector<std::vector<Event>> events_;  // by key
  std::vector<std::uint32_t> removed_in_;   // by element: a replay of a key at a replica
  std::uint32_t replay_ = 0;
};

}  // namespace

ListOrder order_of_list(const KnownContext& context, bool certain) {
  return ListOrderSearch(context, certain).run();
}

}  // namespace cupel::crdt
