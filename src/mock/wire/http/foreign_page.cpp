// By the headers that no script of a page can set itself: see the header.
#include "mock/wire/http/foreign_page.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>

#include "base/text.hpp"
#include "base/visible.hpp"

namespace cupel::wire {

namespace {

// "127.0.0.1" of "127.0.0.1:80", "::1" of "[::1]:80".
std::string_view without_port(std::string_view host) {
  if (host.starts_with('[')) {
    const auto end = host.find(']');
    return end == std::string_view::npos ? std::string_view() : host.substr(1, end - 1);
  }
  return host.substr(0, host.find(':'));
}

bool is_address(const std::string& name) {
  in6_addr any = {};
  return ::inet_pton(AF_INET, name.c_str(), &any) == 1 ||
         ::inet_pton(AF_INET6, name.c_str(), &any) == 1;
}

bool is_json(std::string_view type) {
  auto name = base::to_lower(type.substr(0, type.find(';')));
  name.erase(name.find_last_not_of(" \t") + 1);
  return name == "application/json";
}

}  // namespace

std::vector<std::string> own_names(const std::string& listens_on) {
  std::vector<std::string> names = {base::to_lower(listens_on)};
  char name[256] = "";
  if (::gethostname(name, sizeof name - 1) == 0) names.push_back(base::to_lower(name));
  return names;
}

bool is_own_host(std::string_view host, const std::vector<std::string>& names) {
  auto name = base::to_lower(without_port(host));
  if (name.ends_with('.')) name.pop_back();
  return name == "localhost" || name.ends_with(".localhost") || is_address(name) ||
         (!name.empty() && std::find(names.begin(), names.end(), name) != names.end());
}

std::optional<HttpRefusal> refusal_of(const HttpHeaders& headers, bool has_body, bool any_host,
                                      const std::vector<std::string>& names) {
  if (headers.host.empty()) return HttpRefusal{400, "found no Host header, expected one"};
  if (!any_host && !is_own_host(headers.host, names)) {
    return HttpRefusal{
        421, fmt::format("found the host `{}`, expected an address, localhost or the name of this "
                         "machine; start the mock with --password to be called by any name",
                         base::visible(headers.host))};
  }
  const bool same_origin =
      base::to_lower(headers.origin) == "http://" + base::to_lower(headers.host);
  if (!headers.origin.empty() && !same_origin) {
    return HttpRefusal{403, fmt::format("found a request of a page from `{}`, expected none of "
                                        "another origin",
                                        base::visible(headers.origin))};
  }
  if (!headers.fetch_site.empty() && headers.fetch_site != "same-origin" &&
      headers.fetch_site != "none") {
    return HttpRefusal{403, "found a request of a page from elsewhere, expected none"};
  }
  if (has_body && !is_json(headers.content_type)) {
    return HttpRefusal{
        415, fmt::format("found a body of type `{}`, expected application/json (curl --json)",
                         base::visible(headers.content_type))};
  }
  return std::nullopt;
}

}  // namespace cupel::wire
