// Drivers: one interface to every database that cupel can run a workload on. One
// folder a driver; no other layer sees a database's client library.
//
// The rule that every driver keeps: a failure is kAborted only if the database
// certainly did not and will not commit; when in doubt it is kUnknown. A wrong
// kAborted makes cupel accuse a correct database.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "data/workload/statement.hpp"
#include "data/workload/workload.hpp"

namespace cupel::drivers {

enum class TxnOutcome : std::uint8_t { kAborted, kUnknown };
enum class Cause : std::uint8_t {
  kConflict,    // serialization failure, deadlock, lock not available, a lost race
  kTimeout,     // no answer in time
  kConnection,  // the connection broke, or the server is not there
  kConstraint,  // a row that is there already, …
  kStatement,   // the database refused the statement: a bug of ours, or a missing privilege
  kGone,        // what prepare() made is not there: no such table, bucket or stream
};
// "conflict" …
std::string_view name(Cause cause);

struct Failure {
  TxnOutcome txn_outcome = TxnOutcome::kUnknown;
  Cause cause = Cause::kStatement;
  std::string code;              // SQLSTATE or the library's own: "40001", "SQLITE_BUSY"
  std::string message;           // the database's words, one line
  bool connection_lost = false;  // the connection is of no use any more
};
using MaybeFailure = std::optional<Failure>;  // none: all is well

// One client session. Used by one thread at a time.
class Connection {
 public:
  virtual ~Connection() = default;
  // An interactive transaction. A failure of begin() or execute() ends it: the
  // driver has rolled back (or the connection is lost), and its outcome is kAborted,
  // since no commit was asked for. Only commit() may leave it unknown, and a server that ended
  // the transaction by itself: see ended_at_statement().
  virtual MaybeFailure begin() = 0;
  virtual MaybeFailure execute(const workload::Statement& statement, workload::Reply& reply) = 0;
  virtual MaybeFailure commit() = 0;
  virtual void rollback() = 0;
  // The server ended the last transaction by itself, and no answer was an error: with the answer to
  // this statement, counted from 1, it said that no transaction is open any more. 0: it did not.
  // The statements after that one were no part of a transaction. What the client was told stays
  // what it is: an acknowledged commit is one. But a failure, or a rollback, no longer undoes
  // everything, so it leaves the outcome unknown.
  [[nodiscard]] virtual std::size_t ended_at_statement() const { return 0; }
  // If the connection itself chooses a node for each transaction: that of the last, and its part,
  // "127.0.0.1:7001, replica"; empty before the first.
  [[nodiscard]] virtual std::optional<std::string> node() const { return std::nullopt; }
  // A whole transaction, its statements known beforehand; replies are parallel to
  // them. After a failure that leaves its outcome unknown there are either none, or
  // `succeeded` holds of each if it did commit. By default the above in turn;
  // databases without interactive transactions do it in one piece.
  virtual MaybeFailure transact(std::span<const workload::Statement> statements,
                                std::vector<workload::Reply>& replies);
};

// What the history's header says of the database.
struct Facts {
  std::string product;    // "PostgreSQL"
  std::string version;    // "15.6"
  std::string isolation;  // the database's own name for it: "repeatable read"
  std::string detail;  // whatever else decides what it promises: "journal_mode=wal"; may be empty
  // A connection pooler between cupel and the database, if one was seen: "session"; "transaction",
  // if each transaction may have another server connection; "multiplexed", if so and the isolation
  // level belongs to the server connection, so that it is not known.
  std::string pooler = {};
};

class Database {
 public:
  virtual ~Database() = default;
  [[nodiscard]] virtual Facts facts() const = 0;
  [[nodiscard]] virtual workload::Needs can() const = 0;
  // Whether another run can reach the same tables or keys. Where it can, prepare() is given
  // names that only this run has.
  [[nodiscard]] virtual bool shared() const { return true; }
  // Drops the schema's tables if they are there, makes and fills them. Any
  // connection made afterwards sees the rows.
  virtual base::Status prepare(const workload::Workload& workload) = 0;
  // Instead of prepare(), where another process has made and filled the tables. The schema is that
  // of its workload. Errors: the driver cannot.
  virtual base::Status join(const workload::Schema& schema);
  // A connection for a session (0, 1 …); by default sessions are spread over the hosts. A driver
  // overrides this or connect_to_host().
  virtual base::Result<std::unique_ptr<Connection>> connect(std::uint32_t session) {
    const auto several = static_cast<std::uint32_t>(hosts().size());
    return connect_to_host(session % std::max(several, 1U));
  }
  // The URL's hosts, "127.0.0.1:5432", where it may have several; else none.
  [[nodiscard]] virtual std::vector<std::string> hosts() const { return {}; }
  // The servers by which the history names transactions: hosts(), unless connections choose
  // (Connection::node()).
  [[nodiscard]] virtual std::vector<std::string> nodes() const { return hosts(); }
  // A connection to one of hosts().
  virtual base::Result<std::unique_ptr<Connection>> connect_to_host(std::uint32_t host) {
    return connect(host);
  }
  // The same for transactions that only read: at the level of open(), or at the strongest that this
  // host has, if it is a replica that lacks that one.
  virtual base::Result<std::unique_ptr<Connection>> connect_to_read(std::uint32_t host) {
    return connect_to_host(host);
  }
  // Whether one of hosts() takes writes now. Errors: it does not answer.
  virtual base::Result<bool> takes_writes(std::uint32_t /*host*/) { return true; }
  // Whether another host may become the primary without all that was acknowledged, by the
  // database's design: what is promised of one server is not promised of several then.
  [[nodiscard]] virtual bool fails_over() const { return false; }
  // The first of hosts() that takes writes. Errors: none does.
  base::Result<std::uint32_t> primary();
  // The same; the first host if none does.
  std::uint32_t primary_or_first();
  // Drops what prepare() made. The connections are closed.
  virtual void clean() = 0;
};

struct OpenOptions {
  std::string isolation;          // as the user wrote it; empty: the driver's default
  double statement_timeout = 10;  // seconds that a statement or a connection attempt may take
};

struct DriverInfo {
  std::string_view name;     // "postgres": the URL's scheme
  std::string_view alias{};  // another scheme for it: "postgresql"; may be empty
  std::string_view url;      // "postgres://USER:PASSWORD@HOST[:PORT][,HOST…]/DATABASE"
  std::string_view page;     // "docs/reference/drivers/postgres.md"
  std::span<const std::string_view> isolations;  // first: the default
  bool any_isolation = false;                    // or any other: the client program interprets it
  bool isolation_in_url = false;  // the URL's path may name one: "mock:prefix?seed=1"
  // Of the levels, the one at which a standby or replica begins no transaction; may be empty.
  std::string_view not_on_standbys{};
  workload::Needs can;  // at the default level, as Database::can() says
  // … at a level, where that differs; null: the same at every level.
  workload::Needs (*can_at)(std::string_view isolation) = nullptr;
  bool available = false;  // false: its plug-in is not installed
};
std::span<const DriverInfo> all_drivers();
// Whether the driver can be loaded with its client library. Errors say what to install.
base::Status usable(std::string_view name);

// The isolation level as the driver of `url` spells it: "Repeatable Read" and
// "repeatable_read" are repeatable-read, and empty is the default
// (of a URL that names a level, as mock's does, that one). Nothing is
// connected to. Errors: a URL that no driver here knows, a level that it lacks.
base::Result<std::string> isolation_of(const std::string& url, const std::string& isolation);

// What the driver of `url` can do at that level, as Database::can() says of the open one.
// Nothing is connected to. Errors: those of isolation_of().
base::Result<workload::Needs> can_at(const std::string& url, const std::string& isolation);
// Whether a standby or replica begins transactions at the level. Errors: the same.
base::Result<bool> begins_on_standbys(const std::string& url, const std::string& isolation);

// Connects once to see that the database is there and knows the isolation level.
// Errors are sentences that say what to do: a bad URL, a server that is not
// there, a wrong password, a level that the database lacks (with those it has).
base::Result<std::unique_ptr<Database>> open(const std::string& url, const OpenOptions& options);

}  // namespace cupel::drivers
