// Team: other processes that hold the same data and answer questions about parts of it. The caller
// is number 0; the others are 1 … size - 1, and each knows its number. How they are reached is for
// the implementation.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace cupel::base {

class Team {
 public:
  virtual ~Team() = default;
  [[nodiscard]] virtual std::uint32_t size() const = 0;  // with the caller, at least 2
  // Sends the question to all others, and does not wait. Who does not need the answers after all
  // asks the next question.
  virtual void ask(std::string_view question) = 0;
  // Their answers to the last question, in the order of their numbers. Empty: that one could not,
  // as for want of memory, and the caller has to do its part.
  virtual std::vector<std::string> answers() = 0;
};

// Which part of a question a process answers.
struct TeamPart {
  std::uint32_t number = 0, of = 1;

  // Its share of `count` things: [begin(count), end(count)).
  [[nodiscard]] std::size_t begin(std::size_t count) const { return count * number / of; }
  [[nodiscard]] std::size_t end(std::size_t count) const { return count * (number + 1) / of; }
};

// Plain values in the bytes of an answer. The processes run the same program.
template <typename T>
void put_bytes(std::string& bytes, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}
class AnswerBytes {
 public:
  explicit AnswerBytes(std::string_view bytes) : bytes_(bytes) {}
  template <typename T>
  T take() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value{};
    if (bytes_.size() < sizeof value) {
      bytes_ = {};
      return value;
    }
    std::memcpy(&value, bytes_.data(), sizeof value);
    bytes_.remove_prefix(sizeof value);
    return value;
  }
  [[nodiscard]] bool at_end() const { return bytes_.empty(); }

 private:
  std::string_view bytes_;
};

}  // namespace cupel::base
