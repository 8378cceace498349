/* Statements are known by the snapshots of their executors: ExecutorStart registers one,
   ExecutorEnd removes it. An error removes those of its subtransaction. The versions that it has
   seen are in arrays of neighbours, so that a scan finds most of them without a search. */
#include "statement.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "common/hashfn.h"
#include "executor/executor.h"
#include "nodes/pg_list.h"
#include "parser/parsetree.h"
#include "utils/memutils.h"

enum { kNeighbours = 32, kRecent = 64, kOfPage = MaxHeapTuplesPerPage / kNeighbours + 1 };

typedef struct NeighboursKey {
  Oid table;
  BlockNumber block;
  uint32 offset; /* divided by kNeighbours */
} NeighboursKey;

typedef struct Neighbours {
  NeighboursKey key;
  SeenRow* rows;
  char status; /* of the hash table */
} Neighbours;

static inline uint32 hash_key(const NeighboursKey* key) {
  return hash_combine(murmurhash32(key->block * 16 + key->offset), key->table);
}

#define SH_PREFIX seen
#define SH_ELEMENT_TYPE Neighbours
#define SH_KEY_TYPE NeighboursKey
#define SH_KEY key
#define SH_HASH_KEY(table, key) hash_key(&(key))
#define SH_EQUAL(table, a, b) (memcmp(&(a), &(b), sizeof(NeighboursKey)) == 0)
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

struct Statement {
  Statement* next;
  const EState* executor; /* NULL: of make_statement() */
  PlanState* plan;
  Snapshot snapshot;
  SubTransactionId subtransaction;
  uint32 number, commits;
  bool foreign_key, shows;
  PlanState* to_end; /* of scan_to_end() */
  List* locked_tables;
  uint64 found, locked; /* rows */
  MemoryContext memory;
  seen_hash* seen;
  Neighbours recent[kRecent]; /* that were looked for, by block and offset */
};

static Statement* statements = NULL; /* those that are open, the last first */
static Statement* running = NULL;
static uint32 last_number = 0;
static List* looked_at = NIL; /* tables, of this transaction */

static ExecutorStart_hook_type previous_start;
static ExecutorRun_hook_type previous_run;
static ExecutorFinish_hook_type previous_finish;
static ExecutorEnd_hook_type previous_end;

uint32 next_statement_number(void) {
  return ++last_number;
}

uint32 statement_number(const Statement* statement) {
  return statement->number;
}

uint32 statement_commits(const Statement* statement) {
  return statement == NULL ? kAllCommits : statement->commits;
}

bool checks_foreign_key(const Statement* statement) {
  return statement->foreign_key;
}

bool locks_table(const Statement* statement, Oid table) {
  return list_member_oid(statement->locked_tables, table);
}

bool only_shows(const Statement* statement) {
  return statement->shows;
}

void note_found(Statement* statement, int rows) {
  statement->found += rows;
}

void note_locked(Statement* statement) {
  ++statement->locked;
}

Statement* running_statement(void) {
  return running;
}

Statement* statement_of(Snapshot snapshot) {
  for (Statement* s = statements; s != NULL; s = s->next) {
    if (s->snapshot == snapshot) return s;
  }
  return NULL;
}

Statement* make_statement(void) {
  MemoryContext memory =
      AllocSetContextCreate(TopTransactionContext, "weak statement", ALLOCSET_SMALL_SIZES);
  Statement* made = MemoryContextAllocZero(memory, sizeof(Statement));
  made->memory = memory;
  made->number = next_statement_number();
  made->commits = store_commits();
  return made;
}

MemoryContext memory_of(const Statement* statement) {
  return statement->memory;
}

void free_statement(Statement* statement) {
  store_forget_reads(statement);
  MemoryContextDelete(statement->memory);
}

SeenRow* seen_row(Statement* statement, const RowId* row) {
  NeighboursKey key = {row->table, row->block, row->offset / kNeighbours};
  Neighbours* recent = &statement->recent[(key.block * kOfPage + key.offset) % kRecent];
  if (recent->rows == NULL || memcmp(&recent->key, &key, sizeof key) != 0) {
    Neighbours* found;
    bool is_there;
    if (statement->seen == NULL) statement->seen = seen_create(statement->memory, 8, NULL);
    found = seen_insert(statement->seen, key, &is_there);
    if (!is_there) {
      found->rows = NULL; /* if there is no memory for them */
      found->rows = MemoryContextAllocZero(statement->memory, kNeighbours * sizeof(SeenRow));
    }
    *recent = *found;
  }
  return &recent->rows[row->offset % kNeighbours];
}

PlanState* plan_of(const Statement* statement) {
  return statement->plan;
}

PlanState* scan_to_end(const Statement* statement) {
  return statement->to_end;
}

/* The lowest of a chain of nodes that each ask for all rows of the one below. */
static PlanState* lowest_to_end(PlanState* plan) {
  for (; plan != NULL; plan = outerPlanState(plan)) {
    switch (nodeTag(plan)) {
      case T_AggState:
      case T_GroupState:
      case T_IncrementalSortState:
      case T_LockRowsState:
      case T_MaterialState:
      case T_ModifyTableState:
      case T_ProjectSetState:
      case T_ResultState:
      case T_SortState:
      case T_UniqueState:
        break;
      case T_IndexOnlyScanState:
      case T_IndexScanState:
      case T_SeqScanState:
        return plan;
      default:
        return NULL;
    }
  }
  return NULL;
}

