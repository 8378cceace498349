// What a parameterised test is called by: the names of types and levels have dashes,
// which GoogleTest does not take. A value that has a name is printed by it, not by its bytes.
#pragma once

#include <algorithm>
#include <ostream>
#include <string>
#include <string_view>

namespace cupel::test {

// For INSTANTIATE_TEST_SUITE_P: of a parameter that name() names.
inline constexpr auto parameter_name = [](const auto& info) {
  std::string text(name(info.param));
  std::replace(text.begin(), text.end(), '-', '_');
  return text;
};

}  // namespace cupel::test

// GoogleTest finds PrintTo() in the namespace of the type.
namespace cupel::levels {
template <typename T>
requires requires(const T& value) {
  std::string_view(name(value));
}
void PrintTo(const T& value, std::ostream* out) {
  *out << name(value);
}
}  // namespace cupel::levels
namespace cupel::crdt {
template <typename T>
requires requires(const T& value) {
  std::string_view(name(value));
}
void PrintTo(const T& value, std::ostream* out) {
  *out << name(value);
}
}  // namespace cupel::crdt
namespace cupel::workload {
template <typename T>
requires requires(const T& value) {
  std::string_view(name(value));
}
void PrintTo(const T& value, std::ostream* out) {
  *out << name(value);
}
}  // namespace cupel::workload
namespace cupel::mock {
template <typename T>
requires requires(const T& value) {
  std::string_view(name(value));
}
void PrintTo(const T& value, std::ostream* out) {
  *out << name(value);
}
template <typename T>
requires requires(const T& value) {
  std::string_view(value.name);
}
void PrintTo(const T& value, std::ostream* out) {
  *out << value.name;
}
}  // namespace cupel::mock
