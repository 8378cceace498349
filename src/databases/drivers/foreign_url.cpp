// Databases as other tools name them: see the header.
#include "databases/drivers/foreign_url.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "base/spelling.hpp"
#include "base/text.hpp"
#include "databases/drivers/url.hpp"

namespace cupel::drivers {

namespace {

// Other schemes of the same databases.
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kOtherSchemes{
    {{"pgsql", "postgres"},
     {"psql", "postgres"},
     {"pg", "postgres"},
     {"cockroachdb", "postgres"},
     {"cockroach", "postgres"},
     {"sqlite3", "sqlite"},
     {"file", "sqlite"},
     {"zk", "zookeeper"},
     {"valkey", "redis"}}};

const DriverInfo* driver_named(std::string_view scheme, std::span<const DriverInfo> drivers) {
  const auto found = std::find_if(drivers.begin(), drivers.end(), [&](const DriverInfo& info) {
    return scheme == info.name || (!info.alias.empty() && scheme == info.alias);
  });
  return found == drivers.end() ? nullptr : &*found;
}

// The keywords and values of "host=db dbname='my shop'"; empty: the text is no such string.
std::map<std::string, std::string> keywords_of(std::string_view text) {
  constexpr std::array<std::string_view, 8> kKeywords{"host", "hostaddr", "port",    "dbname",
                                                      "user", "password", "service", "sslmode"};
  constexpr std::string_view kBlanks = " \t\n";
  std::map<std::string, std::string> values;
  for (std::size_t at = 0; (at = text.find_first_not_of(kBlanks, at)) != std::string_view::npos;) {
    const auto equals = text.find('=', at);
    if (equals == std::string_view::npos) break;
    const auto name = text.substr(at, std::min(text.find_first_of(" \t\n=", at), equals) - at);
    at = std::min(text.find_first_not_of(kBlanks, equals + 1), text.size());
    const bool is_quoted = at < text.size() && text[at] == '\'';
    if (is_quoted) ++at;
    std::string value;
    for (; at < text.size(); ++at) {
      if (is_quoted ? text[at] == '\'' : kBlanks.find(text[at]) != std::string_view::npos) break;
      if (text[at] == '\\' && at + 1 < text.size()) ++at;
      value += text[at];
    }
    if (is_quoted) at = std::min(at + 1, text.size());
    const bool is_known = std::find(kKeywords.begin(), kKeywords.end(), name) != kKeywords.end();
    // A keyword that is not common may follow one that is.
    if (values.empty() && !is_known) return {};
    values.emplace(name, std::move(value));
  }
  return values;
}

// The URL of a keyword string, in which the user puts the password.
std::string url_of(const std::map<std::string, std::string>& keywords) {
  const auto of = [&](const char* name, std::string otherwise) {
    const auto found = keywords.find(name);
    return found == keywords.end() || found->second.empty() ? otherwise : found->second;
  };
  return fmt::format(
      "postgres://{}{}@{}{}/{}", of("user", "USER"),
      keywords.contains("password") ? ":PASSWORD" : "", of("host", of("hostaddr", "HOST")),
      keywords.contains("port") ? ":" + of("port", "PORT") : "", of("dbname", "DATABASE"));
}

}  // namespace

base::Error foreign_url(const std::string& text, std::span<const DriverInfo> drivers) {
  const auto shown = without_password(text);
  const auto colon = text.find(':');
  if (const auto keywords = keywords_of(text); !keywords.empty()) {
    return {.message = fmt::format("the database is named by a libpq keyword string. Write a URL: "
                                   "{}",
                                   url_of(keywords))};
  }
  const auto scheme = base::to_lower(text.substr(0, colon));
  if (colon != std::string::npos && scheme == "jdbc") {
    const auto inner = text.substr(5, text.find(':', 5) - 5);
    const auto* driver = driver_named(inner, drivers);
    return {.message = fmt::format(
                "`{}` is a JDBC URL. Leave out `jdbc:`{}", shown,
                driver == nullptr ? std::string() : fmt::format(" and write {}", driver->url))};
  }
  if (const auto plus = scheme.find('+'); colon != std::string::npos && plus != std::string::npos) {
    if (const auto* driver = driver_named(scheme.substr(0, plus), drivers); driver != nullptr) {
      return {.message =
                  fmt::format("the scheme `{}` names a client library of another tool. Leave "
                              "out `{}`, as in {}",
                              scheme, scheme.substr(plus), driver->url)};
    }
  }
  if (colon != std::string::npos && scheme == "rediss") {
    return {.message =
                "cupel's driver for Redis has no TLS. Write redis:// and a port on which the "
                "server takes connections without TLS"};
  }
  std::vector<std::string_view> forms;
  std::vector<std::string> schemes;
  for (const auto& info : drivers) {
    forms.push_back(info.url);
    schemes.emplace_back(info.name);
    if (!info.alias.empty()) schemes.emplace_back(info.alias);
  }
  if (drivers.size() == all_drivers().size()) schemes.emplace_back("lab");
  std::string meant =
      colon == std::string::npos ? std::string() : base::suggestion(scheme, schemes);
  for (const auto& [other, name] : kOtherSchemes) {
    if (colon != std::string::npos && scheme == other) {
      meant = fmt::format(" Did you mean `{}`?", name);
    }
  }
  return {.message = fmt::format("`{}` is not the URL of a database that cupel knows.{} Write one "
                                 "of {}",
                                 shown, meant, fmt::join(forms, ", "))};
}

}  // namespace cupel::drivers
