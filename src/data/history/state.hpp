// State: what a watch knows, as bytes, so that another process can go on where this one was.
//
// Integers are written in seven bits a byte, texts with their length before them. A whole state
// begins with its version and ends with a hash of all before it; a reader that meets anything else
// than it expects is broken from there on, and gives zeros.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "data/history/scalar.hpp"

namespace cupel::history {

class StateWriter {
 public:
  void number(std::uint64_t value);
  void integer(std::int64_t value);
  void flag(bool value) { bytes_ += static_cast<char>(value); }
  void text(std::string_view value);
  void scalar(ScalarView value);
  // With its version and its hash. The writer is spent.
  [[nodiscard]] std::string sealed() &&;

 private:
  std::string bytes_;
};

class StateReader {
 public:
  // Of sealed(); it is broken at once if the version or the hash is another. Borrowed.
  explicit StateReader(std::string_view sealed);

  std::uint64_t number();
  std::int64_t integer();
  bool flag();
  std::string_view text();
  ScalarView scalar();
  // A number of things that take a byte each at least.
  std::size_t count();
  // A number below `limit`.
  std::uint32_t below(std::size_t limit);

  void spoil() { good_ = false; }
  [[nodiscard]] bool good() const { return good_; }
  [[nodiscard]] bool at_end() const { return good_ && left_.empty(); }

 private:
  std::string_view left_;
  bool good_ = true;
};

}  // namespace cupel::history
