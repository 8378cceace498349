// JSON text without a parser: where a map ends, and the names of its members.
//
// Recognition needs to know whether a first operation says "type" by itself, or only
// somewhere inside a value. A parser would refuse an object that the head of a file cuts.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cupel::formats {

// Past the bracket that closes the one at `begin`; npos if none does.
std::size_t end_of_map(std::string_view bytes, std::size_t begin);

struct Members {
  std::vector<std::string_view> names;  // as they are written, escapes included
  [[nodiscard]] bool contains(std::string_view name) const {
    return std::find(names.begin(), names.end(), name) != names.end();
  }
};

// Of the object that `text` begins with; of one that is cut, the names before the cut. None if
// the text does not begin with "{".
Members first_object(std::string_view text);

// The object that `text` is, with only the members that `is_kept` takes. None if it is no object.
// The values are not read: they may hold what no JSON parser takes.
std::optional<std::string> with_members(std::string_view text,
                                        bool (*is_kept)(std::string_view name));

}  // namespace cupel::formats
