// Known context: decides a history whose deliveries are known (model/visibility.hpp).
//
//   const auto visibility = Visibility::of(history);
//   const auto decision = decide_context({history, *visibility, axioms, budget});
//   if (decision.wrong) ...  // decision.wrong->read returned what its type does not allow
//
// Every read of a set, flag, counter, max or multi-value register has one right value, and one of
// an any-maximal register some that are known. Each replica is replayed on its own: its state of
// the type takes each update where it becomes visible. The states compare updates by what they had
// seen, so the order of arrival has no influence. Registers where the last writer wins, arrays and
// lists also need an order of all updates; it exists if the steps that the reads ask for have no
// cycle.
//
// Cost: operations × replicas, plus the sizes of the reads, plus a logarithm for arrays.
#pragma once

#include <optional>
#include <vector>

#include "crdt/model/replicated_type.hpp"
#include "crdt/model/visibility.hpp"
#include "crdt/solve/decide.hpp"

namespace cupel::crdt {

struct KnownContext {
  const History& history;
  const Visibility& visibility;
  const Axioms& axioms;
  base::Budget& budget;
  unsigned threads = 1;  // that may decide parts of it; 0: as many as the machine has
};

// The first read of the file, or update, that is wrong by itself, or a cycle. Of a counter the read
// that differs by fewest updates from the one before.
struct WrongRead {
  OpId read = kNone;             // kNone: a cycle says it
  std::uint32_t object = kNone;  // the element, or else the key, that is wrong
  std::vector<Step> cycle = {};
  std::vector<OpId> operations = {};  // that show the cycle, if more than its steps name
};

struct ContextDecision {
  Verdict verdict = Verdict::kUnknown;
  std::optional<WrongRead> wrong = {};         // of kViolated
  std::vector<OpId> order = {};                // of kSatisfied: all operations; the linearization
  std::vector<std::uint32_t> characters = {};  // lists: of kSatisfied
  std::vector<std::uint32_t> pairs = {};       // weak lists without one order: two by two
  std::vector<OpId> writes = {};               // of order_by_object: all updates, object by object
  std::vector<OpId> positions = {};  // movable lists: all that make a place, in the order of places
};

// By the type of the history.
ContextDecision decide_context(const KnownContext& context);

// For the types. Sets and flags.
ContextDecision decide_known_membership(const KnownContext& context);
ContextDecision decide_known_sum(const KnownContext& context);
ContextDecision decide_known_resettable_sum(const KnownContext& context);
ContextDecision decide_known_bounded_sum(const KnownContext& context);
ContextDecision decide_known_siblings(const KnownContext& context);
ContextDecision decide_known_any_maximal(const KnownContext& context);
ContextDecision decide_known_greatest(const KnownContext& context);
ContextDecision decide_known_last_write(const KnownContext& context);
// Of types whose objects have an order each.
ContextDecision decide_known_last_updates(const KnownContext& context);
ContextDecision decide_known_list(const KnownContext& context);
// Of lists and arrays: whether the reads show the characters that they had seen, in whatever order.
ContextDecision known_characters(const KnownContext& context);
ContextDecision decide_known_weak_list(const KnownContext& context);
ContextDecision decide_known_array(const KnownContext& context);

// As of its visibility (model/visibility.hpp).
template <typename Begin, typename Arrive, typename Perform>
void replay(const KnownContext& context, Begin begin, Arrive arrive, Perform perform) {
  replay(context.history, context.visibility, begin, arrive, perform);
}

template <typename Begin, typename Arrive, typename Perform>
void replay_by_key(const KnownContext& context, Begin begin, Arrive arrive, Perform perform) {
  replay_by_key(context.history, context.visibility, begin, arrive, perform);
}

// Happens-before as a graph: each replica's order, and a step from each update to the first
// operation of a replica that had seen it.
StepGraph known_order(const KnownContext& context);

}  // namespace cupel::crdt
