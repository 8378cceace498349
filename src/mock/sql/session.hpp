// A SQL session on the mock store: what a connection of PostgreSQL's protocol, or of HTTP, talks
// to. docs/reference/mock-sql.md says which SQL is understood.
//
//   mock::Store store(options);
//   Catalog catalog(options.level);
//   auto session = Session::open(store, catalog, "client 1");
//   session->run("CREATE TABLE accounts (id int PRIMARY KEY, balance int)");
//   session->run("INSERT INTO accounts VALUES (7, 100)");
//   auto run = session->run("SELECT balance FROM accounts WHERE id = 7");
//   // run.results[0].rows[0][0] == "100"
//
// Source: Biswas, thesis 2021, section 4.3. A table is its set of primary keys, one key
// of the store each (`accounts/7`: 1 there, 0 or null not), and one key a cell
// (`accounts/7/balance`). Statements become the reads and writes of these that their
// answer needs and no more, so that what is weak about the store is seen by SQL.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/mock/store.hpp"
#include "mock/sql/value/error.hpp"
#include "mock/sql/value/result.hpp"

namespace cupel::sql {

// What a prepared statement needs and gives. Parameters are $1 and so on.
// Valid for any session of the same Catalog; independent of the Session's life.
struct Prepared {
  virtual ~Prepared() = default;
  std::vector<Type> types;      // of the parameters; kText where nothing says more
  std::vector<Column> columns;  // that a SELECT or RETURNING would return, without execution
  bool has_rows = false;        // it returns rows (which may have no columns at all)
  std::string command;          // "SELECT", "INSERT", "BEGIN" …; empty for an empty statement
};

// As ReadyForQuery of PostgreSQL's protocol has it.
enum class TransactionState : char { kIdle = 'I', kOpen = 'T', kFailed = 'E' };

class Tables;

// The tables of a store, for all its sessions, and the counters of SERIAL.
// Neither is weakened: a table that one session makes is there for all
// at once. Made with the Store, and given its level. Thread safe; outlives its sessions.
class Catalog {
 public:
  explicit Catalog(mock::Level level);
  ~Catalog();
  Catalog(const Catalog&) = delete;
  Catalog& operator=(const Catalog&) = delete;
  // Forgets all tables and counters: with mock::Store::reset().
  void reset();
  // Whether a statement asked for locks that the store does not have.
  [[nodiscard]] bool ignored_locks() const;

  [[nodiscard]] Tables& tables() const { return *tables_; }

 private:
  std::unique_ptr<Tables> tables_;
};

// Used by one thread at a time. Calls wait where mock::Store::begin() waits.
class Session {
 public:
  static std::unique_ptr<Session> open(mock::Store& store, Catalog& catalog, std::string name);
  // Of a session of the store that is open; closes it at its end.
  static std::unique_ptr<Session> open(mock::Store& store, Catalog& catalog, std::uint32_t session);
  virtual ~Session() = default;  // what is open is rolled back
  // A text of one or more statements; results in order. At the first error the rest is
  // not run: `error` is then set, after the results so far. As in PostgreSQL, several
  // statements in one text without BEGIN are one transaction.
  // An empty text gives no result and no error.
  struct Run {
    std::vector<Result> results;
    std::optional<Error> error;
  };
  virtual Run run(std::string_view text) = 0;
  // One statement, or none (an empty text). `types`: what the client says of the first
  // parameters; kNull is left to inference.
  virtual std::variant<std::unique_ptr<Prepared>, Error> prepare(
      std::string_view statement, std::span<const Type> types = {}) = 0;
  // Errors: as run(); 08P01 when the number of parameters is wrong. Outside of BEGIN each
  // call is a transaction of its own.
  virtual std::variant<Result, Error> execute(const Prepared& prepared,
                                              std::span<const Datum> parameters) = 0;
  [[nodiscard]] virtual TransactionState state() const = 0;
  // What DEALLOCATE and DISCARD ALL do with the prepared statements that a protocol keeps: gives up
  // the one of this name, or all. False: there is none of this name. At first there are none.
  using Deallocate = std::function<bool(std::optional<std::string_view> name)>;
  virtual void on_deallocate(Deallocate deallocate) = 0;
  // Ends the statement that is under way with 57014, if one is. May be called at any time from any
  // thread, also when the session is gone. Empty: there is no such thing here.
  using Cancel = std::function<void()>;
  [[nodiscard]] virtual Cancel canceller() { return {}; }
  // As the client asks for when it connects, as if by SET; and what RESET goes back to.
  virtual std::optional<Error> configure(const std::string& /*setting*/,
                                         const std::string& /*value*/) {
    return std::nullopt;
  }
};

}  // namespace cupel::sql
