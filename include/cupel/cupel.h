/* cupel in C: which isolation levels a recorded database history satisfies, and what recorded it.
 *
 * Bob and Carol both read the 1 that Alice wrote, and both write x:
 *
 *   cupel_builder* builder = cupel_builder_new();
 *   cupel_builder_transaction(builder, "alice");
 *   cupel_builder_write(builder, cupel_text("x"), cupel_integer(1));
 *   cupel_builder_transaction(builder, "bob");
 *   cupel_builder_read(builder, cupel_text("x"), cupel_integer(1));
 *   cupel_builder_write(builder, cupel_text("x"), cupel_integer(2));
 *   cupel_builder_transaction(builder, "carol");
 *   cupel_builder_read(builder, cupel_text("x"), cupel_integer(1));
 *   cupel_builder_write(builder, cupel_text("x"), cupel_integer(3));
 *   cupel_history* history = cupel_builder_build(builder);
 *   cupel_builder_free(builder);
 *   if (history == NULL) { puts(cupel_error()); return 1; }
 *   cupel_options options;
 *   cupel_options_init(&options, sizeof options);
 *   options.levels = "snapshot-isolation";
 *   cupel_answer* answer = cupel_check(history, &options);
 *   if (answer == NULL) { puts(cupel_error()); return 1; }
 *   puts(cupel_answer_text(answer));    (what `cupel check` prints: lost-update, and why)
 *   cupel_answer_free(answer);
 *   cupel_history_free(history);
 *
 * Handles are opaque. A handle belongs to one thread at a time, but a history, which never changes,
 * may be used by many. Each is given back by its _free function, which takes NULL too.
 *
 * Errors: a function that returns a pointer returns NULL, one that returns a cupel_status returns
 * CUPEL_FAILED, and cupel_error() says why in a sentence. Nothing prints, exits or throws.
 *
 * Strings: UTF-8. Those that come back belong to the handle they were asked of, and live as long.
 *
 * ABI: the functions here stay as they are within one number of the shared library (libcupel.so.0);
 * structs that may grow carry their size. The C++ interface (check.hpp, record.hpp, mock.hpp) is in
 * the same library, without that promise.
 */
#ifndef CUPEL_CUPEL_H
#define CUPEL_CUPEL_H

/* NOLINTBEGIN(modernize-*): this is C */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { CUPEL_OK = 0, CUPEL_FAILED = -1 } cupel_status;

/* "0.2.0". */
const char* cupel_version(void);
/* Why the last call on this thread failed; "" if none has. Valid until the next that fails. */
const char* cupel_error(void);

/* ---- Values: what a key or a value can be. The integer 1 and the text "1" differ. */

typedef enum { CUPEL_NULL = 0, CUPEL_INTEGER = 1, CUPEL_TEXT = 2 } cupel_kind;

typedef struct {
  cupel_kind kind;
  int64_t integer;  /* of CUPEL_INTEGER */
  const char* text; /* of CUPEL_TEXT; borrowed for the call */
  size_t size;      /* of the text, in bytes */
} cupel_value;

cupel_value cupel_null(void);
cupel_value cupel_integer(int64_t integer);
cupel_value cupel_text(const char* text); /* to its final zero */

/* ---- Histories */

typedef struct cupel_history cupel_history;
typedef struct cupel_builder cupel_builder;

cupel_builder* cupel_builder_new(void);
void cupel_builder_free(cupel_builder* builder);

/* Begins the next transaction of a session; the one before it ends here. Sessions may come in any
 * interleaving, the transactions of one session in the order in which its client ran them. */
cupel_status cupel_builder_transaction(cupel_builder* builder, const char* session);

/* About the open transaction, which counts as committed unless the first or second is called. */
cupel_status cupel_builder_aborted(cupel_builder* builder);       /* certainly without effect */
cupel_status cupel_builder_indeterminate(cupel_builder* builder); /* committed or not */
cupel_status cupel_builder_label(cupel_builder* builder, uint32_t label); /* T7 for 7 */
/* Nanoseconds of one clock, any epoch. Levels that need real time are refused without them. */
cupel_status cupel_builder_times(cupel_builder* builder, int64_t invoked_ns, int64_t completed_ns);

/* Operations of the open transaction, in program order, with what the client saw. A key is used
 * either as a register (the first four) or as a list (the last two). */
