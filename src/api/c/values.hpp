// What the functions of cupel.h share: errors, and values between C and C++.
#pragma once

#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cupel/cupel.h"
#include "cupel/scalar.hpp"

namespace cupel::c_api {

// What cupel_error() returns on this thread from now on. Out of memory: a text that needs none.
void set_error(std::string_view message) noexcept;

// The result of `call`, or `failed` after set_error() where an exception came out of it.
template <typename Result, typename Call>
Result guarded(Result failed, Call&& call) noexcept {
  try {
    return std::forward<Call>(call)();
  } catch (const std::bad_alloc&) {
    set_error("out of memory");
  } catch (const std::exception& error) {
    set_error(error.what());
  } catch (...) {
    set_error("an exception of an unknown kind");
  }
  return failed;
}

// Throws std::invalid_argument if the kind is none.
Scalar scalar(const cupel_value& value);
std::vector<Scalar> scalars(const cupel_value* values, std::size_t count);
// "" for NULL.
inline std::string_view text_of(const char* text) {
  return text == nullptr ? std::string_view() : text;
}

}  // namespace cupel::c_api
