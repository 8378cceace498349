/* Own writes are visible from the next command on; of all other rows the store says which version
   is. A statement that is NULL remembers in `alone`, whose content each read_rows() replaces. */
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

enum { kMostRows = MaxHeapTuplesPerPage };

static Version alone[kMostRows];
static int alone_count = 0;

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

static const ItemPointerData* known_version(const Reader* reader, const RowId* row) {
  if (reader->statement != NULL) return remembered_version(reader->statement, row);
  for (int i = 0; i < alone_count; ++i) {
    if (memcmp(&alone[i].row, row, sizeof *row) == 0) return &alone[i].position;
  }
  return NULL;
}

static void remember(const Reader* reader, const RowId* row, const ItemPointerData* version) {
  if (reader->statement != NULL) {
    remember_version(reader->statement, row, version);
  } else {
    alone[alone_count].row = *row;
    alone[alone_count++].position = *version;
  }
}

/* The rows of the versions that nothing is known of, each once. */
static int unknown_rows(const Reader* reader, const Version* versions, int count, RowId* rows) {
  int found = 0;
  for (int i = 0; i < count; ++i) {
    const RowId* row = &versions[i].row;
    bool known = is_own_row(row) || visible_own_write(reader, row) != NULL ||
                 known_version(reader, row) != NULL;
    for (int other = 0; other < found && !known; ++other)
      known = memcmp(&rows[other], row, sizeof *row) == 0;
    if (!known) rows[found++] = *row;
  }
  return found;
}

void read_rows(Relation relation, const Reader* reader, const Version* versions, int count) {
  RowId rows[kMostRows];
  ItemPointerData positions[kMostRows];
  ReadRequest request = {
      .rows = rows, .latest = reader->sight == SIGHT_LATEST, .find = reader->sight == SIGHT_FOUND};
  if (reader->statement == NULL) alone_count = 0;
  if (reader->sight == SIGHT_ALL) return;
  request.count = unknown_rows(reader, versions, count, rows);
  if (request.count == 0) return;
  request.statement =
      reader->statement != NULL ? statement_number(reader->statement) : next_statement_number();
  request.commits = statement_commits(reader->statement);
  store_read(&request, positions);
  if (request.find) note_found(reader->statement, request.count);
  for (int i = 0; i < request.count; ++i) remember(reader, &rows[i], &positions[i]);
}

bool visible_position(const Reader* reader, const RowId* row, ItemPointerData* position) {
  const OwnWrite* own = visible_own_write(reader, row);
  const ItemPointerData* known = NULL;
  if (own != NULL) {
    known = &own->version;
  } else if (!is_own_row(row)) { /* or else of a later command */
    known = known_version(reader, row);
  }
  if (known == NULL || !ItemPointerIsValid(known)) return false;
  *position = *known;
  return true;
}

bool is_visible(const Reader* reader, const Version* version) {
  ItemPointerData seen;
  if (reader->sight == SIGHT_ALL) return true;
  return visible_position(reader, &version->row, &seen) &&
         ItemPointerEquals(&seen, (ItemPointer)&version->position);
}

bool check_visible(Relation relation, const Reader* reader, const Version* version) {
  read_rows(relation, reader, version, 1);
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
