// Settings of the driver for PostgreSQL: see the header.
#include "databases/drivers/postgres/settings.hpp"

#include <fmt/format.h>
#include <libpq-fe.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <optional>

#include "base/spelling.hpp"
#include "databases/drivers/sql_connection.hpp"
#include "databases/drivers/url.hpp"

namespace cupel::drivers::postgres {

namespace {

struct FreeOptions {
  void operator()(PQconninfoOption* options) const { PQconninfoFree(options); }
};

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t from = 0; from <= text.size();) {
    const auto comma = std::min(text.find(',', from), text.size());
    parts.push_back(text.substr(from, comma - from));
    from = comma + 1;
  }
  return parts;
}

// From the slashes to the path or the query.
std::string_view authority_of(std::string_view url) {
  const auto slashes = url.find("//");
  if (slashes == std::string_view::npos) return {};
  const auto begin = slashes + 2;
  return url.substr(begin, url.find_first_of("/?", begin) - begin);
}

// libpq knows its own parameters, `ssl` is that of JDBC, which it takes, and `list` is ours.
std::optional<base::Error> unknown_parameter(const Url& url) {
  std::vector<std::string> names{"list", "ssl"};
  const std::unique_ptr<PQconninfoOption, FreeOptions> known(PQconndefaults());
  if (!known) return std::nullopt;
  for (const auto* option = known.get(); option->keyword != nullptr; ++option) {
    names.emplace_back(option->keyword);
  }
  for (const auto& [name, value] : url.options) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    return base::Error{.message =
                           fmt::format("the URL has the parameter `{}`, which libpq does not "
                                       "know.{} Write one of libpq's parameters, such as "
                                       "sslmode, or leave it out",
                                       name, base::suggestion(name, names))};
  }
  return std::nullopt;
}

}  // namespace

std::string address(const Parameters& host) {
  const auto of = [&](const char* name) {
    const auto found = host.find(name);
    return found == host.end() ? std::string() : found->second;
  };
  auto where = of("host").empty() ? of("hostaddr") : of("host");
  if (where.empty()) where = "the default socket";
  return of("port").empty() ? where : where + ':' + of("port");
}

std::string advice(std::string_view message, const Parameters& host) {
  const auto says = [&](std::string_view words) {
    return message.find(words) != std::string_view::npos;
  };
  const auto of = [&](const char* name) {
    const auto found = host.find(name);
    return found == host.end() ? std::string() : found->second;
  };
  if (says("password authentication failed") || says("no password supplied") ||
      says("authentication failed")) {
    return "; check the user and the password in the URL";
  }
  if (says("database") && says("does not exist") && of("dbname").empty()) {
    return ". The URL names no database, so libpq takes one with the name of the user. Name one: "
           "postgres://USER@HOST/DATABASE";
  }
  if (says("database") && says("does not exist")) {
    return fmt::format("; make it with `createdb {}`, or name another in the URL", of("dbname"));
  }
  if (says("no such database") || says("bouncer config error")) {  // PgBouncer
    return ". Name one of the databases of the pooler in the URL";
  }
  if (says("unsupported startup parameter")) {  // PgBouncer
    return ". Leave out this parameter of the URL, or add it to `ignore_startup_parameters` of the "
           "pooler";
  }
  if (says("permission denied for schema")) {
    return fmt::format(
        ". Run `GRANT CREATE ON SCHEMA {} TO {}`, or name a database in the URL "
        "that this user owns",
        message.substr(message.rfind(' ') + 1), of("user").empty() ? "USER" : of("user"));
  }
  if (says("role") && says("does not exist")) {
    return "; name a user that the server has in the URL: postgres://USER:PASSWORD@HOST/DATABASE";
  }
  if (says("no pg_hba.conf entry") && says("no encryption") && of("sslmode") == "disable") {
    return ". Write sslmode=require if the server takes this user with TLS only, or let the user "
           "connect from here in its pg_hba.conf";
  }
  if (says("no pg_hba.conf entry")) {
    return "; let this user connect from here in the server's pg_hba.conf";
  }
  if (says("SSL")) return "; see the parameter sslmode";
  if (says("refused") || says("No such file") || says("timeout") || says("no answer") ||
      says("could not translate") || says("unreachable") || says("No route")) {
    return "; is the server running there, and are host and port right?";
  }
  return "";
}

