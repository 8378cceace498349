// Order levels: prefix, the snapshot isolations, the serializabilities and
// linearizability, by describing each part of the history to the engine.
//
// The parts that cannot influence each other are decided apart: biconnected
// components of the communication graph for levels with session order and
// without real time (Biswas 2021, theorem 3.4.1); connected ones for levels
// without session order, to which the theorem does not apply; objects for
// linearizability. Parts are decided by several threads; the first part, by number,
// that says no answers for the whole, so their number changes nothing.
#pragma once

#include <optional>
#include <string>

#include "engine/levels/decision.hpp"

namespace cupel::levels {

BranchDecision decide_order_level(const DecisionInput& input, Level level, base::Budget& budget);

// What another process found about its parts, for the team's decide_order_level(). Nothing: the
// budget ended.
std::optional<std::string> decide_team_part(const DecisionInput& input, Level level,
                                            base::TeamPart part, base::Budget& budget);

}  // namespace cupel::levels
