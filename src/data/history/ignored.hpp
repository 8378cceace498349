// ignored: the op maps that --ignore left out of a history. Its fact "ignored" has a line for each
// f.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace cupel::history {

using IgnoredOpMaps = std::map<std::string, std::uint64_t>;  // by f

IgnoredOpMaps ignored_op_maps(const std::string& fact);
std::string ignored_fact(const IgnoredOpMaps& counts);

}  // namespace cupel::history
