// Versions: see the header. Built by counting sorts, chain after chain; linear.
#include "engine/order/versions.hpp"

#include <algorithm>
#include <cassert>

#include "base/offsets.hpp"

namespace cupel::order {

Versions::Versions(const Problem& problem, const EventGraph& graph)
    : problem_(problem), graph_(graph) {
  base::offsets_by(
      problem.object_count, problem.write_object, [](Object x) { return x; }, object_first_);
  writer_.resize(problem.write_object.size());
  object_.resize(problem.write_object.size());
  owner_slots_.resize(problem.write_object.size());
  position_.resize(problem.write_object.size());
  std::vector<ChainId> chain(problem.write_object.size());
  auto next = object_first_;
  for (const Node v : graph.by_chain()) {
    if (problem.is_helper(v) || v != problem.commit(problem.owner_of(v))) continue;
    const Owner o = problem.owner_of(v);
    for (auto i = problem.write_first[o]; i < problem.write_first[o + 1]; ++i) {
      const Object x = problem.write_object[i];
      const Slot s = next[x]++;
      object_[s] = x;
      writer_[s] = o;
      chain[s] = graph.chain(v);
      position_[s] = graph.position(v);
      owner_slots_[i] = s;
    }
  }
  group_first_.assign(problem.object_count + 1, 0);
  for (Object x = 0; x < problem.object_count; ++x) {
    for (Slot s = object_first_[x]; s < object_first_[x + 1]; ++s) {
      if (s == object_first_[x] || groups_.back().chain != chain[s])
        groups_.push_back({chain[s], s, s});
      groups_.back().last = s + 1;
    }
    group_first_[x + 1] = static_cast<std::uint32_t>(groups_.size());
  }
  writer_of_read_.assign(problem.reads.size(), kUnresolved);
  slot_of_read_.assign(problem.reads.size(), kInitialSlot);
  reader_first_.assign(slot_count() + 1, 0);
  for (std::uint32_t r = 0; r < problem.reads.size(); ++r) {
    const Read& read = problem.reads[r];
    if (read.last_candidate - read.first_candidate == 1) {
      resolve(r, problem.candidates[read.first_candidate]);
    }
  }
  rebuild_readers();
}

void Versions::resolve(std::uint32_t read, Owner writer) {
  writer_of_read_[read] = writer;
  if (writer != kInitial) slot_of_read_[read] = slot_of(problem_.reads[read].object, writer);
  resolved_.push_back(read);
}

// An owner's slots come in the order of its objects.
Slot Versions::slot_of(Object x, Owner writer) const {
  const auto begin = problem_.write_object.begin() + problem_.write_first[writer];
  const auto end = problem_.write_object.begin() + problem_.write_first[writer + 1];
  const auto it = std::lower_bound(begin, end, x);
  assert(it != end && *it == x && "a read from an owner that does not write the object");
  return owner_slots_[static_cast<std::size_t>(it - problem_.write_object.begin())];
}

// The new ones go to those that are there; what was left out stays left out.
bool Versions::rebuild_readers() {
  const auto chain = [&](std::uint32_t r) {
    return graph_.chain(problem_.begin(problem_.reads[r].owner));
  };
  const auto position = [&](std::uint32_t r) {
    return graph_.position(problem_.begin(problem_.reads[r].owner));
  };
  const auto later = [&](std::uint32_t a, std::uint32_t b) {
    return chain(a) != chain(b) ? chain(a) < chain(b) : position(a) > position(b);
  };
  const auto same_chain = [&](std::uint32_t a, std::uint32_t b) { return chain(a) == chain(b); };

  std::vector<std::uint32_t> first(slot_count() + 1, 0);
  const std::size_t initial_before = initial_readers_.size();
  for (const std::uint32_t r : resolved_) {
    if (writer_of_read_[r] == kInitial) {
      initial_readers_.push_back(r);
    } else {
      ++first[slot_of_read_[r] + 1];
    }
  }
  std::vector<std::uint32_t> next(slot_count());
  for (Slot s = 0; s < slot_count(); ++s) {
    const std::uint32_t before = reader_first_[s + 1] - reader_first_[s];
    next[s] = first[s] + before;
    first[s + 1] += first[s] + before;
  }
  std::vector<std::uint32_t> readers(first.back());
  for (Slot s = 0; s < slot_count(); ++s) {
    std::copy(readers_.begin() + reader_first_[s], readers_.begin() + reader_first_[s + 1],
              readers.begin() + first[s]);
  }
  for (const std::uint32_t r : resolved_) {
    if (writer_of_read_[r] != kInitial) readers[next[slot_of_read_[r]]++] = r;
  }
  // Keep the last reader of each chain.
  std::uint32_t kept = 0;
  for (Slot s = 0; s < slot_count(); ++s) {
    const auto begin = readers.begin() + first[s];
    auto end = readers.begin() + next[s];
    if (end - begin > 1 && next[s] - first[s] != reader_first_[s + 1] - reader_first_[s]) {
      std::sort(begin, end, later);
      end = std::unique(begin, end, same_chain);
    }
    const auto first_kept = kept;
    for (auto it = begin; it != end; ++it) readers[kept++] = *it;
    first[s] = first_kept;
  }
  first[slot_count()] = kept;
  readers.resize(kept);
  readers_ = std::move(readers);
  reader_first_ = std::move(first);
  resolved_.clear();

  if (initial_readers_.size() == initial_before) return false;
  // Range reads have many: by object, then as `later`, with what is compared beside it.
  struct Initial {
    Object object;
    ChainId chain;
    std::uint32_t position, read;
  };
  std::vector<Initial> initial;
  initial.reserve(initial_readers_.size());
  for (const auto r : initial_readers_)
    initial.push_back({problem_.reads[r].object, chain(r), position(r), r});
  std::sort(initial.begin(), initial.end(), [](const Initial& a, const Initial& b) {
    if (a.object != b.object) return a.object < b.object;
    return a.chain != b.chain ? a.chain < b.chain : a.position > b.position;
  });
  initial_readers_.clear();
  for (std::size_t i = 0; i < initial.size(); ++i) {
    const bool same = i != 0 && initial[i].object == initial[i - 1].object &&
                      initial[i].chain == initial[i - 1].chain;
    if (!same) initial_readers_.push_back(initial[i].read);
  }
  return true;
}

}  // namespace cupel::order
