// Document: see the header.
#include "crdt/solve/document.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/parallel.hpp"
#include "crdt/model/replicated_type.hpp"
#include "crdt/solve/known_state.hpp"
#include "crdt/solve/last_update_order.hpp"

namespace cupel::crdt {

namespace {

// The value of a put that no visible put of its place had seen.
struct HeldValue {
  std::uint32_t value;
  OpId put = kNone;                 // kNone: it is not visible yet, but updates of the value are
  std::vector<OpId> standing = {};  // of the put and updates of the value: those not taken away
};

// A place at one replica, by kUpdateWins and kReset.
struct NestedPlace {
  std::vector<HeldValue> values;
  LatestOfEach puts, removes;

  void clear() {
    values.clear();
    puts.clear();
    removes.clear();
  }
};

// By kLastWriterWins and kRemoveWins.
using PlainPlace = MaximalUpdates;

class KnownDocument {
 public:
  KnownDocument(const KnownContext& context, MapPolicy policy, const DocumentIndex& index,
                const KeyEvents& events)
      : context_(context),
        h_(context.history),
        index_(index),
        events_(events),
        policy_(policy),
        nested_policy_(policy == MapPolicy::kUpdateWins || policy == MapPolicy::kReset),
        elements_(h_),
        places_of_(index.count_of_nodes()),
        containers_at_(h_.elements.size()),
        plain_(nested_policy_ ? 0 : h_.elements.size()),
        nested_(nested_policy_ ? h_.elements.size() : 0),
        claimed_(h_.elements.size()),
        is_put_(h_.elements.size(), false),
        is_gone_(h_.elements.size(), false),
        is_open_(h_.elements.size(), false),
        open_(index.count_of_nodes()),
        open_at_(h_.elements.size(), kNone),
        listed_(h_.elements.size(), kNone) {
    for (std::uint32_t e = 0; e < h_.elements.size(); ++e) {
      if (index_.is_place(e) || index_.at(e).holds != kNone)
        places_of_[index_.at(e).node].push_back(e);
      if (index_.is_container(e) && index_.place_of(e) != kNone)
        containers_at_[index_.place_of(e)].push_back(e);
    }
  }

  ContextDecision decide() {
    events_.replay_all([&](std::uint32_t key, std::uint32_t) { begin(key); },
                       [&](OpId update) { arrive(update); }, [&](OpId id) { return is_right(id); });
    if (context_.budget.limit() != base::Limit::kNone) return {};
    if (wrong_.is_there()) return wrong_.decision();
    claims_.sort(h_);
    return order_of_last_updates(context_, events_, claims_, [&](OpId u) { return value(u); });
  }

  // After what the operation had seen.
  std::vector<OpId> candidates_for(OpId op, std::uint32_t place) {
    std::vector<OpId> found;
    bool here = false;
    const auto of = h_.ops[op].key;
    events_.replay(
        of,
        [&](std::uint32_t replica) {
          here = h_.ops[op].replica == replica;
          if (here) begin(of);
        },
        [&](OpId update) {
          if (here) arrive(update);
        },
        [&](OpId id) {
          if (here && id == op) found = candidates(place);
          return here && id != op;
        });
    return found;
  }

 private:
  void begin(std::uint32_t key) {
    for (const auto e : elements_.of(key)) {
      if (nested_policy_)
        nested_[e].clear();
      else
        plain_[e].clear();
      claimed_[e] = std::nullopt;
      is_put_[e] = is_gone_[e] = is_open_[e] = false;
      open_at_[e] = kNone;
      open_[e].clear();
    }
    open_[index_.root(key)].clear();
  }

  // What a place holds after it; kNone: nothing.
  [[nodiscard]] std::uint32_t value(OpId update) const {
    const Operation& op = h_.ops[update];
    return op.kind == Kind::kPut ? op.parent : kNone;
  }

  [[nodiscard]] bool saw(OpId op, OpId update) const {
    return context_.visibility.sees(op, update);
  }

  void arrive(OpId update) {
    const Operation& op = h_.ops[update];
    const bool at_place = op.kind == Kind::kPut || index_.is_place(op.element);
    if (op.kind == Kind::kPut && index_.is_container(op.parent)) is_put_[op.parent] = true;
    const auto inserted = op.kind == Kind::kInsert ? index_.at(op.element).holds : kNone;
    if (inserted != kNone) is_put_[inserted] = true;
    if (op.kind == Kind::kDelete && !at_place) is_gone_[op.element] = true;
    if (at_place && !nested_policy_) {
      plain_[op.element].take(context_, update);
      changed(op.element);
    }
    if (!nested_policy_) return;
    if (op.kind == Kind::kPut) take_put(update);
    if (op.kind == Kind::kDelete && at_place)
      take_remove(op.element, update);
    else
      touch(update);
  }

