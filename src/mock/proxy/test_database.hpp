// TestDatabase: the database that a command is tested on, and how each run gets it as it was.
//
// The database that the URL names is never written to, unless Options::in_place is set: each run
// has a copy of it, which is dropped afterwards. Only databases that this object made are ever
// dropped. PostgreSQL copies it (CREATE DATABASE … TEMPLATE), with the settings that ALTER DATABASE
// gave the original; of MySQL a dump is kept, which makes each copy.
//
// In the copies a recorder tells of each row that is written, by triggers. Those of PostgreSQL send
// INFO messages that begin with mark() and that the proxy takes out of the answers; they touch no
// table. Those of MySQL write to a table of a database beside the copies, by the number of the
// connection, which the proxy reads uncommitted.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "databases/drivers/url.hpp"
#include "mock/proxy/footprint.hpp"
#include "mock/proxy/scheduling_proxy.hpp"

namespace cupel::proxy {

// The rows of the tables with a primary key, as JSON objects, by the table's OID.
using Rows = std::map<std::uint32_t, std::vector<nlohmann::json>>;

// A connection of its own to one of the databases. One thread at a time.
class TestConnection {
 public:
  virtual ~TestConnection() = default;
  virtual base::Result<Catalog> read_catalog() = 0;
  virtual base::Result<Isolation> read_default_level() = 0;
  // Errors: more than `most` rows.
  virtual base::Result<Rows> read_rows(const Catalog& catalog, std::size_t most) = 0;
  // SchedulingProxy::Options.
  virtual base::Result<Blockers> read_blockers(const std::vector<std::int32_t>& backends) = 0;
  virtual base::Result<std::vector<std::string>> read_recorded(std::int32_t backend) = 0;

  // A temporary table with the name and the columns of a table: it is found first. False: none can
  // be made.
  virtual bool make_table(const TableFacts& table) = 0;
  // It has these rows, stored in this order, and no others.
  virtual bool fill_table(const TableFacts& table, const std::vector<nlohmann::json>& rows) = 0;
  // The rows of a statement as the client of the request gets them. None: an error.
  using Answers = std::vector<std::vector<std::optional<std::string>>>;
  virtual std::optional<Answers> answer(const Request& request) = 0;
  // Runs an UPDATE or DELETE: the rows of its table afterwards, and which of them it wrote. None:
  // an error, or the product does not say it (MySQL).
  struct Changed {
    std::vector<nlohmann::json> rows = {};
    std::vector<bool> written = {};
  };
  virtual std::optional<Changed> change(const Request& request, const TableFacts& table) = 0;
};

class TestDatabase {
 public:
  struct Options {
    // postgres://USER[:PASSWORD]@HOST[:PORT]/DATABASE[?host=FOLDER],
    // mysql://USER[:PASSWORD]@HOST[:PORT]/DATABASE[?socket=PATH], or mariadb:…
    std::string url = {};
    bool in_place = false;
  };
  // Errors: a wrong URL, no connection, no right to copy the database, others use it.
  static base::Result<std::unique_ptr<TestDatabase>> open(const Options& options);
  virtual ~TestDatabase() = default;  // drops the copies
  TestDatabase(const TestDatabase&) = delete;
  TestDatabase& operator=(const TestDatabase&) = delete;

  [[nodiscard]] Dialect dialect() const { return dialect_; }
  [[nodiscard]] const Endpoint& endpoint() const { return endpoint_; }
  [[nodiscard]] const std::string& user() const { return user_; }
  [[nodiscard]] const std::string& name() const { return name_; }  // of the URL
  [[nodiscard]] const std::string& mark() const { return mark_; }
  [[nodiscard]] bool in_place() const { return in_place_; }
  // From which the runs' databases are copied, and which a set-up may change; in place: name().
  [[nodiscard]] const std::string& original() const { return original_; }
  // How a client finds a database through a proxy on this port.
  [[nodiscard]] virtual std::vector<std::pair<std::string, std::string>> environment(
      std::uint16_t port, const std::string& database) const = 0;

  // Puts the recorder into original(). None is there: a sentence says why.
  std::string install_recorder();
  // A database for one run. Any thread.
  base::Result<std::string> make_copy();
  void drop_copy(const std::string& name);

  // Any thread.
  [[nodiscard]] virtual base::Result<std::unique_ptr<TestConnection>> connect(
      const std::string& database) const = 0;

 protected:
  explicit TestDatabase(Dialect dialect) : dialect_(dialect) {}
  // The parts of the URL that all have. `port`: where it names none.
  base::Status take_url(drivers::Url& url, std::uint16_t port);
  // Names for the copies, and the first of them, which is original().
  base::Status begin_copies();
  // A new copy. One thread at a time.
  base::Result<std::string> copy(const std::string& from);
  void drop_copies();

  virtual base::Status make_database(const std::string& from, const std::string& to) = 0;
  virtual void drop_database(const std::string& name) = 0;
  // Errors: why there is none.
  virtual base::Status record_original() = 0;

  const Dialect dialect_;
  Endpoint endpoint_;
  std::string user_, password_, name_, mark_, original_, prefix_;
  bool in_place_ = false;

 private:
  std::mutex mutex_;  // of what follows, and of make_database() and drop_database()
  std::set<std::string> made_;
  std::uint64_t last_number_ = 0;
};

// A recorder's schema, database and triggers.
inline constexpr const char* kRecorder = "cupel_recorder";

template <typename Database>
base::Result<std::unique_ptr<TestDatabase>> open_database(const TestDatabase::Options& options,
                                                          drivers::Url url) {
  auto database = std::make_unique<Database>();
  if (auto opened = database->open(options, std::move(url)); !opened.ok())
    return std::move(opened).error();
  return std::unique_ptr<TestDatabase>(std::move(database));
}
base::Result<std::unique_ptr<TestDatabase>> open_postgres_database(
    const TestDatabase::Options& options, drivers::Url url);
base::Result<std::unique_ptr<TestDatabase>> open_mysql_database(
    const TestDatabase::Options& options, drivers::Url url);

}  // namespace cupel::proxy
