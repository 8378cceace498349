// The part of a page (page.hpp) that shows what the final reads found.
#pragma once

#include <string>
#include <vector>

#include "report/render.hpp"

namespace cupel::report {

// A section of HTML: a table of the keys that lost acknowledged writes, and one of those on which
// the nodes differ, at most kMostKeysOnPage rows each. Empty if the history has no final reads.
std::string final_reads_section(const Checked& checked);

// The writers that the section names, so that the page can show them.
std::vector<history::TxnId> writers_in_section(const Checked& checked);

inline constexpr std::size_t kMostKeysOnPage = 12;

}  // namespace cupel::report
