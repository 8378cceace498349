// Does the engine say of a small history what the oracle says, at every level?
#pragma once

#include <string>

#include "support/history_language.hpp"

namespace cupel::test {

// Has the history so few choices that the oracle is asked?
bool is_compared(const history::History& history);

// Empty if they agree (or the history has too many choices for the oracle);
// else one line per level on which they do not. Also held: levels without a
// meaning are never satisfied, and answers respect the implications.
std::string disagreement(const Sketch& sketch, unsigned threads = 1);
std::string disagreement(const history::History& history, unsigned threads = 1);

// Compares `count` seeds from `first`; stops at the first disagreement and
// returns its seed and the shrunk history in the mini-language. Fewer than half compared is
// one too.
std::string first_disagreement(std::uint64_t first, std::uint64_t count);

}  // namespace cupel::test
