// analyze: everything that is found out about one history of a replicated data type, in one call.
//
//   decide → explain the violation → check convergence, if requested
//
// `cupel crdt check` and `cupel crdt run` call it; the result holds facts, which io/ renders.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/budget.hpp"
#include "crdt/explain/explain.hpp"
#include "crdt/model/history.hpp"
#include "crdt/model/visibility.hpp"
#include "crdt/solve/convergence.hpp"
#include "crdt/solve/decide.hpp"

namespace cupel::crdt {

struct AnalysisOptions {
  Axioms axioms = {};
  // What each operation had seen, if the deliveries of the history are trusted.
  const Visibility* visibility = nullptr;
  bool also_without = false;  // then also decide without them
  // Then only: reads that had seen the same updates returned the same (solve/equal_reads.hpp).
  bool converged_only = false;
  bool converge = false;      // also compare the last reads of the replicas
  double shrink_seconds = 5;  // for making a violation small; 0: not at all
  // Resident size at which the shrinking goes no further; 0: none. That of the decision is the
  // budget's.
  std::uint64_t memory_bytes = 0;
  // With known deliveries; 0: as many as the machine has. The number changes no answer.
  unsigned threads = 1;
};

struct Analysis {
  Axioms axioms = {};
  Decision decision = {};
  bool by_context = false;  // the deliveries were trusted
  // The verdict without them, if requested.
  std::optional<Verdict> without_context = {};
  std::string limit = {};                       // of kUnknown: "time", "memory" or "size"
  double seconds = 0;                           // of the decision
  std::optional<Explanation> explanation = {};  // of kViolated
  std::optional<Convergence> convergence = {};  // if requested
};

// The budget may have begun with the reading of the history. A limit that is met is no error: the
// verdict is unknown.
Analysis analyze(const History& history, const AnalysisOptions& options, base::Budget& budget);

// Of both answers: violated also if replicas differ in the end, and unknown also if convergence
// was requested and no key has two last reads to compare.
Verdict verdict_of(const Analysis& analysis);

}  // namespace cupel::crdt
