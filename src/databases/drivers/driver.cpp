// From a URL to its driver, and what all drivers share.
#include "databases/drivers/driver.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "base/spelling.hpp"
#include "databases/drivers/foreign_url.hpp"
#include "databases/drivers/plugin.hpp"
#include "databases/drivers/registry.hpp"

namespace cupel::drivers {

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
    case Cause::kGone:
      return "data gone";
  }
  return "";
}

base::Status Database::join(const workload::Schema& /*schema*/) {
  return base::Error{.message =
                         fmt::format("the driver for {} has no tables that several processes "
                                     "could use; expected SQLite, PostgreSQL, MariaDB, MySQL, "
                                     "Redis or etcd",
                                     facts().product)};
}

base::Result<std::uint32_t> Database::primary() {
  const auto count = std::max<std::size_t>(hosts().size(), 1);
  for (std::uint32_t host = 0; host < count; ++host) {
    if (const auto writes = takes_writes(host); writes && *writes) return host;
  }
  return base::Error{.message = "no host of the URL answers that takes writes"};
}

std::uint32_t Database::primary_or_first() {
  if (hosts().size() < 2) return 0;
  const auto found = primary();
  return found ? *found : 0;
}

MaybeFailure Connection::transact(std::span<const workload::Statement> statements,
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

namespace {

// Why the plug-in of a scheme that no driver has is not one of the drivers; none: there is no such
// plug-in.
std::optional<base::Error> unusable_plugin(const std::string& scheme) {
  const auto found = found_plugins();
  if (!std::binary_search(found.begin(), found.end(), scheme)) return std::nullopt;
  const auto plugin = load_plugin(scheme);
  if (!plugin.ok()) return plugin.error();
  return base::Error{.message = fmt::format("this plug-in has no DriverInfo with the name {}. Add "
                                            "it to CUPEL_DRIVER_PLUGIN",
                                            scheme),
                     .file = find_plugin(scheme)};
}

// Null, and the error, if the URL is of no driver.
const DriverInfo* driver_of(const std::string& url, base::Error& error) {
  const auto drivers = all_drivers();
  const auto scheme = url.substr(0, url.find(':'));
  const auto driver = std::find_if(drivers.begin(), drivers.end(), [&](const DriverInfo& info) {
    return scheme == info.name || (!info.alias.empty() && scheme == info.alias);
  });
  if (driver == drivers.end() || url.find(':') == std::string::npos) {
    auto unusable = unusable_plugin(scheme);
    error = unusable ? *std::move(unusable) : foreign_url(url, drivers);
    return nullptr;
  }
  return &*driver;
}

// The level that the URL names ("mock:prefix?seed=1"); empty if it cannot name one.
std::string isolation_in(const DriverInfo& driver, const std::string& url) {
  if (!driver.isolation_in_url) return {};
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
  if (driver.any_isolation) return normal;
  for (char& c : normal) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  if (std::find(known.begin(), known.end(), normal) == known.end()) {
    const std::vector<std::string> names(known.begin(), known.end());
    return base::Error{.message = fmt::format("{} has no isolation level `{}`.{} Write {}",
                                              driver.name, asked, base::suggestion(normal, names),
                                              base::one_of(names))};
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

base::Result<workload::Needs> can_at(const std::string& url, const std::string& isolation) {
  base::Error error;
  const auto* driver = driver_of(url, error);
  if (driver == nullptr) return error;
  const auto level = isolation_at(*driver, url, isolation);
  if (!level.ok()) return level.error();
  return driver->can_at != nullptr ? driver->can_at(*level) : driver->can;
}

base::Result<bool> begins_on_standbys(const std::string& url, const std::string& isolation) {
  base::Error error;
  const auto* driver = driver_of(url, error);
  if (driver == nullptr) return error;
  const auto level = isolation_at(*driver, url, isolation);
  if (!level.ok()) return level.error();
  return *level != driver->not_on_standbys;
}

base::Status usable(std::string_view name) {
  const auto opener = opener_of(name);
  return opener.ok() ? base::Status(base::Ok{}) : base::Status(opener.error());
}

base::Result<std::unique_ptr<Database>> open(const std::string& url, const OpenOptions& options) {
  base::Error error;
  const auto* driver = driver_of(url, error);
  if (driver == nullptr) return error;
  auto isolation = isolation_at(*driver, url, options.isolation);
  if (!isolation.ok()) return isolation.error();
  OpenOptions normal = options;
  normal.isolation = *std::move(isolation);
  const auto opener = opener_of(driver->name);
  if (!opener.ok()) return opener.error();
  return opener->open(url, normal);
}

}  // namespace cupel::drivers
