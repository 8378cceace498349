/* Scans: a page at a time. All rows of a page that the statement has not seen yet are asked for in
   one request; the visible versions of the page are then returned one by one. Parallel workers are
   off (max_worker_processes = 0), so a parallel scan has one participant. */
#include "access/heapam.h"
#include "access/relscan.h"
#include "access/tsmapi.h"
#include "nodes/execnodes.h"
#include "nodes/tidbitmap.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "store_client.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "visibility.h"

typedef struct WeakScan {
  TableScanDescData base;
  Reader reader;
  Statement* own_statement; /* to be freed; NULL: it has one by its snapshot */
  BlockNumber blocks;       /* of the table, when the scan began */
  BlockNumber block;        /* the current one, or InvalidBlockNumber */
  BlockNumber sampled;      /* blocks, of a sample */
  Buffer buffer;
  int count, at; /* of the visible versions: all, and the one returned last */
  OffsetNumber visible[MaxHeapTuplesPerPage];
} WeakScan;

static void leave_page(WeakScan* scan) {
  if (BufferIsValid(scan->buffer)) ReleaseBuffer(scan->buffer);
  scan->buffer = InvalidBuffer;
  scan->count = 0;
}

static void start_scan(WeakScan* scan) {
  leave_page(scan);
  scan->blocks = RelationGetNumberOfBlocks(scan->base.rs_rd);
  scan->block = InvalidBlockNumber;
  scan->sampled = 0;
}

/* A scan sees all rows of the table, also those that are not there. */
static void note_look(const WeakScan* scan) {
  const Statement* statement = scan->reader.statement;
  Oid table = scan->base.rs_rd->rd_node.relNode;
  if (scan->reader.sight > SIGHT_FOUND || !first_look_at(table)) return;
  store_look(table, statement != NULL ? statement_number(statement) : next_statement_number(),
             statement_commits(statement));
}

static TableScanDesc weak_scan_begin(Relation relation, Snapshot snapshot, int key_count,
                                     struct ScanKeyData* keys, ParallelTableScanDesc parallel,
                                     uint32 flags) {
  WeakScan* scan = palloc0(sizeof(WeakScan));
  if (key_count != 0) elog(ERROR, "a scan of a weak table has no keys");
  RelationIncrementReferenceCount(relation);
  scan->base.rs_rd = relation;
  scan->base.rs_snapshot = snapshot;
  scan->base.rs_flags = flags;
  scan->base.rs_parallel = parallel;
  scan->reader = reader_of(relation, snapshot);
  if (scan->reader.statement == NULL && scan->reader.sight != SIGHT_ALL)
    scan->reader.statement = scan->own_statement = make_statement();
  start_scan(scan);
  if ((flags & SO_TYPE_SEQSCAN) != 0) {
    pgstat_count_heap_scan(relation);
    note_look(scan);
  } else if ((flags & (SO_TYPE_BITMAPSCAN | SO_TYPE_SAMPLESCAN)) != 0) {
    note_look(scan);
  }
  return &scan->base;
}

static void weak_scan_end(TableScanDesc base) {
  WeakScan* scan = (WeakScan*)base;
  leave_page(scan);
  RelationDecrementReferenceCount(base->rs_rd);
  if (scan->own_statement != NULL) free_statement(scan->own_statement);
  if ((base->rs_flags & SO_TEMP_SNAPSHOT) != 0) UnregisterSnapshot(base->rs_snapshot);
  pfree(scan);
}

static void weak_scan_rescan(TableScanDesc base, struct ScanKeyData* keys, bool set_params,
                             bool allow_strategy, bool allow_sync, bool allow_page_mode) {
  start_scan((WeakScan*)base);
}

