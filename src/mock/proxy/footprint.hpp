// Footprints: what a statement touches, so that two statements whose order makes no difference are
// told from two whose order may make one.
//
// The statement is read by PostgreSQL's own parser (for MySQL: mysql_text.hpp), the tables by the
// server's catalog. Whatever is not known to be harmless (a function of the user's, a volatile one,
// a view, a trigger, DDL, a catalog table …) makes the statement `unknown`: it may touch
// everything. Two kinds of difference are not looked at: the order of rows that no ORDER BY
// decides, and the time at which a statement or a transaction began.
//
// PostgreSQL's rules: a plain read waits for nobody and sees only what is committed; writes of one
// row, and reads FOR UPDATE, exclude each other until the end of the transaction; at repeatable
// read and above the first statement of a transaction decides what it sees; at serializable every
// end of a transaction may make another one fail (PostgreSQL 15 documentation, chapter 13).
//
// InnoDB's rules: the first plain SELECT of a transaction decides what plain SELECTs see, and all
// other statements see what is committed; at serializable a SELECT locks what it reads, and so does
// a statement that writes with what it reads, at all levels; a lock on rows of a search, or on a
// row that is not there, keeps others from inserting near it, so an INSERT concerns the whole table
// (MariaDB Knowledge Base, "InnoDB Lock Modes"; MySQL 8 Reference Manual, 15.7).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "mock/proxy/request.hpp"

namespace cupel::proxy {

// A table of the catalog, as far as footprints need it.
struct TableFacts {
  std::uint32_t oid = 0;
  std::string schema, name;
  bool read_runs_more = false;   // a view, a partition, row security …
  bool write_runs_more = false;  // that, or a trigger, or a default that calls a function
  bool unique_besides_key = false;
  bool draws_numbers = false;  // a column that an INSERT leaves out may get the next of a sequence
  struct KeyColumn {
    std::string name;
    // kFoldedText: letters that differ in case may be the same, and much else.
    enum class Kind : std::uint8_t { kInteger, kText, kFoldedText, kOther } kind = Kind::kOther;
  };
  std::vector<KeyColumn> key = {};                                 // the primary key; empty: none
  std::vector<std::uint32_t> references = {}, referenced_by = {};  // foreign keys
  // MySQL: in which form the recorder writes their values.
  struct Column {
    std::string name;
    enum class Form : std::uint8_t { kText, kBytes, kSeconds } form = Form::kText;
    bool generated = false;
  };
  std::vector<Column> columns = {};
};

struct Catalog {
  Dialect dialect = Dialect::kPostgres;  // MySQL: names are in lower case
  std::map<std::uint32_t, TableFacts> tables = {};
  std::set<std::string, std::less<>> own_functions = {}, own_operators = {};  // of the user's
  // PostgreSQL: of the server's own, those that it calls volatile.
  std::set<std::string, std::less<>> volatile_functions = {};
  // None: no table has this name, or more than one.
  [[nodiscard]] const TableFacts* find(std::string_view schema, std::string_view name) const;
};

enum class Isolation : std::uint8_t {
  kReadUncommitted,  // MySQL's: dirty reads
  kReadCommitted,
  kRepeatableRead,
  kSerializable
};
// Of "repeatable read", "REPEATABLE-READ".
std::optional<Isolation> isolation_of(std::string_view words, Dialect dialect = Dialect::kPostgres);

// The end or a part of a transaction.
enum class TransactionWord : std::uint8_t {
  kNone,
  kBegin,
  kCommit,
  kRollback,
  kSavepoint,
  kRelease,
  kRollbackTo,
  kOther
};

// What the text of one statement says, without the catalog.
struct StatementText {
  bool unknown = false;  // it may do anything
  bool local = false;    // nothing but the client's own session is concerned: BEGIN, SET, SHOW
  TransactionWord word = TransactionWord::kNone;
  std::string savepoint = {};
  // Of this transaction, of the next one, of all from now on.
  std::optional<Isolation> level_here = {}, level_next = {}, level_from_now = {};
  // MySQL:
  bool commits_first = false;         // BEGIN ends the transaction that is open
  bool takes_snapshot = false;        // START TRANSACTION WITH CONSISTENT SNAPSHOT
  bool resets = false;                // COM_RESET_CONNECTION: the session's settings are gone
  bool may_end_transactions = false;  // CALL, DDL …
  enum class Use : std::uint8_t { kRead, kShare, kWrite };
  struct TableUse {
    std::string schema, name;
    Use use = Use::kRead;
  };
  std::vector<TableUse> tables = {};
  std::set<std::string> functions = {}, operators = {}, common_tables = {};
  // Of the functions, those that return something else in another run: random() …
  std::set<std::string> unrepeatable = {};
  std::set<std::size_t> schemas = {};  // PostgreSQL: where in the text a table's schema is named
  bool reads_only = false;             // a SELECT (which may lock)
  bool locks = false;                  // … FOR UPDATE
  bool inserts = false, deletes = false;
  std::set<std::string> assigned = {};     // UPDATE: the columns
  std::set<std::string> overwritten = {};  // … whose new value does not depend on the row
  // Where the statement concerns one table: the columns that equal a constant or a parameter, one
  // map for each row that is inserted, or one for WHERE.
  struct Constant {
    int parameter = 0;  // from 1; 0: `text`
    std::string text = {};
    bool number = false;
  };
  std::vector<std::map<std::string, Constant>> rows = {};
};

// A SELECT from tables that locks nothing.
bool is_plain_select(const StatementText& statement);
// An UPDATE or DELETE: the table that it changes. Null: another statement.
const StatementText::TableUse* changed_table(const StatementText& statement);
// PostgreSQL: the text with another schema in these places.
std::string with_schema(const std::string& text, const std::set<std::size_t>& places,
                        std::string_view schema);

// The statements of a text.
std::vector<StatementText> statements_of(std::string_view text,
                                         Dialect dialect = Dialect::kPostgres);

// Whether these requests concern nobody but the client itself, whatever the tables are. `open`: in
// a transaction.
bool concern_only_the_client(const std::vector<Request>& requests, bool open,
                             Dialect dialect = Dialect::kPostgres);

// A row or, without a key, any rows of a table.
struct Touch {
  std::uint32_t table = 0;
  std::string key = {};
  auto operator<=>(const Touch&) const = default;
};
using Touches = std::set<Touch>;

struct Footprint {
  bool unknown = false;
  bool unrepeatable = false;  // the same statement may do something else in another run
  Touches reads = {}, shares = {}, writes = {};  // shares: locks that exclude writes only
  bool takes_snapshot = false;                   // for later statements too
  bool serializable = false;                     // reads or writes at that level
  // It waits for a lock, or would and is ended as a deadlock: who waits last closes the cycle.
  bool waits = false;
  // The end of a transaction: what it touched; a lock of it is released, a write is seen.
  bool ends = false, ended_unknown = false;
  Touches ended_shares = {}, ended_writes = {};

  [[nodiscard]] bool nothing() const;
  void add(const Footprint& other);
};

// Of a statement with its parameters; without the transaction around it.
Footprint footprint_of(const StatementText& statement,
                       const std::vector<Request::Parameter>& parameters, const Catalog& catalog);

// Whether the order of two statements of different clients makes no difference.
bool independent(const Footprint& one, const Footprint& other);

}  // namespace cupel::proxy
