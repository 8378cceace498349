/* Locks of rows: of UPDATE, DELETE, SELECT ... FOR UPDATE and the like, until the transaction ends.
 */
#ifndef CUPEL_ROW_LOCK_H
#define CUPEL_ROW_LOCK_H

#include "access/htup.h"
#include "nodes/lockoptions.h"
#include "weak_table.h"

/* The setting cupel.locks: rows are locked. Otherwise nobody waits for anybody's row. */
extern bool locks_are_honoured;

/* Waits for those who hold the row as the policy says. TM_Ok: it is locked, and `last` is the
   version that was committed last, an invalid position if the row is gone. */
extern TM_Result lock_row(Relation relation, const RowId* row, CommandId command,
                          LockTupleMode mode, LockWaitPolicy policy, ItemPointerData* last);

/* Who may be changing or deleting the row that this version belongs to, and is still open;
   InvalidTransactionId: nobody else is. */
extern TransactionId changer_of_row(Relation relation, HeapTuple version);

/* The end of a subtransaction that aborted, and of the transaction. */
extern void forget_locks_of(SubTransactionId subtransaction);
extern void forget_locks(void);

#endif
