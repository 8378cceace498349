// Lists in which one element stands many times: what is decided without trying all ways in which
// its appends may stand (docs/internals/algorithms/equal-elements.md), and with which evidence.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <thread>

#include "base/random.hpp"
#include "engine/certify/verify.hpp"
#include "engine/check/check.hpp"
#include "property/agreement.hpp"
#include "report/certificate.hpp"
#include "support/history_language.hpp"
#include "support/rounds.hpp"

namespace cupel::test {
namespace {

using check::Verdict;
using levels::Level;

// So many appends of 1 to x, one after the other, each of a session of its own.
std::string appends(int count) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += "a" + std::to_string(i) + ": a(x,1)@" + std::to_string(10 * i) + "-" +
            std::to_string(10 * i + 5) + " | ";
  return text;
}
std::string shows(int count) {
  std::string list;
  for (int i = 0; i < count; ++i) list += i == 0 ? "1" : " 1";
  return "l(x,[" + list + "])";
}

struct Checked {
  std::array<Verdict, levels::kLevelCount> verdicts{};
  std::string certificate;
  [[nodiscard]] Verdict at(Level level) const { return verdicts[static_cast<std::size_t>(level)]; }
};

// At all levels, with a certificate that is verified.
Checked checked(const std::string& text) {
  const auto h = history_of(text.c_str());
  check::Options options;
  options.timeout_seconds = 60;
  options.threads = 1;
  options.evidence = true;
  const auto result = check::check(h, options);
  Checked all;
  for (const auto& one : result.levels)
    all.verdicts[static_cast<std::size_t>(one.level)] = one.verdict;
  const auto made = report::certificate(h, result, 0);
  EXPECT_TRUE(made.missing.empty()) << text;
  all.certificate = made.json;
  const auto verified = certify::verify(h, made.json, 0);
  EXPECT_EQ(verified.validity, certify::Validity::kValid) << verified.reason;
  return all;
}

TEST(EqualElements, DoNotHideAViolationOfAnotherKey) {
  const auto found = checked(appends(30) + "r: " + shows(30) +
                             "@400-410 | u: l(y,[]) a(y,5)@500-510 | v: l(y,[]) a(y,6)@500-510");
  EXPECT_EQ(found.at(Level::kPrefix), Verdict::kSatisfied);
  EXPECT_EQ(found.at(Level::kSnapshotIsolation), Verdict::kViolated);
  // No case says where one of them stands.
  EXPECT_EQ(found.certificate.find("\"proof\": {"), std::string::npos);
}

TEST(EqualElements, DoNotHideAViolationOfTheSameKey) {
  const auto found = checked(appends(30) + "r: " + shows(30) +
                             "@400-410 | u: l(x,[]) a(x,5)@500-510 | v: l(x,[]) a(x,6)@500-510");
  EXPECT_EQ(found.at(Level::kSnapshotIsolation), Verdict::kViolated);
}

TEST(EqualElements, AreCounted) {
  for (const int count : {2, 6, 30}) {
    const auto found = checked(appends(count) + "r: " + shows(count - 1) + "@400-410");
    EXPECT_EQ(found.at(Level::kSerializable), Verdict::kSatisfied) << count;
    EXPECT_EQ(found.at(Level::kStrongSessionSerializable), Verdict::kSatisfied) << count;
    EXPECT_EQ(found.at(Level::kStrictSerializable), Verdict::kViolated) << count;
    EXPECT_EQ(found.at(Level::kLinearizable), Verdict::kViolated) << count;
  }
}

TEST(EqualElements, GrowOnly) {
  const auto found =
      checked(appends(20) + "r: " + shows(20) + "@300-310 | s: " + shows(19) + "@320-330");
  EXPECT_EQ(found.at(Level::kSerializable), Verdict::kSatisfied);
  EXPECT_EQ(found.at(Level::kStrictSerializable), Verdict::kViolated);
}

TEST(EqualElements, CasesThatAreTooDeepAreRefused) {
  const std::string deep = "{\"cupel_certificate\": 1, \"proofs\": " + std::string(2100, '[') +
                           std::string(2100, ']') + "}";
  const auto verified = certify::verify(history_of("s: w(x,1)"), deep, 0);
  EXPECT_NE(verified.validity, certify::Validity::kValid);
  EXPECT_NE(verified.reason.find("more than 2048 arrays and objects"), std::string::npos)
      << verified.reason;
}

// What is possible as long as places are open is no answer when a limit ends the rest: whenever one
// is met, the level is violated or unknown.
TEST(EqualElements, ALimitMakesNothingSatisfied) {
  using Clock = std::chrono::steady_clock;
  std::string text = appends(5) + "r: " + shows(4) + "@400-410";
  for (int i = 0; i < 500; ++i) text += fmt::format(" | s{}: w(k{},1)@0-9", i, i);
  const auto h = history_of(text.c_str());
  check::Options options;
  options.asked = {Level::kStrictSerializable};
  options.threads = 1;
  options.evidence = true;
  const auto begin = Clock::now();
  ASSERT_EQ(check::check(h, options).levels.front().verdict, Verdict::kViolated);
  const auto all = Clock::now() - begin;
  int unknown = 0;
  const int tries = rounds(400);
  for (int i = 0; i < tries; ++i) {
    base::Budget budget;
    std::thread clock([&, end = Clock::now() + all * i / tries] {
      while (Clock::now() < end) std::this_thread::yield();
      budget.meet(base::Limit::kTime);
    });
    const auto verdict = check::check(h, options, budget).levels.front().verdict;
    clock.join();
    EXPECT_NE(verdict, Verdict::kSatisfied);
    unknown += verdict == Verdict::kUnknown;
  }
  EXPECT_GT(unknown, 0);
}

// The place of the last element is open, and both appends of it are followed by another in their
// transactions: the first read is left out while it is, and the second does not take its place.
TEST(EqualElements, AReadThatNobodyCanHaveWrittenIsTheFirst) {
  const auto found = checked("s: l(x,[1]) l(x,[1 2]) ; a(x,1) a(x,2) ; a(x,1) a(x,2) | t: ()");
  EXPECT_EQ(found.at(Level::kReadAtomic), Verdict::kViolated);
}

TEST(Lists, OfACompareAndSetThatCannotHaveHappenedHoldNoElementOfIt) {
  for (const char* list : {"[1 2]", "[2 1]"}) {
    const auto found =
        checked(fmt::format("s: ? a(x,1) cas(y,3,3) | t: a(x,2) | u: l(x,{})", list));
    EXPECT_EQ(found.at(Level::kReadCommitted), Verdict::kViolated) << list;
    EXPECT_EQ(found.at(Level::kSerializable), Verdict::kViolated) << list;
  }
}

// Two elements, appended over and over in the order of their times, which a read mostly respects.
TEST(EqualElements, AsExhaustiveSearchSays) {
  const std::uint64_t kRounds = rounds(std::uint64_t{1500});
  int compared = 0, violated = 0;
  for (std::uint64_t seed = 1; seed <= kRounds; ++seed) {
    base::Random random(seed);
    std::string text, list;
    const auto count = random.between(3, 6);
    std::vector<std::int64_t> elements;
    for (std::int64_t i = 0; i < count; ++i) {
      const auto element = random.between(1, 2);
      const auto begin = 10 * i, end = begin + random.between(3, 25);
      text += fmt::format("s{}: {}a(x,{})@{}-{} | ", random.below(4),
                          random.chance(0.1) ? "? " : "", element, begin, end);
      elements.push_back(element);
      if (random.chance(0.3))
        text += fmt::format("o{}: l(y,[]) a(y,{})@{}-{} | ", i, i, begin, end);
    }
    for (int read = 0; read < 2; ++read) {
      auto shown = elements;
      if (random.chance(0.4)) shown.resize(random.below(shown.size() + 1));
      if (random.chance(0.3) && shown.size() > 1)
        std::swap(shown[random.below(shown.size())], shown.back());
      list.clear();
      for (const auto element : shown) list += (list.empty() ? "" : " ") + std::to_string(element);
      text += fmt::format("r{}: l(x,[{}])@{}-{}{}", read, list, 80 + 20 * read, 90 + 20 * read,
                          read == 0 ? " | " : "");
    }
    const auto h = history_of(text.c_str());
    if (!is_compared(h)) continue;
    ++compared;
    EXPECT_EQ(disagreement(h), "") << "seed " << seed << ": " << text;
    check::Options options;
    options.asked = {Level::kStrictSerializable};
    violated += check::check(h, options).levels.front().verdict == Verdict::kViolated;
  }
  EXPECT_GT(compared, static_cast<int>(kRounds / 2));
  EXPECT_GT(violated, compared / 10);
  EXPECT_LT(violated, compared);
}

}  // namespace
}  // namespace cupel::test
