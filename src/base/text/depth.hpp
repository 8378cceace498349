// How deeply what others wrote may be nested. Readers and writers of EDN and JSON recurse, so that
// a file of brackets would end the process.
#pragma once

#include <string>

namespace cupel::text {

inline constexpr int kMaxDepth = 100;  // of collections within each other

inline std::string too_deep_message(int most) {
  return "found values nested more than " + std::to_string(most) + " deep, expected a history";
}

}  // namespace cupel::text
