// first_object: see the header.
#include "formats/json_members.hpp"

namespace cupel::formats {

Members first_object(std::string_view text) {
  Members members;
  std::string_view last;  // the string before the place at hand, at depth 1
  unsigned depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    switch (text[at]) {
      case '{':
      case '[':
        ++depth;
        break;
      case '}':
      case ']':
        if (--depth == 0) return members;
        break;
      case '"': {
        const auto begin = ++at;
        while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
        last = text.substr(begin, std::min(at, text.size()) - begin);
        break;
      }
      case ':':
        if (depth == 1) members.names.push_back(last);
        break;
      default:
        if (depth == 0) return members;
    }
  }
  return members;
}

}  // namespace cupel::formats
