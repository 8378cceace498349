/* Scans: some pages at a time. All their rows that the statement has not seen yet are asked for in
   one request; the visible versions are then returned one by one. A scan that goes on asks for more
   pages each time, so that one that ends early (LIMIT) reads little, and others wait seldom.
   Parallel workers are off (max_worker_processes = 0), so a parallel scan has one participant. */
#include "access/heapam.h"
#include "access/relscan.h"
#include "access/tsmapi.h"
#include "nodes/execnodes.h"
#include "nodes/tidbitmap.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "store_client.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "visibility.h"

enum { kFirstWindow = 1, kGrowth = 4, kLongestWindow = 32 }; /* pages */

typedef struct WeakScan {
  TableScanDescData base;
  Reader reader;
  Statement* own_statement; /* to be freed; NULL: it has one by its snapshot */
  BlockNumber blocks;       /* of the table, when the scan began */
  BlockNumber first;        /* block of those that are loaded, or InvalidBlockNumber: before all */
  BlockNumber loaded;       /* so many are */
  BlockNumber window;       /* so many are loaded next */
  BlockNumber sampled;      /* blocks, of a sample */
  Buffer buffer;            /* of the version that was returned last */
  Version* versions;        /* of the loaded blocks */
  int room;
  int count, at; /* of the visible ones of them: all, and the one returned last */
} WeakScan;

static void leave_pages(WeakScan* scan) {
  if (BufferIsValid(scan->buffer)) ReleaseBuffer(scan->buffer);
  scan->buffer = InvalidBuffer;
  scan->count = 0;
  scan->loaded = 0;
}

static void start_scan(WeakScan* scan) {
  leave_pages(scan);
  scan->blocks = RelationGetNumberOfBlocks(scan->base.rs_rd);
  scan->first = InvalidBlockNumber;
  scan->window = kFirstWindow;
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
  leave_pages(scan);
  RelationDecrementReferenceCount(base->rs_rd);
  if (scan->versions != NULL) pfree(scan->versions);
  if (scan->own_statement != NULL) free_statement(scan->own_statement);
  if ((base->rs_flags & SO_TEMP_SNAPSHOT) != 0) UnregisterSnapshot(base->rs_snapshot);
  pfree(scan);
}

static void weak_scan_rescan(TableScanDesc base, struct ScanKeyData* keys, bool set_params,
                             bool allow_strategy, bool allow_sync, bool allow_page_mode) {
  start_scan((WeakScan*)base);
}

static void make_room(WeakScan* scan, int versions) {
  if (versions <= scan->room) return;
  scan->room = versions;
  if (scan->versions != NULL) pfree(scan->versions);
  scan->versions = MemoryContextAlloc(GetMemoryChunkContext(scan), versions * sizeof(Version));
}

/* All versions of a page, or those at `count` of the offsets. */
static int versions_of_page(Relation relation, BlockNumber block, BufferAccessStrategy strategy,
                            const OffsetNumber* offsets, int count, Version* versions) {
  Buffer buffer = ReadBufferExtended(relation, MAIN_FORKNUM, block, RBM_NORMAL, strategy);
  Page page = BufferGetPage(buffer);
  OffsetNumber last;
  int found = 0, total;
  LockBuffer(buffer, BUFFER_LOCK_SHARE);
  last = PageGetMaxOffsetNumber(page);
  total = offsets != NULL ? count : last;
  for (int i = 0; i < total; ++i) {
    OffsetNumber offset = offsets != NULL ? offsets[i] : (OffsetNumber)(i + FirstOffsetNumber);
    ItemId item;
    if (offset > last) continue;
    item = PageGetItemId(page, offset);
    if (!ItemIdIsNormal(item)) continue;
    versions[found].row = row_at(relation, &((HeapTupleHeader)PageGetItem(page, item))->t_ctid);
    ItemPointerSet(&versions[found].position, block, offset);
    ++found;
  }
  UnlockReleaseBuffer(buffer);
  return found;
}

