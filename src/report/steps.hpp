// Steps: the operations of a small history in one order, in which a person can
// follow, or provoke, what happened.
//
// A history says what each session did, not how the sessions took turns. The order
// given here fits as much as one copy of the data allows: session order always;
// then real time, reads after the commit they read from and before the commits they
// missed, no two open writers of one key. What contradicts all before it is given up,
// for there are histories that no turns on one copy of the data explain.
#pragma once

#include <string>
#include <vector>

#include "data/history/history.hpp"
#include "engine/explain/why/explain.hpp"

namespace cupel::report {

struct Step {
  enum class What : std::uint8_t { kBegin, kOperation, kEnd };
  What what;
  history::TxnId txn;
  history::OpId op;  // kOperation
  // A read that did not see what was committed last, nor its own write: the value that
  // was ("x = 1"). Empty otherwise, and where one cannot say.
  std::string missed;
  bool missed_initial = false;  // that is the initial value, which nobody had overwritten
};

// Every transaction's begin, operations and end. For histories of some dozen
// transactions: the cost grows with the square of the operations. Deterministic.
std::vector<Step> steps_of(const history::History& history, const explain::Anomaly& anomaly);

// The columns of a table: sessions that have a transaction, in order of their first step.
std::vector<history::SessionId> sessions_of(const history::History& history,
                                            const std::vector<Step>& steps);

}  // namespace cupel::report
