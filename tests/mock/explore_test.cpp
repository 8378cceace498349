// The explorer and interleave() against enumeration by brute force, of random programs:
// every order of the transactions times every choice of every read, nothing left out. Each
// run hands over between threads at each transaction, which on a busy machine waits for
// the scheduler: the quick test has fewer programs, the full one the more.
#include "engine/mock/explore.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "mock/program.hpp"
#include "support/parameter_name.hpp"

#ifndef CUPEL_EXPLORED_PROGRAMS
#define CUPEL_EXPLORED_PROGRAMS 40
#endif

namespace cupel::test {
namespace {

using mock::Level;

struct Found {
  std::map<Outcome, int> outcomes;  // of runs whose transactions all committed; how often
  std::uint64_t runs = 0, repeated = 0, diverged = 0, histories = 0;
};

// As cupel::explore() does it: a store a run, a client a session.
Found explore(const Program& program, Level level, bool in_order) {
  mock::Explorer explorer;
  mock::Options options;
  options.level = level;
  options.choose = [&](std::size_t of) { return explorer.choose(of); };
  options.before_turn = [&](const mock::Progress& progress) {
    explorer.reached(in_order ? progress.in_order : progress.history, progress.turns);
  };
  Found found;
  for (bool more = true; more;) {
    mock::Store store(options);
    std::vector<std::string> seen(program.sessions.size());
    bool all = true;
    std::vector<std::function<void()>> clients;
    std::vector<std::uint32_t> sessions;
    for (std::size_t s = 0; s < program.sessions.size(); ++s) {
      sessions.push_back(store.open_session("s" + std::to_string(s)));
      clients.emplace_back([&, s] {
        for (std::size_t t = 0; t < program.sessions[s].size(); ++t) {
          mock::Store::BeginOptions begin;
          if (!program.levels.empty()) begin.level = program.levels[s][t];
          const auto txn = store.begin(sessions[s], begin);
          const auto& steps = program.sessions[s][t];
          bool alive = true;
          for (std::size_t i = 0; i < steps.size() && alive; ++i) {
            const auto key = "k" + std::to_string(steps[i].key);
            if (steps[i].write) {
              alive = txn->write(
                  key, mock::Value::of(static_cast<std::int64_t>(100 * (s + 1) + 10 * t + i)));
            } else {
              const auto value = txn->read(key);
              seen[s] += value->kind == mock::Value::Kind::kNull
                             ? "n "
                             : std::to_string(value->integer) + " ";
            }
          }
          if (!alive || !txn->commit()) all = false;
        }
      });
    }
    store.interleave(clients);
    more = explorer.next(store.digest());
    found.repeated += explorer.repeated();
    if (explorer.repeated()) continue;
    Outcome outcome;
    for (const auto& line : seen) outcome += line + "| ";
    if (all) ++found.outcomes[outcome];
  }
  found.runs = explorer.runs();
  found.histories = explorer.histories();
  found.diverged = explorer.diverged();
  return found;
}

std::set<Outcome> keys(const std::map<Outcome, int>& outcomes) {
  std::set<Outcome> all;
  for (const auto& [outcome, times] : outcomes) all.insert(outcome);
  return all;
}

class MockExplorer : public testing::TestWithParam<Level> {};

// Every write has a value of its own, so an outcome is a history: each is found, and none
// is counted twice.
TEST_P(MockExplorer, FindsEachHistoryOnce) {
  base::Random random(7);
  std::uint64_t runs = 0, repeated = 0;
  for (int programs = 0; programs < CUPEL_EXPLORED_PROGRAMS;) {
    const Program program = random_program(random, 3, 2, 3, 1 + static_cast<int>(random.below(3)));
    if (outcome_count(program) > 60) continue;
    const auto found = explore(program, GetParam(), false);
    const auto all = reached(program, GetParam());
    ASSERT_EQ(keys(found.outcomes), all) << program.to_string();
    ASSERT_EQ(all, accepted(program, GetParam())) << program.to_string();
    for (const auto& [outcome, times] : found.outcomes) {
      ASSERT_EQ(times, 1) << program.to_string() << "\n" << outcome;
    }
    ASSERT_EQ(found.histories + found.repeated, found.runs);
    ASSERT_EQ(found.diverged, 0u);
    runs += found.runs;
    repeated += found.repeated;
    ++programs;
  }
  EXPECT_GT(repeated, 0u) << "other orders lead to the same history";
  EXPECT_LT(repeated, runs);
}

std::string in_camel_case(const testing::TestParamInfo<Level>& info) {
  std::string text(mock::name(info.param));
  for (auto& c : text) c = c == '-' ? '_' : c;
  return text;
}
INSTANTIATE_TEST_SUITE_P(Levels, MockExplorer,
                         testing::Values(Level::kReadCommitted, Level::kReadAtomic, Level::kCausal,
                                         Level::kPrefix, Level::kStrongSessionSnapshotIsolation,
                                         Level::kStrongSessionSerializable),
                         in_camel_case);

// Where levels are mixed, what a store returns depends on the order: all of them are tried.
TEST(MockExplorerMixed, FindsEachOutcome) {
  base::Random random(8);
  for (int programs = 0; programs < CUPEL_EXPLORED_PROGRAMS;) {
    Program program = random_program(random, 3, 2, 3, 2);
    if (outcome_count(program) > 30) continue;
    for (const auto& session : program.sessions) {
      program.levels.emplace_back();
      for (std::size_t t = 0; t < session.size(); ++t) {
        program.levels.back().push_back(static_cast<Level>(random.below(6)));
      }
    }
    const auto found = explore(program, Level::kCausal, true);
    ASSERT_EQ(keys(found.outcomes), accepted_mixed(program)) << program.to_string();
    for (const auto& [outcome, times] : found.outcomes) ASSERT_EQ(times, 1) << outcome;
    ++programs;
  }
}

}  // namespace
}  // namespace cupel::test