  void take_put(OpId put) {
    const Operation& op = h_.ops[put];
    NestedPlace& place = nested_[op.element];
    std::erase_if(place.values, [&](const HeldValue& held) {
      return held.put != kNone && held.put != put && saw(put, held.put);
    });
    if (!place.puts.saw(context_.visibility, put)) {
      HeldValue* held =
          index_.is_container(op.parent) ? held_container(op.element, op.parent) : nullptr;
      if (held == nullptr) held = &place.values.emplace_back(HeldValue{.value = op.parent});
      held->put = put;
    }
    place.puts.add(h_, put);
  }

  HeldValue* held_container(std::uint32_t place, std::uint32_t container) {
    auto& values = nested_[place].values;
    const auto found = std::find_if(values.begin(), values.end(),
                                    [&](const HeldValue& held) { return held.value == container; });
    return found == values.end() ? nullptr : &*found;
  }

  struct Level {
    std::uint32_t place, value;
  };

  // The update stands for the values that it is made to, and that it is within.
  void touch(OpId update) {
    const Operation& op = h_.ops[update];
    auto& levels = levels_;
    levels.clear();
    if (op.kind == Kind::kPut) levels.push_back({op.element, op.parent});
    for (auto node = index_.node_of(op); index_.place_of(node) != kNone;) {
      const auto place = index_.place_of(node);
      if (index_.is_place(place)) levels.push_back({place, node});
      node = index_.at(place).node;
    }
    for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
      const bool own = op.kind == Kind::kPut && level + 1 == levels.rend();
      const bool taken = nested_[level->place].removes.saw(context_.visibility, update);
      if (taken && policy_ == MapPolicy::kReset) {
        if (op.kind == Kind::kInsert) is_gone_[op.element] = true;
        break;
      }
      if (!taken) stand(level->place, level->value, update, own);
      if (policy_ == MapPolicy::kReset && index_.is_container(level->value))
        is_open_[level->value] = true;
      changed(level->place);
    }
    if (op.kind == Kind::kPut) changed(op.element);
  }

  void stand(std::uint32_t place, std::uint32_t value, OpId update, bool own) {
    auto& values = nested_[place].values;
    auto found = std::find_if(values.begin(), values.end(), [&](const HeldValue& held) {
      return own ? held.put == update : held.value == value;
    });
    if (found == values.end()) {
      // The put was overwritten, or it comes later.
      if (own || is_put_[value]) return;
      values.push_back({.value = value});
      found = values.end() - 1;
    }
    auto& standing = found->standing;
    // Who has seen the later of two updates of one replica has seen the earlier one.
    if (h_.context.rule != DeliveryRule::kApplied) {
      for (OpId& other : standing) {
        if (h_.ops[other].replica != h_.ops[update].replica) continue;
        if (h_.ops[other].seq < h_.ops[update].seq) other = update;
        return;
      }
    }
    standing.push_back(update);
  }

  void take_remove(std::uint32_t place, OpId remove) {
    nested_[place].removes.add(h_, remove);
    take_away(place, remove);
  }

  // True: something is left there, or within what was put there, by kReset.
  bool take_away(std::uint32_t place, OpId remove) {
    bool left = false;
    for (HeldValue& held : nested_[place].values) {
      std::erase_if(held.standing, [&](OpId u) { return saw(remove, u); });
      left = left || !held.standing.empty();
    }
    // What is in a value that was overwritten, too: others may go on in it.
    for (const auto container : containers_at_[place]) {
      if (!is_open_[container]) continue;
      is_open_[container] = take_away_within(container, remove);
      left = left || is_open_[container];
    }
    changed(place);
    return left;
  }
  bool take_away_within(std::uint32_t container, OpId remove) {
    bool left = false;
    for (const auto below : places_of_[container]) {
      const auto held = index_.at(below).holds;
      if (held == kNone) {
        left = take_away(below, remove) || left;
        continue;
      }
      const OpId put = index_.at(held).put;
      if (put != kNone && saw(remove, put)) is_gone_[below] = true;
      left = take_away_within(held, remove) || left || !is_gone_[below];
    }
    return left;
  }

