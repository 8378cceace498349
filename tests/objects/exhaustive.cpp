// The oracle: see the header. At most 20 operations.
#include "objects/exhaustive.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace cupel::objects_test {

namespace {

using history::Call;
using history::ObjectHistory;
using history::ObjectKind;
using history::ObjectOp;
using history::TxnStatus;

using State = std::vector<std::int64_t>;

std::vector<std::int64_t> sorted_values(const ObjectHistory& h, const ObjectOp& op) {
  const auto values = h.values_of(op);
  std::vector<std::int64_t> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

// The states after the operation; none: it cannot happen in this state with this result.
std::vector<State> step_set(const ObjectHistory& h, const ObjectOp& op, State state) {
  if (op.call == Call::kRead) {
    const bool unknown = op.status != TxnStatus::kCommitted || !op.known;
    if (unknown || sorted_values(h, op) == state) return {state};
    return {};
  }
  const std::int64_t element = h.values_of(op)[0];
  if (std::find(state.begin(), state.end(), element) == state.end()) state.push_back(element);
  std::sort(state.begin(), state.end());
  return {state};
}

bool has_result(const ObjectOp& op) {
  return op.status == TxnStatus::kCommitted && op.known;
}

// The state is the sum.
std::vector<State> step_counter(const ObjectOp& op, const State& state) {
  const auto sum = state.empty() ? 0 : state[0];
  if (op.call == Call::kAdd) return {{sum + op.number}};
  if (has_result(op) && op.number != sum) return {};
  return {state};
}

// The state has the ids that were returned.
std::vector<State> step_ids(const ObjectHistory& h, const ObjectOp& op, State state) {
  if (!has_result(op)) return {state};
  const std::int64_t id = h.values_of(op)[0];
  if (std::find(state.begin(), state.end(), id) != state.end()) return {};
  state.push_back(id);
  std::sort(state.begin(), state.end());
  return {state};
}

// The state has the elements, the first one first. A dequeue without a known result takes the first
// element, or finds none.
std::vector<State> step_fifo(const ObjectHistory& h, const ObjectOp& op, State state) {
  if (op.call == Call::kEnqueue) {
    state.push_back(h.values_of(op)[0]);
    return {state};
  }
  if (has_result(op) && (state.empty() || state[0] != h.values_of(op)[0])) return {};
  std::vector<State> after;
  if (!has_result(op)) after.push_back(state);
  if (!state.empty()) {
    state.erase(state.begin());
    after.push_back(state);
  }
  return after;
}

// The state has the elements, sorted.
std::vector<State> step_bag(const ObjectHistory& h, const ObjectOp& op, State state) {
  if (op.call == Call::kEnqueue) {
    state.push_back(h.values_of(op)[0]);
    std::sort(state.begin(), state.end());
    return {state};
  }
  std::vector<State> after;
  if (!has_result(op)) after.push_back(state);
  for (std::size_t i = 0; i < state.size(); ++i) {
    if (has_result(op) && state[i] != h.values_of(op)[0]) continue;
    auto less = state;
    less.erase(less.begin() + static_cast<std::ptrdiff_t>(i));
    after.push_back(std::move(less));
  }
  return after;
}

// The state says whether a read was, and the balances of the accounts 0 and 1; before the first
// read, which says the balances, the sums of the transfers.
std::vector<State> step_bank(const ObjectHistory& h, const ObjectOp& op, State state) {
  if (state.empty()) state = {0, 0, 0};
  const auto accounts = h.values_of(op);
  if (op.call == Call::kTransfer) {
    state[1 + accounts[0]] -= op.number;
    state[1 + accounts[1]] += op.number;
    return {state};
  }
  if (!has_result(op)) return {state};
  for (std::size_t i = 0; i < accounts.size(); ++i) {
    const auto balance = h.numbers[op.first + i];
    if (state[0] == 1 && state[1 + accounts[i]] != balance) return {};
    state[1 + accounts[i]] = balance;
  }
  state[0] = 1;
  return {state};
}

std::vector<State> step(const ObjectHistory& h, const ObjectOp& op, const State& state) {
  switch (h.kind) {
    case ObjectKind::kSet:
      return step_set(h, op, state);
    case ObjectKind::kCounter:
      return step_counter(op, state);
    case ObjectKind::kUniqueIds:
      return step_ids(h, op, state);
    case ObjectKind::kFifoQueue:
      return step_fifo(h, op, state);
    case ObjectKind::kBag:
      return step_bag(h, op, state);
    case ObjectKind::kBank:
      return step_bank(h, op, state);
  }
  return {};
}

class Search {
 public:
  Search(const ObjectHistory& history, std::uint32_t object) : h_(history) {
    for (const auto& op : h_.ops) {
      if (op.object == object && op.status != TxnStatus::kAborted) ops_.push_back(&op);
    }
  }

  bool run() { return from(0, {}); }

 private:
  bool from(std::uint32_t done, const State& state) {
    bool all = true;
    for (std::size_t i = 0; i < ops_.size(); ++i)
      all = all && ((done >> i & 1) != 0 || ops_[i]->status != TxnStatus::kCommitted);
    if (all) return true;
    if (!seen_.emplace(done, state).second) return false;
    for (std::size_t i = 0; i < ops_.size(); ++i) {
      if ((done >> i & 1) != 0 || !may_be_next(done, i)) continue;
      for (const auto& next : step(h_, *ops_[i], state)) {
        if (from(done | 1U << i, next)) return true;
      }
    }
    return false;
  }

  // No other operation that is not done had ended when this one began.
  bool may_be_next(std::uint32_t done, std::size_t i) const {
    for (std::size_t j = 0; j < ops_.size(); ++j) {
      if (j != i && (done >> j & 1) == 0 && ops_[j]->complete < ops_[i]->invoke) return false;
    }
    return true;
  }

  const ObjectHistory& h_;
  std::vector<const ObjectOp*> ops_;
  std::set<std::pair<std::uint32_t, State>> seen_;
};

}  // namespace

bool is_linearizable(const ObjectHistory& history) {
  for (std::uint32_t object = 0; object < history.objects.size(); ++object) {
    if (!Search(history, object).run()) return false;
  }
  return true;
}

}  // namespace cupel::objects_test
