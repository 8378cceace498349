// Transaction: what a session's open transaction sees and has written.
//
// The store says which version of a row the transaction sees; a statement asks once for each row.
// Own writes are seen at once and go to the store at the commit. A failure of the store ends the
// transaction there; each later request fails likewise until roll_back().
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engines/mariadb/store_client.hpp"
#include "engines/mariadb/weak_table.hpp"

namespace cupel::engines::mariadb {

class Transaction {
 public:
  enum class Sight : std::uint8_t {
    kWeak,    // what the level allows
    kAlone,   // the same, and that the table has no other rows
    kLatest,  // what was committed last, which is no read of the transaction
  };
  // A new version of a row.
  struct Change {
    RowNumber row = 0;
    VersionNumber version = 0;  // 0: the row is deleted
    bool insert = false;        // the transaction saw no such row before
    std::string table_name = {}, value = {};
  };

  explicit Transaction(StoreClient::Settings settings) : client_(std::move(settings)) {}

  // The level and policy of the next transaction; empty: the store's own.
  void choose(std::string level, std::string policy) {
    choice_ = {std::move(level), std::move(policy)};
  }

  // Nothing if a statement is running.
  void begin_statement();
  void end_statement() { in_statement_ = false; }
  void roll_back_statement() { roll_back_to(statement_start_); }

  // Asks the store for rows at once. The statement sees them so from now on. False: failed, see
  // failure().
  bool look(const TablePtr& table, const std::vector<RowNumber>& rows, Sight sight);
  // 0: the row is not there. None: failed.
  std::optional<VersionNumber> visible(const TablePtr& table, RowNumber row);
  // The same of what was committed last, or written by the transaction; it is not remembered.
  std::optional<VersionNumber> latest(const TablePtr& table, RowNumber row);
  // The version that the transaction itself wrote, 0 if it deleted the row. None: it did not write.
  [[nodiscard]] std::optional<VersionNumber> own(const TablePtr& table, RowNumber row) const;

  void write(const TablePtr& table, Change change);
  // For roll_back_to().
  [[nodiscard]] std::size_t mark() const { return undo_.size(); }
  void roll_back_to(std::size_t mark);

  // False: failed.
  bool commit();
  void roll_back();

  // Rows that every session sees from now on. False: failed.
  bool send_base(const std::vector<Write>& writes);
  bool copy_database(std::uint32_t from, std::uint32_t to);

  [[nodiscard]] const StoreClient::Failure& failure() const { return client_.failure(); }

 private:
  using RowKey = std::pair<std::uint32_t, RowNumber>;  // of a table
  struct Own {
    TablePtr table;
    Change change;
  };
  struct Undo {
    RowKey row;
    std::optional<Own> before;
  };

  bool prepare();  // before each request
  bool fail() {
    over_ = true;
    return false;
  }
  bool read(const TablePtr& table, const std::vector<RowNumber>& rows, Sight sight);
  // What is known without the store.
  [[nodiscard]] std::optional<VersionNumber> known(const TablePtr& table, RowNumber row) const;
  void forget();

  StoreClient client_;
  ChooseRequest choice_;
  bool at_store_ = false;  // the store has the transaction
  bool over_ = false;
  bool in_statement_ = false;
  std::uint32_t statement_ = 0;
  std::size_t statement_start_ = 0;
  std::map<RowKey, VersionNumber> seen_;  // by the statement
  std::set<std::uint32_t> looked_at_;     // tables whose other rows the transaction saw missing
  std::map<RowKey, Own> own_;
  std::vector<Undo> undo_;
};

// A number as the store's messages have it.
Position position_of(std::uint32_t number);
std::uint32_t number_at(const Position& position);

}  // namespace cupel::engines::mariadb
