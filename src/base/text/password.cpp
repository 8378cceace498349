// See the header.
#include "base/text/password.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace cupel::text {

namespace {

// Where the value ends that begins at `from`: in a URL's query at `&`, in a list of libpq's
// keywords at a blank, unless it is quoted.
std::size_t end_of_value(std::string_view text, std::size_t from, bool in_query) {
  if (from < text.size() && text[from] == '\'') {
    for (auto at = from + 1; at < text.size(); ++at) {
      if (text[at] == '\\') {
        ++at;
      } else if (text[at] == '\'') {
        return at + 1;
      }
    }
    return text.size();
  }
  return std::min(text.find_first_of(in_query ? "&" : " \t\n;", from), text.size());
}

// Of every `name=value` in a URL's query or a list of keywords.
void hide_values(std::string& text, std::string_view name) {
  constexpr std::string_view kBlanks = " \t\n", kBefore = "?&=; \t\n";
  for (std::size_t at = 0;;) {
    const auto lower = base::to_lower(text, "", '-');
    at = lower.find(name, at);
    if (at == std::string::npos) return;
    const auto begin = at;
    at += name.size();
    if (begin > 0 && kBefore.find(text[begin - 1]) == std::string_view::npos) continue;
    const auto equals = text.find_first_not_of(kBlanks, at);
    if (equals == std::string::npos || text[equals] != '=') continue;
    const auto value = std::min(text.find_first_not_of(kBlanks, equals + 1), text.size());
    const bool in_query = text.find('?') < begin;
    text.replace(value, end_of_value(text, value, in_query) - value, "***");
    at = value;
  }
}

}  // namespace

std::string without_password(std::string_view text) {
  std::string shown(text);
  // The scheme may have a colon: jdbc:mysql://
  const auto slashes = text.find("://");
  if (slashes != std::string_view::npos) {
    const auto start = slashes + 3;
    // The last `@` anywhere before the query: a password with a `/` in it is a
    // mistake of the user's, and no reason to print it.
    const auto query = std::min(text.find('?', start), text.size());
    auto at = text.substr(0, query).rfind('@');
    if (at == std::string_view::npos) at = text.rfind('@');
    const auto colon = text.find(':', start);
    if (at != std::string_view::npos && at > start && colon < at) {
      shown = fmt::format("{}***{}", text.substr(0, colon + 1), text.substr(at));
    }
  }
  for (const std::string_view name :
       {"password", "passwd", "pwd", "sslpassword", "requirepass", "masterauth"}) {
    hide_values(shown, name);
  }
  return shown;
}

}  // namespace cupel::text
