/* The access method's table of functions: the heap's, but for those of the other files. */
#include "weak_table.h"

#include "access/heapam.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "row_lock.h"
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

/* The settings cupel.levels and cupel.policies: the values of the two below, with commas between.
 */
static char* known_levels = NULL;
static char* known_policies = NULL;

/* A value is empty, or one of those. */
static bool check_name(const char* value, const char* known) {
  size_t size = strlen(value);
  if (size == 0) return true;
  for (const char* at = known; at != NULL && *at != '\0';) {
    size_t length = strcspn(at, ",");
    if (length == size && pg_strncasecmp(at, value, size) == 0) return true;
    at += length;
    if (*at == ',') ++at;
  }
  if (known == NULL || *known == '\0') {
    GUC_check_errdetail(
        "The level of a product is that of the whole store. "
        "SET TRANSACTION ISOLATION LEVEL chooses a stronger one.");
  } else {
    GUC_check_errdetail("Available values: %s.", known);
  }
  return false;
}

static bool check_level(char** value, void** extra, GucSource source) {
  return check_name(*value, known_levels);
}

static bool check_policy(char** value, void** extra, GucSource source) {
  return check_name(*value, known_policies);
}

static void define_settings(void) {
  DefineCustomStringVariable("cupel.socket", "The socket of cupel's mock store.", NULL,
                             &store_socket_path, "", PGC_POSTMASTER, 0, NULL, NULL, NULL);
  DefineCustomBoolVariable(
      "cupel.strong_constraints",
      "Unique constraints and foreign keys are checked on what was committed last.", NULL,
      &constraints_are_strong, false, PGC_POSTMASTER, 0, NULL, NULL, NULL);
  DefineCustomStringVariable("cupel.levels", "The values of cupel.level.", NULL, &known_levels, "",
                             PGC_POSTMASTER, 0, NULL, NULL, NULL);
  DefineCustomStringVariable("cupel.policies", "The values of cupel.policy.", NULL, &known_policies,
                             "", PGC_POSTMASTER, 0, NULL, NULL, NULL);
  DefineCustomBoolVariable("cupel.locks", "Rows are locked.", NULL, &locks_are_honoured, true,
                           PGC_POSTMASTER, 0, NULL, NULL, NULL);
  DefineCustomStringVariable("cupel.level", "The level of the session's next transactions.",
                             "Empty: that of the store.", &transaction_level, "", PGC_USERSET, 0,
                             check_level, NULL, NULL);
  DefineCustomStringVariable(
      "cupel.policy", "How the next transactions choose what a read returns.",
      "Empty: as the store does.", &read_policy, "", PGC_USERSET, 0, check_policy, NULL, NULL);
  MarkGUCPrefixReserved("cupel");
}

void _PG_init(void) {
  if (!process_shared_preload_libraries_in_progress)
    ereport(ERROR, (errmsg("cupel_weak_table must be in shared_preload_libraries")));
  define_settings();
  map_store_commits();
  routine = *GetHeapamTableAmRoutine();
  set_scan_functions(&routine);
  set_index_functions(&routine);
  set_modify_functions(&routine);
  set_utility_functions(&routine);
  install_statement_hooks();
  install_utility_hook();
  install_transaction_callbacks();
}
