// Convergence: see the header.
#include "crdt/solve/convergence.hpp"

#include <algorithm>
#include <set>
#include <span>

#include "crdt/model/replicated_type.hpp"

namespace cupel::crdt {

namespace {

std::set<std::uint32_t> distinct(std::span<const std::uint32_t> values) {
  return {values.begin(), values.end()};
}

// At most the greatest number, whatever the two are.
std::int64_t nanoseconds_between(std::int64_t from, std::int64_t to) {
  if (to <= from) return 0;
  constexpr auto kMost = static_cast<std::uint64_t>(kNever);
  const auto between = static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
  return static_cast<std::int64_t>(std::min(between, kMost));
}

}  // namespace

bool same_answer(const History& h, OpId a, OpId b) {
  const Operation &one = h.ops[a], &other = h.ops[b];
  if (one.kind == Kind::kTest) return one.returned == other.returned;
  if (one.kind == Kind::kValue) return one.amount == other.amount;
  const auto first = h.list(one), second = h.list(other);
  // Concurrent writes of one value are one sibling or several, at the choice of each read.
  if (one.kind == Kind::kValues) return distinct(first) == distinct(second);
  if (first.size() != second.size() || one.parent != other.parent) return false;
  if (one.kind == Kind::kList || one.kind == Kind::kTree || one.kind == Kind::kDocument)
    return std::equal(first.begin(), first.end(), second.begin());
  return std::is_permutation(first.begin(), first.end(), second.begin());
}

Convergence converge(const History& h) {
  const Kind whole_read = replicated_type(h).traits().whole_read;
  Convergence result;
  std::vector<bool> real(h.replicas.size(), true);
  for (const auto r : h.indeterminate) real[r] = false;
  // Operations that were never completed are the last of the history, not of the file.
  const auto place = [&](OpId id) { return h.ops[id].line == 0 ? id : h.ops[id].line; };
  std::vector<OpId> last_update(h.keys.size(), kNone);
  std::vector<std::vector<OpId>> reads(h.keys.size());
  for (OpId id = 0; id < h.ops.size(); ++id) {
    const Operation& op = h.ops[id];
    auto& last = last_update[op.key];
    if (!is_read(op.kind) && (last == kNone || place(id) > place(last))) last = id;
    if (op.kind == whole_read) reads[op.key].push_back(id);
  }
  std::vector<std::uint64_t> last_absent(h.keys.size(), 0);
  for (const auto& absent : h.absent)
    last_absent[absent.key] = std::max(last_absent[absent.key], absent.line);
  for (std::uint32_t key = 0; key < h.keys.size(); ++key) {
    std::vector<OpId> last(h.replicas.size(), kNone);
    const auto after = [&](OpId id) {
      return (last_update[key] == kNone || place(id) > place(last_update[key])) &&
             place(id) > last_absent[key];
    };
    for (const OpId id : reads[key]) {
      if (after(id)) last[h.ops[id].replica] = id;
    }
    OpId first = kNone;
    bool same = true;
    std::size_t count = 0;
    for (std::uint32_t r = 0; r < h.replicas.size(); ++r) {
      if (!real[r]) continue;
      if (last[r] == kNone) {
        result.unread.emplace_back(key, r);
        continue;
      }
      ++count;
      if (first == kNone) first = last[r];
      if (!same || same_answer(h, first, last[r])) continue;
      same = false;
      result.different.emplace_back(first, last[r]);
    }
    result.keys += count > 1;
    if (!same || count < 2 || last_update[key] == kNone || !h.ops[last_update[key]].time) continue;
    // Of each replica the first read from which on it returns the last state.
    std::vector<OpId> settled(h.replicas.size(), kNone);
    bool timed = true;
    for (const OpId id : reads[key]) {
      if (!after(id)) continue;
      auto& since = settled[h.ops[id].replica];
      if (!same_answer(h, first, id))
        since = kNone;
      else if (since == kNone)
        since = id;
    }
    std::int64_t until = 0;
    for (const OpId id : settled) {
      if (id == kNone) continue;
      timed = timed && h.ops[id].time;
      if (timed)
        until =
            std::max(until, nanoseconds_between(*h.ops[last_update[key]].time, *h.ops[id].time));
    }
    if (timed) result.nanoseconds.push_back(until);
  }
  std::sort(result.nanoseconds.begin(), result.nanoseconds.end());
  return result;
}

}  // namespace cupel::crdt
