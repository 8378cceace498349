// URLs: see the header.
#include "databases/drivers/url.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "base/spelling.hpp"

namespace cupel::drivers {

namespace {

std::optional<int> hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

// Where the authority (user, hosts) starts and ends; both 0 if there is none.
std::pair<std::size_t, std::size_t> authority(std::string_view url) {
  const auto colon = url.find(':');
  if (colon == std::string_view::npos || url.substr(colon + 1, 2) != "//") return {0, 0};
  const auto start = colon + 3;
  auto end = url.find_first_of("/?", start);
  if (end == std::string_view::npos) end = url.size();
  return {start, end};
}

base::Result<Host> parse_host(std::string_view text) {
  Host host;
  std::string_view port;
  if (!text.empty() && text.front() == '[') {
    const auto close = text.find(']');
    if (close == std::string_view::npos) {
      return base::Error{
          .message = fmt::format("found the host `{}`, expected `]` after an IPv6 address", text)};
    }
    host.name = text.substr(1, close - 1);
    port = text.substr(close + 1);
  } else {
    const auto colon = text.find(':');
    auto name = percent_decoded(text.substr(0, colon), "host");
    if (!name) return std::move(name).error();
    host.name = *std::move(name);
    if (colon != std::string_view::npos) port = text.substr(colon);
  }
  if (!port.empty()) {
    const auto* last = port.data() + port.size();
    const auto [end, error] = std::from_chars(port.data() + 1, last, host.port);
    if (port.front() != ':' || error != std::errc() || end != last || host.port == 0) {
      return base::Error{.message = fmt::format(
                             "found the host `{}`, expected HOST or HOST:PORT with a port from 1 "
                             "to 65535",
                             text)};
    }
  }
  return host;
}

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kPlain = "-._~";
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (letter || kPlain.find(c) != std::string_view::npos) {
      encoded += c;
    } else {
      encoded += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return encoded;
}

}  // namespace

std::string local_url(std::string_view scheme, std::string_view user, std::string_view password,
                      std::uint16_t port, std::string_view database) {
  const auto guarded = password.empty() ? "" : ":" + percent_encoded(password);
  return fmt::format("{}://{}{}@127.0.0.1:{}/{}", scheme, percent_encoded(user), guarded, port,
                     percent_encoded(database));
}

base::Result<std::string> percent_decoded(std::string_view text, std::string_view part) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    const auto high = i + 2 < text.size() ? hex_digit(text[i + 1]) : std::nullopt;
    const auto low = i + 2 < text.size() ? hex_digit(text[i + 2]) : std::nullopt;
    if (!high || !low) {
      return base::Error{.message = fmt::format(
                             "found a `%` in the URL's {} that no two hexadecimal digits follow; "
                             "write a percent sign as `%25`",
                             part)};
    }
    decoded += static_cast<char>(*high * 16 + *low);
    i += 2;
  }
  return decoded;
}

