// The mock store: every read returns a value chosen at random among all values
// that the level allows.
//
// Source: Biswas, thesis 2021, chapter 4 (MonkeyDB), figure 4.3. A read of a key
// that its own transaction wrote returns that write (read-local); any other may
// return whatever a committed transaction wrote last to the key, or null, what every
// key held at first, if the history with that read is still within the level
// (read-extern). A history at prefix and above may be left by a *write* too: what
// the transaction read holds it before transactions that the write would
// contradict. Such a transaction cannot commit; its client gets kConflict.
//
// By default transactions run one after another, as in the figure: while one is open, begin() of
// another waits, first come first served. With Options::overlap several are open, each read
// returns what the level allows after what is committed then, and a transaction whose chance
// another's commit ended gets kConflict. No transaction that only reads does, nor, without
// locks, any at causal or below. An open transaction that keeps others waiting
// and asks for nothing during `patience` is rolled back (kEnded at its next call), so
// that nothing ever hangs: a client that holds one transaction open while it waits for
// another of its own gets the reason.
//
// Weak behaviour needs no concurrency: what a read may miss is decided by the history.
// Thread safe; the same seed and the same calls in the same order give the same answers.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "data/history/history.hpp"

namespace cupel::mock {

// Null, an integer, or text. Null is what a key holds that nobody wrote.
struct Value {
  enum class Kind : std::uint8_t { kNull, kInteger, kText };
  Kind kind = Kind::kNull;
  std::int64_t integer = 0;
  std::string text;

