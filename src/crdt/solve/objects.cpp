// Objects: decides one element of a set, one flag, counter, register or array at a time.
//
// The reads and updates of one object are a history. If the whole history has an execution, so has
// each of these. The converse does not hold, because causality connects the objects. But most bugs
// of replicas show in one object, and SAT decides its small history when the whole is too large. So
// the objects are decided first: the smallest first, each with a short time limit, then those that
// exceeded it with a longer one.
#include <algorithm>

#include "crdt/model/replicated_type.hpp"
#include "crdt/solve/decide.hpp"

namespace cupel::crdt {

namespace {

struct Object {
  std::uint32_t id;                        // element or key
  std::vector<std::pair<OpId, bool>> ops;  // of a set's read: with the element
};

std::vector<Object> objects_of(const History& history) {
  const bool set = replicated_type(history).traits().objects_are_elements;
  std::vector<Object> objects(set ? history.elements.size() : history.keys.size());
  for (std::uint32_t id = 0; id < objects.size(); ++id) objects[id].id = id;
  for (OpId id = 0; id < history.ops.size(); ++id) {
    const Operation& op = history.ops[id];
    if (!set)
      objects[op.key].ops.emplace_back(id, false);
    else if (!is_read(op.kind))
      objects[op.element].ops.emplace_back(id, false);
  }
  if (set) {
    for (const Claim& claim : claims_of(history))
      objects[claim.element].ops.emplace_back(claim.op, claim.returned);
  }
  std::erase_if(objects, [](const Object& object) { return object.ops.empty(); });
  for (Object& object : objects) std::sort(object.ops.begin(), object.ops.end());
  std::stable_sort(objects.begin(), objects.end(),
                   [](const Object& a, const Object& b) { return a.ops.size() < b.ops.size(); });
  return objects;
}

// As part_of(), for which a set's whole reads would be gone through for each element.
Part part_of_element(const History& history, const Object& object) {
  Part part;
  History& small = part.history;
  small.type = history.type;
  const auto key = small.key(history.keys[history.elements[object.id].key]);
  const auto element = small.element(key, history.elements[object.id].text);
  part.elements = {object.id};
  for (const auto& [id, returned] : object.ops) {
    Operation op = history.ops[id];
    const auto replica = op.replica;
    op.replica = small.replica(history.replicas[replica]);
    if (std::find(history.indeterminate.begin(), history.indeterminate.end(), replica) !=
        history.indeterminate.end())
      small.indeterminate.push_back(op.replica);
    op.key = key;
    std::vector<std::uint32_t> list;
    if (op.kind == Kind::kState && returned) list.push_back(element);
    if (op.kind != Kind::kState) op.element = element;
    small.add(op, list);
    part.origin.push_back(id);
  }
  return part;
}

}  // namespace

std::optional<Decision> decide_objects(const History& history, const Axioms& axioms,
                                       base::Budget& budget, const Methods& methods) {
  std::vector<Object> objects = objects_of(history);
  if (objects.size() < 2) return std::nullopt;
  std::vector<std::vector<std::uint32_t>> of_key(history.keys.size());
  for (std::uint32_t e = 0; e < history.elements.size(); ++e)
    of_key[history.elements[e].key].push_back(e);
  for (const double seconds : {0.2, 2.0, 20.0}) {
    std::vector<Object> undecided;
    for (Object& object : objects) {
      if (budget.exceeded()) return std::nullopt;
      Core all;
      Part part;
      if (replicated_type(history).traits().objects_are_elements) {
        part = part_of_element(history, object);
      } else {
        for (const auto& [id, returned] : object.ops) all.ops.push_back(id);
        all.elements = of_key[object.id];
        part = part_of(history, all);
      }
      base::Budget slice(std::chrono::duration<double>(std::min(seconds, budget.seconds_left())),
                         0);
      auto decision = decide(part.history, axioms, slice, methods);
      if (decision.verdict == Verdict::kUnknown) undecided.push_back(std::move(object));
      if (decision.verdict != Verdict::kViolated) continue;
      for (OpId& id : decision.violation->core.ops) id = part.origin[id];
      auto& elements = decision.violation->core.elements;
      for (auto& e : elements) e = part.elements[e];
      std::sort(elements.begin(), elements.end());
      decision.violation->cycle.clear();  // is found again where it is explained
      return decision;
    }
    objects = std::move(undecided);
    if (objects.empty()) break;
  }
  return std::nullopt;
}

}  // namespace cupel::crdt
