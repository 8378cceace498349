// Breaking lines: see the header.
#include "engine/explain/why/layout.hpp"

#include <algorithm>

namespace cupel::explain {

std::size_t columns(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b') {
      i = std::min(text.find('m', i), text.size() - 1);
    } else {
      count += (static_cast<unsigned char>(text[i]) & 0xc0) != 0x80 ? 1 : 0;
    }
  }
  return count;
}

std::string broken(std::string_view text, std::size_t indent, std::size_t used, std::size_t width) {
  std::string result;
  std::size_t at = 0, column = used;
  bool begun = used > indent;  // something stands on the line
  while (at < text.size()) {
    bool quoted = false;
    int open = 0;
    std::size_t end = at;
    for (; end < text.size() && (quoted || open > 0 || text[end] != ' '); ++end) {
      const char c = text[end];
      if (c == '\x1b') {
        end = std::min(text.find('m', end), text.size() - 1);
        continue;
      }
      if (c == '"' && (end == 0 || text[end - 1] != '\\')) quoted = !quoted;
      if (quoted) continue;
      if (c == '[') ++open;
      if (c == ']' && open > 0) --open;
    }
    const auto word = text.substr(at, end - at);
    const auto blank = at == 0 ? 0 : 1;
    if (begun && column + blank + columns(word) > width) {
      result += '\n';
      result.append(indent, ' ');
      column = indent;
    } else if (blank != 0) {
      result += ' ';
      ++column;
    }
    result += word;
    column += columns(word);
    begun = true;
    at = end + 1;
  }
  return result;
}

std::string capitalised(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 32);
  return text;
}

}  // namespace cupel::explain
