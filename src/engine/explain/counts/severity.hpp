// Severity: the order in which anomalies are reported.
//
// By the weakest level that forbids the anomaly, in the order of levels::all_levels()
// (of several such levels, none of which implies the other: the first); within a
// level in the order of docs/reference/anomalies.md. Anomalies inside one transaction or read
// come first of all.
#pragma once

#include <cstdint>
#include <string_view>

namespace cupel::counts {

// Smaller is more severe. By name ("lost-update", "G-single"); unknown names come last.
std::uint32_t severity(std::string_view name);

}  // namespace cupel::counts
