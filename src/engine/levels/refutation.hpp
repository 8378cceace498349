// Refutation: why the cases of a derivation leave nothing, in a form that can be checked without
// the engine.
//
// Each case says that not all of the choices its cycle holds under are true. With
// the axioms that a read sees one of its possible writers, and what bounds mean,
// that is a set of clauses without a model; the solver's clauses that show it,
// each by unit propagation, are the lemmas (docs/reference/formats/certificate.md).
#pragma once

#include "base/budget.hpp"
#include "data/history/history.hpp"
#include "engine/levels/derivation.hpp"

namespace cupel::levels {

using history::History;

// Fills derivation.refutation, unless the derivation is no proof by cases or a
// limit is met: then derivation.complete is false.
void refute_cases(const History& history, Derivation& derivation, base::Budget& budget);

}  // namespace cupel::levels
