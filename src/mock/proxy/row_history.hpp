// Row histories: what a run of statements on a true database comes to as a history of reads and
// writes, so that its anomalies have names.
//
// Writes are what the database's recorder said (test_database.hpp): each row before and after. From
// these and the tables' rows before the run follows which version of each row a statement could
// see: the last committed one, or that of the transaction's snapshot, or its own.
//
// A SELECT has read a column of a row if its answer would have been another one, had the column
// held another of its values of this run; and it has read whether a row is there in the same way.
// So a row that a condition rejects either way is not read, and a count reads the rows that it
// counts. The server answers that: it runs the SELECT on temporary tables with such versions. A
// SELECT whose answer on the versions that it should have seen differs from the answer that the
// client got is left out, and so is one that does more than read tables. UPDATE and DELETE are
// asked in the same way: their answer is what they write (PostgreSQL only). A history with fewer
// reads has fewer anomalies, never others. At the end the tables are compared with the versions; if
// they differ, nothing is recorded.
//
// Keys are "doctors(alice)" for whether the row is there, and "doctors(alice).on_call". A value
// that is written again gets a number: false#2.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "data/history/history.hpp"
#include "mock/proxy/request.hpp"
#include "mock/proxy/test_database.hpp"

namespace cupel::proxy {

struct RowHistory {
  history::History history;
  // By the label of a transaction: which of `executed` are of it.
  std::vector<std::vector<std::size_t>> executed = {};
  std::vector<std::string> not_recorded = {};  // "SELECT …: why"
  std::string nothing_recorded = {};           // why the history is empty; empty: it is not
};

// `before`: the rows before the run; none: nothing is recorded but the transactions. `connection`:
// to the database after the run; this makes temporary tables there. Errors: the history cannot be
// built.
base::Result<RowHistory> record_rows(const std::vector<Executed>& executed, const Rows& before,
                                     TestConnection& connection);

}  // namespace cupel::proxy