/* The visible versions of `blocks` blocks; of one block, those at `count` of the offsets only. */
static void load_pages(WeakScan* scan, BlockNumber first, BlockNumber blocks,
                       const OffsetNumber* offsets, int count, BufferAccessStrategy strategy) {
  int found = 0;
  leave_pages(scan);
  make_room(scan, (int)blocks * MaxHeapTuplesPerPage);
  for (BlockNumber i = 0; i < blocks; ++i) {
    CHECK_FOR_INTERRUPTS();
    found += versions_of_page(scan->base.rs_rd, first + i, strategy, offsets, count,
                              scan->versions + found);
  }
  read_rows(&scan->reader, scan->versions, found);
  for (int i = 0; i < found; ++i) {
    if (is_visible(&scan->reader, &scan->versions[i]))
      scan->versions[scan->count++] = scan->versions[i];
  }
  scan->first = first;
  scan->loaded = blocks;
}

static void load_page(WeakScan* scan, BlockNumber block, const OffsetNumber* offsets, int count,
                      BufferAccessStrategy strategy) {
  load_pages(scan, block, 1, offsets, count, strategy);
}

static void store_in_slot(WeakScan* scan, const ItemPointerData* position, TupleTableSlot* slot) {
  BufferHeapTupleTableSlot* stored = (BufferHeapTupleTableSlot*)slot;
  BlockNumber block = ItemPointerGetBlockNumber(position);
  Page page;
  ItemId item;
  HeapTuple tuple;
  if (!BufferIsValid(scan->buffer) || BufferGetBlockNumber(scan->buffer) != block)
    scan->buffer = ReleaseAndReadBuffer(scan->buffer, scan->base.rs_rd, block);
  page = BufferGetPage(scan->buffer);
  item = PageGetItemId(page, ItemPointerGetOffsetNumber(position));
  ExecClearTuple(slot);
  tuple = &stored->base.tupdata;
  tuple->t_data = (HeapTupleHeader)PageGetItem(page, item);
  tuple->t_len = ItemIdGetLength(item);
  tuple->t_tableOid = RelationGetRelid(scan->base.rs_rd);
  tuple->t_self = *position;
  ExecStoreBufferHeapTuple(tuple, slot, scan->buffer);
}

/* The next pages in this direction; false: there is none. */
static bool next_pages(WeakScan* scan, bool forward) {
  BlockNumber first, blocks;
  if (forward) {
    first = scan->first == InvalidBlockNumber ? 0 : scan->first + scan->loaded;
    blocks = Min(scan->window, scan->blocks - Min(first, scan->blocks));
  } else {
    BlockNumber end = scan->first == InvalidBlockNumber ? scan->blocks : scan->first;
    blocks = Min(scan->window, end);
    first = end - blocks;
  }
  if (blocks == 0) {
    leave_pages(scan);
    scan->first = forward ? scan->blocks : InvalidBlockNumber;
    return false;
  }
  load_pages(scan, first, blocks, NULL, 0, NULL);
  scan->window = Min(scan->window * kGrowth, kLongestWindow);
  scan->at = forward ? -1 : scan->count;
  return true;
}

static bool weak_scan_getnextslot(TableScanDesc base, ScanDirection direction,
                                  TupleTableSlot* slot) {
  WeakScan* scan = (WeakScan*)base;
  bool forward = !ScanDirectionIsBackward(direction);
  for (;;) {
    int next = scan->at + (forward ? 1 : -1);
    if (scan->loaded > 0 && next >= 0 && next < scan->count) {
      scan->at = next;
      store_in_slot(scan, &scan->versions[next].position, slot);
      pgstat_count_heap_getnext(base->rs_rd);
      return true;
    }
    if (!next_pages(scan, forward)) {
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
  store_in_slot(scan, &scan->versions[scan->at].position, slot);
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
    leave_pages(scan);
    return false;
  }
  load_page(scan, block, NULL, 0, NULL);
  return true;
}

static bool weak_sample_next_tuple(TableScanDesc base, SampleScanState* state,
                                   TupleTableSlot* slot) {
  WeakScan* scan = (WeakScan*)base;
  OffsetNumber last =
      scan->count > 0 ? ItemPointerGetOffsetNumber(&scan->versions[scan->count - 1].position) : 0;
  for (;;) {
    OffsetNumber offset = state->tsmroutine->NextSampleTuple(state, scan->first, last);
    if (!OffsetNumberIsValid(offset)) {
      ExecClearTuple(slot);
      return false;
    }
    for (int i = 0; i < scan->count; ++i) {
      const ItemPointerData* position = &scan->versions[i].position;
      if (ItemPointerGetOffsetNumber(position) != offset) continue;
      store_in_slot(scan, position, slot);
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
  if (check_visible(&scan->reader, &version)) return;
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
