// Unique characters: see the header.
#include "crdt/model/unique_character.hpp"

#include <algorithm>

#include "base/hash_table.hpp"
#include "base/utf8.hpp"

namespace cupel::crdt {

std::string unique_character(std::uint64_t n) {
  constexpr std::string_view kFirst =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  struct Stretch {
    std::uint32_t begin, end;
  };
  constexpr Stretch kNarrow[] = {
      {0x100, 0x300}, {0x370, 0x483}, {0x3400, 0xd800}, {0xe000, 0xf900}};
  constexpr std::uint32_t kPlane = 0x10000, kUsed = kPlane - 2, kPlanes = 16;
  if (n < kFirst.size()) return std::string(kFirst.substr(n, 1));
  n -= kFirst.size();
  for (const auto& [begin, end] : kNarrow) {
    if (n < end - begin) return base::utf8_of(begin + static_cast<std::uint32_t>(n));
    n -= end - begin;
  }
  if (n >= std::uint64_t{kUsed} * kPlanes) return "";
  const auto rest = static_cast<std::uint32_t>(n);
  return base::utf8_of(kPlane * (1 + rest / kUsed) + rest % kUsed);
}

std::string each_character_once(std::string_view text) {
  base::HashSet<std::string_view> had;
  std::string once;
  while (!text.empty()) {
    const auto character = text.substr(0, std::max<std::size_t>(1, base::utf8_length(text)));
    if (had.insert(character).second) once += character;
    text.remove_prefix(character.size());
  }
  return once;
}

}  // namespace cupel::crdt
