// Derivation: edges with their reasons, and the cycles they close.
//
// Every edge is checked by the rule of its kind and reason against the history and
// the edges before it; what it rests on (choices, its own and those of the edges in
// its `because`) is carried along. A cycle under no choice is a contradiction; or
// cycles become clauses over the choices, which a refutation by unit propagation
// shows to leave no way out.
#pragma once

#include "engine/certify/context.hpp"

namespace cupel::certify {

Rejection shows_contradiction(Context& context, const Derivation& derivation);

}  // namespace cupel::certify
