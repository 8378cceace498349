// Near write: a value that nobody wrote may be one that was recorded in another form, "5" for 5. A
// hint for whoever looks for the cause; no verdict depends on it.
#pragma once

#include <string>
#include <string_view>

#include "data/history/history.hpp"
#include "data/history/scalar.hpp"

namespace cupel::explain {

// A sentence that begins with a blank; empty: no write to the key is nearly this value. `name`: of
// the key, in texts.
std::string near_write(const history::History& history, history::ScalarView key,
                       history::ScalarView value, std::string_view name);

}  // namespace cupel::explain
