// Bytes in tests: written in hexadecimal, with quoted pieces for text.
#pragma once

#include <cctype>
#include <deque>
#include <string>
#include <string_view>

namespace cupel::wire {

// "51 0000000d 'select 1' 00" → its bytes. Blanks do not count outside of quotes.
inline std::string bytes_of(std::string_view text) {
  std::string bytes, digits;
  bool quoted = false;
  for (const char c : text) {
    if (c == '\'') {
      quoted = !quoted;
    } else if (quoted) {
      bytes += c;
    } else if (std::isxdigit(static_cast<unsigned char>(c)) != 0) {
      digits += c;
      if (digits.size() == 2) {
        bytes += static_cast<char>(std::stoi(digits, nullptr, 16));
        digits.clear();
      }
    }
  }
  return bytes;
}

// The same, there until the program ends: what is decoded points into its bytes.
inline std::string_view lasting(std::string_view text) {
  static std::deque<std::string> all;
  return all.emplace_back(bytes_of(text));
}

// The reverse, so that a difference can be read.
inline std::string shown(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    constexpr const char* kDigits = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(c);
    if (byte > 0x20 && byte < 0x7f) {
      text += {'\'', c, '\'', ' '};
    } else {
      text += {kDigits[byte >> 4], kDigits[byte & 15], ' '};
    }
  }
  return text;
}

}  // namespace cupel::wire
