// A row that an index names counts if the version that the statement sees has the entry's key.
#include "engines/mariadb/ha_cupel.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "engines/mariadb/row_image.hpp"
#include "engines/mariadb/session.hpp"

namespace cupel::engines::mariadb {

namespace {

using Edge = RowStore::Edge;

constexpr std::size_t kRowsAtOnce = 256;  // of a scan, in a request to the store

struct RowReference {  // of position()
  RowNumber row = 0;
  VersionNumber version = 0;
};

std::string_view view_of(const uchar* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

const uchar* bytes_of(std::string_view text) {
  return reinterpret_cast<const uchar*>(text.data());
}

// They copy tables, and see what was committed last.
bool is_ddl(THD* thd) {
  switch (thd_sql_command(thd)) {
    case SQLCOM_ALTER_TABLE:
    case SQLCOM_CREATE_INDEX:
    case SQLCOM_DROP_INDEX:
    case SQLCOM_OPTIMIZE:
    case SQLCOM_REPAIR:
    case SQLCOM_ANALYZE:
    case SQLCOM_CHECK:
      return true;
    default:
      return false;
  }
}

// The name of a table in a path, "./database/table", whose parts are encoded.
struct TableName {
  std::string database, table;
};
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

bool is_temporary_name(const char* path) {
  return std::strstr(path, "/" tmp_file_prefix) != nullptr;
}

}  // namespace

ha_cupel::ha_cupel(handlerton* hton, TABLE_SHARE* share) : handler(hton, share) {
  ref_length = sizeof(RowReference);
}

ulonglong ha_cupel::table_flags() const {
  return HA_BINLOG_ROW_CAPABLE | HA_BINLOG_STMT_CAPABLE | HA_NULL_IN_KEY | HA_CAN_INDEX_BLOBS |
         HA_CAN_SQL_HANDLER | HA_CAN_BIT_FIELD | HA_CAN_GEOMETRY | HA_CAN_VIRTUAL_COLUMNS |
         HA_DUPLICATE_POS | HA_REC_NOT_IN_SEQ | HA_CONCURRENT_OPTIMIZE | HA_ONLINE_ANALYZE |
         HA_CAN_ONLINE_BACKUPS | HA_CAN_TABLES_WITHOUT_ROLLBACK;
}

ulong ha_cupel::index_flags(uint /*index*/, uint /*part*/, bool /*all_parts*/) const {
  return HA_READ_NEXT | HA_READ_PREV | HA_READ_ORDER | HA_READ_RANGE | HA_KEY_SCAN_NOT_ROR;
}

int ha_cupel::open(const char* path, int /*mode*/, uint /*test_if_locked*/) {
  path_ = path;
  weak_ = catalog().find(path);
  // The server's own tables were made by another engine, when its folder was.
  if (!weak_) weak_ = catalog().make(path, table_share->keys, TableKind::kStrong);
  return 0;
}

int ha_cupel::close() {
  weak_.reset();
  return 0;
}

int ha_cupel::create(const char* path, TABLE* form, HA_CREATE_INFO* options) {
  const bool strong = options->tmp_table() || std::strncmp(path, "./mysql/", 8) == 0;
  const auto kind = options->sequence ? TableKind::kSequence
                    : strong          ? TableKind::kStrong
                                      : TableKind::kWeak;
  const auto made = catalog().make(path, form->s->keys, kind);
  made->next_auto_increment = std::max<ulonglong>(options->auto_increment_value, 1);
  return 0;
}

int ha_cupel::delete_table(const char* path) {
  return catalog().remove(path) ? 0 : ENOENT;
}

int ha_cupel::truncate() {
  weak_ = catalog().make(path_, table_share->keys, weak_->kind);
  return 0;
}

int ha_cupel::rename_table(const char* from, const char* to) {
  if (!catalog().rename(from, to)) return HA_ERR_NO_SUCH_TABLE;
  const auto renamed = catalog().find(to);
  if (renamed->unsent.empty() || is_temporary_name(to)) return 0;
  const auto name = name_of_path(to);
  const auto text = table_text(name.database.c_str(), name.table.c_str());
  for (auto& write : renamed->unsent) write.table_name = text;
  THD* thd = current_thd;
  auto& transaction = transaction_of(thd);
  const bool sent = transaction.send_base(renamed->unsent);
  renamed->unsent.clear();
  return sent ? 0 : error_of_failure(thd, transaction.failure());
}

void ha_cupel::update_create_info(HA_CREATE_INFO* options) {
  if ((options->used_fields & HA_CREATE_USED_AUTO) == 0)
    options->auto_increment_value = weak_->next_auto_increment;
}

Transaction& ha_cupel::transaction() const {
  return transaction_of(ha_thd());
}

int ha_cupel::failed() {
  return error_of_failure(ha_thd(), transaction().failure());
}

void ha_cupel::print_error(int error, myf flags) {
  if (error == HA_ERR_LOCK_DEADLOCK || error == HA_ERR_INTERNAL_ERROR) {
    report_failure(transaction().failure());
  } else {
    handler::print_error(error, flags);
  }
}

int ha_cupel::external_lock(THD* thd, int type) {
  if (type == F_UNLCK) return 0;
  runs_ddl_ = is_ddl(thd);
  join_transaction(thd);
  return 0;
}

int ha_cupel::start_stmt(THD* thd, thr_lock_type /*type*/) {
  return external_lock(thd, F_RDLCK);
}

bool ha_cupel::look(const std::vector<RowNumber>& rows, bool alone) {
  const auto sight = runs_ddl_ ? Transaction::Sight::kLatest
                     : alone   ? Transaction::Sight::kAlone
                               : Transaction::Sight::kWeak;
  return transaction().look(weak_, rows, sight);
}

std::optional<VersionNumber> ha_cupel::see(RowNumber row) {
  if (runs_ddl_ && !look({row}, false)) return std::nullopt;
  return transaction().visible(weak_, row);
}

void ha_cupel::fetch(RowNumber row, VersionNumber version, uchar* record) {
  unpack_row(*table, weak_->rows.bytes(version), record);
  row_ = row;
  version_ = version;
}

// In the order of the primary key, as applications expect it.
int ha_cupel::rnd_init(bool scan) {
  scanned_.clear();
  scan_at_ = looked_to_ = 0;
  if (!scan) return 0;
  // First, so that rows that are new from now on are among those that the transaction saw missing.
  if (!look({}, true)) return failed();
  if (has_primary_key()) {
    const auto index = table_share->primary_key;
    const auto count = weak_->rows.entry_count(index);
    for (std::size_t place = 0; place < count; ++place)
      scanned_.push_back(weak_->rows.entry(index, place)->row);
  } else {
    const auto count = weak_->rows.row_count();
    for (RowNumber row = 1; row <= count; ++row) scanned_.push_back(row);
  }
  return 0;
}

int ha_cupel::rnd_next(uchar* record) {
  while (scan_at_ < scanned_.size()) {
    if (scan_at_ == looked_to_) {
      looked_to_ = std::min(scanned_.size(), scan_at_ + kRowsAtOnce);
      const auto from = scanned_.begin() + static_cast<std::ptrdiff_t>(scan_at_);
      const auto to = scanned_.begin() + static_cast<std::ptrdiff_t>(looked_to_);
      if (!look({from, to}, false)) return failed();
    }
    const auto row = scanned_[scan_at_++];
    const auto version = see(row);
    if (!version) return failed();
    if (*version == 0) continue;
    fetch(row, *version, record);
    return 0;
  }
  return HA_ERR_END_OF_FILE;
}

void ha_cupel::position(const uchar* /*record*/) {
  const RowReference reference{row_, version_};
  std::memcpy(ref, &reference, sizeof reference);
}

int ha_cupel::rnd_pos(uchar* record, uchar* position) {
  RowReference reference;
  std::memcpy(&reference, position, sizeof reference);
  const auto version = transaction().own(weak_, reference.row).value_or(reference.version);
  if (version == 0) return HA_ERR_RECORD_DELETED;
  fetch(reference.row, version, record);
  return 0;
}

int ha_cupel::index_init(uint index, bool /*sorted*/) {
  active_index = index;
  order_ = order_of(key(index));
  entry_ = nullptr;
  return look({}, true) ? 0 : failed();  // first, as for a scan of the table
}

// Twice as many each time: few rows are read in vain if the statement stops early.
bool ha_cupel::look_ahead(Direction direction, std::optional<std::string_view> start) {
  if (looked_ahead_ > 0) {
    --looked_ahead_;
    return true;
  }
  const auto in_range = [&](const RowStore::Entry& entry) {
    const auto* key = bytes_of(entry.key);
    if (start) return order_(key, bytes_of(*start), start->size()) == 0;
    if (end_range == nullptr) return true;
    const int compared = order_(key, end_range->key, end_range->length);
    return compared < 0 || (compared == 0 && end_range->flag != HA_READ_BEFORE_KEY);
  };
  const auto most = direction == Direction::kForward ? next_look_ : 1;
  std::vector<RowNumber> rows = {entry_->row};
  while (rows.size() < most) {
    const auto* entry = weak_->rows.entry(active_index, place_ + rows.size());
    if (entry == nullptr || !in_range(*entry)) break;
    rows.push_back(entry->row);
  }
  next_look_ = std::min(2 * next_look_, kRowsAtOnce);
  looked_ahead_ = rows.size() - 1;
  return look(rows, false);
}

int ha_cupel::read_from(uchar* record, std::size_t place, Direction direction,
                        std::optional<std::string_view> start) {
  const auto& rows = weak_->rows;
  const auto& info = key(active_index);
  const int end = start ? HA_ERR_KEY_NOT_FOUND : HA_ERR_END_OF_FILE;
  place_ = place;
  entry_count_ = rows.entry_count(active_index);
  for (;;) {
    const auto* entry = rows.entry(active_index, place_);
    if (entry == nullptr) return end;
    entry_ = entry;
    if (start && order_(bytes_of(entry->key), bytes_of(*start), start->size()) != 0) return end;
    if (!look_ahead(direction, start)) return failed();
    const auto version = see(entry->row);
    if (!version) return failed();
    if (*version != 0) {
      fetch(entry->row, *version, record);
      const auto now = key_of(info, record);
      if (order_(bytes_of(now), bytes_of(entry->key), now.size()) == 0) return 0;
    }
    if (rows.entry_count(active_index) != entry_count_) {
      place_ = rows.place(active_index, order_, *entry_);
      entry_count_ = rows.entry_count(active_index);
    }
    if (direction == Direction::kBackward && place_ == 0) return end;
    place_ += direction == Direction::kForward ? 1 : std::size_t(-1);
  }
}

int ha_cupel::step(uchar* record, Direction direction, std::optional<std::string_view> start) {
  if (entry_ == nullptr) return HA_ERR_END_OF_FILE;
  if (weak_->rows.entry_count(active_index) != entry_count_)
    place_ = weak_->rows.place(active_index, order_, *entry_);
  if (direction == Direction::kForward) return read_from(record, place_ + 1, direction, start);
  return place_ == 0 ? HA_ERR_END_OF_FILE : read_from(record, place_ - 1, direction, start);
}

int ha_cupel::index_read(uchar* record, const uchar* key, uint length, enum ha_rkey_function how) {
  const auto start = view_of(key, length);
  looked_ahead_ = 0;
  next_look_ = 1;
  const auto place = [&](Edge edge) { return weak_->rows.find(active_index, order_, start, edge); };
  const auto backward = [&](Edge edge, std::optional<std::string_view> only) {
    const auto end = place(edge);
    if (end == 0) return int{HA_ERR_KEY_NOT_FOUND};
    return read_from(record, end - 1, Direction::kBackward, only);
  };
  int error = 0;
  switch (how) {
    case HA_READ_KEY_EXACT:
    case HA_READ_PREFIX:
      error = read_from(record, place(Edge::kBefore), Direction::kForward, start);
      break;
    case HA_READ_KEY_OR_NEXT:
      error = read_from(record, place(Edge::kBefore), Direction::kForward, {});
      break;
    case HA_READ_AFTER_KEY:
      error = read_from(record, place(Edge::kAfter), Direction::kForward, {});
      break;
    case HA_READ_BEFORE_KEY:
      error = backward(Edge::kBefore, {});
      break;
    case HA_READ_KEY_OR_PREV:
    case HA_READ_PREFIX_LAST_OR_PREV:
      error = backward(Edge::kAfter, {});
      break;
    case HA_READ_PREFIX_LAST:
      error = backward(Edge::kAfter, start);
      break;
    default:
      return HA_ERR_WRONG_COMMAND;
  }
  return error == HA_ERR_END_OF_FILE ? HA_ERR_KEY_NOT_FOUND : error;
}

int ha_cupel::index_read_last(uchar* record, const uchar* key, uint length) {
  return index_read(record, key, length, HA_READ_PREFIX_LAST);
}

int ha_cupel::index_first(uchar* record) {
  looked_ahead_ = 0;
  next_look_ = 1;
  return read_from(record, 0, Direction::kForward, {});
}

int ha_cupel::index_last(uchar* record) {
  const auto count = weak_->rows.entry_count(active_index);
  looked_ahead_ = 0;
  return count == 0 ? HA_ERR_END_OF_FILE : read_from(record, count - 1, Direction::kBackward, {});
}

int ha_cupel::index_next(uchar* record) {
  return step(record, Direction::kForward, {});
}

int ha_cupel::index_prev(uchar* record) {
  return step(record, Direction::kBackward, {});
}

int ha_cupel::index_next_same(uchar* record, const uchar* key, uint length) {
  const int error = step(record, Direction::kForward, view_of(key, length));
  return error == HA_ERR_KEY_NOT_FOUND ? HA_ERR_END_OF_FILE : error;
}

std::optional<bool> ha_cupel::is_taken(uint index, const std::string& wanted, RowNumber except) {
  const auto& info = key(index);
  const auto order = order_of(info);
  const auto& rows = weak_->rows;
  for (auto place = rows.find(index, order, wanted, Edge::kBefore);; ++place) {
    const auto* entry = rows.entry(index, place);
    if (entry == nullptr || order(bytes_of(entry->key), bytes_of(wanted), wanted.size()) != 0) {
      return false;
    }
    if (entry->row == except) continue;
    const auto version =
        constraints_are_strong() ? transaction().latest(weak_, entry->row) : see(entry->row);
    if (!version) return std::nullopt;
    if (*version == 0) continue;
    std::string record(table_share->reclength, '\0');
    auto* there = reinterpret_cast<uchar*>(record.data());
    unpack_row(*table, rows.bytes(*version), there);
    const auto now = key_of(info, there);
    if (order(bytes_of(now), bytes_of(wanted), now.size()) != 0) continue;
    duplicate_key_ = index;
    duplicate_row_ = entry->row;
    duplicate_version_ = *version;
    return true;
  }
}

int ha_cupel::check_unique(const uchar* record, RowNumber except, const uchar* before) {
  for (uint index = 0; index < table_share->keys; ++index) {
    const auto& info = key(index);
    if ((info.flags & HA_NOSAME) == 0) continue;
    if ((info.flags & HA_NULL_ARE_EQUAL) == 0 && has_null(info, record)) continue;
    if (before != nullptr && same_key(info, before, record)) continue;
    // That no row has the key is a read, too; of a primary key the store sees to it.
    if (index != table_share->primary_key && !constraints_are_strong() && !look({}, true))
      return failed();
    const auto taken = is_taken(index, key_of(info, record), except);
    if (!taken) return failed();
    if (!*taken) continue;
    const RowReference reference{duplicate_row_, duplicate_version_};
    std::memcpy(dup_ref, &reference, sizeof reference);
    return HA_ERR_FOUND_DUPP_KEY;
  }
  return 0;
}

void ha_cupel::write(RowNumber row, const uchar* record, bool is_new) {
  auto& rows = weak_->rows;
  const auto version = rows.add_version(pack_row(*table, record));
  for (uint index = 0; index < table_share->keys; ++index)
    rows.add_entry(index, order_of(key(index)), key_of(key(index), record), row);
  if (runs_ddl_ && !weak_->strong()) {
    rows.set_latest(row, version);
    rows.share_row(row);
    weak_->unsent.push_back({.table = weak_->number,
                             .row = position_of(row),
                             .version = position_of(version),
                             .base = true,
                             .insert = true,
                             .key = rows.key_text(row),
                             .value = value_text(*table, record)});
  } else {
    transaction().write(weak_,
                        {.row = row,
                         .version = version,
                         .insert = is_new,
                         .table_name = table_text(table_share->db.str, table_share->table_name.str),
                         .value = value_text(*table, record)});
  }
  row_ = row;
  version_ = version;
}

void ha_cupel::insert(const uchar* record) {
  auto& rows = weak_->rows;
  const auto text = key_text(*table, record);
  const auto index = table_share->primary_key;
  const auto row = has_primary_key() ? rows.row_of_key(index, order_of(key(index)),
                                                       key_of(key(index), record), text)
                                     : rows.add_row(text);
  write(row, record, true);
}

int ha_cupel::write_row(const uchar* record) {
  if (table->next_number_field != nullptr && record == table->record[0]) {
    if (const int error = update_auto_increment(); error != 0) return error;
    count_auto_increment(table->next_number_field);
  }
  if (const int error = check_unique(record, 0, nullptr); error != 0) return error;
  insert(record);
  return 0;
}

int ha_cupel::update_row(const uchar* before, const uchar* after) {
  const auto row = row_;
  if (const int error = check_unique(after, row, before); error != 0) return error;
  if (table->found_next_number_field != nullptr && after == table->record[0])
    count_auto_increment(table->found_next_number_field);
  if (has_primary_key() && !same_key(key(table_share->primary_key), before, after)) {
    transaction().write(weak_, {.row = row});
    insert(after);
  } else {
    write(row, after, false);
  }
  return 0;
}

int ha_cupel::delete_row(const uchar* /*record*/) {
  transaction().write(weak_, {.row = row_});
  return 0;
}

// The next value is beyond every one that was used.
void ha_cupel::count_auto_increment(const Field* field) {
  const auto value = const_cast<Field*>(field)->val_int();
  if (value <= 0 && (field->flags & UNSIGNED_FLAG) == 0) return;
  const auto next = static_cast<std::uint64_t>(value) + 1;
  auto& known = weak_->next_auto_increment;
  for (auto now = known.load(); now < next && next != 0;) {
    if (known.compare_exchange_weak(now, next)) return;
  }
}

void ha_cupel::get_auto_increment(ulonglong offset, ulonglong increment, ulonglong wanted,
                                  ulonglong* first, ulonglong* reserved) {
  auto& known = weak_->next_auto_increment;
  for (auto now = known.load();;) {
    auto value = std::max<std::uint64_t>(now, 1);
    if (increment > 1) {  // the next of offset, offset + increment, …
      const auto start = offset <= increment ? offset : 1;
      if (value < start) value = start;
      value += (increment - (value - start) % increment) % increment;
    }
    if (!known.compare_exchange_weak(now, value + wanted * increment)) continue;
    *first = value;
    *reserved = wanted;
    return;
  }
}

int ha_cupel::reset_auto_increment(ulonglong value) {
  weak_->next_auto_increment = std::max<ulonglong>(value, 1);
  return 0;
}

int ha_cupel::info(uint what) {
  // With fewer rows than two, the optimizer reads them while it plans.
  const auto rows = std::max<ha_rows>(weak_->rows.row_count(), 2);
  if ((what & HA_STATUS_VARIABLE) != 0) {
    stats.records = rows;
    stats.deleted = 0;
    stats.mean_rec_length = table_share->reclength;
    stats.data_file_length = rows * table_share->reclength;
  }
  if ((what & HA_STATUS_CONST) != 0) {
    stats.block_size = 4096;
    for (uint i = 0; i < table_share->keys; ++i) {
      auto& info = table->key_info[i];
      for (uint part = 0; part < info.user_defined_key_parts; ++part) {
        const bool one = part + 1 == info.user_defined_key_parts && (info.flags & HA_NOSAME) != 0;
        info.rec_per_key[part] = one ? 1 : static_cast<ulong>(rows / 10 + 1);
      }
    }
  }
  if ((what & HA_STATUS_AUTO) != 0) stats.auto_increment_value = weak_->next_auto_increment;
  if ((what & HA_STATUS_ERRKEY) != 0) errkey = duplicate_key_;
  return 0;
}

ha_rows ha_cupel::records_in_range(uint index, const key_range* from, const key_range* to,
                                   page_range* /*pages*/) {
  const auto order = order_of(key(index));
  const auto place = [&](const key_range& end, Edge edge) {
    return weak_->rows.find(index, order, view_of(end.key, end.length), edge);
  };
  const auto first =
      from == nullptr
          ? 0
          : place(*from, from->flag == HA_READ_AFTER_KEY ? Edge::kAfter : Edge::kBefore);
  const auto last = to == nullptr
                        ? weak_->rows.entry_count(index)
                        : place(*to, to->flag == HA_READ_BEFORE_KEY ? Edge::kBefore : Edge::kAfter);
  return first < last ? last - first : 1;
}

}  // namespace cupel::engines::mariadb
