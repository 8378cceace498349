/* Own writes are visible from the next command on; of all other rows the store says which version
   is. A statement that is NULL remembers in `alone`, which each read_rows() replaces. */
#include "visibility.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/transam.h"
#include "access/xact.h"
#include "own_writes.h"
#include "row_lock.h"
#include "storage/bufmgr.h"
#include "store_client.h"
#include "utility.h"
#include "utils/rel.h"

bool constraints_are_strong = false;

static RowId alone;
static SeenRow seen_alone;

/* Statements that lock rows of the table. A foreign key is checked in another way. */
static bool finds_to_lock(Relation relation, const Statement* statement) {
  return locks_are_honoured && statement != NULL && !checks_foreign_key(statement) &&
         locks_table(statement, RelationGetRelid(relation));
}

Reader reader_of(Relation relation, Snapshot snapshot) {
  Reader reader = {SIGHT_WEAK, InvalidCommandId, NULL};
  if (snapshot == NULL) {
    reader.sight = SIGHT_LATEST;
    return reader;
  }
  switch (snapshot->snapshot_type) {
    case SNAPSHOT_ANY:
    case SNAPSHOT_NON_VACUUMABLE:
      reader.sight = SIGHT_ALL;
      return reader;
    case SNAPSHOT_DIRTY: /* of unique and exclusion constraints */
      if (constraints_are_strong) reader.sight = SIGHT_LATEST;
      reader.statement = running_statement();
      break;
    case SNAPSHOT_MVCC:
      reader.command = snapshot->curcid;
      reader.statement = statement_of(snapshot);
      if (finds_to_lock(relation, reader.statement)) reader.sight = SIGHT_FOUND;
      break;
    default:
      reader.statement = running_statement();
  }
  if (reader.statement != NULL && checks_foreign_key(reader.statement) && constraints_are_strong)
    reader.sight = SIGHT_LATEST;
  if (runs_ddl()) reader.sight = SIGHT_LATEST;
  /* What the level allows and what is latest must not be remembered as one. */
  if (reader.sight == SIGHT_LATEST && !runs_ddl() && snapshot->snapshot_type != SNAPSHOT_MVCC)
    reader.statement = NULL;
  return reader;
}

static const OwnWrite* visible_own_write(const Reader* reader, const RowId* row) {
  return reader->command == InvalidCommandId ? last_own_write(row)
                                             : own_write_before(row, reader->command);
}

static SeenRow* seen_by(const Reader* reader, const RowId* row) {
  if (reader->statement != NULL) return seen_row(reader->statement, row);
  if (memcmp(&alone, row, sizeof *row) != 0) {
    alone = *row;
    seen_alone.known = seen_alone.asked = false;
  }
  return &seen_alone;
}

static bool is_of_store(const Reader* reader, const RowId* row) {
  return !has_own_writes() || (!is_own_row(row) && visible_own_write(reader, row) == NULL);
}

bool is_unknown(const Reader* reader, const RowId* row) {
  return reader->sight != SIGHT_ALL && is_of_store(reader, row) && !seen_by(reader, row)->known;
}

uint64 ask_rows(const Reader* reader, const Version* versions, int count, SeenRow** seen) {
  MemoryContext memory =
      reader->statement != NULL ? memory_of(reader->statement) : CurrentMemoryContext;
  ReadRequest request = {.commits = statement_commits(reader->statement),
                         .latest = reader->sight == SIGHT_LATEST,
                         .find = reader->sight == SIGHT_FOUND};
  RowId* rows = palloc(count * sizeof(RowId));
  SeenRow** unknown = MemoryContextAlloc(memory, count * sizeof(SeenRow*));
  Assert(reader->statement != NULL || count <= 1);
  if (reader->statement == NULL) seen_alone.known = seen_alone.asked = false;
  for (int i = 0; i < count; ++i) {
    const RowId* row = &versions[i].row;
    seen[i] = is_of_store(reader, row) ? seen_by(reader, row) : NULL;
    if (seen[i] == NULL || seen[i]->known || seen[i]->asked) continue;
    seen[i]->asked = true;
    rows[request.count] = *row;
    unknown[request.count++] = seen[i];
  }
  if (request.count > 0) {
    request.statement =
        reader->statement != NULL ? statement_number(reader->statement) : next_statement_number();
    request.rows = rows;
    store_ask(&request, reader->statement, unknown);
    if (request.find) note_found(reader->statement, request.count);
  } else {
    pfree(unknown);
  }
  pfree(rows);
  return store_last_asked();
}

