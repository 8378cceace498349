// Movable list: a list whose elements are moved. The insertion and each move of an element make a
// place; the last visible one, in an order of the element's moves, is where a read shows it
// (Kleppmann, Moving Elements in List CRDTs, PaPoC 2020). A remove takes away the place where its
// replica shows the element, so a concurrent move that is later brings it back, as in Loro. Decided
// by solve/movable_list_order.hpp, with known deliveries only. The simulated replica is a
// replicated growable array of places.
#include <fmt/format.h>

#include <algorithm>

#include "crdt/explain/context_explainer.hpp"
#include "crdt/explain/read_explainer.hpp"
#include "crdt/solve/movable_list_order.hpp"
#include "crdt/types/characters.hpp"
#include "crdt/types/common_bugs.hpp"
#include "crdt/workload/simulated_replica.hpp"

namespace cupel::crdt {

namespace {

constexpr std::string_view kMovesACopy = "moves-a-copy", kRemovesMoved = "removes-moved-element";

class MovableListReplica final : public SimulatedReplica {
 public:
  MovableListReplica(const History& history, std::string_view bug, std::uint32_t self)
      : SimulatedReplica(history, self),
        arrival_decides_(bug == ignores_timestamp().name),
        moves_a_copy_(bug == kMovesACopy),
        removes_moved_(bug == kRemovesMoved),
        places_(history.keys.size()),
        visible_(history.keys.size()) {}

  void answer(Operation& read, std::vector<std::uint32_t>& list) override {
    for (const Place& place : places_[read.key]) {
      if (is_shown(place)) list.push_back(place.element);
    }
  }

  [[nodiscard]] std::span<const std::vector<std::uint32_t>> visible() const override {
    return visible_;
  }

 private:
  [[nodiscard]] bool may_be_lost(const Update& update) const override {
    return update.op.kind == Kind::kDelete;
  }

  struct Place {
    OpId id;
    std::uint32_t element;
    std::uint64_t stamp;
    std::uint32_t replica;
    bool removed;
  };
  struct Current {
    OpId place = kNone;
    std::uint64_t stamp = 0;
    std::uint32_t replica = 0;
    bool gone = false;  // with the bug that removes it wherever it is
  };

  [[nodiscard]] bool is_shown(const Place& place) const {
    const Current& current = current_[place.element];
    return !place.removed && !current.gone && (moves_a_copy_ || current.place == place.id);
  }

  // Where the neighbour, or the element that is removed, is now.
  void observe(Update& update) override {
    const Operation& op = update.op;
    const auto named = op.kind == Kind::kDelete ? op.element : op.parent;
    update.observed.push_back(named == kNone ? kNone : at(current_, named).place);
    if (op.kind == Kind::kMove) update.observed.push_back(at(current_, op.element).place);
  }

  void change(const Update& update, base::Random& /*random*/) override {
    const Operation& op = update.op;
    auto& places = places_[op.key];
    Current& current = at(current_, op.element);
    const auto find = [&](OpId id) {
      return std::find_if(places.begin(), places.end(),
                          [&](const Place& place) { return place.id == id; });
    };
    const auto remove = [&](OpId id) {
      if (const auto place = find(id); place != places.end()) place->removed = true;
    };
    if (op.kind == Kind::kDelete) {
      remove(update.observed[0]);
      if (removes_moved_) current.gone = true;
    } else {
      auto next = update.observed[0] == kNone ? places.begin() : find(update.observed[0]) + 1;
      // As in a replicated growable array: what has a larger stamp stays in front.
      const auto stamp = std::pair(update.stamp, update.tie);
      while (next != places.end() && std::pair(next->stamp, next->replica) > stamp) ++next;
      places.insert(next, {update.id, op.element, update.stamp, update.tie, false});
      if (moves_a_copy_ && op.kind == Kind::kMove) remove(update.observed[1]);
      if (arrival_decides_ || stamp > std::pair(current.stamp, current.replica)) {
        current.place = update.id;
        current.stamp = update.stamp;
        current.replica = update.tie;
      }
    }
    auto& visible = visible_[op.key];
    visible.clear();
    for (const Place& place : places) {
      if (is_shown(place) &&
          std::find(visible.begin(), visible.end(), place.element) == visible.end())
        visible.push_back(place.element);
    }
  }

