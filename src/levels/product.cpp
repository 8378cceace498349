// The table of products: see the header. From their manuals; a promise with
// neither session order nor real time where the manual gives neither.
#include "levels/product.hpp"

#include <algorithm>
#include <cctype>

#include "base/text.hpp"

namespace cupel::levels {

namespace {

struct Promise {
  std::string_view database;  // a part of the name, lower case
  std::string_view isolation;
  Level level;
};

// MySQL's REPEATABLE READ is left out on purpose: no level here is what it does.
constexpr Promise kPromises[] = {
    {"postgres", "read uncommitted", Level::kReadCommitted},
    {"postgres", "read committed", Level::kReadCommitted},
    {"postgres", "repeatable read", Level::kSnapshotIsolation},
    {"postgres", "serializable", Level::kSerializable},
    {"mysql", "read committed", Level::kReadCommitted},
    {"mysql", "serializable", Level::kSerializable},
    {"mariadb", "read committed", Level::kReadCommitted},
    {"mariadb", "snapshot", Level::kSnapshotIsolation},
    {"mariadb", "serializable", Level::kSerializable},
    {"galera", "read committed", Level::kReadCommitted},
    {"galera", "repeatable read", Level::kSnapshotIsolation},
    {"galera", "snapshot", Level::kSnapshotIsolation},
    {"sqlite", "serializable", Level::kSerializable},
    {"oracle", "read committed", Level::kReadCommitted},
    {"oracle", "serializable", Level::kSnapshotIsolation},
    {"sql server", "read committed", Level::kReadCommitted},
    {"sql server", "snapshot", Level::kSnapshotIsolation},
    {"sql server", "serializable", Level::kSerializable},
    {"cockroach", "read committed", Level::kReadCommitted},
    {"cockroach", "serializable", Level::kSerializable},
    {"yugabyte", "read committed", Level::kReadCommitted},
    {"yugabyte", "repeatable read", Level::kSnapshotIsolation},
    {"yugabyte", "snapshot", Level::kSnapshotIsolation},
    {"yugabyte", "serializable", Level::kSerializable},
    {"tidb", "repeatable read", Level::kSnapshotIsolation},
    {"tidb", "snapshot", Level::kSnapshotIsolation},
    {"dgraph", "snapshot", Level::kSnapshotIsolation},
    {"fauna", "serializable", Level::kStrictSerializable},
    {"foundationdb", "serializable", Level::kStrictSerializable},
    {"spanner", "serializable", Level::kStrictSerializable},
    {"etcd", "serializable", Level::kStrictSerializable},
    {"etcd", "linearizable", Level::kLinearizable},
    {"redis", "linearizable", Level::kLinearizable},
    {"redis", "serializable", Level::kStrictSerializable},
    {"valkey", "linearizable", Level::kLinearizable},
    {"valkey", "serializable", Level::kStrictSerializable},
    {"rocksdb", "pessimistic snapshot", Level::kSnapshotIsolation},
    {"rocksdb", "optimistic snapshot", Level::kSnapshotIsolation},
    {"rocksdb", "pessimistic", Level::kReadCommitted},
    {"rocksdb", "optimistic", Level::kReadCommitted},
    {"rocksdb", "pessimistic for update", Level::kSerializable},
    {"rocksdb", "optimistic for update", Level::kSerializable},
    // Ours (src/mock), whose levels are those of the same names.
    {"cupel mock", "read committed", Level::kReadCommitted},
    {"cupel mock", "read atomic", Level::kReadAtomic},
    {"cupel mock", "causal", Level::kCausal},
    {"cupel mock", "prefix", Level::kPrefix},
    {"cupel mock", "strong session snapshot isolation", Level::kStrongSessionSnapshotIsolation},
    {"cupel mock", "strong session serializable", Level::kStrongSessionSerializable},
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

}  // namespace

std::optional<Level> promised(std::string_view database, std::string_view isolation,
                              std::string_view settings) {
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
    if (product.find(promise.database) != std::string::npos && promise.isolation == name) {
      return promise.level;
    }
  }
  return std::nullopt;
}

std::string product_name(const history::History& history, Level level) {
  const auto database = history.metadata().find("database");
  const auto isolation = history.metadata().find("isolation");
  if (database == history.metadata().end() || isolation == history.metadata().end()) return {};
  const auto settings = history.metadata().find("settings");
  const auto more = settings == history.metadata().end() ? std::string() : settings->second;
  if (promised(database->second, isolation->second, more) != level) return {};
  return database->second + "'s " + upper(isolation->second);
}

}  // namespace cupel::levels
