// Foreign keys of the rows that a statement writes: each has its parent, and the children of a row
// that changes or goes follow it. As in InnoDB, they are checked row by row, and triggers do not
// see the rows that follow.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "mock/engines/mariadb/foreign_keys.hpp"
#include "mock/engines/mariadb/ha_cupel.hpp"
#include "mock/engines/mariadb/session.hpp"

namespace cupel::engines::mariadb {

namespace {

using Action = ForeignKey::Action;
using Columns = std::vector<std::string>;

constexpr int kDeepest = 15;  // as in InnoDB

// Tables that are changed because another one was.
thread_local int depth = 0;
class Deeper {
 public:
  Deeper() { ++depth; }
  ~Deeper() { --depth; }
  Deeper(const Deeper&) = delete;
  Deeper& operator=(const Deeper&) = delete;
};

// While it lives, fields are those of the record.
class AtRecord {
 public:
  AtRecord(Field* field, const TABLE& table, const uchar* record)
      : field_(field), offset_(record - table.record[0]) {
    field_->move_field_offset(offset_);
  }
  ~AtRecord() { field_->move_field_offset(-offset_); }
  AtRecord(const AtRecord&) = delete;
  AtRecord& operator=(const AtRecord&) = delete;

 private:
  Field* field_;
  my_ptrdiff_t offset_;
};

bool has_null(const TABLE& table, const Columns& columns, const uchar* record) {
  return std::any_of(columns.begin(), columns.end(), [&](const std::string& column) {
    auto* field = field_of(table, column);
    const AtRecord at(field, table, record);
    return field->is_null();
  });
}

bool same_values(const TABLE& table, const Columns& columns, const uchar* one, const uchar* other) {
  return std::all_of(columns.begin(), columns.end(), [&](const std::string& column) {
    auto* field = field_of(table, column);
    const bool null = field->is_null_in_record(one), other_null = field->is_null_in_record(other);
    if (null || other_null) return null == other_null;
    const auto offset = field->ptr - table.record[0];
    return field->cmp(one + offset, other + offset) == 0;
  });
}

// Into the table's first buffer.
void copy_values(const TABLE& from, const Columns& from_columns, const uchar* record,
                 const TABLE& to, const Columns& to_columns) {
  for (std::size_t i = 0; i < to_columns.size(); ++i) {
    auto* source = field_of(from, from_columns[i]);
    auto* target = field_of(to, to_columns[i]);
    const AtRecord at(source, from, record);
    if (source->is_null()) {
      target->set_null();
    } else {
      target->set_notnull();
      field_conv(target, source);
    }
  }
}

// The beginning of the index's key, of the table's first buffer.
std::string key_of_columns(const TABLE& table, uint index, std::size_t columns) {
  const auto& info = table.key_info[index];
  std::size_t length = 0;
  for (std::size_t i = 0; i < columns; ++i) length += info.key_part[i].store_length;
  return key_of(info, table.record[0]).substr(0, length);
}

}  // namespace

int ha_cupel::violate(int error, const std::string& child_database, const std::string& child_table,
                      const ForeignKey& foreign_key) {
  related_tables(current_thd).violated =
      "`" + child_database + "`.`" + child_table + "`, " + text_of(foreign_key, child_database);
  return error;
}

bool ha_cupel::get_error_message(int error, String* text) {
  if (error == HA_ERR_NO_REFERENCED_ROW || error == HA_ERR_ROW_IS_REFERENCED) {
    const auto& violated = related_tables(current_thd).violated;
    text->copy(violated.data(), static_cast<uint32>(violated.size()), system_charset_info);
  }
  return false;
}

std::optional<bool> ha_cupel::has_key(uint index, const std::string& wanted, RowNumber except) {
  // That there is none is a read, too.
  if (!constraints_are_strong() && look_for_others() != 0) {
    error_ = failed();
    return std::nullopt;
  }
  return is_taken(index, wanted, except);
}

int ha_cupel::check_parents(const uchar* record, const uchar* before) {
  THD* thd = ha_thd();
  if (weak_->foreign_keys.empty() || !checks_foreign_keys(thd)) return 0;
  for (const auto& foreign_key : weak_->foreign_keys) {
    if (has_null(*table, foreign_key.columns, record) ||
        (before != nullptr && same_values(*table, foreign_key.columns, before, record)))
      continue;
    if (const int error = check_parent(foreign_key, record); error != 0) return error;
  }
  return 0;
}

int ha_cupel::check_parent(const ForeignKey& foreign_key, const uchar* record) {
  THD* thd = ha_thd();
  const auto missing = [&] {
    const auto name = runs_ddl_
                          ? TableName{table_share->db.str, thd->lex->query_tables->table_name.str}
                          : TableName{table_share->db.str, table_share->table_name.str};
    return violate(HA_ERR_NO_REFERENCED_ROW, name.database, name.table, foreign_key);
  };
  auto* parent =
      related_tables(thd).open(thd, foreign_key.parent_database, foreign_key.parent_table, false);
  const auto index =
      parent == nullptr ? std::nullopt : index_of(*parent, foreign_key.parent_columns);
  if (!index) return missing();
  copy_values(*table, foreign_key.columns, record, *parent, foreign_key.parent_columns);
  const auto wanted = key_of_columns(*parent, *index, foreign_key.columns.size());
  auto* there = static_cast<ha_cupel*>(parent->file);
  if (there->weak_ == weak_) {  // a row may be its own parent
    const auto own = key_of(key(*index), record);
    if (order_of(key(*index))(reinterpret_cast<const uchar*>(own.data()),
                              reinterpret_cast<const uchar*>(wanted.data()), wanted.size()) == 0)
      return 0;
  }
  if (const int error = there->join_statement(thd, false); error != 0) return error;
  const auto found = there->has_key(*index, wanted, 0);
  if (!found) return there->error_;
  return *found ? 0 : missing();
}

int ha_cupel::change_children(const uchar* before, const uchar* after, RowNumber row) {
  if (runs_ddl_ || weak_->strong() || !checks_foreign_keys(ha_thd())) return 0;
  const auto references = catalog().references_to(table_share->db.str, table_share->table_name.str);
  for (const auto& reference : references) {
    const auto& columns = reference.key.parent_columns;
    if (is_temporary_name(reference.path) || has_null(*table, columns, before) ||
        (after != nullptr && same_values(*table, columns, before, after)))
      continue;
    const Deeper deeper;
    if (depth > kDeepest) return HA_ERR_FK_DEPTH_EXCEEDED;
    const int error = change_children_of(reference, before, after, row);
    if (error != 0) return error;
  }
  return 0;
}

int ha_cupel::change_children_of(const Catalog::Reference& reference, const uchar* before,
                                 const uchar* after, RowNumber row) {
  THD* thd = ha_thd();
  const auto& foreign_key = reference.key;
  const auto name = name_of_path(reference.path);
  const auto action = after == nullptr ? foreign_key.on_delete : foreign_key.on_update;
  const bool follows = action == Action::kCascade || action == Action::kSetNull;
  // A table of its own for each depth: it has one current row.
  RelatedTables deeper;
  auto& related = follows ? deeper : related_tables(thd);
  auto* child = related.open(thd, name.database, name.table, follows);
  const auto index = child == nullptr ? std::nullopt : index_of(*child, foreign_key.columns);
  if (!index) return 0;
  copy_values(*table, foreign_key.parent_columns, before, *child, foreign_key.columns);
  const auto wanted = key_of_columns(*child, *index, foreign_key.columns.size());
  auto* there = static_cast<ha_cupel*>(child->file);
  if (const int error = there->join_statement(thd, follows); error != 0) return error;
  if (follows) return there->change_rows(foreign_key, wanted, *table, after);
  const auto found = there->has_key(*index, wanted, there->weak_ == weak_ ? row : 0);
  if (!found) return there->error_;
  return *found ? violate(HA_ERR_ROW_IS_REFERENCED, name.database, name.table, foreign_key) : 0;
}

int ha_cupel::change_rows(const ForeignKey& foreign_key, const std::string& wanted,
                          const TABLE& parent, const uchar* parent_record) {
  const auto index = *index_of(*table, foreign_key.columns);
  if (const int error = look_for_others(); error != 0) return error;
  std::vector<RowNumber> rows;
  for_entries(index, wanted, [&](const RowStore::Entry& entry) {
    rows.push_back(entry.row);
    return true;
  });
  if (!look(rows)) return failed();
  const auto fits = fits_key(index, wanted);
  for (const auto row : rows) {
    const auto seen = see(row, [&](VersionNumber version) {
      if (!fits(version)) return false;
      fetch(row, version, table->record[0]);
      return true;
    });
    if (seen == Seen::kFailed) return error_;
    if (seen == Seen::kNot) continue;
    const int error = change_row(foreign_key, parent, parent_record);
    if (error != 0) return error == HA_ERR_FOUND_DUPP_KEY ? HA_ERR_FOREIGN_DUPLICATE_KEY : error;
  }
  return 0;
}

// The current one, in the first buffer.
int ha_cupel::change_row(const ForeignKey& foreign_key, const TABLE& parent,
                         const uchar* parent_record) {
  const bool deleted = parent_record == nullptr;
  const auto action = deleted ? foreign_key.on_delete : foreign_key.on_update;
  if (deleted && action == Action::kCascade) return delete_row(table->record[0]);
  store_record(table, record[1]);
  if (action == Action::kSetNull) {
    for (const auto& column : foreign_key.columns) field_of(*table, column)->set_null();
  } else {
    copy_values(parent, foreign_key.parent_columns, parent_record, *table, foreign_key.columns);
  }
  if (table->vfield != nullptr) table->update_virtual_fields(this, VCOL_UPDATE_FOR_WRITE);
  return update_row(table->record[1], table->record[0]);
}

int ha_cupel::get_foreign_key_list(THD* thd, List<FOREIGN_KEY_INFO>* list) {
  for (const auto& key : weak_->foreign_keys)
    list->push_back(info_of(thd, {table_share->db.str, table_share->table_name.str}, key),
                    thd->mem_root);
  return 0;
}

int ha_cupel::get_parent_foreign_key_list(THD* thd, List<FOREIGN_KEY_INFO>* list) {
  for (const auto& [path, key] :
       catalog().references_to(table_share->db.str, table_share->table_name.str)) {
    if (!is_temporary_name(path))
      list->push_back(info_of(thd, name_of_path(path), key), thd->mem_root);
  }
  return 0;
}

bool ha_cupel::referenced_by_foreign_key() const noexcept {
  return !catalog().references_to(table_share->db.str, table_share->table_name.str).empty();
}

bool ha_cupel::can_switch_engines() {
  return weak_->foreign_keys.empty() && !referenced_by_foreign_key();
}

// The server gives it back to free_foreign_key_create_info().
char* ha_cupel::get_foreign_key_create_info() {
  std::string text;
  for (const auto& key : weak_->foreign_keys) text += ",\n  " + text_of(key, table_share->db.str);
  return text.empty() ? nullptr : strdup(text.c_str());
}

void ha_cupel::free_foreign_key_create_info(char* text) {
  std::free(text);
}

}  // namespace cupel::engines::mariadb
