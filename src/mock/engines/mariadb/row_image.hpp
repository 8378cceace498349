// Row images: rows as bytes that a RowStore keeps, keys as an index has them, and their texts.
//
// A row is the server's record followed by the contents of its BLOBs. All functions take the record
// of a row, in either of the table's two buffers.
#pragma once

#include <cstddef>
#include <string>

#include "mock/engines/mariadb/row_store.hpp"
#include "mock/engines/mariadb/server.hpp"

namespace cupel::engines::mariadb {

std::string pack_row(const TABLE& table, const uchar* record);
// The record has pointers into `bytes` then.
void unpack_row(const TABLE& table, const std::string& bytes, uchar* record);

// The order of an index, with descending columns turned round. Nulls are the smallest.
KeyOrder order_of(const KEY& key);
// The whole key of a row.
std::string key_of(const KEY& key, const uchar* record);
bool has_null(const KEY& key, const uchar* record);
// The same for the key's own bytes.
bool key_has_null(const KEY& key, const uchar* bytes);
// Equal keys have equal ones.
std::string hash_text(const KEY& key, const uchar* record);
// Whether two rows have the same key.
bool same_key(const KEY& key, const uchar* one, const uchar* other);

// "orders"; with the database before it, but for the main one.
std::string table_text(const char* database, const char* table);
// Of the primary key: "5" or "3,left"; different keys have different texts. Empty: there is none.
std::string key_text(const TABLE& table, const uchar* record);
// All columns with their names, as in Write.
std::string value_text(const TABLE& table, const uchar* record);

}  // namespace cupel::engines::mariadb
