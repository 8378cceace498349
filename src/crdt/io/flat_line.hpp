// Flat line: the fields of a line of JSON as recorders write most of them, found without a tree of
// values (base/text/flat_json.hpp).
#pragma once

#include <optional>
#include <string_view>

namespace cupel::crdt {

// Flat JSON, as written; empty: the line does not have it.
struct FlatLine {
  std::string_view process, f, object, key, value, time;
};

// Nothing: it has something else, such as another field, an escape or a fraction; or it is no JSON.
std::optional<FlatLine> flat_line(std::string_view text);

}  // namespace cupel::crdt
