// Levels: the names of the isolation levels, how they imply each other, and what each
// needs, all from the table in spec.hpp. What each means is docs/reference/levels.md; what each
// adds to the order problem is shape_of() in describe.hpp.
//
// Choices, where the literature disagrees: "snapshot-isolation" is Adya's, with
// neither session order nor real time; PolySI's and Biswas & Enea's SI is
// strong-session here, as is Biswas & Enea's SER.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "engine/levels/spec.hpp"

namespace cupel::levels {

// Weakest first; a level comes after every level it implies.
std::span<const Level> all_levels();
// The order in which deciding one level settles the most others.
std::span<const Level> ladder_order();

std::string_view name(Level level);        // "strong-session-snapshot-isolation"
std::string_view short_name(Level level);  // "sssi"
// By name, short name or alias (PL-SI, PL-3, PL-SS …), whatever the case, blanks, underscores and
// hyphens.
std::optional<Level> parse_level(std::string_view text);

// Does satisfying `stronger` always satisfy `weaker`? Reflexive and transitive.
// Linearizable implies nothing here and is implied by nothing: it applies to
// single-object transactions only.
bool implies(Level stronger, Level weaker);

bool is_weak(Level level);  // read-committed, read-atomic, causal: polynomial
bool needs_real_time(Level level);
bool has_session_order(Level level);
// Begin and commit are two events (prefix and the snapshot isolations).
bool has_begin_and_commit(Level level);
// Two transactions that write one key are ordered as a whole: one commits before the other
// begins. The snapshot isolations.
bool writers_exclude(Level level);
// Of two transactions that read one version of a key and both write the key, one is too many. All
// but prefix and the weak levels.
bool forbids_lost_updates(Level level);
// Each object is decided by itself (linearizable).
bool is_single_object(Level level);
Visibility visibility(Level level);  // of the weak levels

}  // namespace cupel::levels
