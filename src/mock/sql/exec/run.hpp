// Plans at work; plan/query.hpp says how they are made.
#pragma once

#include "mock/sql/plan/plan.hpp"

namespace cupel::sql {

Result run(const Plan& plan, ExecutionContext& context);
// Rows of the query, each as values of its outputs; `row` returns false to end it.
void run(const Select& select, ExecutionContext& context, const Frame* outer, const RowSink& row);
// Every combination of rows for which the conditions hold, in `frame`; `found` returns false to
// end.
void enumerate(const Select& select, Frame& frame, const std::function<bool()>& found);
// Locks the rows of the tables that the query locks, and asks its conditions again, since others
// may have changed the rows before. False: a row is skipped, or is none of the query's any more.
bool lock_found(const Select& select, const Frame& frame);

// CREATE TABLE, DROP TABLE, CREATE INDEX: the catalog, which is not weakened. `undo` is called,
// last first, if the transaction does not commit.
Result change_schema(const Tree& statement, Tables& catalog,
                     std::vector<std::function<void()>>& undo);

}  // namespace cupel::sql
