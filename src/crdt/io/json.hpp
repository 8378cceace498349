// JSON that somebody else wrote - histories, certificates, the answers of replicas -
// within bounds: what parses and prints it recurses, and a whole number of more than 64
// bits would become a double, equal to others.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cupel::crdt {

// Arrays and objects within each other; of EDN as well.
inline constexpr int kDeepest = 100;

// Why a text is refused before it is parsed ("found …"), or nothing. It need be no JSON.
std::optional<std::string> beyond_bounds(std::string_view text);

}  // namespace cupel::crdt
