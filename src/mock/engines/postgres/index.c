/* Indexes: an index names positions of versions; a version that the reader does not see is passed
   over. An index holds all versions, since some session may see each of them.

   Who goes on with a scan of a B-tree asks the store for more and more rows at once, and who reads
   to its end for 256 from the start: those of the positions that come next on the page of the index
   (nbtree.h: BTScanOpaque). Pages of the table are read without a lock: versions are only added to
   them, and an index knows a version once all of it is there. */
#include "catalog/index.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/nbtree.h"
#include "access/relscan.h"
#include "access/xact.h"
#include "catalog/pg_am.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "row_lock.h"
#include "storage/bufmgr.h"
#include "storage/procarray.h"
#include "store_client.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "visibility.h"

enum { kGrowth = 4, kLongestWindow = 256 }; /* positions */

typedef struct WeakFetch {
  IndexFetchTableData base;
  int window;         /* so many positions are asked for next */
  bool has_looked;    /* for the scan */
  IndexScanDesc scan; /* NULL: it is not one of a B-tree that the statement runs */
  const EState* executor;
  ScanDirection order; /* of the scan, if the executor goes forward */
  Version* ahead;      /* that were asked for, in the order of the scan: */
  int count, at;       /* so many, and the one that comes next */
  Buffer buffer;       /* of the version that was looked at last */
} WeakFetch;

static IndexFetchTableData* weak_index_fetch_begin(Relation relation) {
  WeakFetch* fetch = palloc0(sizeof(WeakFetch));
  Oid table = relation->rd_node.relNode;
  fetch->base.rel = relation;
  fetch->window = 1;
  fetch->buffer = InvalidBuffer;
  /* Who looks for rows by an index also sees that others are not there. The planner looks too. */
  if (running_statement() != NULL && !checks_foreign_key(running_statement()) &&
      first_look_at(table))
    store_look(table, statement_number(running_statement()),
               statement_commits(running_statement()));
  return &fetch->base;
}

static void weak_index_fetch_reset(IndexFetchTableData* base) {
  WeakFetch* fetch = (WeakFetch*)base;
  if (BufferIsValid(fetch->buffer)) ReleaseBuffer(fetch->buffer);
  fetch->buffer = InvalidBuffer;
  fetch->window = 1;
  fetch->count = fetch->at = 0;
}

static void weak_index_fetch_end(IndexFetchTableData* base) {
  weak_index_fetch_reset(base);
  if (((WeakFetch*)base)->ahead != NULL) pfree(((WeakFetch*)base)->ahead);
  pfree(base);
}

/* Into the fetch, if it is of this node or of one below. */
static bool find_scan(PlanState* plan, WeakFetch* fetch) {
  IndexScanDesc scan = NULL;
  ScanDirection order = ForwardScanDirection;
  if (plan == NULL) return false;
  if (IsA(plan, IndexScanState)) {
    scan = ((IndexScanState*)plan)->iss_ScanDesc;
    order = ((IndexScan*)plan->plan)->indexorderdir;
  } else if (IsA(plan, IndexOnlyScanState)) {
    scan = ((IndexOnlyScanState*)plan)->ioss_ScanDesc;
    order = ((IndexOnlyScan*)plan->plan)->indexorderdir;
  }
  if (scan == NULL || scan->xs_heapfetch != &fetch->base)
    return planstate_tree_walker(plan, find_scan, fetch);
  fetch->scan = scan->indexRelation->rd_rel->relam == BTREE_AM_OID ? scan : NULL;
  fetch->executor = plan->state;
  fetch->order = order;
  return true;
}

/* An index gets to know a version once all of it is there, so the page needs no lock. */
static bool version_at(WeakFetch* fetch, const ItemPointerData* position, Version* version) {
  OffsetNumber offset = ItemPointerGetOffsetNumber(position);
  Page page;
  ItemId item;
  fetch->buffer =
      ReleaseAndReadBuffer(fetch->buffer, fetch->base.rel, ItemPointerGetBlockNumber(position));
  page = BufferGetPage(fetch->buffer);
  if (offset > PageGetMaxOffsetNumber(page)) return false;
  item = PageGetItemId(page, offset);
  if (!ItemIdIsNormal(item)) return false;
  version->row = row_at(fetch->base.rel, &((HeapTupleHeader)PageGetItem(page, item))->t_ctid);
  version->position = *position;
  return true;
}

