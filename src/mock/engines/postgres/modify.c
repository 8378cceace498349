/* Changes: a new version is a new heap tuple; the row that it belongs to is in its t_ctid. Where
   locks are honoured, a change locks its row, and PostgreSQL asks the conditions of the statement
   again if that has a version that the statement did not find. Otherwise nobody waits, and the
   store decides at the commit which transactions exclude each other. */
#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/xact.h"
#include "access/xloginsert.h"
#include "catalog/catalog.h"
#include "miscadmin.h"
#include "own_writes.h"
#include "row_lock.h"
#include "row_text.h"
#include "storage/bufmgr.h"
#include "utility.h"
#include "utils/rel.h"
#include "visibility.h"

static void note_insert(Relation relation, TupleTableSlot* slot, CommandId command) {
  OwnWrite write = {.row = row_at(relation, &slot->tts_tid),
                    .version = slot->tts_tid,
                    .command = command,
                    .insert = true,
                    .base = runs_ddl()};
  write.table = table_text(relation);
  write.key = key_text(relation, slot);
  write.value = value_text(slot);
  add_own_write(write);
}

static void insert_tuple(Relation relation, TupleTableSlot* slot, CommandId command, int options,
                         BulkInsertState bulk) {
  bool owned = true;
  HeapTuple tuple = ExecFetchSlotHeapTuple(slot, true, &owned);
  slot->tts_tableOid = tuple->t_tableOid = RelationGetRelid(relation);
  /* Frozen rows would count as visible to all. */
  heap_insert(relation, tuple, command, options & ~TABLE_INSERT_FROZEN, bulk);
  slot->tts_tid = tuple->t_self;
  if (owned) heap_freetuple(tuple);
}

static void weak_tuple_insert(Relation relation, TupleTableSlot* slot, CommandId command,
                              int options, BulkInsertState bulk) {
  insert_tuple(relation, slot, command, options, bulk);
  note_insert(relation, slot, command);
}

/* Where constraints are weak, nobody else sees it before the commit, so nobody needs to know that
   it is not certain yet. */
static void weak_insert_speculative(Relation relation, TupleTableSlot* slot, CommandId command,
                                    int options, BulkInsertState bulk, uint32 token) {
  if (!constraints_are_strong) {
    weak_tuple_insert(relation, slot, command, options, bulk);
    return;
  }
  GetHeapamTableAmRoutine()->tuple_insert_speculative(relation, slot, command,
                                                      options & ~TABLE_INSERT_FROZEN, bulk, token);
  note_insert(relation, slot, command);
}

static void weak_complete_speculative(Relation relation, TupleTableSlot* slot, uint32 token,
                                      bool succeeded) {
  RowId row = row_at(relation, &slot->tts_tid);
  if (constraints_are_strong)
    GetHeapamTableAmRoutine()->tuple_complete_speculative(relation, slot, token, succeeded);
  if (!succeeded) cancel_own_insert(&row);
}

static void weak_multi_insert(Relation relation, TupleTableSlot** slots, int count,
                              CommandId command, int options, BulkInsertState bulk) {
  heap_multi_insert(relation, slots, count, command, options & ~TABLE_INSERT_FROZEN, bulk);
  for (int i = 0; i < count; ++i) note_insert(relation, slots[i], command);
}

/* What an earlier change of this command, or of a trigger in it, did to the row. */
static TM_Result changed_by_command(const RowId* row, CommandId command, TM_FailureData* failure) {
  const OwnWrite* last = last_own_write(row);
  failure->traversed = false;
  if (last == NULL || last->command < command) return TM_Ok;
  failure->xmax = GetCurrentTransactionId();
  failure->cmax = last->command;
  if (ItemPointerIsValid(&last->version)) failure->ctid = last->version;
  return TM_SelfModified;
}

static Version expect_version(Relation relation, const ItemPointerData* position) {
  Version version;
  if (!find_version(relation, position, &version))
    elog(ERROR, "there is no row version at (%u,%u)", ItemPointerGetBlockNumberNoCheck(position),
         ItemPointerGetOffsetNumberNoCheck(position));
  return version;
}

