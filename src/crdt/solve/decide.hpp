// Decide: is there an abstract execution - read-from, happens-before and, for
// last-writer-wins registers and arrays, a linearization - that satisfies the axioms
// of the type (thesis, figures 2.1 and 2.2)?
//
//   base::Budget budget;
//   const auto decision = decide(history, {}, budget);
//   decision.verdict;          // kViolated
//   decision.violation->core;  // the part without an execution; explain.hpp puts it into words
//
// Polynomial: arrays without double removes (array.cpp), and last-writer-wins registers whose
// values are written once (registers.cpp). For multi-value registers whose values are written once:
// bounds, and choices between siblings (siblings.cpp). For all others, in this order: a search that
// delivers updates as reads need them, which finds most executions of correct replicas
// (search.cpp); for sets and flags, bounds and choices (element_constraints.cpp); SAT (exact.cpp).
// The last two are complete. They first decide one object after the other (objects.cpp), then all
// together.
//
// Choices, where the axioms as printed are ambiguous or weaker than intended
// (docs/reference/crdt.md#choices). `strict` takes them as printed:
// - Before any update a set is empty, a flag off, a register without value.
// - An array does not return a character whose remove it has seen, and returns a
//   character after the one it was added after. Figure 2.2 demands neither.
// - A multi-value register may have seen concurrent writes of one value. Figure 2.1
//   (RetValReg: there is exactly one) forbids it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/budget.hpp"
#include "base/verdict.hpp"
#include "crdt/model/clocks.hpp"
#include "crdt/model/history.hpp"

namespace cupel::crdt {

struct Axioms {
  bool strict = false;  // as printed
};

using base::Verdict;

struct Witness {
  Clocks clocks;            // happens-before
  std::vector<OpId> order;  // the linearization: every operation, contains happens-before
  std::vector<std::uint32_t> characters = {};  // lists: their order, if it was looked for
  std::vector<std::uint32_t> pairs = {};       // weak lists without such an order (context.hpp)
  std::vector<OpId> writes = {};               // of order_by_object: all updates, object by object
  std::vector<OpId> positions = {};            // movable lists (context.hpp)
};

// What cannot be so, all of it.
struct Core {
  std::vector<OpId> ops;                // of the history, ascending; reads and updates
  std::vector<std::uint32_t> elements;  // sets and arrays: those that whole reads keep; ascending
};

struct Violation {
  Core core;
  std::vector<Step> cycle;  // empty: no single cycle is the reason
};

struct Decision {
  Verdict verdict = Verdict::kUnknown;
  std::string decided_by = {};          // "registers", "array", "search", "members", "sat"
  std::optional<Witness> witness = {};  // of kSatisfied
  bool least = false;  // the happens-before of every execution contains that of the witness
  std::optional<Violation> violation = {};  // of kViolated
};

struct Methods {
  // False: leave it out, for tests and measurements.
  bool polynomial = true, search = true, bounds = true;
};

// Types that need deliveries are kUnknown (TypeTraits::needs_deliveries).
Decision decide(const History& history, const Axioms& axioms, base::Budget& budget,
                const Methods& methods = {});

// Lists: the order of the characters in an execution that has none yet.
void add_characters(const History& history, const Axioms& axioms, base::Budget& budget,
                    Witness& witness);

// The parts of decide(). Each: nothing if it cannot decide.
std::optional<Decision> decide_register(const History& history, bool last_writer_wins,
                                        base::Budget& budget);
// Guesses again so many times at most.
std::optional<Decision> decide_array(const History& history, const Axioms& axioms,
                                     base::Budget& budget, int most_repairs);
// Lists: the same for the characters, in any order; and then their order (list_order.hpp).
std::optional<Decision> decide_characters(const History& history, base::Budget& budget,
                                          int most_repairs = 12);
std::optional<Decision> decide_list(const History& history, base::Budget& budget, int most_repairs);
std::optional<Decision> decide_search(const History& history, const Axioms& axioms,
                                      base::Budget& budget);
// For sets and flags; complete but for so many contradictions. In order: only executions in the
// order of the file are looked for.
std::optional<Decision> decide_element_constraints(const History& history, base::Budget& budget,
                                                   bool in_order, std::size_t most_contradictions);
// For multi-value registers whose values are written once each, and all that is returned was
// written; `order` has all operations, those of a replica in its order and a write before
// the reads that return it.
Decision decide_siblings(const History& history, std::span<const OpId> order, base::Budget& budget);
// Is some object - element of a set, flag, counter, register, array - wrong by itself?
std::optional<Decision> decide_objects(const History& history, const Axioms& axioms,
                                       base::Budget& budget, const Methods& methods);
// With a probe, a read whose result is not constrained, and what it is to have seen or not.
// (What an array's read shows and LinRGA are constraints all the same.)
struct Probe {
  OpId read = kNone;
  std::vector<std::pair<OpId, bool>> seen = {};
};
Decision decide_exact(const History& history, const Axioms& axioms, base::Budget& budget,
                      const Probe& probe = {});

// A core of everything.
Core whole(const History& history);
// The history that has only the operations of the core, whose whole reads of sets and
// arrays keep the core's elements alone; operations on other elements are left out.
struct Part {
  History history;
  std::vector<OpId> origin;             // by operation of the part
  std::vector<std::uint32_t> elements;  // by element of the part
};
Part part_of(const History& history, const Core& core);

// What a read of a set claims about one element.
struct Claim {
  OpId op;
  std::uint32_t element;  // of a flag: the key
  bool returned;
};
// For sets and flags; a whole read has a claim about each element of its key that was
// ever added, removed or returned.
std::vector<Claim> claims_of(const History& history);

// Arrays: of each element, the operation that adds it, or kNone.
std::vector<OpId> inserts_of(const History& history);
// Of each element, the one directly after which it is added; kNone: at the beginning, or nobody
// adds it.
std::vector<std::uint32_t> neighbours_of(const History& history);
// These operations, and all that is done to their characters and to those that they follow.
Core core_of_list(const History& history, const std::vector<OpId>& operations);
// Arrays: the linearization that the reads ask for (LinRGA), or the step that makes it
// impossible: a character shown before the one it was added after, or twice.
struct ArrayOrder {
  std::vector<Step> steps;
  std::optional<Step> impossible;
};
ArrayOrder array_order(const History& history, const Axioms& axioms);

}  // namespace cupel::crdt
