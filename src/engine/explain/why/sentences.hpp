// Sentences: an edge of a derivation in words, down to the operations that it comes from.
#pragma once

#include <optional>
#include <string>

#include "engine/explain/why/cycle.hpp"
#include "engine/explain/why/words.hpp"

namespace cupel::explain {

// What the edge says: "T1 < T2", or "T1 committed before T2 began" where begin and
// commit are two events.
std::string relation(Words& words, const Edge& edge);

// Why it is so, a clause without a full stop: "T7 saw T4's write of 3 to x". `proof`
// is what stands for the reasons of a forced edge, such as "(1, 2)"; empty: they
// are not named, unless there is just one, which needs no number.
std::string clause(const History& history, Words& words, const Derivation& derivation,
                   const Edge& edge, const std::string& proof);

// The one reason of a forced edge that its own clause states.
std::optional<Edge> reason_within(const Derivation& derivation, const Edge& edge);

// The elements of a list read that the edge is about.
std::vector<history::ValueId> focus_of(const Words& words, const Edge& edge);

}  // namespace cupel::explain
