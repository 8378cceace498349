// Escapes: text from outside (keys, values, names and fields of a history, file names, answers of
// a server) in each format of the output. Whoever writes a format takes its function from here.
//
//   text for people, tab-separated lines    base::visible()            base/visible.hpp
//   JSON, SARIF                             dump(), quoted()           base/text/json.hpp
//   HTML, SVG, labels of Graphviz           in_markup()
//   XML (JUnit)                             xml_text()
//   Markdown                                markdown_text(), markdown_code(), markdown_block()
//   GitHub's annotations                    annotation_text(), annotation_property()
//   SQL                                     sql_string(), which knows the dialect (emit_sql.hpp)
//
// Bytes that are not UTF-8 become U+FFFD, or an escape where base::visible() is part of it.
#pragma once

#include <string>
#include <string_view>

namespace cupel::text {

// The same text with what is not UTF-8 replaced by U+FFFD.
std::string as_utf8(std::string_view text);

// What stands for a character that means something in markup; empty for the others.
std::string_view markup_entity(char c);

// For HTML, XML and HTML-like labels. Control characters, which have no place there,
// become blanks, but for those that are to be kept; other characters that base::visible()
// escapes become U+FFFD.
std::string in_markup(std::string_view text, std::string_view kept = "");

// For text and for attributes of XML; characters that XML cannot hold become U+FFFD.
std::string xml_text(std::string_view text);

// Text that renders as it is: no markup, no mention of a person or an issue, no HTML.
std::string markdown_text(std::string_view text);
// The same in a span, or a block, of code.
std::string markdown_code(std::string_view text);
std::string markdown_block(std::string_view text);

// The text of a workflow command of GitHub ("::error …::TEXT"), and one of its properties.
std::string annotation_text(std::string_view text);
std::string annotation_property(std::string_view text);

// A text for a log in which GitHub looks for commands: none of its lines is one. JSON stays JSON.
std::string without_commands(std::string_view text);

}  // namespace cupel::text
