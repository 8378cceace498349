// The table of products: see the header. Each promise names its source; it has neither
// session order nor real time where the source gives neither.
#include "engine/levels/product.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>

#include "base/text.hpp"

namespace cupel::levels {

namespace {

// Which servers the promise is about.
enum class Servers : std::uint8_t {
  kOne,      // one that takes reads and writes: nothing is promised about several, nor of a standby
  kCluster,  // whichever of the cluster's answers
};

struct Promise {
  std::string_view database;  // a part of the name, lower case
  std::string_view isolation;
  Level level;
  std::string_view source;
  Servers servers = Servers::kOne;
};

constexpr std::string_view
    kPostgres = "PostgreSQL's manual, chapter Transaction Isolation",
    kMysql = "MySQL's manual, section Transaction Isolation Levels",
    kMariadb = "MariaDB's manual, page SET TRANSACTION",
    kGalera = "Galera Cluster's manual, page Isolation Levels",
    kOracle =
        "Oracle's Database Concepts, chapter Data Concurrency and "
        "Consistency",
    kSqlServer = "SQL Server's manual, page SET TRANSACTION ISOLATION LEVEL",
    kCockroach = "CockroachDB's manual, page Transactions",
    kYugabyte = "YugabyteDB's manual, page Transaction isolation levels",
    kTidb = "TiDB's manual, page TiDB Transaction Isolation Levels",
    kEtcd = "etcd's manual, page KV API guarantees",
    kNats =
        "NATS' manual, page JetStream: its formal consistency model is "
        "linearizable",
    kDqlite =
        "dqlite's manual, page Consistency model: serializable, and reads "
        "may be stale",
    kRedis =
        "Redis' manual, page Transactions; one server runs one command "
        "or transaction at a time",
    kZookeeper =
        "ZooKeeper Internals, section Consistency Guarantees: writes are "
        "linearizable",
    kRocksdb =
        "RocksDB's wiki, page Transactions; docs/reference/drivers/rocksdb.md "
        "derives the level",
    kOurs = "docs/reference/mock.md";

// Left out on purpose: MySQL's REPEATABLE READ, because no level here is what it does, and
// Galera's, because its maintainers say that it is not snapshot isolation (codership/galera,
// issues 336 and 609).
constexpr Promise kPromises[] = {
    {"postgres", "read uncommitted", Level::kReadCommitted, kPostgres},
    {"postgres", "read committed", Level::kReadCommitted, kPostgres},
    {"postgres", "repeatable read", Level::kSnapshotIsolation, kPostgres},
    {"postgres", "serializable", Level::kSerializable, kPostgres},
    {"mysql", "read committed", Level::kReadCommitted, kMysql},
    {"mysql", "serializable", Level::kSerializable, kMysql},
    {"mariadb", "read committed", Level::kReadCommitted, kMariadb},
    {"mariadb", "snapshot", Level::kSnapshotIsolation,
     "MariaDB's manual, page InnoDB System Variables: innodb_snapshot_isolation"},
    {"mariadb", "serializable", Level::kSerializable, kMariadb},
    {"galera", "read committed", Level::kReadCommitted, kGalera, Servers::kCluster},
    {"sqlite", "serializable", Level::kSerializable, "SQLite's manual, page Isolation In SQLite"},
    {"oracle", "read committed", Level::kReadCommitted, kOracle},
    {"oracle", "serializable", Level::kSnapshotIsolation, kOracle},
    {"sql server", "read committed", Level::kReadCommitted, kSqlServer},
    {"sql server", "snapshot", Level::kSnapshotIsolation, kSqlServer},
    {"sql server", "serializable", Level::kSerializable, kSqlServer},
    {"cockroach", "read committed", Level::kReadCommitted, kCockroach, Servers::kCluster},
    {"cockroach", "serializable", Level::kSerializable, kCockroach, Servers::kCluster},
    {"yugabyte", "read committed", Level::kReadCommitted, kYugabyte, Servers::kCluster},
    {"yugabyte", "repeatable read", Level::kSnapshotIsolation, kYugabyte, Servers::kCluster},
    {"yugabyte", "snapshot", Level::kSnapshotIsolation, kYugabyte, Servers::kCluster},
    {"yugabyte", "serializable", Level::kSerializable, kYugabyte, Servers::kCluster},
    {"tidb", "repeatable read", Level::kSnapshotIsolation, kTidb, Servers::kCluster},
    {"tidb", "snapshot", Level::kSnapshotIsolation, kTidb, Servers::kCluster},
    {"dgraph", "snapshot", Level::kSnapshotIsolation, "Dgraph's manual, page Consistency Model",
     Servers::kCluster},
    {"fauna", "serializable", Level::kStrictSerializable, "Fauna's manual, page Isolation levels",
     Servers::kCluster},
    {"foundationdb", "serializable", Level::kStrictSerializable,
     "FoundationDB's manual, page Developer Guide", Servers::kCluster},
    {"spanner", "serializable", Level::kStrictSerializable,
     "Spanner's manual, page TrueTime and external consistency", Servers::kCluster},
    {"etcd", "serializable", Level::kStrictSerializable, kEtcd, Servers::kCluster},
    {"etcd", "linearizable", Level::kLinearizable, kEtcd, Servers::kCluster},
    // Not at sync: that page says that a read after a sync is not strictly up to date.
    {"zookeeper", "linearizable", Level::kLinearizable, kZookeeper, Servers::kCluster},
    {"zookeeper", "serializable", Level::kStrictSerializable, kZookeeper, Servers::kCluster},
    {"nats", "linearizable", Level::kLinearizable, kNats, Servers::kCluster},
    {"dqlite", "serializable", Level::kSerializable, kDqlite, Servers::kCluster},
    {"redis", "linearizable", Level::kLinearizable, kRedis},
    {"redis", "serializable", Level::kStrictSerializable, kRedis},
    {"valkey", "linearizable", Level::kLinearizable, kRedis},
    {"valkey", "serializable", Level::kStrictSerializable, kRedis},
    {"rocksdb", "pessimistic snapshot", Level::kSnapshotIsolation, kRocksdb},
    {"rocksdb", "optimistic snapshot", Level::kSnapshotIsolation, kRocksdb},
    {"rocksdb", "pessimistic", Level::kReadCommitted, kRocksdb},
    {"rocksdb", "optimistic", Level::kReadCommitted, kRocksdb},
    {"rocksdb", "pessimistic for update", Level::kSerializable, kRocksdb},
    {"rocksdb", "optimistic for update", Level::kSerializable, kRocksdb},
    // Ours (src/engine/mock), whose levels are those of the same names.
    {"cupel mock", "read committed", Level::kReadCommitted, kOurs},
    {"cupel mock", "read atomic", Level::kReadAtomic, kOurs},
    {"cupel mock", "causal", Level::kCausal, kOurs},
    {"cupel mock", "prefix", Level::kPrefix, kOurs},
    {"cupel mock", "strong session snapshot isolation", Level::kStrongSessionSnapshotIsolation,
     kOurs},
    {"cupel mock", "strong session serializable", Level::kStrongSessionSerializable, kOurs},
};

std::string normal(std::string_view text) {
  auto result = base::to_lower(text, "-_", ' ');
  if (result == "snapshot isolation") return "snapshot";
  return result;
}

std::string upper(std::string_view text) {
  std::string result;
  for (const char c : text) {
    result +=
        c == '-' || c == '_' ? ' ' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return result;
}

const Promise* find_promise(std::string_view database, std::string_view isolation,
                            std::string_view settings, bool several_servers) {
  const auto product = normal(database);
  auto name = normal(isolation);
  // MariaDB's repeatable read with first committer wins.
  const bool first_committer =
      settings.find("innodb_snapshot_isolation=ON") != std::string_view::npos;
  if (first_committer && name == "repeatable read") name = "snapshot";
  // Galera replicates MariaDB and MySQL; what it promises is its own.
  const bool galera = product.find("galera") != std::string::npos;
  for (const auto& promise : kPromises) {
    if (galera && promise.database != "galera") continue;
    if (product.find(promise.database) == std::string::npos || promise.isolation != name) continue;
    const bool about_it = promise.servers == Servers::kCluster || !several_servers;
    return about_it ? &promise : nullptr;
  }
  return nullptr;
}

}  // namespace

std::optional<Level> promised(std::string_view database, std::string_view isolation,
                              std::string_view settings, bool several_servers) {
  const auto* promise = find_promise(database, isolation, settings, several_servers);
  return promise == nullptr ? std::nullopt : std::optional(promise->level);
}

std::optional<Level> promised(const history::History& history) {
  if (!history.fact(kNoPromise).empty()) return std::nullopt;
  return promised(history.fact("database"), history.fact("isolation"), history.fact("settings"),
                  history.fact("servers") == kSeveralServers);
}

std::string_view source_of_promise(std::string_view database, std::string_view isolation,
                                   std::string_view settings) {
  const auto* promise = find_promise(database, isolation, settings, false);
  return promise == nullptr ? std::string_view() : promise->source;
}

std::string product_name(const history::History& history, Level level) {
  if (promised(history) != level) return {};
  return history.fact("database") + "'s " + upper(history.fact("isolation"));
}

}  // namespace cupel::levels