bool first_look_at(Oid table) {
  MemoryContext before;
  if (list_member_oid(looked_at, table)) return false;
  before = MemoryContextSwitchTo(TopTransactionContext);
  looked_at = lappend_oid(looked_at, table);
  MemoryContextSwitchTo(before);
  return true;
}

/* The statements of PostgreSQL's own checks lock what they read in this way, and hardly any other.
 */
static bool locks_key_share(const PlannedStmt* plan) {
  ListCell* cell;
  foreach (cell, plan->rowMarks) {
    if (lfirst_node(PlanRowMark, cell)->strength == LCS_FORKEYSHARE) return true;
  }
  return false;
}

static List* tables_to_lock(const PlannedStmt* plan) {
  List* tables = NIL;
  ListCell* cell;
  if (plan->commandType != CMD_INSERT) {
    foreach (cell, plan->resultRelations)
      tables = list_append_unique_oid(tables, rt_fetch(lfirst_int(cell), plan->rtable)->relid);
  }
  foreach (cell, plan->rowMarks) {
    const PlanRowMark* mark = lfirst_node(PlanRowMark, cell);
    if (mark->markType <= ROW_MARK_SHARE)
      tables = list_append_unique_oid(tables, rt_fetch(mark->rti, plan->rtable)->relid);
  }
  return tables;
}

static void add_statement(const QueryDesc* query) {
  Statement* made = make_statement();
  MemoryContext before;
  made->executor = query->estate;
  made->plan = query->planstate;
  made->snapshot = query->estate->es_snapshot;
  made->subtransaction = GetCurrentSubTransactionId();
  made->foreign_key = locks_key_share(query->plannedstmt);
  made->shows = query->operation == CMD_SELECT;
  before = MemoryContextSwitchTo(made->memory);
  made->locked_tables = tables_to_lock(query->plannedstmt);
  MemoryContextSwitchTo(before);
  made->next = statements;
  statements = made;
}

static void remove_statement(const EState* executor) {
  for (Statement** at = &statements; *at != NULL; at = &(*at)->next) {
    Statement* found = *at;
    if (found->executor != executor) continue;
    *at = found->next;
    if (found->found > found->locked) store_end_statement(found->number);
    free_statement(found);
    return;
  }
}

static Statement* statement_of_query(const QueryDesc* query) {
  for (Statement* s = statements; s != NULL; s = s->next) {
    if (s->executor == query->estate) return s;
  }
  return NULL;
}

static void start_query(QueryDesc* query, int flags) {
  if (previous_start) {
    previous_start(query, flags);
  } else {
    standard_ExecutorStart(query, flags);
  }
  add_statement(query);
  if (running == NULL && query->operation != CMD_SELECT && (flags & EXEC_FLAG_EXPLAIN_ONLY) == 0)
    store_note_statement();
}

/* The client has begun no transaction, so the commit settles what is not settled yet. */
static bool commits_next(void) {
  return !IsTransactionBlock() && GetCurrentTransactionNestLevel() == 1;
}

static void run_query(QueryDesc* query, ScanDirection direction, uint64 rows, bool once) {
  Statement* outer = running;
  running = statement_of_query(query);
  if (running != NULL) running->to_end = rows == 0 ? lowest_to_end(query->planstate) : NULL;
  PG_TRY();
  {
    if (previous_run) {
      previous_run(query, direction, rows, once);
    } else {
      standard_ExecutorRun(query, direction, rows, once);
    }
    if (outer != NULL || !commits_next()) store_settle();
  }
  PG_FINALLY();
  { running = outer; }
  PG_END_TRY();
}

static void finish_query(QueryDesc* query) {
  Statement* outer = running;
  running = statement_of_query(query);
  PG_TRY();
  {
    if (previous_finish) {
      previous_finish(query);
    } else {
      standard_ExecutorFinish(query);
    }
  }
  PG_FINALLY();
  { running = outer; }
  PG_END_TRY();
}

static void end_query(QueryDesc* query) {
  const EState* executor = query->estate;
  if (previous_end) {
    previous_end(query);
  } else {
    standard_ExecutorEnd(query);
  }
  remove_statement(executor);
}

void forget_statements(SubTransactionId subtransaction) {
  Statement** at = &statements;
  while (*at != NULL) {
    Statement* found = *at;
    if (found->subtransaction < subtransaction) {
      at = &found->next;
      continue;
    }
    *at = found->next;
    free_statement(found);
  }
}

void forget_all_statements(void) {
  statements = running = NULL; /* they go with the memory of the transaction */
  looked_at = NIL;
}

void install_statement_hooks(void) {
  previous_start = ExecutorStart_hook;
  ExecutorStart_hook = start_query;
  previous_run = ExecutorRun_hook;
  ExecutorRun_hook = run_query;
  previous_finish = ExecutorFinish_hook;
  ExecutorFinish_hook = finish_query;
  previous_end = ExecutorEnd_hook;
  ExecutorEnd_hook = end_query;
}
