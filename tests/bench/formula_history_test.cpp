// The reduction from formulas to histories: small ones against the oracle, which tries
// every order, with every formula's models counted here; larger ones against the engine,
// with the SAT solver's answer.
#include "bench/formula_history.hpp"

#include <gtest/gtest.h>

#include <string>

#include "engine/check/check.hpp"
#include "oracle/oracle.hpp"

namespace cupel::bench {
namespace {

using levels::Level;

constexpr Level kLevels[] = {Level::kPrefix, Level::kSnapshotIsolation, Level::kSerializable};

bool has_model_by_enumeration(const Formula& formula) {
  for (unsigned values = 0; values < (1u << formula.variables); ++values) {
    bool all = true;
    for (const Clause& clause : formula.clauses) {
      bool any = false;
      for (const int literal : clause) {
        const bool value = ((values >> (std::abs(literal) - 1)) & 1u) != 0;
        any = any || value == (literal > 0);
      }
      all = all && any;
    }
    if (all) return true;
  }
  return false;
}

TEST(FormulaHistory, OfSmallFormulasAgreesWithTheOracle) {
  const Formula formulas[] = {
      {1, {{1}}},      {1, {{-1}}},      {1, {{1}, {-1}}},  // the last has no model
      {1, {{1, -1}}},  {1, {{1, 1}}},    {2, {{1, 2}}},     {2, {{1, -2}}},
      {2, {{-1, -2}}}, {2, {{1}, {-2}}}, {1, {{-1}, {-1}}}, {1, {{1}, {1}}},
  };
  int without = 0;
  for (const Formula& formula : formulas) {
    const bool expected = has_model_by_enumeration(formula);
    without += expected ? 0 : 1;
    EXPECT_EQ(has_model(formula), expected);
    const auto history = history_of(formula);
    for (const Level level : kLevels) {
      EXPECT_EQ(oracle::oracle_satisfies(history, level), expected)
          << levels::name(level) << " of " << formula.clauses.size() << " clauses, first literal "
          << formula.clauses.front().front();
    }
  }
  EXPECT_EQ(without, 1);
}

// Every clause of three literals over x forbids nothing that the others do not; the
// eight clauses over three variables together have no model, any seven have one.
TEST(FormulaHistory, OfTheEightClausesOfThreeVariables) {
  for (int left_out = -1; left_out < 8; ++left_out) {
    Formula formula{3, {}};
    for (int signs = 0; signs < 8; ++signs) {
      if (signs == left_out) continue;
      Clause clause;
      for (int v = 1; v <= 3; ++v) clause.push_back(((signs >> (v - 1)) & 1) != 0 ? v : -v);
      formula.clauses.push_back(clause);
    }
    EXPECT_EQ(has_model(formula), left_out >= 0);
    check::Options options;
    options.asked = {std::begin(kLevels), std::end(kLevels)};
    options.threads = 1;
    for (const auto& answer : check::check(history_of(formula), options).levels) {
      EXPECT_EQ(answer.verdict,
                left_out >= 0 ? check::Verdict::kSatisfied : check::Verdict::kViolated)
          << levels::name(answer.level) << " without clause " << left_out;
    }
  }
}

TEST(FormulaHistory, OfRandomFormulasAgreesWithTheSatSolver) {
  int with = 0, without = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const auto formula = random_formula(6, 26, seed);
    const bool expected = has_model_by_enumeration(formula);
    ++(expected ? with : without);
    EXPECT_EQ(has_model(formula), expected) << seed;
    const Level level = kLevels[seed % 3];
    check::Options options;
    options.asked = {level};
    options.threads = 1;
    EXPECT_EQ(check::check(history_of(formula), options).levels.front().verdict,
              expected ? check::Verdict::kSatisfied : check::Verdict::kViolated)
        << "seed " << seed << " at " << levels::name(level);
  }
  EXPECT_GE(with, 5);
  EXPECT_GE(without, 5);
}

TEST(FormulaHistory, IsAsLargeAsItSays) {
  const auto history = history_of(random_formula(10, 43, 1));
  EXPECT_EQ(history.txn_count(), 2u * 10 + 3 * 3 * 43);
}

}  // namespace
}  // namespace cupel::bench
