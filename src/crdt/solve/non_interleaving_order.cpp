// Non-interleaving order: see the header.
#include "crdt/solve/non_interleaving_order.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "base/parallel.hpp"
#include "base/rank_set.hpp"
#include "crdt/solve/between_order.hpp"

namespace cupel::crdt {

namespace {

// Two characters, between which nothing stands that had not seen `seen`, one of them.
struct RunPair {
  std::uint32_t left, right, seen;
  OpId by;  // the addition of the other one
};

class RunOrderSearch {
 public:
  explicit RunOrderSearch(const KnownContext& context)
      : context_(context),
        h_(context.history),
        inserts_(inserts_of(h_)),
        events_(h_, context.visibility),
        node_of_(h_.elements.size(), kNone) {
    for (const OpId id : context.visibility.order()) {
      if (h_.ops[id].kind == Kind::kInsert) element_of_.push_back(h_.ops[id].element);
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
    find_runs();
    order_.emplace(key_begin_);
  }

  ContextDecision run() {
    BetweenOrder& order = *order_;
    for (OpId id = 0; id < h_.ops.size(); ++id) {
      if (h_.ops[id].kind != Kind::kList) continue;
      const auto list = h_.list(h_.ops[id]);
      for (std::size_t i = 1; i < list.size(); ++i)
        order.add(node_of_[list[i - 1]], node_of_[list[i]], id);
    }
    for (const auto e : element_of_) {
      const auto l = h_.ops[inserts_[e]].parent;
      if (l != kNone) order.add_next(node_of_[l], node_of_[e], inserts_[e]);
    }
    answer_ = order.run([&] { return misplaced(order); }, context_.budget);
    ContextDecision decision{.verdict = answer_.verdict};
    if (answer_.verdict == Verdict::kSatisfied) {
      for (const auto node : order.order()) decision.characters.push_back(element_of_[node]);
    }
    return decision;
  }

  // After run() has found kViolated.
  [[nodiscard]] WrongRead wrong() const {
    auto mixed = mixed_in_one_read();
    return mixed ? std::move(*mixed) : why(*order_, answer_);
  }

 private:
  // What the character was added after: another one, or the beginning of its key, by its place
  // among the nodes of the key and after them.
  [[nodiscard]] std::size_t origin(std::uint32_t e) const {
    const auto key = h_.elements[e].key;
    const auto up = h_.ops[inserts_[e]].parent;
    return (up == kNone ? key_begin_[key + 1] : node_of_[up]) - key_begin_[key];
  }

  void find_runs() {
    struct Origin {
      std::uint32_t own = kNone;  // the last one added there, by this replica
      bool any = false, removed = false;
    };
    std::uint32_t self = 0;
    std::vector<Origin> origins;
    const auto begin = [&](std::uint32_t r) {
      self = r;
      std::fill(origins.begin(), origins.end(), Origin{});
    };
    const auto find_runs_of = [&](std::uint32_t key) {
      origins.resize(key_begin_[key + 1] - key_begin_[key] + 1);
      events_.replay(
          key, begin,
          [&](OpId update) {
            const Operation& op = h_.ops[update];
            Origin& there = origins[origin(op.element)];
            if (op.kind == Kind::kDelete) {
              there.removed = true;
            } else {
              there.any = true;
              there.own = op.replica == self ? op.element : kNone;
            }
          },
          [&](OpId id) {
            const Operation& op = h_.ops[id];
            if (op.kind != Kind::kInsert) return true;
            const Origin& there = origins[origin(op.element)];
            if (!there.any && op.parent != kNone)
              pairs_.push_back({op.parent, op.element, op.parent, id});
            if (!there.removed && there.own != kNone)
              pairs_.push_back({op.element, there.own, there.own, id});
            return true;
          });
    };
    for (std::uint32_t key = 0; key < h_.keys.size(); ++key) find_runs_of(key);
    std::stable_sort(pairs_.begin(), pairs_.end(), [&](const RunPair& a, const RunPair& b) {
      return std::pair(h_.ops[a.by].replica, a.by) < std::pair(h_.ops[b.by].replica, b.by);
    });
  }

  [[nodiscard]] bool may_stand(std::uint32_t x, const RunPair& pair) const {
    return context_.visibility.sees(inserts_[x], inserts_[pair.seen]);
  }

  std::vector<BetweenOrder::Misplaced> misplaced(const BetweenOrder& order) const {
    std::vector<BetweenOrder::Misplaced> found;
    for (std::uint32_t key = 0; key < h_.keys.size(); ++key) {
      if (order.is_open(key)) misplaced_in(key, order, found);
    }
    for (const RunPair& pair : pairs_) {
      if (order.is_open(h_.ops[pair.by].key)) look_in_run(pair, order, found);
    }
    return found;
  }

  void misplaced_in(std::uint32_t key, const BetweenOrder& order,
                    std::vector<BetweenOrder::Misplaced>& found) const {
    const auto first = key_begin_[key];
    base::RankSet shown(key_begin_[key + 1] - first);
    std::vector<bool> removed;  // by node of the key
    events_.replay(
        key,
        [&](std::uint32_t) {
          shown.clear();
          removed.assign(key_begin_[key + 1] - first, false);
        },
        [&](OpId update) {
          const Operation& op = h_.ops[update];
          const auto node = node_of_[op.element];
          if (op.kind == Kind::kDelete) {
            removed[node - first] = true;
            shown.erase(order.rank(node) - first);
          } else if (!removed[node - first]) {
            shown.insert(order.rank(node) - first);
          }
        },
        [&](OpId id) {
          if (context_.budget.exceeded()) return false;
          if (h_.ops[id].kind == Kind::kInsert) look_between(id, order, shown, found);
          return true;
        });
  }

  static constexpr int kMost = 4;  // a round; the next finds more

  // Visible characters between a new one and its neighbour.
  void look_between(OpId id, const BetweenOrder& order, const base::RankSet& shown,
                    std::vector<BetweenOrder::Misplaced>& found) const {
    const Operation& op = h_.ops[id];
    const auto node = node_of_[op.element];
    const auto left = op.parent == kNone ? kNone : node_of_[op.parent];
    int count = 0;
    const auto first = key_begin_[op.key];  // `shown` counts from it
    for (auto at = shown.from(left == kNone ? 0 : order.rank(left) + 1 - first);
         at < order.rank(node) - first && count < kMost; at = shown.from(at + 1)) {
      found.push_back({left, node, order.at(first + at), id});
      ++count;
    }
  }

  void look_in_run(const RunPair& pair, const BetweenOrder& order,
                   std::vector<BetweenOrder::Misplaced>& found) const {
    int count = 0;
    const auto end = order.rank(node_of_[pair.right]);
    for (auto at = order.rank(node_of_[pair.left]) + 1; at < end && count < kMost; ++at) {
      if (may_stand(element_of_[order.at(at)], pair)) continue;
      found.push_back({node_of_[pair.left], node_of_[pair.right], order.at(at), pair.by});
      ++count;
    }
  }

  // A read that shows what may not stand there between two characters.
  [[nodiscard]] std::optional<WrongRead> mixed_in_one_read() const {
    std::vector<std::uint32_t> place(h_.elements.size());
    std::vector<OpId> shown_by(h_.elements.size(), kNone);
    for (OpId id = 0; id < h_.ops.size(); ++id) {
      const Operation& op = h_.ops[id];
      if (op.kind != Kind::kList) continue;
      const auto list = h_.list(op);
      for (std::uint32_t i = 0; i < list.size(); ++i) {
        place[list[i]] = i;
        shown_by[list[i]] = id;
      }
      for (const RunPair& pair : pairs_) {
        if (shown_by[pair.left] != id || shown_by[pair.right] != id) continue;
        for (auto i = place[pair.left] + 1; i < place[pair.right]; ++i) {
          if (may_stand(list[i], pair)) continue;
          return WrongRead{
              .read = id,
              .object = list[i],
              .cycle = {},
              .operations = {id, inserts_[pair.left], inserts_[pair.right], inserts_[list[i]]}};
        }
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] WrongRead why(const BetweenOrder& order, const BetweenOrder::Answer& answer) const {
    WrongRead wrong;
    std::set<OpId> operations;
    for (const auto id : answer.why) {
      const auto& edge = order.edge(id);
      const auto x = element_of_[edge.from], y = element_of_[edge.to];
      operations.insert({edge.by, inserts_[x], inserts_[y]});
      if (h_.ops[edge.by].kind == Kind::kInsert && h_.ops[edge.by].parent != kNone)
        operations.insert(inserts_[h_.ops[edge.by].parent]);
      for (const RunPair& pair : pairs_) {
        if (pair.by == edge.by) operations.insert(inserts_[pair.seen]);
      }
    }
    for (const auto id : answer.cycle) {
      const auto& edge = order.edge(id);
      const auto x = element_of_[edge.from], y = element_of_[edge.to];
      wrong.cycle.push_back({inserts_[x], inserts_[y], Why::kListed, edge.by, x, y});
    }
    for (const OpId id : operations) {
      if (is_read(h_.ops[id].kind) || wrong.read == kNone) wrong.read = id;
    }
    wrong.object = element_of_[order.edge(answer.why.front()).to];
    wrong.operations.assign(operations.begin(), operations.end());
    return wrong;
  }

  const KnownContext& context_;
  const History& h_;
  const std::vector<OpId> inserts_;
  const KeyEvents events_;
  std::vector<std::uint32_t> element_of_, node_of_;  // those of a key together
  std::vector<std::uint32_t> key_begin_;
  std::vector<RunPair> pairs_;
  std::optional<BetweenOrder> order_;
  BetweenOrder::Answer answer_;
};

// Else the content is wrong, and nothing is known of an order.
bool names_what_was_added(const History& h) {
  const auto inserts = inserts_of(h);
  const auto is_added = [&](std::uint32_t e) { return inserts[e] != kNone; };
  return std::all_of(h.ops.begin(), h.ops.end(), [&](const Operation& op) {
    if (is_read(op.kind)) return true;
    const auto changed = h.changed(op);
    return (op.parent == kNone || is_added(op.parent)) &&
           std::all_of(changed.begin(), changed.end(), is_added);
  });
}

}  // namespace

// Who keeps runs together is a list, so the search for the order of a list is for the others.
ContextDecision decide_known_non_interleaving(const KnownContext& context) {
  ContextDecision content;
  std::optional<RunOrderSearch> search;
  base::for_each_index(2, context.threads, [&](std::size_t order) {
    if (order == 0)
      content = known_characters(context);
    else if (names_what_was_added(context.history))
      search.emplace(context);
  });
  if (content.verdict == Verdict::kViolated) return content;
  if (!search) search.emplace(context);
  auto decision = search->run();
  if (decision.verdict == Verdict::kSatisfied) return decision;
  auto list = decide_known_list(context);
  if (list.verdict == Verdict::kViolated) return list;
  if (decision.verdict == Verdict::kViolated) decision.wrong = search->wrong();
  return decision;
}

}  // namespace cupel::crdt
