// Rounds: how often a random test is repeated. Under the sanitizers, which take about five times as
// long, a quarter of it: they look at memory, and the verdicts of the same seeds are compared
// without them.
#pragma once

namespace cupel::test {

template <typename Number>
constexpr Number rounds(Number number) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return number / 4;
#else
  return number;
#endif
}

}  // namespace cupel::test
