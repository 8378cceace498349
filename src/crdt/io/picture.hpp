// Picture: an answer as SVG, a row a replica and an arrow a delivery.
//
// Of satisfied: the witness. An arrow goes from an update to the first operation of
// another replica that has seen it. Of violated: what the explanation takes, with its
// cycle, or with what the read that cannot be explained must have seen and cannot have
// seen.
#pragma once

#include <string>

#include "crdt/io/report.hpp"

namespace cupel::crdt {

// Of a longer execution the beginning is drawn, and it says so.
inline constexpr std::size_t kMostDrawn = 150;

// Of unknown, a page that says that.
std::string as_svg(const Answer& answer);

}  // namespace cupel::crdt
