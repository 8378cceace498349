// UTF-8, by the table of RFC 3629.
#include "base/utf8.hpp"

namespace cupel::base {

std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto first = byte(0);
  const std::size_t length = first < 0x80   ? 1
                             : first < 0xc2 ? 0
                             : first < 0xe0 ? 2
                             : first < 0xf0 ? 3
                             : first < 0xf5 ? 4
                                            : 0;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  // Overlong, surrogates, beyond U+10FFFF.
  if (first == 0xe0 && byte(1) < 0xa0) return 0;
  if (first == 0xed && byte(1) >= 0xa0) return 0;
  if (first == 0xf0 && byte(1) < 0x90) return 0;
  if (first == 0xf4 && byte(1) >= 0x90) return 0;
  return length;
}

bool valid_utf8(std::string_view text) {
  while (!text.empty()) {
    const auto length = utf8_length(text);
    if (length == 0 || text.front() == '\0') return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string utf8_of(char32_t code) {
  const auto byte = [&](unsigned lead, unsigned shift) {
    return static_cast<char>(lead | ((code >> shift) & (lead == 0x80 ? 0x3fU : 0xffU)));
  };
  if (code < 0x80) return {static_cast<char>(code)};
  if (code < 0x800) return {byte(0xc0, 6), byte(0x80, 0)};
  if (code < 0x10000) return {byte(0xe0, 12), byte(0x80, 6), byte(0x80, 0)};
  return {byte(0xf0, 18), byte(0x80, 12), byte(0x80, 6), byte(0x80, 0)};
}

}  // namespace cupel::base
