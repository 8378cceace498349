// Offsets: items grouped by a row number, without a vector a row.
//
// offsets_by(rows, items, row_of) returns `first`, of rows + 1 numbers: the items of row
// v have the places [first[v], first[v + 1]) of a table that is sorted by row. To fill the
// table, copy `first` and count up: `table[next[row_of(item)]++] = …`; items of one row
// keep their order. Cost: linear in rows + items (counting sort).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cupel::base {

// first[v + 1] is how many items row v has, and first[0] is 0: counts become offsets.
inline void counts_to_offsets(std::span<std::uint32_t> first) {
  for (std::size_t v = 1; v < first.size(); ++v) first[v] += first[v - 1];
}

// The same into a vector that is there, which keeps its memory.
template <typename Items, typename RowOf>
void offsets_by(std::size_t rows, const Items& items, const RowOf& row_of,
                std::vector<std::uint32_t>& first) {
  first.assign(rows + 1, 0);
  for (const auto& item : items) ++first[row_of(item) + 1];
  counts_to_offsets(first);
}

template <typename Items, typename RowOf>
[[nodiscard]] std::vector<std::uint32_t> offsets_by(std::size_t rows, const Items& items,
                                                    const RowOf& row_of) {
  std::vector<std::uint32_t> first;
  offsets_by(rows, items, row_of, first);
  return first;
}

}  // namespace cupel::base
