// Unique ids: each call returns an id that no other call returned. Any order of distinct ids is
// legal, so the order in which the operations began will do. Jepsen's checker asks the same.
#include <algorithm>

#include "engine/objects/kinds.hpp"

namespace cupel::objects {

Answer decide_unique_ids(const history::ObjectHistory& history, Ops ops, ByElement& scratch) {
  Answer answer{.verdict = Verdict::kSatisfied};
  for (const auto id : ops) {
    if (!history.ops[id].certain()) continue;
    const auto element = history.values_of(history.ops[id])[0];
    if (const auto first = scratch.at(element); first != kNone) {
      answer = {.verdict = Verdict::kViolated,
                .violation = certify::ObjectPattern{.name = "id-twice",
                                                    .object = history.ops[id].object,
                                                    .ops = {first, id},
                                                    .elements = {element}}};
      break;
    }
    scratch.set(element, id);
    answer.order.push_back(id);
  }
  scratch.forget();
  std::stable_sort(answer.order.begin(), answer.order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return history.ops[a].invoke < history.ops[b].invoke;
  });
  return answer;
}

Jepsen jepsen_unique_ids(const history::ObjectHistory& history, Ops ops, ByElement& scratch) {
  JepsenClass duplicated{.name = "duplicated"};
  for (const auto id : ops) {
    if (!history.ops[id].certain()) continue;
    const auto element = history.values_of(history.ops[id])[0];
    const auto times = scratch.at(element) == kNone ? 1 : scratch.at(element) + 1;
    scratch.set(element, times);
    if (times != 2) continue;
    ++duplicated.count;
    if (duplicated.elements.size() < kElementsListed) duplicated.elements.push_back(element);
  }
  scratch.forget();
  const auto verdict = duplicated.count == 0 ? Verdict::kSatisfied : Verdict::kViolated;
  return {.checker = "unique-ids", .verdict = verdict, .classes = {std::move(duplicated)}};
}

}  // namespace cupel::objects
