// Movable list check: see the header.
#include "crdt/verify/movable_list_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/rank_set.hpp"
#include "crdt/verify/front_order.hpp"

namespace cupel::crdt {

namespace {

using Json = nlohmann::json;

constexpr std::size_t kUnplaced = static_cast<std::size_t>(-1);

bool is_move(const Operation& op) {
  return op.kind == Kind::kInsert || op.kind == Kind::kMove;
}

// By operation its place in the array, which has each insertion and move once; nothing otherwise.
std::optional<std::vector<std::size_t>> places_of_moves(const History& h, const Json& numbers) {
  if (!numbers.is_array()) return std::nullopt;
  std::vector<std::size_t> place(h.ops.size(), kUnplaced);
  std::size_t next = 0;
  for (const Json& n : numbers) {
    if (!n.is_number_unsigned() || n >= h.ops.size() || !is_move(h.ops[n.get<OpId>()]) ||
        place[n.get<OpId>()] != kUnplaced)
      return std::nullopt;
    place[n.get<OpId>()] = next++;
  }
  for (OpId id = 0; id < h.ops.size(); ++id) {
    if (is_move(h.ops[id]) && place[id] == kUnplaced) return std::nullopt;
  }
  return place;
}

// Replays the replicas with orders that are given.
class MovableListReplay {
 public:
  MovableListReplay(const History& h, const SeenUpdates& seen, std::vector<std::size_t> turn,
                    std::vector<std::size_t> place)
      : h_(h),
        seen_(seen),
        turn_(std::move(turn)),
        place_(std::move(place)),
        at_(h.ops.size(), kNone),
        taken_by_(h.ops.size(), kNone),
        shown_(h.ops.size()) {}

  std::optional<std::string> wrong() {
    for (const bool targets : {true, false}) {
      for (std::uint32_t r = 0; r < h_.replicas.size(); ++r) {
        where_.assign(h_.elements.size(), kNone);
        taken_.assign(h_.ops.size(), false);
        shown_.clear();
        counts_.assign(h_.keys.size(), 0);
        const auto log = seen_.log(r);
        std::size_t next = 0;
        for (const OpId id : h_.by_replica[r]) {
          for (; next < log.size() && log[next].place <= h_.ops[id].seq; ++next)
            arrive(log[next].update, targets);
          const Operation& op = h_.ops[id];
          if (targets) {
            if (op.kind == Kind::kDelete) taken_by_[id] = where_[op.element];
          } else if (auto reason = wrong_operation(id)) {
            return reason;
          }
        }
      }
    }
    return std::nullopt;
  }

  // The places of all keys, those of a key together.
  void number_places() {
    std::vector<OpId> all;
    for (OpId id = 0; id < h_.ops.size(); ++id) {
      if (is_move(h_.ops[id])) all.push_back(id);
    }
    std::sort(all.begin(), all.end(), [&](OpId a, OpId b) {
      return std::pair(h_.ops[a].key, place_[a]) < std::pair(h_.ops[b].key, place_[b]);
    });
    begin_.assign(h_.keys.size(), 0);
    for (std::uint32_t i = 0; i < all.size(); ++i) {
      at_[all[i]] = i;
      if (i == 0 || h_.ops[all[i]].key != h_.ops[all[i - 1]].key) begin_[h_.ops[all[i]].key] = i;
    }
    by_place_ = std::move(all);
  }

 private:
  void show(OpId move, bool on) {
    if (on) {
      shown_.insert(at_[move]);
      ++counts_[h_.ops[move].key];
    } else {
      shown_.erase(at_[move]);
      --counts_[h_.ops[move].key];
    }
  }

  void arrive(OpId update, bool targets) {
    const Operation& op = h_.ops[update];
    OpId& where = where_[op.element];
    if (is_move(op)) {
      if (where != kNone && turn_[where] > turn_[update]) return;
      if (where != kNone && !taken_[where]) show(where, false);
      where = update;
      if (!taken_[where]) show(where, true);
    } else if (!targets) {
      const OpId target = taken_by_[update];
      if (target == kNone || taken_[target]) return;
      taken_[target] = true;
      if (where == target) show(target, false);
    }
  }

