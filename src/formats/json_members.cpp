// One look at the text: brackets are counted, strings passed over. See the header.
#include "formats/json_members.hpp"

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
