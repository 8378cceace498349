// UTF-8: are texts that come from outside? And a code point as text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cupel::base {

// The length of the character at the front of the text, which is not empty; 0 if there is none.
// Neither overlong forms nor surrogates are one.
std::size_t utf8_length(std::string_view text);

// Nothing but characters and, as in the databases' texts, no NUL.
bool valid_utf8(std::string_view text);

// The character of this code point, which is no surrogate and at most U+10FFFF.
std::string utf8_of(char32_t code);

}  // namespace cupel::base
