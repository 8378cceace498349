/* Transactions: the writes go to the store when PostgreSQL is about to commit. Nothing should fail
   after the store has committed, so PostgreSQL's own check of serializable transactions comes
   before. If something does (the queue of notifications is full), the client gets to know. */
#include "access/xact.h"
#include "own_writes.h"
#include "row_lock.h"
#include "statement.h"
#include "storage/predicate.h"
#include "store_client.h"
#include "utility.h"
#include "weak_table.h"

static bool store_committed = false; /* and PostgreSQL has not yet */

static void refuse_prepare(void) {
  if (!store_has_transaction() && count_final_writes() == 0) return;
  ereport(ERROR,
          (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
           errmsg("a transaction that used weak tables cannot be prepared"),
           errdetail("cupel's mock store has no two-phase commit."), errhint("Use COMMIT.")));
}

static void forget_transaction(void) {
  store_committed = false;
  store_forget();
  forget_own_writes();
  forget_locks();
  forget_all_statements();
}

static void end_transaction(XactEvent event, void* unused) {
  switch (event) {
    case XACT_EVENT_PRE_COMMIT:
      PreCommit_CheckForSerializationFailure();
      store_commit();
      store_committed = true;
      break;
    case XACT_EVENT_PRE_PREPARE:
      refuse_prepare();
      break;
    case XACT_EVENT_ABORT:
      if (store_committed)
        ereport(WARNING, (errmsg("cupel's mock store committed the transaction before it failed"),
                          errdetail("Other sessions see its rows.")));
      store_abort();
      forget_ddl();
      forget_transaction();
      break;
    case XACT_EVENT_COMMIT:
    case XACT_EVENT_PREPARE:
      forget_transaction();
      break;
    default:
      break;
  }
}

static void end_subtransaction(SubXactEvent event, SubTransactionId ended, SubTransactionId parent,
                               void* unused) {
  if (event != SUBXACT_EVENT_ABORT_SUB) return;
  take_back_own_writes(ended);
  forget_locks_of(ended);
  forget_statements(ended);
}

void install_transaction_callbacks(void) {
  RegisterXactCallback(end_transaction, NULL);
  RegisterSubXactCallback(end_subtransaction, NULL);
}
