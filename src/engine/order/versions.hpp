// Versions: who wrote and who reads what, by object.
//
// A slot is one version: an (object, writer) pair. The slots of an object are
// contiguous and sorted by the writer's chain and position, so that "the last
// writer in this chain that …" is a binary search.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "engine/order/event_graph.hpp"

namespace cupel::order {

using Slot = std::uint32_t;
inline constexpr Slot kInitialSlot = std::numeric_limits<Slot>::max();

class Versions {
 public:
  Versions(const Problem& problem, const EventGraph& graph);

  [[nodiscard]] std::size_t slot_count() const { return writer_.size(); }
  [[nodiscard]] Slot first_slot(Object x) const { return object_first_[x]; }
  [[nodiscard]] Slot last_slot(Object x) const { return object_first_[x + 1]; }
  [[nodiscard]] Owner writer(Slot s) const { return writer_[s]; }
  [[nodiscard]] Object object(Slot s) const { return object_[s]; }
  // The place of the writer's commit in its chain; ascending inside a group.
  [[nodiscard]] std::uint32_t position(Slot s) const { return position_[s]; }
  // The slot of a version; the writer must write the object.
  [[nodiscard]] Slot slot_of(Object x, Owner writer) const;
  // Runs of slots of one chain: object x's are [first_group(x), first_group(x+1)).
  struct Group {
    ChainId chain;
    Slot first, last;
  };
  [[nodiscard]] std::span<const Group> groups(Object x) const {
    return std::span(groups_).subspan(group_first_[x], group_first_[x + 1] - group_first_[x]);
  }
  // The first slot of the group whose position is above this, or the group's end.
  [[nodiscard]] Slot first_after(const Group& group, std::uint32_t position) const {
    const auto first = position_.begin() + group.first, last = position_.begin() + group.last;
    return static_cast<Slot>(std::upper_bound(first, last, position) - position_.begin());
  }
  // The same, looked for from `slot` on, which must not be after it, in growing steps.
  [[nodiscard]] Slot first_after(const Group& group, std::uint32_t position, Slot slot) const {
    Slot step = 1;
    while (slot + step <= group.last && position_[slot + step - 1] <= position) {
      slot += step;
      step *= 2;
    }
    return first_after({group.chain, slot, std::min(group.last, slot + step)}, position);
  }
  // Slots that owner o writes.
  [[nodiscard]] std::span<const Slot> slots_of(Owner o) const {
    return std::span(owner_slots_)
        .subspan(problem_.write_first[o], problem_.write_first[o + 1] - problem_.write_first[o]);
  }

  // Which read is known to see which version. Call rebuild_readers() after
  // resolving; a reader that is followed in its chain by another reader of the
  // same version is left out of readers(): every arc that it forces follows.
  void resolve(std::uint32_t read, Owner writer);
  [[nodiscard]] Owner writer_of(std::uint32_t read) const { return writer_of_read_[read]; }
  // kInitialSlot where it is not known, or the initial version.
  [[nodiscard]] Slot slot_of_read(std::uint32_t read) const { return slot_of_read_[read]; }
  [[nodiscard]] std::span<const Owner> writers_of_reads() const { return writer_of_read_; }
  // True if reads of initial versions were among them.
  bool rebuild_readers();
  [[nodiscard]] std::span<const std::uint32_t> readers(Slot s) const {
    return std::span(readers_).subspan(reader_first_[s], reader_first_[s + 1] - reader_first_[s]);
  }
  // The readers of neighbouring slots, [first, last).
  [[nodiscard]] std::span<const std::uint32_t> readers(Slot first, Slot last) const {
    return std::span(readers_).subspan(reader_first_[first],
                                       reader_first_[last] - reader_first_[first]);
  }
  // Reads of the initial version, last of their chain, by object.
  [[nodiscard]] std::span<const std::uint32_t> initial_readers() const { return initial_readers_; }

 private:
  const Problem& problem_;
  const EventGraph& graph_;
  std::vector<Slot> object_first_;
  std::vector<Owner> writer_;
  std::vector<Object> object_;
  std::vector<std::uint32_t> position_;
  std::vector<Slot> owner_slots_;
  std::vector<std::uint32_t> group_first_;
  std::vector<Group> groups_;
  std::vector<Owner> writer_of_read_;
  std::vector<Slot> slot_of_read_;
  std::vector<std::uint32_t> resolved_;  // since the last rebuild_readers()
  std::vector<std::uint32_t> reader_first_;
  std::vector<std::uint32_t> readers_;
  std::vector<std::uint32_t> initial_readers_;
};

}  // namespace cupel::order
