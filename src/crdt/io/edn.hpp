// EDN values as JSON: keywords and symbols become strings; lists, vectors and sets become arrays;
// maps become objects with their keys as text. A value that JSON cannot represent is an error.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "base/result.hpp"

namespace cupel::crdt {

// The one value of a line, or a discarded one if the line has only comments and `#_` forms; `byte`
// of an error counts within it.
base::Result<nlohmann::json> parse_edn(std::string_view line);

}  // namespace cupel::crdt
