// LabUrl: see the header.
#include "run/lab_url.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "databases/drivers/driver.hpp"
#include "databases/drivers/url.hpp"

namespace cupel::run {

namespace {

constexpr std::string_view kScheme = "lab:";

base::Error bad_option(std::string_view name, std::string_view value, std::string_view expected) {
  return base::Error{.message = fmt::format("found the option {}={} in the URL, expected {}", name,
                                            value, expected)};
}

base::Status take_switch(std::string_view name, std::string_view value, bool& into) {
  if (value != "0" && value != "1") return bad_option(name, value, "1 or 0");
  into = value == "1";
  return base::Ok{};
}

base::Status take_nodes(std::string_view value, lab::Kind kind, std::uint32_t& nodes) {
  const auto [least, by_default, most] = lab::node_count(kind);
  const auto number = drivers::option_number("nodes", value, least, most);
  if (!number.ok()) {
    return bad_option("nodes", value,
                      most == 1 ? fmt::format("1, since {} is one server", lab::name(kind))
                                : fmt::format("{} to {} for {}", least, most, lab::name(kind)));
  }
  nodes = static_cast<std::uint32_t>(*number);
  return base::Ok{};
}

base::Status take_option(std::string_view name, const std::string& value, LabUrl& url) {
  auto& options = url.options;
  if (name == "nodes") return take_nodes(value, url.kind, options.nodes);
  if (name == "fast") {
    bool fast = false;
    auto taken = take_switch(name, value, fast);
    options.durable = !fast;
    return taken;
  }
  if (name == "sync") {
    auto taken = take_switch(name, value, options.synchronous);
    if (taken.ok() && options.synchronous && !lab::has_standbys(url.kind)) {
      return bad_option(name, value,
                        fmt::format("0, since {} has no standby", lab::name(url.kind)));
    }
    return taken;
  }
  if (name == "option") {
    options.server_options.push_back(value);
    return base::Ok{};
  }
  if (name == "url") {
    url.for_driver.push_back(value);
    return base::Ok{};
  }
  return bad_option(name, value,
                    "one of nodes=N, sync=1, fast=1, option=NAME=VALUE and url=NAME=VALUE");
}

// The URL whose driver it is, without its hosts.
std::string with_driver(const std::string& url) {
  if (!is_lab_url(url)) return url;
  const auto parsed = parse_lab_url(url);
  return parsed.ok() ? std::string(lab::url_form(parsed->kind)) : url;
}

}  // namespace

bool is_lab_url(std::string_view url) {
  return url.starts_with(kScheme);
}

base::Result<LabUrl> parse_lab_url(std::string_view text) {
  text.remove_prefix(kScheme.size());
  const auto end = text.find('?');
  const auto name = text.substr(0, end);
  const auto kind = lab::find_kind(std::string(name));
  if (!kind.ok()) return kind.error();
  LabUrl url{.kind = *kind};
  auto rest = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  while (!rest.empty()) {
    const auto one = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(one.size() + 1, rest.size()));
    const auto equals = std::min(one.find('='), one.size());
    const auto value =
        drivers::percent_decoded(one.substr(std::min(equals + 1, one.size())), "options");
    if (!value.ok()) return value.error();
    if (auto taken = take_option(one.substr(0, equals), *value, url); !taken.ok()) {
      return std::move(taken).error();
    }
  }
  return url;
}

std::string url_for_driver(std::string url, const LabUrl& lab_url) {
  for (const auto& option : lab_url.for_driver) {
    url += (url.find('?') == std::string::npos ? '?' : '&') + option;
  }
  return url;
}

ReadFrom usual_read_from(const std::string& url) {
  if (!is_lab_url(url)) return ReadFrom::kOwnHost;
  const auto server = parse_lab_url(url);
  // The client of a cluster finds the primary of each key itself.
  const bool standbys = server.ok() && server->kind != lab::Kind::kRedisCluster &&
                        lab::node_count(server->kind).least > 1;
  return standbys ? ReadFrom::kPrimary : ReadFrom::kOwnHost;
}

namespace {

// What a function of the drivers says of a URL, also of a test server's.
template <class Answer>
Answer by_driver(Answer (*ask)(const std::string&, const std::string&), const std::string& url,
                 const std::string& isolation) {
  if (is_lab_url(url)) {
    if (auto parsed = parse_lab_url(url); !parsed.ok()) return parsed.error();
  }
  return ask(with_driver(url), isolation);
}

}  // namespace

base::Result<std::string> isolation_of(const std::string& url, const std::string& isolation) {
  return by_driver(drivers::isolation_of, url, isolation);
}

base::Result<workload::Needs> can_at(const std::string& url, const std::string& isolation) {
  return by_driver(drivers::can_at, url, isolation);
}

base::Result<bool> begins_on_standbys(const std::string& url, const std::string& isolation) {
  return by_driver(drivers::begins_on_standbys, url, isolation);
}

}  // namespace cupel::run
