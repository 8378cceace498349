// A row that an index names counts if the version that the statement sees has the entry's key.
#include "mock/engines/mariadb/ha_cupel.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>

#include "mock/engines/mariadb/foreign_keys.hpp"
#include "mock/engines/mariadb/session.hpp"

namespace cupel::engines::mariadb {

namespace {

using Edge = RowStore::Edge;

// Rows in a request to the store: of a scan, at first and later; of an index; where others commit
// meanwhile.
constexpr std::size_t kFirstRows = 256, kLaterRows = 1024, kRowsAtOnce = 256, kFewRows = 16;

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

}  // namespace

ha_cupel::ha_cupel(handlerton* hton, TABLE_SHARE* share) : handler(hton, share) {
  ref_length = sizeof(RowReference);
}

ulonglong ha_cupel::table_flags() const {
  return HA_BINLOG_ROW_CAPABLE | HA_BINLOG_STMT_CAPABLE | HA_NULL_IN_KEY | HA_CAN_INDEX_BLOBS |
         HA_CAN_SQL_HANDLER | HA_CAN_BIT_FIELD | HA_CAN_GEOMETRY | HA_CAN_VIRTUAL_COLUMNS |
         HA_DUPLICATE_POS | HA_REC_NOT_IN_SEQ | HA_CONCURRENT_OPTIMIZE | HA_ONLINE_ANALYZE |
         HA_CAN_ONLINE_BACKUPS | HA_CAN_TABLES_WITHOUT_ROLLBACK | HA_CAN_SKIP_LOCKED;
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
  auto foreign_keys = foreign_keys_of_statement(ha_thd(), path, *form, *options);
  if (!foreign_keys) return HA_ERR_CANNOT_ADD_FOREIGN;
  const auto made = catalog().make(path, form->s->keys, kind);
  made->foreign_keys = std::move(*foreign_keys);
  made->next_auto_increment = std::max<ulonglong>(options->auto_increment_value, 1);
  return 0;
}

// A table that others refer to stays, unless they go with it.
int ha_cupel::delete_table(const char* path) {
  THD* thd = current_thd;
  if (!is_temporary_name(path) && checks_foreign_keys(thd)) {
    related_tables(thd).violated.clear();
    const auto name = name_of_path(path);
    for (const auto& [child_path, foreign_key] :
         catalog().references_to(name.database, name.table)) {
      const auto child = name_of_path(child_path);
      const bool goes = thd_sql_command(thd) == SQLCOM_DROP_DB && child.database == name.database;
      if (child_path != path && !is_temporary_name(child_path) && !goes)
        return HA_ERR_ROW_IS_REFERENCED;
    }
  }
  return catalog().remove(path) ? 0 : ENOENT;
}

int ha_cupel::truncate() {
  const auto foreign_keys = weak_->foreign_keys;
  weak_ = catalog().make(path_, table_share->keys, weak_->kind);
  weak_->foreign_keys = foreign_keys;
  return 0;
}

int ha_cupel::rename_table(const char* from, const char* to) {
  if (!catalog().rename(from, to)) return HA_ERR_NO_SUCH_TABLE;
  if (!is_temporary_name(from) && !is_temporary_name(to)) {
    const auto before = name_of_path(from), after = name_of_path(to);
    catalog().rename_parent(before.database, before.table, after.database, after.table);
  }
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
  tries_ = updates_ = false;
  untouched_ = guessed_ = again_ = 0;
  looked_ahead_ = 0;
  join_transaction(thd);
  return choose_locking(thd, type == F_WRLCK);
}

int ha_cupel::join_statement(THD* thd, bool writes) {
  asked_lock_ = TL_IGNORE;
  return external_lock(thd, writes ? F_WRLCK : F_RDLCK);
}

int ha_cupel::start_stmt(THD* thd, thr_lock_type type) {
  asked_lock_ = type;
  return external_lock(thd, type >= TL_WRITE_ALLOW_WRITE ? F_WRLCK : F_RDLCK);
}

// InnoDB's repeatable read locks what any statement but SELECT reads, and its serializable all.
int ha_cupel::choose_locking(THD* thd, bool writes) {
  using Isolation = Transaction::Isolation;
  locks_ = locks_gaps_ = keeps_locks_ = guards_insertions_ = store_locks_ = false;
  if (weak_->strong() || runs_ddl_) return 0;
  const auto* store = transaction().store();
  if (store == nullptr) return failed();
  store_locks_ = store->locks;
  if (!store_locks_) return 0;
  const bool selects = thd_sql_command(thd) == SQLCOM_SELECT;
  updates_ = writes && thd_sql_command(thd) == SQLCOM_UPDATE &&
             thd->lex->first_select_lex()->order_list.elements == 0;
  const auto isolation = transaction().isolation().value_or(Isolation::kReadCommitted);
  of_product_ = store->isolation.has_value();
  keeps_locks_ = isolation >= Isolation::kRepeatableRead;
  guards_insertions_ = store->gaps;
  locks_gaps_ = store->gaps && keeps_locks_;
  skips_locked_ = asked_lock_ == TL_READ_SKIP_LOCKED || asked_lock_ == TL_WRITE_SKIP_LOCKED;
  locks_ = writes || asked_lock_ == TL_READ_WITH_SHARED_LOCKS || skips_locked_ ||
           (keeps_locks_ && !selects) || isolation == Isolation::kSerializable;
  locking_ = {.shared = !writes,
              .observed = selects,
              .limit = skips_locked_ ? std::chrono::milliseconds(0) : lock_wait_limit(thd)};
  return 0;
}

int ha_cupel::error_of(Locked locked) {
  switch (locked) {
    case Locked::kWell:
      return 0;
    case Locked::kNotAvailable:
      return HA_ERR_LOCK_WAIT_TIMEOUT;
    case Locked::kInterrupted:
      return HA_ERR_ABORTED_BY_USER;
    case Locked::kFailed:
      break;
  }
  return failed();
}

// InnoDB looks for rows to lock among those that were committed last.
Transaction::Sight ha_cupel::sight() const {
  if (runs_ddl_ || (locks_ && of_product_)) return Transaction::Sight::kLatest;
  return locks_ ? Transaction::Sight::kFound : Transaction::Sight::kWeak;
}

bool ha_cupel::look(const std::vector<RowNumber>& rows) {
  return transaction().look(weak_, rows, sight());
}

bool ha_cupel::others_committed() {
  return locks_ && sight() == Transaction::Sight::kLatest && transaction().renew_found();
}

int ha_cupel::look_for_others() {
  if (locks_ && of_product_)
    return locks_gaps_ ? error_of(transaction().guard_gaps(weak_, locking_)) : 0;
  const auto sight = runs_ddl_ ? Transaction::Sight::kLatest : Transaction::Sight::kAlone;
  return transaction().look(weak_, {}, sight) ? 0 : failed();
}

// A statement that locks sees what others commit while it scans, so it looks when it is at the end.
int ha_cupel::after_scan(int error) {
  const bool ended = error == HA_ERR_END_OF_FILE || error == HA_ERR_KEY_NOT_FOUND;
  if (!ended || !locks_ || !of_product_ || runs_ddl_) return error;
  return transaction().look(weak_, {}, Transaction::Sight::kNow) ? error : failed();
}

ha_cupel::Seen ha_cupel::see(RowNumber row, const Fits& fits) {
  const bool again = again_ == row;  // not yet at others that come before it
  if (again) again_ = 0;
  touch();
  newly_locked_ = false;
  guessed_ = 0;
  if (locks_ && (again || transaction().holds(weak_, row, locking_.shared))) return lock(row, fits);
  const auto found = transaction().visible(weak_, row, sight());
  if (!found) {
    error_ = failed();
    return Seen::kFailed;
  }
  const bool there = *found != 0 && fits(*found);
  if (tries_ && there) guessed_ = row;
  if (!locks_ || tries_) return there ? Seen::kThere : Seen::kNot;
  if (!there && !transaction().is_changed_by_others(weak_, row)) return Seen::kNot;
  return lock(row, fits);
}

ha_cupel::Seen ha_cupel::lock(RowNumber row, const Fits& fits) {
  const bool held = transaction().holds(weak_, row, true);
  VersionNumber version = 0;
  const auto locked = transaction().lock(weak_, row, locking_, version);
  if (locked == Locked::kNotAvailable && skips_locked_) return Seen::kNot;
  error_ = error_of(locked);
  if (error_ != 0) return Seen::kFailed;
  newly_locked_ = !held;
  if (version != 0 && fits(version)) {
    if (updates_) untouched_ = row;
    untouched_version_ = version;
    return Seen::kThere;
  }
  give_back(row);
  return Seen::kNot;
}

void ha_cupel::give_back(RowNumber row) {
  if (newly_locked_ && !keeps_locks_) transaction().unlock(weak_, row, locking_.shared);
  newly_locked_ = false;
}

// The server does not tell of an UPDATE that sets a row to what it is. But the client has written
// it.
void ha_cupel::touch() {
  const auto row = std::exchange(untouched_, 0);
  if (row == 0 || transaction().own(weak_, row)) return;
  std::string record(table_share->reclength, '\0');
  auto* there = reinterpret_cast<uchar*>(record.data());
  unpack_row(*table, weak_->rows.bytes(untouched_version_), there);
  transaction().write(weak_, {.row = row,
                              .version = untouched_version_,
                              .table_name = name_text(),
                              .value = value_text(*table, there)});
}

int ha_cupel::rnd_end() {
  touch();
  return 0;
}

int ha_cupel::index_end() {
  touch();
  return 0;
}

// The conditions of the statement leave the current row out.
void ha_cupel::unlock_row() {
  untouched_ = 0;
  if (std::exchange(guessed_, 0) == 0) give_back(row_);
}

void ha_cupel::fetch(RowNumber row, VersionNumber version, uchar* record) {
  unpack_row(*table, weak_->rows.bytes(version), record);
  row_ = row;
  version_ = version;
}

// In the order of the primary key, as applications expect it.
int ha_cupel::rnd_init(bool scan) {
  scan_at_ = 0;
  window_ = kFirstRows;
  scanned_.clear();
  scanned_entries_.clear();
  if (!scan) return 0;
  // First, so that rows that are new from now on are among those that the transaction saw missing.
  if (const int error = look_for_others(); error != 0) return error;
  others_committed();
  collect_rows();
  return 0;
}

void ha_cupel::collect_rows() {
  looked_to_ = scan_at_;
  if (!has_primary_key()) {
    for (auto row = static_cast<RowNumber>(scanned_.size()); row < weak_->rows.row_count();)
      scanned_.push_back(++row);
    return;
  }
  const auto index = table_share->primary_key;
  const auto order = order_of(key(index));
  scanned_.resize(scan_at_);
  scanned_entries_.resize(scan_at_);
  for (const auto* entry : scan_at_ == 0
                               ? weak_->rows.entries(index, order, {})
                               : weak_->rows.after(index, order, *scanned_entries_.back(),
                                                   std::numeric_limits<std::size_t>::max())) {
    scanned_.push_back(entry->row);
    scanned_entries_.push_back(entry);
  }
}

int ha_cupel::rnd_next(uchar* record) {
  again_ = std::exchange(guessed_, 0);
  if (again_ != 0) --scan_at_;
  for (;;) {
    if (others_committed()) {
      collect_rows();
      window_ = kFewRows;
    }
    if (scan_at_ == scanned_.size()) return after_scan(HA_ERR_END_OF_FILE);
    if (scan_at_ == looked_to_) {
      looked_to_ = std::min(scanned_.size(), scan_at_ + window_);
      window_ = std::min(4 * window_, kLaterRows);
      const auto from = scanned_.begin() + static_cast<std::ptrdiff_t>(scan_at_);
      const auto to = scanned_.begin() + static_cast<std::ptrdiff_t>(looked_to_);
      if (!look({from, to})) return failed();
    }
    const auto row = scanned_[scan_at_++];
    const auto seen = see(row, [&](VersionNumber version) {
      fetch(row, version, record);
      return true;
    });
    if (seen == Seen::kFailed) return error_;
    if (seen == Seen::kThere) return 0;
  }
}

void ha_cupel::position(const uchar* /*record*/) {
  const RowReference reference{row_, version_};
  std::memcpy(ref, &reference, sizeof reference);
}

int ha_cupel::rnd_pos(uchar* record, uchar* position) {
  RowReference reference;
  std::memcpy(&reference, position, sizeof reference);
  touch();
  if (locks_) {
    const auto seen = lock(reference.row, [&](VersionNumber version) {
      fetch(reference.row, version, record);
      return true;
    });
    if (seen == Seen::kFailed) return error_;
    if (seen == Seen::kThere) return 0;
    if (of_product_) return HA_ERR_RECORD_DELETED;
  }
  const auto version = transaction().own(weak_, reference.row).value_or(reference.version);
  if (version == 0) return HA_ERR_RECORD_DELETED;
  fetch(reference.row, version, record);
  return 0;
}

int ha_cupel::index_init(uint index, bool /*sorted*/) {
  active_index = index;
  order_ = order_of(key(index));
  entry_ = nullptr;
  return 0;
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
  const auto more = direction == Direction::kForward ? next_look_ - 1 : 0;
  std::vector<RowNumber> rows = {entry_->row};
  for (const auto* entry : weak_->rows.after(active_index, order_, *entry_, more)) {
    if (!in_range(*entry)) break;
    rows.push_back(entry->row);
  }
  next_look_ = std::min(2 * next_look_, kRowsAtOnce);
  looked_ahead_ = rows.size() - 1;
  return look(rows);
}

const RowStore::Entry* ha_cupel::neighbour(const RowStore::Entry& entry,
                                           Direction direction) const {
  if (direction == Direction::kBackward) return weak_->rows.before(active_index, order_, entry);
  const auto next = weak_->rows.after(active_index, order_, entry, 1);
  return next.empty() ? nullptr : next.front();
}

int ha_cupel::read_from(uchar* record, const RowStore::Entry* entry, Direction direction,
                        std::optional<std::string_view> start) {
  const auto& info = key(active_index);
  if (direction == Direction::kBackward) looked_ahead_ = 0;
  for (; entry != nullptr; entry = neighbour(*entry, direction)) {
    entry_ = entry;
    if (start && order_(bytes_of(entry->key), bytes_of(*start), start->size()) != 0) break;
    if (others_committed()) {
      looked_ahead_ = 0;
      next_look_ = std::min(next_look_, kFewRows);
    }
    if (!look_ahead(direction, start)) return failed();
    const auto seen = see(entry->row, [&](VersionNumber version) {
      fetch(entry->row, version, record);
      const auto now = key_of(info, record);
      return order_(bytes_of(now), bytes_of(entry->key), now.size()) == 0;
    });
    if (seen == Seen::kFailed) return error_;
    if (seen == Seen::kThere) return 0;
  }
  return start ? HA_ERR_KEY_NOT_FOUND : HA_ERR_END_OF_FILE;
}

int ha_cupel::step(uchar* record, Direction direction, std::optional<std::string_view> start) {
  if (entry_ == nullptr) return HA_ERR_END_OF_FILE;
  again_ = std::exchange(guessed_, 0);
  if (again_ == 0)
    return after_scan(read_from(record, neighbour(*entry_, direction), direction, start));
  ++looked_ahead_;
  return after_scan(read_from(record, entry_, direction, start));
}

// A row that a whole key finds is read alone, and locked alone; otherwise there may be others.
int ha_cupel::index_read(uchar* record, const uchar* key, uint length, enum ha_rkey_function how) {
  const auto start = view_of(key, length);
  again_ = std::exchange(guessed_, 0);
  const bool whole = how == HA_READ_KEY_EXACT && is_whole_key(active_index, key, length);
  if (whole && locks_gaps_ && locks_) {
    const int error = read_key(record, start, how);
    if (error != HA_ERR_KEY_NOT_FOUND) return error;
    transaction().forget_found();
  } else if (whole && active_index == table_share->primary_key && is_known(start)) {
    return read_key(record, start, how);
  }
  if (const int error = look_for_others(); error != 0) return error;
  const int error = read_key(record, start, how);
  return whole ? error : after_scan(error);
}

// The store knows a row with this primary key, so it says whether there is one.
bool ha_cupel::is_known(std::string_view wanted) const {
  const auto* entry = weak_->rows.first_from(active_index, order_, wanted, RowStore::Edge::kBefore);
  return entry != nullptr && order_(bytes_of(entry->key), bytes_of(wanted), wanted.size()) == 0 &&
         weak_->rows.is_shared(entry->row);
}

bool ha_cupel::is_whole_key(uint index, const uchar* start, uint length) const {
  const auto& info = key(index);
  return (info.flags & HA_NOSAME) != 0 && length == info.key_length && !key_has_null(info, start);
}

bool ha_cupel::reads_ranges_to_end() const {
  auto* lex = ha_thd()->lex;
  auto* select = lex->all_selects_list;
  return select != nullptr && select->next_select_in_list() == nullptr &&
         select->limit_params.select_limit == nullptr && lex->query_tables != nullptr &&
         lex->query_tables->next_global == nullptr;
}

int ha_cupel::read_key(uchar* record, std::string_view start, enum ha_rkey_function how) {
  const bool has_end = how == HA_READ_KEY_EXACT || how == HA_READ_PREFIX || end_range != nullptr;
  looked_ahead_ = 0;
  next_look_ = has_end && reads_ranges_to_end() ? kRowsAtOnce : 1;
  const auto forward = [&](Edge edge, std::optional<std::string_view> only) {
    return read_from(record, weak_->rows.first_from(active_index, order_, start, edge),
                     Direction::kForward, only);
  };
  const auto backward = [&](Edge edge, std::optional<std::string_view> only) {
    return read_from(record, weak_->rows.last_before(active_index, order_, start, edge),
                     Direction::kBackward, only);
  };
  int error = 0;
  switch (how) {
    case HA_READ_KEY_EXACT:
    case HA_READ_PREFIX:
      error = forward(Edge::kBefore, start);
      break;
    case HA_READ_KEY_OR_NEXT:
      error = forward(Edge::kBefore, {});
      break;
    case HA_READ_AFTER_KEY:
      error = forward(Edge::kAfter, {});
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
  if (const int error = look_for_others(); error != 0) return error;
  looked_ahead_ = 0;
  next_look_ = 1;
  const auto* first = weak_->rows.first_from(active_index, order_, {}, Edge::kBefore);
  return after_scan(read_from(record, first, Direction::kForward, {}));
}

int ha_cupel::index_last(uchar* record) {
  if (const int error = look_for_others(); error != 0) return error;
  looked_ahead_ = 0;
  const auto* last = weak_->rows.last_before(active_index, order_, {}, Edge::kAfter);
  return after_scan(read_from(record, last, Direction::kBackward, {}));
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

// Waits for open transactions that are changing it where constraints are strong.
std::optional<VersionNumber> ha_cupel::version_for_check(RowNumber row, const Fits& fits) {
  auto& now = transaction();
  if (runs_ddl_ || !constraints_are_strong())
    return now.visible(weak_, row,
                       runs_ddl_ ? Transaction::Sight::kLatest : Transaction::Sight::kWeak);
  auto version = now.latest(weak_, row);
  if (!version) return std::nullopt;
  const bool waits = store_locks_ && weak_->rows.is_shared(row) && !now.holds(weak_, row, true) &&
                     (now.is_changed_by_others(weak_, row) || (*version != 0 && fits(*version)));
  if (!waits) return version;
  error_ = error_of(now.guard_row(weak_, row, name_text(), locking_));
  return error_ != 0 ? std::nullopt : now.latest(weak_, row);
}

ha_cupel::Fits ha_cupel::fits_key(uint index, const std::string& wanted) {
  return [this, index, wanted](VersionNumber version) {
    std::string record(table_share->reclength, '\0');
    auto* there = reinterpret_cast<uchar*>(record.data());
    unpack_row(*table, weak_->rows.bytes(version), there);
    const auto now = key_of(key(index), there);
    return order_of(key(index))(bytes_of(now), bytes_of(wanted), wanted.size()) == 0;
  };
}

void ha_cupel::for_entries(uint index, const std::string& wanted,
                           const std::function<bool(const RowStore::Entry&)>& visit) {
  for (const auto* entry : weak_->rows.entries(index, order_of(key(index)), wanted)) {
    if (!visit(*entry)) return;
  }
}

std::optional<bool> ha_cupel::is_taken(uint index, const std::string& wanted, RowNumber except) {
  const auto fits = fits_key(index, wanted);
  std::optional<bool> taken = false;
  for_entries(index, wanted, [&](const RowStore::Entry& entry) {
    if (entry.row == except) return true;
    error_ = 0;
    const auto version = version_for_check(entry.row, fits);
    if (!version) {
      if (error_ == 0) error_ = failed();
      taken.reset();
      return false;
    }
    if (*version == 0 || !fits(*version)) return true;
    duplicate_key_ = index;
    duplicate_row_ = entry.row;
    duplicate_version_ = *version;
    taken = true;
    return false;
  });
  return taken;
}

bool ha_cupel::is_unique(uint index, const uchar* record) const {
  const auto& info = key(index);
  return (info.flags & HA_NOSAME) != 0 &&
         ((info.flags & HA_NULL_ARE_EQUAL) != 0 || !has_null(info, record));
}

int ha_cupel::check_unique(const uchar* record, RowNumber except, const uchar* before) {
  for (uint index = 0; index < table_share->keys; ++index) {
    const auto& info = key(index);
    if (!is_unique(index, record)) continue;
    if (before != nullptr && same_key(info, before, record)) continue;
    // That no row has the key is a read, too; of a primary key the store sees to it.
    if (index != table_share->primary_key && !constraints_are_strong() &&
        !transaction().look(weak_, {},
                            runs_ddl_ ? Transaction::Sight::kLatest : Transaction::Sight::kAlone))
      return failed();
    const auto taken = is_taken(index, key_of(info, record), except);
    if (!taken) return error_;
    if (!*taken) continue;
    const RowReference reference{duplicate_row_, duplicate_version_};
    std::memcpy(dup_ref, &reference, sizeof reference);
    return HA_ERR_FOUND_DUPP_KEY;
  }
  return 0;
}

int ha_cupel::lock_for(const uchar* record, const uchar* before) {
  if (!locks_) return 0;
  auto& now = transaction();
  if (guards_insertions_) {
    bool adds = before == nullptr;
    for (uint index = 0; index < table_share->keys && !adds; ++index)
      adds = !same_key(key(index), before, record);
    const auto locked = adds ? now.guard_insertion(weak_, locking_) : Locked::kWell;
    if (locked != Locked::kWell) return error_of(locked);
  }
  if (has_primary_key() &&
      (before == nullptr || !same_key(key(table_share->primary_key), before, record))) {
    const auto locked = now.guard_row(weak_, row_of(record), name_text(), locking_);
    if (locked != Locked::kWell) return error_of(locked);
  }
  return constraints_are_strong() ? lock_keys(record, before) : 0;
}

// Nobody else adds a row with these keys meanwhile.
int ha_cupel::lock_keys(const uchar* record, const uchar* before) {
  for (uint index = 0; index < table_share->keys; ++index) {
    if (index == table_share->primary_key || !is_unique(index, record) ||
        (before != nullptr && same_key(key(index), before, record)))
      continue;
    const auto value = std::to_string(index) + ":" + hash_text(key(index), record);
    const auto locked = transaction().guard_value(weak_, value, locking_);
    if (locked != Locked::kWell) return error_of(locked);
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
    transaction().write(weak_, {.row = row,
                                .version = version,
                                .insert = is_new,
                                .checked = constraints_are_strong(),
                                .table_name = name_text(),
                                .value = value_text(*table, record)});
  }
  row_ = row;
  version_ = version;
}

// The row that has or had this primary key, or else a new one.
RowNumber ha_cupel::row_of(const uchar* record) {
  auto& rows = weak_->rows;
  const auto text = key_text(*table, record);
  if (!has_primary_key()) return rows.add_row(text);
  const auto index = table_share->primary_key;
  return rows.row_of_key(index, order_of(key(index)), key_of(key(index), record), text);
}

int ha_cupel::write_row(const uchar* record) {
  if (table->next_number_field != nullptr && record == table->record[0]) {
    if (const int error = update_auto_increment(); error != 0) return error;
    count_auto_increment(table->next_number_field);
  }
  if (const int error = lock_for(record, nullptr); error != 0) return error;
  if (const int error = check_unique(record, 0, nullptr); error != 0) return error;
  if (const int error = check_parents(record, nullptr); error != 0) return error;
  write(row_of(record), record, true);
  return 0;
}

int ha_cupel::update_row(const uchar* before, const uchar* after) {
  const auto row = row_;
  untouched_ = 0;
  if (const int error = lock_for(after, before); error != 0) return error;
  if (const int error = check_unique(after, row, before); error != 0) return error;
  if (const int error = check_parents(after, before); error != 0) return error;
  if (table->found_next_number_field != nullptr && after == table->record[0])
    count_auto_increment(table->found_next_number_field);
  const auto mark = transaction().mark();
  if (has_primary_key() && !same_key(key(table_share->primary_key), before, after)) {
    transaction().write(weak_, {.row = row});
    write(row_of(after), after, true);
  } else {
    write(row, after, false);
  }
  const int error = change_children(before, after, row);
  if (error != 0) transaction().roll_back_to(mark);
  return error;
}

int ha_cupel::delete_row(const uchar* record) {
  const auto mark = transaction().mark();
  transaction().write(weak_, {.row = row_});
  const int error = change_children(record, nullptr, row_);
  if (error != 0) transaction().roll_back_to(mark);
  return error;
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
    return weak_->rows.count_before(index, order, view_of(end.key, end.length), edge);
  };
  const auto first =
      from == nullptr
          ? 0
          : place(*from, from->flag == HA_READ_AFTER_KEY ? Edge::kAfter : Edge::kBefore);
  const auto last = to == nullptr
                        ? weak_->rows.count_before(index, order, {}, Edge::kAfter)
                        : place(*to, to->flag == HA_READ_BEFORE_KEY ? Edge::kBefore : Edge::kAfter);
  return first < last ? last - first : 1;
}

}  // namespace cupel::engines::mariadb