/* The versions at the positions that the scan comes to after this one; at most `room`. */
static int next_versions(WeakFetch* fetch, Version* versions, int room) {
  const BTScanPosData* page = &((BTScanOpaque)fetch->scan->opaque)->currPos;
  bool backward = ScanDirectionIsBackward(fetch->executor->es_direction);
  int step = ScanDirectionIsBackward(fetch->order) != backward ? -1 : 1;
  int found = 0;
  if (!BTScanPosIsValid(*page)) return 0;
  for (int at = page->itemIndex + step;
       found < room && at >= page->firstItem && at <= page->lastItem; at += step) {
    if (version_at(fetch, &page->items[at].heapTid, &versions[found])) ++found;
  }
  return found;
}

/* The plan's scan of the index, and how much it asks for at first. */
static void look_for_scan(WeakFetch* fetch, const Statement* statement) {
  if (fetch->has_looked) return;
  if (scan_to_end(statement) != NULL && find_scan(scan_to_end(statement), fetch)) {
    fetch->window = kLongestWindow;
    fetch->has_looked = true;
  } else if (fetch->window > 1) {
    find_scan(plan_of(statement), fetch);
    fetch->has_looked = true;
  }
}

/* Asks for the row of this version, and for those that are likely to come next. */
static void read_ahead(WeakFetch* fetch, const Reader* reader, const Version* version) {
  if (reader->statement == NULL || reader->statement != running_statement() ||
      !is_unknown(reader, &version->row))
    return;
  look_for_scan(fetch, reader->statement);
  if (fetch->ahead == NULL)
    fetch->ahead =
        MemoryContextAlloc(GetMemoryChunkContext(fetch), kLongestWindow * sizeof(Version));
  fetch->ahead[0] = *version;
  fetch->count = fetch->at = 1;
  if (fetch->scan != NULL)
    fetch->count += next_versions(fetch, fetch->ahead + 1, fetch->window - 1);
  read_rows(reader, fetch->ahead, fetch->count);
  fetch->window = Min(fetch->window * kGrowth, kLongestWindow);
}

/* Into the slot, if it is visible. */
static bool fetch_by_index(WeakFetch* fetch, const ItemPointerData* position, Snapshot snapshot,
                           TupleTableSlot* slot) {
  Reader reader = reader_of(fetch->base.rel, snapshot);
  Version version;
  if (fetch->at < fetch->count &&
      ItemPointerEquals(&fetch->ahead[fetch->at].position, (ItemPointer)position)) {
    version = fetch->ahead[fetch->at++];
  } else if (!version_at(fetch, position, &version)) {
    return false;
  }
  read_ahead(fetch, &reader, &version);
  if (!check_visible(&reader, &version)) return false;
  store_in_slot(fetch->base.rel, position, &fetch->buffer, slot);
  return true;
}

/* The same outside of a scan. */
static bool fetch_version(Relation relation, ItemPointer position, Snapshot snapshot,
                          TupleTableSlot* slot) {
  BufferHeapTupleTableSlot* stored = (BufferHeapTupleTableSlot*)slot;
  Reader reader = reader_of(relation, snapshot);
  Version version = {.position = *position};
  Buffer buffer;
  ExecClearTuple(slot);
  stored->base.tupdata.t_self = *position;
  if (!heap_fetch(relation, SnapshotAny, &stored->base.tupdata, &buffer, false)) return false;
  version.row = row_at(relation, &stored->base.tupdata.t_data->t_ctid);
  if (!check_visible(&reader, &version)) {
    ReleaseBuffer(buffer);
    return false;
  }
  stored->base.tupdata.t_tableOid = RelationGetRelid(relation);
  ExecStorePinnedBufferHeapTuple(&stored->base.tupdata, slot, buffer);
  slot->tts_tableOid = RelationGetRelid(relation);
  return true;
}

