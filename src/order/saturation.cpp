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

void Saturation::force(Object x, bool single_block) {
  const Slot first = versions_.first_slot(x), last = versions_.last_slot(x);
  if (last - first < 2) return;
  const auto groups = versions_.groups(x);
  // What an unchanged clock forces is there since the last round, unless a read
  // of the object found its writer since.
  const bool everything = !single_block || new_reader_[x] != 0;
  new_reader_[x] = 0;
  changed_groups_.assign(groups.size(), 1);
  if (!everything) {
    bool touched = false;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      changed_groups_[g] = 0;
      for (Slot s = groups[g].first; s < groups[g].last; ++s) {
        if (clocks_.changed(problem_.commit(versions_.writer(s)))) changed_groups_[g] = 1;
        for (const std::uint32_t r : versions_.readers(s)) {
          touched = touched || clocks_.changed(problem_.begin(problem_.reads[r].owner));
        }
      }
      touched = touched || changed_groups_[g] != 0;
    }
    if (!touched) return;
  }
  for (Slot s = first; s < last; ++s) {
    const Owner w = versions_.writer(s);
    const Node target = problem_.write_target(w);
    const auto readers = versions_.readers(s);
    const ChainId w_chain = graph_.chain(target);
    if (clocks_.has(w_chain) && (!readers.empty() || problem_.write_to_begin)) {
      const std::uint32_t w_position = graph_.position(target);
      for (std::size_t g = 0; g < groups.size(); ++g) {
        const auto& group = groups[g];
        if (changed_groups_[g] == 0) continue;
        // The first writer in the group that the ww target of w reaches.
        Slot low = group.first, high = group.last;
        if (group.chain == w_chain) {
          low = high = s + 1;
        }
        while (low < high) {
          const Slot middle = low + (high - low) / 2;
          if (clocks_.at(problem_.commit(versions_.writer(middle)), w_chain) >= w_position) {
            high = middle;
          } else {
            low = middle + 1;
          }
        }
        if (low == group.last) continue;
        const Owner k = versions_.writer(low);
        if (problem_.write_to_begin) {
          propose({problem_.commit(w), problem_.write_target(k), x, k, ArcKind::kNoOverlap});
        }
        for (const std::uint32_t r : readers) {
          const Owner reader = problem_.reads[r].owner;
          if (reader == k) continue;
          propose({problem_.begin(reader), problem_.commit(k), r, k, ArcKind::kOverwritten});
        }
      }
    }
    for (const std::uint32_t r : readers) {
      const Owner reader = problem_.reads[r].owner;
      const Node begin = problem_.begin(reader);
      if (!everything && !clocks_.changed(begin)) continue;
      for (const auto& group : groups) {
        if (!clocks_.has(group.chain)) continue;
        const std::uint32_t seen = clocks_.at(begin, group.chain);
        // The last writer in the group that reaches the reader.
        Slot low = group.first, high = group.last;
        while (low < high) {
          const Slot middle = low + (high - low) / 2;
          if (versions_.position(middle) <= seen) {
            low = middle + 1;
          } else {
            high = middle;
          }
        }
        if (low == group.first) continue;
        Slot found = low - 1;
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
