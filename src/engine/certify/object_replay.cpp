// Replay of objects: see object_proofs.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <map>

#include "engine/certify/object_proofs.hpp"

namespace cupel::certify {

using history::Call;
using history::ObjectKind;
using history::ObjectOp;
using history::Time;

ObjectReplay::ObjectReplay(const history::ObjectHistory& history)
    : h_(history),
      certain_(history.objects.size()),
      replayed_(history.ops.size()),
      inside_(history.elements.size()),
      met_(history.elements.size()) {
  for (const auto& op : h_.ops) certain_[op.object] += op.certain() ? 1 : 0;
}

ObjectRejection ObjectReplay::replay(std::uint32_t object, std::span<const std::uint32_t> order) {
  ++round_;
  if (auto wrong = in_real_time(object, order); !wrong.empty()) return wrong;
  switch (h_.kind) {
    case ObjectKind::kSet:
      return replay_set(order);
    case ObjectKind::kCounter:
      return replay_counter(order);
    case ObjectKind::kUniqueIds:
      return replay_ids(order);
    case ObjectKind::kFifoQueue:
      return replay_fifo(order);
    case ObjectKind::kBag:
      return replay_bag(order);
    case ObjectKind::kBank:
      return replay_bank(order);
  }
  return "the kind of the object is not known";
}

// Each certain operation once, and none before one that had ended when it began.
ObjectRejection ObjectReplay::in_real_time(std::uint32_t object,
                                           std::span<const std::uint32_t> order) {
  Time latest = std::numeric_limits<Time>::min();
  std::uint32_t certain = 0;
  for (const auto id : order) {
    if (id >= h_.ops.size() || h_.ops[id].object != object)
      return fmt::format("operation {} is none of the object", id);
    const ObjectOp& op = h_.ops[id];
    if (replayed_[id] == round_) return fmt::format("operation {} is in the order twice", id);
    replayed_[id] = round_;
    if (!op.possible()) return fmt::format("operation {} failed", id);
    if (op.returns() && !op.known && op.call != Call::kDequeue)
      return fmt::format("operation {} has no result", id);
    certain += op.certain() ? 1 : 0;
    latest = std::max(latest, op.invoke);
    if (op.complete < latest)
      return fmt::format(
          "operation {} ended before an operation began that the order has before "
          "it",
          id);
  }
  if (certain == certain_[object]) return {};
  return fmt::format("the order has {} of the {} operations that took effect", certain,
                     certain_[object]);
}

ObjectRejection ObjectReplay::replay_set(std::span<const std::uint32_t> order) {
  std::size_t size = 0;
  for (const auto id : order) {
    const ObjectOp& op = h_.ops[id];
    const auto values = h_.values_of(op);
    if (op.call == Call::kAdd) {
      size += inside_[values[0]] == round_ ? 0 : 1;
      inside_[values[0]] = round_;
      continue;
    }
    ++read_;
    if (values.size() != size)
      return fmt::format("operation {} read {} elements, and the set has {}", id, values.size(),
                         size);
    for (const auto element : values) {
      if (inside_[element] != round_ || met_[element] == read_)
        return fmt::format("operation {} read another set than the order has made", id);
      met_[element] = read_;
    }
  }
  return {};
}

ObjectRejection ObjectReplay::replay_counter(std::span<const std::uint32_t> order) {
  __extension__ __int128 sum = 0;
  for (const auto id : order) {
    const ObjectOp& op = h_.ops[id];
    if (op.call == Call::kAdd) {
      sum += op.number;
    } else if (sum != op.number) {
      return fmt::format("operation {} read {}, which is not the sum of the adds before it", id,
                         op.number);
    }
  }
  return {};
}

ObjectRejection ObjectReplay::replay_ids(std::span<const std::uint32_t> order) {
  for (const auto id : order) {
    const auto element = h_.values_of(h_.ops[id])[0];
    if (inside_[element] == round_)
      return fmt::format("operation {} returned the id of another operation", id);
    inside_[element] = round_;
  }
  return {};
}

// A dequeue of unknown outcome takes the first element, or finds none.
ObjectRejection ObjectReplay::replay_fifo(std::span<const std::uint32_t> order) {
  std::deque<std::uint32_t> inside;
  for (const auto id : order) {
    const ObjectOp& op = h_.ops[id];
    if (op.call == Call::kEnqueue) {
      inside.push_back(h_.values_of(op)[0]);
      continue;
    }
    if (op.known && (inside.empty() || inside.front() != h_.values_of(op)[0]))
      return fmt::format("operation {} dequeued an element that is not the first", id);
    if (!inside.empty()) inside.pop_front();
  }
  return {};
}

// The first read says the balances at the start.
ObjectRejection ObjectReplay::replay_bank(std::span<const std::uint32_t> order) {
  __extension__ using Wide = __int128;
  std::map<std::uint32_t, Wide> balances;  // of accounts; changes alone until the first read
  bool read_before = false;
  std::size_t first_accounts = 0;
  for (const auto id : order) {
    const ObjectOp& op = h_.ops[id];
    const auto accounts = h_.values_of(op);
    if (op.call == Call::kTransfer) {
      balances[accounts[0]] -= op.number;
      balances[accounts[1]] += op.number;
      continue;
    }
    if (!read_before) {
      balances.clear();
      ++read_;
      for (std::size_t i = 0; i < accounts.size(); ++i) {
        if (h_.numbers[op.first + i] == history::kNilBalance || met_[accounts[i]] == read_)
          return fmt::format("operation {} has no balance of an account, or two", id);
        met_[accounts[i]] = read_;
        balances[accounts[i]] = h_.numbers[op.first + i];
      }
      first_accounts = accounts.size();
      read_before = true;
      continue;
    }
    if (accounts.size() != first_accounts)
      return fmt::format("operation {} read other accounts than the first read", id);
    for (std::size_t i = 0; i < accounts.size(); ++i) {
      if (met_[accounts[i]] != read_ || balances[accounts[i]] != h_.numbers[op.first + i])
        return fmt::format("operation {} read other balances than the order has made", id);
    }
  }
  return {};
}

ObjectRejection ObjectReplay::replay_bag(std::span<const std::uint32_t> order) {
  for (const auto id : order) {
    const ObjectOp& op = h_.ops[id];
    if (!op.known && op.call == Call::kDequeue)
      return fmt::format("nobody knows what operation {} dequeued", id);
    const auto element = h_.values_of(op)[0];
    if (inside_[element] != round_) met_[element] = 0;
    inside_[element] = round_;
    if (op.call == Call::kEnqueue) {
      ++met_[element];
    } else if (met_[element]-- == 0) {
      return fmt::format("operation {} dequeued an element that was not there", id);
    }
  }
  return {};
}

}  // namespace cupel::certify
