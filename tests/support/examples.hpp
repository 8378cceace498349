// Histories with known answers, from the literature and from levels.md: the
// oracle's tests and the engine's tests read the same list.
#pragma once

#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/history/history.hpp"
#include "engine/levels/level.hpp"

namespace cupel::test {

struct Example {
  const char* name;       // letters, digits, underscores: it names a test
  const char* text;       // in the mini-language
  const char* strongest;  // short names of the strongest levels it satisfies, weakest first
  const char* weakest;    // and of the weakest it violates
};

// What GoogleTest calls it beside the name of a test.
inline void PrintTo(const Example& example, std::ostream* out) {
  *out << example.strongest << " but not " << example.weakest;
}

std::span<const Example> classic_examples();   // one anomaly each, by its usual name
std::span<const Example> thesis_figures();     // Biswas 2021, figure 3.3
std::span<const Example> mini_transactions();  // MTC 2025, table I: the 14 anomalies
std::span<const Example> peer_mistakes();      // what other tools get wrong
std::span<const Example> adya_and_cerone();    // Adya 1999; Cerone & Gotsman 2018; Fekete 2004
std::span<const Example> real_time_examples();
std::span<const Example> corner_cases();         // choices of levels.md
std::span<const Example> found_by_the_oracle();  // where the engine once disagreed
std::vector<Example> all_examples();

// The levels that have a meaning for this history (times, single objects).
std::vector<levels::Level> meaningful_levels(const history::History& history, bool single_object);

// "rc ser": the maximal levels of `satisfied`, the minimal of `violated`, in the
// order of all_levels().
std::string strongest_of(std::span<const levels::Level> satisfied);
std::string weakest_of(std::span<const levels::Level> violated);

}  // namespace cupel::test
