// Page: a report as one HTML page without a script: the verdict, a picture of each object that is
// violated, or of the execution that explains its reads, and the report as text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "crdt/io/recording_report.hpp"

namespace cupel::crdt {

// Of more objects, those that are violated come first, and the page says how many it leaves out.
inline constexpr std::size_t kMostObjectsShown = 20;

// `text`: the report as it is printed, which may say more than as_text().
std::string as_page(const RecordingReport& report, std::string_view text);

}  // namespace cupel::crdt
