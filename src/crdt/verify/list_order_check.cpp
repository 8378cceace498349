// List order check: what an addition demands of each character that it sees goes to
// front_order.hpp.
#include "crdt/verify/list_order_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/rank_set.hpp"
#include "crdt/verify/front_order.hpp"
#include "crdt/verify/visible_state.hpp"

namespace cupel::crdt {

namespace {

constexpr std::size_t kMostCharacters = 400;

class CharacterOrderSearch {
 public:
  CharacterOrderSearch(const History& h, const ListBelow& below, const std::set<OpId>* only,
                       std::span<const NotBetween> apart)
      : h_(h), number_(h.elements.size(), kNone) {
    const auto counts = [&](OpId id) { return only == nullptr || only->contains(id); };
    struct Added {
      std::uint32_t character, neighbour;
      OpId by;
    };
    std::vector<Added> all;
    std::vector<std::vector<OpId>> removes(h.elements.size());
    for (OpId id = 0; id < h.ops.size(); ++id) {
      const Operation& op = h.ops[id];
      auto neighbour = op.parent;
      for (const auto e : h.changed(op)) {
        if (op.kind == Kind::kDelete) removes[e].push_back(id);
        if (op.kind != Kind::kInsert || !counts(id)) continue;
        number_[e] = static_cast<std::uint32_t>(all.size());
        all.push_back({e, neighbour, id});
        neighbour = e;
      }
    }
    count_ = all.size();
    if (count_ > kMostCharacters) return;
    for (const Added& one : all) {
      const auto left = one.neighbour == kNone ? count_ : number_[one.neighbour];
      if (left == kNone) continue;  // its neighbour is not among those that count
      if (left != count_) given_.emplace_back(left, number_[one.character]);
      for (const Added& other : all) {
        const auto x = other.character;
        if (other.by == one.by || h.ops[other.by].key != h.ops[one.by].key || x == one.neighbour ||
            !below(other.by, one.by))
          continue;
        bool removed = false;
        for (const OpId d : removes[x]) removed = removed || below(d, one.by);
        if (!removed) demands_.push_back({number_[one.character], left, number_[x]});
      }
    }
    for (const auto& [left, right, x] : apart)
      demands_.push_back({number_[right], number_[left], number_[x]});
    for (OpId id = 0; id < h.ops.size(); ++id) {
      if (h.ops[id].kind != Kind::kList || !counts(id)) continue;
      std::uint32_t last = kNone;
      for (const auto e : h.list(h.ops[id])) {
        if (number_[e] == kNone) continue;
        if (last != kNone) given_.emplace_back(last, number_[e]);
        last = number_[e];
      }
    }
  }

  std::optional<bool> run() {
    if (count_ > kMostCharacters) return std::nullopt;
    return has_front_order(count_, given_, demands_);
  }

 private:
  const History& h_;
  std::vector<std::uint32_t> number_;  // by element: of those that count
  std::size_t count_ = 0;
  std::vector<std::pair<std::size_t, std::size_t>> given_;
  std::vector<FrontDemand> demands_;
};

// What is wrong with an operation, whatever its replica had seen.
std::optional<std::string> wrong_for_order(const History& h, OpId id, const CharacterOrder& order) {
  const Operation& op = h.ops[id];
  const auto& place = order.place;
  const auto list = h.list(op);
  for (std::size_t i = 1; op.kind == Kind::kList && i < list.size(); ++i) {
    if (place[list[i - 1]] >= place[list[i]])
      return fmt::format("{} shows another order", h.text(id));
  }
  if (op.kind != Kind::kInsert) return std::nullopt;
  auto left = op.parent == kNone ? 0 : place[op.parent];
  for (const auto e : h.changed(op)) {
    if (left >= place[e]) return fmt::format("{} is in front of its neighbour", h.text(id));
    left = place[e];
  }
  return std::nullopt;
}

// A visible character between a new one and its neighbour.
std::optional<std::string> wrong_neighbour(const History& h, OpId id, const CharacterOrder& order,
                                           const base::RankSet& shown) {
  const Operation& op = h.ops[id];
  const auto left = op.parent == kNone ? 0 : order.place[op.parent];
  const auto before = shown.before(order.place[h.changed(op).back()]);
  if (before == base::RankSet::kNoRank || before <= left) return std::nullopt;
  const auto other = order.elements[before - 1];
  if (h.elements[other].key != op.key) return std::nullopt;
  return fmt::format("{} has {} between it and its neighbour", h.text(id), h.element_text(other));
}

}  // namespace

base::Result<CharacterOrder> character_order(const History& h, const nlohmann::json& characters) {
  const auto wrong = [](std::string message) { return base::Error{.message = std::move(message)}; };
  if (!characters.is_array()) return wrong("its `characters` are no array");
  CharacterOrder order;
  std::vector<bool> once(h.elements.size(), false);
  for (const auto& e : characters) {
    if (!e.is_number_unsigned() || e >= h.elements.size() || once[e.get<std::size_t>()])
      return wrong("its `characters` are not numbers of elements, each once");
    order.elements.push_back(e.get<std::uint32_t>());
    once[order.elements.back()] = true;
  }
  for (const Operation& op : h.ops) {
    if (op.kind != Kind::kInsert) continue;
    for (const auto e : h.changed(op)) {
      if (!once[e])
        return wrong(fmt::format("its order lacks the character {}", h.element_text(e)));
    }
  }
  std::stable_sort(
      order.elements.begin(), order.elements.end(),
      [&](std::uint32_t a, std::uint32_t b) { return h.elements[a].key < h.elements[b].key; });
  order.place.assign(h.elements.size(), 0);
  for (std::size_t i = 0; i < order.elements.size(); ++i) order.place[order.elements[i]] = i + 1;
  return order;
}

std::optional<std::string> wrong_list_order(const History& h, const SeenUpdates& seen,
                                            const CharacterOrder& order) {
  const auto& place = order.place;
  VisibleState state(
      h, [&](OpId op, OpId update) { return seen.sees(op, update); }, /*strict=*/false);
  base::RankSet shown(order.elements.size() + 1);
  std::optional<std::string> wrong;
  seen.replay(
      [&](std::uint32_t) {
        state.begin();
        shown.clear();
      },
      [&](OpId update) {
        state.arrive(update);
        for (const auto e : h.changed(h.ops[update])) {
          if (state.is_shown(e))
            shown.insert(place[e]);
          else
            shown.erase(place[e]);
        }
      },
      [&](OpId id) {
        wrong = wrong_for_order(h, id, order);
        if (!wrong && h.ops[id].kind == Kind::kInsert) wrong = wrong_neighbour(h, id, order, shown);
        return !wrong;
      });
  return wrong;
}

std::optional<bool> has_list_order(const History& history, const ListBelow& below,
                                   const std::set<OpId>* only, std::span<const NotBetween> apart) {
  return CharacterOrderSearch(history, below, only, apart).run();
}

}  // namespace cupel::crdt
