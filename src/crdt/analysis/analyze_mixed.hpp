// analyze_mixed: everything that is found out about a history of several objects of several types.
//
// With known deliveries the objects are independent: each is decided under what its replicas had
// received of it, and the history is satisfied if all are. Without them, the history is violated if
// one object is, or if the objects have no common happens-before (solve/common_order.hpp).
#pragma once

#include <string>
#include <vector>

#include "crdt/analysis/analyze.hpp"
#include "crdt/model/mixed_history.hpp"

namespace cupel::crdt {

struct MixedAnalysis {
  Axioms axioms = {};
  Verdict decided = Verdict::kUnknown;
  std::vector<Analysis> objects = {};
  std::vector<Visibility> visibility = {};  // by object; empty: the deliveries were not used
  // The verdict without the deliveries, if requested.
  std::optional<Verdict> without_context = {};
  std::string limit = {};  // of kUnknown
  // Of kViolated, if each object is satisfied alone: operations of the whole that have no common
  // happens-before.
  std::vector<OpId> together = {};
  double seconds = 0;
};

// `options.visibility` is that of the whole, and the objects have their deliveries
// (deliver_to_objects); or nothing. The first violated object is explained in full, of the others
// nothing is made small.
MixedAnalysis analyze_mixed(const MixedHistory& history, const AnalysisOptions& options,
                            base::Budget& budget);

// As verdict_of() an analysis of one history. That no key has two last reads is known of all
// objects together.
Verdict verdict_of(const MixedAnalysis& analysis);

}  // namespace cupel::crdt
