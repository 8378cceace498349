// Rounds: how often a random test is repeated. A quick test makes a quarter of its rounds, also
// under the sanitizers. With CUPEL_ALL_ROUNDS in the environment it makes all of them, as in `make
// long` (cupel_all_rounds() in tests/CMakeLists.txt).
#pragma once

#include <cstdlib>

namespace cupel::test {

// A quarter of the rounds may hold no example of something rare.
inline bool all_rounds() {
  static const bool kAll = std::getenv("CUPEL_ALL_ROUNDS") != nullptr;
  return kAll;
}

template <typename Number>
Number rounds(Number number) {
  return all_rounds() ? number : number / 4;
}

}  // namespace cupel::test
