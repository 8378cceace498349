// Bytes of wire protocols, read with every length checked, and written.
//
// A Reader that was asked for more than there is answers zeros and empty texts from
// then on and says so (`failed()`), so that a decoder looks once, at its end. Numbers
// are big-endian in PostgreSQL's protocol and little-endian in MySQL's.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace cupel::wire {

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] bool at_end() const { return bytes_.empty(); }
  [[nodiscard]] std::size_t left() const { return bytes_.size(); }
  // Read to its end, and not beyond.
  [[nodiscard]] bool complete() const { return !failed_ && bytes_.empty(); }

  std::string_view take(std::size_t size) {
    if (size > bytes_.size()) {
      failed_ = true;
      bytes_ = {};
      return {};
    }
    const auto taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }
  std::string_view rest() { return take(bytes_.size()); }
  // Up to a zero byte, which is taken too.
  std::string_view text_to_zero() {
    const auto end = bytes_.find('\0');
    if (end == std::string_view::npos) {
      failed_ = true;
      bytes_ = {};
      return {};
    }
    const auto taken = take(end);
    take(1);
    return taken;
  }

  template <typename Number>
  Number big() {
    return number<Number>(sizeof(Number), true);
  }
  template <typename Number>
  Number little(std::size_t size = sizeof(Number)) {
    return number<Number>(size, false);
  }

 private:
  template <typename Number>
  Number number(std::size_t size, bool most_significant_first) {
    const auto bytes = take(size);
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const auto byte =
          static_cast<std::uint8_t>(bytes[most_significant_first ? bytes.size() - 1 - i : i]);
      value |= std::uint64_t{byte} << (8 * i);
    }
    return static_cast<Number>(value);
  }

  std::string_view bytes_;
  bool failed_ = false;
};

template <typename Number>
void put_big(std::string& out, Number number) {
  auto value = static_cast<std::make_unsigned_t<Number>>(number);
  for (std::size_t i = sizeof(Number); i-- > 0;) {
    out += static_cast<char>(static_cast<std::uint8_t>(value >> (8 * i)));
  }
}

inline void put_little(std::string& out, std::uint64_t value, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) out += static_cast<char>(value >> (8 * i));
}

inline void put_text_and_zero(std::string& out, std::string_view text) {
  out += text.substr(0, text.find('\0'));
  out += '\0';
}

}  // namespace cupel::wire
