/* A hook sees every utility statement. Temporary tables and materialized views become ordinary
   tables: nobody shares the first, and the others are made by DDL. CONCURRENTLY is left out, since
   PostgreSQL offers it for its own tables only. CREATE DATABASE copies what the store knows, too.
 */
#include "utility.h"

#include "access/heapam.h"
#include "access/xact.h"
#include "catalog/pg_am.h"
#include "commands/dbcommands.h"
#include "commands/defrem.h"
#include "nodes/parsenodes.h"
#include "own_writes.h"
#include "store_client.h"
#include "tcop/utility.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "visibility.h"

static ProcessUtility_hook_type previous_hook;
static int ddl_depth = 0;

bool runs_ddl(void) {
  return ddl_depth > 0;
}

void forget_ddl(void) {
  ddl_depth = 0;
}

static bool is_ddl(const Node* statement) {
  switch (nodeTag(statement)) {
    case T_AlterTableStmt:
    case T_IndexStmt:
    case T_ReindexStmt:
    case T_ClusterStmt:
    case T_VacuumStmt:
    case T_AlterDomainStmt:
    case T_CreateStmt:
      return true;
    default:
      return false;
  }
}

static bool is_temporary(const RangeVar* table) {
  return table->relpersistence == RELPERSISTENCE_TEMP ||
         (table->schemaname != NULL && strncmp(table->schemaname, "pg_temp", 7) == 0);
}

static List* without_option(List* options, const char* name) {
  List* kept = NIL;
  ListCell* cell;
  foreach (cell, options) {
    if (strcmp(lfirst_node(DefElem, cell)->defname, name) != 0) kept = lappend(kept, lfirst(cell));
  }
  return kept;
}

/* Changes a statement as described above. */
static void adjust_statement(Node* statement, bool top_level) {
  if (IsA(statement, CreateStmt)) {
    CreateStmt* create = (CreateStmt*)statement;
    if (create->accessMethod == NULL && create->partspec == NULL && is_temporary(create->relation))
      create->accessMethod = "heap";
  } else if (IsA(statement, CreateTableAsStmt)) {
    CreateTableAsStmt* create = (CreateTableAsStmt*)statement;
    if (create->into->accessMethod == NULL &&
        (create->objtype == OBJECT_MATVIEW || is_temporary(create->into->rel)))
      create->into->accessMethod = "heap";
  } else if (IsA(statement, IndexStmt)) {
    IndexStmt* index = (IndexStmt*)statement;
    if (index->concurrent) PreventInTransactionBlock(top_level, "CREATE INDEX CONCURRENTLY");
    index->concurrent = false;
  } else if (IsA(statement, ReindexStmt)) {
    ReindexStmt* reindex = (ReindexStmt*)statement;
    reindex->params = without_option(reindex->params, "concurrently");
  }
}

static void copy_database(const CreatedbStmt* statement) {
  const char* from = "template1";
  ListCell* cell;
  foreach (cell, statement->options) {
    DefElem* option = lfirst_node(DefElem, cell);
    if (strcmp(option->defname, "template") == 0 && option->arg != NULL)
      from = defGetString(option);
  }
  store_copy_database(get_database_oid(from, false), get_database_oid(statement->dbname, false));
}

static void call_next(PlannedStmt* plan, const char* text, ProcessUtilityContext context,
                      ParamListInfo parameters, QueryEnvironment* environment,
                      DestReceiver* destination, QueryCompletion* completion) {
  ProcessUtility_hook_type next = previous_hook ? previous_hook : standard_ProcessUtility;
  next(plan, text, false, context, parameters, environment, destination, completion);
}

static void run_utility(PlannedStmt* given, const char* text, bool read_only,
                        ProcessUtilityContext context, ParamListInfo parameters,
                        QueryEnvironment* environment, DestReceiver* destination,
                        QueryCompletion* completion) {
  PlannedStmt* const plan = read_only ? copyObject(given) : given;
  const int depth = ddl_depth;
  adjust_statement(plan->utilityStmt, context == PROCESS_UTILITY_TOPLEVEL);
  if (is_ddl(plan->utilityStmt)) ++ddl_depth;
  PG_TRY();
  { call_next(plan, text, context, parameters, environment, destination, completion); }
  PG_FINALLY();
  { ddl_depth = depth; }
  PG_END_TRY();
  if (IsA(plan->utilityStmt, CreatedbStmt)) copy_database((CreatedbStmt*)plan->utilityStmt);
}

void install_utility_hook(void) {
  previous_hook = ProcessUtility_hook;
  ProcessUtility_hook = run_utility;
}

/* Of the access method: */

static void weak_nontransactional_truncate(Relation relation) {
  cancel_own_writes(relation->rd_node.relNode); /* the positions of its rows are free again */
  GetHeapamTableAmRoutine()->relation_nontransactional_truncate(relation);
}

static void weak_copy_data(Relation relation, const RelFileNode* file) {
  ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                  errmsg("a weak table cannot be moved to another tablespace")));
}

/* CLUSTER and VACUUM FULL: the latest versions move to a new file, in any order. */
static void weak_copy_for_cluster(Relation from, Relation to, Relation index, bool sort,
                                  TransactionId oldest, TransactionId* xid_cutoff,
                                  MultiXactId* multi_cutoff, double* copied, double* removed,
                                  double* recently_dead) {
  TableScanDesc scan = table_beginscan(from, GetActiveSnapshot(), 0, NULL);
  TupleTableSlot* slot = table_slot_create(from, NULL);
  while (table_scan_getnextslot(scan, ForwardScanDirection, slot)) {
    /* In the new table the row has another position. */
    TupleTableSlot* moved = MakeSingleTupleTableSlot(RelationGetDescr(to), &TTSOpsHeapTuple);
    ExecCopySlot(moved, slot);
    table_tuple_insert(to, moved, GetCurrentCommandId(true), 0, NULL);
    ExecDropSingleTupleTableSlot(moved);
    *copied += 1;
  }
  ExecDropSingleTupleTableSlot(slot);
  table_endscan(scan);
}

/* Old versions are still seen. */
static void weak_vacuum(Relation relation, struct VacuumParams* parameters,
                        BufferAccessStrategy strategy) {}

static Oid weak_toast_am(Relation relation) {
  return HEAP_TABLE_AM_OID;
}

void set_utility_functions(TableAmRoutine* routine) {
  routine->relation_nontransactional_truncate = weak_nontransactional_truncate;
  routine->relation_copy_data = weak_copy_data;
  routine->relation_copy_for_cluster = weak_copy_for_cluster;
  routine->relation_vacuum = weak_vacuum;
  routine->relation_toast_am = weak_toast_am;
}
