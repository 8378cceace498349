// The levels once more: names, what each asks of an order, and what implies what.
//
// Written from docs/reference/levels.md and shared with nobody: if the engine's table were
// wrong, this one would say so.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace cupel::certify {

enum class Level : std::uint8_t {
  kReadCommitted,
  kReadAtomic,
  kCausal,
  kPrefix,
  kSnapshotIsolation,
  kGeneralizedSnapshotIsolation,
  kStrongSessionSnapshotIsolation,
  kStrongSnapshotIsolation,
  kSerializable,
  kStrongSessionSerializable,
  kStrictSerializable,
  kLinearizable,
};

enum class Phi : std::uint8_t { kNone, kEarlierRead, kOneStep, kCausal };

// What a level asks. "Real time" is: i completed before j was invoked.
struct Shape {
  Phi phi = Phi::kNone;           // weak levels: what is visible to a read
  bool begin_and_commit = false;  // two events a transaction
  bool no_overlap = false;        // of two writers of a key, one commits before the other begins
  bool session_order = false;     // the commit of i before the begin of j
  bool commits_in_real_time = false;  // the begin and the commit of i before the commit of j
  bool begins_in_real_time = false;   // the commit of i before the begin of j, too
  bool one_object = false;            // linearizable: key by key

  [[nodiscard]] bool is_weak() const { return phi != Phi::kNone; }
  [[nodiscard]] bool real_time() const { return commits_in_real_time || begins_in_real_time; }
};

Shape shape_of(Level level);
std::string_view name_of(Level level);
std::optional<Level> level_named(std::string_view name);
// Reflexive and transitive.
bool implies(Level stronger, Level weaker);

}  // namespace cupel::certify
