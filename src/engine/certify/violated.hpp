// Violated: a body of evidence that no execution at the level is possible.
//
// Either something inside one transaction, or a derivation; or cases, each with a
// body of its own: an indeterminate transaction happened or never did, the appends
// of repeated elements stand at these places or at those. The cases must be all.
#pragma once

#include "engine/certify/context.hpp"

namespace cupel::certify {

// `how`: what the proof is made of, in a few words.
Rejection shows_violation(Context& context, const Body& body, std::string& how);

}  // namespace cupel::certify
