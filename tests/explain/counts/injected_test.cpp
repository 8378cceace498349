// Each of the 14 anomalies, injected several times, is counted as often as that, under
// its name and no other, and is among the causes; two different ones are two causes.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "data/workload/generate.hpp"
#include "engine/check/check.hpp"
#include "engine/explain/counts/whole_history.hpp"

namespace cupel::test {
namespace {

constexpr std::uint64_t kTimes = 3;

history::History injected(std::vector<std::string> anomalies) {
  workload::GenerateOptions options;
  options.store = workload::Store::kStrictSerializable;
  options.sessions = 5;
  options.txns_per_session = 60;
  options.keys = 40;
  options.inject = std::move(anomalies);
  return workload::generate(options).value();
}

counts::WholeHistory analysis_of(const history::History& history) {
  base::Budget budget;
  check::Options options;
  options.threads = 1;
  const auto result = check::check(history, options);
  return counts::analyze_history(history, result, options, budget, 60).value();
}

class Injected : public testing::TestWithParam<std::string> {};

TEST_P(Injected, IsCountedAndNamed) {
  const auto analysis = analysis_of(injected(std::vector<std::string>(kTimes, GetParam())));
  ASSERT_EQ(analysis.counts.size(), 1u);
  EXPECT_TRUE(analysis.counted);
  EXPECT_EQ(analysis.counts[0].name, GetParam());
  EXPECT_EQ(analysis.counts[0].count, kTimes);
  ASSERT_EQ(analysis.causes.found.size(), kTimes);
  for (const auto& cause : analysis.causes.found) {
    EXPECT_EQ(cause.name, GetParam());
    EXPECT_EQ(cause.occurrences, 1u);
  }
  EXPECT_TRUE(analysis.causes.all);
}

INSTANTIATE_TEST_SUITE_P(Fourteen, Injected, testing::ValuesIn([] {
                           const auto all = workload::mini_transaction_anomalies();
                           return std::vector<std::string>(all.begin(), all.end());
                         }()),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST(Injected, TwoDifferentOnesAreTwoCauses) {
  const auto all = workload::mini_transaction_anomalies();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string one(all[i]), other(all[(i + 5) % all.size()]);
    const auto analysis = analysis_of(injected({one, other}));
    std::multiset<std::string> names;
    for (const auto& cause : analysis.causes.found) names.insert(cause.name);
    EXPECT_EQ(names, (std::multiset<std::string>{one, other}));
    for (std::size_t c = 1; c < analysis.causes.found.size(); ++c) {
      EXPECT_LE(analysis.causes.found[c - 1].level, analysis.causes.found[c].level);
    }
    EXPECT_TRUE(analysis.causes.all);
  }
}

}  // namespace
}  // namespace cupel::test
