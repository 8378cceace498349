// Explain: shrinks a violation and puts it into words.
//
// It drops only parts whose absence cannot cause a violation: reads; elements with all their reads
// and updates; writes whose value no read returns; updates of the side that only helps (adds, if
// every read of the element returns false). If the rest has no execution, the whole has none. The
// result is minimal in single parts, unless the time limit was reached.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "crdt/solve/decide.hpp"

namespace cupel::crdt {

struct Explanation {
  // "lost-increment"; the names are in docs/reference/crdt.md#names.
  std::string name;
  std::string summary;               // one sentence
  std::vector<std::string> because;  // what leads to it, a line each
  Part part;                         // all that it takes
  OpId read = kNone;  // of the part: the one that cannot be explained; kNone: a cycle without one
  std::vector<OpId> must_see,
      cannot_see;           // of the part: updates that `read` had or could not have seen
  std::vector<Step> cycle;  // of the part
  Core core;                // of the history, as the certificate has it
};

struct ExplainOptions {
  double seconds = 5;              // for making it small; with the words at most one more
  std::uint64_t memory_bytes = 0;  // resident size at which it goes no further; 0: none
};

// These operations with all that may not be missing beside them. If the rest has no execution, the
// whole has none.
Core closed_core(const History& history, const std::vector<OpId>& operations);
// A smaller core, by what this says of one.
Core shrink(const History& history, const Core& core,
            const std::function<bool(const Core&)>& is_violated, base::Budget& budget);

Explanation explain(const History& history, const Violation& violation, const Axioms& axioms,
                    const ExplainOptions& options);

// The words for the cycle that the explanation has, and the read that it blames.
void explain_cycle(Explanation& explanation);

// "cycle: write(1) on replica 0 …": why a step holds.
std::string sentence(const History& history, const Step& step);

}  // namespace cupel::crdt
