// Fitted: a text for people, broken again for a terminal that is narrower than the text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cupel::report {

// No line is wider than `columns` if that can be had. Paragraphs that engine/explain/why/layout.hpp
// broke are joined before they are broken again; the last column of a table keeps its place. Lines
// with a tab, which scripts read, stay as they are.
std::string fitted(std::string_view text, std::size_t columns);

}  // namespace cupel::report
