// AssumedOutcome branches: indeterminate transactions with compare-and-sets.
//
// One that took effect did see its expected value, so "only its writes count"
// is not exact for it. First its reads are left open, which only makes more
// possible: "no" is no. A "yes" is yes if every such transaction that somebody
// read from saw what it expected; one that did not is a suspect, and is assumed
// to have happened, reads included, and to have never happened, in turn.
// Exponential in the suspects, of which a history has few.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "engine/levels/decision.hpp"
#include "engine/levels/describe.hpp"

namespace cupel::levels {

// Does an indeterminate transaction have a compare-and-set?
bool has_unsure_compare_and_sets(const History& history);

// An indeterminate transaction of open outcome with a compare-and-set that some
// read is from (`read_from`), or that appended what stands in a list, though its own
// expectation was not met in the witness (`met`, by owner; nullptr at the weak levels, which
// have no witness of that kind: every such one is suspect), or that alone, or with others like
// it, can have written a further row of a range read. none() if there is none.
TxnId find_suspect(const DecisionInput& input, std::span<const Owner> read_from,
                   const std::vector<std::uint8_t>* met);

// Replays a witness: which indeterminate owners found the values that their
// compare-and-sets expected (set in `met`, by owner). Only single-operation ones
// are looked into; the others stay suspect, which costs time and no exactness.
void note_met(const DecisionInput& input, const Described& described,
              const order::OrderResult& outcome, std::vector<std::uint8_t>& met);

// Which owners count in a witness in which `read_from` were read from, by owner: of
// the indeterminate ones, those somebody saw (in a list, if not by a read's last
// element; in a further row of a range read), and those assumed to have happened.
// Nobody misses the others.
std::vector<std::uint8_t> took_effect(const DecisionInput& input, std::span<const Owner> read_from);

// Decides under the given outcomes (by transaction; empty: all open).
using DecideBranch = std::function<BranchDecision(std::span<const AssumedOutcome> outcomes)>;
Decision decide_branches(const History& history, const DecideBranch& decide, base::Budget& budget);

}  // namespace cupel::levels
