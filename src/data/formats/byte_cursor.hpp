// ByteCursor: a bounds-checked walk over a binary file. A read past the end
// fails once and for all, so that a decoder may test at the places where it
// can say what it expected.
#pragma once

#include <cstdint>
#include <string_view>

namespace cupel::formats {

class ByteCursor {
 public:
  explicit ByteCursor(std::string_view bytes) : bytes_(bytes) {}

  [[nodiscard]] std::size_t offset() const { return at_; }
  [[nodiscard]] std::size_t remaining() const { return bytes_.size() - at_; }
  [[nodiscard]] bool at_end() const { return at_ == bytes_.size(); }
  [[nodiscard]] bool failed() const { return failed_; }

  std::uint8_t u8() { return static_cast<std::uint8_t>(integer(1, false)); }
  std::uint32_t little_u32() { return static_cast<std::uint32_t>(integer(4, false)); }
  std::uint64_t little_u64() { return integer(8, false); }
  std::int64_t big_i64() { return static_cast<std::int64_t>(integer(8, true)); }

  std::string_view take(std::uint64_t size) {
    if (failed_ || size > remaining()) {
      failed_ = true;
      return {};
    }
    const auto piece = bytes_.substr(at_, size);
    at_ += size;
    return piece;
  }

 private:
  std::uint64_t integer(unsigned size, bool big_endian) {
    const auto piece = take(size);
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < piece.size(); ++i) {
      const std::uint64_t byte = static_cast<unsigned char>(piece[i]);
      value |= byte << (8 * (big_endian ? size - 1 - i : i));
    }
    return value;
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  bool failed_ = false;
};

}  // namespace cupel::formats
