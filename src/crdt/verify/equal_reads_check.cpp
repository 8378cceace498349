// Equal reads check: see the header.
#include "crdt/verify/equal_reads_check.hpp"

#include <algorithm>
#include <cstdint>
#include <map>

#include "base/random.hpp"

namespace cupel::crdt {

namespace {

// What a read returned, whatever the order of a set.
std::vector<std::int64_t> answer(const History& history, OpId id) {
  const Operation& op = history.ops[id];
  std::vector<std::int64_t> all = {op.returned ? 1 : 0, op.kind == Kind::kValue ? op.amount : 0};
  for (const auto e : history.list(op)) all.push_back(e);
  if (op.parent != kNone) all.push_back(op.parent);  // marks
  if (op.kind != Kind::kList && op.kind != Kind::kTree && op.kind != Kind::kDocument)
    std::sort(all.begin() + 2, all.end());
  // A register returns concurrent writes of one value once or several times.
  if (op.kind == Kind::kValues) all.erase(std::unique(all.begin() + 2, all.end()), all.end());
  return all;
}

bool saw_the_same(const History& history, const SeenUpdates& seen, OpId one, OpId other) {
  for (OpId u = 0; u < history.ops.size(); ++u) {
    if (!is_read(history.ops[u].kind) && history.ops[u].key == history.ops[one].key &&
        seen.sees(one, u) != seen.sees(other, u))
      return false;
  }
  return true;
}

}  // namespace

bool has_equal_reads(const History& history, const SeenUpdates& seen,
                     const std::vector<bool>& counts) {
  constexpr std::uint64_t kSeed = 2;
  base::Random random(kSeed);
  std::vector<std::uint64_t> number(history.ops.size());
  for (auto& n : number) n = random.next();
  struct Asked {
    std::uint32_t key, kind, element;
    std::uint64_t sum;
    auto operator<=>(const Asked&) const = default;
  };
  std::map<Asked, std::vector<OpId>> reads;  // the first of each answer
  std::vector<std::uint64_t> sums;
  bool equal = true;
  seen.replay([&](std::uint32_t) { sums.assign(history.keys.size(), 0); },
              [&](OpId update) { sums[history.ops[update].key] += number[update]; },
              [&](OpId id) {
                const Operation& op = history.ops[id];
                if (!is_read(op.kind) || !counts[id]) return true;
                auto& others =
                    reads[{op.key, static_cast<std::uint32_t>(op.kind), op.element, sums[op.key]}];
                const auto mine = answer(history, id);
                bool known = false;
                for (const OpId other : others) {
                  if (answer(history, other) == mine)
                    known = true;
                  else if (saw_the_same(history, seen, other, id))
                    equal = false;
                }
                if (!known) others.push_back(id);
                return equal;
              });
  return equal;
}

}  // namespace cupel::crdt