base::Result<Settings> parse_settings(std::string url, const OpenOptions& options) {
  Settings settings;
  settings.timeout = Seconds(options.statement_timeout);
  // libpq takes half a password for a host or a port, and says so aloud.
  if (const auto at = authority_of(url); std::count(at.begin(), at.end(), '@') > 1) {
    return base::Error{.message =
                           fmt::format("`{}` has an `@` in its user or password. Write it as "
                                       "`%40`",
                                       without_password(url))};
  }
  const auto parsed_url = parse_url(url);
  if (!parsed_url) return parsed_url.error();
  // The one option that is ours; libpq knows the others.
  const auto query = std::min(url.find('?'), url.size());
  for (auto at = url.find("list=", query); at != std::string::npos;
       at = url.find("list=", at + 1)) {
    if (url[at - 1] != '?' && url[at - 1] != '&') continue;
    const auto end = std::min(url.find('&', at), url.size());
    const auto lists = sql::parse_list_form(url.substr(at + 5, end - at - 5));
    if (!lists) return lists.error();
    settings.dialect.lists = *lists;
    url.erase(at, end - at + 1);
    while (!url.empty() && (url.back() == '?' || url.back() == '&')) url.pop_back();
    break;
  }
  if (auto unknown = unknown_parameter(*parsed_url)) return *std::move(unknown);
  char* message = nullptr;
  const std::unique_ptr<PQconninfoOption, FreeOptions> parsed(
      PQconninfoParse(url.c_str(), &message));
  if (!parsed) {
    // libpq may quote the URL, password and all: shown only where there is none.
    const std::string why = message == nullptr ? "out of memory" : sql::one_line(message);
    PQfreemem(message);
    const auto shown = without_password(url);
    return base::Error{
        .message = fmt::format("found the URL `{}`, expected "
                               "postgres://[USER[:PASSWORD]@]HOST[:PORT][,HOST…]/DATABASE{}{}; "
                               "write `%40`, `%3A` and `%2F` for `@`, `:` and `/` in a password",
                               shown, shown == url ? ": " : "", shown == url ? why : "")};
  }
  Parameters common;
  for (const auto* option = parsed.get(); option->keyword != nullptr; ++option) {
    if (option->val != nullptr) common[option->keyword] = option->val;
  }
  settings.leave_seqscan = common["options"].find("enable_seqscan") != std::string::npos;
  settings.leave_deadlock_timeout = common["options"].find("deadlock_timeout") != std::string::npos;
  if (common["options"].empty()) common.erase("options");
  common.try_emplace("fallback_application_name", "cupel");
  common.try_emplace("client_encoding", "UTF8");
  common.try_emplace("tcp_user_timeout",
                     fmt::to_string(static_cast<int>((settings.timeout + kGrace).count() * 1000)));
  // A session goes to the host of its number, not to the first that answers.
  const auto names = split(common["host"]);
  const auto addresses = split(common["hostaddr"]);
  const auto ports = split(common["port"]);
  const auto hosts = std::max(names.size(), addresses.size());
  if (ports.size() != 1 && ports.size() != hosts) {
    return base::Error{.message = fmt::format("found {} ports for {} hosts in the URL, expected "
                                              "one for each, or one for all",
                                              ports.size(), hosts)};
  }
  for (std::size_t i = 0; i < hosts; ++i) {
    auto host = common;
    const auto set = [&](const char* name, const std::vector<std::string>& values) {
      const auto& value = values.size() == 1 ? values[0] : values[i];
      if (value.empty()) {
        host.erase(name);
      } else {
        host[name] = value;
      }
    };
    if ((names.size() != 1 && names.size() != hosts) ||
        (addresses.size() != 1 && addresses.size() != hosts)) {
      return base::Error{.message = "found different numbers of host and hostaddr in the URL"};
    }
    set("host", names);
    set("hostaddr", addresses);
    set("port", ports);
    settings.hosts.push_back(std::move(host));
  }
  auto level = options.isolation;
  std::replace(level.begin(), level.end(), '-', ' ');
  std::transform(level.begin(), level.end(), level.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  settings.begin = "BEGIN ISOLATION LEVEL " + level;
  return settings;
}

}  // namespace cupel::drivers::postgres
