// ViolationsText: the violations of a check in words.
//
// The list is analysis::violations_of(), as on the page: the smallest first. Each weakest violated
// level has one that is told in full: what went wrong, an interleaving of its operations, and the
// proof. The others have a line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/render.hpp"

namespace cupel::report {

struct ViolationsText {
  std::vector<std::string> paragraphs;  // every line starts with two blanks
  NamedCounts listed;                   // the anomalies in them
};
ViolationsText violations_text(const Checked& checked, const TextStyle& style);

// "snapshot-isolation (PostgreSQL's REPEATABLE READ)".
std::string named_level(const Checked& checked, levels::Level level);

// `text`, each line with `indent` before it.
void append_indented(std::string& out, std::string_view text, std::string_view indent);

}  // namespace cupel::report
