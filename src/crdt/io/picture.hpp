// Picture: a report as SVG, with a row per replica and an arrow per delivery.
//
// For satisfied: the witness. An arrow goes from an update to the first operation of another
// replica that has seen it. For violated: the operations of the explanation, with its cycle, or
// with the updates that the unexplained read must have seen and cannot have seen.
#pragma once

#include <string>

#include "crdt/io/report.hpp"

namespace cupel::crdt {

// Of a longer execution the beginning is drawn, and a line of the legend says so.
inline constexpr std::size_t kMostDrawn = 150;

// If the verdict is unknown, a picture without operations that says so.
std::string as_svg(const Report& report);

// All operations of a violated history with its recorded deliveries. Empty if it has none, or more
// operations than are drawn.
std::string recording_svg(const Report& report);

}  // namespace cupel::crdt
