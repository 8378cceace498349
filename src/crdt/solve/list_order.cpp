// List order: see the header.
#include "crdt/solve/list_order.hpp"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/hash_table.hpp"
#include "base/rank_set.hpp"

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
        out_(h_.elements.size()),
        removed_ever_(h_.elements.size(), false),
        looked_at_(h_.keys.size(), true),
        rank_(h_.elements.size(), kNone),
        waiting_(h_.elements.size(), 0),
        visited_(h_.elements.size(), 0),
        arrived_by_(h_.elements.size(), kNone),
        removed_in_(h_.elements.size(), 0) {
    for (const OpId id : context.visibility.order()) {
      const Operation& op = h_.ops[id];
      const auto changed = h_.changed(op);
      if (op.kind == Kind::kInsert) nodes_.insert(nodes_.end(), changed.begin(), changed.end());
      if (op.kind != Kind::kDelete) continue;
      for (const auto e : changed) {
        // Which of two removes a read had seen is a guess, and so is what came with it.
        steps_only_ = steps_only_ || (certain && removed_ever_[e]);
        removed_ever_[e] = true;
      }
    }
    std::stable_sort(nodes_.begin(), nodes_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return h_.elements[a].key < h_.elements[b].key;
    });
    key_begin_.assign(h_.keys.size() + 1, 0);
    for (const auto e : nodes_) ++key_begin_[h_.elements[e].key + 1];
    for (std::size_t key = 0; key < h_.keys.size(); ++key) key_begin_[key + 1] += key_begin_[key];
    order_.resize(nodes_.size());
  }

  ListOrder run() {
    add_given();
    for (;;) {
      if (context_.budget.exceeded()) return {};
      if (!sort(/*all=*/true)) {
        std::fill(looked_at_.begin(), looked_at_.end(), true);
        if (!sort(/*all=*/false)) return violated();
        return try_choices();
      }
      const auto wrong = misplaced();
      if (wrong.empty()) return satisfied();
      for (const Misplaced& one : wrong) resolve(one, /*choose=*/true);
      look_at_keys_of(wrong);
    }
  }

 private:
  struct Edge {
    std::uint32_t from, to;
    OpId by;      // the read that shows it, or the addition that asks for it
    bool chosen;  // a free choice, or because of one
  };
  // The character x lies between e and its left neighbour, and e's replica shows x.
  struct Misplaced {
    std::uint32_t e, x;
  };
  struct Event {
    OpId op;    // kNone: what follows is of the next replica
    bool adds;  // its replica executes it; else it comes
  };

  bool add(const Edge& edge, std::vector<std::uint32_t> because = {}) {
    if (!known_.insert((std::uint64_t{edge.from} << 32U) | edge.to).second) return false;
    const auto id = static_cast<std::uint32_t>(edges_.size());
    out_[edge.from].push_back(id);
    edges_.push_back(edge);
    if (!because.empty()) because_.emplace(id, std::move(because));
    return true;
  }
  void keep(std::size_t count) {
    for (; edges_.size() > count; edges_.pop_back()) {
      const Edge& last = edges_.back();
      known_.erase((std::uint64_t{last.from} << 32U) | last.to);
      out_[last.from].pop_back();
      because_.erase(static_cast<std::uint32_t>(edges_.size() - 1));
    }
  }

  [[nodiscard]] std::uint32_t neighbour(std::uint32_t e) const { return neighbours_[e]; }

  void add_given() {
    for (OpId id = 0; id < h_.ops.size(); ++id) {
      if (h_.ops[id].kind != Kind::kList) continue;
      const auto list = h_.list(h_.ops[id]);
      for (std::size_t i = 0; i + 1 < list.size(); ++i) add({list[i], list[i + 1], id, false});
    }
    // Last, and even where a read says the same: sort() goes on with the last step of a character,
    // so removed characters, which no read relates, stand next to their neighbours.
    for (const auto e : nodes_) {
      if (neighbour(e) == kNone) continue;
      known_.erase((std::uint64_t{neighbour(e)} << 32U) | e);
      add({neighbour(e), e, inserts_[e], false});
    }
  }

  // Depth first, the keys that are looked at: what was added last after a character comes first.
  // False: a cycle; what is on or after it has no rank then. No step is between two keys.
  bool sort(bool all) {
    bool sorted = true;
    for (std::uint32_t key = 0; key < looked_at_.size(); ++key) {
      if (looked_at_[key] && !sort_key(key, all)) sorted = false;
    }
    return sorted;
  }

  bool sort_key(std::uint32_t key, bool all) {
    const auto end = key_begin_[key + 1];
    for (auto i = key_begin_[key]; i < end; ++i) {
      rank_[nodes_[i]] = kNone;
      for (const auto id : out_[nodes_[i]])
        waiting_[edges_[id].to] += all || !edges_[id].chosen ? 1 : 0;
    }
    ready_.clear();
    for (auto i = key_begin_[key]; i < end; ++i) {
      if (waiting_[nodes_[i]] == 0) ready_.push_back(nodes_[i]);
    }
    auto rank = key_begin_[key];
    while (!ready_.empty()) {
      const auto e = ready_.back();
      ready_.pop_back();
      rank_[e] = rank;
      order_[rank++] = e;
      for (const auto id : out_[e]) {
        if ((all || !edges_[id].chosen) && --waiting_[edges_[id].to] == 0)
          ready_.push_back(edges_[id].to);
      }
    }
    if (rank == end) return true;
    for (auto i = key_begin_[key]; i < end; ++i) waiting_[nodes_[i]] = 0;
    return false;
  }

  // The order of a key changes only with its steps.
  void look_at_keys_of(const std::vector<Misplaced>& wrong) {
    std::fill(looked_at_.begin(), looked_at_.end(), false);
    for (const Misplaced& one : wrong) looked_at_[h_.elements[one.e].key] = true;
  }

  // Visible characters between a neighbour and a new character, for all additions to the keys that
  // are looked at. Key by key: what one needs is in few places of the memory then.
  std::vector<Misplaced> misplaced() {
    std::vector<Misplaced> found;
    if (steps_only_) return found;
    if (events_.empty()) find_events();
    for (std::uint32_t key = 0; key < looked_at_.size(); ++key) {
      if (looked_at_[key]) misplaced_in(key, found);
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

  void misplaced_in(std::uint32_t key, std::vector<Misplaced>& found) {
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
          look_between(e, shown, found);
        } else if (op.kind == Kind::kDelete) {
          removed_in_[e] = replay_;
          if (rank_[e] != kNone) shown.erase(rank_[e] - begin);
        } else if (removed_in_[e] != replay_) {
          shown.insert(rank_[e] - begin);
        }
      }
    }
  }

  // From the neighbour on: what comes next to it decides where the others are. `shown` counts from
  // the first rank of the key.
  void look_between(std::uint32_t e, const base::RankSet& shown,
                    std::vector<Misplaced>& found) const {
    constexpr int kMost = 4;  // a round; the next finds more
    const auto l = neighbour(e), begin = key_begin_[h_.elements[e].key];
    int count = 0;
    for (auto at = shown.from(l == kNone ? 0 : rank_[l] + 1 - begin);
         at < rank_[e] - begin && count < kMost; at = shown.from(at + 1)) {
      const auto x = order_[begin + at];
      // Who sees more may see a remove of it, too.
      if (certain_ && removed_ever_[x]) continue;
      found.push_back({e, x});
      ++count;
    }
  }

  // The step that puts x out of the way. False: it is free, and nothing was added.
  bool resolve(const Misplaced& one, bool choose) {
    const auto l = neighbour(one.e);
    const OpId by = inserts_[one.e];
    if (l == kNone) return add({one.e, one.x, by, false}), true;
    for (const bool chosen : {false, true}) {
      if (auto path = reach(l, one.x, chosen)) {
        add({one.e, one.x, by, chosen}, std::move(*path));
        return true;
      }
      if (auto path = reach(one.x, one.e, chosen)) {
        add({one.x, l, by, chosen}, std::move(*path));
        return true;
      }
    }
    if (choose) add({one.e, one.x, by, true});
    return choose;
  }

  // Steps from one character to another, those that were chosen too; nothing: there are none. The
  // order bounds the search.
  std::optional<std::vector<std::uint32_t>> reach(std::uint32_t from, std::uint32_t to,
                                                  bool chosen) {
    ++visit_;
    std::vector<std::uint32_t> queue = {from};
    visited_[from] = visit_;
    for (std::size_t i = 0; i < queue.size(); ++i) {
      for (const auto id : out_[queue[i]]) {
        const Edge& edge = edges_[id];
        if ((edge.chosen && !chosen) || visited_[edge.to] == visit_ || rank_[edge.to] > rank_[to])
          continue;
        visited_[edge.to] = visit_;
        arrived_by_[edge.to] = id;
        if (edge.to == to) {
          std::vector<std::uint32_t> path;
          for (auto at = to; at != from; at = edges_[path.back()].from)
            path.push_back(arrived_by_[at]);
          return path;
        }
        queue.push_back(edge.to);
      }
    }
    return std::nullopt;
  }

  ListOrder satisfied() { return {.verdict = Verdict::kSatisfied, .characters = order_}; }

  // Of the steps that are no choices, after sort(false) has failed: what it has not reached.
  ListOrder violated() {
    std::vector<std::uint32_t> back(h_.elements.size(), kNone);  // a step from another such
    for (std::uint32_t id = 0; id < edges_.size(); ++id) {
      if (!edges_[id].chosen && rank_[edges_[id].from] == kNone && rank_[edges_[id].to] == kNone)
        back[edges_[id].to] = id;
    }
    auto at = *std::find_if(nodes_.begin(), nodes_.end(),
                            [&](std::uint32_t e) { return rank_[e] == kNone; });
    for (std::size_t i = 0; i < nodes_.size(); ++i) at = edges_[back[at]].from;
    // `at` lies on a cycle; the shortest through the step to it.
    const auto last = back[at];
    std::fill(rank_.begin(), rank_.end(), 0);
    auto cycle = *reach(at, edges_[last].from, false);
    std::reverse(cycle.begin(), cycle.end());
    cycle.push_back(last);
    ListOrder result{.verdict = Verdict::kViolated, .by_steps_alone = true};
    std::set<OpId> operations;
    std::set<std::uint32_t> done;
    std::vector<std::uint32_t> open = cycle;
    while (!open.empty()) {
      const auto id = open.back();
      open.pop_back();
      if (!done.insert(id).second) continue;
      const Edge& edge = edges_[id];
      operations.insert({edge.by, inserts_[edge.from], inserts_[edge.to]});
      if (h_.ops[edge.by].kind == Kind::kInsert && h_.ops[edge.by].parent != kNone)
        operations.insert(inserts_[h_.ops[edge.by].parent]);
      const bool shown = is_read(h_.ops[edge.by].kind) || edge.by == inserts_[edge.to];
      result.by_steps_alone = result.by_steps_alone && shown && !because_.contains(id);
      if (const auto why = because_.find(id); why != because_.end())
        open.insert(open.end(), why->second.begin(), why->second.end());
    }
    result.operations.assign(operations.begin(), operations.end());
    for (const auto id : cycle) {
      const Edge& edge = edges_[id];
      result.cycle.push_back(
          {inserts_[edge.from], inserts_[edge.to], Why::kListed, edge.by, edge.from, edge.to});
    }
    return result;
  }

  // Depth first over the choices, without those of before.
  ListOrder try_choices() {
    std::erase_if(edges_, [](const Edge& edge) { return edge.chosen; });
    auto given = std::move(edges_);
    edges_.clear();
    known_.clear();
    because_.clear();
    for (auto& out : out_) out.clear();
    for (const Edge& edge : given) add(edge);
    constexpr int kMostTries = 500;
    int tries = kMostTries;
    const bool found = search(tries);
    if (found) return satisfied();
    if (tries <= 0 || context_.budget.exceeded()) return {};
    ListOrder result{.verdict = Verdict::kViolated};
    for (OpId id = 0; id < h_.ops.size(); ++id) {
      if (h_.ops[id].kind == Kind::kInsert || h_.ops[id].kind == Kind::kList)
        result.operations.push_back(id);
    }
    return result;
  }

  bool search(int& tries) {
    const auto before = edges_.size();
    for (;;) {
      if (--tries <= 0 || context_.budget.exceeded()) return false;
      if (!sort(/*all=*/true)) break;
      const auto wrong = misplaced();
      if (wrong.empty()) return true;
      bool any = false;
      for (const Misplaced& one : wrong) any = resolve(one, /*choose=*/false) || any;
      if (any) continue;
      const auto [e, x] = wrong.front();
      const auto here = edges_.size();
      add({e, x, inserts_[e], true});
      if (search(tries)) return true;
      keep(here);
      if (tries <= 0) return false;
      add({x, neighbour(e), inserts_[e], true});
      if (search(tries)) return true;
      break;
    }
    keep(before);
    return false;
  }

  const KnownContext& context_;
  const History& h_;
  const bool certain_;
  const std::vector<OpId> inserts_;
  const std::vector<std::uint32_t> neighbours_;
  std::vector<std::uint32_t> nodes_;  // by key; those that happened before others before them
  std::vector<Edge> edges_;
  std::vector<std::vector<std::uint32_t>> out_;  // by element: edges
  base::HashSet<std::uint64_t> known_;
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> because_;  // by edge: edges
  std::vector<bool> removed_ever_;
  bool steps_only_ = false;
  std::vector<bool> looked_at_;           // by key, by sort() and misplaced()
  std::vector<std::uint32_t> key_begin_;  // by key, and the end: the first rank
  std::vector<std::uint32_t> rank_, order_;
  std::vector<std::uint32_t> waiting_;  // by element, within sort_key(): steps to it; else 0
  std::vector<std::uint32_t> ready_;
  std::vector<std::uint32_t> visited_, arrived_by_;
  std::uint32_t visit_ = 0;
  std::vector<std::vector<Event>> events_;  // by key
  std::vector<std::uint32_t> removed_in_;   // by element: a replay of a key at a replica
  std::uint32_t replay_ = 0;
};

}  // namespace

ListOrder order_of_list(const KnownContext& context, bool certain) {
  return ListOrderSearch(context, certain).run();
}

}  // namespace cupel::crdt
