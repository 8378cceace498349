// Non-interleaving list: a list that does not mix runs which were inserted at one place, as the
// algorithm Fugue promises (Weidner and Kleppmann, The Art of the Fugue, 2023;
// solve/non_interleaving_order.hpp), with known deliveries only. The simulated replica is Fugue:
// each character is a left or right child of another one, and the list is the walk in order.
#include <fmt/format.h>

#include <algorithm>

#include "crdt/explain/context_explainer.hpp"
#include "crdt/explain/read_explainer.hpp"
#include "crdt/solve/non_interleaving_order.hpp"
#include "crdt/types/common_bugs.hpp"
#include "crdt/types/strong_list.hpp"
#include "crdt/workload/simulated_replica.hpp"

namespace cupel::crdt {

namespace {

constexpr std::string_view kInterleaves = "interleaves";

class FugueReplica final : public SimulatedReplica {
 public:
  FugueReplica(const History& history, std::string_view bug, std::uint32_t self)
      : SimulatedReplica(history, self),
        arrival_decides_(bug == ignores_timestamp().name),
        by_fractions_(bug == kInterleaves),
        orders_(history.keys.size()),
        visible_(history.keys.size()) {}

  void answer(Operation& read, std::vector<std::uint32_t>& list) override {
    for (const auto e : orders_[read.key]) {
      if (!characters_[e].removed) list.push_back(e);
    }
  }

  [[nodiscard]] std::span<const std::vector<std::uint32_t>> visible() const override {
    return visible_;
  }

 private:
  using Fraction = std::vector<OpId>;
  struct Character {
    std::uint32_t parent = kNone;
    bool left = false;
    std::uint64_t stamp = 0;
    std::uint32_t replica = 0;
    bool removed = false;
    Fraction fraction = {};  // with the bug
  };

  [[nodiscard]] std::pair<std::uint64_t, std::uint32_t> name(std::uint32_t e) const {
    return {characters_[e].stamp, characters_[e].replica};
  }

  // The child of `parent` on this side that the character is, or is below; kNone: none.
  [[nodiscard]] std::uint32_t branch(std::uint32_t e, std::uint32_t parent, bool left) const {
    while (e != kNone && characters_[e].parent != parent) e = characters_[e].parent;
    return e != kNone && characters_[e].left == left ? e : kNone;
  }

  // Whose child it is to be, and on which side; with the bug a fraction between its neighbours.
  void observe(Update& update) override {
    const Operation& op = update.op;
    if (op.kind != Kind::kInsert) return;
    const auto& order = orders_[op.key];
    auto next = order.begin();
    if (op.parent != kNone) next = std::find(order.begin(), order.end(), op.parent) + 1;
    if (by_fractions_) {
      const Fraction none;
      const Fraction& low = op.parent == kNone ? none : characters_[op.parent].fraction;
      update.observed = between(low, next == order.end() ? nullptr : &characters_[*next].fraction,
                                update.stamp, op.replica);
      return;
    }
    const bool free = next == order.end() || branch(*next, op.parent, /*left=*/false) == kNone;
    update.observed = {free ? op.parent : *next, free ? 0U : 1U};
  }

  // Digits of which the last one says the replica, so that no two fractions are equal.
  static Fraction between(const Fraction& low, const Fraction* high, std::uint64_t stamp,
                          std::uint32_t replica) {
    constexpr OpId kDigits = 1U << 16U;
    base::Random random(stamp * 1009 + replica);
    Fraction made;
    for (std::size_t i = 0;; ++i) {
      const OpId least = i < low.size() ? low[i] : 0;
      const OpId most = high != nullptr && i < high->size() ? (*high)[i] : kDigits;
      if (most > least + 1) {
        made.push_back(least + 1 + static_cast<OpId>(random.below(most - least - 1)));
        made.push_back(replica + 1);
        return made;
      }
      made.push_back(least);
      if (most > least) high = nullptr;
    }
  }