  static Value of(std::int64_t number) { return {Kind::kInteger, number, {}}; }
  static Value of(std::string words) { return {Kind::kText, 0, std::move(words)}; }
  friend bool operator==(const Value&, const Value&) = default;
};

// levels.md says what each means; the weakest first.
enum class Level : std::uint8_t {
  kReadCommitted,
  kReadAtomic,
  kCausal,
  kPrefix,
  kStrongSessionSnapshotIsolation,
  kStrongSessionSerializable,
  kStrictSerializable,  // of a whole store, not of single transactions
};
// Those whose reads are chosen among all values that the level allows.
inline constexpr std::array kLevels = {Level::kReadCommitted,
                                       Level::kReadAtomic,
                                       Level::kCausal,
                                       Level::kPrefix,
                                       Level::kStrongSessionSnapshotIsolation,
                                       Level::kStrongSessionSerializable};
std::string_view name(Level level);  // "read-committed"
// The names and aliases of levels.md; snapshot-isolation and serializable are these with
// session order.
std::optional<Level> level_of(std::string_view);

// A database whose levels the store simulates: what it is documented to do, no weaker and no
// stronger (docs/reference/mock-levels.md). Reads return the version of a snapshot, and nothing is
// chosen but when transactions overlap. Of Level then, the weak ones are the product's READ
// COMMITTED, prefix and snapshot isolation its REPEATABLE READ, and those above its SERIALIZABLE.
enum class Product : std::uint8_t {
  kNone,
  kPostgres,
  kMysql,            // MySQL and MariaDB: InnoDB
  kMariadbSnapshot,  // MariaDB with innodb_snapshot_isolation
  kGalera,           // a cluster of three nodes; a session stays with one
};

struct ProductLevel {
  std::string_view name;
  Product product;
  Level level;
};
inline constexpr std::array kProductLevels = {
    ProductLevel{"postgres:read-committed", Product::kPostgres, Level::kReadCommitted},
    ProductLevel{"postgres:repeatable-read", Product::kPostgres,
                 Level::kStrongSessionSnapshotIsolation},
    ProductLevel{"postgres:serializable", Product::kPostgres, Level::kStrongSessionSerializable},
    ProductLevel{"mysql:read-committed", Product::kMysql, Level::kReadCommitted},
    ProductLevel{"mysql:repeatable-read", Product::kMysql, Level::kPrefix},
    ProductLevel{"mysql:serializable", Product::kMysql, Level::kStrongSessionSerializable},
    ProductLevel{"mariadb:snapshot", Product::kMariadbSnapshot, Level::kPrefix},
    ProductLevel{"galera:read-committed", Product::kGalera, Level::kReadCommitted},
    ProductLevel{"galera:repeatable-read", Product::kGalera, Level::kPrefix},
};

// What a transaction locks until its end. The first four are PostgreSQL's locks of rows; InnoDB's
// shared and exclusive ones are kShare and kUpdate.
enum class LockMode : std::uint8_t {
  kKeyShare,
  kShare,
  kNoKeyUpdate,
  kUpdate,
  kGap,        // no row may be added below the name; gaps do not exclude each other
  kInsertion,  // a row is added below the name
};

enum class LockResult : std::uint8_t {
  kGranted,
  kGrantedLater,  // others changed what it covers, perhaps, while it was waited for
  kNotAvailable,  // it would have to be waited for, and the caller does not want to
  kGivenUp,       // LockOptions::give_up said so
  kEnded,         // the transaction has ended: failure()
};

struct LockOptions {
  bool wait = true;
  // Asked about every 20 ms while it waits; true ends that.
  std::function<bool()> give_up = {};
};

// How a read chooses among the values that it is allowed.
enum class Policy : std::uint8_t {
  kUniform,      // each write as likely as any other
  kLatest,       // the freshest of each session's, then one of those at random
  kAdversarial,  // one that leaves the next stronger level, if there is one
};
struct NamedPolicy {
  std::string_view name;
  Policy policy;
};
inline constexpr std::array kPolicies = {NamedPolicy{"uniform", Policy::kUniform},
                                         NamedPolicy{"latest", Policy::kLatest},
                                         NamedPolicy{"adversarial", Policy::kAdversarial}};
std::optional<Policy> policy_of(std::string_view name);

// 128 bits of a hash; two histories of a test that have the same are taken for equal.
using Digest = std::array<std::uint64_t, 2>;

// Where a test stands, while no transaction is open: Store::digest() of both kinds, and how
// often each function of an interleave() went on (else nothing).
struct Progress {
  Digest history, in_order;
  std::vector<std::uint64_t> turns = {};
};

struct Options {
  Level level = Level::kCausal;
  std::uint64_t seed = 0;
  // Weights of the policies, by Policy; a policy is drawn for each read.
  double uniform = 1, latest = 0, adversarial = 0;
  double abort_rate = 0;  // share of commits that abort instead (kConflict)
  // Before a transaction queues for its turn: uniform in [0, delay_ms]. With overlap also before
  // each statement and commit, so that transactions overlap more often.
  double delay_ms = 0;
  double latency_ms = 0;  // before every read, write and commit
  double patience_s = 5;  // see above
  // Transactions of different sessions are open at the same time. Not together with settle_ms.
  // interleave() hands over at each call of a transaction then, not at its begin alone.
  bool overlap = false;
  bool keep_statements = false;  // for statements()
  // Implies overlap and locks.
  Product product = Product::kNone;
  // Transaction::lock() locks, and a write locks its key. Otherwise nobody waits for anybody.
  bool locks = false;
  // For enumeration instead of chance: called where a read has more than one write to
  // return, with their number, and gives which (below it): 0 is null or the first that
  // was committed, and so on. Two writes of the same value count as two, since what may
  // be read after them differs. It must not call the store. Policies are not asked then.
  // interleave() asks it too, with the number of functions that may go on.
  std::function<std::size_t(std::size_t allowed)> choose = {};
  // Called before it is decided who goes on, and at the end of an interleave(), with what
  // has happened so far. It must not call the store.
  std::function<void(const Progress&)> before_turn = {};
  // Instead of first come, first served: who waits in begin() is drawn once nobody came and
  // nothing ended for this long, from all who wait then, by the names of their sessions
  // (`choose` is asked with their number). So clients that are quick are as repeatable as
  // in interleave().
  double settle_ms = 0;
  // Called with commits() at each commit, before anybody gets a lock that the transaction had. It
  // must not call the store.
  std::function<void(std::uint32_t commits)> committed = {};
};
// Its weight among the options.
double& weight_of(Options& options, Policy policy);

// A store of a product, or strictly serializable: snapshots and locks make its level, which is that
// of the whole store. Transactions may ask for a stronger one, and for no weaker.
inline bool is_versioned(const Options& options) {
  return options.product != Product::kNone || options.level == Level::kStrictSerializable;
}

struct Failure {
  enum class Kind : std::uint8_t {
    kConflict,  // the level does not allow it to commit, or abort_rate struck; rolled back
    kDeadlock,  // rolled back: those whose locks it waits for wait for its own
    kEnded,     // rolled back earlier: out of patience
    kStopped,   // the store is shutting down
  };
  Kind kind;
  std::string message;  // a sentence, no full stop
};

// The level's name, or the product's: "postgres:read-committed".
std::string_view title(const Options& options);

inline constexpr auto kAllCommits = std::numeric_limits<std::uint32_t>::max();

// In front of a statement's text, around the values of its parameters: "$1 = '5'".
inline constexpr char kParametersMark = '\x1e';

// A key of a store, by Store::number().
using KeyNumber = std::uint32_t;

// One transaction. Used by one thread at a time. Destroyed while open: rolled back.
class Transaction {
 public:
  virtual ~Transaction() = default;
  // nullopt and a failure() when the transaction is over.
  virtual std::optional<Value> read(std::string_view key) = 0;
  // Reads the keys one after another, which takes less time than single reads. `seen` gets their
  // values, and must not call the store. False when the transaction is over.
  virtual bool read_each(std::span<const KeyNumber> keys,
                         const std::function<void(const Value&)>& seen) = 0;
  // It read the key, and not only by a scan that did not list it.
  [[nodiscard]] virtual bool has_read(std::string_view key) = 0;
  // Every key with this prefix that anybody committed a write to or this transaction
  // wrote, or that had an initial value, in the order of their bytes. No read: what the keys hold
  // is to be read from them. (A table is its set of primary keys, thesis 4.3.)
  virtual std::vector<std::string> keys_with_prefix(std::string_view prefix) = 0;
  // Of these the keys without `end` after the prefix, as a read of all that there could be:
  // the transaction saw null in those that are not listed, and whoever writes one first comes
  // after it where the level orders them. The history has a read of null in the last such
  // transaction of each session. By default the listing alone.
  virtual std::vector<std::string> scan(std::string_view prefix, char end) {
    auto keys = keys_with_prefix(prefix);
    std::erase_if(keys,
                  [&](const std::string& key) { return key.find(end, prefix.size()) != key.npos; });
    return keys;
  }
  // The same of the keys from `low` on, before `high`, that end with `ending`.
  virtual std::vector<std::string> scan_between(std::string_view low, std::string_view high,
                                                std::string_view ending) {
    auto keys = keys_with_prefix("");
    std::erase_if(keys, [&](const std::string& key) {
      return key < low || key >= high || !key.ends_with(ending);
    });
    return keys;
  }
  // Lists nothing: the transaction saw none of the keys from `low` on, before `high`, that were not
  // there when so many transactions had committed. Those that others have committed since, and that
  // it has not touched, are absent for it too. False when the transaction is over.
  virtual bool look_between(std::string_view low, std::string_view high,
                            std::uint32_t /*commits*/) {
    scan_between(low, high, "");
    return !failure();
  }
  virtual bool write(std::string_view key, Value value) = 0;
  // Locks the name, and what is below it ("name/…"), until the transaction ends; two locks exclude
  // each other only if they are on the same name. After kGranted and kGrantedLater nobody changes
  // it, so read_latest() and a write lose no update. Waits for those who hold it: at most until
  // they end, or have asked for nothing for Options::patience_s. Without Options::locks it is
  // granted and means nothing. Levels of products end the transaction (kConflict) if they do not
  // let it lock what changed since its snapshot. A name with "/=" stands for a value that has to be
  // unique, and counts as changed by who locked it and wrote anything.
  virtual LockResult lock(std::string_view /*name*/, LockMode /*mode*/,
                          const LockOptions& /*options*/) {
    return LockResult::kGranted;
  }
  // Gives the lock back before the end. What was read of the name stays read.
  virtual void unlock(std::string_view /*name*/, LockMode /*mode*/) {}
  // The version that was committed last, or its own write. kConflict where the level does not allow
  // that after what it has read.
  virtual std::optional<Value> read_latest(std::string_view key) { return read(key); }
  // What a statement that locks finds before it has the lock, and no read of the transaction: the
  // version that was committed last, or, unless `last`, last for the statement, and that of its
  // snapshot where a level of a product has one. None: the transaction is over.
  struct Found {
    Value value;
    std::uint32_t writer;  // for read_found()
    bool last;             // nobody has committed a later version
  };
  virtual std::optional<Found> find(std::string_view key, bool /*last*/) {
    auto value = read(key);
    return value ? std::optional(Found{std::move(*value), 0, false}) : std::nullopt;
  }
  // What find() found is a read of the transaction. False if its level does not allow that. Then it
  // is over (kConflict); but at prefix and below, unless it `must`, it goes on as if it had not
  // looked, as it does there if it has read another version before. So a lock is no reason to fail,
  // and leaving out a read accuses nobody: whatever violates a level without it does so with it.
  virtual bool read_found(std::string_view /*key*/, const Found& /*found*/, bool /*must*/) {
    return true;
  }
  // What is read from now on is of a new statement: levels of products may give it a snapshot of
  // its own. Without a call, each read is a statement. `text` is kept for Store::statements(). It
  // sees what was committed when Store::commits() was that number, where the transaction may still
  // see that. Gives the number that continue_statement() takes to go on with it after others.
  virtual std::uint32_t begin_statement(std::string_view /*text*/ = {},
                                        std::uint32_t /*commits*/ = kAllCommits) {
    return 0;
  }
  // For Store::statements(): one that reads nothing.
  virtual void note_statement(std::string_view /*text*/) {}
  virtual void continue_statement(std::uint32_t /*number*/,
                                  std::uint32_t /*commits*/ = kAllCommits) {}
  // The transaction's level reads only what it has locked (InnoDB's SERIALIZABLE).
  [[nodiscard]] virtual bool reads_lock() const { return false; }
  virtual bool commit() = 0;
  virtual void rollback() = 0;
  // Writes since then are taken back, as ROLLBACK TO SAVEPOINT does; reads stay in
  // the history, since the client saw them.
  virtual std::size_t savepoint() = 0;
  virtual void rollback_to(std::size_t savepoint) = 0;
  // What ended it, after a call above said so.
  [[nodiscard]] virtual const std::optional<Failure>& failure() const = 0;
};

class Store {
 public:
  explicit Store(const Options& options);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  // A session is one client's connection, or several one after another; its name appears in the
  // history, with "#2" and so on after it where an earlier session had the same.
  std::uint32_t open_session(std::string name);
  // Goes on with the session that was closed last of those that were opened with this name;
  // a new one where none is closed. For clients that connect anew for each step: one after
  // another they are one session, at the same time they are several.
  std::uint32_t continue_session(std::string name);
  // Rolls back its open transaction, if any.
  void close_session(std::uint32_t session);

