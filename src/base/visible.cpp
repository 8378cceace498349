// By ranges of code points: the controls of ASCII and of Latin 1, the separators of lines and
// paragraphs, and what embeds, overrides or isolates a direction (UAX 9).
#include "base/visible.hpp"

#include <algorithm>
#include <cstdint>

#include "base/utf8.hpp"

namespace cupel::base {

namespace {

constexpr char kHex[] = "0123456789abcdef";

bool is_plain_ascii(char c) {
  return c >= ' ' && c <= '~';
}

// Of the two or three bytes of a valid character; longer ones are plain.
std::uint32_t code_of(std::string_view character) {
  std::uint32_t code = static_cast<unsigned char>(character[0]) & (character.size() == 1   ? 0x7fU
                                                                   : character.size() == 2 ? 0x1fU
                                                                                           : 0x0fU);
  for (const char c : character.substr(1)) code = code << 6 | (static_cast<unsigned>(c) & 0x3fU);
  return code;
}

bool is_plain(std::uint32_t code) {
  return code >= 0x20 && !(code >= 0x7f && code < 0xa0) && !(code >= 0x2028 && code <= 0x202e) &&
         !(code >= 0x2066 && code <= 0x2069) && code != 0xfeff && code != 0xfffe && code != 0xffff;
}

void append_escape(std::string& out, std::string_view character, bool valid) {
  constexpr std::string_view kNamed = "\n\t\r", kNames = "ntr";
  if (const auto which = kNamed.find(character[0]); valid && which != std::string_view::npos) {
    out += {'\\', kNames[which]};
    return;
  }
  const bool is_delete = character == "\x7f";  // which JSON holds as it is
  if (!valid || (character.size() == 1 && !is_delete)) {
    const auto byte = static_cast<unsigned char>(character[0]);
    out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    return;
  }
  const auto code = code_of(character);
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += kHex[code >> shift & 15];
}

}  // namespace

Character first_character(std::string_view text) {
  if (is_plain_ascii(text.front())) return {1, true};
  const auto length = utf8_length(text);
  if (length == 0) return {1, false};
  return {length, length > 3 || is_plain(code_of(text.substr(0, length)))};
}

std::string visible(std::string_view text, std::string_view kept) {
  if (std::all_of(text.begin(), text.end(), is_plain_ascii)) return std::string(text);
  std::string out;
  out.reserve(text.size() + 16);
  while (!text.empty()) {
    const auto [length, plain] = first_character(text);
    const auto character = text.substr(0, length);
    if (plain || kept.find(character[0]) != std::string_view::npos) {
      out += character;
    } else {
      append_escape(out, character, utf8_length(text) != 0);
    }
    text.remove_prefix(length);
  }
  return out;
}

}  // namespace cupel::base
