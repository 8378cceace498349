// Url: the parts of a database URL, for the drivers whose client library does not
// read URLs itself.
//
//   SCHEME:[//[USER[:PASSWORD]@]HOST[:PORT][,HOST[:PORT]…]][/PATH][?NAME=VALUE[&…]]
//
// Parts are percent-decoded. An IPv6 address stands in brackets.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/text/password.hpp"

namespace cupel::drivers {

struct Host {
  std::string name;        // may be empty: the driver's default
  std::uint16_t port = 0;  // 0: the driver's default
};

struct Url {
  std::string scheme;
  std::string user, password;                  // may be empty
  std::vector<Host> hosts;                     // at least one if the URL has `//`
  std::string path;                            // with `//`: without its first slash
  std::map<std::string, std::string> options;  // of the query
};

// Errors: no scheme, a port that is none, a `%` without two hexadecimal digits,
// an option without `=` or given twice.
base::Result<Url> parse_url(std::string_view url);

// "postgres://ann:p%40ss@127.0.0.1:5432/shop", with its parts percent-encoded; without a password
// there is no colon.
std::string local_url(std::string_view scheme, std::string_view user, std::string_view password,
                      std::uint16_t port, std::string_view database);
// A part of a URL without its percent-encoding. `part` is for the error: "path".
base::Result<std::string> percent_decoded(std::string_view text, std::string_view part);

using text::without_password;

// "127.0.0.1:5432", "[::1]:5432".
std::string address(const Host& host);

// Gives hosts without a name or a port this machine's, and this port.
void fill_in(std::vector<Host>& hosts, std::uint16_t port);

// Takes an option out of the URL, so that what is left are those not known.
std::optional<std::string> take_option(Url& url, const std::string& name);

// The same of an option with a few values; `otherwise` if it is not there.
base::Result<std::string> take_choice(Url& url, const std::string& name, std::string otherwise,
                                      std::initializer_list<std::string_view> choices);

// The error for options that no one took; none if there are none. `known`: those that there are, as
// in "mode, journal or list", or "none".
std::optional<base::Error> unknown_options(const Url& url, std::string_view known);

// A number of an option's value in [low, high].
base::Result<std::int64_t> option_number(std::string_view name, std::string_view value,
                                         std::int64_t low, std::int64_t high);

}  // namespace cupel::drivers
