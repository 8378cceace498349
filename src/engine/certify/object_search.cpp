// The pattern no-order: see object_proofs.hpp. The search keeps, after each end of an operation,
// every set of open operations that may have been applied, with the sums that this makes. It
// applies open operations one at a time, in every order, until the one that ends is applied. If no
// set remains, no order exists. Nothing is skipped, so it is slow with many open operations, and
// then it gives up.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "engine/certify/object_proofs.hpp"

namespace cupel::certify {

namespace {

using history::Call;
using history::ObjectHistory;
using history::ObjectKind;
using history::ObjectOp;
using history::Time;

constexpr std::size_t kMostStates = 1 << 18;

// The applied operations that are open, and the sums by element, without zeros.
using Applied = std::pair<std::set<std::uint32_t>, std::vector<std::int64_t>>;

// Whether the operation is possible with these sums, which it changes. The sums of a bank are those
// of its transfers alone until a read says the balances; then the last place is 1.
bool apply(const ObjectHistory& h, const ObjectOp& op, std::vector<std::int64_t>& sums) {
  if (h.kind == ObjectKind::kCounter) {
    if (op.call == Call::kRead) return sums[0] == op.number;
    return !__builtin_add_overflow(sums[0], op.number, &sums[0]);
  }
  const auto accounts = h.values_of(op);
  if (op.call == Call::kTransfer) {
    return !__builtin_sub_overflow(sums[accounts[0]], op.number, &sums[accounts[0]]) &&
           !__builtin_add_overflow(sums[accounts[1]], op.number, &sums[accounts[1]]);
  }
  for (std::size_t i = 0; i < accounts.size(); ++i) {
    const auto balance = h.numbers[op.first + i];
    if (sums.back() == 1 && sums[accounts[i]] != balance) return false;
    sums[accounts[i]] = balance;
  }
  sums.back() = 1;
  return true;
}

}  // namespace

ObjectRejection search_in_vain(const ObjectHistory& history, std::span<const std::uint32_t> ops) {
  if (history.kind != ObjectKind::kCounter && history.kind != ObjectKind::kBank)
    return "no-order is a pattern of counters and banks";
  // A sum that does not fit would look like an operation that is not possible.
  __extension__ using Wide = __int128;
  Wide total = 0;
  for (const auto& op : history.ops) total += op.number < 0 ? -Wide(op.number) : Wide(op.number);
  for (const auto number : history.numbers) {
    if (number > std::int64_t{1} << 61 || number < -(std::int64_t{1} << 61)) total = Wide(1) << 62;
  }
  if (total >= Wide(1) << 62) return "the numbers are too large";
  std::vector<std::tuple<Time, bool, std::uint32_t>> events;
  for (const auto i : ops) {
    const ObjectOp& op = history.ops[i];
    if (!op.possible() || (op.returns() && !op.certain())) continue;
    events.emplace_back(op.invoke, false, i);
    if (op.complete != history::kNever) events.emplace_back(op.complete, true, i);
  }
  std::sort(events.begin(), events.end());
  const auto width = history.kind == ObjectKind::kBank ? history.elements.size() + 1 : 1;
  std::set<Applied> states = {{{}, std::vector<std::int64_t>(width)}};
  std::set<std::uint32_t> open;
  for (const auto& [time, ends, id] : events) {
    if (!ends) {
      open.insert(id);
      continue;
    }
    std::vector<Applied> todo(states.begin(), states.end());
    while (!todo.empty()) {
      const auto state = std::move(todo.back());
      todo.pop_back();
      if (state.first.contains(id)) continue;
      for (const auto next : open) {
        auto after = state;
        if (state.first.contains(next) || !apply(history, history.ops[next], after.second))
          continue;
        after.first.insert(next);
        if (!states.insert(after).second) continue;
        if (states.size() > kMostStates) return "the search has too many states";
        todo.push_back(std::move(after));
      }
    }
    std::set<Applied> kept;
    for (auto state : states) {
      if (state.first.erase(id) > 0) kept.insert(std::move(state));
    }
    states = std::move(kept);
    open.erase(id);
    if (states.empty()) return {};
  }
  return "an order exists";
}

}  // namespace cupel::certify
