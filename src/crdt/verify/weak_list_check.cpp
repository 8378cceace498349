// Weak list check: see the header. Orders that are given are checked by keeping what a replica
// shows in a line: a character that appears must have one place in it.
#include "crdt/verify/weak_list_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

namespace cupel::crdt {

namespace {

constexpr std::uint64_t kMostPairs = 8'000'000'000;  // one bit each

std::vector<std::uint32_t> characters_of_keys(const History& h) {
  std::vector<std::uint32_t> counts(h.keys.size(), 0);
  for (const auto& element : h.elements) ++counts[element.key];
  return counts;
}

// Which of two elements of a key is in front.
class PairOrders {
 public:
  explicit PairOrders(const History& h) : h_(h), counts_(characters_of_keys(h)) {
    std::vector<std::uint32_t> next(h.keys.size(), 0);
    for (const auto& element : h.elements) number_.push_back(next[element.key]++);
    for (const auto count : counts_) front_.emplace_back(std::uint64_t{count} * count, false);
  }
  // Elements of one key.
  [[nodiscard]] bool is_front(std::uint32_t a, std::uint32_t b) const {
    return front_[h_.elements[a].key][at(a, b)];
  }
  // False: the other way round is known.
  bool add(std::uint32_t a, std::uint32_t b) {
    auto& front = front_[h_.elements[a].key];
    if (a == b || front[at(b, a)]) return false;
    front[at(a, b)] = true;
    return true;
  }

 private:
  [[nodiscard]] std::uint64_t at(std::uint32_t a, std::uint32_t b) const {
    return std::uint64_t{number_[a]} * counts_[h_.elements[a].key] + number_[b];
  }

  const History& h_;
  const std::vector<std::uint32_t> counts_;  // by key
  std::vector<std::uint32_t> number_;        // by element: among those of its key
  std::vector<std::vector<bool>> front_;     // by key: pairs
};

// What one replica shows of a key, in order, as of its last operation on the key.
class ShownLine {
 public:
  explicit ShownLine(const PairOrders& orders) : orders_(&orders) {}

  [[nodiscard]] std::optional<std::size_t> find(std::uint32_t e) const {
    const auto found = std::find(line_.begin(), line_.end(), e);
    if (found == line_.end()) return std::nullopt;
    return static_cast<std::size_t>(found - line_.begin());
  }
  void erase(std::uint32_t e) { std::erase(line_, e); }
  // False: the character has no place.
  bool insert(std::uint32_t e) {
    const auto is_before = [&](std::uint32_t x) { return orders_->is_front(x, e); };
    const auto place = std::find_if_not(line_.begin(), line_.end(), is_before);
    const bool fits =
        std::all_of(place, line_.end(), [&](std::uint32_t x) { return orders_->is_front(e, x); });
    if (fits) line_.insert(place, e);
    return fits;
  }

 private:
  const PairOrders* orders_;
  std::vector<std::uint32_t> line_;
};

class GivenPairs {
 public:
  GivenPairs(const History& h, const SeenUpdates& seen) : h_(h), seen_(seen), orders_(h) {}

  std::optional<std::string> run(const nlohmann::json& pairs) {
    if (auto wrong = take_reads()) return wrong;
    if (!pairs.is_array() || pairs.size() % 2 != 0) return "its `pairs` are not two by two";
    for (std::size_t i = 0; i < pairs.size(); i += 2) {
      const auto &a = pairs[i], &b = pairs[i + 1];
      const auto count = h_.elements.size();
      if (!a.is_number_unsigned() || !b.is_number_unsigned() || a >= count || b >= count ||
          h_.elements[a.get<std::size_t>()].key != h_.elements[b.get<std::size_t>()].key)
        return "its `pairs` are not numbers of elements of one list";
      if (!orders_.add(a.get<std::uint32_t>(), b.get<std::uint32_t>()))
        return fmt::format("its `pairs` have {} in front of {}, and another order, too",
                           h_.element_text(a.get<std::uint32_t>()),
                           h_.element_text(b.get<std::uint32_t>()));
    }
    std::optional<std::string> wrong;
    seen_.replay([&](std::uint32_t) { begin(); }, [&](OpId update) { arrive(update); },
                 [&](OpId id) {
                   wrong = wrong_at(id);
                   return !wrong;
                 });
    return wrong;
  }

