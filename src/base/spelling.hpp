// Spelling: what somebody may have meant by a word that is no name here.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace cupel::base {

// The name nearest to `word`: at most a third of its letters changed, left out,
// added or swapped with a neighbour, or the same words in another order, or the only name that
// begins with it. Case, blanks and underscores do not count. Empty if none is near.
std::string nearest(std::string_view word, std::span<const std::string> names);

// "; did you mean `lost-update`?", or nothing.
std::string did_you_mean(std::string_view word, std::span<const std::string> names);

// The same as a sentence of its own: " Did you mean `lost-update`?", or nothing.
std::string suggestion(std::string_view word, std::span<const std::string> names);

// "a, b or c".
std::string one_of(std::span<const std::string> names);

}  // namespace cupel::base