cupel_status cupel_builder_read(cupel_builder* builder, cupel_value key, cupel_value value);
cupel_status cupel_builder_write(cupel_builder* builder, cupel_value key, cupel_value value);
cupel_status cupel_builder_erase(cupel_builder* builder, cupel_value key);
cupel_status cupel_builder_compare_and_set(cupel_builder* builder, cupel_value key,
                                           cupel_value expected, cupel_value desired,
                                           int succeeded);
cupel_status cupel_builder_append(cupel_builder* builder, cupel_value list, cupel_value element);
cupel_status cupel_builder_read_list(cupel_builder* builder, cupel_value list,
                                     const cupel_value* elements, size_t count);

/* What every key, or one key, holds at first. Default: null. */
cupel_status cupel_builder_initial(cupel_builder* builder, cupel_value value);
cupel_status cupel_builder_initial_of(cupel_builder* builder, cupel_value key, cupel_value value);

/* The history; the builder is spent then, and still to be freed. */
cupel_history* cupel_builder_build(cupel_builder* builder);

/* A history file, or a folder for the formats that use one. `format`: "jepsen", "plume", "awdit",
 * "dbcop", "cobra", "viper", "cupel" or "knossos"; NULL: recognised by content. */
cupel_history* cupel_history_read(const char* path, const char* format);
/* The same, with what `cupel check` takes for op maps. `kind`: "transactions", "registers", "mutex"
 * or "strings"; NULL: as their f and their values say. `ignore`: leaves out the op maps with these
 * f, separated by commas; NULL: none. The JSON of an answer has both, as `kind` and `ignored`. */
cupel_history* cupel_history_read_as(const char* path, const char* format, const char* kind,
                                     const char* ignore);
/* How the operations were read: "registers with compare-and-set, 3 keys". */
const char* cupel_history_kind(const cupel_history* history);
/* As jepsen (JSON lines), plume, awdit, dbcop or cupel; the file appears whole or not at all. */
cupel_status cupel_history_write(const cupel_history* history, const char* path,
                                 const char* format);
uint64_t cupel_history_transactions(const cupel_history* history);
uint64_t cupel_history_sessions(const cupel_history* history);
uint64_t cupel_history_operations(const cupel_history* history);
void cupel_history_free(cupel_history* history);

/* ---- Checks */

typedef struct {
  size_t size;            /* of this struct, as cupel_options_init() was told */
  const char* levels;     /* "snapshot-isolation,serializable"; NULL: every level */
  int64_t clock_drift_ns; /* intervals are widened by this on both sides; not negative; default 0 */
  double timeout_seconds; /* for all levels together; default 0: no limit */
  uint64_t memory_limit;  /* bytes resident, of the whole process; default 0: no limit */
  unsigned threads;       /* default 0: as many as the machine has */
  double shrink_seconds;  /* to make a violation small; default -1: as long as the check took,
                             at least 1 and at most 5; 0: not at all */
  int history_analysis;   /* not 0: count each anomaly in the whole history; default 0 */
  int evidence;           /* not 0: keep the evidence for cupel_answer_certificate(); default 0 */
} cupel_options;

/* The defaults. `size`: sizeof(cupel_options), as your compiler knows it; what a later header adds
 * is not touched. */
void cupel_options_init(cupel_options* options, size_t size);

typedef enum {
  CUPEL_SATISFIED = 0, /* an order was found that explains every read */
  CUPEL_VIOLATED = 1,  /* no order does */
  CUPEL_UNKNOWN = 2,   /* a limit was met first */
  CUPEL_REFUSED = 3    /* the question has no meaning for this history */
} cupel_verdict;

typedef struct cupel_answer cupel_answer;

/* `options` may be NULL. Nearly linear time on histories whose order is forced, as most are;
 * possibly exponential on others: give those a timeout. */
cupel_answer* cupel_check(const cupel_history* history, const cupel_options* options);
void cupel_answer_free(cupel_answer* answer);

/* As `cupel check` prints it, and as `cupel check --json` does (docs/reference/commands.md has the
 * fields). If there were transactions and none committed, `cupel check` is an error; here the
 * levels that are not violated are satisfied, and the field `warnings` says so. */
const char* cupel_answer_text(const cupel_answer* answer);
const char* cupel_answer_json(const cupel_answer* answer);

/* The levels as asked; all of them: weakest first. An index that is too large gives NULL,
 * CUPEL_REFUSED or 0. */
