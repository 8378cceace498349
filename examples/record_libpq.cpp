// record_libpq: an application that records its own traffic. Its data layer, the
// class Database, wraps PQexecParams and reports to cupel::Recorder what it saw; the rest
// is a bank whose clients move money between accounts.
//
//   record_libpq CONNECTION HISTORY [THREADS [TRANSFERS [ACCOUNTS [ISOLATION]]]]
//   record_libpq postgres://me@127.0.0.1/test history.jsonl 8 200 10 'repeatable read'
//   cupel check -l snapshot-isolation history.jsonl
//
// It makes the table record_libpq_account and drops it at the end. To take over into
// a data layer of your own:
//   - A balance is stored with the number of the write that made it ("90#1742"), so
//     that every read shows which transaction it saw. The bank sees "90".
//   - A write is recorded before it is sent, a read when it is answered.
//   - committed() means that the server said so, aborted() that it certainly did not
//     commit. What COMMIT did is unknown if the connection breaks under it.
#include <libpq-fe.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "cupel/record.hpp"

namespace {

constexpr int kInitialBalance = 100;

struct FinishConnection {
  void operator()(PGconn* connection) const { PQfinish(connection); }
};
struct ClearResult {
  void operator()(PGresult* result) const { PQclear(result); }
};
using Result = std::unique_ptr<PGresult, ClearResult>;

enum class Outcome { kCommitted, kAborted, kUnknown };

// Ends a transaction's body early.
struct Failed {
  std::string why;
};

std::string words(PGconn* connection) {
  std::string message = PQerrorMessage(connection);
  while (!message.empty() && message.back() == '\n') message.pop_back();
  return message.empty() ? "the connection is closed" : message;
}

// The data layer: one connection, used by one thread at a time.
class Database {
 public:
  Database(const std::string& where, const std::string& isolation, cupel::Recorder& recorder)
      : connection_(PQconnectdb(where.c_str())),
        begin_("BEGIN ISOLATION LEVEL " + isolation),
        recorder_(recorder),
        recorded_(recorder.session()) {}

  [[nodiscard]] bool connected() const { return PQstatus(connection_.get()) == CONNECTION_OK; }
  [[nodiscard]] std::string error() const { return words(connection_.get()); }

  // A statement outside of what is recorded.
  bool execute(const std::string& sql) {
    const Result result(PQexec(connection_.get(), sql.c_str()));
    return PQresultStatus(result.get()) == PGRES_COMMAND_OK;
  }

  // Runs `body` as a transaction; it reads and writes through read() and write(), and
  // returns false to have the transaction rolled back.
  template <typename Body>
  Outcome transaction(Body body) {
    if (!connected()) PQreset(connection_.get());
    recorded_.begin();
    try {
      ask(begin_, {});
      if (!body()) return roll_back("given up by the application");
    } catch (const Failed& failure) {
      return roll_back(failure.why);  // COMMIT was not sent, so it did not commit
    }
    return commit();
  }

  std::optional<int> read(const std::string& account) {
    const auto result =
        ask("SELECT balance FROM record_libpq_account WHERE name = $1", {account.c_str()});
    const bool there = PQntuples(result.get()) > 0 && PQgetisnull(result.get(), 0, 0) == 0;
    if (!there) {
      recorded_.read(account, {});
      return std::nullopt;
    }
    const std::string stored = PQgetvalue(result.get(), 0, 0);
    recorded_.read(account, stored);
    return std::atoi(std::string(cupel::untag(stored)).c_str());
  }

  void write(const std::string& account, int balance) {
    const auto stored = cupel::tag(std::to_string(balance), recorder_.unique_id());
    recorded_.write(account, stored);
    const auto result = ask("UPDATE record_libpq_account SET balance = $2 WHERE name = $1",
                            {account.c_str(), stored.c_str()});
    // No row, no write: the record holds only if the transaction goes no further.
    if (std::strcmp(PQcmdTuples(result.get()), "1") != 0) throw Failed{"no account " + account};
  }

 private:
  Result ask(const std::string& sql, const std::vector<const char*>& values) {
    Result result(PQexecParams(connection_.get(), sql.c_str(), static_cast<int>(values.size()),
                               nullptr, values.data(), nullptr, nullptr, 0));
    const auto status = PQresultStatus(result.get());
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) throw Failed{error()};
    return result;
  }

  Outcome roll_back(const std::string& why) {
    // Should this fail too, the connection is of no use and the server rolls back.
    if (PQtransactionStatus(connection_.get()) != PQTRANS_IDLE && !execute("ROLLBACK")) {
      PQreset(connection_.get());
    }
    recorded_.aborted(why);
    return Outcome::kAborted;
  }

  Outcome commit() {
    recorded_.committing();
    const Result result(PQexec(connection_.get(), "COMMIT"));
    if (PQresultStatus(result.get()) == PGRES_COMMAND_OK) {
      // A transaction in which something failed: COMMIT succeeds at rolling back.
      if (std::strcmp(PQcmdStatus(result.get()), "COMMIT") != 0) return roll_back("rolled back");
      recorded_.committed();
      return Outcome::kCommitted;
    }
    // Classes with which the server says that it has rolled back: 40, besides 40003
    // (completion unknown), 23 and 25. Anything else may come after the commit.
    const char* field = PQresultErrorField(result.get(), PG_DIAG_SQLSTATE);
    const std::string_view state = field != nullptr ? field : "";
    const auto kind = state.substr(0, 2);
    if (connected() && ((kind == "40" && state != "40003") || kind == "23" || kind == "25")) {
      return roll_back(error());
    }
    recorded_.indeterminate(error());
    return Outcome::kUnknown;
  }

