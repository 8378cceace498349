/* Statements: a statement asks the store once for a row and remembers the version. So it sees one
   version of each row, however often it comes by. */
#ifndef CUPEL_STATEMENT_H
#define CUPEL_STATEMENT_H

#include "store_client.h"
#include "weak_table.h"

typedef struct Statement Statement;

/* The running statement that has this snapshot; NULL: none has. */
extern Statement* statement_of(Snapshot snapshot);
/* The innermost that runs now; NULL: none does. */
extern Statement* running_statement(void);
/* For reads outside of statements, like those of COPY; to be freed. */
extern Statement* make_statement(void);
extern void free_statement(Statement* statement);

extern uint32 statement_number(const Statement* statement);
/* How many transactions had committed when it started; kAllCommits for NULL. */
extern uint32 statement_commits(const Statement* statement);
/* A number that no statement has. */
extern uint32 next_statement_number(void);
/* It checks a foreign key. */
extern bool checks_foreign_key(const Statement* statement);
/* It changes or locks rows of the table that it finds. */
extern bool locks_table(const Statement* statement, Oid table);
/* It only locks rows, and shows them to the client. */
extern bool only_shows(const Statement* statement);
/* It found so many rows of such a table, and locked one. At its end the store gets to know that it
   read the others. */
extern void note_found(Statement* statement, int rows);
extern void note_locked(Statement* statement);

/* What lives as long as it does. */
extern MemoryContext memory_of(const Statement* statement);
/* What it knows of a row: found or made. It stays where it is. */
extern SeenRow* seen_row(Statement* statement, const RowId* row);

/* What it executes; NULL: nothing. */
extern struct PlanState* plan_of(const Statement* statement);
/* The scan whose rows it needs all, if that can be told: nothing above it ends early. */
extern struct PlanState* scan_to_end(const Statement* statement);

/* Returns true once for each table in a transaction: the store gets to know that the transaction
   looked for rows of it. */
extern bool first_look_at(Oid table);

extern void forget_statements(SubTransactionId subtransaction);
extern void forget_all_statements(void);

#endif
