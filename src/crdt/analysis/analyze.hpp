// analyze: everything that is found out about a history of replicated data types, in one call.
//
//   decide → explain the violation → check convergence, if requested
//
// With known deliveries the objects of a recording are independent: each is decided under what its
// replicas had received of it, and the recording is satisfied if all are. Without them, it is
// violated if one object is, or if the objects have no common happens-before
// (solve/common_order.hpp).
//
// `cupel crdt check` and `cupel crdt run` call it; the result holds facts, which io/ renders.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/budget.hpp"
#include "crdt/explain/explain.hpp"
#include "crdt/model/recording.hpp"
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

// The same of a recording.
struct RecordingAnalysis {
  Axioms axioms = {};
  Verdict decided = Verdict::kUnknown;
  std::vector<Analysis> objects = {};
  // What each operation had seen, if the deliveries were used: of the whole, and of named objects
  // by object.
  const Visibility* of_whole = nullptr;
  std::vector<Visibility> of_objects = {};
  // The verdict without the deliveries, if requested.
  std::optional<Verdict> without_context = {};
  std::string limit = {};  // of kUnknown
  // Of kViolated, if each object is satisfied alone: operations of the whole that have no common
  // happens-before.
  std::vector<OpId> together = {};
  double seconds = 0;

  // Null: the deliveries were not used.
  [[nodiscard]] const Visibility* visibility(std::size_t object) const {
    return of_objects.empty() ? of_whole : &of_objects[object];
  }
};

// `options.visibility` is that of the whole, and named objects have their deliveries
// (deliver_to_objects); or nothing. The first violated object is explained in full, of the others
// nothing is made small.
RecordingAnalysis analyze(const Recording& recording, const AnalysisOptions& options,
                          base::Budget& budget);

// Of both answers: violated also if replicas differ in the end, and unknown also if convergence
// was requested and no key has two last reads to compare.
Verdict verdict_of(const Analysis& analysis);
// That no key has two last reads is known of all objects together.
Verdict verdict_of(const RecordingAnalysis& analysis);

}  // namespace cupel::crdt