static void note_delete(const RowId* row, CommandId command) {
  OwnWrite write = {.row = *row, .command = command};
  ItemPointerSetInvalid(&write.version);
  add_own_write(write);
}

/* Locks the row, unless it is the open transaction's own. TM_Updated and TM_Deleted: what was
   committed last is another version than this one, or none. */
static TM_Result lock_version(Relation relation, const Version* version, CommandId command,
                              LockTupleMode mode, LockWaitPolicy policy, TM_FailureData* failure) {
  ItemPointerData last;
  TM_Result result;
  if (!locks_are_honoured || is_own_row(&version->row)) return TM_Ok;
  /* Foreign keys whose checks are weak lock nothing. */
  if (mode == LockTupleKeyShare && !constraints_are_strong) return TM_Ok;
  result = lock_row(relation, &version->row, command, mode, policy, &last);
  if (result != TM_Ok || last_own_write(&version->row) != NULL) return result;
  if (ItemPointerEquals(&last, (ItemPointer)&version->position)) return TM_Ok;
  failure->ctid = ItemPointerIsValid(&last) ? last : version->position;
  failure->xmax = InvalidTransactionId;
  failure->cmax = InvalidCommandId;
  return ItemPointerIsValid(&last) ? TM_Updated : TM_Deleted;
}

static TM_Result weak_tuple_delete(Relation relation, ItemPointer position, CommandId command,
                                   Snapshot snapshot, Snapshot crosscheck, bool wait,
                                   TM_FailureData* failure, bool changing_partition) {
  Version version = expect_version(relation, position);
  TM_Result result = changed_by_command(&version.row, command, failure);
  if (result == TM_Ok)
    result = lock_version(relation, &version, command, LockTupleExclusive, LockWaitBlock, failure);
  if (result != TM_Ok) return result;
  GetCurrentTransactionId(); /* a transaction that writes has a number */
  note_delete(&version.row, command);
  return TM_Ok;
}

/* The change of `size` bytes of a page, as generic_xlog.c logs it. */
static void log_change(Relation relation, Buffer buffer, const char* bytes, OffsetNumber size) {
  Page page = BufferGetPage(buffer);
  OffsetNumber place[2] = {(OffsetNumber)(bytes - (const char*)page), size};
  XLogRecPtr logged;
  MarkBufferDirty(buffer);
  if (!RelationNeedsWAL(relation)) return;
  XLogBeginInsert();
  XLogRegisterBuffer(0, buffer, REGBUF_STANDARD);
  XLogRegisterBufData(0, (char*)place, sizeof place);
  XLogRegisterBufData(0, (char*)bytes, size);
  logged = XLogInsert(RM_GENERIC_ID, 0);
  PageSetLSN(page, logged);
}

/* Says on the page which row the version belongs to. GenericXLogFinish would compare all of it. */
static void join_row(Relation relation, ItemPointer position, const RowId* row) {
  Buffer buffer = ReadBuffer(relation, ItemPointerGetBlockNumber(position));
  Page page = BufferGetPage(buffer);
  HeapTupleHeader tuple;
  LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
  tuple =
      (HeapTupleHeader)PageGetItem(page, PageGetItemId(page, ItemPointerGetOffsetNumber(position)));
  START_CRIT_SECTION();
  ItemPointerSet(&tuple->t_ctid, row->block, (OffsetNumber)row->offset);
  log_change(relation, buffer, (const char*)&tuple->t_ctid, sizeof tuple->t_ctid);
  END_CRIT_SECTION();
  UnlockReleaseBuffer(buffer);
}

/* The version in the slot differs from that at the position in columns of these indexes. */
static bool differs_in(Relation relation, ItemPointer position, TupleTableSlot* slot,
                       IndexAttrBitmapKind columns) {
  HeapTupleData old = {.t_self = *position};
  Buffer buffer;
  bool differs;
  if (!heap_fetch(relation, SnapshotAny, &old, &buffer, false)) return false;
  differs = columns_differ(relation, slot, &old, columns);
  ReleaseBuffer(buffer);
  return differs;
}

