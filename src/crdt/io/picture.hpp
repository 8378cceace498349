// Picture: a report as SVG, a row a replica and an arrow a delivery.
//
// Of satisfied: the witness. An arrow goes from an update to the first operation of
// another replica that has seen it. Of violated: what the explanation takes, with its
// cycle, or with what the read that cannot be explained must have seen and cannot have
// seen.
#pragma once

#include <string>

#include "crdt/io/report.hpp"

namespace cupel::crdt {

// Of a longer execution the beginning is drawn, and a line of the legend says so.
inline constexpr std::size_t kMostDrawn = 150;

// If the verdict is unknown, a picture without operations that says so.
std::string as_svg(const Report& report);

}  // namespace cupel::crdt
