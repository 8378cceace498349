// ha_cupel: a weak table, as a statement of the server uses it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "engines/mariadb/server.hpp"
#include "engines/mariadb/transaction.hpp"
#include "engines/mariadb/weak_table.hpp"

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
  THR_LOCK_DATA** store_lock(THD*, THR_LOCK_DATA** to, enum thr_lock_type) override { return to; }
  uint8 table_cache_type() override { return HA_CACHE_TBL_NOCACHE; }

  int open(const char* path, int mode, uint test_if_locked) override;
  int close() override;
  int create(const char* path, TABLE* form, HA_CREATE_INFO* options) override;
  int delete_table(const char* path) override;
  int truncate() override;  // of a temporary table; the server makes others anew
  int rename_table(const char* from, const char* to) override;
  void update_create_info(HA_CREATE_INFO* options) override;

  int external_lock(THD* thd, int type) override;
  int start_stmt(THD* thd, thr_lock_type type) override;

  int rnd_init(bool scan) override;
  int rnd_next(uchar* record) override;
  int rnd_pos(uchar* record, uchar* position) override;
  void position(const uchar* record) override;

  int index_init(uint index, bool sorted) override;
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

  int info(uint what) override;
  ha_rows records_in_range(uint index, const key_range* from, const key_range* to,
                           page_range* pages) override;
  int analyze(THD*, HA_CHECK_OPT*) override { return HA_ADMIN_OK; }
  int check(THD*, HA_CHECK_OPT*) override { return HA_ADMIN_OK; }
  int optimize(THD*, HA_CHECK_OPT*) override { return HA_ADMIN_TRY_ALTER; }
  void print_error(int error, myf flags) override;

 private:
  Transaction& transaction() const;
  int failed();
  [[nodiscard]] bool has_primary_key() const { return table_share->primary_key < MAX_KEY; }
  [[nodiscard]] const KEY& key(uint index) const { return table->key_info[index]; }

  // 0: the row is not there. None: failed.
  std::optional<VersionNumber> see(RowNumber row);
  bool look(const std::vector<RowNumber>& rows, bool alone);
  void fetch(RowNumber row, VersionNumber version, uchar* record);

  enum class Direction : std::uint8_t { kForward, kBackward };
  // Reads the entry there or the next one whose row the statement sees; if there is a start, only
  // those whose key starts so.
  int read_from(uchar* record, std::size_t place, Direction direction,
                std::optional<std::string_view> start);
  int step(uchar* record, Direction direction, std::optional<std::string_view> start);
  // Asks the store for the rows of the next entries at once, up to the end of the range if the
  // server said where it is. False: failed.
  bool look_ahead(Direction direction, std::optional<std::string_view> start);

  // An error if another row than `except` has a key of this one. Before: only keys that differ.
  int check_unique(const uchar* record, RowNumber except, const uchar* before);
  std::optional<bool> is_taken(uint index, const std::string& key, RowNumber except);
  // Of a row that has or had this primary key, or else of a new one.
  void insert(const uchar* record);
  void write(RowNumber row, const uchar* record, bool is_new);
  void count_auto_increment(const Field* field);

  std::string path_;
  TablePtr weak_;
  bool runs_ddl_ = false;
  // The row that was read or written last.
  RowNumber row_ = 0;
  VersionNumber version_ = 0;
  // A scan of the table.
  std::vector<RowNumber> scanned_;
  std::size_t scan_at_ = 0, looked_to_ = 0;
  // A scan of an index.
  KeyOrder order_;
  const RowStore::Entry* entry_ = nullptr;
  std::size_t place_ = 0, entry_count_ = 0;
  std::size_t looked_ahead_ = 0, next_look_ = 1;  // entries
  // The last duplicate.
  uint duplicate_key_ = MAX_KEY;
  RowNumber duplicate_row_ = 0;
  VersionNumber duplicate_version_ = 0;
};

}  // namespace cupel::engines::mariadb
