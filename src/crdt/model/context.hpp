// Context: what each replica had received, and when (docs/reference/formats/crdt.md#context).
//
// A history may say which updates had arrived at a replica before an operation. What the replica
// then saw of them depends on the rule of delivery. visibility.hpp computes it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace cupel::crdt {

// When an update that was received is visible.
enum class DeliveryRule : std::uint8_t {
  kCausal,   // once all that its own replica had seen when it executed it is visible
  kFifo,     // once all earlier updates of its own replica are visible
  kApplied,  // at once: the history has what was applied
};

// Some updates, as a line names them.
struct NamedUpdates {
  enum class Kind : std::uint8_t {
    kUpdate,   // `of` is the operation
    kFirst,    // the first `count` updates of the replica `of`
    kMessage,  // all that the sender had seen; `of` is the reception that is kSent
  };
  Kind kind = Kind::kUpdate;
  std::uint32_t of = 0;
  std::uint32_t count = 0;
};

struct Reception {
  enum class Kind : std::uint8_t {
    kReceived,  // these updates or messages have arrived; the rule says when they are visible
    kVersion,   // these updates are visible, and by the causal rule all that they had seen
    kSent,      // a message, snapshot or saved document with all that the replica has seen
  };
  Kind kind = Kind::kReceived;
  std::uint32_t replica = 0;
  std::uint32_t seq = 0;  // before the operation at this place of its replica
  std::uint32_t begin = 0, end = 0;
  std::uint64_t line = 0;  // of the file, from 1; 0: none
};

struct Context {
  DeliveryRule rule = DeliveryRule::kCausal;
  std::vector<Reception> receptions;  // those of a replica in its order
  std::vector<NamedUpdates> named;
  // An update of unknown outcome: nobody can say who saw it, so the context is left out. 0: none.
  std::uint64_t unknown_outcome_line = 0;

  [[nodiscard]] bool is_known() const { return !receptions.empty(); }
  [[nodiscard]] std::span<const NamedUpdates> updates(const Reception& reception) const {
    return std::span(named).subspan(reception.begin, reception.end - reception.begin);
  }
};

}  // namespace cupel::crdt
