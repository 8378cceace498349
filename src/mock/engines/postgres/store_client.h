/* The connection of a backend to the mock store. docs/reference/mock-engines.md describes the
   messages.

   A request that fails at the store is an error here: the transaction is over, and every later
   request of it gives the same error. The error of a request that has no result to wait for comes
   with the next that has one, or in store_settle(). */
#ifndef CUPEL_STORE_CLIENT_H
#define CUPEL_STORE_CLIENT_H

#include "weak_table.h"

/* The settings cupel.socket, cupel.level and cupel.policy; the last two are empty for the store's
 * own. */
extern char* store_socket_path;
extern char* transaction_level;
extern char* read_policy;

/* How many transactions have committed. Asks nobody. */
#define kAllCommits PG_UINT32_MAX
extern uint32 store_commits(void);
extern void map_store_commits(void);

/* The client runs a statement that may ask the store for nothing before the commit. For
   explanations. */
extern void store_note_statement(void);

/* Whether the open transaction has reached the store. */
extern bool store_has_transaction(void);

/* Which versions of the rows the transaction sees; an invalid one where it sees none. Latest: those
   that were committed last, which is no read of the transaction. */
typedef struct ReadRequest {
  uint32 statement, commits; /* which it may see */
  bool latest;
  bool find; /* to be locked: what is not locked when the statement ends was read */
  const RowId* rows;
  int count;
} ReadRequest;
typedef struct SeenVersion {
  ItemPointerData version;
  uint32 last_as_of; /* it was the last when so many had committed, or later; or kAllCommits */
} SeenVersion;
/* What is known of a row. */
typedef struct SeenRow {
  bool known;
  bool asked; /* and it gets known with the reply */
  SeenVersion version;
} SeenRow;
/* Asks; `seen`, one for each row, get known when the reply is taken, and the array is freed. The
   rows are those of the reader, or of nobody. Gives a number for store_take(). */
struct Statement;
extern uint64 store_ask(const ReadRequest* request, const struct Statement* reader, SeenRow** seen);
/* The store gets what was asked, and works meanwhile. */
extern void store_send(void);
/* Waits for the replies up to this one. */
extern void store_take(uint64 asked);
/* The number of what was asked last. */
extern uint64 store_last_asked(void);
/* The reader is gone. */
extern void store_forget_reads(const struct Statement* reader);

/* The transaction sees that the table has no other rows than those that it asks for from now on: to
   be called before it looks which there are. Not waited for. */
extern void store_look(Oid table, uint32 statement, uint32 commits);

/* The row is locked: gives the version that was committed last. That is a read of the transaction.
 */
typedef struct LockRequest {
  uint32 statement, commits;
  const RowId* row;
  bool shared, observed; /* others may lock it too; the client is shown what it finds */
} LockRequest;
extern void store_lock(const LockRequest* request, ItemPointerData* last);
/* The same where the version is the one that the statement found. Not waited for. */
extern void store_lock_found(const LockRequest* request);
/* A statement has run: an error if a request failed that was not waited for. */
extern void store_settle(void);
/* The statement found rows that it did not lock. */
extern void store_end_statement(uint32 statement);

/* Writes the own writes and commits; an error if the store does not allow it. */
extern void store_commit(void);
/* Never an error. */
extern void store_abort(void);
/* The transaction is over. */
extern void store_forget(void);
/* A database was made as a copy of another. */
extern void store_copy_database(Oid from, Oid to);

#endif
