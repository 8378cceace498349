// ha_cupel: a weak table, as a statement of the server uses it.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "mock/engines/mariadb/row_image.hpp"
#include "mock/engines/mariadb/server.hpp"
#include "mock/engines/mariadb/transaction.hpp"
#include "mock/engines/mariadb/weak_table.hpp"

namespace cupel::engines::mariadb {

class ha_cupel final : public handler {
 public:
  ha_cupel(handlerton* hton, TABLE_SHARE* share);

  ulonglong table_flags() const override;
  ulong index_flags(uint index, uint part, bool all_parts) const override;
  uint max_supported_keys() const override { return MAX_KEY; }
  uint max_supported_key_length() const override { return MAX_DATA_LENGTH_FOR_KEY; }
  uint max_supported_key_part_length() const override { return MAX_DATA_LENGTH_FOR_KEY; }
  const char* index_type(uint) override { return "BTREE"; }
  uint lock_count() const override { return 0; }
  THR_LOCK_DATA** store_lock(THD*, THR_LOCK_DATA** to, enum thr_lock_type type) override {
    if (type != TL_IGNORE) asked_lock_ = type;
    return to;
  }
  uint8 table_cache_type() override { return HA_CACHE_TBL_NOCACHE; }

  int open(const char* path, int mode, uint test_if_locked) override;
  int close() override;
  int create(const char* path, TABLE* form, HA_CREATE_INFO* options) override;
  int delete_table(const char* path) override;
  int truncate() override;  // the table is not open elsewhere
  int rename_table(const char* from, const char* to) override;
  void update_create_info(HA_CREATE_INFO* options) override;

  int external_lock(THD* thd, int type) override;
  int start_stmt(THD* thd, thr_lock_type type) override;

  void try_semi_consistent_read(bool yes) override { tries_ = yes && locks_ && !keeps_locks_; }
  bool was_semi_consistent_read() override { return guessed_ != 0; }
  void unlock_row() override;

  int rnd_init(bool scan) override;
  int rnd_end() override;
  int rnd_next(uchar* record) override;
  int rnd_pos(uchar* record, uchar* position) override;
  void position(const uchar* record) override;

  int index_init(uint index, bool sorted) override;
  int index_end() override;
  int index_read(uchar* record, const uchar* key, uint length, enum ha_rkey_function how) override;
  int index_read_last(uchar* record, const uchar* key, uint length) override;
  int index_first(uchar* record) override;
  int index_last(uchar* record) override;
  int index_next(uchar* record) override;
  int index_prev(uchar* record) override;
  int index_next_same(uchar* record, const uchar* key, uint length) override;

  int write_row(const uchar* record) override;
  int update_row(const uchar* before, const uchar* after) override;
  int delete_row(const uchar* record) override;
  void get_auto_increment(ulonglong offset, ulonglong increment, ulonglong wanted, ulonglong* first,
                          ulonglong* reserved) override;
  int reset_auto_increment(ulonglong value) override;

  int get_foreign_key_list(THD* thd, List<FOREIGN_KEY_INFO>* list) override;
  int get_parent_foreign_key_list(THD* thd, List<FOREIGN_KEY_INFO>* list) override;
  bool referenced_by_foreign_key() const noexcept override;
  char* get_foreign_key_create_info() override;
  void free_foreign_key_create_info(char* text) override;
  bool can_switch_engines() override;
  bool get_error_message(int error, String* text) override;

  int info(uint what) override;
  ha_rows records_in_range(uint index, const key_range* from, const key_range* to,
                           page_range* pages) override;
  int analyze(THD*, HA_CHECK_OPT*) override { return HA_ADMIN_OK; }
  int check(THD*, HA_CHECK_OPT*) override { return HA_ADMIN_OK; }
  int optimize(THD*, HA_CHECK_OPT*) override { return HA_ADMIN_TRY_ALTER; }
  void print_error(int error, myf flags) override;

 private:
  using Locked = Transaction::Locked;
  // Of a version of the row, which is in the server's record then.
  using Fits = std::function<bool(VersionNumber)>;
  enum class Seen : std::uint8_t { kThere, kNot, kFailed };  // kFailed: with error_

  Transaction& transaction() const;
  int failed();
  // 0: the lock is held.
  int error_of(Locked locked);
  int choose_locking(THD* thd, bool writes);
  [[nodiscard]] bool has_primary_key() const { return table_share->primary_key < MAX_KEY; }
  [[nodiscard]] const KEY& key(uint index) const { return table->key_info[index]; }
  [[nodiscard]] std::string name_text() const {
    return table_text(table_share->db.str, table_share->table_name.str);
  }

  // The statement reads this table alone, to the end of each range.
  [[nodiscard]] bool reads_ranges_to_end() const;
  [[nodiscard]] Transaction::Sight sight() const;
  bool look(const std::vector<RowNumber>& rows);
  // A statement that locks what was committed last comes to a row, and others have committed since
  // it asked for the rows from here on.
  bool others_committed();
  // The rows that the scan of the table comes to after those that it has been at.
  void collect_rows();
  // The transaction sees that the table has no other rows, or nobody else adds one.
  int look_for_others();
  // A scan gave this error, or 0.
  int after_scan(int error);
  // If the row is there and fits, it is the current one, and locked if the statement locks rows.
  Seen see(RowNumber row, const Fits& fits);
  Seen lock(RowNumber row, const Fits& fits);
  void give_back(RowNumber row);
  void touch();
  void fetch(RowNumber row, VersionNumber version, uchar* record);

