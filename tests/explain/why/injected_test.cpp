// Each of the 14 anomalies, injected once among 10,000 transactions, is named by its
// own name.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "data/workload/generate.hpp"
#include "engine/check/check.hpp"
#include "engine/explain/why/explain.hpp"
#include "engine/explain/why/glossary.hpp"

namespace cupel::explain {
namespace {

class InjectedAmongMany : public testing::TestWithParam<std::string> {};

TEST_P(InjectedAmongMany, IsExplainedByItsName) {
  workload::GenerateOptions wanted;
  wanted.store = workload::Store::kStrictSerializable;
  wanted.sessions = 20;
  wanted.txns_per_session = 500;
  wanted.inject = {GetParam()};
  const auto history = workload::generate(wanted).value();
  ASSERT_GE(history.txn_count(), 10'000u);

  const auto pages = anomalies();
  const auto page =
      std::find_if(pages.begin(), pages.end(), [](const auto& e) { return e.name == GetParam(); });
  ASSERT_NE(page, pages.end());
  check::Options options;
  options.asked = {page->weakest.front()};
  const auto found = check::check(history, options).levels.front();
  ASSERT_EQ(found.verdict, check::Verdict::kViolated);
  const auto explained =
      explain(history, found.explained_at.value_or(found.level), *found.violation);
  ASSERT_EQ(explained.size(), 1u);
  EXPECT_EQ(explained.front().name, GetParam()) << explained.front().explanation;
  EXPECT_LE(explained.front().listed.size(), 6u) << explained.front().explanation;
}

INSTANTIATE_TEST_SUITE_P(The14, InjectedAmongMany,
                         testing::Values("thin-air-read", "aborted-read", "future-read",
                                         "not-my-last-write", "not-my-own-write",
                                         "intermediate-read", "non-repeatable-read",
                                         "session-guarantee-violation", "non-monotonic-read",
                                         "fractured-read", "causality-violation", "long-fork",
                                         "lost-update", "write-skew"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace cupel::explain