  void change(const Update& update, base::Random& /*random*/) override {
    const Operation& op = update.op;
    auto& visible = visible_[op.key];
    if (op.kind == Kind::kDelete) {
      at(characters_, op.element).removed = true;
      std::erase(visible, op.element);
      return;
    }
    Character& made = at(characters_, op.element);
    made.stamp = update.stamp;
    made.replica = update.tie;
    auto& order = orders_[op.key];
    if (by_fractions_) {
      made.fraction = update.observed;
      const auto place = std::find_if(order.begin(), order.end(), [&](std::uint32_t e) {
        return characters_[e].fraction > made.fraction;
      });
      order.insert(place, op.element);
    } else {
      const auto parent = update.observed[0];
      if (parent != kNone && std::find(order.begin(), order.end(), parent) == order.end())
        return;  // lost, and so what was added beside it
      made.parent = parent;
      made.left = update.observed[1] == 1;
      place(order, op.element, is_remote(update));
    }
    if (!made.removed) visible.push_back(op.element);
  }

  // Among the children on its side, the smallest name first.
  void place(std::vector<std::uint32_t>& order, std::uint32_t e, bool remote) {
    const auto parent = characters_[e].parent;
    const bool left = characters_[e].left;
    auto here = order.begin();
    if (parent != kNone) here = std::find(order.begin(), order.end(), parent) + (left ? 0 : 1);
    while (left && here != order.begin() && branch(*(here - 1), parent, true) != kNone) --here;
    for (; here != order.end() && *here != parent; ++here) {
      const auto sibling = branch(*here, parent, left);
      if (sibling == kNone || name(sibling) > name(e)) break;
      if (remote && arrival_decides_) break;
    }
    order.insert(here, e);
  }

  const bool arrival_decides_, by_fractions_;
  std::vector<std::vector<std::uint32_t>> orders_, visible_;  // by key; orders_: removed ones, too
  std::vector<Character> characters_;                         // by element
};

TypeTraits traits_of_list() {
  auto traits = CharactersType::traits_of(
      {{"non-interleaving-list"}},
      {{ignores_timestamp().name,
        "of characters at one place, the one that arrives last comes first"},
       {kInterleaves,
        "places are fractions between those of the neighbours, as in Logoot, so what two replicas "
        "insert at one place is mixed"}},
      decide_known_non_interleaving);
  traits.injected = {"loses-update", "ties-by-arrival"};
  traits.needs_deliveries = true;
  traits.simulate = simulate_by<FugueReplica>;
  traits.summary_of_no_order =
      "no one order of the characters that keeps runs together fits all reads and additions";
  return traits;
}

class NonInterleavingList final : public StrongListType {
 public:
  NonInterleavingList() : StrongListType(traits_of_list()) {}

  void explain_received(ContextExplainer& explainer) const override {
    if (explainer.operations().empty()) {
      explainer.explain_content();
      return;
    }
    const History& h = explainer.history();
    const std::string name = h.element_text(explainer.object());
    for (const Step& step : explainer.cycle()) explainer.because(sentence(h, step));
    if (explainer.cycle().empty() && is_read(explainer.read().kind)) {
      explain_mixed(explainer);
      return;
    }
    explainer.report("order-disagreement",
                     fmt::format("{} shows {} where no order that keeps runs together puts it, by "
                                 "what the other operations here say",
                                 explainer.where(), name),
                     explainer.operations());
  }

 private:
  // A read shows the object between two characters of a run.
  static void explain_mixed(ContextExplainer& explainer) {
    const History& h = explainer.history();
    const auto list = h.list(explainer.read());
    std::vector<std::uint32_t> run;
    for (const auto e : list) {
      for (const OpId id : explainer.operations()) {
        if (h.ops[id].kind == Kind::kInsert && h.ops[id].element == e && e != explainer.object())
          run.push_back(e);
      }
    }
    explainer.report("interleaved-insertions",
                     fmt::format("{} shows {} between {} and {}, which were inserted one after the "
                                 "other at one place, and {} had not seen both",
                                 explainer.where(), h.element_text(explainer.object()),
                                 h.element_text(run.at(0)), h.element_text(run.at(1)),
                                 h.element_text(explainer.object())),
                     explainer.operations());
  }
};

}  // namespace

const ReplicatedType& non_interleaving_list() {
  static const NonInterleavingList type;
  return type;
}

}  // namespace cupel::crdt
