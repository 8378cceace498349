// cupel: what a key or a value can be.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

namespace cupel {

// Null (std::monostate), an integer, or text. The integer 1 and the text "1"
// differ.
using Scalar = std::variant<std::monostate, std::int64_t, std::string>;

}  // namespace cupel
