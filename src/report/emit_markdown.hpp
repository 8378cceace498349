// Markdown: each counterexample as a table for a bug report. Columns are sessions,
// rows are steps; what comes from the history cannot break out of its place.
#pragma once

#include <string>
#include <string_view>

#include "report/emit.hpp"

namespace cupel::report {

// A heading, the sentence, the table, the facts (level, database, command) and the
// reasons for each violation, most severe first; no table and facts where it was not made
// small. Without one a line that says so. What the final reads found comes first.
std::string emit_markdown(const Emission& emission);

// The keys that lost writes and those on which the nodes differ, as tables of at most `most` rows;
// empty if there are none, or if they do not decide.
std::string final_reads_tables(const Checked& checked, std::size_t most);

// The table alone.
std::string markdown_table(const explain::Counterexample& example);

}  // namespace cupel::report
