// Counterexample: one violation, made as small as it can be.
//
// A history of its own, with only the transactions and operations without which
// the violation is gone, and the anomaly in it. Whatever is shown to people (text,
// tables, scripts, pictures) is made from this; it names transactions by their
// labels and sessions by their names, which are those of the whole history.
#pragma once

#include <vector>

#include "data/history/history.hpp"
#include "engine/explain/why/explain.hpp"
#include "engine/levels/derivation.hpp"
#include "engine/levels/level.hpp"

namespace cupel::explain {

struct Counterexample {
  history::History history;
  // Where they were in the whole history: by transaction, and by operation, of `history`.
  std::vector<TxnId> original_txn;
  std::vector<OpId> original_op;
  levels::Level level;          // which `history` violates; the weakest looked at
  levels::Violation violation;  // of `history`, at `level`
  Anomaly anomaly;              // explain() of that; transactions, keys and operations of `history`
  // No transaction and no operation can be left out; false: a limit was met before that was sure.
  bool minimal = false;
  // Other levels whose own violation was made small to this very part of the history.
  std::vector<levels::Level> also_at = {};
};

// The anomaly once more, with what of its transactions is left out and with fields
// of the whole history's source. `fields` is borrowed for the call.
void explain_again(Counterexample& small, const History& whole, const FieldsByLabel* fields);

}  // namespace cupel::explain
