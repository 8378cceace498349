// Result<T>: a value, or an Error that a user can act on. For bad input and
// environment only: a broken invariant is an assertion, and a violation found
// in a history is a Verdict, not an error.
#pragma once

#include <cassert>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace cupel::base {

// What is wrong, where, and what to do. `file` may be empty (not from a file);
// `line` counts from 1 and `byte` from 0; each is absent when it means nothing.
struct Error {
  std::string message;  // "found X, expected Y", one sentence, no full stop
  std::string file = {};
  std::optional<std::uint64_t> line = {};
  std::optional<std::uint64_t> byte = {};
  bool limit_met = false;  // nothing is wrong: a base::Budget ended

  // "FILE:LINE: message" or "FILE: byte N: message".
  [[nodiscard]] std::string to_string() const {
    std::string text = file;
    if (line) text += (text.empty() ? "line " : ":") + std::to_string(*line);
    if (byte) text += (text.empty() ? "byte " : ": byte ") + std::to_string(*byte);
    if (!text.empty()) text += ": ";
    return text + message;
  }
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & {
    assert(ok());
    return std::get<0>(state_);
  }
  const T& value() const& {
    assert(ok());
    return std::get<0>(state_);
  }
  T&& value() && {
    assert(ok());
    return std::get<0>(std::move(state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  [[nodiscard]] const Error& error() const& {
    assert(!ok());
    return std::get<1>(state_);
  }
  [[nodiscard]] Error&& error() && {
    assert(!ok());
    return std::get<1>(std::move(state_));
  }

 private:
  std::variant<T, Error> state_;
};

// For functions that return nothing when well.
struct Ok {};
using Status = Result<Ok>;

}  // namespace cupel::base
