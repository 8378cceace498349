// Decide: chooses the method, and builds parts of a history.
#include "crdt/solve/decide.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include "crdt/model/replicated_type.hpp"
#include "crdt/model/times.hpp"
#include "crdt/solve/list_order.hpp"

namespace cupel::crdt {

namespace {

Decision decide_in_turn(const History& history, const Axioms& axioms, base::Budget& budget,
                        const Methods& methods) {
  // Where SAT is at once done there is nothing to gain from smaller parts.
  constexpr std::size_t kSmall = 150;
  constexpr std::size_t kFewContradictions = 1000, kMostContradictions = 100'000;
  const bool small = history.ops.size() <= kSmall;
  const ReplicatedType& type = replicated_type(history);
  // An execution in which something was seen before it was invoked is none. If all others see more,
  // there is none.
  const auto accept = [&](std::optional<Decision>& found) {
    if (!found || !found->witness || !late_update(history, found->witness->clocks))
      return found.has_value();
    if (!found->least) return false;
    found->verdict = Verdict::kViolated;
    found->witness.reset();
    found->violation = Violation{whole(history), {}};
    return true;
  };
  if (methods.polynomial) {
    const auto effort = small ? Effort::kAll : Effort::kFirst;
    auto quick = type.decide_quickly(history, axioms, budget, effort);
    if (accept(quick)) return std::move(*quick);
  }
  if (methods.search) {
    auto found = decide_search(history, axioms, budget);
    if (accept(found)) return std::move(*found);
  }
  if (methods.bounds) {
    for (const bool in_order : {true, false}) {
      auto found = decide_element_constraints(history, budget, in_order, kFewContradictions);
      if (accept(found)) return std::move(*found);
    }
  }
  if (methods.search && !small) {
    if (auto wrong = decide_objects(history, axioms, budget, methods)) return std::move(*wrong);
  }
  if (methods.bounds) {
    auto found = decide_element_constraints(history, budget, false, kMostContradictions);
    if (accept(found)) return std::move(*found);
  }
  if (methods.polynomial && !small) {
    auto found = type.decide_quickly(history, axioms, budget, Effort::kAgain);
    if (accept(found)) return std::move(*found);
  }
  std::optional<Decision> found = decide_exact(history, axioms, budget);
  return accept(found) ? std::move(*found) : Decision{.decided_by = found->decided_by};
}

}  // namespace

Decision decide(const History& history, const Axioms& axioms, base::Budget& budget,
                const Methods& methods) {
  if (replicated_type(history).traits().needs_deliveries) return {};
  auto decision = decide_in_turn(history, axioms, budget, methods);
  if (decision.witness) add_characters(history, axioms, budget, *decision.witness);
  return decision;
}

void add_characters(const History& history, const Axioms& axioms, base::Budget& budget,
                    Witness& witness) {
  if (!witness.characters.empty() || !replicated_type(history).traits().one_order) return;
  const auto visibility = Visibility::of_clocks(history, witness.clocks, witness.order);
  witness.characters =
      order_of_list({history, visibility, axioms, budget}, /*certain=*/false).characters;
}

Core whole(const History& history) {
  Core core;
  core.ops.resize(history.ops.size());
  std::iota(core.ops.begin(), core.ops.end(), 0);
  core.elements.resize(history.elements.size());
  std::iota(core.elements.begin(), core.elements.end(), 0);
  return core;
}

std::vector<Claim> claims_of(const History& history) {
  std::vector<Claim> claims;
  if (!replicated_type(history).traits().objects_are_elements) {
    for (OpId id = 0; id < history.ops.size(); ++id) {
      if (history.ops[id].kind == Kind::kTest)
        claims.push_back({id, history.ops[id].key, history.ops[id].returned});
    }
    return claims;
  }
  std::vector<std::vector<std::uint32_t>> of_key(history.keys.size());
  {
    std::vector<bool> named(history.elements.size(), false);
    for (const Operation& op : history.ops) {
      if (op.kind == Kind::kUp || op.kind == Kind::kDown) named[op.element] = true;
      if (op.kind == Kind::kState) {
        for (const auto e : history.list(op)) named[e] = true;
      }
    }
    for (std::uint32_t e = 0; e < named.size(); ++e) {
      if (named[e]) of_key[history.elements[e].key].push_back(e);
    }
  }
  std::vector<bool> returned(history.elements.size(), false);
  for (OpId id = 0; id < history.ops.size(); ++id) {
    const Operation& op = history.ops[id];
    if (op.kind == Kind::kTest) claims.push_back({id, op.element, op.returned});
    if (op.kind != Kind::kState) continue;
    for (const auto e : history.list(op)) returned[e] = true;
    for (const auto e : of_key[op.key]) claims.push_back({id, e, returned[e]});
    for (const auto e : history.list(op)) returned[e] = false;
  }
  return claims;
}

Part part_of(const History& history, const Core& core) {
  Part part;
  History& small = part.history;
  small.type = history.type;
  const std::set<std::uint32_t> kept(core.elements.begin(), core.elements.end());
  const bool of_elements = replicated_type(history).traits().reads_list_elements;
  for (const OpId id : core.ops) {
    Operation op = history.ops[id];
    // Its whole reads would not show what they have seen.
    const auto changed = history.changed(history.ops[id]);
    const auto first = std::find_if(changed.begin(), changed.end(),
                                    [&](std::uint32_t e) { return kept.contains(e); });
    if (of_elements && op.element != kNone) {
      if (first == changed.end()) continue;
      op.element = *first;
    }
    const auto replica = op.replica;
    op.replica = small.replica(history.replicas[replica]);
    if (std::find(history.indeterminate.begin(), history.indeterminate.end(), replica) !=
        history.indeterminate.end())
      small.indeterminate.push_back(op.replica);
    op.key = small.key(history.keys[op.key]);
    const auto element = [&](std::uint32_t e) {
      if (e == kNone) return kNone;
      const auto there =
          small.element(small.key(history.keys[history.elements[e].key]), history.elements[e].text);
      if (there == part.elements.size()) part.elements.push_back(e);
      return there;
    };
    std::vector<std::uint32_t> list;
    for (const auto e : history.list(history.ops[id])) {
      if (!of_elements || kept.contains(e)) list.push_back(element(e));
    }
    op.element = element(op.element);
    op.parent = element(op.parent);
    small.add(op, list);
    part.origin.push_back(id);
  }
  return part;
}

}  // namespace cupel::crdt
