// TestDatabase: the database that a command is tested on, and how each run gets it as it was.
//
// The database that the URL names is never written to, unless Options::in_place is set: each run
// has a copy of it (CREATE DATABASE … TEMPLATE), which is dropped afterwards. Only databases that
// this object made are ever dropped. A copy has the settings that ALTER DATABASE gave the original.
//
// In the copies a recorder tells of each row that is written: triggers, whose INFO messages begin
// with mark() and which the proxy takes out of the answers. They touch no table.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "drivers/postgres/plain.hpp"
#include "proxy/footprint.hpp"
#include "proxy/postgres_proxy.hpp"

namespace cupel::proxy {

// The rows of the tables with a primary key, as JSON objects, by the table's OID.
using Rows = std::map<std::uint32_t, std::vector<nlohmann::json>>;

class TestDatabase {
 public:
  struct Options {
    std::string url = {};  // postgres://USER[:PASSWORD]@HOST[:PORT]/DATABASE[?host=FOLDER]
    bool in_place = false;
  };
  // Errors: a wrong URL, no connection, no right to copy the database, others use it.
  static base::Result<std::unique_ptr<TestDatabase>> open(const Options& options);
  ~TestDatabase();  // drops the copies
  TestDatabase(const TestDatabase&) = delete;
  TestDatabase& operator=(const TestDatabase&) = delete;

  [[nodiscard]] const Endpoint& endpoint() const { return endpoint_; }
  [[nodiscard]] const std::string& user() const { return user_; }
  [[nodiscard]] const std::string& password() const { return password_; }
  [[nodiscard]] const std::string& name() const { return name_; }  // of the URL
  [[nodiscard]] const std::string& mark() const { return mark_; }
  [[nodiscard]] bool in_place() const { return in_place_; }
  // From which the runs' databases are copied, and which a set-up may change; in place: name().
  [[nodiscard]] const std::string& original() const { return original_; }

  // Puts the recorder into original(). None is there: a sentence says why.
  std::string install_recorder();
  // A database for one run. Any thread.
  base::Result<std::string> make_copy();
  void drop_copy(const std::string& name);

  // A connection of its own to one of the databases. Any thread.
  [[nodiscard]] base::Result<drivers::PlainPostgres> connect(const std::string& database) const;

 private:
  TestDatabase() = default;
  base::Status take_url(const std::string& url);
  base::Result<std::string> copy(const std::string& from);
  base::Status copy_settings(const std::string& to);

  Endpoint endpoint_;
  std::string user_, password_, name_, mark_, original_, prefix_;
  bool in_place_ = false;
  std::string owner_;
  std::vector<std::string> settings_;  // "SET x TO y" for ALTER DATABASE
  std::mutex mutex_;                   // of what follows
  std::unique_ptr<drivers::PlainPostgres> maintenance_;
  std::set<std::string> made_;
  std::uint64_t last_number_ = 0;
};

base::Result<Catalog> read_catalog(drivers::PlainPostgres& connection);
base::Result<Isolation> read_default_level(drivers::PlainPostgres& connection);
// Errors: more than `most` rows.
base::Result<Rows> read_rows(drivers::PlainPostgres& connection, const Catalog& catalog,
                             std::size_t most);
// PostgresProxy::Options::blockers.
base::Result<std::map<std::int32_t, std::vector<std::int32_t>>> read_blockers(
    drivers::PlainPostgres& connection, const std::vector<std::int32_t>& backends);

}  // namespace cupel::proxy
