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
static SeenVersion seen_alone;
static bool has_alone = false;

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

static const SeenVersion* known_version(const Reader* reader, const RowId* row) {
  if (reader->statement != NULL) return remembered_version(reader->statement, row);
  return has_alone && memcmp(&alone, row, sizeof *row) == 0 ? &seen_alone : NULL;
}

static void remember(const Reader* reader, const RowId* row, const SeenVersion* version) {
  if (reader->statement != NULL) {
    remember_version(reader->statement, row, version);
  } else {
    alone = *row;
    seen_alone = *version;
    has_alone = true;
  }
}

static bool is_of_store(const Reader* reader, const RowId* row) {
  return !has_own_writes() || (!is_own_row(row) && visible_own_write(reader, row) == NULL);
}

bool is_unknown(const Reader* reader, const RowId* row) {
  return reader->sight != SIGHT_ALL && is_of_store(reader, row) &&
         known_version(reader, row) == NULL;
}

/* The rows of the versions that nothing is known of, each once. */
static int unknown_rows(const Reader* reader, const Version* versions, int count, uint32 number,
                        RowId* rows) {
  int found = 0;
  Assert(reader->statement != NULL || count <= 1);
  for (int i = 0; i < count; ++i) {
    const RowId* row = &versions[i].row;
    if (!is_of_store(reader, row)) continue;
    if (reader->statement == NULL || is_to_be_asked(reader->statement, row, number))
      rows[found++] = *row;
  }
  return found;
}

static void ask_for(const Reader* reader, const Version* versions, int count, RowId* rows,
                    SeenVersion* seen) {
  uint32 number = next_statement_number();
  ReadRequest request = {
      .statement = reader->statement != NULL ? statement_number(reader->statement) : number,
      .commits = statement_commits(reader->statement),
      .latest = reader->sight == SIGHT_LATEST,
      .find = reader->sight == SIGHT_FOUND,
      .rows = rows};
  request.count = unknown_rows(reader, versions, count, number, rows);
  if (request.count == 0) return;
  store_read(&request, seen);
  if (request.find) note_found(reader->statement, request.count);
  for (int i = 0; i < request.count; ++i) remember(reader, &rows[i], &seen[i]);
}

void read_rows(const Reader* reader, const Version* versions, int count) {
  enum { kFew = 8 };
  has_alone = false;
  if (reader->sight == SIGHT_ALL || count == 0) return;
  if (count <= kFew) {
    RowId rows[kFew];
    SeenVersion seen[kFew];
    ask_for(reader, versions, count, rows, seen);
  } else {
    RowId* rows = palloc(count * sizeof(RowId));
    SeenVersion* seen = palloc(count * sizeof(SeenVersion));
    ask_for(reader, versions, count, rows, seen);
    pfree(rows);
    pfree(seen);
  }
}

bool visible_position(const Reader* reader, const RowId* row, ItemPointerData* position) {
  const OwnWrite* own = has_own_writes() ? visible_own_write(reader, row) : NULL;
  if (own != NULL) {
    *position = own->version;
  } else {
    const SeenVersion* known = is_of_store(reader, row) ? known_version(reader, row) : NULL;
    if (known == NULL) return false; /* its own row, of a later command */
    *position = known->version;
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
  read_rows(reader, version, 1);
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

bool is_of_committed(HeapTupleHeader tuple) {
  TransactionId writer = HeapTupleHeaderGetXmin(tuple);
  return TransactionIdIsCurrentTransactionId(writer) || TransactionIdDidCommit(writer);
}