/* All versions of the page, or those at `count` of the offsets. */
static int versions_of_page(WeakScan* scan, const OffsetNumber* offsets, int count,
                            Version* versions) {
  Page page = BufferGetPage(scan->buffer);
  OffsetNumber last;
  int found = 0, total;
  LockBuffer(scan->buffer, BUFFER_LOCK_SHARE);
  last = PageGetMaxOffsetNumber(page);
  total = offsets != NULL ? count : last;
  for (int i = 0; i < total; ++i) {
    OffsetNumber offset = offsets != NULL ? offsets[i] : (OffsetNumber)(i + FirstOffsetNumber);
    ItemId item;
    if (offset > last) continue;
    item = PageGetItemId(page, offset);
    if (!ItemIdIsNormal(item)) continue;
    versions[found].row =
        row_at(scan->base.rs_rd, &((HeapTupleHeader)PageGetItem(page, item))->t_ctid);
    ItemPointerSet(&versions[found].position, scan->block, offset);
    ++found;
  }
  LockBuffer(scan->buffer, BUFFER_LOCK_UNLOCK);
  return found;
}

static void load_page(WeakScan* scan, BlockNumber block, const OffsetNumber* offsets, int count,
                      BufferAccessStrategy strategy) {
  Version versions[MaxHeapTuplesPerPage];
  int found;
  CHECK_FOR_INTERRUPTS();
  leave_page(scan);
  scan->block = block;
  scan->buffer = ReadBufferExtended(scan->base.rs_rd, MAIN_FORKNUM, block, RBM_NORMAL, strategy);
  found = versions_of_page(scan, offsets, count, versions);
  read_rows(scan->base.rs_rd, &scan->reader, versions, found);
  for (int i = 0; i < found; ++i) {
    if (is_visible(&scan->reader, &versions[i]))
      scan->visible[scan->count++] = ItemPointerGetOffsetNumber(&versions[i].position);
  }
}

static void store_in_slot(WeakScan* scan, OffsetNumber offset, TupleTableSlot* slot) {
  BufferHeapTupleTableSlot* stored = (BufferHeapTupleTableSlot*)slot;
  Page page = BufferGetPage(scan->buffer);
  ItemId item = PageGetItemId(page, offset);
  HeapTuple tuple;
  ExecClearTuple(slot);
  tuple = &stored->base.tupdata;
  tuple->t_data = (HeapTupleHeader)PageGetItem(page, item);
  tuple->t_len = ItemIdGetLength(item);
  tuple->t_tableOid = RelationGetRelid(scan->base.rs_rd);
  ItemPointerSet(&tuple->t_self, scan->block, offset);
  ExecStoreBufferHeapTuple(tuple, slot, scan->buffer);
}

/* The next page in this direction; false: there is none. */
static bool next_page(WeakScan* scan, bool forward) {
  BlockNumber next;
  if (scan->block == InvalidBlockNumber) {
    if (scan->blocks == 0) return false;
    next = forward ? 0 : scan->blocks - 1;
  } else if (scan->block == scan->blocks) { /* past the end */
    if (forward) return false;
    next = scan->blocks - 1;
  } else if (forward) {
    next = scan->block + 1;
  } else {
    next = scan->block - 1; /* before the first: InvalidBlockNumber */
  }
  if (next >= scan->blocks) {
    leave_page(scan);
    scan->block = next == InvalidBlockNumber ? InvalidBlockNumber : scan->blocks;
    return false;
  }
  load_page(scan, next, NULL, 0, NULL);
  scan->at = forward ? -1 : scan->count;
  return true;
}

static bool weak_scan_getnextslot(TableScanDesc base, ScanDirection direction,
                                  TupleTableSlot* slot) {
  WeakScan* scan = (WeakScan*)base;
  bool forward = !ScanDirectionIsBackward(direction);
  for (;;) {
    int next = scan->at + (forward ? 1 : -1);
    if (BufferIsValid(scan->buffer) && next >= 0 && next < scan->count) {
      scan->at = next;
      store_in_slot(scan, scan->visible[next], slot);
      pgstat_count_heap_getnext(base->rs_rd);
      return true;
    }
    if (!next_page(scan, forward)) {
      ExecClearTuple(slot);
      return false;
    }
  }
}

static bool next_of_page(WeakScan* scan, TupleTableSlot* slot) {
  if (++scan->at >= scan->count) {
    ExecClearTuple(slot);
    return false;
  }
  store_in_slot(scan, scan->visible[scan->at], slot);
  return true;
}

