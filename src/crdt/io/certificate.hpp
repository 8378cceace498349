// Certificates: the evidence of a decision, which verify.hpp checks with independent code.
//
// For satisfied: the clock of every operation and the linearization. For violated: the operations
// and elements that have no execution by themselves.
#pragma once

#include <string>

#include "crdt/analysis/analyze.hpp"

namespace cupel::crdt {

std::string certificate_of_witness(const History& history, const Axioms& axioms,
                                   const Witness& witness);
std::string certificate_of_core(const History& history, const Axioms& axioms, const Core& core);
// Of a history whose deliveries were trusted: a linearization, or the operations that show what is
// wrong.
std::string certificate_of_context(const History& history, const Analysis& analysis);
// Of an analysis whose verdict is not unknown.
std::string certificate_of(const History& history, const Analysis& analysis);
// Of each named object its own; of a violation, that of the first violated object.
std::string certificate_of(const Recording& recording, const RecordingAnalysis& analysis);

}  // namespace cupel::crdt