  enum class Direction : std::uint8_t { kForward, kBackward };
  // Reads this entry or the next one whose row the statement sees; if there is a start, only those
  // whose key starts so. Null: there is none.
  int read_key(uchar* record, std::string_view start, enum ha_rkey_function how);
  int read_from(uchar* record, const RowStore::Entry* entry, Direction direction,
                std::optional<std::string_view> start);
  [[nodiscard]] const RowStore::Entry* neighbour(const RowStore::Entry& entry,
                                                 Direction direction) const;
  int step(uchar* record, Direction direction, std::optional<std::string_view> start);
  // Asks the store for the rows of the next entries at once, up to the end of the range if the
  // server said where it is. False: failed.
  bool look_ahead(Direction direction, std::optional<std::string_view> start);

  // An error if another row than `except` has a key of this one. Before: only keys that differ.
  int check_unique(const uchar* record, RowNumber except, const uchar* before);
  std::optional<bool> is_taken(uint index, const std::string& key, RowNumber except);
  std::optional<VersionNumber> version_for_check(RowNumber row, const Fits& fits);
  // Foreign keys: of a new version of a row, or of one that changes or goes (after: null).
  int check_parents(const uchar* record, const uchar* before);
  int check_parent(const ForeignKey& foreign_key, const uchar* record);
  int change_children(const uchar* before, const uchar* after, RowNumber row);
  int change_children_of(const Catalog::Reference& reference, const uchar* before,
                         const uchar* after, RowNumber row);
  // Of a child, whose foreign key has this index and key.
  int change_rows(const ForeignKey& foreign_key, const std::string& key, const TABLE& parent,
                  const uchar* parent_record);
  int change_row(const ForeignKey& foreign_key, const TABLE& parent, const uchar* parent_record);
  // A row that the check sees, locked where constraints are strong.
  std::optional<bool> has_key(uint index, const std::string& key, RowNumber except);
  int violate(int error, const std::string& child_database, const std::string& child_table,
              const ForeignKey& foreign_key);
  // Rows that begin with the key.
  void for_entries(uint index, const std::string& key,
                   const std::function<bool(const RowStore::Entry&)>& visit);
  Fits fits_key(uint index, const std::string& key);
  // For checks of another table.
  int join_statement(THD* thd, bool writes);

  // Locks what the new version of a row needs. Before: null, or the old one.
  int lock_for(const uchar* record, const uchar* before);
  int lock_keys(const uchar* record, const uchar* before);
  [[nodiscard]] bool is_unique(uint index, const uchar* record) const;
  [[nodiscard]] bool is_known(std::string_view key) const;
  [[nodiscard]] bool is_whole_key(uint index, const uchar* start, uint length) const;
  RowNumber row_of(const uchar* record);
  void write(RowNumber row, const uchar* record, bool is_new);
  void count_auto_increment(const Field* field);

  std::string path_;
  TablePtr weak_;
  bool runs_ddl_ = false;
  bool store_locks_ = false;
  thr_lock_type asked_lock_ = TL_IGNORE;
  // How the statement locks the rows that it reads.
  bool locks_ = false;
  Transaction::Locking locking_;
  bool of_product_ = false;
  bool keeps_locks_ = false;   // of rows that its conditions leave out, too
  bool skips_locked_ = false;  // rows
  bool locks_gaps_ = false;
  bool guards_insertions_ = false;
  // It has the server look at rows before it locks them: the current row is such a one; this one is
  // read again, to be locked. 0: none.
  bool tries_ = false;
  RowNumber guessed_ = 0, again_ = 0;
  bool newly_locked_ = false;  // the current row
  // UPDATE has found this row, and changed nothing in it so far. 0: none.
  bool updates_ = false;
  RowNumber untouched_ = 0;
  VersionNumber untouched_version_ = 0;
  int error_ = 0;
  // The row that was read or written last.
  RowNumber row_ = 0;
  VersionNumber version_ = 0;
  // A scan of the table.
  std::vector<RowNumber> scanned_;
  std::vector<const RowStore::Entry*> scanned_entries_;  // theirs, if there is a primary key
  std::size_t scan_at_ = 0, looked_to_ = 0, window_ = 0;
  // A scan of an index.
  KeyOrder order_;
  const RowStore::Entry* entry_ = nullptr;
  // So many after this one were asked for with it; so many are asked for next.
  std::size_t looked_ahead_ = 0, next_look_ = 1;
  // The last duplicate.
  uint duplicate_key_ = MAX_KEY;
  RowNumber duplicate_row_ = 0;
  VersionNumber duplicate_version_ = 0;
};

}  // namespace cupel::engines::mariadb
