// extra_fields: what a source says of some transactions beyond what a History holds.
//
// A History keeps operations, outcomes, sessions and times; a recorder may have put
// more into an operation map, such as the node it talked to. It is not needed to
// decide anything, so it is not kept: it is looked up, in a second pass over the
// file, for the few transactions that are shown.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/budget.hpp"

namespace cupel::formats {

// `format` is the metadata "format" of a history.
bool has_extra_fields(std::string_view format);

// By label (History::label), the fields of that operation map that the reader
// ignores, in the file's order: ("node", "\"n3\""), values as the file's syntax writes
// them, EDN's in canonical form. `format` is the metadata "format" of the history;
// only jepsen has such fields, and cupel the node. Empty for other formats, standard input and a
// file that cannot be read again, or not before a limit of `budget` (borrowed) is met. Linear in
// the file's size, holding one map at a time.
std::map<std::uint32_t, std::vector<std::pair<std::string, std::string>>> extra_fields(
    const std::string& path, std::string_view format, const std::set<std::uint32_t>& labels,
    base::Budget* budget = nullptr);

// The field `node` of all operation maps of a file, by label.
struct Nodes {
  std::vector<std::string> names;         // as the file writes them, without quotes
  std::vector<std::uint16_t> of_label{};  // 0: not known; n: names[n - 1]
};

inline constexpr std::size_t kMostNodeNames = 1000;
inline constexpr std::uint64_t kMostNodeLabels = 1 << 27;  // a label may be any number

// Empty where extra_fields() is, and for a file that has more than 1000 names. Linear in the file's
// size; two bytes for each label.
Nodes nodes_of_file(const std::string& path, std::string_view format,
                    base::Budget* budget = nullptr);

}  // namespace cupel::formats