  [[nodiscard]] std::vector<OpId> candidates(std::uint32_t place) const {
    if (policy_ == MapPolicy::kLastWriterWins) return plain_[place].updates();
    std::vector<OpId> found;
    if (policy_ == MapPolicy::kRemoveWins) {
      for (const OpId u : plain_[place].updates()) {
        if (h_.ops[u].kind == Kind::kPut) found.push_back(u);
      }
      return found;
    }
    for (const HeldValue& held : nested_[place].values) {
      if (held.put != kNone && !held.standing.empty()) found.push_back(held.put);
    }
    return found;
  }

  [[nodiscard]] bool may_hold_something(std::uint32_t place) const {
    if (!nested_policy_) {
      const auto& all = plain_[place].updates();
      return std::any_of(all.begin(), all.end(), [&](OpId u) { return value(u) != kNone; });
    }
    const auto& values = nested_[place].values;
    return std::any_of(values.begin(), values.end(), [](const HeldValue& held) {
      return held.put != kNone && !held.standing.empty();
    });
  }

  // Keeps the places that may hold something.
  void changed(std::uint32_t place) {
    claimed_[place] = std::nullopt;
    const bool open = may_hold_something(place);
    auto& at_node = open_[index_.at(place).node];
    auto& at = open_at_[place];
    if (open == (at != kNone)) return;
    if (open) {
      at = static_cast<std::uint32_t>(at_node.size());
      at_node.push_back(place);
      return;
    }
    at_node[at] = at_node.back();
    open_at_[at_node[at]] = at;
    at_node.pop_back();
    at = kNone;
  }

  bool is_right(OpId id) {
    if (context_.budget.exceeded()) return false;
    const Operation& op = h_.ops[id];
    if (op.kind != Kind::kDocument) {
      const auto node = index_.node_of(op);
      const bool known = index_.is_root(node) || is_put_[node];
      if (!known) wrong_.add(id, node);
      return known;
    }
    bool right = true;
    std::vector<std::uint32_t> maps;  // that are shown
    if (op.element == kNone) maps.push_back(index_.root(op.key));
    for_shown(h_, index_, op, [&](const ShownItem& item) {
      const auto container = item.container(index_);
      if (container != kNone && index_.kind_of(container) == ValueKind::kMap)
        maps.push_back(container);
      if (item.value == kNone) return;
      listed_[item.element] = id;
      right = right && claim(id, item.element, item.value);
    });
    if (op.element != kNone && listed_[op.element] != id)
      right = right && claim_nothing(id, op.element);
    for (const auto node : maps) {
      for (const auto place : open_[node]) {
        if (right && listed_[place] != id) right = claim(id, place, kNone);
      }
    }
    return right;
  }

  // A path leads to nothing. Where it leads through containers, one of these may not be there, so
  // it is wrong only if all of them must be.
  bool claim_nothing(OpId read, std::uint32_t place) {
    const auto node = index_.at(place).node;
    if (index_.is_root(node)) return claim(read, place, kNone);
    if (may_hold_other(place, kNone)) return true;
    for (auto above = node; !index_.is_root(above);) {
      const auto at = index_.place_of(above);
      if (at == kNone) return true;
      // A list has the container or not, whatever the orders.
      const bool may_miss =
          index_.is_place(at) ? may_hold_other(at, above) : is_gone_[at] || !is_put_[above];
      if (may_miss) return true;
      above = index_.at(at).node;
    }
    wrong_.add(read, place);
    return false;
  }
  // Than this container; kNone: than something.
  [[nodiscard]] bool may_hold_other(std::uint32_t place, std::uint32_t container) const {
    const auto all = candidates(place);
    return all.empty() || std::any_of(all.begin(), all.end(), [&](OpId u) {
             return container == kNone ? value(u) == kNone : value(u) != container;
           });
  }

  // The place holds this value. False: it cannot.
  bool claim(OpId read, std::uint32_t place, std::uint32_t said) {
    if (claimed_[place] == said) return true;
    const auto all = candidates(place);
    const auto fitting =
        std::count_if(all.begin(), all.end(), [&](OpId u) { return value(u) == said; });
    if (fitting == 0 && (said != kNone || !all.empty())) {
      wrong_.add(read, place);
      return false;
    }
    claimed_[place] = said;
    if (static_cast<std::size_t>(fitting) < all.size()) claims_.add(read, said, all);
    return true;
  }