  std::unique_ptr<PGconn, FinishConnection> connection_;
  std::string begin_;
  cupel::Recorder& recorder_;
  cupel::RecordedSession recorded_;
};

// From here on nothing knows of the recording.

std::string account_name(int number) {
  return "account:" + std::to_string(number);
}

struct Totals {
  std::atomic<int> committed = 0, aborted = 0, unknown = 0, wrong_sums = 0;
};

void count(Outcome outcome, Totals& totals) {
  switch (outcome) {
    case Outcome::kCommitted:
      ++totals.committed;
      break;
    case Outcome::kAborted:
      ++totals.aborted;
      break;
    case Outcome::kUnknown:
      ++totals.unknown;
      break;
  }
}

Outcome transfer(Database& database, const std::string& from, const std::string& to, int amount) {
  return database.transaction([&] {
    const auto source = database.read(from);
    const auto target = database.read(to);
    if (!source || !target || *source < amount) return false;
    database.write(from, *source - amount);
    database.write(to, *target + amount);
    return true;
  });
}

// All the money, in one transaction: the same whenever it is asked, if transactions
// see a snapshot.
Outcome audit(Database& database, int accounts, long long& sum) {
  return database.transaction([&] {
    sum = 0;
    for (int i = 0; i < accounts; ++i) sum += database.read(account_name(i)).value_or(0);
    return true;
  });
}

void client(Database& database, int number, int transfers, int accounts, Totals& totals) {
  std::mt19937 random(static_cast<unsigned>(number));
  const auto below = [&](int bound) {
    return static_cast<int>(random() % static_cast<unsigned>(bound));
  };
  for (int i = 0; i < transfers; ++i) {
    const int from = below(accounts);
    const int to = (from + 1 + below(accounts - 1)) % accounts;
    count(transfer(database, account_name(from), account_name(to), 1 + below(20)), totals);
    if (i % 10 != 9) continue;
    long long sum = 0;
    const auto outcome = audit(database, accounts, sum);
    count(outcome, totals);
    if (outcome == Outcome::kCommitted && sum != 1LL * accounts * kInitialBalance) {
      ++totals.wrong_sums;
    }
  }
}

// An argument that is a number of at least `least`, or what it is if left out.
int number(int argc, char** argv, int position, int otherwise, int least) {
  if (position >= argc) return otherwise;
  char* end = nullptr;
  const long value = std::strtol(argv[position], &end, 10);
  if (*argv[position] != '\0' && *end == '\0' && value >= least && value <= 1'000'000) {
    return static_cast<int>(value);
  }
  std::fprintf(stderr, "record_libpq: found `%s`, expected a number from %d to 1000000\n",
               argv[position], least);
  std::exit(3);
}

[[noreturn]] void stop(const std::string& why) {
  std::fprintf(stderr, "record_libpq: %s\n", why.c_str());
  std::exit(3);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3 || argc > 7) {
    stop("usage: record_libpq CONNECTION HISTORY [THREADS [TRANSFERS [ACCOUNTS [ISOLATION]]]]");
  }
  const std::string where = argv[1], path = argv[2];
  const int threads = number(argc, argv, 3, 8, 1);
  const int transfers = number(argc, argv, 4, 200, 1);
  const int accounts = number(argc, argv, 5, 10, 2);
  const std::string isolation = argc > 6 ? argv[6] : "repeatable read";

  cupel::RecordOptions options;
  options.metadata = {
      {"database", "PostgreSQL"}, {"isolation", isolation}, {"recorded by", "record_libpq"}};
  // What the accounts hold before anything is recorded.
  options.default_initial = std::to_string(kInitialBalance);
  std::string error;
  const auto recorder = cupel::Recorder::open(path, options, error);
  if (!recorder) stop(error);

  Database setup(where, isolation, *recorder);
  if (!setup.connected()) stop(setup.error());
  bool ready =
      setup.execute("SET client_min_messages = warning") &&
      setup.execute("DROP TABLE IF EXISTS record_libpq_account") &&
      setup.execute("CREATE TABLE record_libpq_account (name TEXT PRIMARY KEY, balance TEXT)");
  for (int i = 0; ready && i < accounts; ++i) {
    ready = setup.execute("INSERT INTO record_libpq_account VALUES ('" + account_name(i) + "', '" +
                          std::to_string(kInitialBalance) + "')");
  }
  if (!ready) stop("could not make the table: " + setup.error());

  Totals totals;
  std::vector<std::thread> clients;
  std::vector<std::unique_ptr<Database>> databases;
  for (int i = 0; i < threads; ++i) {
    databases.push_back(std::make_unique<Database>(where, isolation, *recorder));
    if (!databases.back()->connected()) stop(databases.back()->error());
  }
  for (int i = 0; i < threads; ++i) {
    clients.emplace_back([&, i] { client(*databases[i], i, transfers, accounts, totals); });
  }
  for (auto& thread : clients) thread.join();
  databases.clear();
  if (!setup.execute("DROP TABLE record_libpq_account")) {
    std::fprintf(stderr, "record_libpq: could not drop the table: %s\n", setup.error().c_str());
  }
  if (!recorder->close(error)) stop(error);
  std::printf("%d committed, %d aborted, %d unknown; %d audits with a wrong sum\n",
              totals.committed.load(), totals.aborted.load(), totals.unknown.load(),
              totals.wrong_sums.load());
  return 0;
}
