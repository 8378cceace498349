// Clocks: see the header. Rows are padded to 8 columns, a loop of known length
// that the compiler makes vector instructions of.
#include "engine/order/clocks.hpp"

namespace cupel::order {

namespace {
constexpr std::uint32_t kLanes = 8;
constexpr std::uint32_t kCovers = 4;
std::uint32_t padded(std::uint32_t width) {
  return (width + kLanes - 1) & ~(kLanes - 1);
}

// True if the row changed.
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
__attribute__((target_clones("avx2", "default")))
#endif
bool raise(std::uint32_t* __restrict row, const std::uint32_t* __restrict from, std::size_t stride) {
  std::uint32_t changes[kLanes] = {};
  for (; stride != 0; stride -= kLanes, row += kLanes, from += kLanes) {
    for (std::uint32_t i = 0; i < kLanes; ++i) {
      const std::uint32_t raised = row[i] < from[i] ? from[i] : row[i];
      changes[i] |= raised ^ row[i];
      row[i] = raised;
    }
  }
  std::uint32_t any = 0;
  for (const std::uint32_t lane : changes) any |= lane;
  return any != 0;
}
}  // namespace

std::uint64_t Clocks::bytes(const EventGraph& graph, std::uint32_t width) {
  return static_cast<std::uint64_t>(graph.problem().node_count()) * padded(width) * 4;
}

bool Clocks::compute(const EventGraph& graph, ChainId first, std::uint32_t width,
                     base::Budget& budget) {
  const std::size_t n = graph.problem().node_count();
  const bool same_block = first == first_ && width == width_ && !rows_.empty();
  first_ = first;
  width_ = width;
  stride_ = padded(width);
  if (!same_block) {
    rows_.assign(n * stride_, 0);
    changed_.assign(n, 1);
  }
  // Clocks only grow, and what did not change where no arc came in stays.
  std::vector<std::uint8_t> has_new_arc(same_block ? n : 0, 0);
  if (same_block) {
    for (const KnownArc& arc : graph.arcs().subspan(arcs_)) has_new_arc[arc.to] = 1;
  }
  arcs_ = graph.arcs().size();
  std::uint32_t done = 0;
  for (const Node v : graph.topological()) {
    if ((++done & 0xfff) == 0 && budget.exceeded()) return false;
    const bool everything = !same_block || has_new_arc[v] != 0;
    std::uint32_t* const row = &rows_[v * static_cast<std::size_t>(stride_)];
    bool differs = false;
    // What one that was taken has in its past adds nothing.
    Node taken[kCovers];
    std::uint32_t taken_count = 0;
    const auto take = [&](Node from) {
      if (!everything && changed_[from] == 0) return;
      const ChainId chain = graph.chain(from);
      if (has(chain)) {
        const std::uint32_t position = graph.position(from);
        for (std::uint32_t i = 0; i < taken_count; ++i) {
          if (at(taken[i], chain) >= position) return;
        }
      }
      if (raise(row, &rows_[from * static_cast<std::size_t>(stride_)], stride_)) differs = true;
      if (taken_count < kCovers) taken[taken_count++] = from;
    };
    // The latest one has the most in its past.
    const auto incoming = graph.in(v);
    Node latest = graph.previous(v);
    for (const auto& in : incoming) {
      if (latest == graph::kNoNode || graph.rank(in.from) > graph.rank(latest)) latest = in.from;
    }
    if (latest != graph::kNoNode) take(latest);
    if (const Node before = graph.previous(v); before != graph::kNoNode && before != latest)
      take(before);
    for (const auto& in : incoming) {
      if (in.from != latest) take(in.from);
    }
    if (has(graph.chain(v))) row[graph.chain(v) - first_] = graph.position(v);
    changed_[v] = !same_block || differs;
  }
  return true;
}

}  // namespace cupel::order
