// Markup: text into HTML, XML and HTML-like labels.
#pragma once

#include <string>
#include <string_view>

namespace cupel::text {

// What stands for a character that means something in markup; empty for the others.
std::string_view markup_entity(char c);

// For HTML, XML and HTML-like labels. Control characters, which have no place there,
// become blanks, but for those that are to be kept.
std::string in_markup(std::string_view text, std::string_view kept = "");

}  // namespace cupel::text
