// Plain scalars: numbers and characters of EDN as Clojure reads them, in one spelling, for the
// plain reader (plain_reader.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/certify/plain_value.hpp"

namespace cupel::certify {

bool is_digits(std::string_view text);
std::optional<std::int64_t> integer_of(std::string_view text);
// 1.0, 2.5, 1e+30: a double always looks like one. Too large: ##Inf. None: it is no number.
std::optional<std::string> text_of_double(std::string_view text);
void append_utf8(std::uint32_t code, std::string& out);

// 7, 0x1f, 017, 2r101, 7N, 1.5, 1.50M, 2/6, with or without a sign. None: it is no number.
std::optional<PlainValue> edn_number(std::string_view word);
// \a, \u0061, \o141, \newline: with its backslash. None: there is no such character.
std::optional<std::string> edn_character(std::string_view word);

}  // namespace cupel::certify
