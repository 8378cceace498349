// Context check: certificates of histories whose deliveries are known.
//
// It computes what each operation had seen a second time, with sets instead of vectors, and takes
// the axioms of each type word for word. It shares no code with model/visibility.hpp and
// solve/context.hpp. For satisfied, every read is checked, and the linearization if the type has
// one. For violated, one of the operations named is wrong by itself, or those named ask for an
// order with a cycle.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "crdt/verify/verify.hpp"

namespace cupel::crdt {

// More updates: the result is unknown, because the sets are too large.
inline constexpr std::size_t kMostContextUpdates = 20'000;

Verified check_context(const History& history, const nlohmann::json& certificate, bool strict);

}  // namespace cupel::crdt
