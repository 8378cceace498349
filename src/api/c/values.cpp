// Errors and values of the interface in C: see the header.
#include "api/c/values.hpp"

#include <cstdint>
#include <cstring>
#include <stdexcept>

namespace cupel::c_api {

namespace {

constexpr std::string_view kOutOfMemory = "out of memory";

struct LastError {
  std::string text;
  bool out_of_memory = false;
};
thread_local LastError last_error;

}  // namespace

void set_error(std::string_view message) noexcept {
  try {
    last_error.text = message;
    last_error.out_of_memory = false;
  } catch (const std::bad_alloc&) {
    last_error.out_of_memory = true;
  }
}

Scalar scalar(const cupel_value& value) {
  switch (value.kind) {
    case CUPEL_INTEGER:
      return value.integer;
    case CUPEL_TEXT:
      return value.text == nullptr ? std::string() : std::string(value.text, value.size);
    case CUPEL_NULL:
      return std::monostate{};
  }
  throw std::invalid_argument("found a value of the kind " + std::to_string(value.kind) +
                              ", expected one of CUPEL_NULL, CUPEL_INTEGER and CUPEL_TEXT");
}

std::vector<Scalar> scalars(const cupel_value* values, std::size_t count) {
  std::vector<Scalar> all;
  all.reserve(count);
  for (std::size_t i = 0; i < count; ++i) all.push_back(scalar(values[i]));
  return all;
}

}  // namespace cupel::c_api

using cupel::c_api::last_error;

const char* cupel_version(void) {
  return CUPEL_VERSION;
}
const char* cupel_error(void) {
  return last_error.out_of_memory ? cupel::c_api::kOutOfMemory.data() : last_error.text.c_str();
}

cupel_value cupel_null(void) {
  return {CUPEL_NULL, 0, nullptr, 0};
}
cupel_value cupel_integer(int64_t integer) {
  return {CUPEL_INTEGER, integer, nullptr, 0};
}
cupel_value cupel_text(const char* text) {
  return {CUPEL_TEXT, 0, text, text == nullptr ? 0 : std::strlen(text)};
}
