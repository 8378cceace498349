// Partial order: a list of facts to propagate.
#include "crdt/verify/partial_order.hpp"

namespace cupel::crdt {

OpenPair PartialOrder::open_of(OpId op, const std::vector<OpId>& updates) const {
  for (const OpId u : updates) {
    if (u != op && open(u, op)) return {u, op};
  }
  for (const OpId u : updates) {
    for (const OpId v : updates) {
      if (u != v && before(v, op) && open(u, v)) return {u, v};
    }
  }
  return {};
}

bool PartialOrder::close(OrderFacts& facts, SearchWork& work) {
  while (!facts.empty()) {
    const auto [a, b, is_before] = facts.back();
    facts.pop_back();
    if (is_before) {
      if (never(a, b)) return false;
      if (before(a, b)) continue;
      work.done += 5 * past.words();
      past.set(b, a);
      future.set(a, b);
      past.for_new(a, past, b, [&, to = b](OpId x) { facts.push_back({x, to, true}); });
      future.for_new(b, future, a, [&, from = a](OpId y) { facts.push_back({from, y, true}); });
      facts.push_back({b, a, false});
      never_future.for_new(a, never_future, b, [&, from = b](OpId v) {
        facts.push_back({from, v, false});
      });
      never_past.for_new(b, never_past, a, [&, to = a](OpId u) {
        facts.push_back({u, to, false});
      });
    } else {
      if (before(a, b)) return false;
      if (never(a, b)) continue;
      work.done += 2 * past.words();
      never_past.set(b, a);
      never_future.set(a, b);
      future.for_new(a, never_past, b, [&, to = b](OpId x) { facts.push_back({x, to, false}); });
      past.for_new(b, never_future, a, [&, from = a](OpId y) {
        facts.push_back({from, y, false});
      });
    }
  }
  return true;
}

bool one_of(const std::vector<OpId>& candidates, const std::function<void(OpId)>& only) {
  if (candidates.empty()) return false;
  if (candidates.size() == 1) only(candidates[0]);
  return true;
}

}  // namespace cupel::crdt
