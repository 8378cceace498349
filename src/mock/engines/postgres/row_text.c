/* Values are written by their types' output functions. */
#include "row_text.h"

#include "access/htup_details.h"
#include "catalog/namespace.h"
#include "lib/stringinfo.h"
#include "utility.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/relcache.h"

enum { kLongestValue = 60 };

/* A table that is being rewritten is called pg_temp_OID, after the one that it becomes. */
static Oid named_relation(Relation relation) {
  const char* name = RelationGetRelationName(relation);
  const char prefix[] = "pg_temp_";
  char* end;
  unsigned long number;
  if (!runs_ddl() || strncmp(name, prefix, strlen(prefix)) != 0) return RelationGetRelid(relation);
  number = strtoul(name + strlen(prefix), &end, 10);
  return *end == '\0' && get_rel_name((Oid)number) != NULL ? (Oid)number
                                                           : RelationGetRelid(relation);
}

char* table_text(Relation relation) {
  Oid named = named_relation(relation);
  const char* name = get_rel_name(named);
  const char* schema = get_namespace_name(get_rel_namespace(named));
  if (name == NULL) name = RelationGetRelationName(relation);
  if (schema == NULL || strcmp(schema, "public") == 0) return pstrdup(name);
  return psprintf("%s.%s", schema, name);
}

static char* text_of_datum(Datum value, Oid type) {
  Oid output;
  bool varlena;
  getTypeOutputInfo(type, &output, &varlena);
  return OidOutputFunctionCall(output, value);
}

/* Commas and backslashes are escaped, so that different keys have different texts. An empty one
   has a text, too: none means that there is no key. */
static void append_key_part(StringInfo text, const char* part) {
  if (*part == '\0') appendStringInfoString(text, "\\e");
  for (; *part != '\0'; ++part) {
    if (*part == ',' || *part == '\\') appendStringInfoCharMacro(text, '\\');
    appendStringInfoCharMacro(text, *part);
  }
}

/* A table that is being rewritten has its columns already, and its indexes later. */
static Bitmapset* key_columns(Relation relation) {
  Relation named = RelationIdGetRelation(named_relation(relation));
  Bitmapset* columns = RelationGetIndexAttrBitmap(named, INDEX_ATTR_BITMAP_PRIMARY_KEY);
  RelationClose(named);
  return columns;
}

char* key_text(Relation relation, TupleTableSlot* slot) {
  Bitmapset* columns = key_columns(relation);
  StringInfoData text;
  int column = -1;
  if (bms_is_empty(columns)) return NULL;
  initStringInfo(&text);
  while ((column = bms_next_member(columns, column)) >= 0) {
    AttrNumber number = (AttrNumber)(column + FirstLowInvalidHeapAttributeNumber);
    bool null;
    Datum value = slot_getattr(slot, number, &null);
    if (text.len > 0) appendStringInfoCharMacro(&text, ',');
    if (!null) {
      Oid type = TupleDescAttr(slot->tts_tupleDescriptor, number - 1)->atttypid;
      append_key_part(&text, text_of_datum(value, type));
    }
  }
  bms_free(columns);
  return text.data;
}

/* A value that is long or stored elsewhere is not worth its time. */
static bool is_short(Datum value, Form_pg_attribute column) {
  if (column->attlen != -1) return true;
  return !VARATT_IS_EXTENDED(DatumGetPointer(value)) || VARATT_IS_SHORT(DatumGetPointer(value))
             ? VARSIZE_ANY_EXHDR(DatumGetPointer(value)) <= kLongestValue
             : false;
}

/* What separates a name from its value, and a column from the next. */
enum { kValue = 0x1e, kNextColumn = 0x1f };

static void append_part(StringInfo text, const char* part) {
  for (; *part != '\0'; ++part)
    appendStringInfoCharMacro(text, *part == kValue || *part == kNextColumn ? ' ' : *part);
}

char* value_text(TupleTableSlot* slot) {
  TupleDesc columns = slot->tts_tupleDescriptor;
  StringInfoData text;
  slot_getallattrs(slot);
  initStringInfo(&text);
  for (int i = 0; i < columns->natts; ++i) {
    Form_pg_attribute column = TupleDescAttr(columns, i);
    if (column->attisdropped) continue;
    if (text.len > 0) appendStringInfoCharMacro(&text, kNextColumn);
    append_part(&text, NameStr(column->attname));
    appendStringInfoCharMacro(&text, kValue);
    if (slot->tts_isnull[i]) {
      appendStringInfoString(&text, "null");
    } else if (is_short(slot->tts_values[i], column)) {
      append_part(&text, text_of_datum(slot->tts_values[i], column->atttypid));
    } else {
      appendStringInfoString(&text, "…");
    }
  }
  return text.data;
}

bool columns_differ(Relation relation, TupleTableSlot* slot, HeapTuple old,
                    IndexAttrBitmapKind kind) {
  Bitmapset* columns = RelationGetIndexAttrBitmap(relation, kind);
  bool differs = false;
  int at = -1;
  while (!differs && (at = bms_next_member(columns, at)) >= 0) {
    AttrNumber number = (AttrNumber)(at + FirstLowInvalidHeapAttributeNumber);
    Form_pg_attribute column = TupleDescAttr(RelationGetDescr(relation), number - 1);
    bool new_null, old_null;
    Datum new_value = slot_getattr(slot, number, &new_null);
    Datum old_value = heap_getattr(old, number, RelationGetDescr(relation), &old_null);
    differs =
        new_null != old_null ||
        (!new_null && !datum_image_eq(new_value, old_value, column->attbyval, column->attlen));
  }
  bms_free(columns);
  return differs;
}
