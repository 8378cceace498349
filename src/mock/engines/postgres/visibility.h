/* Visibility: which version of a row is visible to a snapshot. */
#ifndef CUPEL_VISIBILITY_H
#define CUPEL_VISIBILITY_H

#include "access/htup.h"
#include "executor/tuptable.h"
#include "statement.h"
#include "storage/buf.h"
#include "weak_table.h"

/* How much of the store a reader sees. */
typedef enum Sight {
  SIGHT_WEAK,   /* what the level allows */
  SIGHT_FOUND,  /* the same of a statement that locks what it finds */
  SIGHT_LATEST, /* what was committed last: DDL, and strong constraints */
  SIGHT_ALL     /* every version, for the planner and for triggers that know the version */
} Sight;

typedef struct Reader {
  Sight sight;
  CommandId command;    /* own writes of earlier commands are visible */
  Statement* statement; /* remembers; NULL: each question is asked anew */
} Reader;

/* The snapshot may be NULL: the latest versions. */
extern Reader reader_of(Relation relation, Snapshot snapshot);

typedef struct Version {
  RowId row;
  ItemPointerData position;
} Version;

/* Asks the store about all rows that are not known, in one request. A reader without a statement
   asks about one row, and remembers the last answer. */
extern void read_rows(const Reader* reader, const Version* versions, int count);
/* The same in two steps, for a reader of some of the store. Asks, and does not wait; gives what
   take_rows() waits for. `seen` gets what is known of each version's row, or NULL if that is the
   transaction's own. */
extern uint64 ask_rows(const Reader* reader, const Version* versions, int count, SeenRow** seen);
/* Waits for them; an error if one of them was not answered. */
extern void take_rows(uint64 asked, SeenRow** seen, int count);
/* Leaves the visible ones of these versions, in their order; gives their number. */
extern int keep_visible(const Reader* reader, Version* versions, int count, SeenRow** seen);
/* It would ask about the row. */
extern bool is_unknown(const Reader* reader, const RowId* row);
/* After read_rows(). */
extern bool is_visible(const Reader* reader, const Version* version);
/* After read_rows(): where the visible version is. False: the row is not visible. */
extern bool visible_position(const Reader* reader, const RowId* row, ItemPointerData* position);
/* Both for one version. */
extern bool check_visible(const Reader* reader, const Version* version);

/* The version at the position, from the heap; false: there is none. */
extern bool find_version(Relation relation, const ItemPointerData* position, Version* version);
/* Into the slot. The buffer, of any page of the relation or invalid, becomes that of the version.
 */
extern void store_in_slot(Relation relation, const ItemPointerData* position, Buffer* buffer,
                          TupleTableSlot* slot);
/* The transaction that wrote the version committed, or is the open one. */
extern bool is_of_committed(HeapTupleHeader tuple);

extern bool constraints_are_strong; /* the setting cupel.strong_constraints */

#endif
