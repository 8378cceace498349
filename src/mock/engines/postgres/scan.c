/* Scans: some pages at a time. All their rows that the statement has not seen yet are asked for in
   one request; the visible versions are then returned one by one. A scan that goes on asks for more
   pages each time, so that one that ends early (LIMIT) reads little, and others wait seldom. One
   that cannot end early also asks for the pages after those that it goes through.
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

enum { kFirstWindow = 1, kFirstToEnd = 8, kGrowth = 4, kLongestWindow = 32 }; /* pages */

/* Pages that follow each other. */
typedef struct Pages {
  BlockNumber first, blocks;
  Version* versions; /* of them */
  SeenRow** seen;    /* what is known of their rows */
  int room, found;
  uint64 asked; /* when store_take() has this, it is known */
} Pages;

typedef struct WeakScan {
  TableScanDescData base;
  Reader reader;
  Statement* own_statement; /* to be freed; NULL: it has one by its snapshot */
  BlockNumber blocks;       /* of the table, when the scan began */
  Pages now;                /* that it is at; its first one is InvalidBlockNumber before all */
  Pages ahead;              /* that were asked for ahead, if any */
  BlockNumber window;       /* so many blocks are loaded next */
  BlockNumber sampled;      /* blocks, of a sample */
  Buffer buffer;            /* of the version that was returned last */
  int count, at;            /* of the visible versions of `now`: all, and the one returned last */
} WeakScan;

static void leave_pages(WeakScan* scan) {
  if (BufferIsValid(scan->buffer)) ReleaseBuffer(scan->buffer);
  scan->buffer = InvalidBuffer;
  scan->count = 0;
  scan->now.blocks = 0;
}

