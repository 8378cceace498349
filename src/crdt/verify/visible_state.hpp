// Visible state: what the objects of one replica are, update by update, as the axioms define it
// from the updates that are visible there; for the verifier.
//
//   VisibleState state(history, sees, strict);  // sees(op, update)
//   state.begin();                     // a replica
//   state.arrive(update);              // in the order of its log
//   state.wrong(read);                 // the reason, or nothing; whatever the linearization
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "crdt/verify/semantics.hpp"

namespace cupel::crdt {

class VisibleState {
 public:
  using Sees = std::function<bool(OpId op, OpId update)>;
  VisibleState(const History& history, Sees sees, bool strict);

  void begin();
  void arrive(OpId update);
  [[nodiscard]] std::optional<std::string> wrong(OpId id);
  // Registers, and sets where the last writer wins: the visible updates of an object that no
  // visible update of it observed.
  [[nodiscard]] const std::vector<OpId>& maximal(std::uint32_t object) const {
    return objects_[object].standing;
  }
  // Lists: is the character added and not removed?
  [[nodiscard]] bool is_shown(std::uint32_t e) const { return added_[e] && !removed_[e]; }
  // Comparisons of updates so far.
  [[nodiscard]] std::uint64_t work() const { return work_; }

 private:
  struct Object {
    std::vector<OpId> standing;   // that none of the opponents observed
    std::vector<OpId> opponents;  // the last of each replica; it observed what those before had
    bool is_on = false;
    bool may_be_on = false;  // where the last writer wins: by some order
  };

  void arrive_at_set(OpId update);
  void arrive_at_register(OpId update);
  void arrive_at_last_update(OpId update);
  void arrive_at_counter(OpId update);
  void arrive_at_list(OpId update);
  void count(std::uint32_t key, bool before, bool now);
  void keep_last(std::vector<OpId>& opponents, OpId update) const;
  // Had one of them, other than itself, seen the update?
  bool is_observed(OpId update, const std::vector<OpId>& opponents);
  void forget_observed(std::vector<OpId>& standing, OpId by);
  [[nodiscard]] bool is_right_set(const Operation& op);
  [[nodiscard]] bool may_be(std::uint32_t object, bool on) const;
  [[nodiscard]] bool is_right_register(const Operation& op) const;
  [[nodiscard]] bool is_right_list(const Operation& op);

  const History& h_;
  const Sees sees_;
  const Rules& rules_;
  const bool strict_;
  std::vector<Object> objects_;         // by element or key
  std::vector<std::uint32_t> members_;  // by key: objects that are on, characters that are shown
  std::vector<std::int64_t> sums_;      // by key
  std::vector<bool> added_, removed_;   // by element; added_: of a tree, nodes that were moved
  std::vector<std::uint64_t> listed_;   // by element: the last read that lists it
  std::uint64_t reads_ = 0, work_ = 0;
};

}  // namespace cupel::crdt
