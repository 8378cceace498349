/* Own writes: what the open transaction wrote, in order. ROLLBACK TO SAVEPOINT takes the last ones
   back; the last one of each row goes to the store at the commit. */
#ifndef CUPEL_OWN_WRITES_H
#define CUPEL_OWN_WRITES_H

#include "weak_table.h"

typedef struct OwnWrite {
  RowId row;
  ItemPointerData version; /* invalid: the row is deleted */
  CommandId command;
  SubTransactionId subtransaction;
  int previous; /* write of the same row, or -1 */
  bool insert;  /* the row is new */
  bool base;    /* of a rewritten table: every session sees it */
  bool cancelled;
  char *table, *key; /* of a new row: row_text.h */
  char* value;       /* of a version */
} OwnWrite;

extern bool has_own_writes(void);
/* The texts are kept until the transaction ends. */
extern void add_own_write(OwnWrite write);
/* The last write of the row that was made before the command; NULL: there is none. */
extern const OwnWrite* own_write_before(const RowId* row, CommandId command);
extern const OwnWrite* last_own_write(const RowId* row);
/* The open transaction inserted the row. */
extern bool is_own_row(const RowId* row);
/* A speculative insertion failed. */
extern void cancel_own_insert(const RowId* row);
/* The table was emptied, without a new file. */
extern void cancel_own_writes(Oid table);
extern void take_back_own_writes(SubTransactionId subtransaction);
/* The transaction is over. */
extern void forget_own_writes(void);

/* What the store gets to know: of each row the last write. Rows that were inserted and deleted are
   left out. */
typedef struct FinalWrite {
  RowId row;
  ItemPointerData version;
  bool insert, base;
  const char *table, *key, *value;
} FinalWrite;
extern int count_final_writes(void);
extern void for_each_final_write(void (*visit)(const FinalWrite*, void*), void* argument);

#endif
