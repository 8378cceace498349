// Complete in the limit: what a store can return to a small program, over all orders of
// its transactions and all choices, is what the oracle accepts, at every level. (At the
// levels where a write may contradict what was read: of the runs where all commit.)
#include <gtest/gtest.h>

#include "mock/program.hpp"
#include "support/parameter_name.hpp"

namespace cupel::test {
namespace {

using mock::Level;

void expect_same(const Program& program, Level level) {
  const auto store = reached(program, level);
  const auto oracle = accepted(program, level);
  for (const auto& outcome : oracle) {
    ASSERT_TRUE(store.contains(outcome))
        << mock::name(level) << ", " << program.to_string() << "\nnever returned: " << outcome;
  }
  for (const auto& outcome : store) {
    ASSERT_TRUE(oracle.contains(outcome)) << mock::name(level) << ", " << program.to_string()
                                          << "\nreturned, and not within the level: " << outcome;
  }
}

class MockEnumeration : public testing::TestWithParam<Level> {};

// All programs of two sessions of one transaction, and of one and two, of two steps each.
TEST_P(MockEnumeration, OfTinyProgramsIsTheOracles) {
  int programs = 0;
  for (const int first : {1, 2}) {
    const int steps = 2 * (first + 1);
    for (int bits = 0; bits < 1 << (2 * steps); ++bits) {
      if (first == 2 && bits % 17 != 0) continue;  // 4096 of them: a part
      std::vector<Step> all;
      for (int i = 0; i < steps; ++i)
        all.push_back({(bits >> (2 * i) & 1) != 0, bits >> (2 * i + 1) & 1});
      Program program;
      program.sessions.resize(2);
      for (int t = 0; t < first; ++t) program.sessions[0].push_back({all[2 * t], all[2 * t + 1]});
      program.sessions[1].push_back({all[steps - 2], all[steps - 1]});
      expect_same(program, GetParam());
      if (HasFatalFailure()) return;
      ++programs;
    }
  }
  EXPECT_GT(programs, 400);
}

TEST_P(MockEnumeration, OfRandomProgramsIsTheOracles) {
  base::Random random(1);
  int programs = 0;
  while (programs < 1000) {
    const Program program = random_program(random, 3, 2, 3, 1 + static_cast<int>(random.below(3)));
    if (outcome_count(program) > 60) continue;
    expect_same(program, GetParam());
    if (HasFatalFailure()) return;
    ++programs;
  }
}

// Whatever the order in which the transactions come: the store has to order them another
// way to return what a later commit would have allowed.
TEST_P(MockEnumeration, OfOneOrderIsTheOracles) {
  base::Random random(2);
  for (int programs = 0; programs < 1500;) {
    const Program program = random_program(random, 3, 2, 3, 1 + static_cast<int>(random.below(3)));
    if (outcome_count(program) > 100) continue;
    const Order order = random_order(program, random);
    ASSERT_EQ(reached(program, GetParam(), order), accepted(program, GetParam(), order))
        << program.to_string();
    ++programs;
  }
}

// The test's own axioms, against the oracle.
TEST_P(MockEnumeration, AxiomsAgreeWithTheOracle) {
  base::Random random(3);
  for (int programs = 0; programs < 150;) {
    Program program = random_program(random, 3, 2, 3, 2);
    if (outcome_count(program) > 40) continue;
    for (const auto& session : program.sessions)
      program.levels.emplace_back(session.size(), GetParam());
    ASSERT_EQ(accepted_mixed(program), accepted(program, GetParam())) << program.to_string();
    ++programs;
  }
}

// Each transaction at a level of its own. Over all orders all is reached: a commit order is
// one of them.
void try_mixed(int levels, std::uint64_t seed) {
  base::Random random(seed);
  for (int programs = 0; programs < 400;) {
    Program program = random_program(random, 3, 2, 3, 2);
    if (outcome_count(program) > 40) continue;
    for (const auto& session : program.sessions) {
      program.levels.emplace_back();
      for (std::size_t t = 0; t < session.size(); ++t) {
        program.levels.back().push_back(static_cast<Level>(random.below(levels)));
      }
    }
    const auto store = reached(program, Level::kCausal), axioms = accepted_mixed(program);
    for (const auto& outcome : store) {
      ASSERT_TRUE(axioms.contains(outcome))
          << program.to_string() << "\nreturned, and not within its levels: " << outcome;
    }
    ASSERT_EQ(store.size(), axioms.size()) << program.to_string();
    ++programs;
  }
}

TEST(MockMixedLevels, OfWeakTransactionsAreTheAxioms) {
  try_mixed(3, 4);
}
TEST(MockMixedLevels, OfAnyTransactionsAreTheAxioms) {
  try_mixed(6, 5);
}

std::string in_camel_case(const testing::TestParamInfo<Level>& info) {
  std::string text(mock::name(info.param));
  for (auto& c : text) c = c == '-' ? '_' : c;
  return text;
}

INSTANTIATE_TEST_SUITE_P(Levels, MockEnumeration,
                         testing::Values(Level::kReadCommitted, Level::kReadAtomic, Level::kCausal,
                                         Level::kPrefix, Level::kStrongSessionSnapshotIsolation,
                                         Level::kStrongSessionSerializable),
                         in_camel_case);

}  // namespace
}  // namespace cupel::test