void take_rows(uint64 asked, SeenRow** seen, int count) {
  store_take(asked);
  for (int i = 0; i < count; ++i) {
    if (seen[i] != NULL && !seen[i]->known)
      ereport(ERROR,
              (errcode(ERRCODE_CONNECTION_FAILURE),
               errmsg("cupel's mock store has not answered all requests of a scan"),
               errdetail("A request that failed takes those with it that were sent ahead.")));
  }
}

void read_rows(const Reader* reader, const Version* versions, int count) {
  SeenRow** seen;
  if (reader->sight == SIGHT_ALL || count == 0) return;
  seen = palloc(count * sizeof(SeenRow*));
  take_rows(ask_rows(reader, versions, count, seen), seen, count);
  pfree(seen);
}

int keep_visible(const Reader* reader, Version* versions, int count, SeenRow** seen) {
  int kept = 0;
  if (reader->sight == SIGHT_ALL) return count;
  for (int i = 0; i < count; ++i) {
    if (seen[i] != NULL ? ItemPointerEquals(&seen[i]->version.version, &versions[i].position)
                        : is_visible(reader, &versions[i]))
      versions[kept++] = versions[i];
  }
  return kept;
}

bool visible_position(const Reader* reader, const RowId* row, ItemPointerData* position) {
  const OwnWrite* own = has_own_writes() ? visible_own_write(reader, row) : NULL;
  if (own != NULL) {
    *position = own->version;
  } else {
    const SeenRow* seen = is_of_store(reader, row) ? seen_by(reader, row) : NULL;
    if (seen == NULL || !seen->known) return false; /* its own row, of a later command */
    *position = seen->version.version;
  }
  return ItemPointerIsValid(position);
}

bool is_visible(const Reader* reader, const Version* version) {
  ItemPointerData seen;
  if (reader->sight == SIGHT_ALL) return true;
  return visible_position(reader, &version->row, &seen) &&
         ItemPointerEquals(&seen, (ItemPointer)&version->position);
}

bool check_visible(const Reader* reader, const Version* version) {
  if (reader->statement == NULL || is_unknown(reader, &version->row)) read_rows(reader, version, 1);
  return is_visible(reader, version);
}

bool find_version(Relation relation, const ItemPointerData* position, Version* version) {
  HeapTupleData tuple;
  Buffer buffer;
  tuple.t_self = *position;
  if (!heap_fetch(relation, SnapshotAny, &tuple, &buffer, false)) return false;
  version->row = row_at(relation, &tuple.t_data->t_ctid);
  version->position = *position;
  ReleaseBuffer(buffer);
  return true;
}

void store_in_slot(Relation relation, const ItemPointerData* position, Buffer* buffer,
                   TupleTableSlot* slot) {
  HeapTuple tuple = &((BufferHeapTupleTableSlot*)slot)->base.tupdata;
  Page page;
  ItemId item;
  *buffer = ReleaseAndReadBuffer(*buffer, relation, ItemPointerGetBlockNumber(position));
  page = BufferGetPage(*buffer);
  item = PageGetItemId(page, ItemPointerGetOffsetNumber(position));
  tuple->t_data = (HeapTupleHeader)PageGetItem(page, item);
  tuple->t_len = ItemIdGetLength(item);
  tuple->t_tableOid = RelationGetRelid(relation);
  tuple->t_self = *position;
  ExecStoreBufferHeapTuple(tuple, slot, *buffer);
}

bool is_of_committed(HeapTupleHeader tuple) {
  TransactionId writer = HeapTupleHeaderGetXmin(tuple);
  return TransactionIdIsCurrentTransactionId(writer) || TransactionIdDidCommit(writer);
}