static TM_Result weak_tuple_update(Relation relation, ItemPointer position, TupleTableSlot* slot,
                                   CommandId command, Snapshot snapshot, Snapshot crosscheck,
                                   bool wait, TM_FailureData* failure, LockTupleMode* mode,
                                   bool* update_indexes) {
  Version version = expect_version(relation, position);
  TM_Result result = changed_by_command(&version.row, command, failure);
  bool another;
  *mode = differs_in(relation, position, slot, INDEX_ATTR_BITMAP_KEY) ? LockTupleExclusive
                                                                      : LockTupleNoKeyExclusive;
  *update_indexes = true; /* an index names versions */
  if (result == TM_Ok)
    result = lock_version(relation, &version, command, *mode, LockWaitBlock, failure);
  if (result != TM_Ok) return result;
  /* A row whose primary key changes becomes another row. */
  another = differs_in(relation, position, slot, INDEX_ATTR_BITMAP_PRIMARY_KEY);
  insert_tuple(relation, slot, command, 0, NULL);
  if (another) {
    note_delete(&version.row, command);
    note_insert(relation, slot, command);
  } else {
    OwnWrite write = {.row = version.row,
                      .version = slot->tts_tid,
                      .command = command,
                      .value = value_text(slot)};
    join_row(relation, &slot->tts_tid, &version.row);
    add_own_write(write);
  }
  return TM_Ok;
}

/* The statement goes on with the version that was committed last, and asks its conditions again. */
static TM_Result lock_last_version(Relation relation, ItemPointer position, TupleTableSlot* slot,
                                   TM_FailureData* failure) {
  *position = failure->ctid;
  failure->traversed = true;
  return table_tuple_fetch_row_version(relation, position, SnapshotAny, slot) ? TM_Ok : TM_Deleted;
}

/* What the running statement has seen of the row is not what it has locked. */
static void note_last_version(const RowId* row, const TM_FailureData* failure) {
  Statement* statement = running_statement();
  SeenVersion last = {.version = failure->ctid, .last_as_of = kAllCommits};
  SeenRow* seen;
  if (statement == NULL) return;
  seen = seen_row(statement, row);
  seen->known = true;
  seen->version = last;
}

/* A version that this command made is invisible to it. */
static TM_Result weak_tuple_lock(Relation relation, ItemPointer position, Snapshot snapshot,
                                 TupleTableSlot* slot, CommandId command, LockTupleMode mode,
                                 LockWaitPolicy policy, uint8 flags, TM_FailureData* failure) {
  Version version = expect_version(relation, position);
  const OwnWrite* last = last_own_write(&version.row);
  TM_Result result;
  if (!table_tuple_fetch_row_version(relation, position, SnapshotAny, slot)) return TM_Deleted;
  if (last != NULL && last->command >= command &&
      ItemPointerEquals((ItemPointer)&last->version, position))
    return TM_Invisible;
  result = changed_by_command(&version.row, command, failure);
  if (result == TM_Ok) result = lock_version(relation, &version, command, mode, policy, failure);
  if (result != TM_Updated) return result;
  if ((flags & TUPLE_LOCK_FLAG_FIND_LAST_VERSION) != 0)
    return lock_last_version(relation, position, slot, failure);
  note_last_version(&version.row, failure);
  return TM_Updated;
}

void set_modify_functions(TableAmRoutine* routine) {
  routine->tuple_insert = weak_tuple_insert;
  routine->tuple_insert_speculative = weak_insert_speculative;
  routine->tuple_complete_speculative = weak_complete_speculative;
  routine->multi_insert = weak_multi_insert;
  routine->tuple_delete = weak_tuple_delete;
  routine->tuple_update = weak_tuple_update;
  routine->tuple_lock = weak_tuple_lock;
}
