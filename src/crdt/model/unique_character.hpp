// Unique characters: one for each number, so that the characters of a generated text say which
// insertion they are of.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cupel::crdt {

// Letters and digits first, then what stands for itself: no combining marks, surrogates or
// noncharacters. Empty: Unicode has no more.
std::string unique_character(std::uint64_t n);

// The characters of a text, each where it stands first.
std::string each_character_once(std::string_view text);

// As many of these, the first ones, are one unit of UTF-16; each of the others is two.
inline constexpr std::uint64_t kNarrowCharacters = 49'233;

}  // namespace cupel::crdt