  // Waits for its turn. `level` overrides the store's for this transaction, `policy`
  // its weights. A level constrains what its transaction reads, not what others do; where
  // levels are mixed and some are prefix or above, fewer of the allowed values are
  // returned (mixed_admissibility.cpp). Null when the store is shutting down, or nobody waits any
  // more.
  struct BeginOptions {
    std::optional<Level> level;
    std::optional<Policy> policy;
    // Asked about every 20 ms while it waits; true ends that, and begin() gives null.
    std::function<bool()> give_up = {};
  };
  std::unique_ptr<Transaction> begin(std::uint32_t session, const BeginOptions& options);
  std::unique_ptr<Transaction> begin(std::uint32_t session) { return begin(session, {}); }

  // Transaction::lock() locks.
  [[nodiscard]] bool locks() const;
  [[nodiscard]] bool is_versioned() const;
  // It has the levels of a product, and what that does besides:
  [[nodiscard]] bool is_of_product() const;
  [[nodiscard]] bool locks_by_snapshot() const;  // PostgreSQL finds rows by its snapshot
  [[nodiscard]] bool locks_gaps() const;         // InnoDB keeps rows from being added
  // How many wait in begin() now.
  [[nodiscard]] std::size_t waiting() const;

  // What the key holds at first, instead of null: a part of no transaction, that every
  // session has seen. Before the first transaction; later it does nothing and says false.
  bool set_initial(std::string_view key, Value value);

