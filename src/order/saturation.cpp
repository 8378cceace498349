// Stage 1: see saturation.hpp.
#include "order/saturation.hpp"

#include <algorithm>

namespace cupel::order {

namespace {
// A block of columns stays under this, unless one chain alone takes more.
constexpr std::uint64_t kMaxBlockBytes = 1'500'000'000;
constexpr std::uint32_t kMaxBlockWidth = 2048;
}  // namespace

OpenReads::OpenReads(const Problem& problem) {
  for (std::uint32_t r = 0; r < problem.reads.size(); ++r) {
    const Read& read = problem.reads[r];
    if (read.last_candidate - read.first_candidate == 1) continue;
    if (place_.empty()) place_.assign(problem.reads.size(), 0);
    place_[r] = static_cast<std::uint32_t>(candidates_.size());
    open_.push_back(r);
    candidates_.emplace_back(problem.candidates.begin() + read.first_candidate,
                             problem.candidates.begin() + read.last_candidate);
  }
}

// wr arcs of reads resolved since the last call.
void Saturation::add_reads() {
  wr_added_.resize(problem_.reads.size(), 0);
  for (std::uint32_t r = 0; r < problem_.reads.size(); ++r) {
    const Owner w = versions_.writer_of(r);
    if (wr_added_[r] || w == kUnresolved) continue;
    wr_added_[r] = 1;
    if (w == kInitial) continue;
    const Read& read = problem_.reads[r];
    const bool given = read.last_candidate - read.first_candidate == 1;
    graph_.add({problem_.commit(w), problem_.begin(read.owner), r, w,
                given ? ArcKind::kRead : ArcKind::kOnlyWriter});
  }
}

void Saturation::add_initial_readers() {
  for (const std::uint32_t r : versions_.initial_readers()) {
    const Read& read = problem_.reads[r];
    for (const auto& group : versions_.groups(read.object)) {
      Slot s = group.first;
      if (versions_.writer(s) == read.owner) {
        if (++s == group.last) continue;
      }
      const Owner k = versions_.writer(s);
      proposed_.push_back({problem_.begin(read.owner), problem_.commit(k), r, k, ArcKind::kInitialRead});
    }
  }
}

bool Saturation::known(const KnownArc& arc) const {
  return clocks_.has(graph_.chain(arc.from)) && clocks_.reaches(graph_, arc.from, arc.to);
}

// No clock tells whether an arc from a node without a column is new, so such
// arcs are remembered.
void Saturation::propose(const KnownArc& arc) {
  if (known(arc)) return;
  if (graph_.chain(arc.from) >= graph_.column_count() &&
      !from_columnless_.insert((static_cast<std::uint64_t>(arc.from) << 32) | arc.to).second) {
    return;
  }
  proposed_.push_back(arc);
}

// Overwritten, and no overlap: the first writer k of a chain that w reaches. Seen
// from k: the writers of each other chain that reach k and do not reach the writer
// before k in its own chain. Both clocks have the last of them, and the versions
// between are neighbours, with their readers; so rows are read from left to right,
// and where the two agree nothing is searched.
void Saturation::force_after(Object x, bool everything) {
  const auto groups = versions_.groups(x);
  // A writer's place in `position` is its commit's; what reaches k is its ww target.
  const std::uint32_t ahead = problem_.split && problem_.write_to_begin ? 1 : 0;
  for (const auto& group : groups) {
    const bool has_column = clocks_.has(group.chain);
    // By group: how far the writers of it that reach the last k went.
    frontier_.clear();
    for (const auto& from : groups) frontier_.push_back(from.first);
    for (Slot s = group.first; s < group.last; ++s) {
      const Owner k = versions_.writer(s);
      const Node commit = problem_.commit(k);
      if (!everything && !clocks_.changed(commit)) continue;
      const auto overwritten = [&](Slot first, Slot last) {
        for (const std::uint32_t r : versions_.readers(first, last)) {
          const Owner reader = problem_.reads[r].owner;
          if (reader != k) propose({problem_.begin(reader), commit, r, k, ArcKind::kOverwritten});
        }
      };
      const Node begin = problem_.write_target(k);
      const Node before = s == group.first ? graph::kNoNode : problem_.commit(versions_.writer(s - 1));
      if (before != graph::kNoNode && has_column) overwritten(s - 1, s);
      for (std::size_t f = 0; f < groups.size(); ++f) {
        const auto& from = groups[f];
        if (from.chain == group.chain || !clocks_.has(from.chain)) continue;
        const std::uint32_t reached = clocks_.at(commit, from.chain) + ahead;
        const std::uint32_t earlier =
            before == graph::kNoNode ? ahead : clocks_.at(before, from.chain) + ahead;
        if (reached == earlier) continue;
        const Slot first = versions_.first_after(from, earlier, frontier_[f]);
        const Slot last = versions_.first_after(from, reached, first);
        frontier_[f] = last;
        if (first == last) continue;
        // The last is enough: its chain says so of the others.
        if (problem_.write_to_begin && versions_.position(last - 1) > clocks_.at(begin, from.chain)) {
          const Owner w = versions_.writer(last - 1);
          proposed_.push_back({problem_.commit(w), begin, x, k, ArcKind::kNoOverlap});
        }
        overwritten(first, last);
      }
    }
  }
}

// Visible: the last writer of each chain that reaches a reader of w is before w.
void Saturation::force_before(Object x, bool everything) {
  const auto groups = versions_.groups(x);
  for (Slot s = versions_.first_slot(x); s < versions_.last_slot(x); ++s) {
    const auto readers = versions_.readers(s);
    if (readers.empty()) continue;
    const Owner w = versions_.writer(s);
    const Node target = problem_.write_target(w);
    for (const std::uint32_t r : readers) {
      const Owner reader = problem_.reads[r].owner;
      const Node begin = problem_.begin(reader);
      if (!everything && !clocks_.changed(begin)) continue;
      for (const auto& group : groups) {
        if (!clocks_.has(group.chain)) continue;
        const std::uint32_t seen = clocks_.at(begin, group.chain);
        if (clocks_.at(target, group.chain) >= seen) continue;  // known, whichever it is
        const Slot after = versions_.first_after(group, seen);
        if (after == group.first) continue;
        Slot found = after - 1;
        if (versions_.writer(found) == reader) {
          if (found == group.first) continue;
          --found;
        }
        const Owner k = versions_.writer(found);
        if (k == w) continue;
        propose({problem_.commit(k), target, r, k, ArcKind::kVisible});
      }
    }
  }
}

void Saturation::force(Object x, bool single_block) {
  if (versions_.last_slot(x) - versions_.first_slot(x) < 2) return;
  // What an unchanged clock forces is there since the last round, unless a read
  // of the object found its writer since.
  const bool everything = !single_block || new_reader_[x] != 0;
  new_reader_[x] = 0;
  force_after(x, everything);
  force_before(x, everything);
}

// Takes from the open reads the candidates that the order excludes. True if a
// read got resolved. With several blocks only what one column shows is used.
bool Saturation::rule_out(bool single_block) {
  bool resolved = false;
  std::vector<std::uint32_t> still;
  std::vector<std::pair<ChainId, Slot>> visible;  // last visible writer per group
  for (const std::uint32_t r : open_.open_) {
    const Read& read = problem_.reads[r];
    const Node begin = problem_.begin(read.owner);
    visible.clear();
    for (const auto& group : versions_.groups(read.object)) {
      if (!clocks_.has(group.chain)) continue;
      const std::uint32_t seen = clocks_.at(begin, group.chain);
      Slot found = kInitialSlot;
      Slot low = group.first, high = group.last;
      while (low < high) {
        const Slot middle = low + (high - low) / 2;
        if (versions_.position(middle) <= seen) {
          found = middle;
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      if (found != kInitialSlot && versions_.writer(found) == read.owner) {
        found = found == group.first ? kInitialSlot : found - 1;
      }
      if (found != kInitialSlot) visible.emplace_back(group.chain, found);
    }
    auto& candidates = open_.candidates_[open_.place_[r]];
    std::erase_if(candidates, [&](Owner w) {
      if (w == kInitial) return !visible.empty();
      const Node commit = problem_.commit(w), target = problem_.write_target(w);
      if (clocks_.has(graph_.chain(begin)) && clocks_.reaches(graph_, begin, commit)) return true;
      for (const auto& [chain, slot] : visible) {
        const Owner k = versions_.writer(slot);
        if (k == w) continue;
        const Node k_commit = problem_.commit(k);
        if (graph_.chain(commit) == chain) {
          if (graph_.position(commit) < graph_.position(k_commit)) return true;
        } else if (single_block && clocks_.has(graph_.chain(target)) &&
                   clocks_.reaches(graph_, target, k_commit)) {
          return true;
        }
      }
      return false;
    });
    if (candidates.empty()) {
      orphan_ = r;
      return true;
    }
    if (candidates.size() == 1) {
      versions_.resolve(r, candidates.front());
      new_reader_[read.object] = 1;
      resolved = true;
    } else {
      still.push_back(r);
    }
  }
  orphan_ = kUnresolved;
  open_.open_ = std::move(still);
  return resolved;
}

Saturated Saturation::run() {
  orphan_ = kUnresolved;
  new_reader_.assign(problem_.object_count, 0);
  const std::uint32_t chains = graph_.column_count();
  std::uint32_t width = std::max<std::uint32_t>(1, std::min(chains, kMaxBlockWidth));
  while (width > 1 && Clocks::bytes(graph_, width) > kMaxBlockBytes) width = (width + 1) / 2;
  const bool single_block = width >= chains;
  if (budget_.would_exceed(Clocks::bytes(graph_, width))) return Saturated::kGaveUp;

  add_reads();
  graph_.begin_round();
  add_initial_readers();
  for (const KnownArc& arc : proposed_) graph_.add(arc);

  while (true) {
    ++rounds_;
    if (budget_.exceeded()) return Saturated::kGaveUp;
    if (!graph_.sort(&budget_)) return Saturated::kCycle;
    graph_.begin_round();
    proposed_.clear();
    bool resolved = false;
    for (ChainId first = 0; first < chains; first += width) {
      if (!clocks_.compute(graph_, first, std::min(width, chains - first), budget_)) return Saturated::kGaveUp;
      for (Object x = 0; x < problem_.object_count; ++x) {
        force(x, single_block);
        if ((x & 0x3ff) == 0x3ff && budget_.exceeded()) return Saturated::kGaveUp;
      }
      if (!open_.empty()) {
        resolved = rule_out(single_block) || resolved;
        if (orphan_ != kUnresolved) return Saturated::kNoWriter;
      }
    }
    if (!single_block && !proposed_.empty()) {
      // Arcs whose column was in another block: look again, block by block.
      std::vector<KnownArc> unknown;
      absl::flat_hash_set<std::uint64_t> seen;
      for (const KnownArc& arc : proposed_) {
        if (graph_.chain(arc.from) >= chains) unknown.push_back(arc);
      }
      for (ChainId first = 0; first < chains; first += width) {
        if (!clocks_.compute(graph_, first, std::min(width, chains - first), budget_)) return Saturated::kGaveUp;
        for (const KnownArc& arc : proposed_) {
          if (!clocks_.has(graph_.chain(arc.from)) || clocks_.reaches(graph_, arc.from, arc.to)) continue;
          if (seen.insert((static_cast<std::uint64_t>(arc.from) << 32) | arc.to).second) {
            unknown.push_back(arc);
          }
        }
      }
      proposed_ = std::move(unknown);
    }
    if (proposed_.empty() && !resolved) return Saturated::kFixpoint;
    for (const KnownArc& arc : proposed_) graph_.add(arc);
    if (resolved) {
      versions_.rebuild_readers();
      add_reads();
      proposed_.clear();
      add_initial_readers();
      for (const KnownArc& arc : proposed_) {
        if (!single_block || !known(arc)) graph_.add(arc);
      }
    }
  }
}

}  // namespace cupel::order
