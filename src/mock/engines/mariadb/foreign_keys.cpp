// The server only reads the words of foreign keys; all else is the engine's.
#include "mock/engines/mariadb/foreign_keys.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "mock/engines/mariadb/ha_cupel.hpp"
#include "mock/engines/mariadb/session.hpp"

namespace cupel::engines::mariadb {

namespace {

using Action = ForeignKey::Action;

LEX_CSTRING lex_string(const std::string& text) {
  return {text.data(), text.size()};
}

LEX_CSTRING* statement_string(THD* thd, const std::string& text) {
  return thd_make_lex_string(thd, nullptr, text.data(), static_cast<unsigned>(text.size()), 1);
}

Action action_of(enum_fk_option option) {
  switch (option) {
    case FK_OPTION_CASCADE:
      return Action::kCascade;
    case FK_OPTION_SET_NULL:
      return Action::kSetNull;
    case FK_OPTION_NO_ACTION:
      return Action::kNoAction;
    default:
      return Action::kRestrict;
  }
}

enum_fk_option option_of(Action action) {
  constexpr enum_fk_option kOptions[] = {FK_OPTION_RESTRICT, FK_OPTION_NO_ACTION, FK_OPTION_CASCADE,
                                         FK_OPTION_SET_NULL};
  return kOptions[static_cast<std::size_t>(action)];
}

std::vector<std::string> names_of(List<Key_part_spec>& columns) {
  std::vector<std::string> names;
  List_iterator<Key_part_spec> all(columns);
  while (const auto* column = all++) names.emplace_back(column->field_name.str);
  return names;
}

std::string quoted(const std::string& name) {
  std::string text = "`";
  for (const char c : name) text += c == '`' ? "``" : std::string(1, c);
  return text + "`";
}

std::string quoted(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + quoted(name);
  return "(" + text + ")";
}

bool same_name(const std::string& one, const char* other) {
  return my_strcasecmp(system_charset_info, one.c_str(), other) == 0;
}

// The table that ALTER TABLE changes; its new version has another path until the end.
TableName altered_table(THD* thd) {
  const auto* table = thd->lex->query_tables;
  return {table->db.str, table->table_name.str};
}

std::vector<ForeignKey> kept_keys(THD* thd, const TableName& altered) {
  std::vector<ForeignKey> kept;
  const auto before = catalog().find(path_of(altered.database, altered.table));
  if (!before) return kept;
  kept = before->foreign_keys;
  List_iterator<Alter_drop> drops(thd->lex->alter_info.drop_list);
  while (const auto* drop = drops++) {
    if (drop->type != Alter_drop::FOREIGN_KEY) continue;
    std::erase_if(kept, [&](const ForeignKey& key) { return same_name(key.name, drop->name); });
  }
  return kept;
}

std::string new_name(const std::string& table, const std::vector<ForeignKey>& others) {
  for (int number = 1;; ++number) {
    const auto name = table + "_ibfk_" + std::to_string(number);
    const bool taken = std::any_of(others.begin(), others.end(), [&](const ForeignKey& other) {
      return same_name(other.name, name.c_str());
    });
    if (!taken) return name;
  }
}

// The columns are there, and have the same types and an index on both sides.
bool is_well_formed(const TABLE& child, const TABLE& parent, const ForeignKey& key) {
  if (key.columns.size() != key.parent_columns.size()) return false;
  const bool sets_null = key.on_delete == Action::kSetNull || key.on_update == Action::kSetNull;
  for (std::size_t i = 0; i < key.columns.size(); ++i) {
    const auto* from = field_of(child, key.columns[i]);
    const auto* to = field_of(parent, key.parent_columns[i]);
    if (from == nullptr || to == nullptr || from->type() != to->type() ||
        (from->flags & UNSIGNED_FLAG) != (to->flags & UNSIGNED_FLAG) ||
        from->charset() != to->charset() || (sets_null && !from->maybe_null())) {
      return false;
    }
  }
  return index_of(child, key.columns) && index_of(parent, key.parent_columns);
}

}  // namespace

TableName name_of_path(std::string_view path) {
  const auto decoded = [](std::string_view part) {
    char name[NAME_LEN + 1];
    const auto size = filename_to_tablename(std::string(part).c_str(), name, sizeof name, true);
    return std::string(name, size);
  };
  const auto end = path.rfind('/');
  const auto start = path.rfind('/', end - 1);
  return {decoded(path.substr(start + 1, end - start - 1)), decoded(path.substr(end + 1))};
}

std::string path_of(const std::string& database, const std::string& table) {
  char path[FN_REFLEN + 1];
  build_table_filename(path, sizeof path - 1, database.c_str(), table.c_str(), "", 0);
  return path;
}

bool is_temporary_name(std::string_view path) {
  return path.find("/" tmp_file_prefix) != path.npos;
}

TABLE* RelatedTables::open(THD* thd, const std::string& database, const std::string& table,
                           bool writes) {
  const auto path = path_of(database, table);
  if (const auto open = tables_.find({path, writes}); open != tables_.end()) return open->second;
  if (!catalog().find(path)) return nullptr;
  const auto database_name = lex_string(database), table_name = lex_string(table);
  TABLE_LIST wanted;
  wanted.init_one_table(&database_name, &table_name, nullptr, writes ? TL_WRITE : TL_READ);
  auto* share = tdc_acquire_share(thd, &wanted, GTS_TABLE);
  if (share == nullptr) return nullptr;
  auto* opened = static_cast<TABLE*>(std::calloc(1, sizeof(TABLE)));
  if (opened == nullptr ||
      open_table_from_share(thd, share, &table_name, HA_OPEN_KEYFILE | HA_TRY_READ_ONLY,
                            EXTRA_RECORD, 0, opened, false) != OPEN_FRM_OK) {
    std::free(opened);
    tdc_release_share(share);
    return nullptr;
  }
  opened->in_use = thd;
  opened->use_all_columns();
  tables_[{path, writes}] = opened;
  return opened;
}

void RelatedTables::close() {
  for (const auto& [path, table] : tables_) {
    auto* share = table->s;
    closefrm(table);
    tdc_release_share(share);
    std::free(table);
  }
  tables_.clear();
}

std::optional<std::vector<ForeignKey>> foreign_keys_of_statement(THD* thd, const char* path,
                                                                 const TABLE& form,
                                                                 const HA_CREATE_INFO& options) {
  std::vector<ForeignKey> keys;
  const bool alters = is_temporary_name(path) && !options.tmp_table();
  const auto table = alters ? altered_table(thd) : name_of_path(path);
  if (alters) keys = kept_keys(thd, table);
  if (options.alter_info == nullptr) return keys;
  List_iterator<Key> all(options.alter_info->key_list);
  while (auto* one = all++) {
    if (one->type != Key::FOREIGN_KEY || one->old) continue;
    auto* asked = static_cast<Foreign_key*>(one);
    const auto* name =
        asked->constraint_name.str != nullptr ? asked->constraint_name.str : asked->name.str;
    ForeignKey key{
        .name = name != nullptr ? name : new_name(table.table, keys),
        .parent_database = asked->ref_db.str != nullptr ? asked->ref_db.str : table.database,
        .parent_table = asked->ref_table.str,
        .columns = names_of(asked->columns),
        .parent_columns = names_of(asked->ref_columns),
        .on_delete = action_of(asked->delete_opt),
        .on_update = action_of(asked->update_opt)};
    const bool own = key.parent_database == table.database && key.parent_table == table.table;
    RelatedTables related;
    const auto* parent =
        own ? &form : related.open(thd, key.parent_database, key.parent_table, false);
    const bool may_come = parent == nullptr && !checks_foreign_keys(thd);
    if (asked->delete_opt == FK_OPTION_SET_DEFAULT || asked->update_opt == FK_OPTION_SET_DEFAULT ||
        options.tmp_table() ||
        (!may_come && (parent == nullptr || !is_well_formed(form, *parent, key)))) {
      return std::nullopt;
    }
    keys.push_back(std::move(key));
  }
  return keys;
}

std::optional<uint> index_of(const TABLE& table, const std::vector<std::string>& columns) {
  for (uint index = 0; index < table.s->keys; ++index) {
    const auto& info = table.key_info[index];
    if (info.user_defined_key_parts < columns.size()) continue;
    bool fits = true;
    for (std::size_t i = 0; i < columns.size() && fits; ++i) {
      const auto& part = info.key_part[i];
      const auto* field = table.field[part.fieldnr - 1];
      fits = same_name(columns[i], field->field_name.str) && part.length == field->key_length();
    }
    if (fits) return index;
  }
  return std::nullopt;
}

Field* field_of(const TABLE& table, const std::string& column) {
  for (auto** field = table.field; *field != nullptr; ++field) {
    if (same_name(column, (*field)->field_name.str)) return *field;
  }
  return nullptr;
}

FOREIGN_KEY_INFO* info_of(THD* thd, const TableName& child, const ForeignKey& key) {
  auto* info = new (thd_alloc(thd, sizeof(FOREIGN_KEY_INFO))) FOREIGN_KEY_INFO();
  info->foreign_id = statement_string(thd, key.name);
  info->foreign_db = statement_string(thd, child.database);
  info->foreign_table = statement_string(thd, child.table);
  info->referenced_db = statement_string(thd, key.parent_database);
  info->referenced_table = statement_string(thd, key.parent_table);
  info->update_method = option_of(key.on_update);
  info->delete_method = option_of(key.on_delete);
  info->referenced_key_name = nullptr;
  for (const auto& column : key.columns)
    info->foreign_fields.push_back(statement_string(thd, column), thd->mem_root);
  for (const auto& column : key.parent_columns)
    info->referenced_fields.push_back(statement_string(thd, column), thd->mem_root);
  return info;
}

std::string text_of(const ForeignKey& key, const std::string& database) {
  constexpr const char* kActions[] = {"", "NO ACTION", "CASCADE", "SET NULL"};
  std::string text =
      "CONSTRAINT " + quoted(key.name) + " FOREIGN KEY " + quoted(key.columns) + " REFERENCES ";
  if (key.parent_database != database) text += quoted(key.parent_database) + ".";
  text += quoted(key.parent_table) + " " + quoted(key.parent_columns);
  if (key.on_delete != Action::kRestrict)
    text += std::string(" ON DELETE ") + kActions[static_cast<std::size_t>(key.on_delete)];
  if (key.on_update != Action::kRestrict)
    text += std::string(" ON UPDATE ") + kActions[static_cast<std::size_t>(key.on_update)];
  return text;
}

}  // namespace cupel::engines::mariadb