 private:
  std::optional<std::string> take_reads() {
    for (OpId id = 0; id < h_.ops.size(); ++id) {
      if (h_.ops[id].kind != Kind::kList) continue;
      const auto list = h_.list(h_.ops[id]);
      for (std::size_t i = 0; i < list.size(); ++i) {
        for (std::size_t k = i + 1; k < list.size(); ++k) {
          if (!orders_.add(list[i], list[k]))
            return fmt::format("{} has {} in front of {}, and another read has not", h_.text(id),
                               h_.element_text(list[i]), h_.element_text(list[k]));
        }
      }
    }
    return std::nullopt;
  }

  void begin() {
    added_.assign(h_.elements.size(), false);
    removed_.assign(h_.elements.size(), false);
    in_line_.assign(h_.elements.size(), false);
    changed_.assign(h_.keys.size(), {});
    lines_.assign(h_.keys.size(), ShownLine(orders_));
  }

  void arrive(OpId update) {
    const Operation& op = h_.ops[update];
    for (const auto e : h_.changed(op)) {
      (op.kind == Kind::kInsert ? added_ : removed_)[e] = true;
      changed_[op.key].push_back(e);
    }
  }

  // The line has what is shown now. False: there is no such line.
  bool settle(std::uint32_t key) {
    auto& changed = changed_[key];
    for (const auto e : changed) {
      if (in_line_[e] && removed_[e]) lines_[key].erase(e), in_line_[e] = false;
    }
    for (const auto e : changed) {
      if (in_line_[e] || !added_[e] || removed_[e]) continue;
      if (!lines_[key].insert(e)) return false;
      in_line_[e] = true;
    }
    changed.clear();
    return true;
  }

  std::optional<std::string> wrong_at(OpId id) {
    const Operation& op = h_.ops[id];
    const auto no_order = fmt::format("what {} leaves has no order", h_.text(id));
    if (!settle_before(id)) return no_order;
    if (is_read(op.kind)) return std::nullopt;
    if (op.kind == Kind::kInsert) {
      ShownLine line = lines_[op.key];
      auto left = op.parent;
      if (left != kNone && !line.find(left) && !line.insert(left)) return no_order;
      for (const auto e : h_.changed(op)) {
        const auto place = left == kNone ? 0 : *line.find(left) + 1;
        if (!line.insert(e)) return no_order;
        if (line.find(e) != place)
          return fmt::format("{} is not directly after its neighbour", h_.text(id));
        left = e;
      }
    }
    arrive(id);
    return settle(op.key) ? std::nullopt : std::optional(no_order);
  }
  // What a removal leaves is less than what was there, and only that must have an order.
  bool settle_before(OpId id) { return h_.ops[id].kind == Kind::kDelete || settle(h_.ops[id].key); }

  const History& h_;
  const SeenUpdates& seen_;
  PairOrders orders_;
  std::vector<bool> added_, removed_, in_line_;      // by element
  std::vector<std::vector<std::uint32_t>> changed_;  // by key, since its line was settled
  std::vector<ShownLine> lines_;                     // by key
};

// All orders of pairs, for few operations.
class PairOrderSearch {
 public:
  PairOrderSearch(const History& h, const ListBelow& below, const std::set<OpId>& only)
      : number_(h.elements.size(), kNone) {
    for (const OpId id : only) {
      if (h.ops[id].kind != Kind::kInsert) continue;
      for (const auto e : h.changed(h.ops[id])) {
        number_[e] = count_++;
        characters_.push_back({e, id});
      }
    }
    if (count_ > kMostCharacters) return;
    std::vector<std::vector<OpId>> removes(h.elements.size());
    for (OpId id = 0; id < h.ops.size(); ++id) {
      if (h.ops[id].kind != Kind::kDelete) continue;
      for (const auto e : h.changed(h.ops[id])) removes[e].push_back(id);
    }
    for (const OpId id : only) take(h, id, below, removes);
  }

  std::optional<bool> run() {
    if (count_ > kMostCharacters) return std::nullopt;
    const bool found = search(std::vector<char>(std::size_t{count_} * count_, 0), given_);
    if (!found && work_ > kMostWork) return std::nullopt;
    return found;
  }

 private:
  static constexpr std::uint32_t kMostCharacters = 60;
  static constexpr std::uint64_t kMostWork = 200'000'000;
  using Fronts = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
  struct Character {
    std::uint32_t element;
    OpId by;
  };
  // The character e is directly after `left` (or first), among the others.
  struct Addition {
    std::uint32_t e, left;
    std::vector<std::uint32_t> others;
  };

