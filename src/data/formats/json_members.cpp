// One look at the text: brackets are counted, strings passed over. See the header.
#include "data/formats/json_members.hpp"

#include <algorithm>

namespace cupel::formats {

namespace {

// Calls string(text) of each string and colon(depth) of each colon outside strings, up to the
// bracket that closes the first, or while depth is 0 up to anything else. Past that bracket;
// npos if none closes it.
template <typename String, typename Colon>
std::size_t scan(std::string_view bytes, std::size_t begin, String string, Colon colon) {
  std::size_t depth = 0;
  for (std::size_t at = begin; at < bytes.size(); ++at) {
    switch (bytes[at]) {
      case '"': {
        const auto first = ++at;
        while (at < bytes.size() && bytes[at] != '"') at += bytes[at] == '\\' ? 2 : 1;
        string(bytes.substr(first, std::min(at, bytes.size()) - first));
        break;
      }
      case '{':
      case '[':
        ++depth;
        break;
      case '}':
      case ']':
        if (--depth == 0) return at + 1;
        break;
      case ':':
        colon(depth);
        break;
      default:
        if (depth == 0) return std::string_view::npos;
    }
  }
  return std::string_view::npos;
}

}  // namespace

std::size_t end_of_map(std::string_view bytes, std::size_t begin) {
  return scan(
      bytes, begin, [](std::string_view) {}, [](std::size_t) {});
}

std::optional<std::string> with_members(std::string_view text,
                                        bool (*is_kept)(std::string_view name)) {
  const auto past = [&](std::size_t at, std::string_view blanks) {
    return std::min(text.find_first_not_of(blanks, at), text.size());
  };
  const auto past_string = [&](std::size_t at) {
    for (++at; at < text.size() && text[at] != '"'; ++at) at += text[at] == '\\' ? 1 : 0;
    return std::min(at + 1, text.size());
  };
  constexpr std::string_view kBlanks = " \t\r\n";
  std::string kept;
  std::size_t at = past(0, kBlanks);
  if (at == text.size() || text[at] != '{') return std::nullopt;
  for (at = past(at + 1, kBlanks); at < text.size() && text[at] == '"';) {
    const auto begin = at;
    const auto end = past_string(at);
    at = past(end, kBlanks);
    if (at == text.size() || text[at] != ':') return std::nullopt;
    int depth = 0;
    for (++at; at < text.size() && !(depth == 0 && (text[at] == ',' || text[at] == '}'));) {
      const char c = text[at];
      depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
      at = c == '"' ? past_string(at) : at + 1;
    }
    const auto name = text.substr(begin + 1, end - begin - 2);
    if (is_kept(name) || name.find('\\') != std::string_view::npos)  // it may spell one
      kept.append(kept.empty() ? "{" : ",").append(text.substr(begin, at - begin));
    if (at == text.size() || text[at] != ',') continue;
    at = past(at + 1, kBlanks);
    if (at == text.size() || text[at] != '"') return std::nullopt;
  }
  if (at == text.size() || text[at] != '}') return std::nullopt;
  return kept.empty() ? "{}" : kept + "}";
}

Members first_object(std::string_view text) {
  Members members;
  std::string_view last;  // the string before the place at hand
  scan(
      text, 0, [&](std::string_view string) { last = string; },
      [&](std::size_t depth) {
        if (depth == 1) members.names.push_back(last);
      });
  return members;
}

}  // namespace cupel::formats
