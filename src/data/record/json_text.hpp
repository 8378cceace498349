// JSON text of keys and values, as docs/reference/formats/jepsen.md has them.
#pragma once

#include <string>
#include <string_view>

#include "cupel/scalar.hpp"

namespace cupel::record {

// null, 7, "text". Bytes that are not UTF-8 become the text x'…' of their
// hexadecimal digits, because JSON cannot hold them.
void append_json(std::string& out, const Scalar& scalar);
void append_json(std::string& out, std::int64_t integer);
void append_json(std::string& out, std::string_view text);

}  // namespace cupel::record
