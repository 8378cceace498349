// The list of drivers: what is known of each, whether or not it is installed.
#include "databases/drivers/registry.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "databases/drivers/plugin.hpp"
#include "databases/drivers/sql_connection.hpp"

// CUPEL_IF_BUILT(FLAG, open): open where the build defines FLAG (as 1), else nullptr.
#define CUPEL_COMMA_1 0,
#define CUPEL_SECOND(first, second, ...) second
#define CUPEL_CHOOSE(comma_or_name, open) CUPEL_SECOND(comma_or_name open, nullptr, 0)
#define CUPEL_IF_VALUE(value, open) CUPEL_CHOOSE(CUPEL_COMMA_##value, open)
#define CUPEL_IF_BUILT(flag, open) CUPEL_IF_VALUE(flag, open)

namespace cupel::drivers {

OpenFunction open_sqlite, open_dqlite, open_exec, open_mock;

namespace {

using namespace std::string_view_literals;

constexpr std::array kSqliteLevels{"serializable"sv, "read-uncommitted"sv};
constexpr std::array kPostgresLevels{"serializable"sv, "repeatable-read"sv, "read-committed"sv,
                                     "read-uncommitted"sv};
constexpr std::array kMysqlLevels{"repeatable-read"sv, "serializable"sv, "snapshot"sv,
                                  "read-committed"sv, "read-uncommitted"sv};
constexpr std::array kRocksdbLevels{
    "pessimistic-snapshot"sv, "pessimistic"sv, "pessimistic-for-update"sv,
    "optimistic-snapshot"sv,  "optimistic"sv,  "optimistic-for-update"sv};
constexpr std::array kSingleObject{"linearizable"sv, "serializable"sv};
constexpr std::array kEtcdLevels{"linearizable"sv, "serializable"sv, "local"sv};
constexpr std::array kZookeeperLevels{"linearizable"sv, "serializable"sv, "sync"sv, "local"sv};
constexpr std::array kNatsLevels{"linearizable"sv, "local"sv};
constexpr std::array kDqliteLevels{"serializable"sv};
constexpr std::array kMockLevels{"causal"sv,
                                 "read-committed"sv,
                                 "read-atomic"sv,
                                 "prefix"sv,
                                 "strong-session-snapshot-isolation"sv,
                                 "strong-session-serializable"sv};
constexpr std::array kUnnamed{"unspecified"sv};

constexpr workload::Needs kOneKey{.deletes = true, .lists = true, .compare_and_set = true};
constexpr workload::Needs kNoLists{.interactive = true,
                                   .multiple = true,
                                   .tables = true,
                                   .ranges = true,
                                   .deletes = true,
                                   .compare_and_set = true};
constexpr workload::Needs kBlocks{
    .multiple = true, .ranges = true, .deletes = true, .lists = true, .compare_and_set = true};

// A block of several statements is serializable, and no longer linearizable.
workload::Needs key_value_at(std::string_view isolation) {
  auto can = kOneKey;
  can.multiple = isolation == "serializable";
  return can;
}
// A range is read as a snapshot, of rows that are not locked.
workload::Needs rocksdb_at(std::string_view isolation) {
  auto can = sql::all_needs();
  can.ranges = !isolation.ends_with("-for-update");
  return can;
}
// An append must not lose another one.
workload::Needs mock_at(std::string_view isolation) {
  auto can = kNoLists;
  can.lists = isolation.starts_with("strong-session-");
  return can;
}

struct Driver {
  OpenFunction* open;  // null: not part of the program, a plug-in
  DriverInfo info;
};

// Not constexpr: under UBSan gcc does not compare a function's address at compile time.
const std::array kDrivers{
    Driver{CUPEL_IF_BUILT(CUPEL_DRIVER_SQLITE, open_sqlite),
           {.name = "sqlite",
            .url = "sqlite:PATH",
            .page = "docs/reference/drivers/sqlite.md",
            .isolations = kSqliteLevels,
            .can = sql::all_needs()}},
    Driver{nullptr,
           {.name = "postgres",
            .alias = "postgresql",
            .url = "postgres://[USER[:PASSWORD]@]HOST[:PORT][,HOST…]/DATABASE",
            .page = "docs/reference/drivers/postgres.md",
            .isolations = kPostgresLevels,
            .not_on_standbys = "serializable",
            .can = sql::all_needs()}},
    Driver{nullptr,
           {.name = "mysql",
            .alias = "mariadb",
            .url = "mysql://[USER[:PASSWORD]@]HOST[:PORT][,HOST…]/DATABASE",
            .page = "docs/reference/drivers/mysql.md",
            .isolations = kMysqlLevels,
            .can = sql::all_needs()}},
    Driver{nullptr,
           {.name = "rocksdb",
            .url = "rocksdb:PATH",
            .page = "docs/reference/drivers/rocksdb.md",
            .isolations = kRocksdbLevels,
            .can = sql::all_needs(),
            .can_at = rocksdb_at}},
    Driver{nullptr,
           {.name = "redis",
            .url = "redis://[:PASSWORD@]HOST[:PORT][,HOST…]",
            .page = "docs/reference/drivers/redis.md",
            .isolations = kSingleObject,
            .can = kOneKey,
            .can_at = key_value_at}},
    Driver{nullptr,
           {.name = "etcd",
            .url = "etcd://HOST[:PORT][,HOST…]",
            .page = "docs/reference/drivers/etcd.md",
            .isolations = kEtcdLevels,
            .can = kOneKey,
            .can_at = key_value_at}},
    Driver{nullptr,
           {.name = "zookeeper",
            .url = "zookeeper://HOST[:PORT][,HOST…]",
            .page = "docs/reference/drivers/zookeeper.md",
            .isolations = kZookeeperLevels,
            .can = kOneKey,
            .can_at = key_value_at}},
    Driver{nullptr,
           {.name = "nats",
            .url = "nats://[USER:PASSWORD@]HOST[:PORT][,HOST…]",
            .page = "docs/reference/drivers/nats.md",
            .isolations = kNatsLevels,
            .can = kOneKey}},
    Driver{CUPEL_IF_BUILT(CUPEL_DRIVER_DQLITE, open_dqlite),
           {.name = "dqlite",
            .url = "dqlite://HOST[:PORT][,HOST…][/DATABASE]",
            .page = "docs/reference/drivers/dqlite.md",
            .isolations = kDqliteLevels,
            .can = sql::all_needs()}},
    Driver{CUPEL_IF_BUILT(CUPEL_DRIVER_EXEC, open_exec),
           {.name = "exec",
            .url = "exec:COMMAND",
            .page = "docs/reference/drivers/exec.md",
            .isolations = kUnnamed,
            .any_isolation = true,
            .can = kBlocks}},
    Driver{CUPEL_IF_BUILT(CUPEL_DRIVER_MOCK, open_mock),
           {.name = "mock",
            .url = "mock:[LEVEL]",
            .page = "docs/reference/drivers/mock.md",
            .isolations = kMockLevels,
            .isolation_in_url = true,
            .can = kNoLists,
            .can_at = mock_at}},
};

// The drivers above, and the plug-ins that are not among them, which are loaded to see what they
// are; one that cannot be loaded is none.
std::vector<DriverInfo> known_drivers() {
  std::vector<DriverInfo> infos;
  const auto found = found_plugins();
  for (const auto& driver : kDrivers) {
    auto& info = infos.emplace_back(driver.info);
    info.available =
        driver.open != nullptr || std::binary_search(found.begin(), found.end(), info.name);
  }
  for (const auto& name : found) {
    const auto known = [&](const Driver& driver) { return driver.info.name == name; };
    if (std::any_of(kDrivers.begin(), kDrivers.end(), known)) continue;
    const auto plugin = load_plugin(name);
    if (!plugin.ok() || (*plugin)->info == nullptr) continue;
    infos.push_back(*(*plugin)->info);
    infos.back().available = true;
  }
  return infos;
}

}  // namespace

std::span<const DriverInfo> all_drivers() {
  static const auto kAll = known_drivers();
  return kAll;
}

base::Result<Opener> opener_of(std::string_view name) {
  const auto* const driver = std::find_if(kDrivers.begin(), kDrivers.end(),
                                          [&](const Driver& one) { return one.info.name == name; });
  if (driver != kDrivers.end() && driver->open != nullptr) return Opener{driver->open};
  const auto plugin = load_plugin(name);
  if (!plugin.ok()) return plugin.error();
  return Opener{(*plugin)->open};
}

}  // namespace cupel::drivers
