// Refutation: a proof of a violation as clauses, for the verifier that is proved
// (proofs/Derivation.v): axioms of the level, and clauses that follow from earlier ones by unit
// propagation with hints (LRAT), up to the empty clause.
//
// Each edge of a derivation becomes a clause: the edge, or one of the choices under which it
// holds is false. The axioms that its rule stands for are given first; the hints are found by
// propagating once.
#pragma once

#include <string>

#include "engine/certify/violated.hpp"

namespace cupel::certify {

// Has the proof been checked (shows_violation)? kNo, which is for tests: a clause that does not
// follow is written all the same, so that the proved verifier is asked about it.
enum class Checked : std::uint8_t { kYes, kNo };

// The lines of the text. Rejection: a rule that has no counterpart, or a proof that cannot be
// written down, such as a cycle of edges that are not there.
Rejection write_refutation(Context& context, const Body& body, Checked checked, std::string& text);

}  // namespace cupel::certify
