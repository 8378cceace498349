// Visibility: which updates each operation had seen, computed from the context of a history
// (docs/reference/formats/crdt.md#context).
//
// A replica forgets nothing, so for each replica and update one number says everything: the place
// of the replica's first operation that has seen the update. A question is one comparison. Memory:
// replicas × updates.
#pragma once

#include <span>
#include <vector>

#include "base/result.hpp"
#include "crdt/model/clocks.hpp"
#include "crdt/model/history.hpp"

namespace cupel::crdt {

class Visibility {
 public:
  // Errors: a line that names updates which happened after it; no execution has such deliveries.
  static base::Result<Visibility> of(const History& history);

  // Of a happens-before.
  static Visibility of_clocks(const History& history, const Clocks& clocks,
                              std::vector<OpId> order);

  // The same for some of the operations, a history of their own, in the same order. It has the same
  // rule of delivery. `origin`: by its operation, that of this one; one may be the origin of
  // several.
  [[nodiscard]] Visibility of_part(const History& part, std::span<const OpId> origin) const;
  // Faster if `arrivals`, by replica, and `order` have no others than the operations of the part.
  [[nodiscard]] Visibility of_part(const History& part, std::span<const OpId> origin,
                                   std::span<const std::vector<OpId>> arrivals,
                                   std::span<const OpId> order) const;

  // Had the operation seen the update? No update sees itself.
  [[nodiscard]] bool sees(OpId op, OpId update) const {
    const Operation& reader = (*history_)[op];
    return since(reader.replica, update) <= reader.seq;
  }
  // The place of the replica's first operation that has seen the update; kNone: none has.
  [[nodiscard]] std::uint32_t since(std::uint32_t replica, OpId update) const {
    return since_[number_[update] * replicas_ + replica];
  }
  // The updates that the replica has seen, its own included, in the order of `since`.
  [[nodiscard]] std::span<const OpId> arrivals(std::uint32_t replica) const {
    return arrivals_[replica];
  }
  // All operations, those that an operation has seen before it.
  [[nodiscard]] const std::vector<OpId>& order() const { return order_; }
  // Of each operation the number of operations of each replica up to the last one that it has seen.
  // By the rules causal and fifo, this says all.
  [[nodiscard]] Clocks clocks(const History& history) const;

 private:
  friend class Deliveries;
  const std::vector<Operation>* history_ = nullptr;
  std::size_t replicas_ = 0, updates_ = 0;
  std::vector<std::uint32_t> number_;  // by operation: of an update, among all updates
  std::vector<std::uint32_t> since_;   // by update and replica: one update's are asked together
  std::vector<std::vector<OpId>> arrivals_;
  std::vector<OpId> order_;
};

// Replica by replica, its operations, each after the updates that are then visible to it. False
// from `perform` ends the replica. `begin` has the replica, the others an operation.
template <typename Begin, typename Arrive, typename Perform>
void replay(const History& history, const Visibility& visibility, Begin begin, Arrive arrive,
            Perform perform) {
  for (std::uint32_t r = 0; r < history.replicas.size(); ++r) {
    begin(r);
    const auto arrivals = visibility.arrivals(r);
    std::size_t next = 0;
    for (const OpId id : history.by_replica[r]) {
      for (; next < arrivals.size() && visibility.since(r, arrivals[next]) <= history.ops[id].seq;
           ++next)
        arrive(arrivals[next]);
      if (!perform(id)) break;
    }
  }
}

// The same key by key, for decisions that know one key at a time: what they need of it is in few
// places of the memory then. Of each key, replica by replica, what the replica executes and the
// updates of the key that come to it.
class KeyEvents {
 public:
  KeyEvents(const History& history, const Visibility& visibility);

  // `begin` has the replica. Replicas to which nothing of the key comes are left out.
  template <typename Begin, typename Arrive, typename Perform>
  void replay(std::uint32_t key, Begin begin, Arrive arrive, Perform perform) const {
    bool ended = false;
    for (auto i = begin_[key]; i < begin_[key + 1]; ++i) {
      const auto [op, what] = events_[i];
      if (what == What::kReplica) {
        ended = false;
        begin(op);
      } else if (!ended && what == What::kArrives) {
        arrive(op);
      } else if (!ended) {
        ended = !perform(op);
      }
    }
  }
  // All keys; `begin` has the key and the replica.
  template <typename Begin, typename Arrive, typename Perform>
  void replay_all(Begin begin, Arrive arrive, Perform perform) const {
    for (std::uint32_t key = 0; key + 1 < begin_.size(); ++key)
      replay(
          key, [&](std::uint32_t replica) { begin(key, replica); }, arrive, perform);
  }

 private:
  enum class What : std::uint32_t { kReplica, kArrives, kPerformed };
  struct Event {
    std::uint32_t op;  // or the replica that comes next
    What what;
  };
  std::vector<std::size_t> begin_;  // by key
  std::vector<Event> events_;
};

// `begin` has the key and the replica.
template <typename Begin, typename Arrive, typename Perform>
void replay_by_key(const History& history, const Visibility& visibility, Begin begin, Arrive arrive,
                   Perform perform) {
  KeyEvents(history, visibility).replay_all(begin, arrive, perform);
}

}  // namespace cupel::crdt