size_t cupel_answer_level_count(const cupel_answer* answer);
const char* cupel_answer_level(const cupel_answer* answer, size_t level); /* "causal" */
cupel_verdict cupel_answer_verdict(const cupel_answer* answer, size_t level);
const char* cupel_answer_detail(const cupel_answer* answer, size_t level); /* of unknown, refused */

/* Whether a recorded run kept the writes that it acknowledged, as `cupel check` judges it for its
 * exit code: CUPEL_VIOLATED if its final reads show lost writes or nodes that differ (beside levels
 * by name: only if a table is gone as a whole), CUPEL_UNKNOWN if the final reads failed, or if a
 * table is gone and no acknowledged write is known to be lost. The detail says why. */
cupel_verdict cupel_answer_durable(const cupel_answer* answer);
const char* cupel_answer_durable_detail(const cupel_answer* answer); /* of violated, unknown */

/* What went wrong at a level: at least one anomaly where it is violated. */
size_t cupel_answer_anomaly_count(const cupel_answer* answer, size_t level);
const char* cupel_answer_anomaly(const cupel_answer* answer, size_t level, size_t anomaly);
const char* cupel_answer_explanation(const cupel_answer* answer, size_t level, size_t anomaly);

/* The counterexample of the first violation as a picture: an SVG file's text. NULL, and an error,
 * where nothing is violated. */
const char* cupel_answer_svg(cupel_answer* answer);

/* The evidence for every verdict, as `cupel check --certificate` writes it. NULL, and an error,
 * without `evidence` in the options, or where a limit was met. */
const char* cupel_answer_certificate(cupel_answer* answer);
/* Checks a certificate against the history, with code that shares nothing with cupel_check().
 * `clock_drift_ns`: that of the check. The result is the object of `cupel verify --json`, whose
 * field `valid` says whether every verdict in it is proven; it lives until the next call on this
 * thread. NULL, and an error, if `certificate` is none. */
const char* cupel_verify(const cupel_history* history, const char* certificate,
                         int64_t clock_drift_ns);

/* The name that answers have for a level, from any of its names: "snapshot-isolation" for "SI".
 * NULL, and an error, if there is no such level. */
const char* cupel_level_name(const char* name);
/* A page about a level or an anomaly by any of its names; NULL if there is none. */
const char* cupel_describe(const char* name);

/* ---- Recording: what your application saw, as a history file (JSON lines) */

typedef struct cupel_recorder cupel_recorder; /* a file; any thread */
typedef struct cupel_session cupel_session;   /* what one client saw; one thread at a time */

/* `database` and `isolation` name the product and its level in the header of the file, for
 * `cupel check` ("PostgreSQL", "repeatable read"); either may be NULL. */
cupel_recorder* cupel_recorder_open(const char* path, const char* database, const char* isolation);
/* Everything handed over reaches the file. Fails if something could not be written, or if a call of
 * a session failed: the history is incomplete then, and no verdict about it holds. */
cupel_status cupel_recorder_close(cupel_recorder* recorder);
/* Closes if that was not done. Its sessions must have been freed. */
void cupel_recorder_free(cupel_recorder* recorder);
/* Unique among the writes of this recorder, from 1: a value that shows which write it came from. */
int64_t cupel_recorder_unique_id(cupel_recorder* recorder);

cupel_session* cupel_session_new(cupel_recorder* recorder); /* NULL once it is closed */
void cupel_session_free(cupel_session* session); /* an open transaction becomes indeterminate */
void cupel_session_begin(cupel_session* session);
void cupel_session_read(cupel_session* session, cupel_value key, cupel_value value);
void cupel_session_write(cupel_session* session, cupel_value key, cupel_value value);
void cupel_session_erase(cupel_session* session, cupel_value key);
void cupel_session_append(cupel_session* session, cupel_value list, cupel_value element);
void cupel_session_read_list(cupel_session* session, cupel_value list, const cupel_value* elements,
                             size_t count);
void cupel_session_committing(cupel_session* session); /* just before COMMIT is sent */
void cupel_session_committed(cupel_session* session);  /* it was acknowledged */
void cupel_session_aborted(cupel_session* session, const char* why);       /* NULL: no reason */
void cupel_session_indeterminate(cupel_session* session, const char* why); /* time-out … */

#ifdef __cplusplus
}
#endif

/* NOLINTEND(modernize-*) */

#endif /* CUPEL_CUPEL_H */