  [[nodiscard]] std::optional<std::string> wrong_operation(OpId id) const {
    const Operation& op = h_.ops[id];
    if (op.kind == Kind::kList) return wrong_read(id);
    if (!is_move(op)) return std::nullopt;
    const OpId before = where_[op.element];
    if (before != kNone && turn_[before] > turn_[id])
      return fmt::format("{} is before {}, which its replica had seen", h_.text(id),
                         h_.text(before));
    const auto first = op.parent == kNone ? begin_[op.key] : at_[where_[op.parent]] + 1;
    if (first > at_[id]) return fmt::format("{} is in front of its neighbour", h_.text(id));
    for (auto rank = shown_.from(first); rank < at_[id]; rank = shown_.from(rank + 1)) {
      if (by_place_[rank] != before)
        return fmt::format("{} has {} between it and its neighbour", h_.text(id),
                           h_.element_text(h_.ops[by_place_[rank]].element));
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<std::string> wrong_read(OpId id) const {
    const auto list = h_.list(h_.ops[id]);
    bool right = list.size() == counts_[h_.ops[id].key];
    OpId last = kNone;
    for (const auto e : list) {
      const OpId move = where_[e];
      right = right && move != kNone && !taken_[move] && (last == kNone || at_[last] < at_[move]);
      last = move;
      if (!right) break;
    }
    if (right) return std::nullopt;
    return fmt::format("{} does not show what the moves make", h_.text(id));
  }

  const History& h_;
  const SeenUpdates& seen_;
  const std::vector<std::size_t> turn_, place_;  // by move: among those of its element; among all
  std::vector<std::uint32_t> at_;                // by move: the place, those of a key together
  std::vector<OpId> by_place_;
  std::vector<std::uint32_t> begin_;  // by key: its first place
  std::vector<OpId> taken_by_;        // by remove: the move whose place it takes away
  // At the replica that is replayed.
  std::vector<OpId> where_;  // by element: the last move
  std::vector<bool> taken_;  // by move
  base::RankSet shown_;
  std::vector<std::size_t> counts_;  // by key: elements that are shown
};

// Tries which move of each element was the last one, for each operation that is named.
class LastMoveSearch {
 public:
  LastMoveSearch(const History& h, const SeenUpdates& seen, const std::set<OpId>& named)
      : h_(h), seen_(seen) {
    std::set<std::uint32_t> elements;
    for (const OpId id : named) {
      if (!is_read(h.ops[id].kind)) elements.insert(h.ops[id].element);
    }
    for (OpId id = 0; id < h.ops.size(); ++id) {
      const Operation& op = h.ops[id];
      if (is_read(op.kind) || !elements.contains(op.element)) continue;
      if (is_move(op)) {
        number_[id] = moves_.size();
        moves_.push_back(id);
        moves_of_[op.element].push_back(id);
      } else {
        removes_of_[op.element].push_back(id);
      }
    }
    std::set<std::pair<OpId, std::uint32_t>> asked;
    for (const OpId id : named) {
      const Operation& op = h.ops[id];
      if (op.kind == Kind::kDelete) continue;
      demands_.push_back(id);
      for (const auto e : elements) {
        if (h.elements[e].key != op.key) continue;
        asked.insert({id, e});
        for (const OpId remove : removes_of_[e]) {
          if (seen.sees(id, remove)) asked.insert({remove, e});
        }
      }
    }
    for (const auto& [op, e] : asked) add_choice(op, e);
    std::stable_sort(choices_.begin(), choices_.end(), [](const Choice& a, const Choice& b) {
      return a.candidates.size() < b.candidates.size();
    });
  }

  std::optional<bool> run() {
    if (moves_.size() > kMostMoves) return std::nullopt;
    Before before;
    for (const OpId a : moves_) {
      for (const OpId b : moves_) {
        if (h_.ops[a].element == h_.ops[b].element && seen_.sees(b, a))
          before.insert({number_[a], number_[b]});
      }
    }
    const bool found = search(0, before);
    if (!found && (tries_ > kMostTries || unknown_)) return std::nullopt;
    return found;
  }

 private:
  static constexpr std::size_t kMostMoves = 200;
  static constexpr int kMostTries = 20'000;
  using Before = std::set<std::pair<std::size_t, std::size_t>>;

  struct Choice {
    OpId op;
    std::uint32_t element;
    std::vector<OpId> visible, candidates;
  };

  void add_choice(OpId op, std::uint32_t e) {
    Choice choice{op, e, {}, {}};
    for (const OpId move : moves_of_[e]) {
      if (seen_.sees(op, move)) choice.visible.push_back(move);
    }
    if (choice.visible.empty()) return;
    for (const OpId move : choice.visible) {
      if (std::none_of(choice.visible.begin(), choice.visible.end(),
                       [&](OpId other) { return seen_.sees(other, move); }))
        choice.candidates.push_back(move);
    }
    choices_.push_back(std::move(choice));
  }

  bool search(std::size_t at, const Before& before) {
    if (++tries_ > kMostTries) return false;
    if (at == choices_.size()) return fits();
    const Choice& choice = choices_[at];
    for (const OpId last : choice.candidates) {
      Before with = before;
      for (const OpId other : choice.visible) {
        if (other != last) with.insert({number_[other], number_[last]});
      }
      if (choice.candidates.size() > 1 && !is_acyclic(with)) continue;
      last_[{choice.op, choice.element}] = last;
      if (search(at + 1, with)) return true;
    }
    last_.erase({choice.op, choice.element});
    return false;
  }

  [[nodiscard]] bool is_acyclic(const Before& before) const {
    return has_front_order(moves_.size(), {before.begin(), before.end()}, {}) == true;
  }

  // The last move of the element that the operation had seen; kNone: none.
  [[nodiscard]] OpId last(OpId op, std::uint32_t e) const {
    const auto found = last_.find({op, e});
    return found == last_.end() ? kNone : found->second;
  }
  [[nodiscard]] bool is_shown(OpId op, std::uint32_t e) {
    const OpId move = last(op, e);
    if (move == kNone) return false;
    const auto& removes = removes_of_[e];
    return std::none_of(removes.begin(), removes.end(), [&](OpId remove) {
      return seen_.sees(op, remove) && last(remove, e) == move;
    });
  }

  // Is there an order of the places?
  bool fits() {
    std::vector<std::pair<std::size_t, std::size_t>> given;
    std::vector<FrontDemand> demands;
    for (const OpId id : demands_) {
      const Operation& op = h_.ops[id];
      if (op.kind == Kind::kList) {
        if (!add_read(id, given)) return false;
        continue;
      }
      std::size_t left = moves_.size();
      if (op.parent != kNone) {
        const OpId neighbour = last(id, op.parent);
        if (neighbour == kNone) continue;  // it is not among those that count
        left = number_[neighbour];
        given.emplace_back(left, number_[id]);
      }
      for (const auto& [e, moves] : moves_of_) {
        if (e == op.element || e == op.parent || h_.elements[e].key != op.key || !is_shown(id, e))
          continue;
        demands.push_back({number_[id], left, number_[last(id, e)]});
      }
    }
    const auto found = has_front_order(moves_.size(), given, demands);
    unknown_ = unknown_ || !found;
    return found == true;
  }

  bool add_read(OpId read, std::vector<std::pair<std::size_t, std::size_t>>& given) {
    std::set<std::uint32_t> listed;
    OpId before = kNone;
    for (const auto e : h_.list(h_.ops[read])) {
      if (!moves_of_.contains(e)) continue;
      if (!listed.insert(e).second || !is_shown(read, e)) return false;
      const OpId move = last(read, e);
      if (before != kNone) given.emplace_back(number_[before], number_[move]);
      before = move;
    }
    return std::all_of(moves_of_.begin(), moves_of_.end(), [&](const auto& entry) {
      return h_.elements[entry.first].key != h_.ops[read].key || listed.contains(entry.first) ||
             !is_shown(read, entry.first);
    });
  }

  const History& h_;
  const SeenUpdates& seen_;
  std::vector<OpId> moves_, demands_;
  std::map<OpId, std::size_t> number_;  // of moves
  std::map<std::uint32_t, std::vector<OpId>> moves_of_, removes_of_;
  std::vector<Choice> choices_;
  std::map<std::pair<OpId, std::uint32_t>, OpId> last_;
  int tries_ = 0;
  bool unknown_ = false;
};

}  // namespace

std::optional<std::string> wrong_movable_list(const History& h, const SeenUpdates& seen,
                                              const Json& writes, const Json& positions) {
  auto turn = places_of_moves(h, writes), place = places_of_moves(h, positions);
  if (!turn || !place)
    return "its `writes` or `positions` do not have each insertion and move once";
  MovableListReplay replay(h, seen, std::move(*turn), std::move(*place));
  replay.number_places();
  return replay.wrong();
}

std::optional<bool> has_movable_list_order(const History& h, const SeenUpdates& seen,
                                           const std::set<OpId>& named) {
  return LastMoveSearch(h, seen, named).run();
}

}  // namespace cupel::crdt
