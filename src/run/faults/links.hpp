// What faults of the network have in common.
#pragma once

#include <string>
#include <vector>

#include "run/faults/kinds.hpp"

namespace cupel::faults {

// Kind::end of every fault of the network.
base::Result<bool> end_disturbance(Effects& effects, FaultId id, const Fault& fault,
                                   const GiveUp& give_up);

// The links as people read them: "0 1 | 2" if nothing passes between the sides, "0 -> 1 2" if one
// direction is cut, "0-2 1-3" otherwise.
std::string shown(const std::vector<Link>& links);

}  // namespace cupel::faults
