// Stage 1: see saturation.hpp.
#include "engine/order/saturation.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/hash_table.hpp"

namespace cupel::order {

namespace {
// A block of columns stays under this, unless one chain alone takes more.
constexpr std::uint64_t kMaxBlockBytes = 1'500'000'000;
constexpr std::uint32_t kMaxBlockWidth = 2048;
// Their order is in a word.
constexpr std::uint32_t kFewWriters = 32;
}  // namespace

OpenReads::OpenReads(const Problem& problem) {
  base::HashMap<std::uint64_t, std::uint32_t> lists;
  for (std::uint32_t r = 0; r < problem.reads.size(); ++r) {
    const Read& read = problem.reads[r];
    if (read.last_candidate - read.first_candidate == 1) continue;
    if (index_.empty()) index_.assign(problem.reads.size(), 0);
    index_[r] = static_cast<std::uint32_t>(lists_of_reads_.size());
    open_.push_back(r);
    const auto range =
        (static_cast<std::uint64_t>(read.first_candidate) << 32) | read.last_candidate;
    const auto [it, fresh] = lists.try_emplace(range, static_cast<std::uint32_t>(shared_.size()));
    if (fresh) {
      auto& list = shared_.emplace_back(problem.candidates.begin() + read.first_candidate,
                                        problem.candidates.begin() + read.last_candidate);
      std::sort(list.begin(), list.end());
    }
    lists_of_reads_.push_back({it->second});
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

bool Saturation::add_modifiers() {
  constexpr std::uint8_t kEnough = 2;  // of one version: a contradiction, where there may be no two
  constexpr Owner kNone = kUnresolved;
  graph_.begin_round();
  const auto before = graph_.arcs().size();
  std::vector<std::uint8_t> modified(versions_.slot_count(), 0);
  std::vector<Owner> of_initial(problem_.object_count, kNone);  // the first of each object
  for (std::uint32_t r = 0; r < problem_.reads.size(); ++r) {
    const Object x = problem_.reads[r].object;
    const Owner k = problem_.reads[r].owner, w = versions_.writer_of(r);
    const auto writes = problem_.write_object.begin();
    if (w == kUnresolved || !std::binary_search(writes + problem_.write_first[k],
                                                writes + problem_.write_first[k + 1], x)) {
      continue;
    }
    if (w == kInitial) {
      if (of_initial[x] == kNone) of_initial[x] = k;
      continue;
    }
    const Slot s = versions_.slot_of_read(r);
    if (modified[s]++ >= kEnough) {
      modified[s] = kEnough;
      continue;
    }
    for (const std::uint32_t other : versions_.readers(s)) {
      const Owner reader = problem_.reads[other].owner;
      if (reader == k) continue;
      graph_.add({problem_.begin(reader), problem_.commit(k), other, k, ArcKind::kOverwritten});
    }
  }
  for (const std::uint32_t r : versions_.initial_readers()) {
    const Owner k = of_initial[problem_.reads[r].object], reader = problem_.reads[r].owner;
    if (k == kNone || k == reader) continue;
    graph_.add({problem_.begin(reader), problem_.commit(k), r, k, ArcKind::kInitialRead});
  }
  return graph_.arcs().size() != before;
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
      proposed_.push_back(
          {problem_.begin(read.owner), problem_.commit(k), r, k, ArcKind::kInitialRead});
    }
  }
}

bool Saturation::known(const KnownArc& arc) const {
  return clocks_.has(graph_.chain(arc.from)) && clocks_.reaches(graph_, arc.from, arc.to);
}

// No clock shows whether an arc from a node without a column is new, so such
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
void Saturation::force_after(Object x, std::span<const Versions::Group> groups, bool everything) {
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
      const Node before =
          s == group.first ? graph::kNoNode : problem_.commit(versions_.writer(s - 1));
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
        if (problem_.write_to_begin &&
            versions_.position(last - 1) > clocks_.at(begin, from.chain)) {
          const Owner w = versions_.writer(last - 1);
          proposed_.push_back({problem_.commit(w), begin, x, k, ArcKind::kNoOverlap});
        }
        overwritten(first, last);
      }
    }
  }
}

