// CausalPast: see the header.
#include "engine/explain/counts/causal_past.hpp"

#include <algorithm>

#include "base/graph/digraph.hpp"
#include "base/offsets.hpp"

namespace cupel::counts {

namespace {
constexpr std::uint64_t kMostClockBytes = 1'500'000'000;

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
__attribute__((target_clones("avx2", "default"), optimize("tree-vectorize")))
#endif
void raise(std::uint32_t* __restrict row, const std::uint32_t* __restrict from, std::uint32_t width) {
  for (std::uint32_t s = 0; s < width; ++s) row[s] = row[s] < from[s] ? from[s] : row[s];
}
}  // namespace

CausalPast::CausalPast(const History& history, const Accesses& accesses, const Versions& versions)
    : history_(history), accesses_(accesses), versions_(versions) {
  const auto owners = static_cast<Owner>(accesses.txns.size());
  session_.resize(owners);
  position_.assign(owners, 0);
  previous_.assign(owners, kInitialOwner);
  history::SessionId session;
  Owner last = kInitialOwner;
  std::uint32_t place = 0;
  for (Owner o = 0; o < owners; ++o) {
    const auto txn = accesses.txns[o];
    if (history.session(txn) != session) {
      session = history.session(txn);
      ++sessions_;
      last = kInitialOwner;
      place = 0;
    }
    session_[o] = sessions_ - 1;
    previous_[o] = last;
    if (history.status(txn) == history::TxnStatus::kIndeterminate) {
      some_outside_ = true;
      continue;
    }
    position_[o] = ++place;
    last = o;
  }
}

bool CausalPast::compute(base::Budget& budget) {
  const auto& a = accesses_;
  const auto owners = static_cast<Owner>(a.txns.size());
  const auto source = [&](std::uint32_t read) {
    const Version v = versions_.of_read(read);
    return v == kNone ? kInitialOwner : versions_.writer(v);
  };
  if (budget.exceeded() || budget.would_exceed(16 * (a.reads.size() + owners))) return false;
  std::vector<graph::Arc> arcs;
  arcs.reserve(a.reads.size() + owners);
  for (Owner o = 0; o < owners; ++o) {
    if (previous_[o] != kInitialOwner) arcs.push_back({previous_[o], o});
    for (auto r = a.read_first[o]; r < a.read_first[o + 1]; ++r) {
      if (const Owner w = source(r); w != kInitialOwner && w != o) arcs.push_back({w, o});
    }
  }
  const auto components = graph::strongly_connected(graph::Digraph(owners, arcs));
  arcs = {};
  if (budget.exceeded()) return false;

  const auto first =
      base::offsets_by(components.count, components.component, [](std::uint32_t c) { return c; });
  std::vector<Owner> members(owners);
  {
    auto next = first;
    for (Owner o = 0; o < owners; ++o) members[next[components.component[o]]++] = o;
  }
  for (std::uint32_t c = 0; c < components.count; ++c) {
    if (first[c + 1] - first[c] < 2) continue;
    Cycle cycle{{members.begin() + first[c], members.begin() + first[c + 1]}, false};
    std::vector<graph::Arc> inside;
    const auto number = [&](Owner o) {
      return static_cast<std::uint32_t>(
          std::lower_bound(cycle.owners.begin(), cycle.owners.end(), o) - cycle.owners.begin());
    };
    for (const Owner o : cycle.owners) {
      for (auto r = a.read_first[o]; r < a.read_first[o + 1]; ++r) {
        const Owner w = source(r);
        if (w == kInitialOwner || w == o || components.component[w] != c) continue;
        inside.push_back({number(w), number(o)});
      }
    }
    const graph::Digraph reads(cycle.owners.size(), inside);
    cycle.by_reads = graph::strongly_connected(reads).count < cycle.owners.size();
    cycles_.push_back(std::move(cycle));
  }
  std::sort(cycles_.begin(), cycles_.end(),
            [](const Cycle& x, const Cycle& y) { return x.owners.front() < y.owners.front(); });

  const std::uint64_t bytes = 4ull * owners * sessions_;
  if (bytes > kMostClockBytes || bytes == 0) return true;
  if (budget.would_exceed(bytes)) return false;
  rows_.assign(static_cast<std::size_t>(owners) * sessions_, 0);
  std::vector<std::uint32_t> joint(sessions_);
  // Components are numbered against the arcs.
  for (std::uint32_t c = components.count; c-- > 0;) {
    if ((c & 0xfff) == 0 && budget.exceeded()) return false;
    const bool alone = first[c + 1] - first[c] == 1;
    std::uint32_t* row =
        alone ? &rows_[static_cast<std::size_t>(members[first[c]]) * sessions_] : joint.data();
    if (!alone) std::fill(joint.begin(), joint.end(), 0);
    const auto add = [&](Owner from) {
      if (components.component[from] == c) return;
      // There already, and its past with it.
      if (position_[from] != 0 && row[session_[from]] >= position_[from]) return;
      raise(row, &rows_[static_cast<std::size_t>(from) * sessions_], sessions_);
    };
    for (auto i = first[c]; i < first[c + 1]; ++i) {
      const Owner o = members[i];
      if (previous_[o] != kInitialOwner) add(previous_[o]);
      for (auto r = a.read_first[o]; r < a.read_first[o + 1]; ++r) {
        if (const Owner w = source(r); w != kInitialOwner && w != o) add(w);
      }
      if (position_[o] != 0) row[session_[o]] = std::max(row[session_[o]], position_[o]);
    }
    for (auto i = first[c]; !alone && i < first[c + 1]; ++i) {
      std::copy(joint.begin(), joint.end(),
                rows_.begin() + static_cast<std::ptrdiff_t>(members[i]) * sessions_);
    }
  }
  return true;
}

}  // namespace cupel::counts
