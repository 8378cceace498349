/* Own writes: an array in the order of time, and a hash table that leads from a row to its last
   write. Each write knows the one before it of its row. A subtransaction that aborts takes back a
   suffix of the array, because its identifier and those of its children are the highest so far. */
#include "own_writes.h"

#include "access/xact.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"

typedef struct LastWrite {
  RowId row;
  int at;
} LastWrite;

static OwnWrite* writes = NULL;
static int count = 0, capacity = 0;
static HTAB* last_writes = NULL;

static void make_room(void) {
  if (writes == NULL) {
    HASHCTL control = {
        .keysize = sizeof(RowId), .entrysize = sizeof(LastWrite), .hcxt = TopTransactionContext};
    last_writes = hash_create("own writes", 256, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
    capacity = 64;
    writes = MemoryContextAlloc(TopTransactionContext, capacity * sizeof(OwnWrite));
  } else if (count == capacity) {
    capacity *= 2;
    writes = repalloc_huge(writes, capacity * sizeof(OwnWrite));
  }
}

static int last_of(const RowId* row) {
  LastWrite* found = last_writes == NULL ? NULL : hash_search(last_writes, row, HASH_FIND, NULL);
  return found == NULL ? -1 : found->at;
}

bool has_own_writes(void) {
  return count > 0;
}

static char* keep(const char* text) {
  return text == NULL ? NULL : MemoryContextStrdup(TopTransactionContext, text);
}

void add_own_write(OwnWrite write) {
  LastWrite* last;
  make_room();
  write.previous = last_of(&write.row);
  write.subtransaction = GetCurrentSubTransactionId();
  write.table = keep(write.table);
  write.key = keep(write.key);
  write.value = keep(write.value);
  last = hash_search(last_writes, &write.row, HASH_ENTER, NULL);
  last->at = count;
  writes[count++] = write;
}

const OwnWrite* own_write_before(const RowId* row, CommandId command) {
  int at = last_of(row);
  while (at >= 0 && (writes[at].cancelled || writes[at].command >= command))
    at = writes[at].previous;
  return at < 0 ? NULL : &writes[at];
}

const OwnWrite* last_own_write(const RowId* row) {
  int at = last_of(row);
  while (at >= 0 && writes[at].cancelled) at = writes[at].previous;
  return at < 0 ? NULL : &writes[at];
}

/* The write that inserted the row; NULL: it was there before. */
static const OwnWrite* own_insert(const RowId* row) {
  int at = last_of(row);
  while (at >= 0 && (writes[at].cancelled || !writes[at].insert)) at = writes[at].previous;
  return at < 0 ? NULL : &writes[at];
}

bool is_own_row(const RowId* row) {
  return own_insert(row) != NULL;
}

void cancel_own_insert(const RowId* row) {
  int at = last_of(row);
  if (at >= 0) writes[at].cancelled = true;
}

void cancel_own_writes(Oid table) {
  for (int i = 0; i < count; ++i) {
    if (writes[i].row.table == table) writes[i].cancelled = true;
  }
}

void take_back_own_writes(SubTransactionId subtransaction) {
  while (count > 0 && writes[count - 1].subtransaction >= subtransaction) {
    const OwnWrite* write = &writes[--count];
    if (write->previous >= 0) {
      LastWrite* last = hash_search(last_writes, &write->row, HASH_FIND, NULL);
      last->at = write->previous;
    } else {
      hash_search(last_writes, &write->row, HASH_REMOVE, NULL);
    }
  }
}

void forget_own_writes(void) {
  writes = NULL; /* it goes with the memory of the transaction */
  last_writes = NULL;
  count = capacity = 0;
}

static bool is_final(const OwnWrite* write) {
  if (write->cancelled || last_own_write(&write->row) != write) return false;
  return ItemPointerIsValid(&write->version) || !is_own_row(&write->row);
}

int count_final_writes(void) {
  int found = 0;
  for (int i = 0; i < count; ++i) found += is_final(&writes[i]);
  return found;
}

static void visit_final_writes(bool deletions, void (*visit)(const FinalWrite*, void*),
                               void* argument) {
  for (int i = 0; i < count; ++i) {
    const OwnWrite *write = &writes[i], *insert;
    FinalWrite last = {write->row, write->version, .value = write->value};
    if (!is_final(write) || ItemPointerIsValid(&write->version) == deletions) continue;
    insert = own_insert(&write->row);
    if (insert != NULL) {
      last.insert = true;
      last.base = insert->base;
      last.table = insert->table;
      last.key = insert->key;
    }
    visit(&last, argument);
  }
}

/* Deletions first: a row may have been inserted under the primary key of one that went. */
void for_each_final_write(void (*visit)(const FinalWrite*, void*), void* argument) {
  visit_final_writes(true, visit, argument);
  visit_final_writes(false, visit, argument);
}
