// One pass over blanks, comments and semicolons; see the header.
#include "mock/wire/statement_text.hpp"

#include <algorithm>
#include <cctype>

namespace cupel::wire {

namespace {

// The end of the comment that begins here, and of those in it.
std::size_t end_of_comment(std::string_view text, std::size_t at) {
  std::size_t depth = 0;
  while (at < text.size()) {
    if (text.substr(at).starts_with("/*")) {
      ++depth;
      at += 2;
    } else if (text.substr(at).starts_with("*/")) {
      at += 2;
      if (--depth == 0) return at;
    } else {
      ++at;
    }
  }
  return at;
}

}  // namespace

bool is_empty_statement(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const auto rest = text.substr(at);
    if (std::isspace(static_cast<unsigned char>(rest[0])) != 0 || rest[0] == ';') {
      ++at;
    } else if (rest.starts_with("--")) {
      at = std::min(text.find('\n', at), text.size());
    } else if (rest.starts_with("/*")) {
      at = end_of_comment(text, at);
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace cupel::wire