  const KnownContext& context_;
  const History& h_;
  const DocumentIndex& index_;
  const KeyEvents& events_;
  const MapPolicy policy_;
  const bool nested_policy_;
  const ElementsOfKeys elements_;
  std::vector<std::vector<std::uint32_t>> places_of_;      // by node; of a list its containers
  std::vector<std::vector<std::uint32_t>> containers_at_;  // by place
  // Of the key and at the replica that are replayed.
  std::vector<PlainPlace> plain_;                      // by place
  std::vector<NestedPlace> nested_;                    // by place
  std::vector<std::optional<std::uint32_t>> claimed_;  // by place: by the read before, since then
  std::vector<bool> is_put_;                           // by container
  std::vector<bool> is_gone_;                          // by character of a list
  std::vector<bool> is_open_;  // by container, by kReset: what was done in it is not all undone
  std::vector<std::vector<std::uint32_t>> open_;  // by node: places that may hold something
  std::vector<std::uint32_t> open_at_;            // by place: where in it
  std::vector<OpId> listed_;                      // by place: the last read that shows it
  std::vector<Level> levels_;                     // of an update
  LastUpdateClaims claims_;
  FirstWrong wrong_;
};

// Of the document, what is wrong in a part.
WrongRead wrong_in_document(const DocumentPart& part, const WrongRead& wrong) {
  const auto op = [&](OpId id) { return id == kNone ? kNone : part.origin[id]; };
  const auto element = [&](std::uint32_t e) { return e == kNone ? kNone : part.elements[e]; };
  WrongRead there{.read = op(wrong.read), .object = kNone};
  for (Step step : wrong.cycle) {
    step.from = op(step.from);
    step.to = op(step.to);
    step.read = op(step.read);
    step.shown = element(step.shown);
    step.over = element(step.over);
    there.cycle.push_back(step);
  }
  for (const OpId id : wrong.operations) there.operations.push_back(op(id));
  return there;
}

}  // namespace

DocumentDecision decide_document(const KnownContext& context, MapPolicy policy) {
  const DocumentIndex index(context.history);
  const KeyEvents events(context.history, context.visibility);
  DocumentDecision found;
  auto& decision = found.decision;
  std::vector<DocumentPart> parts;
  std::vector<ContextDecision> of_parts;
  base::for_each_index(2, context.threads, [&](std::size_t places) {
    if (places == 0) {
      decision = KnownDocument(context, policy, index, events).decide();
      return;
    }
    if (context.budget.exceeded()) return;
    parts = document_parts(context, index, events, policy);
    for (const auto& part : parts) {
      if (context.budget.exceeded()) return;
      const auto visibility = context.visibility.of_part(part.history, part.origin);
      of_parts.push_back(
          decide_context({part.history, visibility, context.axioms, context.budget}));
    }
  });
  if (context.budget.limit() != base::Limit::kNone) return {};
  // Of several, the first read of the file that is wrong by itself. Of a counter it can take many
  // updates to say so.
  const auto rank = [](const WrongRead& wrong, bool sum) {
    return std::pair(wrong.read == kNone ? 2 : sum ? 1 : 0, wrong.read);
  };
  auto best = decision.wrong ? rank(*decision.wrong, false) : std::pair(3, kNone);
  for (std::size_t p = 0; p < parts.size(); ++p) {
    auto& part = parts[p];
    auto& own = of_parts[p];
    if (own.verdict == Verdict::kSatisfied) {
      for (const auto e : own.characters) decision.characters.push_back(part.elements[e]);
      continue;
    }
    if (own.verdict == Verdict::kUnknown) {
      if (decision.verdict == Verdict::kSatisfied) decision.verdict = Verdict::kUnknown;
      continue;
    }
    auto wrong = wrong_in_document(part, *own.wrong);
    const auto own_rank = rank(wrong, part.history.type == Type::kCounter ||
                                          part.history.type == Type::kResettableCounter);
    if (best <= own_rank) continue;
    best = own_rank;
    decision = {.verdict = Verdict::kViolated, .wrong = std::move(wrong)};
    found.wrong_in_part = std::move(own.wrong);
    found.part = std::move(part);
  }
  if (decision.verdict != Verdict::kSatisfied) {
    decision.characters.clear();
    decision.writes.clear();
  }
  return found;
}

std::vector<OpId> candidates_at(const KnownContext& context, MapPolicy policy, OpId op,
                                std::uint32_t place) {
  const DocumentIndex index(context.history);
  const KeyEvents events(context.history, context.visibility);
  return KnownDocument(context, policy, index, events).candidates_for(op, place);
}

}  // namespace cupel::crdt
