// Transaction: what a session's open transaction sees and has written.
//
// The store says which version of a row the transaction sees; a statement asks once for each row.
// Own writes are seen at once and go to the store at the commit. A failure of the store ends the
// transaction there; each later request fails likewise until roll_back().
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mock/engines/mariadb/store_client.hpp"
#include "mock/engines/mariadb/weak_table.hpp"

namespace cupel::engines::mariadb {

class Transaction {
 public:
  enum class Sight : std::uint8_t {
    kWeak,    // what the level allows
    kAlone,   // the same, and that the table had no other rows when the statement began
    kNow,     // the same, and that it has no other rows now
    kFound,   // what was committed last for the statement, which locks the rows that it needs
    kLatest,  // what was committed last, which is no read of the transaction
  };
  using Isolation = ChooseRequest::Isolation;
  using Locked = StoreClient::Locked;
  // How a statement locks rows.
  struct Locking {
    bool shared = false;
    bool observed = false;  // the client is shown what is there
    StoreClient::Milliseconds limit = {};
  };
  // A new version of a row.
  struct Change {
    RowNumber row = 0;
    VersionNumber version = 0;  // 0: the row is deleted
    bool insert = false;        // the transaction saw no such row before
    bool checked = false;       // and there is none with its primary key
    std::string table_name = {}, value = {};
  };

  explicit Transaction(StoreClient::Settings settings) : client_(std::move(settings)) {}
  ~Transaction() { forget(); }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  // The level and policy of the next transaction; empty: the store's own. Levels of products are
  // at least the isolation that the client asks for.
  void choose(std::string level, std::string policy, Isolation isolation) {
    choice_ = {std::move(level), std::move(policy), isolation};
  }
  // Null: failed.
  const Opened* store();
  // Of the next transaction; only of a product.
  [[nodiscard]] std::optional<Isolation> isolation();

  // Nothing if a statement is running.
  void begin_statement();
  void end_statement(bool failed);
  void roll_back_statement() { roll_back_to(statement_start_); }

  // Asks the store for rows at once. The statement sees them so from now on. False: failed, see
  // failure().
  bool look(const TablePtr& table, const std::vector<RowNumber>& rows, Sight sight);
  // 0: the row is not there. None: failed.
  std::optional<VersionNumber> visible(const TablePtr& table, RowNumber row, Sight sight);
  // The statement asks again for what it found.
  void forget_found() { found_.clear(); }
  // The same if others have committed since it asked (kLatest); false: nobody has.
  bool renew_found();
  // The same of what was committed last, or written by the transaction; it is not remembered.
  std::optional<VersionNumber> latest(const TablePtr& table, RowNumber row);
  // The version that the transaction itself wrote, 0 if it deleted the row. None: it did not write.
  [[nodiscard]] std::optional<VersionNumber> own(const TablePtr& table, RowNumber row) const;

  // Locks the row until the end. What was committed last, or the own version, is in `version` then.
  Locked lock(const TablePtr& table, RowNumber row, const Locking& locking, VersionNumber& version);
  // Whether it has locked the row so, or wrote it.
  [[nodiscard]] bool holds(const TablePtr& table, RowNumber row, bool shared) const;
  // Gives a lock back.
  void unlock(const TablePtr& table, RowNumber row, bool shared);
  // Locks that are no reads, of: rows that are not there yet; the addition of one; a row, whether
  // it is there or not; a value of a unique key.
  Locked guard_gaps(const TablePtr& table, const Locking& locking);
  Locked guard_insertion(const TablePtr& table, const Locking& locking);
  Locked guard_row(const TablePtr& table, RowNumber row, std::string table_name,
                   const Locking& locking);
  Locked guard_value(const TablePtr& table, std::string value, const Locking& locking);
  // Another open transaction has written the row.
  [[nodiscard]] bool is_changed_by_others(const TablePtr& table, RowNumber row) const;

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
  struct Held {
    VersionNumber version;
    bool shared;
  };
  // Versions that a statement sees. Of rows with neighbouring numbers together, since a scan comes
  // to thousands.
  class Versions {
   public:
    [[nodiscard]] std::optional<VersionNumber> find(const RowKey& row) {
      const auto& together = with(row);
      const auto at = row.second % kTogether;
      if ((together.known >> at & 1) == 0) return std::nullopt;
      return together.versions[at];
    }
    void set(const RowKey& row, VersionNumber version) {
      auto& together = with(row);
      const auto at = row.second % kTogether;
      together.known |= std::uint64_t{1} << at;
      together.versions[at] = version;
    }
    void clear() {
      together_.clear();
      last_ = nullptr;
    }

   private:
    static constexpr RowNumber kTogether = 64;
    struct Together {
      std::uint64_t known = 0;  // a bit each
      std::array<VersionNumber, kTogether> versions;
    };
    Together& with(const RowKey& row) {
      const auto key = std::uint64_t{row.first} << 32 | row.second / kTogether;
      if (last_ == nullptr || last_key_ != key) {
        last_ = &together_[key];  // which stays where it is
        last_key_ = key;
      }
      return *last_;
    }
    std::unordered_map<std::uint64_t, Together> together_;
    std::uint64_t last_key_ = 0;
    Together* last_ = nullptr;
  };

  bool prepare();  // before each request
  bool fail() {
    over_ = true;
    return false;
  }
  bool read(const TablePtr& table, const std::vector<RowNumber>& rows, Sight sight);
  Locked guard(GuardRequest request, const Locking& locking);
  Locked outcome(Locked locked) {
    if (locked == Locked::kFailed) over_ = true;
    return locked;
  }
  Versions& versions(Sight sight) { return sight >= Sight::kFound ? found_ : seen_; }
  void set_own(const RowKey& key, Own own);
  void drop_own(const RowKey& key);
  // What is known without the store.
  [[nodiscard]] std::optional<VersionNumber> known(const TablePtr& table, RowNumber row) const;
  void forget();

  StoreClient client_;
  ChooseRequest choice_;
  bool at_store_ = false;  // the store has the transaction
  bool over_ = false;
  bool in_statement_ = false;
  std::uint32_t statement_ = 0, statement_commits_ = kEveryCommit;
  std::uint32_t found_as_of_ = kEveryCommit;  // commits, when what kLatest found was asked for
  std::size_t statement_start_ = 0;
  bool found_rows_ = false;            // which the store has to know the statement's end for
  bool only_reads_ = true;             // and locks nothing, so the store does not refuse it
  Versions seen_, found_;              // by the statement
  std::set<std::uint32_t> looked_at_;  // tables whose other rows the transaction saw missing
  std::map<RowKey, Held> held_;        // locks of rows
  std::set<std::pair<std::uint32_t, std::string>> guarded_;
  std::map<RowKey, Own> own_;
  std::vector<Undo> undo_;
};

// A number as the store's messages have it.
Position position_of(std::uint32_t number);
std::uint32_t number_at(const Position& position);

}  // namespace cupel::engines::mariadb
