// Common order: one happens-before for several objects whose deliveries are not known.
//
// Each object was decided alone and has an execution. The objects share their replicas, so that
// what a replica had seen of one object brings along what had been seen before it of the others.
// The least happens-before that contains all executions is tried: each object is decided again
// under what it then has seen. If all are satisfied, so is the history. If not, the exact method
// decides all objects together.
#pragma once

#include <optional>
#include <vector>

#include "crdt/model/recording.hpp"
#include "crdt/solve/decide.hpp"

namespace cupel::crdt {

struct CommonDecision {
  Verdict verdict = Verdict::kUnknown;
  std::vector<Witness> witnesses = {};  // of kSatisfied: by object, its execution in the common one
};
// `alone`: of each object, an execution that it has alone.
CommonDecision decide_together(const Recording& recording, const std::vector<const Witness*>& alone,
                               const Axioms& axioms, base::Budget& budget);
// By SAT (exact.cpp). No type of the objects needs deliveries.
CommonDecision decide_exact_together(const Recording& recording, const Axioms& axioms,
                                     base::Budget& budget);
// Operations of the whole without a common execution, of a history that has none: no read can be
// left out, unless the budget is spent before. Updates that no read of them asks about are left
// out.
std::vector<OpId> core_of_several(const Recording& recording, const Axioms& axioms,
                                  base::Budget& budget);

}  // namespace cupel::crdt
