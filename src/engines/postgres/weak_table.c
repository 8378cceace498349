/* The access method's table of functions: the heap's, but for those of the other files. */
#include "weak_table.h"

#include "access/heapam.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "store_client.h"
#include "utils/guc.h"
#include "utils/rel.h"
#include "visibility.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(cupel_weak_table);
extern void _PG_init(void);

static TableAmRoutine routine;

Datum cupel_weak_table(PG_FUNCTION_ARGS) {
  PG_RETURN_POINTER(&routine);
}

static void define_settings(void) {
  DefineCustomStringVariable("cupel.socket", "The socket of cupel's mock store.", NULL,
                             &store_socket_path, "", PGC_POSTMASTER, 0, NULL, NULL, NULL);
  DefineCustomBoolVariable(
      "cupel.strong_constraints",
      "Unique constraints and foreign keys are checked on what was committed last.", NULL,
      &constraints_are_strong, false, PGC_POSTMASTER, 0, NULL, NULL, NULL);
  DefineCustomStringVariable("cupel.level", "The level of the session's next transactions.",
                             "Empty: that of the store.", &transaction_level, "", PGC_USERSET, 0,
                             NULL, NULL, NULL);
  DefineCustomStringVariable(
      "cupel.policy", "How the next transactions choose what a read returns.",
      "Empty: as the store does.", &read_policy, "", PGC_USERSET, 0, NULL, NULL, NULL);
  MarkGUCPrefixReserved("cupel");
}

void _PG_init(void) {
  if (!process_shared_preload_libraries_in_progress)
    ereport(ERROR, (errmsg("cupel_weak_table must be in shared_preload_libraries")));
  define_settings();
  routine = *GetHeapamTableAmRoutine();
  set_scan_functions(&routine);
  set_index_functions(&routine);
  set_modify_functions(&routine);
  set_utility_functions(&routine);
  install_statement_hooks();
  install_utility_hook();
  install_transaction_callbacks();
}
