// Markup: see the header.
#include "text/markup.hpp"

namespace cupel::text {

std::string_view markup_entity(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    default:
      return {};
  }
}

std::string in_markup(std::string_view text, std::string_view kept) {
  std::string out;
  for (const char c : text) {
    if (const auto entity = markup_entity(c); !entity.empty()) {
      out += entity;
    } else {
      out += static_cast<unsigned char>(c) < 0x20 && kept.find(c) == kept.npos ? ' ' : c;
    }
  }
  return out;
}

}  // namespace cupel::text
