// List order: see the header. The search is that of between_order.hpp.
#include "crdt/solve/list_order.hpp"

#include <set>

#include "crdt/solve/character_order.hpp"

namespace cupel::crdt {

namespace {

class ListOrderSearch {
 public:
  ListOrderSearch(const KnownContext& context, bool certain)
      : context_(context),
        h_(context.history),
        certain_(certain),
        characters_(context),
        removed_ever_(h_.elements.size(), false) {
    for (const Operation& op : h_.ops) {
      if (op.kind != Kind::kDelete) continue;
      for (const auto e : h_.changed(op)) {
        // Which of two removes a read had seen is a guess, and so is what came with it.
        steps_only_ = steps_only_ || (certain && removed_ever_[e]);
        removed_ever_[e] = true;
      }
    }
  }

  ListOrder run() {
    if (context_.budget.exceeded()) return {};  // what the reads show may be unchecked
    BetweenOrder order(characters_.key_begin());
    characters_.add_given(order);
    const auto answer = order.run([&] { return misplaced(order); }, context_.budget);
    ListOrder result{.verdict = answer.verdict};
    if (answer.verdict == Verdict::kSatisfied) result.characters = characters_.characters(order);
    if (answer.verdict == Verdict::kViolated) explain(order, answer, result);
    return result;
  }

 private:
  std::vector<BetweenOrder::Misplaced> misplaced(const BetweenOrder& order) {
    if (steps_only_) return {};
    // Who sees more may see a remove of a character, too.
    return characters_.misplaced(order, certain_ ? &removed_ever_ : nullptr);
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
      characters_.add_reasons(edge, operations);
      const bool is_shown = is_read(h_.ops[edge.by].kind) ||
                            edge.by == characters_.insert(characters_.element(edge.to));
      result.by_steps_alone = result.by_steps_alone && is_shown && !order.is_derived(id);
    }
    result.operations.assign(operations.begin(), operations.end());
    for (const auto id : answer.cycle) result.cycle.push_back(characters_.step(order.edge(id)));
  }

  const KnownContext& context_;
  const History& h_;
  const bool certain_;
  OrderedCharacters characters_;
  std::vector<bool> removed_ever_;  // by element
  bool steps_only_ = false;
};

}  // namespace

ListOrder order_of_list(const KnownContext& context, bool certain) {
  return ListOrderSearch(context, certain).run();
}

}  // namespace cupel::crdt
