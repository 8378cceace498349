// Sentences: an edge of a derivation in words, down to the operations behind it.
#pragma once

#include <string>

#include "explain/cycle.hpp"
#include "explain/words.hpp"

namespace cupel::explain {

// One sentence without a full stop: "T7 read x = 3, which T4 wrote". It does not
// tell what a forced edge rests on; `led_by_reasons` adds "because", for a text
// that goes on with the reasons.
std::string sentence(const History& history, Words& words, const Derivation& derivation,
                     const Edge& edge, bool led_by_reasons);

// The elements of a list read that the edge is about.
std::vector<history::ValueId> focus_of(const Words& words, const Edge& edge);

}  // namespace cupel::explain
