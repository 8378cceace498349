/* weak_table: a table access method for PostgreSQL 15 whose rows are as weak as a mock store
   allows.

   A row version is a heap tuple that is never changed, chained or removed. Its t_ctid is the
   position of the row's first version, which names the row. Which version of a row a statement sees
   is not decided by snapshots, but by cupel's mock store, which is asked over a Unix socket
   (store_client.h). So indexes, constraints, triggers and the rest of SQL are PostgreSQL's own.

     store_client   the connection to the store
     own_writes     what the open transaction wrote: it goes to the store when it commits
     statement      the versions that a statement has seen: it asks once for a row
     visibility     which version of a row is visible
     row_text       rows in words, for explanations
     scan           sequential, bitmap and sample scans, ANALYZE
     index          fetches by index, and the building of indexes
     modify         INSERT, UPDATE, DELETE, FOR UPDATE, COPY
     row_lock       who may change a row, until when
     utility        DDL: strong, since catalogs are
     transaction    commit, abort, savepoints
     weak_table     the table of the functions

   docs/reference/mock-engines.md describes what users see. */
#ifndef CUPEL_WEAK_TABLE_H
#define CUPEL_WEAK_TABLE_H

#include "access/tableam.h"
#include "nodes/execnodes.h"
#include "storage/block.h"
#include "storage/itemptr.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

/* A row, by the position of its first version. Without padding: it is hashed. */
typedef struct RowId {
  Oid table; /* the relation's file: TRUNCATE and rewrites make another table */
  BlockNumber block;
  uint32 offset;
} RowId;

static inline RowId row_at(Relation relation, const ItemPointerData* first) {
  RowId row = {relation->rd_node.relNode, ItemPointerGetBlockNumberNoCheck(first),
               ItemPointerGetOffsetNumberNoCheck(first)};
  return row;
}

/* The functions of the access method, by file. */
extern void set_scan_functions(TableAmRoutine* routine);
extern void set_index_functions(TableAmRoutine* routine);
extern void set_modify_functions(TableAmRoutine* routine);
extern void set_utility_functions(TableAmRoutine* routine);

extern void install_statement_hooks(void);
extern void install_utility_hook(void);
extern void install_transaction_callbacks(void);

#endif