/* An open transaction wrote the version, another than the own; the snapshot says which. */
static bool is_of_other_open(HeapTuple tuple, Snapshot snapshot) {
  TransactionId writer = HeapTupleHeaderGetRawXmin(tuple->t_data);
  if (!TransactionIdIsValid(writer) || TransactionIdIsCurrentTransactionId(writer) ||
      !TransactionIdIsInProgress(writer))
    return false;
  if (HeapTupleHeaderIsSpeculative(tuple->t_data))
    snapshot->speculativeToken = HeapTupleHeaderGetSpeculativeToken(tuple->t_data);
  snapshot->xmin = writer;
  return true;
}

/* For unique and exclusion constraints that are strong: also what open transactions wrote, and who
   may be changing what was committed last. PostgreSQL waits for them, as it does over the heap. */
static bool fetch_also_open(Relation relation, ItemPointer position, Snapshot snapshot,
                            TupleTableSlot* slot) {
  HeapTupleData tuple = {.t_self = *position};
  Buffer buffer;
  bool open, found;
  if (!heap_fetch(relation, SnapshotAny, &tuple, &buffer, false)) return false;
  LockBuffer(buffer, BUFFER_LOCK_SHARE);
  open = is_of_other_open(&tuple, snapshot);
  LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
  if (open) {
    found = fetch_version(relation, position, SnapshotAny, slot);
  } else {
    found = is_of_committed(tuple.t_data) && fetch_version(relation, position, snapshot, slot);
    if (found) snapshot->xmax = changer_of_row(relation, &tuple);
  }
  ReleaseBuffer(buffer);
  return found;
}

static bool weak_index_fetch_tuple(IndexFetchTableData* fetch, ItemPointer position,
                                   Snapshot snapshot, TupleTableSlot* slot, bool* call_again,
                                   bool* all_dead) {
  *call_again = false;
  if (all_dead != NULL) *all_dead = false;
  if (snapshot->snapshot_type == SNAPSHOT_DIRTY) {
    snapshot->xmin = snapshot->xmax = InvalidTransactionId;
    snapshot->speculativeToken = 0;
    if (constraints_are_strong) return fetch_also_open(fetch->rel, position, snapshot, slot);
  }
  return fetch_by_index((WeakFetch*)fetch, position, snapshot, slot);
}

static bool weak_fetch_row_version(Relation relation, ItemPointer position, Snapshot snapshot,
                                   TupleTableSlot* slot) {
  return fetch_version(relation, position, snapshot, slot);
}

static bool weak_satisfies_snapshot(Relation relation, TupleTableSlot* slot, Snapshot snapshot) {
  Reader reader = reader_of(relation, snapshot);
  Version version;
  return find_version(relation, &slot->tts_tid, &version) && check_visible(&reader, &version);
}

/* Nothing that an index names is ever removed. */
static TransactionId weak_index_delete_tuples(Relation relation, TM_IndexDeleteOp* state) {
  state->ndeltids = 0;
  return InvalidTransactionId;
}

/* The building of an index. */
typedef struct Build {
  Relation table, index;
  IndexInfo* info;
  IndexBuildCallback callback;
  void* state;
  Reader reader; /* of what was committed last */
  EState* executor;
  TupleTableSlot* slot;
  ExprState* predicate;
  double rows;
} Build;

static void index_version(Build* build, HeapTuple tuple, bool latest) {
  ExprContext* context = GetPerTupleExprContext(build->executor);
  Datum values[INDEX_MAX_KEYS];
  bool nulls[INDEX_MAX_KEYS];
  MemoryContextReset(context->ecxt_per_tuple_memory);
  ExecForceStoreHeapTuple(heap_copytuple(tuple), build->slot, true);
  build->slot->tts_tid = tuple->t_self;
  if (build->predicate != NULL && !ExecQual(build->predicate, context)) return;
  FormIndexDatum(build->info, build->slot, build->executor, values, nulls);
  build->callback(build->index, &tuple->t_self, values, nulls, latest, build->state);
}

