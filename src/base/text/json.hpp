// JSON out, and bounds for JSON that others wrote.
//
// Every text may hold bytes that are not UTF-8: what a database or a program answered. They become
// U+FFFD, rather than an exception in the middle of a report.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace cupel::text {

// On one line, without spaces and without a line feed.
std::string dump(const nlohmann::json& value);
std::string dump(const nlohmann::ordered_json& value);
// For people: two spaces a level.
std::string dump_indented(const nlohmann::json& value);
std::string dump_indented(const nlohmann::ordered_json& value);
// The beginning of the line, for messages.
std::string dump_excerpt(const nlohmann::json& value);

// A text in quotes, as JSON and EDN have it.
std::string quoted(std::string_view text);
// The same at the end of `out`; the bytes that are not UTF-8 stay.
void append_quoted(std::string_view text, std::string& out);

// Why a text is rejected before it is parsed ("found …"), or nothing: too deep, or a whole number
// of more than 64 bits, which would become a double that equals others. It need not be JSON.
std::optional<std::string> beyond_bounds(std::string_view text);

}  // namespace cupel::text
