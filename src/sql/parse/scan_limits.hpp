// What PostgreSQL's parser would take too long to read, or would not survive, found in one pass.
//
// Its scanner's rules for comments and operators match a run of operator characters to the end and
// give back what is not theirs. So each comment that opens in a run, and each operator that is cut
// from one, costs the length of the rest of the run: 200,000 times /* side by side are 4 * 10^10
// steps. A text that would cost more than a few steps a byte is refused.
//
// And libpg_query writes its tree by recursion, without a limit: a chain of 100,000 operators
// (1 + 1 + 1 …) takes more stack than there is.
#pragma once

#include <string_view>

namespace cupel::sql {

// Raises 54001.
void check_parser_limits(std::string_view text);

}  // namespace cupel::sql