static void start_scan(WeakScan* scan) {
  leave_pages(scan);
  scan->blocks = RelationGetNumberOfBlocks(scan->base.rs_rd);
  scan->now.first = InvalidBlockNumber;
  scan->ahead.blocks = 0;
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

static void free_pages(Pages* pages) {
  if (pages->room == 0) return;
  pfree(pages->versions);
  pfree(pages->seen);
}

static void weak_scan_end(TableScanDesc base) {
  WeakScan* scan = (WeakScan*)base;
  leave_pages(scan);
  RelationDecrementReferenceCount(base->rs_rd);
  free_pages(&scan->now);
  free_pages(&scan->ahead);
  if (scan->own_statement != NULL) free_statement(scan->own_statement);
  if ((base->rs_flags & SO_TEMP_SNAPSHOT) != 0) UnregisterSnapshot(base->rs_snapshot);
  pfree(scan);
}

static void weak_scan_rescan(TableScanDesc base, struct ScanKeyData* keys, bool set_params,
                             bool allow_strategy, bool allow_sync, bool allow_page_mode) {
  start_scan((WeakScan*)base);
}

static void make_room(const WeakScan* scan, Pages* pages, int versions) {
  MemoryContext memory = GetMemoryChunkContext((void*)scan);
  if (versions <= pages->room) return;
  free_pages(pages);
  pages->room = 0; /* if there is no memory */
  pages->versions = MemoryContextAlloc(memory, versions * sizeof(Version));
  pages->seen = MemoryContextAlloc(memory, versions * sizeof(SeenRow*));
  pages->room = versions;
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

/* Asks for the rows of `blocks` blocks; of one block, for those at `count` of the offsets only. */
static void ask_for_pages(const WeakScan* scan, Pages* pages, BlockNumber first, BlockNumber blocks,
                          const OffsetNumber* offsets, int count, BufferAccessStrategy strategy) {
  pages->blocks = 0; /* if it fails */
  pages->found = 0;
  make_room(scan, pages, (int)blocks * MaxHeapTuplesPerPage);
  for (BlockNumber i = 0; i < blocks; ++i) {
    CHECK_FOR_INTERRUPTS();
    pages->found += versions_of_page(scan->base.rs_rd, first + i, strategy, offsets, count,
                                     pages->versions + pages->found);
  }
  pages->asked = 0;
  if (scan->reader.sight != SIGHT_ALL)
    pages->asked = ask_rows(&scan->reader, pages->versions, pages->found, pages->seen);
  pages->first = first;
  pages->blocks = blocks;
}

/* Leaves the visible versions of the present pages. */
static void take_pages(WeakScan* scan) {
  Pages* now = &scan->now;
  if (scan->reader.sight != SIGHT_ALL) take_rows(now->asked, now->seen, now->found);
  scan->count = keep_visible(&scan->reader, now->versions, now->found, now->seen);
}

static void load_page(WeakScan* scan, BlockNumber block, const OffsetNumber* offsets, int count,
                      BufferAccessStrategy strategy) {
  leave_pages(scan);
  ask_for_pages(scan, &scan->now, block, 1, offsets, count, strategy);
  take_pages(scan);
}

static void return_version(WeakScan* scan, const ItemPointerData* position, TupleTableSlot* slot) {
  store_in_slot(scan->base.rs_rd, position, &scan->buffer, slot);
}

/* The statement does not end before the scan does. */
static bool goes_to_end(const WeakScan* scan) {
  const Statement* statement = scan->reader.statement;
  const PlanState* plan = statement == NULL ? NULL : scan_to_end(statement);
  return plan != NULL && IsA(plan, SeqScanState) &&
         ((const SeqScanState*)plan)->ss.ss_currentScanDesc == &scan->base;
}

/* The pages from this one on. If the scan goes on to the end, the store also looks at those that
   come after them, while they are gone through. */
static void load_pages(WeakScan* scan, BlockNumber first, BlockNumber blocks, bool to_end) {
  BlockNumber next;
  leave_pages(scan);
  if (scan->ahead.blocks > 0 && scan->ahead.first == first) {
    Pages loaded = scan->ahead;
    scan->ahead = scan->now;
    scan->now = loaded;
  } else {
    ask_for_pages(scan, &scan->now, first, blocks, NULL, 0, NULL);
  }
  scan->ahead.blocks = 0;
  scan->window = Min(scan->window * kGrowth, kLongestWindow);
  next = scan->now.first + scan->now.blocks;
  if (to_end && next < scan->blocks) {
    store_send();
    ask_for_pages(scan, &scan->ahead, next, Min(scan->window, scan->blocks - next), NULL, 0, NULL);
  }
  take_pages(scan);
}

/* The next pages in this direction; false: there is none. */
static bool next_pages(WeakScan* scan, bool forward) {
  bool to_end = forward && goes_to_end(scan);
  BlockNumber at = scan->now.first, first, blocks;
  if (to_end) scan->window = Max(scan->window, kFirstToEnd);
  if (forward) {
    first = at == InvalidBlockNumber ? 0 : at + scan->now.blocks;
    blocks = Min(scan->window, scan->blocks - Min(first, scan->blocks));
  } else {
    BlockNumber end = at == InvalidBlockNumber ? scan->blocks : at;
    blocks = Min(scan->window, end);
    first = end - blocks;
  }
  if (blocks == 0) {
    leave_pages(scan);
    scan->now.first = forward ? scan->blocks : InvalidBlockNumber;
    return false;
  }
  load_pages(scan, first, blocks, to_end);
  scan->at = forward ? -1 : scan->count;
  return true;
}

static bool weak_scan_getnextslot(TableScanDesc base, ScanDirection direction,
                                  TupleTableSlot* slot) {
  WeakScan* scan = (WeakScan*)base;
  bool forward = !ScanDirectionIsBackward(direction);
  for (;;) {
    int next = scan->at + (forward ? 1 : -1);
    if (scan->now.blocks > 0 && next >= 0 && next < scan->count) {
      scan->at = next;
      return_version(scan, &scan->now.versions[next].position, slot);
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
  return_version(scan, &scan->now.versions[scan->at].position, slot);
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
      scan->count > 0 ? ItemPointerGetOffsetNumber(&scan->now.versions[scan->count - 1].position)
                      : 0;
  for (;;) {
    OffsetNumber offset = state->tsmroutine->NextSampleTuple(state, scan->now.first, last);
    if (!OffsetNumberIsValid(offset)) {
      ExecClearTuple(slot);
      return false;
    }
    for (int i = 0; i < scan->count; ++i) {
      const ItemPointerData* position = &scan->now.versions[i].position;
      if (ItemPointerGetOffsetNumber(position) != offset) continue;
      return_version(scan, position, slot);
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
