// What both products have: the URL, and the names of the copies; see the header.
#include "mock/proxy/test_database.hpp"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <random>
#include <string_view>
#include <vector>

#include "databases/drivers/foreign_url.hpp"

namespace cupel::proxy {

using base::Error;
using base::Ok;
using base::Result;
using base::Status;

namespace {

std::string random_name() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

}  // namespace

Result<std::unique_ptr<TestDatabase>> TestDatabase::open(const Options& options) {
  const auto scheme = options.url.substr(0, options.url.find(':'));
  std::vector<drivers::DriverInfo> servers;
  std::string_view driver;  // that of the scheme
  for (const auto& info : drivers::all_drivers()) {
    if (info.name != "postgres" && info.name != "mysql") continue;
    servers.push_back(info);
    if (scheme == info.name || scheme == info.alias) driver = info.name;
  }
  if (driver.empty()) return drivers::foreign_url(options.url, servers);
  auto url = drivers::parse_url(options.url);
  if (!url.ok()) return std::move(url).error();
  return driver == "postgres" ? open_postgres_database(options, std::move(*url))
                              : open_mysql_database(options, std::move(*url));
}

Status TestDatabase::take_url(drivers::Url& url, std::uint16_t port) {
  if (url.hosts.size() > 1) return Error{.message = "found several hosts, expected one"};
  drivers::fill_in(url.hosts, port);
  endpoint_.host = url.hosts.empty() ? "127.0.0.1" : url.hosts[0].name;
  endpoint_.port = url.hosts.empty() ? port : url.hosts[0].port;
  user_ = url.user;
  if (user_.empty()) {
    const auto* self = ::getpwuid(::geteuid());
    user_ = self == nullptr ? "nobody" : self->pw_name;
  }
  password_ = url.password;
  if (password_.empty()) {
    const char* given = std::getenv(dialect_ == Dialect::kMysql ? "MYSQL_PWD" : "PGPASSWORD");
    password_ = given == nullptr ? "" : given;
  }
  name_ = url.path.empty() ? user_ : url.path;
  return Ok{};
}

Status TestDatabase::begin_copies() {
  const auto id = random_name();
  prefix_ = fmt::format("cupel_test_{}", id);
  mark_ = fmt::format("cupel-{}-{}:", id, random_name());
  auto made = copy(name_);
  if (!made.ok()) return std::move(made).error();
  original_ = *made;
  return Ok{};
}

Result<std::string> TestDatabase::copy(const std::string& from) {
  const std::lock_guard lock(mutex_);
  const auto to = fmt::format("{}_{}", prefix_, ++last_number_);
  made_.insert(to);
  if (auto made = make_database(from, to); !made.ok()) return std::move(made).error();
  return to;
}

void TestDatabase::drop_copies() {
  while (!made_.empty()) drop_copy(std::string(*made_.begin()));
}

Result<std::string> TestDatabase::make_copy() {
  return in_place_ ? Result<std::string>(name_) : copy(original_);
}

void TestDatabase::drop_copy(const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (made_.erase(name) > 0) drop_database(name);
}

std::string TestDatabase::install_recorder() {
  if (in_place_) return "a database in place has no recorder";
  const auto installed = record_original();
  return installed.ok() ? "" : installed.error().message;
}

}  // namespace cupel::proxy
