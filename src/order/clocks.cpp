// Clocks: see the header. Rows are padded to 8 columns so that the compiler
// makes whole-vector maxima of the inner loop.
#include "order/clocks.hpp"

#include <algorithm>
#include <cstring>

namespace cupel::order {

namespace {
std::uint32_t padded(std::uint32_t width) { return (width + 7) & ~7u; }

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
__attribute__((target_clones("avx2", "default")))
#endif
void raise(std::uint32_t* __restrict row, const std::uint32_t* __restrict from, std::size_t stride) {
  for (std::size_t i = 0; i < stride; ++i) row[i] = row[i] < from[i] ? from[i] : row[i];
}
}  // namespace

std::uint64_t Clocks::bytes(const EventGraph& graph, std::uint32_t width) {
  return static_cast<std::uint64_t>(graph.problem().node_count()) * padded(width) * 4;
}

void Clocks::compute(const EventGraph& graph, ChainId first, std::uint32_t width) {
  const std::size_t n = graph.problem().node_count();
  const bool same_block = first == first_ && width == width_ && !rows_.empty();
  first_ = first;
  width_ = width;
  stride_ = padded(width);
  if (!same_block) {
    rows_.assign(n * stride_, 0);
    changed_.assign(n, 1);
  }
  std::vector<std::uint32_t> row(stride_);
  for (const Node v : graph.topological()) {
    const Node before = graph.previous(v);
    if (before != graph::kNoNode) {
      std::memcpy(row.data(), &rows_[before * static_cast<std::size_t>(stride_)], stride_ * 4);
    } else {
      std::fill(row.begin(), row.end(), 0);
    }
    for (const auto& in : graph.in(v)) {
      raise(row.data(), &rows_[in.from * static_cast<std::size_t>(stride_)], stride_);
    }
    if (has(graph.chain(v))) row[graph.chain(v) - first_] = graph.position(v);
    std::uint32_t* const old = &rows_[v * static_cast<std::size_t>(stride_)];
    const bool differs = std::memcmp(old, row.data(), stride_ * 4) != 0;
    if (differs) std::memcpy(old, row.data(), stride_ * 4);
    changed_[v] = !same_block || differs;
  }
}

}  // namespace cupel::order
