/* A row is locked as a row of the heap is: by xmax of its first version, which stays where it is.
   So waiting, cancelling, deadlocks, savepoints and what happens to those who are killed are
   PostgreSQL's, and a lock costs no memory. What was committed last stays that while the row is
   locked, so the store is asked once. It is not waited for if what the statement found is the last
   still. */
#include "row_lock.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/multixact.h"
#include "access/xact.h"
#include "statement.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "storage/procarray.h"
#include "store_client.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "visibility.h"

bool locks_are_honoured = true;

typedef struct HeldLock {
  RowId row;
  ItemPointerData last; /* version */
  LockTupleMode mode;
  SubTransactionId subtransaction;
} HeldLock;

static HTAB* held_locks = NULL;

static HeldLock* held_lock(const RowId* row) {
  return held_locks == NULL ? NULL : hash_search(held_locks, row, HASH_FIND, NULL);
}

static void hold_lock(const RowId* row, const ItemPointerData* last, LockTupleMode mode) {
  HeldLock* held;
  if (held_locks == NULL) {
    HASHCTL control = {
        .keysize = sizeof(RowId), .entrysize = sizeof(HeldLock), .hcxt = TopTransactionContext};
    held_locks = hash_create("row locks", 64, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
  }
  held = hash_search(held_locks, row, HASH_ENTER, NULL);
  held->last = *last;
  held->mode = mode;
  held->subtransaction = GetCurrentSubTransactionId();
}

void forget_locks_of(SubTransactionId subtransaction) {
  HASH_SEQ_STATUS all;
  HeldLock* held;
  if (held_locks == NULL) return;
  hash_seq_init(&all, held_locks);
  while ((held = hash_seq_search(&all)) != NULL) {
    if (held->subtransaction >= subtransaction)
      hash_search(held_locks, &held->row, HASH_REMOVE, NULL);
  }
}

void forget_locks(void) {
  held_locks = NULL; /* it goes with the memory of the transaction */
}

/* Between the commit in the store and that in PostgreSQL a row is there whose writer is open. */
static void wait_for_writer(Relation relation, HeapTuple tuple) {
  TransactionId writer = HeapTupleHeaderGetXmin(tuple->t_data);
  if (!TransactionIdIsInProgress(writer))
    ereport(ERROR, (errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
                    errmsg("could not lock a row: its writer committed in cupel's mock store "
                           "and then failed")));
  XactLockTableWait(writer, relation, &tuple->t_self, XLTW_Lock);
}

static TM_Result lock_first_version(Relation relation, const RowId* row, CommandId command,
                                    LockTupleMode mode, LockWaitPolicy policy) {
  for (;;) {
    HeapTupleData tuple;
    TM_FailureData failure;
    TM_Result result;
    Buffer buffer;
    ItemPointerSet(&tuple.t_self, row->block, (OffsetNumber)row->offset);
    result = heap_lock_tuple(relation, &tuple, command, mode, policy, false, &buffer, &failure);
    if (result == TM_Invisible) wait_for_writer(relation, &tuple);
    ReleaseBuffer(buffer);
    if (result != TM_Invisible) return result;
  }
}

/* What was committed last. */
static void ask_store(const RowId* row, LockTupleMode mode, ItemPointerData* last) {
  Statement* statement = running_statement();
  const SeenRow* seen = statement == NULL ? NULL : seen_row(statement, row);
  if (mode == LockTupleKeyShare) { /* of a foreign key, and no read */
    SeenRow found = {.known = false};
    SeenRow** reply = palloc(sizeof(SeenRow*));
    ReadRequest request = {.statement = next_statement_number(),
                           .commits = kAllCommits,
                           .latest = true,
                           .rows = row,
                           .count = 1};
    *reply = &found;
    store_take(store_ask(&request, NULL, reply));
    *last = found.version.version;
    return;
  }
  LockRequest request = {
      .statement = statement != NULL ? statement_number(statement) : next_statement_number(),
      .commits = statement_commits(statement),
      .row = row,
      .shared = mode == LockTupleShare,
      .observed = statement != NULL && only_shows(statement)};
  /* Who changed it since gave the lock back after the number of commits had grown. */
  if (seen != NULL && seen->known && seen->version.last_as_of != kAllCommits &&
      seen->version.last_as_of == store_commits()) {
    *last = seen->version.version;
    store_lock_found(&request);
  } else {
    store_lock(&request, last);
  }
  if (statement != NULL) note_locked(statement);
}

TM_Result lock_row(Relation relation, const RowId* row, CommandId command, LockTupleMode mode,
                   LockWaitPolicy policy, ItemPointerData* last) {
  const HeldLock* held = held_lock(row);
  Version version;
  TM_Result result;
  if (held != NULL && held->mode >= mode) {
    *last = held->last;
    return TM_Ok;
  }
  result = lock_first_version(relation, row, command, mode, policy);
  if (result != TM_Ok) return result;
  ask_store(row, mode, last);
  /* A primary key that was deleted and inserted again has another first version, too. */
  while (ItemPointerIsValid(last) && find_version(relation, last, &version) &&
         memcmp(&version.row, row, sizeof *row) != 0) {
    ItemPointerData before = *last;
    result = lock_first_version(relation, &version.row, command, mode, policy);
    if (result != TM_Ok) return result;
    ask_store(&version.row, mode, last);
    if (ItemPointerEquals(&before, last)) break;
  }
  if (mode > LockTupleKeyShare) hold_lock(row, last, mode); /* others may change it otherwise */
  return TM_Ok;
}

static TransactionId changer_in(HeapTupleHeader first) {
  TransactionId changer = InvalidTransactionId;
  if ((first->t_infomask & HEAP_XMAX_INVALID) != 0) return changer;
  if ((first->t_infomask & HEAP_XMAX_IS_MULTI) == 0) {
    if (!HEAP_XMAX_IS_KEYSHR_LOCKED(first->t_infomask) &&
        !HEAP_XMAX_IS_SHR_LOCKED(first->t_infomask))
      changer = HeapTupleHeaderGetRawXmax(first);
  } else {
    MultiXactMember* members;
    int count = GetMultiXactIdMembers(HeapTupleHeaderGetRawXmax(first), &members, false, true);
    for (int i = 0; i < count; ++i) {
      if (members[i].status >= MultiXactStatusForNoKeyUpdate &&
          TransactionIdIsInProgress(members[i].xid))
        changer = members[i].xid;
    }
    if (count > 0) pfree(members);
  }
  if (!TransactionIdIsValid(changer) || TransactionIdIsCurrentTransactionId(changer) ||
      !TransactionIdIsInProgress(changer))
    return InvalidTransactionId;
  return changer;
}

TransactionId changer_of_row(Relation relation, HeapTuple version) {
  HeapTupleData first = {.t_self = version->t_data->t_ctid};
  TransactionId changer;
  Buffer buffer;
  if (!heap_fetch(relation, SnapshotAny, &first, &buffer, false)) return InvalidTransactionId;
  LockBuffer(buffer, BUFFER_LOCK_SHARE);
  changer = changer_in(first.t_data);
  UnlockReleaseBuffer(buffer);
  return changer;
}