static bool weak_bitmap_next_block(TableScanDesc base, TBMIterateResult* found) {
  WeakScan* scan = (WeakScan*)base;
  if (found->blockno >= scan->blocks) return false;
  load_page(scan, found->blockno, found->ntuples >= 0 ? found->offsets : NULL, found->ntuples,
            NULL);
  scan->at = -1;
  return scan->count > 0;
}

static bool weak_bitmap_next_tuple(TableScanDesc base, TBMIterateResult* found,
                                   TupleTableSlot* slot) {
  return next_of_page((WeakScan*)base, slot);
}

static bool weak_sample_next_block(TableScanDesc base, SampleScanState* state) {
  WeakScan* scan = (WeakScan*)base;
  TsmRoutine* method = state->tsmroutine;
  BlockNumber block = method->NextSampleBlock != NULL ? method->NextSampleBlock(state, scan->blocks)
                                                      : scan->sampled++;
  if (block >= scan->blocks) {
    leave_page(scan);
    return false;
  }
  load_page(scan, block, NULL, 0, NULL);
  return true;
}

static bool weak_sample_next_tuple(TableScanDesc base, SampleScanState* state,
                                   TupleTableSlot* slot) {
  WeakScan* scan = (WeakScan*)base;
  OffsetNumber last = scan->count > 0 ? scan->visible[scan->count - 1] : 0;
  for (;;) {
    OffsetNumber offset = state->tsmroutine->NextSampleTuple(state, scan->block, last);
    if (!OffsetNumberIsValid(offset)) {
      ExecClearTuple(slot);
      return false;
    }
    for (int i = 0; i < scan->count; ++i) {
      if (scan->visible[i] != offset) continue;
      store_in_slot(scan, offset, slot);
      return true;
    }
  }
}

static bool weak_analyze_next_block(TableScanDesc base, BlockNumber block,
                                    BufferAccessStrategy strategy) {
  WeakScan* scan = (WeakScan*)base;
  load_page(scan, block, NULL, 0, strategy);
  scan->at = -1;
  return true;
}

static bool weak_analyze_next_tuple(TableScanDesc base, TransactionId oldest, double* live,
                                    double* dead, TupleTableSlot* slot) {
  if (!next_of_page((WeakScan*)base, slot)) return false;
  *live += 1;
  return true;
}

static bool weak_tuple_tid_valid(TableScanDesc base, ItemPointer position) {
  WeakScan* scan = (WeakScan*)base;
  return ItemPointerIsValid(position) && ItemPointerGetBlockNumber(position) < scan->blocks;
}

/* The version of the row that the scan sees. */
static void weak_get_latest_tid(TableScanDesc base, ItemPointer position) {
  WeakScan* scan = (WeakScan*)base;
  Version version;
  if (!find_version(base->rs_rd, position, &version)) return;
  if (check_visible(base->rs_rd, &scan->reader, &version)) return;
  visible_position(&scan->reader, &version.row, position);
}

void set_scan_functions(TableAmRoutine* routine) {
  routine->scan_begin = weak_scan_begin;
  routine->scan_end = weak_scan_end;
  routine->scan_rescan = weak_scan_rescan;
  routine->scan_getnextslot = weak_scan_getnextslot;
  routine->scan_set_tidrange = NULL; /* the planner then scans the table */
  routine->scan_getnextslot_tidrange = NULL;
  routine->scan_bitmap_next_block = weak_bitmap_next_block;
  routine->scan_bitmap_next_tuple = weak_bitmap_next_tuple;
  routine->scan_sample_next_block = weak_sample_next_block;
  routine->scan_sample_next_tuple = weak_sample_next_tuple;
  routine->scan_analyze_next_block = weak_analyze_next_block;
  routine->scan_analyze_next_tuple = weak_analyze_next_tuple;
  routine->tuple_tid_valid = weak_tuple_tid_valid;
  routine->tuple_get_latest_tid = weak_get_latest_tid;
}
