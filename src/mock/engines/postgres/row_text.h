/* Rows in words: the table, the primary key and the values, for histories and explanations. The key
   also says which rows are the same: two sessions that insert one key write one row of the store.
 */
#ifndef CUPEL_ROW_TEXT_H
#define CUPEL_ROW_TEXT_H

#include "weak_table.h"

/* With its schema, unless that is public. */
extern char* table_text(Relation relation);
/* The whole primary key; NULL: the table has none. */
extern char* key_text(Relation relation, TupleTableSlot* slot);
/* All columns with their names, as cupel takes them (mock/engines/messages.hpp); long values are
   shortened. */
extern char* value_text(TupleTableSlot* slot);
/* Whether the row in `slot` differs from the other in columns of these indexes. */
extern bool columns_differ(Relation relation, TupleTableSlot* slot, HeapTuple old,
                           IndexAttrBitmapKind kind);

#endif