  void take(const History& h, OpId id, const ListBelow& below,
            const std::vector<std::vector<OpId>>& removes) {
    const Operation& op = h.ops[id];
    if (op.kind == Kind::kList) {
      std::uint32_t last = kNone;
      for (const auto e : h.list(op)) {
        if (number_[e] == kNone) continue;
        if (last != kNone) given_.emplace_back(last, number_[e]);
        last = number_[e];
      }
    }
    std::vector<std::uint32_t> shown;
    for (const auto& [e, by] : characters_) {
      if (h.elements[e].key != op.key || !below(by, id)) continue;
      const auto is_seen = [&](OpId d) { return d == id || below(d, id); };
      if (std::none_of(removes[e].begin(), removes[e].end(), is_seen)) shown.push_back(number_[e]);
    }
    if (op.kind == Kind::kInsert) take_addition(h, op, shown);
    states_.push_back(std::move(shown));
  }

  void take_addition(const History& h, const Operation& op, std::vector<std::uint32_t>& shown) {
    auto left = op.parent;
    if (left != kNone && number_[left] != kNone &&
        std::find(shown.begin(), shown.end(), number_[left]) == shown.end())
      shown.push_back(number_[left]);
    for (const auto e : h.changed(op)) {
      if (left == kNone || number_[left] != kNone)
        additions_.push_back({number_[e], left == kNone ? kNone : number_[left], shown});
      shown.push_back(number_[e]);
      left = e;
    }
  }

  [[nodiscard]] std::size_t at(std::uint32_t a, std::uint32_t b) const {
    return std::size_t{a} * count_ + b;
  }

  // With what follows. False: a contradiction.
  bool search(std::vector<char> front, Fronts fresh) {
    const auto set = [&](std::uint32_t a, std::uint32_t b) {
      if (a == b || front[at(b, a)] != 0) return false;
      changed_ = changed_ || front[at(a, b)] == 0;
      front[at(a, b)] = 1;
      return true;
    };
    for (const auto& [a, b] : fresh) {
      if (!set(a, b)) return false;
    }
    do {
      changed_ = false;
      if (work_ > kMostWork) return false;
      for (const Addition& one : additions_) {
        ++work_;
        if (one.left != kNone && !set(one.left, one.e)) return false;
        for (const auto x : one.others) {
          if (x == one.left) continue;
          const bool after =
              one.left == kNone || front[at(one.left, x)] != 0 || front[at(one.e, x)] != 0;
          const bool before =
              one.left != kNone && (front[at(x, one.left)] != 0 || front[at(x, one.e)] != 0);
          if (after && !(set(one.e, x) && (one.left == kNone || set(one.left, x)))) return false;
          if (before && !(set(x, one.left) && set(x, one.e))) return false;
        }
      }
      for (const auto& state : states_) {
        for (const auto a : state) {
          for (const auto b : state) {
            ++work_;
            if (front[at(a, b)] == 0) continue;
            for (const auto c : state) {
              if (front[at(b, c)] != 0 && !set(a, c)) return false;
            }
          }
        }
      }
    } while (changed_);
    for (const auto& state : states_) {
      for (const auto a : state) {
        for (const auto b : state) {
          if (a == b || front[at(a, b)] != 0 || front[at(b, a)] != 0) continue;
          return search(front, {{a, b}}) || search(front, {{b, a}});
        }
      }
    }
    return true;
  }

  std::uint32_t count_ = 0;
  std::vector<std::uint32_t> number_;  // by element: of those that count
  std::vector<Character> characters_;
  Fronts given_;
  std::vector<Addition> additions_;
  std::vector<std::vector<std::uint32_t>> states_;  // what is ordered together
  bool changed_ = false;
  std::uint64_t work_ = 0;
};

}  // namespace

bool has_too_many_pairs(const History& history) {
  std::uint64_t pairs = 0;
  for (const std::uint64_t count : characters_of_keys(history)) pairs += count * count;
  return pairs > kMostPairs;
}

std::optional<std::string> wrong_pairs(const History& history, const nlohmann::json& pairs,
                                       const SeenUpdates& seen) {
  return GivenPairs(history, seen).run(pairs);
}

std::optional<bool> has_weak_list_order(const History& history, const ListBelow& below,
                                        const std::set<OpId>& only) {
  return PairOrderSearch(history, below, only).run();
}

}  // namespace cupel::crdt