  // Runs each function on a stack of its own in the calling thread, one at a time: where one
  // begins a transaction of this store, or ends, which of them goes on is drawn by the seed. So the
  // order of the transactions of several clients is as repeatable as what they read. What
  // one throws is thrown here when all have ended.
  void interleave(std::span<const std::function<void()>> functions);

  // Forgets everything, the history too, and starts again from `seed`.
  void reset(std::uint64_t seed);
  // Nobody waits any more: open transactions are rolled back, begin() gives null.
  void shut_down();

  // What happened, as ground truth: every transaction that ended, aborted ones too. A
  // History holds values and no writers: where two transactions wrote the same value to a
  // key, it does not say from which a read took it. Writes that a savepoint took back, and
  // reads of them, are left out: nobody else could see either.
  [[nodiscard]] base::Result<history::History> history() const;
  // With Options::keep_statements: the texts that begin_statement() was given, by the label of
  // their transaction in the history. Of each transaction the first 20, of each text about 500
  // bytes.
  [[nodiscard]] std::map<std::uint32_t, std::vector<std::string>> statements() const;
  // Of what each session did: equal for two histories that differ only in the order in
  // which transactions of different sessions came, unless `in_order`. Who was read from
  // counts. Two that have the same allow the same from there on, if in_order or not mixed().
  [[nodiscard]] Digest digest(bool in_order = false) const;
  // Transactions at prefix or above came together with some of another level: what is
  // returned depends on their order (mixed_admissibility.cpp).
  [[nodiscard]] bool mixed() const;
  // How many transactions have committed.
  [[nodiscard]] std::uint32_t commits() const;
  // The same as long as the store is, but for a reset().
  [[nodiscard]] KeyNumber number(std::string_view key);
  // What was committed last to the key when there were so many.
  [[nodiscard]] Value latest(std::string_view key, std::uint32_t commits = kAllCommits) const;
  // Transactions that were asked for, those that still wait too.
  [[nodiscard]] std::uint64_t asked_for() const;
  // Transactions that ended with Failure::Kind::kConflict or kDeadlock.
  [[nodiscard]] std::uint64_t conflicts() const;
  // What the clients saw: for each session by name, the values it read, a line.
  [[nodiscard]] std::string observed() const;

 private:
  class State;
  class Open;
  std::shared_ptr<State> state_;  // a Transaction may outlive its store: it has ended then
};

}  // namespace cupel::mock
