// Fold: a checksum of 64 bits over scalars and numbers, to tell histories apart that nobody made
// alike on purpose.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

#include "data/history/scalar.hpp"

namespace cupel::history {

// Words folded by multiplication (as in wyhash's step, with our own constants).
class Fold {
 public:
  void add(std::uint64_t word) {
    __extension__ using Wide = unsigned __int128;
    const auto product = static_cast<Wide>(state_ ^ word) * 0x9e3779b97f4a7c15ull;
    state_ = static_cast<std::uint64_t>(product) ^
             std::rotl(static_cast<std::uint64_t>(product >> 64), 23) ^ 0xd1b54a32d192ed03ull;
  }
  void add(std::string_view text) {
    add(text.size());
    std::uint64_t word = 0;
    int filled = 0;
    for (const char c : text) {
      word = word << 8 | static_cast<unsigned char>(c);
      if (++filled < 8) continue;
      add(word);
      word = 0;
      filled = 0;
    }
    add(word);
  }
  void add(ScalarView scalar) {
    add(static_cast<std::uint64_t>(scalar.kind));
    add(static_cast<std::uint64_t>(scalar.integer));
    if (!scalar.text.empty()) add(scalar.text);
  }
  [[nodiscard]] std::uint64_t value() const { return state_; }
  // To go on later from value().
  void set_value(std::uint64_t value) { state_ = value; }

 private:
  std::uint64_t state_ = 0x2545f4914f6cdd1dull;
};

}  // namespace cupel::history
