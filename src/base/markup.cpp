// Markup: see the header.
#include "base/markup.hpp"

namespace cupel::base {

std::string in_markup(std::string_view text, std::string_view kept) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += static_cast<unsigned char>(c) < 0x20 && kept.find(c) == kept.npos ? ' ' : c;
    }
  }
  return out;
}

}  // namespace cupel::base
