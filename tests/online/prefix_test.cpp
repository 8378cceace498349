// The window against the engine at every beginning of random histories: the same
// verdict, and so a violation at the first moment at which there is one.
#include "online/compare_all.hpp"
#include "support/rounds.hpp"

namespace cupel::test {
namespace {

TEST(OnlinePrefixes, SmallHistoriesOfEveryKind) {
  compare_all(0, rounds(300),
              [](std::uint64_t seed) { return random_sketch(kind_of_seed(seed), seed); });
}

TEST(OnlinePrefixes, LongerHistories) {
  compare_all(1'000'000, rounds(60), long_sketch);
}

TEST(OnlinePrefixes, EmptyListsReadAsNull) {
  compare_all(5'000'000, rounds(150), [](std::uint64_t seed) {
    return with_null_lists(seed % 3 == 0 ? random_sketch(Kind::kList, seed) : long_sketch(seed),
                           seed);
  });
}

TEST(OnlinePrefixes, RangesOfListsAndOfKeysThatStartWithAValue) {
  // Linearizability is refused.
  compare_all(6'000'000, rounds(400), range_sketch, std::span(kExact).first(std::size(kExact) - 1));
}

TEST(OnlinePrefixes, CompareAndSetsOfOpenTransactions) {
  compare_all(4'000'000, rounds(150), compare_sketch);
}

TEST(OnlinePrefixes, WhatIsHeldAccusesNobodyByItself) {
  compare_all_alone(0, rounds(600), [](std::uint64_t seed) {
    return seed % 3 == 0   ? random_sketch(kind_of_seed(seed / 3), seed)
           : seed % 3 == 1 ? compare_sketch(seed)
                           : long_sketch(seed);
  });
}

TEST(OnlinePrefixes, AWindowThatWasGivenUpAccusesNobody) {
  compare_all_given_up(7'000'000, rounds(400), [](std::uint64_t seed) {
    return seed % 4 == 0   ? with_null_lists(long_sketch(seed), seed)
           : seed % 4 == 1 ? compare_sketch(seed)
           : seed % 4 == 2 ? range_sketch(seed)
                           : long_sketch(seed);
  });
}

TEST(OnlinePrefixes, AWindowThatSlidesAccusesNobody) {
  compare_all_sliding(0, rounds(600), [](std::uint64_t seed) {
    return seed % 3 == 0   ? random_sketch(kind_of_seed(seed / 3), seed)
           : seed % 3 == 1 ? compare_sketch(seed)
                           : long_sketch(seed);
  });
}

}  // namespace
}  // namespace cupel::test
