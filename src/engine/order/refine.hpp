// Refine: the choices that saturation and the schedule leave, by a solver.
//
// Stage 3 of the engine (docs/internals/algorithms/refine.md), lazily: a pair of writers gets a
// Boolean only when a schedule breaks on it, and a read with several possible writers only when it
// finds none of them current. So pairs are never enumerated; a history of n transactions that
// breaks on k pairs costs k variables. Each round: the solver proposes orders whose arcs are
// acyclic with what is known; the schedule runs with those arcs; what it breaks is added; until it
// ends well (a witness) or no proposal is left (a proof by cases).
//
// The alternative that lost: every open pair inside a component is a variable
// from the start, with phases from a complete order. Here the schedule is that
// complete order in every round.
#pragma once

#include "engine/order/proof.hpp"
#include "engine/order/schedule.hpp"

namespace cupel::order {

// What the stages before it made of the problem.
struct RefineInput {
  const Problem& problem;
  const EventGraph& graph;
  const Versions& versions;
  const OpenReads& open;
  Saturation& saturation;  // at its fixpoint; narrows the reads that become variables
  const graph::Digraph& known;
  std::span<const std::uint64_t> hint;
  bool for_relaxation;  // a proof is wanted for what it rests on, not for showing (ProofBuilder)
};

// `first` is the schedule that broke.
OrderResult refine(const RefineInput& input, const ScheduleResult& first, base::Budget& budget);

}  // namespace cupel::order
