// The drivers by name, and what they share.
#include "drivers/driver.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "drivers/registry.hpp"
#include "drivers/sql_connection.hpp"
#include "drivers/url.hpp"

namespace cupel::drivers {

namespace {

using namespace std::string_view_literals;

#ifdef CUPEL_DRIVER_SQLITE
constexpr Open kSqlite = open_sqlite;
#else
constexpr Open kSqlite = nullptr;
#endif
#ifdef CUPEL_DRIVER_POSTGRES
constexpr Open kPostgres = open_postgres;
#else
constexpr Open kPostgres = nullptr;
#endif
#ifdef CUPEL_DRIVER_MYSQL
constexpr Open kMysql = open_mysql;
#else
constexpr Open kMysql = nullptr;
#endif
#ifdef CUPEL_DRIVER_ROCKSDB
constexpr Open kRocksdb = open_rocksdb;
#else
constexpr Open kRocksdb = nullptr;
#endif
#ifdef CUPEL_DRIVER_REDIS
constexpr Open kRedis = open_redis;
#else
constexpr Open kRedis = nullptr;
#endif
#ifdef CUPEL_DRIVER_ETCD
constexpr Open kEtcd = open_etcd;
#else
constexpr Open kEtcd = nullptr;
#endif
#ifdef CUPEL_DRIVER_EXEC
constexpr Open kExec = open_exec;
#else
constexpr Open kExec = nullptr;
#endif

#ifdef CUPEL_DRIVER_MOCK
constexpr Open kMock = open_mock;
#else
constexpr Open kMock = nullptr;
#endif

constexpr std::array kSqliteLevels{"serializable"sv, "read-uncommitted"sv};
constexpr std::array kPostgresLevels{"serializable"sv, "repeatable-read"sv, "read-committed"sv,
                                     "read-uncommitted"sv};
constexpr std::array kMysqlLevels{"repeatable-read"sv, "serializable"sv, "snapshot"sv,
                                  "read-committed"sv, "read-uncommitted"sv};
constexpr std::array kRocksdbLevels{
    "pessimistic-snapshot"sv, "pessimistic"sv, "pessimistic-for-update"sv,
    "optimistic-snapshot"sv,  "optimistic"sv,  "optimistic-for-update"sv};
constexpr std::array kSingleObject{"linearizable"sv, "serializable"sv};
constexpr std::array kMockLevels{"causal"sv,
                                 "read-committed"sv,
                                 "read-atomic"sv,
                                 "prefix"sv,
                                 "strong-session-snapshot-isolation"sv,
                                 "strong-session-serializable"sv};
constexpr std::array kUnnamed{"unspecified"sv};

bool there(Open open) {
  return open != nullptr;
}

constexpr workload::Needs kOneKey{.deletes = true, .lists = true, .compare_and_set = true};
constexpr workload::Needs kNoLists{.interactive = true,
                                   .multiple = true,
                                   .tables = true,
                                   .ranges = true,
                                   .deletes = true,
                                   .compare_and_set = true};
constexpr workload::Needs kBlocks{
    .multiple = true, .ranges = true, .deletes = true, .lists = true, .compare_and_set = true};

// Not constexpr: under UBSan gcc does not compare a function's address at compile time.
const std::array kDrivers{
    DriverInfo{"sqlite", "sqlite:PATH", kSqliteLevels, there(kSqlite), sql::all_needs()},
    DriverInfo{"postgres", "postgres://[USER[:PASSWORD]@]HOST[:PORT][,HOST…]/DATABASE",
               kPostgresLevels, there(kPostgres), sql::all_needs()},
    DriverInfo{"mysql", "mysql://[USER[:PASSWORD]@]HOST[:PORT][,HOST…]/DATABASE", kMysqlLevels,
               there(kMysql), sql::all_needs()},
    DriverInfo{"rocksdb", "rocksdb:PATH", kRocksdbLevels, there(kRocksdb), sql::all_needs()},
    DriverInfo{"redis", "redis://[:PASSWORD@]HOST[:PORT]", kSingleObject, there(kRedis), kOneKey},
    DriverInfo{"etcd", "etcd://HOST[:PORT][,HOST…]", kSingleObject, there(kEtcd), kOneKey},
    DriverInfo{"exec", "exec:COMMAND", kUnnamed, there(kExec), kBlocks},
    DriverInfo{"mock", "mock:[LEVEL]", kMockLevels, there(kMock), kNoLists},
};
constexpr std::array<Open, kDrivers.size()> kOpen{kSqlite, kPostgres, kMysql, kRocksdb,
                                                  kRedis,  kEtcd,     kExec,  kMock};

}  // namespace

std::string_view name(Cause cause) {
  switch (cause) {
    case Cause::kConflict:
      return "conflict";
    case Cause::kTimeout:
      return "timeout";
    case Cause::kConnection:
      return "connection lost";
    case Cause::kConstraint:
      return "constraint";
    case Cause::kStatement:
      return "statement refused";
  }
  return "";
}

Outcome Connection::transact(std::span<const workload::Statement> statements,
                             std::vector<workload::Reply>& replies) {
  replies.assign(statements.size(), {});
  if (auto failure = begin()) {
    replies.clear();
    return failure;
  }
  for (std::size_t i = 0; i < statements.size(); ++i) {
    if (auto failure = execute(statements[i], replies[i])) {
      replies.clear();
      return failure;
    }
  }
  return commit();
}

std::span<const DriverInfo> all_drivers() {
  return kDrivers;
}

namespace {

// Null, and the error, if the URL is of no driver of this build.
const DriverInfo* driver_of(const std::string& url, base::Error& error) {
  std::string scheme = url.substr(0, url.find(':'));
  if (scheme == "postgresql") scheme = "postgres";
  if (scheme == "mariadb") scheme = "mysql";
  const auto driver = std::find_if(kDrivers.begin(), kDrivers.end(),
                                   [&](const DriverInfo& info) { return info.name == scheme; });
  if (driver == kDrivers.end() || url.find(':') == std::string::npos) {
    std::vector<std::string_view> forms;
    for (const auto& info : kDrivers) forms.push_back(info.url);
    error.message = fmt::format("found the database `{}`, expected one of {}",
                                without_password(url), fmt::join(forms, ", "));
    return nullptr;
  }
  if (!driver->built_in) {
    error.message = fmt::format(
        "this build of cupel has no driver for {}; build it with its client library "
        "(tools/install-packages.sh installs it)",
        driver->name);
    return nullptr;
  }
  return &*driver;
}

// The level that mock's URL names ("mock:prefix?seed=1"); empty for any other URL.
std::string isolation_in(const DriverInfo& driver, const std::string& url) {
  if (driver.name != "mock") return {};
  const auto path = url.substr(url.find(':') + 1);
  return path.substr(0, path.find('?'));
}

base::Result<std::string> isolation_at(const DriverInfo& driver, const std::string& url,
                                       const std::string& asked) {
  const auto& known = driver.isolations;
  if (asked.empty()) {
    auto named = isolation_in(driver, url);
    return named.empty() ? std::string(known.front()) : named;
  }
  std::string normal = asked;
  for (char& c : normal) {
    if (c == ' ' || c == '_') c = '-';
  }
  // Only exec takes any name: the program behind it knows what it means.
  if (driver.name == "exec") return normal;
  for (char& c : normal) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  if (std::find(known.begin(), known.end(), normal) == known.end()) {
    return base::Error{.message = fmt::format("found isolation `{}`, which {} does not have; "
                                              "expected {}",
                                              asked, driver.name, fmt::join(known, ", "))};
  }
  return normal;
}

}  // namespace

base::Result<std::string> isolation_of(const std::string& url, const std::string& isolation) {
  base::Error error;
  const auto* driver = driver_of(url, error);
  if (driver == nullptr) return error;
  return isolation_at(*driver, url, isolation);
}

base::Result<std::unique_ptr<Database>> open(const std::string& url, const OpenOptions& options) {
  base::Error error;
  const auto* driver = driver_of(url, error);
  if (driver == nullptr) return error;
  auto isolation = isolation_at(*driver, url, options.isolation);
  if (!isolation.ok()) return isolation.error();
  OpenOptions normal = options;
  normal.isolation = *std::move(isolation);
  return kOpen[static_cast<std::size_t>(driver - kDrivers.data())](url, normal);
}

}  // namespace cupel::drivers