static void index_page(Build* build, BlockNumber block) {
  Buffer buffer = ReadBufferExtended(build->table, MAIN_FORKNUM, block, RBM_NORMAL, NULL);
  Page page = BufferGetPage(buffer);
  Version versions[MaxHeapTuplesPerPage];
  HeapTuple tuples[MaxHeapTuplesPerPage];
  int count = 0;
  LockBuffer(buffer, BUFFER_LOCK_SHARE);
  for (OffsetNumber at = FirstOffsetNumber; at <= PageGetMaxOffsetNumber(page); ++at) {
    ItemId item = PageGetItemId(page, at);
    HeapTupleData tuple;
    if (!ItemIdIsNormal(item)) continue;
    tuple.t_data = (HeapTupleHeader)PageGetItem(page, item);
    tuple.t_len = ItemIdGetLength(item);
    tuple.t_tableOid = RelationGetRelid(build->table);
    ItemPointerSet(&tuple.t_self, block, at);
    if (!is_of_committed(tuple.t_data)) continue;
    versions[count].row = row_at(build->table, &tuple.t_data->t_ctid);
    versions[count].position = tuple.t_self;
    tuples[count++] = heap_copytuple(&tuple);
  }
  UnlockReleaseBuffer(buffer);
  read_rows(&build->reader, versions, count);
  for (int i = 0; i < count; ++i) {
    bool latest = is_visible(&build->reader, &versions[i]);
    build->rows += latest;
    index_version(build, tuples[i], latest);
    heap_freetuple(tuples[i]);
  }
}

static double weak_index_build_range_scan(Relation table, Relation index, IndexInfo* info,
                                          bool allow_sync, bool any_visible, bool progress,
                                          BlockNumber first, BlockNumber count,
                                          IndexBuildCallback callback, void* state,
                                          TableScanDesc scan) {
  Build build = {table,    index, info,
                 callback, state, .reader = {SIGHT_LATEST, InvalidCommandId, make_statement()}};
  BlockNumber end = RelationGetNumberOfBlocks(table);
  if (scan != NULL) table_endscan(scan); /* of a parallel build, whose only participant this is */
  if (count != InvalidBlockNumber && first + count < end) end = first + count;
  build.executor = CreateExecutorState();
  build.slot = table_slot_create(table, NULL);
  GetPerTupleExprContext(build.executor)->ecxt_scantuple = build.slot;
  build.predicate = ExecPrepareQual(info->ii_Predicate, build.executor);
  for (BlockNumber block = first; block < end; ++block) {
    CHECK_FOR_INTERRUPTS();
    index_page(&build, block);
  }
  ExecDropSingleTupleTableSlot(build.slot);
  FreeExecutorState(build.executor);
  free_statement(build.reader.statement);
  info->ii_ExpressionsState = NIL; /* they were the executor's */
  info->ii_PredicateState = NULL;
  return build.rows;
}

static void weak_index_validate_scan(Relation table, Relation index, IndexInfo* info,
                                     Snapshot snapshot, ValidateIndexState* state) {
  ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                  errmsg("an index of a weak table cannot be built concurrently")));
}

void set_index_functions(TableAmRoutine* routine) {
  routine->index_fetch_begin = weak_index_fetch_begin;
  routine->index_fetch_reset = weak_index_fetch_reset;
  routine->index_fetch_end = weak_index_fetch_end;
  routine->index_fetch_tuple = weak_index_fetch_tuple;
  routine->tuple_fetch_row_version = weak_fetch_row_version;
  routine->tuple_satisfies_snapshot = weak_satisfies_snapshot;
  routine->index_delete_tuples = weak_index_delete_tuples;
  routine->index_build_range_scan = weak_index_build_range_scan;
  routine->index_validate_scan = weak_index_validate_scan;
}
