// Interpretation: a violation as a small graph of dependencies between transactions.
//
// After PolySI's interpretation (Huang et al., PVLDB 16(6), 2023, section 5.3 and
// appendix C). A checker's cycle alone says little: its ww and rw edges follow from
// transactions that are not in it. So those are brought back: for an rw edge
// the write that was read and its place before the later write, for a ww edge
// why it cannot be the other way round. What could be either way and is part of no
// contradiction is dropped.
//
//   T1 -wr-> T2, T1 -wr-> T3, T1 -ww-> T3, T2 -rw-> T3 (because of the wr and the ww) ...
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/budget.hpp"
#include "data/history/history.hpp"
#include "engine/levels/derivation.hpp"
#include "engine/levels/level.hpp"

namespace cupel::explain {

struct Dependency {
  history::TxnId from, to;  // never none(): what follows from an initial value is said of the read
  levels::EdgeKind kind;    // never kOwn
  levels::Reason reason;
  history::KeyId key;            // none() for so and rt
  history::OpId from_op, to_op;  // wr: write, read; ww: the writes; rw: read, write; else none()
  bool certain = false;          // given by the history: so, rt, wr of the only writer, list
                                 // order, the overwriting of an initial value
  bool in_cycle = false;         // of the one cycle or, in a proof by cases, of a case's
  std::vector<std::uint32_t> evidence;  // indexes of the dependencies that it follows from; empty
                                        // for certain ones and for what a case assumes
  std::string
      sentence;  // why: "T2 did not see T3's write of 2 to x: it read T1's 0, which is older"
  // kVisible: the transaction whose read says that `from` is older, and the read. If `from` was
  // newer, `reader` -rw-> `from` would close the cycle that the name of the anomaly counts.
  history::TxnId reader;
  history::OpId witness;
  std::string otherwise;  // that rw, in words
};

struct Interpretation {
  std::vector<history::TxnId> transactions;  // those of the cycle in its order, then the others
  std::vector<Dependency> dependencies;      // the cycle in its order, then what it follows from
};

// Of a violation: its cycle, the same that explain() shows, and what that rests on. Empty
// for internal anomalies.
Interpretation interpret(const history::History& history, const levels::Violation& violation);

// The shortest explanation found of a violation.
struct ShortExplanation {
  levels::Derivation derivation;
  // No dependency of its interpretation can be left out: without it some order would pass.
  // False where it is too large to make sure.
  bool minimal = false;
};

// The same violation by another derivation, which speaks of no more than it has to. It is
// for explanations, not for certificates: `excluded` and the refutation of cases are not there.
// Nothing where there are too many transactions, or the budget is exceeded. Meant for the
// history of a Counterexample: it looks at every operation.
std::optional<ShortExplanation> shorten(const history::History& history, levels::Level level,
                                        const levels::Violation& violation, base::Budget& budget);

}  // namespace cupel::explain
