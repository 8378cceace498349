// Steps: the operations of a small history in one order, in which a person can
// follow, or provoke, what happened.
//
// A history says what each session did, not how the sessions took turns. The order
// given here fits as much as one copy of the data allows: session order always;
// then real time, reads after the commit they read from and before the commits they
// missed, no two open writers of one key. What contradicts all before it is given up,
// for there are histories that no turns on one copy of the data explain.
#pragma once

#include <span>
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
// The same of these transactions alone, with their operations on the keys of the anomaly. Nothing
// is `missed`: others may have written.
std::vector<Step> steps_of(const history::History& history, const explain::Anomaly& anomaly,
                           std::span<const history::TxnId> only);

// Steps of one transaction that follow each other at once share a row if one of them is its begin
// or its end: "T1 began, wrote x = 1, committed".
struct StepRow {
  history::TxnId txn;
  std::string text;
  bool operation = false;
};
// How the text of a row writes what is the history's: words, and operations.
struct RowMarkup {
  std::string (*words)(std::string_view text);
  std::string (*operation)(std::string_view text);
};
std::vector<StepRow> rows_of(const history::History& history, const std::vector<Step>& steps,
                             const RowMarkup& markup);

// The numbered rows as text, in columns: number, session, what its transaction did. `small`: the
// history is the anomaly's own, made small. Empty if it is too long to follow.
std::string interleaving_text(const history::History& history, const explain::Anomaly& anomaly,
                              bool small);

// The columns of a table: sessions that have a transaction, in order of their first step.
std::vector<history::SessionId> sessions_of(const history::History& history,
                                            const std::vector<Step>& steps);

}  // namespace cupel::report