// Visible: the last writer of each chain that reaches a reader of w is before w.
void Saturation::force_before(std::span<const Versions::Group> groups, bool everything) {
  for (const auto& of_writer : groups) {
    for (Slot s = of_writer.first; s < of_writer.last; ++s) {
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
}

// Overwritten, from one layer to the next: each writer of the next one that is the
// first of its chain there. Other writers of later layers are after those; if one of
// them reached a reader, the arcs from here would close a cycle.
void Saturation::force_between(std::span<const Slot> from, Slot to, bool everything) {
  if (!everything && !clocks_.changed(problem_.commit(versions_.writer(to)))) return;
  for (const Slot s : from) force_between(s, to);
}

void Saturation::force_between(Slot from, Slot to) {
  const Owner k = versions_.writer(to);
  for (const std::uint32_t r : versions_.readers(from)) {
    const Owner reader = problem_.reads[r].owner;
    if (reader != k) {
      propose({problem_.begin(reader), problem_.commit(k), r, k, ArcKind::kOverwritten});
    }
  }
}

// The rules within each layer, and from each to the next.
void Saturation::force_by_layers(Object x, bool everything) {
  // Between writers in one order nothing is ever new.
  if (layers_->settled(x) && !everything) return;
  layers_->update(x, clocks_);
  everything = everything || layers_->settled(x);
  const auto slots = layers_->slots(x);
  const auto starts = layers_->starts(x);
  std::span<const Slot> before;
  for (std::size_t i = 0, end = 1; i < slots.size(); i = end, ++end) {
    while (end < slots.size() && starts[end] == 0) ++end;
    const auto layer = slots.subspan(i, end - i);
    if (layer.size() == 1) {
      force_between(before, layer.front(), everything);
    } else {
      std::span<const Versions::Group> groups = versions_.groups(x);
      if (layer.size() != slots.size()) groups = part_of_groups(layer);
      for (const auto& group : groups) force_between(before, group.first, everything);
      force_after(x, groups, everything);
      force_before(groups, everything);
    }
    before = layer;
  }
}

// Of each chain the slots that are in the layer; neighbours, since layers follow the
// chains.
std::span<const Versions::Group> Saturation::part_of_groups(std::span<const Slot> layer) {
  sorted_.assign(layer.begin(), layer.end());
  std::sort(sorted_.begin(), sorted_.end());
  groups_.clear();
  for (const Slot s : sorted_) {
    const ChainId chain = graph_.chain(problem_.commit(versions_.writer(s)));
    if (groups_.empty() || groups_.back().chain != chain) groups_.push_back({chain, s, s});
    groups_.back().last = s + 1;
  }
  return groups_;
}

// The rules for objects of few writers, with what is known of their order in a word a
// version: owner by owner, in topological order, so that each row of the clocks is read
// while it is near. Of the writers before k only those count that no other of them is
// after: the readers of the rest are before k through those.
void Saturation::force_few() {
  const auto bit = [](Slot s, Slot first) { return std::uint32_t{1} << (s - first); };
  const auto each = [](std::uint32_t bits, const auto& visit) {
    for (; bits != 0; bits &= bits - 1) visit(static_cast<Slot>(std::countr_zero(bits)));
  };
  const auto covered = [&](std::uint32_t bits, Slot first) {
    std::uint32_t all = 0;
    each(bits, [&](Slot i) { all |= few_before_[first + i]; });
    return all;
  };
  const bool overlaps = problem_.split && problem_.write_to_begin;
  for (const Node commit : graph_.topological()) {
    if (problem_.is_helper(commit) || (problem_.split && (commit & 1) == 0)) continue;
    const Owner k = problem_.owner_of(commit);
    const Node target = problem_.write_target(k);
    for (const Slot s : versions_.slots_of(k)) {
      const Object x = versions_.object(s);
      if (few_[x] == 0 || (!clocks_.changed(commit) && new_reader_[x] == 0)) continue;
      const Slot first = versions_.first_slot(x), last = versions_.last_slot(x);
      std::uint32_t before = 0, overlapping = 0;
      for (Slot other = first; other < last; ++other) {
        const ChainId chain = slot_chain_[other];
        if (other == s || !clocks_.has(chain)) continue;
        const std::uint32_t position = versions_.position(other);
        if (clocks_.at(target, chain) >= position) {
          before |= bit(other, first);
        } else if (overlaps && clocks_.at(commit, chain) + 1 >= position) {
          overlapping |= bit(other, first);
        }
      }
      few_before_[s] = before;
      const std::uint32_t nearest = (before | overlapping) & ~covered(before | overlapping, first);
      each(nearest & overlapping, [&](Slot i) {
        proposed_.push_back(
            {problem_.commit(versions_.writer(first + i)), target, x, k, ArcKind::kNoOverlap});
      });
      each(nearest, [&](Slot i) { force_between(first + i, s); });
    }
  }
  for (std::uint32_t r = 0; r < problem_.reads.size(); ++r) {
    const Slot s = seen_slot_[r];
    if (s == kInitialSlot) continue;
    const Read& read = problem_.reads[r];
    const Object x = read.object;
    const Node begin = problem_.begin(read.owner);
    if (few_[x] == 0 || (!clocks_.changed(begin) && new_reader_[x] == 0)) continue;
    const Slot first = versions_.first_slot(x), last = versions_.last_slot(x);
    std::uint32_t visible = 0;
    for (Slot other = first; other < last; ++other) {
      const ChainId chain = slot_chain_[other];
      if (other == s || !clocks_.has(chain) || versions_.writer(other) == read.owner) continue;
      if (clocks_.at(begin, chain) >= versions_.position(other)) visible |= bit(other, first);
    }
    visible &= ~few_before_[s];
    const Owner w = versions_.writer(s);
    each(visible & ~covered(visible, first), [&](Slot i) {
      const Owner k = versions_.writer(first + i);
      propose({problem_.commit(k), problem_.write_target(w), r, k, ArcKind::kVisible});
    });
  }
}

// By object.
void Saturation::force_many(Object x, bool single_block) {
  if (few_[x] != 0 || versions_.last_slot(x) - versions_.first_slot(x) < 2) return;
  // What an unchanged clock forces is there since the last round, unless a read
  // of the object found its writer since.
  if (single_block) return force_by_layers(x, new_reader_[x] != 0);
  force_after(x, versions_.groups(x), true);
  force_before(versions_.groups(x), true);
}

// Which version each read saw, of those that Versions keeps.
void Saturation::note_readers() {
  seen_slot_.assign(problem_.reads.size(), kInitialSlot);
  for (Slot s = 0; s < versions_.slot_count(); ++s) {
    for (const std::uint32_t r : versions_.readers(s)) seen_slot_[r] = s;
  }
}

// The columns of the block at hand. False if the budget ended.
bool Saturation::force(bool single_block) {
  if (single_block) force_few();
  for (Object x = 0; x < problem_.object_count; ++x) {
    force_many(x, single_block);
    if ((x & 0x3ff) == 0x3ff && budget_.exceeded()) return false;
  }
  if (single_block) std::fill(new_reader_.begin(), new_reader_.end(), 0);
  return true;
}

// What an open read sees: the last writer in each chain that reaches it.
void Saturation::look(std::uint32_t r) {
  const Read& read = problem_.reads[r];
  const Node begin = problem_.begin(read.owner);
  seen_.clear();
  for (const auto& group : versions_.groups(read.object)) {
    if (!clocks_.has(group.chain)) continue;
    const Slot after = versions_.first_after(group, clocks_.at(begin, group.chain));
    Slot last = after == group.first ? kInitialSlot : after - 1;
    if (last != kInitialSlot && versions_.writer(last) == read.owner) {
      last = last == group.first ? kInitialSlot : last - 1;
    }
    seen_.push_back({group, last});
  }
}

// Does the order exclude that the read, which was looked at, saw w's version? With
// several blocks only what one column shows is used.
bool Saturation::excluded(std::uint32_t r, Owner w, bool single_block) const {
  if (w == kInitial) {
    return std::any_of(seen_.begin(), seen_.end(),
                       [](const Seen& s) { return s.last != kInitialSlot; });
  }
  const Node begin = problem_.begin(problem_.reads[r].owner);
  const Node commit = problem_.commit(w), target = problem_.write_target(w);
  if (clocks_.has(graph_.chain(begin)) && clocks_.reaches(graph_, begin, commit)) return true;
  for (const auto& [group, last] : seen_) {
    if (last == kInitialSlot) continue;
    const Owner k = versions_.writer(last);
    if (k == w) continue;
    const Node k_commit = problem_.commit(k);
    if (graph_.chain(commit) == group.chain) {
      if (graph_.position(commit) < graph_.position(k_commit)) return true;
    } else if (single_block && clocks_.has(graph_.chain(target)) &&
               clocks_.reaches(graph_, target, k_commit)) {
      return true;
    }
  }
  return false;
}

// Are there two candidates left? Those next to what it sees show it most often, and true is
// for sure.
bool Saturation::has_choice(std::uint32_t r) const {
  int left = 0;
  const auto count = [&](Owner w) {
    if (open_.is_candidate(r, w) && !excluded(r, w, true)) ++left;
  };
  count(kInitial);
  for (const auto& [group, last] : seen_) {
    if (last != kInitialSlot) count(versions_.writer(last));
    const Slot next = last == kInitialSlot ? group.first : last + 1;
    if (next != group.last) count(versions_.writer(next));
    if (left >= 2) return true;
  }
  return false;
}

void Saturation::narrow(std::uint32_t r, bool single_block) {
  auto& list = open_.lists_of_reads_[open_.index_[r]];
  if (!list.narrowed) {
    for (const Owner w : open_.shared_[list.list]) {
      if (!excluded(r, w, single_block)) list.own.push_back(w);
    }
    list.narrowed = true;
  } else {
    std::erase_if(list.own, [&](Owner w) { return excluded(r, w, single_block); });
  }
}

void Saturation::narrow(std::uint32_t r) {
  if (!layers_) return;  // only one block of columns is left
  look(r);
  narrow(r, true);
}

// Takes from the open reads the candidates that the order excludes, as far as it takes to
// see that one or none is left. True if a read got resolved.
bool Saturation::rule_out(bool single_block) {
  bool resolved = false;
  std::vector<std::uint32_t> still;
  for (const std::uint32_t r : open_.open_) {
    look(r);
    if (single_block && has_choice(r)) {
      still.push_back(r);
      continue;
    }
    narrow(r, single_block);
    const auto candidates = open_.candidates(r);
    if (candidates.empty()) {
      orphan_ = r;
      return true;
    }
    if (candidates.size() == 1) {
      versions_.resolve(r, candidates.front());
      new_reader_[problem_.reads[r].object] = 1;
      resolved = true;
    } else {
      still.push_back(r);
    }
  }
  orphan_ = kUnresolved;
  open_.open_ = std::move(still);
  return resolved;
}

// Would the clocks at hand force this arc?
bool Saturation::is_forced(const KnownArc& arc) const {
  const auto reaches = [&](Node from, Node to) {
    return clocks_.has(graph_.chain(from)) && clocks_.reaches(graph_, from, to);
  };
  if (arc.kind == ArcKind::kNoOverlap) {
    return reaches(problem_.write_target(problem_.owner_of(arc.from)), problem_.commit(arc.other));
  }
  const Owner w = versions_.writer_of(arc.read_or_object);
  if (w == kUnresolved || w == kInitial) return false;
  if (arc.kind == ArcKind::kOverwritten) {
    return reaches(problem_.write_target(w), problem_.commit(arc.other));
  }
  const Node reader = problem_.begin(problem_.reads[arc.read_or_object].owner);
  return arc.to == problem_.write_target(w) && reaches(problem_.commit(arc.other), reader);
}

SaturationResult Saturation::run(std::vector<KnownArc> reused) {
  orphan_ = kUnresolved;
  new_reader_.assign(problem_.object_count, 0);
  const std::uint32_t chains = graph_.column_count();
  std::uint32_t width = std::max<std::uint32_t>(1, std::min(chains, kMaxBlockWidth));
  while (width > 1 && Clocks::bytes(graph_, width) > kMaxBlockBytes) width = (width + 1) / 2;
  const bool single_block = width >= chains;
  if (budget_.would_exceed(Clocks::bytes(graph_, width))) return SaturationResult::kGaveUp;

  few_.assign(problem_.object_count, 0);
  if (single_block) {
    layers_.emplace(problem_, graph_, versions_);
    for (Object x = 0; x < problem_.object_count; ++x) {
      const auto writers = versions_.last_slot(x) - versions_.first_slot(x);
      few_[x] = writers > 1 && writers <= kFewWriters ? 1 : 0;
    }
    few_before_.assign(versions_.slot_count(), 0);
    slot_chain_.resize(versions_.slot_count());
    for (Slot s = 0; s < versions_.slot_count(); ++s) {
      slot_chain_[s] = graph_.chain(problem_.commit(versions_.writer(s)));
    }
    note_readers();
  }
  add_reads();
  graph_.begin_round();
  add_initial_readers();
  for (const KnownArc& arc : proposed_) graph_.add(arc);

  bool first_look = true;
  while (true) {
    ++rounds_;
    if (budget_.exceeded()) return SaturationResult::kGaveUp;
    if (!graph_.sort(&budget_)) return SaturationResult::kCycle;
    graph_.begin_round();
    proposed_.clear();
    bool resolved = false;
    const bool reusing = single_block && !reused.empty();
    for (ChainId first = 0; first < chains; first += width) {
      if (!clocks_.compute(graph_, first, std::min(width, chains - first), budget_))
        return SaturationResult::kGaveUp;
      if (reusing) {
        std::erase_if(reused, [&](const KnownArc& arc) {
          if (!is_forced(arc)) return false;
          propose(arc);
          return true;
        });
      } else {
        if (std::exchange(first_look, false)) clocks_.call_all_changed();
        if (!force(single_block)) return SaturationResult::kGaveUp;
      }
      if (!open_.empty() && !(reusing && !proposed_.empty())) {
        resolved = rule_out(single_block) || resolved;
        if (orphan_ != kUnresolved) return SaturationResult::kNoWriter;
      }
    }
    if (!single_block && !proposed_.empty()) {
      // Arcs whose column was in another block: look again, block by block.
      std::vector<KnownArc> unknown;
      base::HashSet<std::uint64_t> seen;
      for (const KnownArc& arc : proposed_) {
        if (graph_.chain(arc.from) >= chains) unknown.push_back(arc);
      }
      for (ChainId first = 0; first < chains; first += width) {
        if (!clocks_.compute(graph_, first, std::min(width, chains - first), budget_))
          return SaturationResult::kGaveUp;
        for (const KnownArc& arc : proposed_) {
          if (!clocks_.has(graph_.chain(arc.from)) || clocks_.reaches(graph_, arc.from, arc.to))
            continue;
          if (seen.insert((static_cast<std::uint64_t>(arc.from) << 32) | arc.to).second) {
            unknown.push_back(arc);
          }
        }
      }
      proposed_ = std::move(unknown);
    }
    if (proposed_.empty() && !resolved) {
      if (!reusing) return SaturationResult::kFixpoint;
      reused.clear();
    }
    for (const KnownArc& arc : proposed_) graph_.add(arc);
    if (resolved) {
      const bool of_initial = versions_.rebuild_readers();
      if (single_block) note_readers();
      add_reads();
      proposed_.clear();
      if (of_initial) add_initial_readers();
      for (const KnownArc& arc : proposed_) {
        if (!single_block || !known(arc)) graph_.add(arc);
      }
    }
  }
}

}  // namespace cupel::order
