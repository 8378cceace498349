// Certificates: what a decision rests on, for verify.hpp to check by other means.
//
// Of satisfied: the clock of every operation and the linearization. Of violated: the
// operations and elements that have no execution by themselves.
#pragma once

#include <string>

#include "crdt/solve/decide.hpp"

namespace cupel::crdt {

std::string certificate_of_witness(const History& history, const Axioms& axioms,
                                   const Witness& witness);
std::string certificate_of_core(const History& history, const Axioms& axioms, const Core& core);

}  // namespace cupel::crdt
