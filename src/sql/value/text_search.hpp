// Looking for text in text, at a cost that the texts cannot blow up.
#pragma once

#include <cstddef>
#include <string_view>

namespace cupel::sql {

// The first place of `wanted` from `from` on, or npos. Linear, where std::string::find takes the
// product of both lengths at worst.
std::size_t find_text(std::string_view text, std::string_view wanted, std::size_t from = 0);

// LIKE, or ILIKE if `fold_case`, as PostgreSQL's MatchText(): what does not fit is tried again
// after the last % only, because what fitted before it fits in no better way. Costs at most the
// product of both lengths, and raises 54001 where that is too much. Raises 22025 for a pattern that
// ends with its escape character, where matching gets there.
bool like(std::string_view text, std::string_view pattern, bool fold_case = false);

}  // namespace cupel::sql