base::Result<Url> parse_url(std::string_view text) {
  Url url;
  const auto colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0) {
    return base::Error{.message =
                           fmt::format("found `{}`, expected a URL that starts with a scheme and a "
                                       "colon, such as `sqlite:PATH`",
                                       without_password(text))};
  }
  url.scheme = text.substr(0, colon);
  const auto [start, end] = authority(text);
  auto rest = text.substr(start == 0 ? colon + 1 : end);
  if (start != 0) {
    auto hosts = text.substr(start, end - start);
    const auto at = hosts.rfind('@');
    if (at != std::string_view::npos) {
      const auto login = hosts.substr(0, at);
      hosts.remove_prefix(at + 1);
      const auto separator = login.find(':');
      auto user = percent_decoded(login.substr(0, separator), "user");
      if (!user) return std::move(user).error();
      url.user = *std::move(user);
      if (separator != std::string_view::npos) {
        auto password = percent_decoded(login.substr(separator + 1), "password");
        if (!password) return std::move(password).error();
        url.password = *std::move(password);
      }
    }
    for (std::size_t from = 0; from <= hosts.size();) {
      const auto comma = std::min(hosts.find(',', from), hosts.size());
      auto host = parse_host(hosts.substr(from, comma - from));
      if (!host && at == std::string_view::npos && rest.find('@') != std::string_view::npos) {
        // What looks like a host may be half a password: not to be printed.
        return base::Error{.message =
                               "found a `/` or `?` before the URL's `@`; write them as "
                               "`%2F` and `%3F` in a user or password"};
      }
      if (!host) return std::move(host).error();
      url.hosts.push_back(*std::move(host));
      from = comma + 1;
    }
    if (!rest.empty() && rest.front() == '/') rest.remove_prefix(1);
  }
  const auto question = rest.find('?');
  auto path = percent_decoded(rest.substr(0, question), "path");
  if (!path) return std::move(path).error();
  url.path = *std::move(path);
  if (question == std::string_view::npos) return url;
  const auto query = rest.substr(question + 1);
  for (std::size_t from = 0; from < query.size();) {
    const auto ampersand = std::min(query.find('&', from), query.size());
    const auto option = query.substr(from, ampersand - from);
    const auto equals = option.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      return base::Error{
          .message = fmt::format("found `{}` in the URL's query, expected NAME=VALUE", option)};
    }
    auto name = percent_decoded(option.substr(0, equals), "query");
    if (!name) return std::move(name).error();
    auto value = percent_decoded(option.substr(equals + 1), "query");
    if (!value) return std::move(value).error();
    if (!url.options.emplace(*name, *std::move(value)).second) {
      return base::Error{.message =
                             fmt::format("found the option `{}` twice in the URL's query", *name)};
    }
    from = ampersand + 1;
  }
  return url;
}

std::string address(const Host& host) {
  const bool six = host.name.find(':') != std::string::npos;
  return fmt::format(fmt::runtime(six ? "[{}]:{}" : "{}:{}"), host.name, host.port);
}

void fill_in(std::vector<Host>& hosts, std::uint16_t port) {
  for (auto& host : hosts) {
    if (host.name.empty()) host.name = "127.0.0.1";
    if (host.port == 0) host.port = port;
  }
}

std::optional<std::string> take_option(Url& url, const std::string& name) {
  const auto found = url.options.find(name);
  if (found == url.options.end()) return std::nullopt;
  auto value = std::move(found->second);
  url.options.erase(found);
  return value;
}

base::Result<std::string> take_choice(Url& url, const std::string& name, std::string otherwise,
                                      std::initializer_list<std::string_view> choices) {
  auto value = take_option(url, name);
  if (!value) return otherwise;
  if (std::find(choices.begin(), choices.end(), *value) == choices.end()) {
    return base::Error{.message = fmt::format("found {}={} in the URL, expected one of {}", name,
                                              *value, fmt::join(choices, ", "))};
  }
  return *std::move(value);
}

std::optional<base::Error> unknown_options(const Url& url, std::string_view known) {
  if (url.options.empty()) return std::nullopt;
  std::vector<std::string> names;
  for (std::size_t from = 0; from < known.size();) {
    auto name = known.substr(from, known.find_first_of(", ", from) - from);
    from += name.size() + 1;
    if (!name.empty() && name != "or") names.emplace_back(name);
  }
  const auto& option = url.options.begin()->first;
  if (names == std::vector<std::string>{"none"}) {
    return base::Error{.message = fmt::format("the URL has the option `{}`, and {} takes none. "
                                              "Leave it out",
                                              option, url.scheme)};
  }
  return base::Error{.message = fmt::format("the URL has the option `{}`, which does not exist.{} "
                                            "Write {}, or leave it out",
                                            option, base::suggestion(option, names), known)};
}

base::Result<std::int64_t> option_number(std::string_view name, std::string_view value,
                                         std::int64_t low, std::int64_t high) {
  std::int64_t number = 0;
  const auto* last = value.data() + value.size();
  const auto [end, error] = std::from_chars(value.data(), last, number);
  if (error != std::errc() || end != last || number < low || number > high) {
    return base::Error{.message =
                           fmt::format("found {}={} in the URL, expected a number from {} to {}",
                                       name, value, low, high)};
  }
  return number;
}

}  // namespace cupel::drivers
