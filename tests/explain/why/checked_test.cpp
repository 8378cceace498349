// The 14 anomalies of mini-transactions, checked and explained: each history
// gets its name at the weakest level that forbids it, and a history one edit
// away is satisfied there.
#include <gtest/gtest.h>

#include <ostream>

#include "engine/check/check.hpp"
#include "engine/explain/why/explain.hpp"
#include "engine/explain/why/glossary.hpp"
#include "support/history_language.hpp"

namespace cupel::explain {
namespace {

using levels::Level;

struct Mini {
  const char* name;
  Level level;
  const char* bad;
  const char* good;
  friend void PrintTo(const Mini& one, std::ostream* out) { *out << one.name; }
};

const Mini kMinis[] = {
    {"thin-air-read", Level::kReadCommitted, "init=0 a: r(x,7)", "init=0 a: r(x,0)"},
    {"aborted-read", Level::kReadCommitted, "init=0 a: ! w(x,1) | b: r(x,1)",
     "init=0 a: w(x,1) | b: r(x,1)"},
    {"future-read", Level::kReadCommitted, "init=0 a: r(x,1) w(x,1)", "init=0 a: w(x,1) r(x,1)"},
    {"not-my-last-write", Level::kReadCommitted, "init=0 a: w(x,1) w(x,2) r(x,1)",
     "init=0 a: w(x,1) w(x,2) r(x,2)"},
    {"not-my-own-write", Level::kReadCommitted, "init=0 a: w(x,1) | b: w(x,2) r(x,1)",
     "init=0 a: w(x,1) | b: w(x,2) r(x,2)"},
    {"intermediate-read", Level::kReadCommitted, "init=0 a: w(x,1) w(x,2) | b: r(x,1)",
     "init=0 a: w(x,1) w(x,2) | b: r(x,2)"},
    {"non-repeatable-read", Level::kReadAtomic, "init=0 a: w(x,1) | b: r(x,0) r(x,1)",
     "init=0 a: w(x,1) | b: r(x,1) r(x,1)"},
    {"session-guarantee-violation", Level::kReadAtomic, "init=0 a: w(x,1) ; r(x,0)",
     "init=0 a: w(x,1) ; r(x,1)"},
    {"non-monotonic-read", Level::kReadCommitted,
     "init=0 a: w(x,1) ; w(x,2) w(y,2) | b: r(y,2) r(x,1)",
     "init=0 a: w(x,1) ; w(x,2) w(y,2) | b: r(x,1) r(y,2)"},
    {"fractured-read", Level::kReadAtomic, "init=0 a: w(x,1) w(y,1) | b: r(x,0) r(y,1)",
     "init=0 a: w(x,1) w(y,1) | b: r(x,1) r(y,1)"},
    {"causality-violation", Level::kCausal,
     "init=0 a: w(x,1) | b: r(x,1) w(y,1) | c: r(y,1) r(x,0)",
     "init=0 a: w(x,1) | b: r(x,1) w(y,1) | c: r(y,1) r(x,1)"},
    {"long-fork", Level::kPrefix,
     "init=0 a: w(x,1) | b: w(y,1) | c: r(x,1) r(y,0) | d: r(x,0) r(y,1)",
     "init=0 a: w(x,1) | b: w(y,1) | c: r(x,1) r(y,0) | d: r(x,1) r(y,1)"},
    {"lost-update", Level::kSnapshotIsolation, "init=0 a: r(x,0) w(x,1) | b: r(x,0) w(x,2)",
     "init=0 a: r(x,0) w(x,1) | b: r(x,1) w(x,2)"},
    {"write-skew", Level::kSerializable, "init=0 a: r(x,0) w(y,1) | b: r(y,0) w(x,1)",
     "init=0 a: r(x,0) w(y,1) | b: r(y,1) w(x,1)"},
};

class MiniTransactions : public testing::TestWithParam<Mini> {};

TEST_P(MiniTransactions, AreNamed) {
  const auto& mini = GetParam();
  const auto history = test::history_of(mini.bad);
  const auto result = check::check(history, {});
  bool seen = false;
  for (const auto& level : result.levels) {
    if (!levels::implies(level.level, mini.level) || level.verdict == check::Verdict::kRefused)
      continue;
    ASSERT_EQ(level.verdict, check::Verdict::kViolated) << levels::name(level.level);
    ASSERT_TRUE(level.violation) << levels::name(level.level);
    const auto anomalies =
        explain(history, level.explained_at.value_or(level.level), *level.violation);
    ASSERT_FALSE(anomalies.empty()) << levels::name(level.level);
    EXPECT_EQ(anomalies.front().name, mini.name) << "at " << levels::name(level.level) << "\n"
                                                 << anomalies.front().explanation;
    EXPECT_FALSE(anomalies.front().explanation.empty());
    seen = true;
  }
  EXPECT_TRUE(seen);
  // Whatever is weaker is satisfied.
  for (const auto& level : result.levels) {
    if (level.level == mini.level || !levels::implies(mini.level, level.level)) continue;
    EXPECT_EQ(level.verdict, check::Verdict::kSatisfied) << levels::name(level.level);
  }
}

TEST_P(MiniTransactions, AreFineOneEditAway) {
  const auto& mini = GetParam();
  check::Options options;
  options.asked = {mini.level};
  const auto result = check::check(test::history_of(mini.good), options);
  EXPECT_EQ(result.levels.front().verdict, check::Verdict::kSatisfied);
}

INSTANTIATE_TEST_SUITE_P(Table, MiniTransactions, testing::ValuesIn(kMinis), [](const auto& info) {
  std::string name = info.param.name;
  std::erase(name, '-');
  return name;
});

// The proof names one of the appends that look the same, which nobody can know; where it names
// none, it says nothing of that.
TEST(EqualElements, OneWayToPlaceThemIsCalledSo) {
  const auto says_so = [](const char* text) {
    check::Options options;
    options.asked = {Level::kReadAtomic};
    const auto history = test::history_of(text);
    const auto result = check::check(history, options);
    EXPECT_EQ(result.levels.front().verdict, check::Verdict::kViolated) << text;
    return explain(history, Level::kReadAtomic, result.levels.front().violation.value())
        .front()
        .explanation.ends_with(
            "\n  7 was appended to x more than once. This is one way to match the appends with the "
            "lists; every\n      other way is a contradiction, too.");
  };
  EXPECT_TRUE(says_so("a: a(x,7) ; a(x,7) ; l(x,[7])"));
  EXPECT_FALSE(says_so("a: a(x,7) ; a(x,7) ; a(y,1) ; l(x,[7 7]) l(y,[])"));
}

// The smallest example of each page is what the page is about.
TEST(Glossary, ExamplesShowWhatTheyAreExamplesOf) {
  int shown = 0;
  for (const auto& entry : anomalies()) {
    if (entry.example.empty()) continue;
    ++shown;
    const auto history = test::history_of("init=0 " + std::string(entry.example));
    check::Options options;
    options.asked = {entry.weakest.front()};
    const auto found = check::check(history, options).levels.front();
    ASSERT_EQ(found.verdict, check::Verdict::kViolated) << entry.name;
    const auto at = found.explained_at.value_or(found.level);
    const auto explained = explain(history, at, *found.violation);
    ASSERT_FALSE(explained.empty()) << entry.name;
    if (explained.front().name != entry.name) {  // G1a is aborted-read
      EXPECT_EQ(explained.front().adya, entry.name) << explained.front().explanation;
    }
  }
  EXPECT_GE(shown, 24);
}

TEST(Glossary, ExamplesOfLevelsViolateThem) {
  for (const auto& entry : levels::kLevelSpecs) {
    const auto history = test::history_of("init=0 " + std::string(entry.example));
    check::Options options;
    options.asked = {entry.level};
    EXPECT_EQ(check::check(history, options).levels.front().verdict, check::Verdict::kViolated)
        << levels::name(entry.level);
  }
}

}  // namespace
}  // namespace cupel::explain