  const bool arrival_decides_, moves_a_copy_, removes_moved_;
  std::vector<std::vector<Place>> places_;           // by key
  std::vector<std::vector<std::uint32_t>> visible_;  // by key
  std::vector<Current> current_;                     // by element
};

TypeTraits traits_of_list() {
  auto traits = CharactersType::traits_of(
      {{"movable-list"}},
      {{ignores_timestamp().name,
        "of concurrent moves of an element, the one that arrives last wins"},
       {kMovesACopy,
        "a move removes the element and inserts it again, so concurrent moves of it make two of "
        "it"},
       {kRemovesMoved, "a remove takes the element away even where a later move put it"}},
      decide_known_movable_list);
  traits.needs_deliveries = true;
  traits.calls.insert(
      traits.calls.begin(),
      {"move", Kind::kMove, Argument::kTo, Answer::kAbsent,
       "the element and the one that it comes after (null: the beginning), as in [\"a\",null], two "
       "different ones"});
  traits.methods = "addAfter, move, remove or read of a movable list";
  traits.simulate = simulate_by<MovableListReplica>;
  traits.summary_of_no_order =
      "no orders of the moves and of the places make what these reads show";
  return traits;
}

class MovableList final : public CharactersType {
 public:
  MovableList() : CharactersType(traits_of_list()) {}

  void choose(RequestChoice& choice) const override {
    if (choice.read) return;
    constexpr std::size_t kMany = 12;  // so that elements are moved often
    auto& random = choice.random;
    const auto& known = choice.visible[choice.op.key];
    const bool full = known.size() >= kMany;
    if (known.size() < 2 || !(full || choice.down || random.chance(0.3)) || random.chance(0.2)) {
      choice.down = full || (choice.down && random.chance(0.5));
      CharactersType::choose(choice);
      return;
    }
    Operation& op = choice.op;
    op.kind = Kind::kMove;
    op.element = known[random.below(known.size())];
    const auto after = known[random.below(known.size())];
    if (after != op.element && !random.chance(0.15)) op.parent = after;
  }

  // Without deliveries movable lists are refused (TypeTraits::needs_deliveries).
  void explain_read(ReadExplainer& explainer) const override {
    explainer.report("order-disagreement", std::string(traits().summary_of_no_order));
  }

  void explain_received(ContextExplainer& explainer) const override {
    const History& h = explainer.history();
    const std::string name = h.element_text(explainer.object());
    if (!explainer.operations().empty()) {
      explain_order(explainer);
      return;
    }
    const auto moves = moves_of(explainer, /*seen=*/true);
    const auto list = h.list(explainer.read());
    const auto times = std::count(list.begin(), list.end(), explainer.object());
    if (!is_read(explainer.read().kind) || times > 1 || moves.empty()) {
      explainer.explain_content();
      return;
    }
    auto removes = explainer.visible(Kind::kDelete);
    if (times == 0) {
      explainer.report("lost-character",
                       fmt::format("{} does not show {}; it had received {}, and no remove that "
                                   "took it away from there",
                                   explainer.where(), name, explainer.text(last(explainer, moves))),
                       moves_that_count(explainer, moves));
      return;
    }
    auto shown = moves_that_count(explainer, moves);
    std::erase_if(removes, [&](OpId remove) {
      return std::none_of(shown.begin(), shown.end(),
                          [&](OpId move) { return explainer.sees(remove, move); });
    });
    const std::string by = explainer.text(removes.at(0));
    shown.insert(shown.end(), removes.begin(), removes.end());
    explainer.report("removed-character-shown",
                     fmt::format("{} shows {}; it had received {}, and no later move of it",
                                 explainer.where(), name, by),
                     shown);
  }

 protected:
  bool encode_order(Encoder& /*encoder*/) const override { return false; }

 private:
  static std::vector<OpId> moves_of(const ContextExplainer& explainer, bool seen) {
    std::vector<OpId> all;
    for (const Kind kind : {Kind::kInsert, Kind::kMove}) {
      const auto some = seen ? explainer.visible(kind) : explainer.not_visible(kind);
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  }

  // Those that no other one had seen.
  static std::vector<OpId> moves_that_count(const ContextExplainer& explainer,
                                            const std::vector<OpId>& moves) {
    std::vector<OpId> found = moves;
    std::erase_if(found, [&](OpId move) {
      return std::any_of(moves.begin(), moves.end(),
                         [&](OpId other) { return explainer.sees(other, move); });
    });
    return found;
  }

  static OpId last(const ContextExplainer& explainer, const std::vector<OpId>& moves) {
    return moves_that_count(explainer, moves).at(0);
  }

  static void explain_order(ContextExplainer& explainer) {
    const History& h = explainer.history();
    for (const Step& step : explainer.cycle()) explainer.because(sentence(h, step));
    explainer.report(
        "order-disagreement",
        fmt::format("{} shows {} where no order of its moves puts it, by what the other operations "
                    "here say",
                    explainer.where(), h.element_text(explainer.object())),
        explainer.operations());
  }
};

}  // namespace

const ReplicatedType& movable_list() {
  static const MovableList type;
  return type;
}

}  // namespace cupel::crdt
