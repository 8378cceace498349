// Texts that come from outside: are they UTF-8?
#pragma once

#include <string_view>

namespace cupel::base {

// Neither overlong forms nor surrogates, and, as in the databases' texts, no NUL.
bool valid_utf8(std::string_view text);

}  // namespace cupel::base
