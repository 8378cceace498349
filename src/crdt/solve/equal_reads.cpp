// Equal reads: see the header.
#include "crdt/solve/equal_reads.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "base/hash_table.hpp"
#include "base/random.hpp"
#include "crdt/solve/convergence.hpp"

namespace cupel::crdt {

namespace {

bool saw_the_same(const History& h, const Visibility& visibility, OpId one, OpId other) {
  for (OpId u = 0; u < h.ops.size(); ++u) {
    const bool counts = !is_read(h.ops[u].kind) && h.ops[u].key == h.ops[one].key;
    if (counts && visibility.sees(one, u) != visibility.sees(other, u)) return false;
  }
  return true;
}

}  // namespace

std::optional<std::pair<OpId, OpId>> unequal_reads(const History& h, const Visibility& visibility) {
  constexpr std::uint64_t kSeed = 1;
  base::Random random(kSeed);
  std::vector<std::uint64_t> number(h.ops.size());
  for (auto& n : number) n = random.next();
  // The key, what was asked, and the sum of what was seen.
  base::HashMap<std::pair<std::array<std::uint32_t, 3>, std::uint64_t>, OpId> first;
  std::vector<std::uint64_t> sums;
  std::optional<std::pair<OpId, OpId>> found;
  replay(
      h, visibility, [&](std::uint32_t) { sums.assign(h.keys.size(), 0); },
      [&](OpId update) { sums[h.ops[update].key] += number[update]; },
      [&](OpId id) {
        const Operation& op = h.ops[id];
        if (!is_read(op.kind)) return true;
        const std::array<std::uint32_t, 3> asked = {op.key, static_cast<std::uint32_t>(op.kind),
                                                    op.element};
        const auto [it, fresh] = first.try_emplace({asked, sums[op.key]}, id);
        if (fresh || same_answer(h, it->second, id)) return true;
        const auto pair = std::minmax(it->second, id);
        if (found && found->second <= pair.second) return true;
        if (saw_the_same(h, visibility, it->second, id)) found = pair;
        return true;
      });
  return found;
}

}  // namespace cupel::crdt
